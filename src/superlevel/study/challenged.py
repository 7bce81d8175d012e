"""The challenge that begins with a plan, as the log holds it: written down before anything is measured."""

from __future__ import annotations

import numpy as np

from superlevel.challenge import Challenge
from superlevel.study.events import Challenged, DamagedError

ABOVE, BELOW = "+", "-"
LARGEST = 2**53  # of the number of a point
SMALLEST = 1e-100  # of a gap, and of a share of delta


def stored(found: Challenge) -> Challenged:
    """As data that JSON can hold."""
    return Challenged(
        points=found.points.tolist(),
        others=found.others.tolist() if (found.others >= 0).any() else [],
        signs="".join(ABOVE if sign > 0 else BELOW for sign in found.signs),
        gaps=found.gaps.tolist(),
        deltas=found.deltas.tolist(),
    )


def restored(kept: Challenged, n: int) -> Challenge:
    """Of directions among n points."""
    if max(map(abs, [*kept.points, *kept.others]), default=0) > LARGEST:
        raise DamagedError("a challenge is of points that are not there")
    points = np.array(kept.points, dtype=np.int64)
    others = np.array(kept.others, dtype=np.int64) if kept.others else np.full(len(points), -1)
    signs = np.array([1.0 if sign == ABOVE else -1.0 for sign in kept.signs])
    gaps, deltas = np.array(kept.gaps, dtype=np.float64), np.array(kept.deltas, dtype=np.float64)
    if {len(each) for each in (others, signs, gaps, deltas)} != {len(points)}:
        raise DamagedError("a challenge has more or fewer numbers than directions")
    if not len(points) or points.min() < 0 or others.min() < -1 or max(points.max(), others.max()) >= n:
        raise DamagedError("a challenge is of points that are not there")
    if not ((gaps > SMALLEST).all() and (gaps < 1 / SMALLEST).all() and set(kept.signs) <= {ABOVE, BELOW}):
        raise DamagedError("a challenge has a gap that is no distance, or a sign that is none")
    if not ((deltas > SMALLEST).all() and (deltas < 1.0).all()):
        raise DamagedError("a challenge has a share of delta that is none")
    return Challenge(points=points, others=others, signs=signs, gaps=gaps, deltas=deltas)
