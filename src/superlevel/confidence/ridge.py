"""All measurements at once, by ridge regression, with intervals that hold at every moment.

f(x) = mean + <theta, phi(x)> + what features and kernel miss. There are two kinds of interval, which share delta:

ellipsoids     for theta, whatever chose the places of the measurements (`superlevel.confidence.ellipsoids`)
martingales    one for each point, from plans that were told as a whole (`superlevel.confidence.martingales`)

Both hold for all points and all times at once with probability 1 - delta, so they may be intersected, looked at after
every measurement, and acted upon: whatever is declared, at whatever moment one stops, is right with probability 1 -
delta. Pairs of points are bounded by the ellipsoids and by the intervals of their points, whichever is tighter.

Which kinds are used is settled by the first batch, before its noise is seen. If nobody planned it, there may never be a
plan that was told as a whole: the martingales are left out, and the ellipsoids have all of delta.

Assumed: noise that is sub-Gaussian with the given deviation, whatever was measured before (Gaussian noise is, and so is
noise between two limits that are 2 sigma apart); ||theta|| <= norm in the kernel's space, or where only a bound is
given, |f - mean| <= bound for an f in the span of the features; misspecification as given. Heavy tails are not
sub-Gaussian. Whether a measurement fails, is withdrawn or is told late must not depend on its value, and its own sigma
must be known before. What contradicts any of this ends the claims (`superlevel.confidence.assumption_checks`): nothing
is declared from then on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from superlevel import linalg
from superlevel.arrays import Array, Indices, Mask, as_deviations, as_number, frozen
from superlevel.confidence import assumption_checks, martingales
from superlevel.confidence.ellipsoids import Spectrum, spectrum
from superlevel.confidence.martingales import Martingales
from superlevel.confidence.protocol import CompleteBelief, Guarantee, near, no_posterior
from superlevel.confidence.ridge_setting import Setting
from superlevel.errors import InputError
from superlevel.features import Features
from superlevel.findings import Finding, Verdict
from superlevel.goals import Bounds, Goal
from superlevel.one_thread import one_thread
from superlevel.posterior import GaussianPosterior
from superlevel.problem import Problem
from superlevel.records import Batch, GaussianModel, LinearModel
from superlevel.sizes import BATCH, Growing, Sizes
from superlevel.sufficient_statistics import Sample, Statistics, nothing

SHARES = (0.5, 0.5)  # of delta, for ellipsoids and martingales
LARGEST = 1e100  # of a measurement: what is beyond contradicts everything in any case, and its square is a number
GROWTH, LARGEST_GROWTH = 1.2, 10.0  # of a batch over the one before: at most a fifth more than was needed
BUDGET = 10**7  # measurements of a simulation that has no other budget
ELLIPSOIDS, MARTINGALES = "ellipsoids", "martingales"
SPANNED = (
    "without a norm the kernel's smoothness is only used through the span of its features, so that more measurements "
    "are needed; `superlevel plan --norm` helps"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class RidgeBelief(CompleteBelief):
    """What all measurements say."""

    problem: Problem
    setting: Setting
    statistics: Statistics
    martingales: Martingales
    shares: tuple[float, float]
    """Of delta, for ellipsoids and martingales; a kind whose share is zero is not used."""
    contradictions: tuple[Finding, ...] = ()
    """What speaks against the assumptions. Where there is one, nothing is declared, and nothing more is looked for."""

    @property
    def tolerance(self) -> float:
        return self.problem.tolerance

    @property
    def n(self) -> int:
        """Points, of which labels are wanted."""
        return self.problem.domain.n

    @property
    def counts(self) -> Indices:
        return self.statistics.counts[: self.n]

    @property
    def averages(self) -> tuple[Array, Array]:
        information, means = (values[: self.n] for values in (self.statistics.information, self.statistics.means))
        return information, np.where(information > 0, self.setting.mean + means, 0.0)

    @property
    def contradicted(self) -> bool:
        return bool(self.contradictions)

    @property
    def hints(self) -> Mapping[str, Any]:
        return {"pivots": self.setting.features.pivots.tolist()}

    @property
    def posterior(self) -> GaussianPosterior:
        raise no_posterior("ridge")

    @property
    def model(self) -> GaussianModel:
        raise no_posterior("ridge")

    @property
    def linear(self) -> LinearModel:
        """With a ridge of 1, which ||theta|| <= 1 suggests."""
        return LinearModel(features=self.targets, ridge=1.0, deviations=self.setting.deviations[: self.n])

    @cached_property
    def targets(self) -> Features:
        """The features of the points."""
        return self.setting.features.within(self.n)

    @cached_property
    @one_thread
    def estimate(self) -> Array:
        """(n,) f, by ridge regression, within its interval."""
        inside = self._inside
        return frozen(self.setting.mean + np.clip(self.spectrum.estimate(), inside.lower, inside.upper)[: self.n])

    @cached_property
    def sources(self) -> tuple[str, ...]:
        first, second = self._by_ellipsoids, self._by_martingales
        wider = second.upper - second.lower > first.upper - first.lower
        return tuple(np.where(wider, ELLIPSOIDS, MARTINGALES)[: self.n].tolist())

    def values(self, goal: Goal) -> Array:
        centre, found = goal.combine(self.estimate), self.bounds(goal.share)
        return np.clip(centre, found.lower, np.maximum(found.lower, found.upper)) if goal.share else centre

    def bounds(self, share: float = 0.0, _mask: Mask | None = None, /) -> Bounds:
        if share:
            return self._pairs(share)
        mean, inside = self.setting.mean, self._inside
        return Bounds(lower=mean + inside.lower[: self.n], upper=mean + inside.upper[: self.n])

    def fixed(self, share: float) -> Bounds | None:
        """All directions where no measurement tells anything, because all features are zero."""
        return None if self.targets.array.any() else self.bounds(share)

    def probability(self, _level: float, /) -> None:
        """None: f is fixed, and there is no model of it."""
        return

    def relief(self, points: Indices) -> Array:
        """v_xy^2 / (v_y (v_x + sigma_x^2)), v_xy = phi_x' (I + sum of phi phi' / sigma^2)^-1 phi_y."""
        sigma, arms = self.setting.deviations, self.setting.features.array
        information = linalg.moment(arms, self.statistics.information)
        linalg.add_to_diagonal(information, 1.0)
        seen = linalg.whiten(linalg.cholesky(information), self.targets.array)
        lengths = linalg.squared_norms(seen)
        drops = linalg.inner(seen[points], seen) ** 2 / (lengths[points] + sigma[points] ** 2)[:, None]
        return np.divide(drops, lengths, out=np.zeros_like(drops), where=lengths > 0)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Norm and bound are named where they explain all measurements; repeated measurements speak of the noise."""
        blamed, count = {finding.assumption for finding in self.contradictions}, self.statistics.count
        holds = []
        for name, limit, symbol in self.setting.limits:
            if name not in blamed:
                sentence = f"{symbol} <= {limit:g} explains all {count:,} measurements"
                verdict = Verdict.HOLDS if count else Verdict.UNTESTED
                sentence = sentence if count else "nothing was measured yet"
                holds.append(Finding(assumption=name, verdict=verdict, number=limit, sentence=sentence))
        return (*self.contradictions, *holds)

    # -------------------------------------------------------------------------------------- intervals

    @cached_property
    @one_thread
    def spectrum(self) -> Spectrum:
        """All measurements in coordinates in which their information is diagonal."""
        features = self.setting.features
        return spectrum(features.array, self.statistics, self.setting.misses, features.residuals)

    @cached_property
    @one_thread
    def _by_ellipsoids(self) -> Bounds:
        found, misses = self.spectrum.points(self.shares[0] * self.setting.delta), self.setting.misses
        return Bounds(lower=found.lower - misses, upper=found.upper + misses)

    @cached_property
    @one_thread
    def _by_martingales(self) -> Bounds:
        """Of the points only: no delta is spent on other places."""
        everywhere, misses = len(self.setting.misses), self.setting.own_misses
        lower, upper = np.full(everywhere, -np.inf), np.full(everywhere, np.inf)
        if self.shares[1]:
            found = self.martingales.bounds(self.setting.own.array, self.shares[1] * self.setting.delta)
            lower[: self.n], upper[: self.n] = found.lower - misses, found.upper + misses
        return Bounds(lower=lower, upper=upper)

    @cached_property
    def free(self) -> Bounds:
        """(n + m,) where f - mean is, before the bound B is taken into account."""
        first, second = self._by_ellipsoids, self._by_martingales
        return Bounds(lower=np.maximum(first.lower, second.lower), upper=np.minimum(first.upper, second.upper))

    @cached_property
    def _inside(self) -> Bounds:
        """(n + m,) where f - mean is."""
        if self.contradictions:
            n = len(self.setting.misses)
            return Bounds(lower=np.full(n, -np.inf), upper=np.full(n, np.inf))
        bound, free = self.setting.bound, self.free
        if bound is None:
            return free
        return Bounds(lower=np.clip(free.lower, -bound, bound), upper=np.clip(free.upper, -bound, bound))

    def _pairs(self, share: float) -> Bounds:
        """(n, n) where f(x) - share f(x') is."""
        misses, offset = self.setting.misses[: self.n], (1.0 - share) * self.setting.mean
        low, high = self._inside.lower[: self.n], self._inside.upper[: self.n]
        lower = low[:, None] - share * high + offset
        upper = high[:, None] - share * low + offset
        if np.isfinite(lower).all():
            pairs = self.spectrum.within(self.n).pairs(self.shares[0] * self.setting.delta, share)
            missed = misses[:, None] + share * misses
            np.maximum(lower, pairs.lower - missed + offset, out=lower)
            np.minimum(upper, pairs.upper + missed + offset, out=upper)
        return Bounds(lower=lower, upper=upper)

    # ---------------------------------------------------------------------------------------- update

    def told(self, batch: Batch) -> RidgeBelief:
        """With the measurements of a batch."""
        setting, sample = self.setting, self._sample(batch)
        shares, fed = self.shares, self.martingales
        begins = not self.statistics.count and len(batch.points) > 0
        if begins and batch.plan is None and shares[1]:
            shares = (sum(shares), 0.0)
        if batch.whole and shares[1]:
            information, sums = sample.at_points(self.n)
            fed = fed.told(setting.own.array, information, sums, setting.own_misses)
        after = replace(
            self,
            statistics=self.statistics.told(sample.points, sample.values, sample.deviations),
            martingales=fed,
            shares=shares,
        )
        return after if self.contradictions else after._checked(sample)

    def _sample(self, batch: Batch) -> Sample:
        usual = self.setting.deviations[batch.points]
        own, least = batch.deviations(self.problem.everywhere), self.setting.least[batch.points]
        deviations = usual if own is None else np.maximum(as_deviations("noise", own, len(batch.points)), least)
        values = np.clip(batch.values - self.setting.mean, -LARGEST, LARGEST)
        return Sample(points=batch.points, values=values, deviations=deviations)

    def _checked(self, sample: Sample) -> RidgeBelief:
        """With what the measurements so far, and the last of them each by itself, say against the assumptions."""
        found, intervals, bound = self.spectrum, self.free, self.setting.bound
        said = [
            assumption_checks.too_large(found, self.setting.scale.name, self.setting.scale.value),
            assumption_checks.too_much_noise(found, self.statistics),
        ]
        limit, farthest = self.setting.limits[0][0], self._farthest(sample)
        if apart := assumption_checks.apart(intervals, self.setting.delta, limit=limit, farthest=farthest):
            said.append(apart)  # and nothing can be held against intervals that are empty
        else:
            said.append(None if bound is None else assumption_checks.outside(intervals, bound))
            above, below = intervals.upper[sample.points], intervals.lower[sample.points]
            beyond = np.maximum(sample.values - above, below - sample.values) / sample.deviations
            said.append(assumption_checks.outliers(sample.points, beyond, self.statistics.count))
        found_wrong = tuple(each for each in said if each is not None)
        return replace(self, contradictions=found_wrong) if found_wrong else self

    def _farthest(self, sample: Sample) -> str:
        """The measurement that the ridge estimate explains least, in words."""
        if not len(sample.values):
            return "none of the last"
        off = np.abs(sample.values - self.spectrum.estimate()[sample.points]) / sample.deviations
        worst = int(np.argmax(off))
        return f"{self.setting.mean + sample.values[worst]:.6g} at point {sample.points[worst]}"


