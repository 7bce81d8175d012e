"""RIPS, the robust inverse-propensity-scoring estimator (the paper's appendix on robust estimators, Algorithm 3).

phi(x)      (r,)   features of a point                      v       a direction: phi(x), or phi(x) - (1 - eps) phi(x')
lambda      (n,)   the design the points were drawn from    A       sum_x lambda_x phi(x) phi(x)' + gamma I
W^(v)              robust mean of  v' A^-1 phi(x_i) y_i  over the N measurements (x_i, y_i) of the round
||v||              sqrt(v' A^-1 v)

With probability 1 - delta, for all directions v of a set V at once (c = 4 with Catoni's mean, N >= 2 log(|V| / delta)),

    |W^(v) - <theta, v>|  <=  ||v|| (sqrt(gamma) ||theta|| + h + c sqrt((B^2 + sigma^2) log(2 |V| / delta) / N)).

The measurements enter with the mean of f taken off. W decides: the bound above is for W, and N_t is set for it.
theta-hat, the weighted Chebyshev fit to all W at once, is at most twice as far off; it is the estimate of a belief.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel import costs, linalg, robust
from superlevel.arrays import Array, Indices, Mask
from superlevel.confidence import chebyshev
from superlevel.confidence.rounds import COMPRESSION, C, Rounds
from superlevel.design import information_factor
from superlevel.features import Features
from superlevel.records import Plan

BLOCK = 2**22  # factors held at a time: 32 MB


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """W^(v) for every undecided direction, NaN elsewhere."""

    values: Array
    """(n,) or (n, n)"""
    norms: Array
    """||v||, the same shape."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Setting:
    """What does not change with the rounds."""

    share: float
    """The directions are f(x) - share f(x'), or f(x) where it is zero."""
    features: Features
    ridge: float
    """gamma"""
    mean: float
    """Known mean of f, taken off first."""
    rounds: Rounds
    bound: float
    deviations: Array
    """(n,)"""
    norm: float | None
    """At least ||theta||, if known: then the bias of a round can be stated."""
    misspecification: float
    """h"""

    @property
    def offset(self) -> float:
        """The value of a direction where f equals its mean."""
        return (1.0 - self.share) * self.mean

    def bias(self, plan: Plan) -> float | None:
        """(sqrt(gamma) ||theta|| + h) max ||v|| + h: the part of the error that no number of measurements removes.

        The last h is that of the direction itself, which counts once for each point in it. The precision is kept only
        while this is no larger than it. What the features miss of the kernel acts as a misspecification of
        ||theta|| sqrt(residual). None where that needs a norm that is not given.
        """
        if (self.norm is None and (self.ridge > 0 or self.features.residual > 0)) or plan.certificate is None:
            return None
        norm = self.norm or 0.0
        error = self.misspecification + norm * np.sqrt(self.features.residual)
        largest = np.sqrt(plan.certificate.value)
        return float(largest * (np.sqrt(self.ridge) * norm + error) + (1.0 + self.share) * error)

    def estimate(self, plan: Plan, measured: Array) -> Estimate:
        """W^(v) from the measurements (N,), in the order of ``plan.indices``."""
        _announce(plan)
        seen = _seen(plan, self.features, self.ridge)
        sample = robust.Grouped(
            values=measured - self.mean,
            groups=np.repeat(np.arange(len(seen.support)), plan.counts[seen.support]),
        )
        positions = np.flatnonzero(plan.undecided)
        norms = np.sqrt(seen.squared_norms(self.share, positions))
        values = self._means(seen, sample, positions, norms, plan.phase)
        return Estimate(values=_spread(plan.undecided, values), norms=_spread(plan.undecided, norms))

    def _means(self, seen: _Seen, sample: robust.Grouped, positions: Indices, norms: Array, t: int) -> Array:
        """W for the directions at these positions, a block of them at a time: pairs are never all written out."""
        failure = self.rounds.failure(t, len(positions))
        variances = self.rounds.second_moment * norms**2  # at least E (v' A^-1 phi(x) y)^2
        nonzero = norms > 0  # a direction of length zero has the value zero
        if self.rounds.estimator == robust.CATONI:
            # Catoni's scale falls with the deviation, ||v||, and |v' A^-1 phi(z)| <= ||v|| ||phi(z)||.
            scale = float(robust.catoni_scale(sample.count, variance=self.rounds.second_moment, delta=failure))
            reach = scale * np.sqrt(linalg.squared_norms(seen.arms[seen.support]))
            sample = sample.compressed(reach, delta=failure, rtol=COMPRESSION)
        means = np.zeros(len(positions))
        chosen = np.flatnonzero(nonzero)
        step = max(1, BLOCK // len(seen.support))
        for start in range(0, len(chosen), step):
            block = chosen[start : start + step]
            factors = seen.factors(self.share, positions[block])
            means[block] = self.rounds.estimator.estimate(
                robust.Products(factors=factors, sample=sample), variance=variances[block], delta=failure
            )
        return means

    def theta(self, estimate: Estimate) -> chebyshev.Fit:
        """theta-hat = argmin over theta of max_v |<theta, v> - W^(v)| / ||v||, in the features' coordinates."""
        arms, chosen = self.features.array, estimate.norms > 0
        if self.share:
            return chebyshev.fit_pairs(arms, estimate.values, estimate.norms, share=self.share, mask=chosen)
        return chebyshev.fit(arms[chosen], estimate.values[chosen], estimate.norms[chosen])


@dataclass(frozen=True, kw_only=True, eq=False)
class _Seen:
    """Points and directions in coordinates where A is the identity."""

    arms: Array
    """(n, r) whitened features."""
    support: Indices
    """(m,) the points that were measured."""
    products: Array
    """(m, n) phi(z)' A^-1 phi(x) for measured z and every x."""

    def factors(self, share: float, positions: Indices) -> Array:
        """(m, p) phi(z)' A^-1 v for measured z and the directions v at these positions."""
        if not share:
            return self.products[:, positions]
        first, second = np.divmod(positions, len(self.arms))
        factors = self.products[:, second]
        factors *= -share
        factors += self.products[:, first]
        return factors

    def squared_norms(self, share: float, positions: Indices) -> Array:
        """(p,) v' A^-1 v."""
        lengths = linalg.squared_norms(self.arms)
        if not share:
            return lengths[positions]
        first, second = np.divmod(positions, len(self.arms))
        pairs = linalg.inner(self.arms, self.arms).ravel()[positions]
        pairs *= -2 * share
        pairs += lengths[first] + share**2 * lengths[second]
        return np.maximum(pairs, 0.0)


def _announce(plan: Plan) -> None:
    directions, measured = int(np.count_nonzero(plan.undecided)), int(np.count_nonzero(plan.counts))
    cost = costs.of_round(len(plan.counts), directions=directions, measured=measured)
    what = f"the robust means of {directions:,} directions from {measured:,} measured points"
    costs.announce("problem.domain", what, cost, instead="give fewer points, or take the ridge confidence")


def _seen(plan: Plan, features: Features, ridge: float) -> _Seen:
    factor = information_factor(features.array, plan.weights, ridge=ridge)
    arms = linalg.whiten(factor, features.array)
    support = np.flatnonzero(plan.counts)
    return _Seen(arms=arms, support=support, products=np.ascontiguousarray(linalg.inner(arms[support], arms)))


def _spread(mask: Mask, values: Array) -> Array:
    """The values at the mask's places, NaN elsewhere."""
    placed = np.full(mask.shape, np.nan)
    placed[mask] = values
    return placed


def deviation(
    count: int,
    *,
    directions: int,
    delta: float,
    second_moment: float,
    norm: float,
    ridge: float,
    misspecification: float = 0.0,
) -> float:
    """What |W^(v) - <theta, v>| / ||v|| exceeds with probability delta at most, for all directions at once.

    sqrt(gamma) ||theta|| + h + 4 sqrt((B^2 + sigma^2) log(2 |V| / delta) / N), for N >= 2 log(|V| / delta)
    """
    random = C * np.sqrt(second_moment * np.log(2 * directions / delta) / count)
    return float(np.sqrt(ridge) * norm + misspecification + random)
