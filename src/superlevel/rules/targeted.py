"""Targeted MSE and targeted IMSE: variance counts where the function may well be at the level.

    W(x)     = phi((mu(x) - alpha) / s(x)) / s(x),      s^2(x) = sigma^2(x) + epsilon^2,  phi the normal density
    tMSE(x)  = W(x) sigma^2(x)
    tIMSE(x) = sum_y W(y) sigma^2_{|x}(y)

W is the density of f(x) + N(0, epsilon^2) at the level; with several levels it is their sum. tMSE is maximised, tIMSE
minimised (Picheny, Ginsbourger, Roustant, Haftka and Kim 2010, J. Mech. Des. 132:071008). The W of tIMSE is that before
the measurement, so it falls by sum_y W(y) Sigma(y, x)^2 / (sigma^2(x) + noise): `VarianceReduction` with these weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from superlevel.arrays import Array
from superlevel.posterior import GaussianPosterior
from superlevel.records import View
from superlevel.rules.sequential import Unchanging


@dataclass(frozen=True, kw_only=True)
class TargetedMse:
    """The largest tMSE."""

    epsilon: float = 0.0
    """How far from the level still counts as near it, in the units of the measurements."""

    def begin(self, view: View) -> _Targeted:
        return _Targeted(levels=view.goal.levels, epsilon=self.epsilon)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Targeted(Unchanging):
    levels: Sequence[float]
    epsilon: float

    def scores(self, posterior: GaussianPosterior) -> Array:
        return density(posterior, self.levels, self.epsilon) * posterior.variance


@dataclass(frozen=True, kw_only=True)
class Targeted:
    """The weights of tIMSE."""

    epsilon: float = 0.0

    def at(self, view: View) -> tuple[Array, Array]:
        weights = density(view.posterior, view.goal.levels, self.epsilon)
        return weights, np.zeros(len(weights))


def density(posterior: GaussianPosterior, levels: Sequence[float], epsilon: float = 0.0) -> Array:
    """(n,) W; zero where f is known exactly, because no measurement is needed there."""
    spread = np.where(posterior.variance > 0, np.hypot(posterior.deviation, epsilon), np.inf)
    gaps = posterior.mean - np.reshape(levels, (-1, 1))
    return np.asarray(np.exp(-((gaps / spread) ** 2) / 2).sum(axis=0) / (np.sqrt(2 * np.pi) * spread))
