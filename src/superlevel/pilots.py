"""Where to measure before anything is known: places that are spread out."""

from __future__ import annotations

import numpy as np

from superlevel.arrays import Array, Indices
from superlevel.problem import Problem

MOST, LEAST = 20, 8  # measurements before the first estimate, whatever the dimension
TWICE = 3  # places of a pilot that are measured twice where the noise is unknown


def size(n: int) -> int:
    """Measurements of a pilot on n points: as many as there are points, within limits."""
    return min(MOST, max(LEAST, n))


def pilot(problem: Problem, *, count: int, begun: Indices) -> Indices:
    """The places of the next measurements of a pilot, sorted; ``begun`` are those that were made or are on their way.

    Where the noise is unknown, the last measurements of a pilot are repeats, whatever the size of the batches.
    """
    places, times = np.unique(begun, return_counts=True)
    twice = TWICE if "noise" in problem.fit else 0
    missing = max(0, twice - (len(begun) - len(places)))
    repeats = min(count, missing, max(0, len(begun) + count - (size(problem.domain.n) - twice)))
    points, units = problem.domain.points, problem.domain.units
    chosen = spread(points, count - repeats, begun, units=units)
    known = np.union1d(places, chosen).astype(np.int64)
    again = known[spread(points[known], repeats, np.searchsorted(known, places[times > 1]), units=units)]
    return np.sort(np.concatenate([chosen, again]))


def spread(points: Array, count: int, begun: Indices, *, units: Indices | None = None) -> Indices:
    """``count`` points, each as far as can be from those before it, in units of each coordinate's range.

    Coordinates with the same number in ``units`` (d,) have the largest of their ranges; by default each has its own.
    The first point is nearest to the middle. Where there are fewer different points than that, they come again.
    """
    ranges = np.ptp(points, axis=0)
    extent = ranges if units is None else _largest(ranges, units)
    scaled = (points - points.min(axis=0)) / np.where(extent > 0, extent, 1.0)
    centre = 0.5 * np.where(ranges > 0, scaled.max(axis=0), 1.0)
    middle = int(np.argmin(np.square(scaled - centre).sum(axis=1)))
    apart = np.full(len(points), np.inf)
    for place in begun:
        apart = np.minimum(apart, _distances(scaled, int(place)))
    chosen: list[int] = []
    for _ in range(count):
        place = middle if np.isinf(apart).all() else int(np.argmax(apart))
        chosen.append(place)
        apart = np.minimum(apart, _distances(scaled, place))
        if not apart.any():
            apart = np.full(len(points), np.inf)
    return np.array(chosen, dtype=np.int64)


def _distances(scaled: Array, place: int) -> Array:
    return np.asarray(np.square(scaled - scaled[place]).sum(axis=1))


def _largest(ranges: Array, units: Indices) -> Array:
    """(d,) the largest range of each coordinate's unit."""
    found = np.zeros(units.max() + 1)
    np.maximum.at(found, units, ranges)
    return found[units]
