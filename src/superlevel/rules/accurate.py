"""The rule that goes with the (epsilon, delta) criterion: measure the point that is least sure of its place.

    r(x) = min{p(x), 1 - p(x), 1 - q(x)},      p(x) = P(f(x) > alpha),  q(x) = P(|f(x) - alpha| < epsilon)

is the probability that x is not where it most likely is: above, below or within the margin (Ishibashi, Matsui,
Kutsukake and Hino 2025, arXiv:2503.20272). `superlevel.methods.stopping.Accurate` stops when the sum of r is small. A
rule that leaves points alone once their label is fairly clear may never get there. With several levels r is the
largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy.special import ndtr

from superlevel.arrays import Array
from superlevel.posterior import GaussianPosterior
from superlevel.records import View
from superlevel.rules.sequential import Unchanging


@dataclass(frozen=True, kw_only=True)
class LeastAccurate:
    """The largest r."""

    epsilon: float
    """The criterion's, in the units of the measurements."""

    def begin(self, view: View) -> _Unsure:
        return _Unsure(levels=view.goal.levels, epsilon=self.epsilon)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Unsure(Unchanging):
    levels: Sequence[float]
    epsilon: float

    def scores(self, posterior: GaussianPosterior) -> Array:
        known = posterior.deviation == 0
        spread = np.where(known, 1.0, posterior.deviation)
        each = [self._risk((posterior.mean - level) / spread, self.epsilon / spread) for level in self.levels]
        return np.where(known, 0.0, reduce(np.maximum, each))

    @staticmethod
    def _risk(a: Array, margin: Array) -> Array:
        """r of a point that is ``a`` deviations from the level."""
        outside = ndtr(a - margin) + ndtr(-a - margin)
        return np.asarray(np.minimum(ndtr(-np.abs(a)), outside))
