"""LSE and Straddle: measure where it is least clear on which side of the level a point is.

    a(x) = min(u(x) - alpha, alpha - l(x))          u, l: upper and lower end of the point's interval

LSE takes the intervals that also decide, and undecided points only (Gotovos et al. 2013, IJCAI); Straddle takes
mu +- 1.96 sigma, and any point (Bryan et al. 2005, NeurIPS).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel.arrays import Array
from superlevel.posterior import GaussianPosterior
from superlevel.records import View
from superlevel.rules.sequential import Unchanging

STRADDLE = 1.96


@dataclass(frozen=True, kw_only=True)
class Ambiguity:
    """LSE's rule."""

    level: float
    """alpha"""

    def begin(self, view: View) -> _Ambiguous:
        return _Ambiguous(level=self.level, view=view)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Ambiguous(Unchanging):
    level: float
    view: View

    def scores(self, posterior: GaussianPosterior) -> Array:
        ends = self.view.ends(posterior)
        return np.where(self.view.undecided, np.minimum(ends.upper - self.level, self.level - ends.lower), -np.inf)


@dataclass(frozen=True, kw_only=True)
class Straddle:
    """Straddle's rule: with mu +- 1.96 sigma, a(x) is 1.96 sigma - |mu - alpha|."""

    level: float
    """alpha"""

    def begin(self, view: View) -> _Straddling:  # noqa: ARG002
        return _Straddling(level=self.level)


@dataclass(frozen=True, kw_only=True)
class _Straddling(Unchanging):
    level: float

    def scores(self, posterior: GaussianPosterior) -> Array:
        return np.asarray(STRADDLE * posterior.deviation - np.abs(posterior.mean - self.level))
