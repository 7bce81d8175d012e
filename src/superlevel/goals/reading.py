"""Bounds go in, labels come out: the records that goals read and write."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel.arrays import Array, Labels, Mask, frozen

ABOVE, UNDECIDED, BELOW = 1, 0, -1


@dataclass(frozen=True, kw_only=True, eq=False)
class Bounds:
    """Confidence intervals of the values of all directions; NaN where nothing is known."""

    lower: Array
    """(n,) or (n, n), as the goal's directions."""
    upper: Array
    """The same shape."""

    def __post_init__(self) -> None:
        frozen(self.lower)
        frozen(self.upper)


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """Which points are decided, and which directions are not."""

    labels: Labels
    """(n,) +1 above the level, 0 undecided, -1 below; (k, n) for k levels, a row for each in ascending order."""
    undecided: Mask
    """(n,) or (n, n): the directions whose sign is still needed, the active set A_t of the paper."""

    def __post_init__(self) -> None:
        frozen(self.labels)
        frozen(self.undecided)


def apply_tolerance(bounds: Bounds, tolerance: float) -> Bounds:
    """The bounds that decide: each end moves inwards by the tolerance.

    Where the ends meet or cross, the middle of the interval decides. A value that is known to equal the level is not
    above it.
    """
    lower, upper = bounds.lower, bounds.upper
    if tolerance:  # pairs are many: no pass over them that changes nothing
        lower, upper = lower + tolerance, upper - tolerance
    crossed = lower >= upper
    if not crossed.any():
        return Bounds(lower=lower, upper=upper) if tolerance else bounds
    side = np.where(bounds.lower > -bounds.upper, np.inf, -np.inf)
    return Bounds(lower=np.where(crossed, side, lower), upper=np.where(crossed, side, upper))


def decided(labels: Labels) -> Mask:
    """(n,) the points whose labels are all decided; labels are (n,) or (k, n)."""
    found = labels != UNDECIDED
    return np.asarray(found if found.ndim == 1 else found.all(axis=0))


def classes(labels: Labels) -> tuple[Labels, Labels]:
    """The lowest and the highest class (n,) that each point may still be in.

    Class c is above c of the k levels. Labels are (n,) for one level or (k, n).

    >>> lowest, highest = classes(np.array([[1, 1, -1], [0, 1, -1]], dtype=np.int8))
    >>> lowest.tolist(), highest.tolist()
    ([1, 2, 0], [2, 2, 0])
    """
    rows = np.atleast_2d(labels)
    lowest, below = (rows == ABOVE).sum(axis=0), (rows == BELOW).sum(axis=0)
    return frozen(lowest.astype(np.int8)), frozen((len(rows) - below).astype(np.int8))


def labels_of(lowest: Labels, highest: Labels, levels: int) -> Labels:
    """The labels of points whose lowest and highest possible class (n,) are known: the inverse of `classes`.

    >>> labels_of(np.array([1, 2, 0], dtype=np.int8), np.array([2, 2, 0], dtype=np.int8), 2).tolist()
    [[1, 1, -1], [0, 1, -1]]
    """
    at = np.arange(levels)[:, None]
    rows = np.where(lowest > at, ABOVE, np.where(highest <= at, BELOW, UNDECIDED)).astype(np.int8)
    return frozen(rows[0] if levels == 1 else rows)


def declared(labels: Labels, *, above: Mask, below: Mask) -> Labels:
    """Labels with two more groups of points decided."""
    found = labels.copy()
    found[above] = ABOVE
    found[below] = BELOW
    return found
