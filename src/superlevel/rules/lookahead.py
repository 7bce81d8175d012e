"""RMILE: measure where the number of points sure to be above the level is expected to grow most.

After a measurement at x, sigma+_j^2 = sigma_j^2 - s_jx^2 is certain and mu+_j is normal with mean mu_j and deviation

    s_jx = |Sigma(j, x)| / sqrt(sigma^2(x) + sigma_x^2),       sigma_x^2 the noise at x,

so the expected number of points with mu+_j - beta^1/2 sigma+_j > alpha, less the number there is, is

    G(x) = sum_j [ Phi((mu_j - beta^1/2 sigma+_j - alpha) / s_jx) - 1(mu_j - beta^1/2 sigma_j > alpha) ],

and the rule takes the argmax of max{G(x), c sigma(x)} with a small c > 0, which explores where nothing is to be gained
(Zanette, Zhang and Kochenderfer 2018, ECML PKDD, eq. 8). The sum has n^2 terms, nearly all of them zero: a point far
from the level for certain, or uncorrelated with x, contributes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from superlevel.arrays import Array, Indices
from superlevel.posterior import Planned, Posterior
from superlevel.records import View

EXPLORE = 1e-6  # c, in units of one over the prior's largest deviation
CERTAIN = 7.0  # deviations beyond which a normal variable does not go: it would one time in 1e12
BLOCK = 2**19  # terms held at a time: they fit a processor's cache


@dataclass(frozen=True, kw_only=True)
class Rmile:
    """The expected gain of points that are sure to be above."""

    level: float
    """alpha"""

    def begin(self, view: View) -> _Gain:
        assert view.posterior is not None
        scale = float(view.posterior.deviation.max()) or 1.0
        return _Gain(level=self.level, width=view.width, explore=EXPLORE / scale)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Gain:
    level: float
    width: float
    explore: float

    def scores(self, posterior: Posterior) -> Array:
        gains = np.zeros(len(posterior.mean))
        open_ = self._open(posterior)
        step = max(1, BLOCK // len(gains))
        for start in range(0, len(open_), step):
            gains += self._gains(posterior, open_[start : start + step])
        return np.maximum(gains, self.explore * posterior.deviation)

    def after(self, before: Posterior, planned: Planned) -> _Gain:  # noqa: ARG002
        return self

    def _open(self, posterior: Posterior) -> Indices:
        """Points whose term is not zero whatever x is: s_jx <= sigma_j, and sigma+_j is between 0 and sigma_j."""
        gap, reach = posterior.mean - self.level, posterior.deviation
        hopeless = gap < -CERTAIN * reach
        sure = gap - self.width * reach > CERTAIN * reach
        return np.flatnonzero(~hopeless & ~sure & (reach > 0))

    def _gains(self, posterior: Posterior, among: Indices) -> Array:
        """(n,) the sum over some points."""
        gap, variance = posterior.mean[among] - self.level, posterior.variance[among]
        moves = posterior.covariance.columns(among)
        moves /= np.sqrt(posterior.variance + posterior.noise)
        np.abs(moves, out=moves)  # s_jx
        left = np.sqrt(np.maximum(variance[:, None] - moves**2, 0.0))  # sigma+_j
        left *= -self.width
        left += gap[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            left /= moves
        # A term changes only where s_jx reaches across: elsewhere Phi is 0 or 1 and equals the indicator.
        near = np.flatnonzero(np.abs(left) < CERTAIN)
        above = gap - self.width * np.sqrt(variance) > 0
        gains = np.zeros(left.shape)
        flat = left.ravel()
        gains.ravel()[near] = ndtr(flat[near])
        gains[left >= CERTAIN] = 1.0
        gains -= above[:, None]
        gains[moves == 0] = 0.0
        return np.asarray(gains.sum(axis=0))
