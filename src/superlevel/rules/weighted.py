"""Weighted MSE: variance counts as much as a point is likely to be mislabelled.

    wMSE(x) = tau(x) (sigma^2(x))^beta,      tau(x) = min{p(x), 1 - p(x)},  p(x) = Phi((mu(x) - alpha) / sigma(x))

It is the criterion for excursion sets of gpmp-contrib (Vazquez), which has beta = 1/2 by default; with beta = 1 it is
the weighted mean square error itself. With several levels tau is the sum over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from superlevel.arrays import Array
from superlevel.posterior import GaussianPosterior
from superlevel.records import View
from superlevel.rules.sequential import Unchanging


@dataclass(frozen=True, kw_only=True)
class WeightedMse:
    """The largest wMSE."""

    beta: float = 0.5
    """The power of the variance."""

    def begin(self, view: View) -> _Weighted:
        return _Weighted(levels=view.goal.levels, beta=self.beta)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Weighted(Unchanging):
    levels: Sequence[float]
    beta: float

    def scores(self, posterior: GaussianPosterior) -> Array:
        return mislabelled(posterior, self.levels) * posterior.variance**self.beta


def mislabelled(posterior: GaussianPosterior, levels: Sequence[float]) -> Array:
    """(n,) tau; zero where f is known exactly."""
    spread = np.where(posterior.variance > 0, posterior.deviation, 1.0)
    distances = np.abs(posterior.mean - np.reshape(levels, (-1, 1))) / spread
    return np.where(posterior.variance > 0, ndtr(-distances).sum(axis=0), 0.0)
