"""LSE and Straddle: measure where it is least clear on which side of the level a point is.

    a(x) = min(u(x) - alpha, alpha - l(x))          u, l: upper and lower end of the point's interval

LSE takes the intervals that also decide, and undecided points only (Gotovos et al. 2013, IJCAI, eq. 6); Straddle takes
mu +- 1.96 sigma, and any point (Bryan et al. 2005, NeurIPS).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel.arrays import Array, Mask
from superlevel.goals import Bounds
from superlevel.posterior import Planned, Posterior
from superlevel.records import View

STRADDLE = 1.96


@dataclass(frozen=True, kw_only=True)
class Ambiguity:
    """LSE's rule."""

    level: float
    """alpha"""

    def begin(self, view: View) -> _Ambiguous:
        assert view.intervals is not None
        return _Ambiguous(
            level=self.level, width=view.width, margin=view.margin, within=view.intervals, among=view.undecided
        )


@dataclass(frozen=True, kw_only=True)
class Straddle:
    """Straddle's rule."""

    level: float
    """alpha"""

    def begin(self, view: View) -> _Ambiguous:
        everywhere = np.full(view.undecided.shape, np.inf)
        return _Ambiguous(
            level=self.level,
            width=STRADDLE,
            margin=0.0,
            within=Bounds(lower=-everywhere, upper=everywhere),
            among=np.ones(view.undecided.shape, dtype=np.bool_),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Ambiguous:
    level: float
    width: float
    margin: float | Array
    within: Bounds
    """Intervals are intersected with these."""
    among: Mask

    def scores(self, posterior: Posterior) -> Array:
        half = self.width * posterior.deviation + self.margin
        upper = np.minimum(self.within.upper, posterior.mean + half)
        lower = np.maximum(self.within.lower, posterior.mean - half)
        return np.where(self.among, np.minimum(upper - self.level, self.level - lower), -np.inf)

    def after(self, before: Posterior, planned: Planned) -> _Ambiguous:  # noqa: ARG002
        return self
