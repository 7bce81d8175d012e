"""All measurements at once, by ridge regression, with intervals that hold at every moment.

f(x) = mean + <theta, phi(x)> + what features and kernel miss. Two kinds of interval, each with half of delta:

mixture    of an ellipsoid for theta, whatever chose the places of the measurements (`superlevel.confidence.ellipsoids`)
union      of a martingale for each point, from plans that were told as a whole (`superlevel.confidence.martingales`)

Both hold for all points and all times at once with probability 1 - delta, so they may be intersected, looked at after
every measurement, and acted upon: whatever is declared, at whatever moment one stops, is right with probability 1 -
delta. Pairs of points are bounded by the ellipsoids and by the intervals of their points, whichever is tighter.

Assumed: noise that is sub-Gaussian with the given deviation, whatever was measured before (Gaussian noise is, and so is
noise between two limits that are 2 sigma apart); ||theta|| <= norm in the kernel's space, or where only a bound is
given, |f - mean| <= bound for an f in the span of the features; misspecification as given. Heavy tails are not
sub-Gaussian. Whether a measurement fails, is withdrawn or is told late must not depend on its value, and its own sigma
must be known before. What contradicts any of this ends the claims (`superlevel.confidence.assumption_checks`): nothing is
declared from then on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel.arrays import Array, Indices, as_deviations, frozen
from superlevel.confidence import assumption_checks
from superlevel.confidence.deciding import narrowed
from superlevel.confidence.ellipsoids import Spectrum, spectrum
from superlevel.confidence.martingales import Martingales, begin
from superlevel.sufficient_statistics import Statistics, nothing, summed
from superlevel.features import Features
from superlevel.goals import Bounds, FractionOfMax, Goal, Threshold, unread
from superlevel.linalg import squared_norms
from superlevel.records import Beginning, Knowledge, Plan, State

SHARE = 0.5  # of delta for either kind of interval
LARGEST = 1e100  # of a measurement: what is beyond contradicts everything in any case, and its square is a number
LEAST = 1e-5  # of the largest sigma, and of what f may reach: smaller ones are lost in rounding
MIXTURE, UNION = "mixture", "union"


@dataclass(frozen=True, kw_only=True, eq=False)
class Scale:
    """What a norm of 1 stands for in the features' coordinates."""

    name: str
    """norm or bound"""
    value: float


@dataclass(frozen=True, kw_only=True, eq=False)
class RidgeLearned:
    """What all measurements say."""

    evidence: Statistics
    martingales: Martingales
    estimate: Array
    """(n,) f, by ridge regression, within its interval."""
    intervals: Bounds
    """(n,) where f lies."""
    sources: tuple[str, ...]
    """(n,) which kind of interval is the narrower one."""
    estimates: Array
    """(n,) or (n, n): the value of every direction."""
    bounds: Bounds
    contradictions: tuple[str, ...]
    """What speaks against the assumptions; nothing is declared where there is one."""

    def __post_init__(self) -> None:
        frozen(self.estimate)
        frozen(self.estimates)


