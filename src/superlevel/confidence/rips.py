"""RIPS, the robust inverse-propensity-scoring estimator (the paper's appendix on robust estimators, Algorithm 3).

phi(x)      (r,)   features of a point                      v       a direction: phi(x), or phi(x) - (1 - eps) phi(x')
lambda      (n,)   the design the points were drawn from    A       sum_x lambda_x phi(x) phi(x)' + gamma I
W^(v)              robust mean of  v' A^-1 phi(x_i) y_i  over the N measurements (x_i, y_i) of the round
||v||              sqrt(v' A^-1 v)

With probability 1 - delta, for all directions v of a set V at once (c = 4 with Catoni's mean, N >= 2 log(|V| / delta)),

    |W^(v) - <theta, v>|  <=  ||v|| (sqrt(gamma) ||theta|| + h + c sqrt((B^2 + sigma^2) log(2 |V| / delta) / N)).

The measurements enter with the mean of f taken off. W decides: the bound above is for W, and N_t is set for it.
theta-hat, the weighted Chebyshev fit to all W at once, is at most twice as far off; `Rips.theta` computes it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel import linalg, robust
from superlevel.arrays import Array, Indices, Mask
from superlevel.confidence import chebyshev
from superlevel.confidence.rounds import COMPRESSION, C, Rounds
from superlevel.design import information_factor
from superlevel.errors import InputError
from superlevel.features import Features
from superlevel.goals import Bounds, FractionOfMax, Goal, Threshold, unread
from superlevel.records import Beginning, Knowledge, Plan, State

BLOCK = 2**22  # factors held at a time: 32 MB


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """W^(v) for every undecided direction, NaN elsewhere."""

    values: Array
    """(n,) or (n, n)"""
    norms: Array
    """||v||, the same shape."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rips:
    """Each round by itself: its measurements bound the directions that were undecided when it was planned."""

    goal: Goal
    features: Features
    ridge: float
    """gamma"""
    mean: float
    """Known mean of f, taken off first."""
    rounds: Rounds
    norm: float | None
    """At least ||theta||, if known: then the bias of a round can be stated."""
    misspecification: float
    """h"""
    unknown: Mask
    """The directions, (n,) or (n, n), whose length is not zero."""

    rounds_only = True
    memoryless = False

    def begin(self) -> Beginning:
        """Directions of length zero are known without measuring: at phi(x) = 0, f(x) is the mean.

        A point exactly at the threshold is not above it, and nothing will ever show more. A pair exactly at zero speaks
        neither for nor against its point, as in the paper's lemma, where a point is in if no pair is below zero.
        """
        goal, slack = self.goal, self.misspecification
        reading = unread(goal, len(self.features.array))
        zero = ~self.unknown
        if not zero.any():
            return Beginning(reading=reading)
        offset = goal.offset(self.mean)
        if isinstance(goal, Threshold) and -slack < offset <= slack and slack > 0:
            got = f"{int(np.argmax(zero))} for the number of a point with phi(x) = 0, whose side no measurement tells"
            raise InputError("domain.points", got, "leave that point out, or give a smaller misspecification")
        in_set = offset > 0 or (offset == 0 and isinstance(goal, FractionOfMax))
        known = np.where(zero, np.inf if in_set else -np.inf, np.nan)
        return Beginning(reading=goal.read(reading, Bounds(lower=known, upper=known)))

    def width(self, state: State) -> tuple[float, float]:  # noqa: ARG002
        """There are no deviations here."""
        return np.nan, 0.0

    def learn(self, state: State, plan: Plan, measured: Array) -> Knowledge:
        """What the round says of the directions that were undecided when it was planned."""
        assert plan.precision is not None
        estimate = self.estimate(plan, state.undecided, measured)
        bounds, bias = self.bounds(plan, estimate), self.bias(plan)
        doubts: tuple[str, ...] = ()
        if bias is not None and bias > plan.precision:
            doubts = (
                f"round {plan.phase} resolves {plan.precision:g}, but ridge and misspecification hide up to {bias:g}: "
                "what is declared from now on may be wrong by that much; give a smaller ridge, or a larger tolerance",
            )
        return Knowledge(
            estimates=estimate.values + self.goal.offset(self.mean),
            bounds=bounds,
            deciding=bounds,
            bias=bias,
            warnings=doubts,
        )

    def estimate(self, plan: Plan, undecided: Mask, measured: Array) -> Estimate:
        """W^(v) from the measurements (N,), in the order of ``plan.indices``."""
        seen = _seen(plan, self.features, self.ridge)
        sample = robust.Grouped(
            values=measured - self.mean,
            groups=np.repeat(np.arange(len(seen.support)), plan.counts[seen.support]),
        )
        positions = np.flatnonzero(undecided)
        norms = np.sqrt(seen.squared_norms(self.goal, positions))
        values = self._means(seen, sample, positions, norms, plan.phase)
        return Estimate(values=_spread(undecided, values), norms=_spread(undecided, norms))

    def bounds(self, plan: Plan, estimate: Estimate) -> Bounds:
        """Of the directions' values in f itself: W +- 2 * 2^-t, twice the precision to leave room for the bias."""
        assert plan.precision is not None
        centre = estimate.values + self.goal.offset(self.mean)
        return Bounds(lower=centre - 2 * plan.precision, upper=centre + 2 * plan.precision)

    def bias(self, plan: Plan) -> float | None:
        """(sqrt(gamma) ||theta|| + h) max ||v|| + h: the part of the error that no number of measurements removes.

        The last h is that of the direction itself, which counts once for each point in it. The precision is kept only
        while this is no larger than it. What the features miss of the kernel acts as a misspecification of
        ||theta|| sqrt(residual). None where that needs a norm that is not given.
        """
        if self.norm is None and (self.ridge > 0 or self.features.residual > 0):
            return None
        assert plan.certificate is not None
        norm = self.norm or 0.0
        error = self.misspecification + norm * np.sqrt(self.features.residual)
        parts = 2 - self.goal.epsilon if isinstance(self.goal, FractionOfMax) else 1.0
        return float(np.sqrt(plan.certificate.value) * (np.sqrt(self.ridge) * norm + error) + parts * error)

    def theta(self, estimate: Estimate, undecided: Mask) -> chebyshev.Fit:
        """theta-hat = argmin over theta of max_v |<theta, v> - W^(v)| / ||v||, in the features' coordinates."""
        if isinstance(self.goal, FractionOfMax):
            share = 1 - self.goal.epsilon
            return chebyshev.fit_pairs(
                self.features.array, estimate.values, estimate.norms, share=share, mask=undecided & (estimate.norms > 0)
            )
        chosen = undecided & (estimate.norms > 0)
        return chebyshev.fit(self.features.array[chosen], estimate.values[chosen], estimate.norms[chosen])

    def _means(self, seen: _Seen, sample: robust.Grouped, positions: Indices, norms: Array, t: int) -> Array:
        """W for the directions at these positions, a block of them at a time: pairs are never all written out."""
        failure = self.rounds.failure(t, len(positions))
        variances = self.rounds.second_moment * norms**2  # at least E (v' A^-1 phi(x) y)^2
        nonzero = norms > 0  # a direction of length zero has the value zero
        if self.rounds.estimator is robust.CATONI:
            # Catoni's scale falls with the deviation, ||v||, and |v' A^-1 phi(z)| <= ||v|| ||phi(z)||.
            scale = float(robust.catoni_scale(sample.count, variance=self.rounds.second_moment, delta=failure))
            reach = scale * np.sqrt(linalg.squared_norms(seen.arms[seen.support]))
            sample = sample.compressed(reach, delta=failure, rtol=COMPRESSION)
        means = np.zeros(len(positions))
        chosen = np.flatnonzero(nonzero)
        step = max(1, BLOCK // len(seen.support))
        for start in range(0, len(chosen), step):
            block = chosen[start : start + step]
            factors = seen.factors(self.goal, positions[block])
            means[block] = self.rounds.estimator.estimate(
                robust.Products(factors=factors, sample=sample), variance=variances[block], delta=failure
            )
        return means


@dataclass(frozen=True, kw_only=True, eq=False)
class _Seen:
    """Points and directions in coordinates where A is the identity."""

    arms: Array
    """(n, r) whitened features."""
    support: Indices
    """(m,) the points that were measured."""
    products: Array
    """(m, n) phi(z)' A^-1 phi(x) for measured z and every x."""

    def factors(self, goal: Goal, positions: Indices) -> Array:
        """(m, p) phi(z)' A^-1 v for measured z and the directions v at these positions."""
        if isinstance(goal, FractionOfMax):
            first, second = np.divmod(positions, len(self.arms))
            factors = self.products[:, second]
            factors *= goal.epsilon - 1
            factors += self.products[:, first]
            return factors
        return self.products[:, positions]

    def squared_norms(self, goal: Goal, positions: Indices) -> Array:
        """(p,) v' A^-1 v."""
        lengths = linalg.squared_norms(self.arms)
        if isinstance(goal, FractionOfMax):
            share = 1 - goal.epsilon
            first, second = np.divmod(positions, len(self.arms))
            pairs = linalg.inner(self.arms, self.arms).ravel()[positions]
            pairs *= -2 * share
            pairs += lengths[first] + share**2 * lengths[second]
            return np.maximum(pairs, 0.0)
        return lengths[positions]


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
