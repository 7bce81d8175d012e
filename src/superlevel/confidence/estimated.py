"""The posterior of a problem that leaves kernel, noise or mean open.

A pilot comes first. From then on f at every point is a mixture over a handful of kernels (`superlevel.averaging`),
computed from all measurements whenever it is asked for. Five things keep its intervals honest:

- Every plan carries a forecast of what will be measured. When the results come, their deviates show whether the
  intervals were as wide as they had to be. Measurements without a forecast, because nobody planned them or because an
  audit drew them, are compared with what all others predict. If the deviates are larger than normal ones, all intervals
  are widened by that factor, the misfit.
- One measurement in ten is a check at a random place where the model is sure (`superlevel.rules.checked`). All others
  are where the rule wants them, and do not show what the model is worth elsewhere.
- The misfit is itself an estimate. A normal deviate whose scale is estimated from v squares is Student's t with v
  degrees of freedom. v is a tenth of the number of comparisons, because a tenth of them are checks.
- Where measured points are farther from their predictions than elsewhere, intervals are wider. Where they are nearer,
  intervals are narrower (`superlevel.averaging.local`).
- Until enough predictions were compared, and while they fail, nothing is declared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from superlevel import pilots, posterior
from superlevel.arrays import Array, Indices, Labels, Mask, frozen, occurrences
from superlevel.averaging import NO_DATA, Average, Data, Predictive, Shortlist
from superlevel.averaging.metrics import constant
from superlevel.averaging.predictive import ONE_DEVIATION, probit
from superlevel.confidence import error_rate
from superlevel.confidence.posterior import BETA, OnPosterior, Posterior
from superlevel.confidence.protocol import Guarantee
from superlevel.confidence.representative import Representative
from superlevel.errors import InputError
from superlevel.findings import Finding, Verdict
from superlevel.goals import Bounds, Goal
from superlevel.one_thread import one_thread
from superlevel.posterior import GaussianPosterior
from superlevel.problem import Problem
from superlevel.records import Batch, Belief, Forecast, LinearModel, Outlook, View
from superlevel.sizes import ESTIMATING, PilotFirst, Sizes

ENOUGH = 20  # predictions that are compared before anything is declared
INDEPENDENT = 0.1  # of the comparisons: the part that tells of all points, because it is at random places
FREEDOM = 3.0  # degrees of freedom, at least: with fewer, Student's t has no variance to speak of
FAILED = 2.5  # times too far from their predictions: the fit fails its own test
SEARCHED = 1.1  # times as many measurements: kernels are searched for anew
RECENT = 300  # forecasts that count: an instrument that was mended is believed again some day


@dataclass(frozen=True, kw_only=True, eq=False)
class EstimatedBelief:
    """What all measurements say of f, averaged over kernels."""

    problem: Problem
    """As it was given."""
    confidence: OnPosterior
    """How labels are declared."""
    data: Data
    shortlist: Shortlist
    """Kernels that all measurements made likely, or all but the last few."""
    deviates: Array
    """(m,) of the results that a plan had forecast."""
    surprising: Mask
    """(n + m,) points, and places elsewhere, with a measurement that the rule did not plan: nobody did, or an audit
    drew it."""

    contradicted: ClassVar[bool] = False
    sources: ClassVar[None] = None
    hints: ClassVar[Mapping[str, Any]] = {}

    # ------------------------------------------------------------------------------------ estimates

    @property
    def pilot(self) -> int:
        return max(0, pilots.size(self.problem.domain.n) - len(self.data))

    @cached_property
    def average(self) -> Average:
        """The kernels; an InputError before the pilot is complete."""
        if self.pilot:
            raise InputError("belief", "without an estimate", f"{self.pilot} more measurements of the pilot come first")
        return self.shortlist.averaged(self.data)

    @cached_property
    def prediction(self) -> Predictive:
        """f at every point."""
        return self.average.predict(np.arange(self.problem.domain.n))

    @cached_property
    @one_thread
    def representative(self) -> Representative:
        """The likeliest kernel by itself on the transformed values, for rules that look ahead in a posterior."""
        found, problem = self.average, self.problem
        best, noise = found.mixture.best, found.mixture.best.noise
        kernel = best.structure.family.kernel(
            problem.domain, found.mixture.summary.metrics, best.amplitude, best.structure.rough
        )
        complete = replace(
            problem,
            domain=problem.domain.with_kernel(kernel),
            goal=problem.goal.moved(found.warp),
            noise=noise,
            mean=best.mean,
            tolerance=0.0,
            misspecification=0.0,
            fit=(),
        )
        inner = Posterior(beta=BETA)
        start = posterior.begin(complete.domain, noise=noise, mean=best.mean, form=posterior.by_rows)
        batch = Batch(
            points=self.data.points,
            values=found.warp(self.data.values),
            noise=noise / np.sqrt(found.counts),
            whole=True,
        )
        alone = inner.update(inner.believing(complete, start), batch)
        (_, likeliest), *_ = self.prediction.parts
        mean, deviation = likeliest.moments()
        return Representative(
            problem=complete,
            posterior=alone.posterior,
            widths=alone.widths,
            counts=alone.counts,
            together=(frozen(mean), frozen(self.scale * deviation)),
        )

    @cached_property
    def estimated(self) -> dict[str, str]:
        """What was estimated, in words."""
        if self.pilot:
            return {}
        found = self.average
        words = {
            "kernel": found.kernel,
            "noise": f"{found.noise:.4g}",
            "mean": f"{float(found.warp.inverse(found.mixture.best.mean)):.6g}",
        }
        return {name: words[name] for name in self.problem.fit}

    # -------------------------------------------------------------------------------------- widths

    @cached_property
    def compared(self) -> Array:
        """Deviates of the predictions that were compared with measurements; empty before there is an estimate."""
        planned = self.deviates[-RECENT:]
        if self.pilot or not self.surprising.any():
            return planned
        points = self.average.mixture.summary.points
        return np.concatenate([planned, self.left_out[self.surprising[points]]])

    @cached_property
    def misfit(self) -> float:
        """How much too far measurements were from their predictions, at least 1.

        The root mean square of the m deviates, less half of its standard error (2 m)^-1/2. Without that it would be
        above 1 in half of all cases where the predictions are right.
        """
        m = max(len(self.compared), 1)
        size = math.sqrt(float(np.square(self.compared).sum()) / m)
        return max(1.0, size * (1.0 - 0.5 / math.sqrt(2.0 * m)))

    @cached_property
    def scale(self) -> Array:
        """(n,) by how much deviations are multiplied: the misfit and the local scale. A given kernel is believed."""
        return self.local if self.believed else frozen(self.misfit * self.local)

    @cached_property
    def local(self) -> Array:
        """(n,) how much rougher f is at each point than on average; a given kernel is believed everywhere."""
        if self.believed:
            return frozen(np.ones(self.problem.domain.n))
        return frozen(self.average.local_scales(self.left_out)[: self.problem.domain.n])

    @cached_property
    def left_out(self) -> Array:
        """(q,) how far each measured point is from what all others predict."""
        return frozen(self.average.left_out())

    @cached_property
    def freedom(self) -> float:
        """Degrees of freedom of the misfit; a given kernel has none to estimate."""
        return math.inf if self.believed else max(FREEDOM, INDEPENDENT * len(self.compared))

    def below(self, level: float) -> Array:
        """(n,) the probability that f is below a level."""
        chances = self.prediction.below(level, self.scale)
        return chances if self.believed else np.asarray(stdtr(self.freedom, probit(chances)))

    def deviate(self, chance: float) -> float:
        """How many deviations from its median f is with this probability of less: a quantile of Student's t."""
        return float(ndtri(chance) if self.believed else stdtrit(self.freedom, chance))

    @property
    def believed(self) -> bool:
        """Whether the kernel is given."""
        return "kernel" not in self.problem.fit

    @property
    def needed(self) -> int:
        """Predictions that must be compared before anything is declared."""
        return min(ENOUGH, max(1, self.problem.domain.n // 2))

    @property
    def ready(self) -> bool:
        """Whether the fit passes its own tests, so that labels may be declared."""
        differ = bool(np.ptp(self.data.values) > 0)
        return self.believed or (differ and len(self.compared) >= self.needed and self.misfit < FAILED)

    @cached_property
    def tail(self) -> float:
        """The probability of being wrong that a declared label may have."""
        rate = self.confidence.rate(self.problem)
        if rate is None:
            return float(ndtr(-self.confidence.deviations))
        room, levels = self.tolerance, self.problem.goal.levels
        below = [self.below(level - room) for level in levels]
        above = [1.0 - self.below(level + room) for level in levels]
        return error_rate.tail(np.minimum(below, above), rate)

    # ---------------------------------------------------------------------------------- as a belief

    @property
    def tolerance(self) -> float:
        return self.problem.tolerance

    @property
    def counts(self) -> Indices:
        return occurrences(self.data.points, self.problem.domain.n)

    @property
    def averages(self) -> tuple[Array, Array]:
        counts = self.counts
        listed = self.data.points < len(counts)
        sums = np.bincount(self.data.points[listed], self.data.values[listed], minlength=len(counts))
        means = np.divide(sums, counts, out=np.zeros(len(counts)), where=counts > 0)
        if self.pilot:
            return np.zeros(len(counts)), means
        return counts / max(self.average.noise, np.finfo(float).tiny) ** 2, means

    @cached_property
    def estimate(self) -> Array:
        """(n,) the median of f; before there is an estimate the mean of what was measured, everywhere."""
        if self.pilot:
            centre = float(self.data.values.mean()) if len(self.data) else 0.0
            return frozen(np.full(self.problem.domain.n, centre))
        return frozen(self.prediction.quantile(0.5))

    @property
    def posterior(self) -> GaussianPosterior:
        return self.representative.posterior

    @property
    def model(self) -> Representative:
        return self.representative

    @property
    def linear(self) -> LinearModel:
        return self.representative.linear

    def values(self, goal: Goal, /) -> Array:
        return goal.combine(self.estimate)

    def bounds(self, share: float = 0.0, _mask: Mask | None = None, /) -> Bounds:
        n = self.problem.domain.n
        if self.pilot or not self.ready:
            shape = (n, n) if share else (n,)
            return Bounds(lower=np.full(shape, -np.inf), upper=np.full(shape, np.inf))
        return self._pairs(share) if share else self._intervals

    @cached_property
    def _intervals(self) -> Bounds:
        extra = self.problem.misspecification
        chance = float(ndtr(self.deviate(self.tail)))
        lower, upper = (self.prediction.quantile(each, self.scale) for each in (chance, 1.0 - chance))
        return Bounds(lower=lower - extra, upper=upper + extra)

    def _pairs(self, share: float) -> Bounds:
        """By the likeliest kernel, as wide as the intervals of points are."""
        unit, found = self.average.warp.unit, self.representative.bounds(share)
        middle, half = 0.5 * (found.lower + found.upper), 0.5 * (found.upper - found.lower)
        half = half * np.maximum.outer(self.scale, self.scale) * (-self.deviate(self.tail) / BETA)
        extra = (1.0 + share) * self.problem.misspecification
        return Bounds(lower=unit * (middle - half) - extra, upper=unit * (middle + half) + extra)

    def fixed(self, _share: float, /) -> None:
        """None: every measurement may tell something."""
        return

    @property
    def deviation(self) -> Array | None:
        if self.pilot:
            return None
        low, high = (self.prediction.quantile(each, self.scale) for each in (ONE_DEVIATION, 1.0 - ONE_DEVIATION))
        return np.asarray(0.5 * (high - low))

    def probability(self, level: float, /) -> Array | None:
        if self.pilot:
            return None
        return 1.0 - self.below(level)

    def relief(self, points: Indices) -> Array:
        if self.pilot:
            return np.zeros((len(points), self.problem.domain.n))
        return self.representative.relief(points)

    def seen_by_rules(self, goal: Goal, /) -> tuple[Belief, Goal]:
        """The likeliest kernel by itself, after the pilot; there values and levels are transformed."""
        return (self, goal) if self.pilot else (self.representative, goal.moved(self.average.warp))

    def forecast(self, points: Indices, /) -> Forecast | None:
        """None before there is an estimate."""
        if self.pilot:
            return None
        means, deviations = self.prediction.at(points).spread()
        wide = np.hypot(self.local[points] * deviations, self.average.mixture.noise)
        return Forecast(points=points, means=means, deviations=wide, warp=self.average.warp)

    def outlook(self, _view: View, _weights: Array, /) -> Outlook:
        """Nothing is known of what is missing, and there are no challenges: these intervals are a model's."""
        return Outlook()

    def norms(self, _goal: Goal, _labels: Labels, /) -> None:
        """None: a model has no norm."""

    # ------------------------------------------------------------------------------------ findings

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        if self.believed and not self.pilot:
            return self.representative.findings
        return (self._tested(), *self._left_out_coordinates())

    def _tested(self) -> Finding:
        if self.pilot:
            sentence = f"{self.pilot} more measurements of the pilot come first: there is no estimate yet"
            return Finding(assumption="kernel", verdict=Verdict.UNTESTED, number=0.0, sentence=sentence)
        count, needed = len(self.compared), self.needed
        if count < needed:
            sentence = (
                f"{count} of {needed} predictions were compared with measurements: nothing is declared before that"
            )
            return Finding(assumption="kernel", verdict=Verdict.UNTESTED, number=float(count), sentence=sentence)
        if not np.ptp(self.data.values):
            sentence = "all values are equal: they say nothing of the kernel, and nothing is declared"
            return Finding(assumption="kernel", verdict=Verdict.UNTESTED, number=0.0, sentence=sentence)
        size = float(np.sqrt(np.square(self.compared).mean()))
        sentence = f"{count:,} measurements were {size:.2f} times as far from their predictions as the kernels say"
        if self.ready:
            widened = float(self.scale.mean()) * self.deviate(self.tail) / float(ndtri(self.tail))
            sentence += f"; intervals are widened {widened:.2f} times on average"
            return Finding(assumption="kernel", verdict=Verdict.HOLDS, number=self.misfit, sentence=sentence)
        sentence += ": nothing is declared while the fit fails this test; measure more, or give a kernel"
        return Finding(assumption="kernel", verdict=Verdict.CONTRADICTED, number=self.misfit, sentence=sentence)

    def _left_out_coordinates(self) -> tuple[Finding, ...]:
        domain = self.problem.domain.everywhere
        names = [domain.columns[j] for j in constant(domain.points, domain.units)]
        if not names or len(names) == domain.dimension or "kernel" not in self.problem.fit:
            return ()
        sentence = f"{', '.join(names)}: the same at all points, and left out"
        return (Finding(assumption="coordinates", verdict=Verdict.HOLDS, number=float(len(names)), sentence=sentence),)


@dataclass(frozen=True)
class Estimated:
    """The posterior confidence on a problem that is completed by estimates."""

    inner: OnPosterior

    given_only: ClassVar[bool] = False
    in_rounds: ClassVar[bool] = False
    gaussian: ClassVar[bool] = True
    permanent: ClassVar[bool] = False
    ordered: ClassVar[bool] = True
    """Which results a plan had forecast depends on how they were grouped."""

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def uses(self) -> frozenset[str]:
        return self.inner.uses

    @property
    def budget(self) -> int:
        return self.inner.budget

    def prior(self, problem: Problem) -> EstimatedBelief:
        nothing = np.zeros(problem.everywhere.domain.n, dtype=np.bool_)
        return EstimatedBelief(
            problem=problem,
            confidence=self.inner,
            data=NO_DATA,
            shortlist=Shortlist(problem=problem.everywhere, data=NO_DATA),
            deviates=np.empty(0),
            surprising=frozen(nothing),
        )

    def update(self, belief: EstimatedBelief, batch: Batch) -> EstimatedBelief:
        """All measurements so far; the results of a plan are compared with its forecast."""
        own = np.full(len(batch.points), np.nan) if batch.noise is None else batch.noise
        data = Data(points=batch.points, values=batch.values, noise=own)
        plan = batch.plan
        forecast = None if plan is None else plan.forecast
        planned = np.zeros(len(data), dtype=np.bool_) if plan is None else plan.counts[data.points] > 0
        expected = planned & (forecast is not None)
        piloted = planned & bool(belief.pilot)  # whatever else has no forecast was drawn by an audit, or not planned
        surprising = belief.surprising.copy()
        surprising[data.points[~expected & ~piloted]] = True
        compared = np.empty(0) if forecast is None else forecast.deviates(data.points[expected], data.values[expected])
        joined = belief.data.joined(data)
        searched = len(belief.shortlist.data)
        lasting = not belief.pilot and len(joined) < SEARCHED * searched
        return replace(
            belief,
            data=joined,
            shortlist=belief.shortlist if lasting else Shortlist(problem=belief.problem.everywhere, data=joined),
            deviates=np.concatenate([belief.deviates, compared]),
            surprising=frozen(surprising),
        )

    def guarantee(self, problem: Problem) -> Guarantee:
        return Guarantee(
            promise=f"{self.inner.promise(problem)}: as far as the measurements confirm the estimated model",
            probability=None,
            at_all_times=False,
            assumes=("f is like a draw from one of the kernels that are averaged", "noise that is alike everywhere"),
        )

    def sizes(self, problem: Problem, batch: int | None, /) -> Sizes:
        later = self.inner.sizes(problem, ESTIMATING if batch is None else batch)
        return PilotFirst(pilot=pilots.size(problem.domain.n), later=later)