@dataclass(frozen=True, kw_only=True, eq=False)
class Ridge:
    """Intervals for every point or pair from all measurements; plans may be told in any order."""

    goal: Goal
    features: Features
    """In coordinates with ||theta|| <= 1."""
    scale: Scale
    deviations: Array
    """(n,) sigma of a measurement at each point, all positive."""
    misses: Array
    """(n,) h(x): misspecification, and what the features miss of a function of that norm."""
    mean: float
    bound: float | None
    delta: float
    tolerance: float

    rounds_only = False
    memoryless = True  # what is observed; only plans that are told as a whole also make martingales

    def begin(self) -> Beginning:
        """Before the first measurement nothing is decided, even where norm and bound alone would.

        A batch may contradict them first. Only where no measurement tells anything there is nothing to wait for.
        """
        n = len(self.misses)
        reading = unread(self.goal, n)
        learned = self._learned(nothing(n), begin(self.features.array), ())
        if not self.features.array.any():
            reading = self.goal.read(reading, narrowed(learned.bounds, self.tolerance))
        return Beginning(reading=reading, learned=learned, intervals=learned.intervals)

    def width(self, state: State) -> tuple[float, float | Array]:  # noqa: ARG002
        """None: the rule looks at intervals."""
        return np.nan, 0.0

    def learn(self, state: State, plan: Plan, measured: Array) -> Knowledge:
        """With the measurements (N,), in the order of ``plan.indices``."""
        before = _of(state)
        sample = _Sample(points=plan.indices, values=self._centred(measured), deviations=self.deviations[plan.indices])
        information, sums = sample.at_points(len(self.misses))
        told = before.martingales.told(self.features.array, information, sums, self.misses)
        return self._known(before, sample, told)

    def observe(self, state: State, points: Indices, measured: Array, noise: Array | None) -> Knowledge:
        """With measurements (N,) at any points, whoever planned them: only the ellipsoids learn from these."""
        before, usual = _of(state), self.deviations[points]
        least = smallest(self.features, self.deviations)
        deviations = usual if noise is None else np.maximum(as_deviations("noise", noise, len(points)), least)
        sample = _Sample(points=points, values=self._centred(measured), deviations=deviations)
        return self._known(before, sample, before.martingales)

    def _centred(self, measured: Array) -> Array:
        """(N,) y - mean"""
        return np.clip(measured - self.mean, -LARGEST, LARGEST)

    def _known(self, before: RidgeLearned, sample: _Sample, martingales: Martingales) -> Knowledge:
        evidence = before.evidence.told(sample.points, sample.values, sample.deviations)
        learned = self._learned(evidence, martingales, before.contradictions, sample)
        return Knowledge(
            estimates=learned.estimates,
            bounds=learned.bounds,
            deciding=narrowed(learned.bounds, self.tolerance),
            learned=learned,
            intervals=learned.intervals,
            warnings=() if before.contradictions else learned.contradictions,
            contradicted=bool(learned.contradictions),
            sources=learned.sources,
        )

    def _learned(
        self,
        evidence: Statistics,
        martingales: Martingales,
        contradictions: tuple[str, ...],
        sample: _Sample | None = None,
    ) -> RidgeLearned:
        """What follows from the measurements, those of the sample among them."""
        found = spectrum(self.features.array, evidence, self.misses)
        mixed, union = found.points(SHARE * self.delta), martingales.bounds(self.features.array, SHARE * self.delta)
        free = Bounds(
            lower=np.maximum(mixed.lower, union.lower) - self.misses,
            upper=np.minimum(mixed.upper, union.upper) + self.misses,
        )
        if sample is not None and not contradictions:
            contradictions = self._contradictions(found, evidence, free, sample)
        if contradictions:
            free = Bounds(lower=np.full_like(free.lower, -np.inf), upper=np.full_like(free.upper, np.inf))
        inside = free if self.bound is None or contradictions else _within(free, self.bound)
        estimate = np.clip(found.estimate(), inside.lower, inside.upper)
        estimates, bounds = self._directions(found, estimate, inside)
        wider = union.upper - union.lower > mixed.upper - mixed.lower
        return RidgeLearned(
            evidence=evidence,
            martingales=martingales,
            estimate=self.mean + estimate,
            intervals=Bounds(lower=self.mean + inside.lower, upper=self.mean + inside.upper),
            sources=tuple(np.where(wider, MIXTURE, UNION).tolist()),
            estimates=estimates,
            bounds=bounds,
            contradictions=contradictions,
        )

    def _directions(self, found: Spectrum, estimate: Array, inside: Bounds) -> tuple[Array, Bounds]:
        """Estimates and bounds of the goal's directions, from those of f - mean."""
        offset = self.goal.offset(self.mean)
        match self.goal:
            case Threshold():
                return estimate + offset, Bounds(lower=inside.lower + offset, upper=inside.upper + offset)
            case FractionOfMax(epsilon):
                share = 1.0 - epsilon
                lower = inside.lower[:, None] - share * inside.upper + offset
                upper = inside.upper[:, None] - share * inside.lower + offset
                if np.isfinite(lower).all():
                    pairs = found.pairs(SHARE * self.delta, share)
                    missed = self.misses[:, None] + share * self.misses
                    np.maximum(lower, pairs.lower - missed + offset, out=lower)
                    np.minimum(upper, pairs.upper + missed + offset, out=upper)
                centre = estimate[:, None] - share * estimate + offset
                return np.clip(centre, lower, np.maximum(lower, upper)), Bounds(lower=lower, upper=upper)

    def _contradictions(
        self, found: Spectrum, evidence: Statistics, intervals: Bounds, sample: _Sample
    ) -> tuple[str, ...]:
        """What the measurements so far, and the last of them each by itself, say against the assumptions."""
        said = [
            assumption_checks.too_large(found, self.scale.name, self.scale.value),
            assumption_checks.too_much_noise(found, evidence),
        ]
        if apart := assumption_checks.apart(intervals, self.delta, self._farthest(found, sample)):
            said.append(apart)  # and nothing can be held against intervals that are empty
        else:
            said.append(None if self.bound is None else assumption_checks.outside(intervals, self.bound))
            above, below = intervals.upper[sample.points], intervals.lower[sample.points]
            beyond = np.maximum(sample.values - above, below - sample.values) / sample.deviations
            said.append(assumption_checks.outliers(sample.points, beyond, evidence.count))
        return tuple(each for each in said if each is not None)

    def _farthest(self, found: Spectrum, sample: _Sample) -> str:
        """The measurement that the ridge estimate explains least, in words."""
        if not len(sample.values):
            return "none of the last"
        worst = int(np.argmax(np.abs(sample.values - found.estimate()[sample.points]) / sample.deviations))
        return f"{self.mean + sample.values[worst]:.6g} at point {sample.points[worst]}"


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sample:
    """Measurements that just came."""

    points: Indices
    """(N,)"""
    values: Array
    """(N,) y - mean"""
    deviations: Array
    """(N,) sigma of each, positive."""

    def at_points(self, n: int) -> tuple[Array, Array]:
        """(n,) sums of 1 / sigma^2 and (n,) of y / sigma^2."""
        weights = self.deviations**-2
        return summed(self.points, weights, n), summed(self.points, weights * self.values, n)


def smallest(features: Features, deviations: Array) -> float:
    """The least sigma to compute with; noise that is less is sub-Gaussian with this one too."""
    reach = float(np.sqrt(squared_norms(features.array).max()))
    return LEAST * max(float(deviations.max()), reach) or 1.0


def _of(state: State) -> RidgeLearned:
    assert isinstance(state.learned, RidgeLearned)
    return state.learned


def _within(bounds: Bounds, bound: float) -> Bounds:
    """Of f - mean, with |f - mean| <= bound."""
    return Bounds(lower=np.clip(bounds.lower, -bound, bound), upper=np.clip(bounds.upper, -bound, bound))
