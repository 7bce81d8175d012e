"""What the loop hands from part to part: plans go out, states come back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from superlevel.arrays import Array, Indices, Labels, Mask, frozen
from superlevel.design import Design
from superlevel.goals import ABOVE, BELOW, UNDECIDED, Bounds, Reading


class Stop(StrEnum):
    """Why nothing more is measured, in words."""

    DECIDED = "every point is decided"
    EMPTY = "no point is above a fraction of the maximum, because the maximum is not above zero"
    TOLERANCE = "the tolerance is reached: what is still undecided may be declared either way"
    BUDGET = "the budget ends before the next round does, and a part of a round decides nothing"


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """How often to measure each point in one phase, and the certificate of that choice."""

    phase: int
    """Which phase it is for, from 1: the paper's round t."""
    weights: Array
    """(n,) the distribution that the counts were drawn from: lambda_t."""
    counts: Indices
    """(n,) measurements at each point."""
    certificate: Design
    """The design, with a proof of how far it is from the best."""
    precision: float
    """How well every undecided direction will be known, in the units of the measurements."""
    origin: str
    """A fingerprint of the method and the state it was asked for: `tell` takes no other plan."""

    def __post_init__(self) -> None:
        frozen(self.weights)
        frozen(self.counts)

    @property
    def total(self) -> int:
        """Measurements in all."""
        return int(self.counts.sum())

    @property
    def indices(self) -> Indices:
        """(total,) the point of each measurement, sorted: the order in which `tell` wants the values."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def __repr__(self) -> str:
        points = np.count_nonzero(self.counts)
        return f"Plan(phase {self.phase}: {self.total:,} measurements at {points} of {len(self.counts)} points)"


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

    @property
    def labels(self) -> Labels:
        """(n,) +1 above, 0 undecided, -1 below."""
        return self.reading.labels

    @property
    def undecided(self) -> Mask:
        """(n,) points or (n, n) pairs whose sign is still needed."""
        return self.reading.undecided

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
    precision: float
    """Half-width that the phase was planned for."""
    estimates: Array
    """(n,) or (n, n): the estimated value of every direction that was undecided, NaN elsewhere."""
    bounds: Bounds
    """What the confidence says of the same directions."""
    bias: float | None
    """The part of the error that more measurements do not remove; None where the norm of f is not given."""
    warnings: tuple[str, ...]
    """What speaks against the assumptions, each in a sentence."""

    def __post_init__(self) -> None:
        frozen(self.estimates)


def found(labels: Labels, *, selective: bool) -> Mask:
    """(n,) labels that are not below, or those that are above."""
    return np.asarray(labels == ABOVE if selective else labels != BELOW)


def summary(labels: Labels) -> str:
    """How many are above, undecided and below."""
    counts = {word: int((labels == label).sum()) for word, label in _WORDS}
    return ", ".join(f"{count:,} {word}" for word, count in counts.items())


_WORDS = (("above", ABOVE), ("undecided", UNDECIDED), ("below", BELOW))
