"""Mean and variance of f at every point: held, or computed when somebody looks (`superlevel.posterior.large`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from superlevel.arrays import Array, Indices, frozen


@dataclass(frozen=True, kw_only=True)
class Approximation:
    """How far a field is from the exact one, at some random points."""

    neighbours: int
    """Measured points that each point is predicted from."""
    compared: int
    """Random points."""
    wider: float
    """The largest ratio of a deviation to the exact one."""
    narrower: float
    """The smallest."""
    off: float
    """The largest distance of a mean from the exact one, in exact deviations."""


class Field(Protocol):
    """What a posterior says of each point by itself."""

    @property
    def approximation(self) -> Approximation | None:
        """How it differs from the exact field; None where it is the exact one."""
        ...

    @property
    def mean(self) -> Array:
        """mu (n,)"""
        ...

    @property
    def variance(self) -> Array:
        """sigma^2 (n,), never negative."""
        ...

    def at(self, points: Indices, /) -> tuple[Array, Array]:
        """Mean and variance (m,) of some points."""
        ...

    def within(self, n: int, /) -> Field:
        """The same of the first n points."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Held:
    """Two arrays."""

    mean: Array
    variance: Array

    approximation: ClassVar[None] = None

    def __post_init__(self) -> None:
        frozen(self.mean)
        frozen(self.variance)

    def at(self, points: Indices, /) -> tuple[Array, Array]:
        return self.mean[points], self.variance[points]

    def within(self, n: int, /) -> Held:
        return Held(mean=self.mean[:n], variance=self.variance[:n])


def less(variance: Array, rows: Array) -> Array:
    """Variances (n,) without the squares of rows (m, n)."""
    squares = rows[0] ** 2 if len(rows) == 1 else np.einsum("ij,ij->j", rows, rows)
    return np.asarray(np.maximum(variance - squares, 0.0))
