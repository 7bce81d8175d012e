"""Expected feasibility: by how much f is expected to be closer to the level than two deviations.

    EFF(x) = E max{2 sigma - |f - alpha|, 0} = sigma h(a),      a = (mu - alpha) / sigma,

    h(a) = a [2 Phi(-a) - Phi(-2 - a) - Phi(2 - a)] - [2 phi(a) - phi(2 + a) - phi(2 - a)]
           + 2 [Phi(2 - a) - Phi(-2 - a)]

(Bichon, Eldred, Swiler, Mahadevan and McFarland 2008, AIAA J. 46:2459, eq. 17 with epsilon = 2 sigma.) The method that
measures by it is known as EGRA. h falls with |a|, so the nearest of several levels has the largest EFF.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from superlevel.arrays import Array
from superlevel.posterior import GaussianPosterior
from superlevel.records import View
from superlevel.rules.sequential import Unchanging

WITHIN = 2.0  # deviations of f: epsilon of the paper


@dataclass(frozen=True)
class ExpectedFeasibility:
    """The largest EFF."""

    def begin(self, view: View) -> _Feasible:
        return _Feasible(view=view)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Feasible(Unchanging):
    view: View

    def scores(self, posterior: GaussianPosterior) -> Array:
        deviation = posterior.deviation
        distances = self.view.goal.margins(posterior.mean) / np.where(deviation > 0, deviation, 1.0)
        return deviation * closeness(distances)


def closeness(a: Array) -> Array:
    """h(a) >= 0; what rounding leaves below zero is zero."""
    low, high = -WITHIN - a, WITHIN - a
    middle = a * (2 * ndtr(-a) - ndtr(low) - ndtr(high))
    bends = 2 * _density(a) - _density(low) - _density(high)
    return np.asarray(np.maximum(middle - bends + WITHIN * (ndtr(high) - ndtr(low)), 0.0))


def _density(z: Array) -> Array:
    return np.asarray(np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi))
