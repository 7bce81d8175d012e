"""How many measurements a phase of a method takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

BATCH = 10  # measurements of a batch, where nobody says how many
ESTIMATING = 5  # the same where something is estimated: batches of ten mislabel 3 % more points at 50 and at 100
SMALLEST = 0.1  # of a growing batch, if hardly anything is missing
LARGEST = 2**53  # more measurements than that are not whole numbers any more


@dataclass(frozen=True, kw_only=True, eq=False)
class Need:
    """What the size of a phase may depend on."""

    phase: int
    value: float
    """Of the design: the largest variance of an undecided direction; NaN where there is no design."""
    directions: int
    """Undecided ones."""
    begun: int
    """Measurements that were made or are on their way."""
    missing: float = math.inf
    """Further ones that are expected to decide everything; infinite where nothing is known of that."""


def usual_batch(*, estimating: bool) -> int:
    """How many measurements a batch has, where nobody says how many."""
    return ESTIMATING if estimating else BATCH


class Sizes(Protocol):
    """How many measurements a phase takes."""

    def samples(self, need: Need, /) -> int:
        """The number of measurements of a phase."""
        ...

    def precision(self, phase: int, /) -> float | None:
        """How well every undecided direction is to be known after a phase; None where nothing is promised."""
        ...

    @property
    def last(self) -> int | None:
        """The last phase, if there is one."""
        ...


@dataclass(frozen=True, kw_only=True)
class Growing:
    """Every phase takes more than the one before, by the same factor: a part of all before, and the first.

    It takes no more than are expected to be missing, and at least a tenth of its size: expectations may be wrong.
    """

    first: int
    growth: float = 1.0
    """At least 1: with 1 all phases are equally large."""

    last = None

    def samples(self, need: Need, /) -> int:
        size = min(self.first + (self.growth - 1.0) * need.begun, LARGEST)
        return math.ceil(min(size, max(SMALLEST * size, need.missing)) if self.growth > 1.0 else size)

    def precision(self, _phase: int, /) -> None:
        return None


@dataclass(frozen=True, kw_only=True)
class PilotFirst:
    """A pilot, no more of it at a time than a batch has, and then the batches."""

    pilot: int
    later: Sizes

    last = None

    def samples(self, need: Need, /) -> int:
        batch = self.later.samples(need)
        return min(batch, self.pilot - need.begun) if need.begun < self.pilot else batch

    def precision(self, phase: int, /) -> float | None:
        return self.later.precision(phase)
