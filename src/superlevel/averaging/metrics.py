"""Units in which distances between points are measured.

A table of settings has columns in different units, so each coordinate is divided by its standard deviation. A map has
the same unit in both directions, and dividing would stretch it. Both are tried where they differ, and the likelihood
weighs them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel.arrays import Array, Indices

ALIKE = 1.1  # deviations of the coordinates that differ by less than this factor make one metric
UNRELATED = 100.0  # and by more than this factor, have no common unit


@dataclass(frozen=True, kw_only=True, eq=False)
class Metric:
    """Distances after each coordinate is multiplied by a factor."""

    factors: Array
    """(d,) 0 for a coordinate that is constant."""
    log_prior: float = 0.0
    stretched: bool = False
    """Whether the factors were estimated: there is a length for each coordinate."""

    def scaled(self, points: Array) -> Array:
        """(n, d') without the constant coordinates, in units in which a typical distance is about 1."""
        used = self.factors > 0
        return np.ascontiguousarray(points[:, used] * self.factors[used])


def constant(points: Array, units: Indices | None = None) -> Indices:
    """The coordinates that are the same at all points, with all others of their unit."""
    of = np.arange(points.shape[1]) if units is None else units
    return np.flatnonzero(np.bincount(of, np.ptp(points, axis=0))[of] == 0)


def metrics(points: Array, units: Indices | None = None) -> tuple[Metric, ...]:
    """Each coordinate in units of its own deviation, and all in one unit where that is something else.

    In both of them the sum of the coordinates' variances is 1. Coordinates with the same number in ``units`` (d,) are
    of one unit, as those of a place on the sphere are, and have one deviation; by default each has its own.
    """
    of = np.arange(points.shape[1]) if units is None else units
    extents, variances = np.bincount(of, np.ptp(points, axis=0)), np.bincount(of, np.square(points.std(axis=0)))
    deviations, varies = np.sqrt(variances), extents > 0
    if not varies.any():
        return (Metric(factors=np.zeros(points.shape[1])),)
    own = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=varies) / np.sqrt(varies.sum())
    spread = deviations[varies].max() / deviations[varies].min()
    if not ALIKE < spread < UNRELATED:
        return (Metric(factors=own[of]),)
    common = varies / np.sqrt(np.square(deviations[varies]).sum())
    return (Metric(factors=own[of]), Metric(factors=common[of]))
