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
    """The places of a pilot, sorted; ``begun`` are points that were measured or are about to be.

    Where the noise is unknown, some of the first places come twice.
    """
    twice = min(TWICE, count // 2) if "noise" in problem.fit and not len(begun) else 0
    chosen = spread(problem.domain.points, max(1, count - twice), begun)
    return np.sort(np.concatenate([chosen, chosen[:twice]]))


def spread(points: Array, count: int, begun: Indices) -> Indices:
    """``count`` points, each as far as can be from those before it, in units of each coordinate's range.

    The first is nearest to the middle. Where there are fewer different points than that, they come again.
    """
    extent = np.ptp(points, axis=0)
    scaled = (points - points.min(axis=0)) / np.where(extent > 0, extent, 1.0)
    middle = int(np.argmin(np.square(scaled - 0.5).sum(axis=1)))
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
