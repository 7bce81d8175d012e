"""What the loop hands from part to part: plans go out, states come back."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Protocol

import numpy as np

from superlevel.arrays import Array, Indices, Labels, Mask, frozen
from superlevel.design import Design
from superlevel.sufficient_statistics import Statistics
from superlevel.goals import ABOVE, BELOW, UNDECIDED, Bounds, Reading
from superlevel.posterior import GaussianPosterior

LARGEST = 2**53  # more measurements than that are not whole numbers any more


class Stop(StrEnum):
    """Why nothing more is measured, in words."""

    DECIDED = "every point is decided"
    EMPTY = "no point is above a fraction of the maximum, because the maximum is not above zero"
    TOLERANCE = "the tolerance is reached: what is still undecided may be declared either way"
    BUDGET = "the budget ends before the next phase would"
    CONTRADICTED = "the measurements contradict what is assumed: nothing is declared"


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """How often to measure each point in one phase, and the certificate of that choice."""

    phase: int
    """Which phase it is for, from 1: the paper's round t."""
    weights: Array
    """(n,) the distribution that the counts were drawn from: lambda_t."""
    counts: Indices
    """(n,) measurements at each point."""
    certificate: Design | None
    """The design, with a proof of how far it is from the best; None for rules that make none."""
    precision: float | None
    """How well every undecided direction will be known, in the units of the measurements; None for a fixed batch."""
    origin: str
    """A fingerprint of the method, the state and the pending plans that it was asked for."""
    campaign: str
    """A fingerprint of the method and the seed: `tell` takes no plan of another campaign."""

    def __post_init__(self) -> None:
        frozen(self.weights)
        frozen(self.counts)

    @cached_property
    def total(self) -> int:
        """Measurements in all."""
        return int(self.counts.sum())

    @cached_property
    def indices(self) -> Indices:
        """(total,) the point of each measurement, sorted: the order in which `tell` wants the values."""
        support = np.flatnonzero(self.counts)
        return frozen(np.repeat(support, self.counts[support]))

    def __repr__(self) -> str:
        points = np.count_nonzero(self.counts)
        return f"Plan(phase {self.phase}: {self.total:,} measurements at {points} of {len(self.counts)} points)"


