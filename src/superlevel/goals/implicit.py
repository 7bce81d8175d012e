"""The goal whose level is a fraction of the unknown maximum, read from pairs of points or from single points."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from superlevel.arrays import Array, Labels, Mask, as_number, frozen
from superlevel.goals.explicit import NUMBER
from superlevel.goals.protocol import Goal
from superlevel.goals.reading import ABOVE, BELOW, UNDECIDED, Bounds, Reading, apply_tolerance, declared


@dataclass(frozen=True)
class Implicit(Goal):
    """{x: f(x) > (1 - epsilon) max f}."""

    epsilon: float
    """How far below the maximum the level is, as a fraction of the maximum; 0 < epsilon < 1."""

    implicit: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", as_number("FractionOfMax.epsilon", self.epsilon, above=0.0, below=1.0))

    @property
    def levels(self) -> tuple[float, ...]:
        return ()

    def levels_at(self, f: Array, /) -> tuple[float, ...]:
        return (self.level(f),)

    def level(self, f: Array) -> float:
        """The level of a function with the values f (n,)."""
        return (1 - self.epsilon) * float(f.max())

    def signs(self, f: Array) -> Labels:
        return frozen(np.where(f > self.level(f), ABOVE, BELOW).astype(np.int8))

    def margins(self, f: Array) -> Array:
        """(n,) |f(x) - (1 - epsilon) max f|.

        The appendix prints the part of the points outside as min over x of the max over x' of *negative* g_xx'. Its
        lemmas let x go once any one pair (x, x') is clearly below, so the largest |g_xx'| is meant; it is at x' = x*.
        For the points inside the smallest g_xx' is at x' = x* too, which makes both parts the Delta_min of the main
        text.
        """
        return np.asarray(np.abs(f - self.level(f)))

    def is_empty(self, labels: Labels, highest: float, tolerance: float, /) -> bool:
        """Whether the maximum is not above zero. With a tolerance, all points may be below for another reason."""
        return bool((labels == BELOW).all()) and (not tolerance or highest <= tolerance)

    def critical(self, f: Array) -> tuple[tuple[float, Array], ...]:
        """The level is a share of the maximum, so points that may be the maximum matter like those near the level."""
        return (1.0, f - self.level(f)), ((1 - self.epsilon) ** 2, f - float(f.max()))

    @property
    def question(self) -> str:
        return f"within {100 * self.epsilon:g} % of the maximum"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        found = re.fullmatch(rf"\s*within\s+{NUMBER}\s*%\s+of\s+the\s+max(?:imum)?\s*", text)
        return None if found is None else cls(as_number("percentage", float(found[1]), above=0.0, below=100.0) / 100)

    @property
    def groups(self) -> tuple[str, ...]:
        return ("below", "above")

    def wanted(self, labels: Labels) -> Labels:
        return labels


@dataclass(frozen=True)
class FractionOfMax(Implicit):
    """The implicit problem, {x: f(x) > (1 - epsilon) max f}, a level that is itself unknown.

    The signs of f(x) - (1 - epsilon) f(x') decide, one direction for each ordered pair (x, x'): x is in the set if all
    of them are above zero, and out of it if one is below.

    >>> FractionOfMax(epsilon=0.2)
    FractionOfMax(epsilon=0.2)
    """

    kind: ClassVar[str] = "fraction of max"
    form: ClassVar[str] = "within 10 % of the maximum"

    @property
    def share(self) -> float:
        return 1 - self.epsilon

    def by_points(self) -> Goal:
        return FractionByPoints(self.epsilon)

    def read(self, reading: Reading, bounds: Bounds, *, tolerance: float = 0.0) -> Reading:
        """The for-loop of Algorithm 2 (MILK): what the bounds of the undecided pairs decide.

        One pair (x, x') below zero puts x out, and no pair with x is needed any more, neither (x, .) nor (., x): x is
        not the maximum. Corrected: A_{t+1} is A_t without all that the round removes, and x joins the set when no pair
        (x, .) is left in A_{t+1} (printed A_t), unless it is out.

        A point that is out by the tolerance alone may still be the maximum, and others are compared with it.
        """
        deciding = apply_tolerance(bounds, tolerance)
        below = np.asarray((reading.undecided & (deciding.upper < 0)).any(axis=1))
        beaten = below
        if deciding is not bounds:  # pairs are many: no pass over them that changes nothing
            beaten = np.asarray((reading.undecided & (bounds.upper < 0)).any(axis=1))
        left = reading.undecided & ~(deciding.lower > 0)
        left[below, :] = False
        left[:, beaten] = False
        above = (reading.labels == UNDECIDED) & ~below & ~left.any(axis=1)
        return Reading(labels=declared(reading.labels, above=above, below=below), undecided=left)

    def offsets(self, values: Array, _labels: Labels, /) -> Array:
        return values

    def needed(self, undecided: Mask, values: Array, /) -> Mask:
        """A point that seems to be in the set needs all its pairs; for one that seems out one pair is enough."""
        wanted, clearest = undecided.copy(), values.argmin(axis=1)
        seem_out = np.flatnonzero((values.min(axis=1) < 0) & undecided.any(axis=1))
        wanted[seem_out] = False
        wanted[seem_out, clearest[seem_out]] = True
        return wanted


@dataclass(frozen=True)
class FractionByPoints(Implicit):
    """The implicit problem read from one interval for each point, as LSE-imp does: its level lies in an interval too.

    With f_opt the largest upper end and f_pes the largest lower end, the level (1 - epsilon) max f is in
    [(1 - epsilon) f_pes, (1 - epsilon) f_opt]. A point is in if its lower end reaches the upper end of that, and out if
    its upper end does not exceed the lower end of it.

    Corrected: printed, both maxima run over the undecided points. Once the maximiser is classified they fall below the
    truth and points are declared wrongly. Here they run over all points; those that cannot be the maximum any more do
    not change either. What may still be the maximum stays among the points that are worth measuring (Gotovos et al.
    2013, IJCAI, the sets H^M and L^M).
    """

    def level_bounds(self, bounds: Bounds) -> tuple[float, float]:
        """The interval of (1 - epsilon) max f."""
        share = 1 - self.epsilon
        return share * float(bounds.lower.max()), share * float(bounds.upper.max())

    def read(self, reading: Reading, bounds: Bounds, *, tolerance: float = 0.0) -> Reading:
        """What the intervals (n,) of all points decide. Intervals are compared with an interval, so the tolerance is
        applied to the comparison."""
        lowest, highest = self.level_bounds(bounds)
        undecided = reading.labels == UNDECIDED
        below = undecided & (bounds.upper - tolerance <= lowest)
        above = undecided & (bounds.lower + tolerance >= highest)
        if (above & below).any():  # where the tolerance rules out both sides, the middle decides
            middle = (bounds.lower + bounds.upper) / 2
            high = middle > self.level(middle)
            above, below = above & (high | ~below), below & ~(above & high)
        labels = declared(reading.labels, above=above, below=below)
        still = labels == UNDECIDED
        if still.any():
            still |= bounds.upper >= bounds.lower.max()
        return Reading(labels=labels, undecided=still)

    def offsets(self, values: Array, _labels: Labels, /) -> Array:
        return np.asarray(values - self.level(values))
