"""What a study wants to know: which points are above a level, and what that level is.

A goal asks for the sign of some *directions*, linear functions of f; above zero is in the set, below zero is out. What
is not known yet is a mask over the directions: the active set A_t of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from superlevel.arrays import Array, Labels, Mask, as_number, frozen

ABOVE, UNDECIDED, BELOW = 1, 0, -1


@dataclass(frozen=True, kw_only=True, eq=False)
class Bounds:
    """Where the value of each direction lies, with the confidence of whoever says so; NaN where nothing is said."""

    lower: Array
    """(n,) or (n, n), as the goal's directions."""
    upper: Array
    """The same shape."""

    def __post_init__(self) -> None:
        frozen(self.lower)
        frozen(self.upper)


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """What is decided, and what is still to be found out."""

    labels: Labels
    """(n,) +1 above, 0 undecided, -1 below."""
    undecided: Mask
    """(n,) or (n, n): the directions whose sign is still needed."""

    def __post_init__(self) -> None:
        frozen(self.labels)
        frozen(self.undecided)


@dataclass(frozen=True)
class Threshold:
    """The explicit problem, {x: f(x) > alpha}: the sign of f(x) - alpha decides, one direction for each point x.

    >>> Threshold(20.0)
    Threshold(value=20.0)
    """

    value: float
    """The level alpha, in the units of the measurements."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", as_number("Threshold.value", self.value))

    def directions(self, n: int) -> Mask:
        """All of them (n,): what is undecided at the start."""
        return np.ones(n, dtype=np.bool_)

    def offset(self, mean: float) -> float:
        """What a direction's value is where f equals its mean."""
        return mean - self.value

    def level(self, values: Array) -> float:  # noqa: ARG002
        """Where the level is if f has these values (n,)."""
        return self.value

    def read(self, reading: Reading, bounds: Bounds, certain: Bounds | None = None) -> Reading:  # noqa: ARG002
        """The for-loop of Algorithm 1 (MELK): what the bounds of the undecided points decide."""
        above = reading.undecided & (bounds.lower > 0)
        below = reading.undecided & (bounds.upper < 0)
        return Reading(
            labels=_declared(reading.labels, above=above, below=below), undecided=reading.undecided & ~above & ~below
        )


@dataclass(frozen=True)
class FractionOfMax:
    """The implicit problem, {x: f(x) > (1 - epsilon) max f}, a level that is itself unknown.

    The signs of f(x) - (1 - epsilon) f(x') decide, one direction for each ordered pair (x, x'): x is in the set if all
    of them are above zero, and out of it if one is below.

    >>> FractionOfMax(epsilon=0.2)
    FractionOfMax(epsilon=0.2)
    """

    epsilon: float
    """How far below the maximum the level is, as a fraction of the maximum; 0 < epsilon < 1."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", as_number("FractionOfMax.epsilon", self.epsilon, above=0.0, below=1.0))

    def directions(self, n: int) -> Mask:
        """All ordered pairs (n, n), row x and column x', a point with itself among them."""
        return np.ones((n, n), dtype=np.bool_)

    def offset(self, mean: float) -> float:
        """What a direction's value is where f equals its mean: m - (1 - epsilon) m."""
        return self.epsilon * mean

    def level(self, values: Array) -> float:
        """Where the level is if f has these values (n,)."""
        return (1 - self.epsilon) * float(values.max())

    def read(self, reading: Reading, bounds: Bounds, certain: Bounds | None = None) -> Reading:
        """The for-loop of Algorithm 2 (MILK): what the bounds of the undecided pairs decide.

        One pair (x, x') below zero puts x out, and no pair with x is needed any more, neither (x, .) nor (., x): x is
        not the maximum. Corrected: A_{t+1} is A_t without all that the round removes, and x joins the set when no pair
        (x, .) is left in A_{t+1} (printed A_t), unless it is out.

        Where a tolerance is in the bounds, ``certain`` are those without it. A point that is out by the tolerance alone
        may still be the maximum, and others are held against it.
        """
        below = np.asarray((reading.undecided & (bounds.upper < 0)).any(axis=1))
        beaten = below if certain is None else np.asarray((reading.undecided & (certain.upper < 0)).any(axis=1))
        left = reading.undecided & ~(bounds.lower > 0)
        left[below, :] = False
        left[:, beaten] = False
        above = (reading.labels == UNDECIDED) & ~below & ~left.any(axis=1)
        return Reading(labels=_declared(reading.labels, above=above, below=below), undecided=left)


@dataclass(frozen=True)
class FractionByPoints:
    """The implicit problem read from one interval a point, as LSE-imp does: its level lies in an interval too.

    With f_opt the largest upper end and f_pes the largest lower end, the level (1 - epsilon) max f is in
    [(1 - epsilon) f_pes, (1 - epsilon) f_opt]. A point is in if its lower end reaches the upper end of that, and out if
    its upper end does not exceed the lower end of it.

    Corrected: printed, both maxima run over the undecided points. Once the maximiser is classified they fall below the
    truth and points are declared wrongly. Here they run over all points; those that cannot be the maximum any more do
    not change either. What may still be the maximum stays among the points that are worth measuring (Gotovos et al.
    2013, IJCAI, the sets H^M and L^M).
    """

    epsilon: float
    tolerance: float = 0.0
    """How far from the level a point may be declared either way."""

    def directions(self, n: int) -> Mask:
        """All points (n,)."""
        return np.ones(n, dtype=np.bool_)

    def offset(self, mean: float) -> float:  # noqa: ARG002
        """The bounds are those of f itself."""
        return 0.0

    def levels(self, bounds: Bounds) -> tuple[float, float]:
        """Where (1 - epsilon) max f lies."""
        share = 1 - self.epsilon
        return share * float(bounds.lower.max()), share * float(bounds.upper.max())

    def read(self, reading: Reading, bounds: Bounds, certain: Bounds | None = None) -> Reading:  # noqa: ARG002
        """What the intervals of all points decide."""
        lowest, highest = self.levels(bounds)
        undecided = reading.labels == UNDECIDED
        below = undecided & (bounds.upper - self.tolerance <= lowest)
        above = undecided & (bounds.lower + self.tolerance >= highest)
        # Where the tolerance rules out both sides, the middle decides.
        middle = (bounds.lower + bounds.upper) / 2
        high = middle > (1 - self.epsilon) * float(middle.max())
        above, below = above & (high | ~below), below & ~(above & high)
        labels = _declared(reading.labels, above=above, below=below)
        open_ = labels == UNDECIDED
        if open_.any():
            open_ |= bounds.upper >= bounds.lower.max()
        return Reading(labels=labels, undecided=open_)


Goal: TypeAlias = Threshold | FractionOfMax
Reader: TypeAlias = Threshold | FractionOfMax | FractionByPoints
"""A goal, with the directions by which it is read."""


def unread(reader: Reader, n: int) -> Reading:
    """Nothing of n points is decided."""
    return Reading(labels=np.zeros(n, dtype=np.int8), undecided=reader.directions(n))


def _declared(labels: Labels, *, above: Mask, below: Mask) -> Labels:
    declared = labels.copy()
    declared[above] = ABOVE
    declared[below] = BELOW
    return declared
