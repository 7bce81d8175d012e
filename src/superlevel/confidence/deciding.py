"""From where directions lie to what that decides."""

from __future__ import annotations

import numpy as np

from superlevel.goals import Bounds


def narrowed(bounds: Bounds, tolerance: float) -> Bounds:
    """What decides: a side that is ruled out up to the tolerance counts as ruled out.

    Where both sides are, the middle decides; a value that is known to be exactly at the level is not above it.
    """
    lower, upper = bounds.lower, bounds.upper
    if tolerance:  # pairs are many: no pass over them that changes nothing
        lower, upper = lower + tolerance, upper - tolerance
    known = lower >= upper
    if not known.any():
        return Bounds(lower=lower, upper=upper)
    sure = np.where(bounds.lower > -bounds.upper, np.inf, -np.inf)
    return Bounds(lower=np.where(known, sure, lower), upper=np.where(known, sure, upper))
