"""What was measured at each point, in as few numbers as a linear estimate needs.

information    w(x) = sum of 1 / sigma^2 over the measurements at x
means          their mean in these weights, of y - mean
scatter        sum of (y - means(x))^2 / sigma^2 over all of them

However many measurements there are, these are (n,) arrays: nothing that follows grows with their number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel.arrays import Array, Indices, frozen


@dataclass(frozen=True, kw_only=True, eq=False)
class Statistics:
    """All measurements so far."""

    counts: Indices
    """(n,) measurements at each point."""
    information: Array
    """(n,)"""
    means: Array
    """(n,) zero where nothing was measured."""
    scatter: float

    def __post_init__(self) -> None:
        for array in (self.counts, self.information, self.means):
            frozen(array)

    @property
    def count(self) -> int:
        """Measurements in all."""
        return int(self.counts.sum())

    def told(self, points: Indices, values: Array, deviations: Array) -> Statistics:
        """With measurements (N,) of y - mean at points (N,), each with its own sigma > 0."""
        n = len(self.counts)
        weights = deviations**-2
        fresh = summed(points, weights, n)
        # About the first value at each point: the mean of equal values is that value, to the last digit.
        about = np.zeros(n)
        about[points[::-1]] = values[::-1]
        moved = values - about[points]
        shifts = _ratio(summed(points, weights * moved, n), fresh)
        within = float((weights * np.square(moved - shifts[points])).sum())
        # Two groups of measurements at a point: Chan, Golub and LeVeque 1983, Am. Stat. 37:242.
        total, apart = self.information + fresh, about + shifts - self.means
        apart[fresh == 0] = 0.0
        between = float((_ratio(self.information * fresh, total) * np.square(apart)).sum())
        return Statistics(
            counts=self.counts + np.bincount(points, minlength=n),
            information=total,
            means=self.means + _ratio(fresh, total) * apart,
            scatter=self.scatter + within + between,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """Measurements that just came."""

    points: Indices
    """(N,)"""
    values: Array
    """(N,) y - mean"""
    deviations: Array
    """(N,) sigma of each, positive."""

    def at_points(self, n: int) -> tuple[Array, Array]:
        """(n,) sums of 1 / sigma^2 and (n,) of y / sigma^2."""
        weights = self.deviations**-2
        return summed(self.points, weights, n), summed(self.points, weights * self.values, n)


def nothing(n: int) -> Statistics:
    """Before the first measurement of n points."""
    return Statistics(counts=np.zeros(n, dtype=np.int64), information=np.zeros(n), means=np.zeros(n), scatter=0.0)


def summed(points: Indices, values: Array, n: int) -> Array:
    """(n,) the sum of values (N,) at each point."""
    return np.asarray(np.bincount(points, values, n), dtype=np.float64)


def _ratio(parts: Array, wholes: Array) -> Array:
    """Zero where there is no whole."""
    return np.divide(parts, wholes, out=np.zeros_like(parts), where=wholes > 0)