class Learned(Protocol):
    """What a confidence knows that keeps all measurements and is no posterior."""

    @property
    def evidence(self) -> Statistics: ...

    @property
    def estimate(self) -> Array:
        """(n,) f"""
        ...

    @property
    def estimates(self) -> Array:
        """(n,) or (n, n): the value of every direction."""
        ...

    @property
    def bounds(self) -> Bounds:
        """Where those values lie."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """All that a method knows between two phases. Nothing in it changes; `tell` returns another one."""

    seed: int
    """Every random choice of phase t comes from (seed, t)."""
    phase: int
    """The phase that comes next, from 1."""
    reading: Reading
    """What is decided, and which directions are not: the sets G, B and A_t of the paper."""
    samples: int
    """Measurements told so far."""
    stop: Stop | None
    """Why nothing more is to be measured; None while something is."""
    posterior: GaussianPosterior | None = None
    """What all measurements say of f; None for a confidence that has none."""
    learned: Learned | None = None
    """The same for a confidence that keeps all measurements and has no posterior."""
    intervals: Bounds | None = None
    """(n,) where f lies at every point; None for a confidence that bounds undecided directions only."""
    design: Design | None = None
    """The last design, from which the next one starts."""
    told: frozenset[str] = frozenset()
    """The origins of the plans that were told, where they may be told in any order."""
    campaign: str = ""
    """A fingerprint of the method and the seed: no other method takes this state."""
    history: str = ""
    """A fingerprint of all that was told, in its order."""

    @property
    def labels(self) -> Labels:
        """(n,) +1 above, 0 undecided, -1 below."""
        return self.reading.labels

    @property
    def undecided(self) -> Mask:
        """(n,) points or (n, n) pairs whose sign is still needed."""
        return self.reading.undecided

    @property
    def estimate(self) -> Array | None:
        """(n,) what f is thought to be; None for a confidence that takes each round by itself."""
        if self.learned is not None:
            return self.learned.estimate
        return None if self.posterior is None else self.posterior.mean

    def found(self, *, selective: bool = False) -> Mask:
        """(n,) the returned set: all that is not below, X without B; or only what is above, G, if ``selective``."""
        return found(self.labels, selective=selective)

    def __repr__(self) -> str:
        status = "asks for more" if self.stop is None else self.stop.value
        return f"State(phase {self.phase}, {self.samples:,} measurements, {summary(self.labels)}: {status})"


@dataclass(frozen=True, kw_only=True, eq=False)
class Info:
    """What a phase showed, for the reader; the method itself needs none of it."""

    phase: int
    samples: int
    """Measurements of this phase."""
    precision: float | None
    """Half-width that the phase was planned for; None for a fixed batch."""
    estimates: Array
    """(n,) or (n, n): the estimated value of every direction, NaN where the confidence says nothing."""
    bounds: Bounds
    """What the confidence says of the same directions."""
    bias: float | None
    """The part of the error that more measurements do not remove; None where the norm of f is not given."""
    warnings: tuple[str, ...]
    """What speaks against the assumptions, each in a sentence."""
    sources: tuple[str, ...] | None = None
    """(n,) which of several kinds of interval bounds f most tightly at each point; None where there is one only."""

    def __post_init__(self) -> None:
        frozen(self.estimates)


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """What a rule may look at."""

    phase: int
    undecided: Mask
    """(n,) points or (n, n) pairs."""
    posterior: GaussianPosterior | None
    """From all that was told."""
    learned: Learned | None = None
    """The same where there is no posterior."""
    pending: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """(m,) points that are being measured already, with repeats."""
    failed: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """(k,) points at which measuring failed, with repeats."""
    intervals: Bounds | None
    """(n,) where f lies at every point."""
    width: float
    """beta^1/2: how many deviations a half-width has; NaN where there are none."""
    margin: float | Array = 0.0
    """What half-widths have on top of that, one number or (n,)."""
    start: Design | None
    """A design to start from."""
    sizes: Sizes
    seed: int

    def rng(self, use: int | None = None) -> np.random.Generator:
        """Everything random comes from (seed, phase), and from its use where there is more than one."""
        return np.random.default_rng([self.seed, self.phase] if use is None else [self.seed, self.phase, use])

    @cached_property
    def known(self) -> GaussianPosterior:
        """The posterior, with the pending points as if they had been measured."""
        assert self.posterior is not None
        return self.posterior.planned(self.pending).after

    def ends(self, posterior: GaussianPosterior) -> Bounds:
        """(n,) the intervals at every point as a posterior for planning has them, within those that are known."""
        assert self.intervals is not None
        half = self.width * posterior.deviation + self.margin
        return Bounds(
            lower=np.maximum(self.intervals.lower, posterior.mean - half),
            upper=np.minimum(self.intervals.upper, posterior.mean + half),
        )

    @property
    def total(self) -> int:
        """Measurements of this phase, where they do not depend on a design."""
        return self.sizes.samples(
            self.phase, np.nan, int(np.count_nonzero(self.undecided)), begun=int(self.begun.sum())
        )

    @property
    def begun(self) -> Indices:
        """(n,) measurements that were made or are on their way."""
        out = np.bincount(self.pending, minlength=len(self.undecided))
        return out if self.learned is None else out + self.learned.evidence.counts


class Sizes(Protocol):
    """How many measurements a phase takes."""

    def samples(self, t: int, value: float, directions: int, begun: int = 0) -> int:
        """In phase t, for a design of this value and this many undecided directions, after so many measurements."""
        ...

    def precision(self, t: int) -> float | None:
        """How well every undecided direction is to be known after phase t; None where nothing is promised."""
        ...

    @property
    def last(self) -> int | None:
        """The last phase, if there is one."""
        ...


@dataclass(frozen=True, kw_only=True)
class Growing:
    """Every phase takes more than the one before, by the same factor: a part of all before, and the first."""

    first: int
    growth: float
    """At least 1."""

    def samples(self, t: int, value: float, directions: int, begun: int = 0) -> int:  # noqa: ARG002
        return math.ceil(min(self.first + (self.growth - 1.0) * begun, LARGEST))

    def precision(self, t: int) -> None:  # noqa: ARG002
        return None

    @property
    def last(self) -> None:
        return None


@dataclass(frozen=True, kw_only=True)
class Batch:
    """The same number of measurements in every phase."""

    size: int

    def samples(self, t: int, value: float, directions: int, begun: int = 0) -> int:  # noqa: ARG002
        return self.size

    def precision(self, t: int) -> None:  # noqa: ARG002
        return None

    @property
    def last(self) -> None:
        return None


@dataclass(frozen=True, kw_only=True, eq=False)
class Choice:
    """Where a rule wants to measure."""

    weights: Array
    """(n,) a distribution."""
    counts: Indices
    """(n,) how often each point."""
    certificate: Design | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Beginning:
    """What a confidence knows before the first measurement."""

    reading: Reading
    posterior: GaussianPosterior | None = None
    learned: Learned | None = None
    intervals: Bounds | None = None
    """(n,) where f lies at every point."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Knowledge:
    """What a confidence makes of the measurements."""

    estimates: Array
    """The value of every direction, NaN where nothing is said."""
    bounds: Bounds
    """Where those values lie."""
    deciding: Bounds
    """What the goal decides by: the bounds, with the tolerance taken into account."""
    posterior: GaussianPosterior | None = None
    learned: Learned | None = None
    intervals: Bounds | None = None
    """(n,) where f lies at every point."""
    bias: float | None = None
    warnings: tuple[str, ...] = ()
    contradicted: bool = False
    """Whether what is assumed cannot be, so that nothing may be declared."""
    sources: tuple[str, ...] | None = None
    """(n,) which of several kinds of interval bounds f most tightly at each point."""


def found(labels: Labels, *, selective: bool) -> Mask:
    """(n,) labels that are not below, or those that are above."""
    return np.asarray(labels == ABOVE if selective else labels != BELOW)


def summary(labels: Labels) -> str:
    """How many are above, undecided and below."""
    counts = {word: int((labels == label).sum()) for word, label in _WORDS}
    return ", ".join(f"{count:,} {word}" for word, count in counts.items())


_WORDS = (("above", ABOVE), ("undecided", UNDECIDED), ("below", BELOW))
