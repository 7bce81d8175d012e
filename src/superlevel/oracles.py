"""Simulated measurements: the only place that knows the truth.

y = f(x) + eta, E eta = 0, E eta^2 = noise(x)^2, independent. Every law below is scaled to exactly that deviation, which
is one number or one for each point (heteroscedastic).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, Indices, as_deviations, as_floats, as_number, as_vector, frozen
from superlevel.errors import InputError


class Oracle(Protocol):
    """Whatever can be measured."""

    @property
    def values(self) -> Array:
        """(n,) the truth f(x)."""
        ...

    def measure(self, indices: Indices, rng: np.random.Generator) -> Array:
        """(N,) one measurement at each of the points (N,)."""
        ...


@dataclass(frozen=True, eq=False)
class _Additive(ABC):
    """f(x) + noise(x) times a variable of mean 0 and variance 1."""

    values: Array
    """(n,) the truth."""
    _: KW_ONLY
    noise: float | Array
    """Standard deviation >= 0 of one measurement, or (n,), one for each point."""

    def __post_init__(self) -> None:
        truth = as_vector("values", self.values, length=np.size(self.values))
        if not truth.size:
            raise InputError("values", "empty", "give the value of f at every point")
        object.__setattr__(self, "values", frozen(truth.copy()))
        object.__setattr__(self, "noise", as_deviations("noise", self.noise, len(truth)))

    def measure(self, indices: Indices, rng: np.random.Generator) -> Array:
        """(N,) one measurement at each of the points (N,)."""
        measured = self._standard(rng, len(indices))
        measured *= self.noise if isinstance(self.noise, float) else self.noise[indices]
        measured += self.values[indices]
        return measured

    @abstractmethod
    def _standard(self, rng: np.random.Generator, count: int) -> Array:
        """(count,) draws of mean 0 and variance 1."""


@dataclass(frozen=True, eq=False)
class Gaussian(_Additive):
    """Gaussian noise.

    >>> oracle = Gaussian([0.0, 1.0], noise=0.0)
    >>> oracle.measure(np.array([1, 1, 0]), np.random.default_rng(0))
    array([1., 1., 0.])
    """

    def _standard(self, rng: np.random.Generator, count: int) -> Array:
        return rng.standard_normal(count)


@dataclass(frozen=True, eq=False)
class Student(_Additive):
    """Student's t: symmetric, with moments below ``freedom`` only."""

    _: KW_ONLY
    freedom: float = 2.5
    """Degrees of freedom > 2: fewer have no variance."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "freedom", as_number("freedom", self.freedom, above=2))

    def _standard(self, rng: np.random.Generator, count: int) -> Array:
        return np.asarray(rng.standard_t(self.freedom, count) * np.sqrt(1 - 2 / self.freedom))


@dataclass(frozen=True, eq=False)
class Pareto(_Additive):
    """Pareto tails on one side: many measurements a little too low, a few far too high."""

    _: KW_ONLY
    tail: float = 2.5
    """Tail index > 2: P(eta > u) falls like u^-tail."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "tail", as_number("tail", self.tail, above=2))

    def _standard(self, rng: np.random.Generator, count: int) -> Array:
        mean = 1 / (self.tail - 1)
        deviation = mean * np.sqrt(self.tail / (self.tail - 2))
        return np.asarray((rng.pareto(self.tail, count) - mean) / deviation)


@dataclass(frozen=True, eq=False)
class Bounded(_Additive):
    """Uniform noise: never further than sqrt(3) deviations from the truth."""

    def _standard(self, rng: np.random.Generator, count: int) -> Array:
        return rng.uniform(-np.sqrt(3), np.sqrt(3), count)


@dataclass(frozen=True, eq=False)
class Outliers(_Additive):
    """Two values only: a rare and large one, and a common one that balances it. The worst case for a plain mean."""

    _: KW_ONLY
    rate: float = 1e-3
    """Probability of the large one, in (0, 1)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rate", as_number("rate", self.rate, above=0, below=1))

    def _standard(self, rng: np.random.Generator, count: int) -> Array:
        odds = self.rate / (1 - self.rate)
        return np.asarray(np.where(rng.random(count) < self.rate, odds**-0.5, -(odds**0.5)))


@dataclass(frozen=True, eq=False)
class Misspecified:
    """Another oracle, with an error at each point that no model knows of."""

    oracle: Oracle
    error: Array
    """(n,) added to the truth; the h of the theory is its largest absolute value."""

    def __post_init__(self) -> None:
        error = as_vector("error", self.error, length=len(self.oracle.values))
        object.__setattr__(self, "error", frozen(error.copy()))

    @property
    def values(self) -> Array:
        """(n,) the truth f(x), error included."""
        return self.oracle.values + self.error

    def measure(self, indices: Indices, rng: np.random.Generator) -> Array:
        """(N,) one measurement at each of the points (N,)."""
        return self.oracle.measure(indices, rng) + self.error[indices]


@dataclass(frozen=True, eq=False, init=False)
class Table:
    """Recorded measurements: each new one is a recorded one of the same point, drawn with replacement."""

    values: Array
    """(n,) the mean of what was recorded at each point: the truth of this world."""
    _recorded: Array = field(repr=False)
    _first: Indices = field(repr=False)
    _counts: Indices = field(repr=False)

    def __init__(self, points: ArrayLike, measured: ArrayLike) -> None:
        """Measurements (N,) taken at points (N,), whole numbers 0..n-1; each point at least once."""
        given = as_floats("points", points)
        whole = np.isfinite(given) & (given >= 0) & (given == np.floor(given))
        if given.ndim != 1 or not given.size or not whole.all():
            got = f"of shape {given.shape}" if whole.all() else f"{given[~whole][0]:g} somewhere"
            raise InputError("points", got, "give the number, 0 to n - 1, of each measured point")
        places = given.astype(np.int64)
        recorded = as_vector("measured", measured, length=len(places))
        counts = np.bincount(places)
        if (counts == 0).any():
            raise InputError("points", f"without point {int(np.argmin(counts))}", "record each point at least once")
        order = np.argsort(places, kind="stable")
        object.__setattr__(self, "values", np.bincount(places, recorded) / counts)
        object.__setattr__(self, "_recorded", recorded[order])
        object.__setattr__(self, "_first", np.cumsum(counts) - counts)
        object.__setattr__(self, "_counts", counts)

    def measure(self, indices: Indices, rng: np.random.Generator) -> Array:
        """(N,) one measurement at each of the points (N,)."""
        return np.asarray(self._recorded[self._first[indices] + rng.integers(self._counts[indices])])
