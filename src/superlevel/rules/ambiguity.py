"""LSE and Straddle: measure where it is least clear on which side of the level a point is.

    a(x) = min(u(x) - alpha, alpha - l(x))          u, l: upper and lower end of the point's interval

With several levels a(x) is the largest over them. LSE takes the intervals that also decide, and undecided points only
(Gotovos et al. 2013, IJCAI); Straddle takes mu +- 1.96 sigma, and any point (Bryan et al. 2005, NeurIPS).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from superlevel.arrays import Array
from superlevel.posterior import GaussianPosterior
from superlevel.records import View
from superlevel.rules.sequential import Unchanging

STRADDLE = 1.96


@dataclass(frozen=True)
class Ambiguity:
    """LSE's rule."""

    def begin(self, view: View) -> _Ambiguous:
        return _Ambiguous(view=view)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Ambiguous(Unchanging):
    view: View

    def scores(self, posterior: GaussianPosterior) -> Array:
        ends = self.view.belief.model.ends(posterior)
        each = [np.minimum(ends.upper - level, level - ends.lower) for level in self.view.goal.levels]
        return np.where(self.view.undecided, reduce(np.maximum, each), -np.inf)


@dataclass(frozen=True)
class Straddle:
    """Straddle's rule: with mu +- 1.96 sigma, a(x) is 1.96 sigma - |mu - alpha|."""

    def begin(self, view: View) -> _Straddling:
        return _Straddling(view=view)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Straddling(Unchanging):
    view: View

    def scores(self, posterior: GaussianPosterior) -> Array:
        return np.asarray(STRADDLE * posterior.deviation - self.view.goal.margins(posterior.mean))
