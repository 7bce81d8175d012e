"""RMILE: measure where the number of points sure to be above the level is expected to grow most.

After a measurement at x, sigma+_j^2 = sigma_j^2 - s_jx^2 is certain and mu+_j is normal with mean mu_j and deviation

    s_jx = |Sigma(j, x)| / sqrt(sigma^2(x) + sigma_x^2),       sigma_x^2 the noise at x,

so the expected number of points with mu+_j - beta^1/2 sigma+_j > alpha, less the number there is, is

    G(x) = sum_j [ Phi((mu_j - beta^1/2 sigma+_j - alpha) / s_jx) - 1(mu_j - beta^1/2 sigma_j > alpha) ],

and the rule takes the argmax of max{G(x), c sigma(x)} with a small c > 0, which explores where nothing is to be gained
(Zanette, Zhang and Kochenderfer 2018, ECML PKDD). The sum has n^2 terms, nearly all of them zero: only where x
moves j by enough can what is sure of j change, and only those terms are computed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from superlevel.arrays import Array, Indices
from superlevel.posterior import GaussianPosterior
from superlevel.records import View
from superlevel.rules.sequential import Unchanging
from superlevel.rules.variance import PAIRS, SAMPLED, SAMPLING, sampled

EXPLORE = 1e-6  # c, in units of one over the largest deviation there is before a batch
CERTAIN = 7.0  # deviations beyond which a normal variable does not go: it would one time in 1e12
BLOCK = 2**19  # terms held at a time: they fit a processor's cache


@dataclass(frozen=True)
class Rmile:
    """The expected gain of points that are sure to be above; it is for one level."""

    def begin(self, view: View) -> _Gain:
        posterior, (level,) = view.posterior, view.goal.levels
        scale = float(posterior.deviation.max()) or 1.0
        width, standing = view.belief.model.width, np.broadcast_to(view.standing, len(posterior.mean))
        whole = _Gain(level=level, width=width, explore=EXPLORE / scale, factors=standing)
        open_ = whole.reach(posterior) < posterior.deviation
        if np.count_nonzero(open_) * len(open_) <= PAIRS:
            return whole
        sizes = open_ * posterior.deviation * standing
        chosen, shares = sampled(sizes, max(1, SAMPLED // len(open_)), view.rng(SAMPLING))
        factors = np.zeros(len(open_))
        factors[chosen] = shares * standing[chosen]
        return replace(whole, factors=factors)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Gain(Unchanging):
    level: float
    width: float
    explore: float
    factors: Array
    """(n,) with which the points count: 1, or where a sample stands for all, how many each stands for."""

    def scores(self, posterior: GaussianPosterior) -> Array:
        gains = np.zeros(len(posterior.mean))
        reach = self.reach(posterior)
        chosen = np.flatnonzero((reach < posterior.deviation) & (self.factors > 0))
        step = max(1, BLOCK // len(gains))
        for start in range(0, len(chosen), step):
            among = chosen[start : start + step]
            gains += self._gains(posterior, among, reach[among])
        return np.maximum(gains, self.explore * posterior.deviation)

    def reach(self, posterior: GaussianPosterior) -> Array:
        """(n,) the least s_jx with which a measurement may change what is sure of j; infinite if none may.

        In units of sigma_j, with a = (mu_j - alpha) / sigma_j and z = 7: a point that is not sure may become so where
        a + z s > beta^1/2 sqrt(1 - s^2), and a sure one may cease to be where a - z s < beta^1/2 sqrt(1 - s^2). Both
        begin at a root of (z^2 + beta) s^2 +- 2 a z s + a^2 - beta = 0.
        """
        deviation, beta = posterior.deviation, self.width**2
        with np.errstate(divide="ignore", invalid="ignore"):
            a = (posterior.mean - self.level) / deviation
            square = CERTAIN**2 + beta
            root = np.sqrt((CERTAIN * a) ** 2 - square * (a**2 - beta))
            least = np.where(a > self.width, CERTAIN * a - root, root - CERTAIN * a) / square
        return np.where(np.isfinite(least), np.maximum(least, 0.0) * deviation, np.inf)

    def _gains(self, posterior: GaussianPosterior, among: Indices, reach: Array) -> Array:
        """(n,) the sum over some points."""
        moves = posterior.covariance.columns(among)
        moves /= np.sqrt(posterior.variance + posterior.noise)
        np.abs(moves, out=moves)  # s_jx
        j, x = np.divmod(np.flatnonzero(moves > reach[:, None]), moves.shape[1])
        gap, variance = posterior.mean[among] - self.level, posterior.variance[among]
        sure = gap > self.width * np.sqrt(variance)
        move = moves[j, x]
        left = np.sqrt(np.maximum(variance[j] - move**2, 0.0))  # sigma+_j
        terms = self.factors[among[j]] * (ndtr((gap[j] - self.width * left) / move) - sure[j])
        return np.bincount(x, weights=terms, minlength=moves.shape[1]).astype(np.float64)