@dataclass(frozen=True, kw_only=True)
class Ridge:
    """All labels are right at every moment with probability 1 - delta, for sub-Gaussian noise and a norm as given."""

    growth: float = GROWTH
    """Each batch has that many times as many measurements as the one before, about; 1 for batches of equal size."""
    shares: tuple[float, float] = SHARES
    """Of delta, for ellipsoids and martingales."""

    name: ClassVar[str] = "ridge"
    uses: ClassVar[frozenset[str]] = frozenset(
        {"noise", "mean", "norm", "bound", "delta", "misspecification", "tolerance", "cost"}
    )
    given_only: ClassVar[bool] = True
    in_rounds: ClassVar[bool] = False
    gaussian: ClassVar[bool] = False
    permanent: ClassVar[bool] = False
    budget: ClassVar[int] = BUDGET

    def __post_init__(self) -> None:
        growth = as_number("Ridge.growth", self.growth, at_least=1.0, below=LARGEST_GROWTH)
        object.__setattr__(self, "growth", growth)
        object.__setattr__(self, "shares", _as_shares(self.shares))

    @property
    def ordered(self) -> bool:
        """Martingales are fed with one plan after the other."""
        return self.shares[1] > 0

    def prior(self, problem: Problem) -> RidgeBelief:
        """Before the first measurement nothing is declared, even where norm and bound alone would decide.

        A batch may contradict them first.
        """
        if problem.fit:
            remedy = "a guarantee needs kernel, noise and mean to be given"
            raise InputError("fit", repr(problem.fit), remedy)
        setting = Setting.of(problem)
        return RidgeBelief(
            problem=problem,
            setting=setting,
            statistics=nothing(problem.domain.everywhere.n),
            martingales=martingales.begin(setting.own.array),
            shares=self.shares,
        )

    def update(self, belief: RidgeBelief, batch: Batch) -> RidgeBelief:
        """Only batches that are a plan, told as a whole, feed the martingales."""
        return belief.told(batch)

    def guarantee(self, problem: Problem) -> Guarantee:
        limits = ["norm" if problem.norm is not None else "bound"]
        limits += ["misspecification"] * bool(problem.misspecification)
        spanned = "" if problem.norm is not None else ", with f in the span of the kernel's features"
        promise = (
            f"all labels are right at every moment with probability {1 - problem.delta:g}, for sub-Gaussian noise and "
            f"a {' and a '.join(limits)} as given{spanned}{near(problem.tolerance)}"
        )
        return Guarantee(
            promise=promise,
            probability=1 - problem.delta,
            at_all_times=True,
            assumes=("sub-Gaussian noise of the given deviation", *limits),
            remark=SPANNED if problem.norm is None and problem.domain.kernel is not None else "",
        )

    def sizes(self, _problem: Problem, batch: int | None, /) -> Sizes:
        return Growing(first=BATCH if batch is None else batch, growth=self.growth)


def _as_shares(given: Sequence[float]) -> tuple[float, float]:
    """Two shares of delta."""
    two = isinstance(given, Sequence) and not isinstance(given, str) and len(given) == len(SHARES)
    shares = tuple(as_number("Ridge.shares", share, at_least=0.0) for share in given) if two else ()
    if not 0.0 < sum(shares) <= 1.0:
        raise InputError("Ridge.shares", repr(given), "give two shares of delta whose sum is at most 1")
    return shares[0], shares[1]
