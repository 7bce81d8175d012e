"""All measurements at once, by ridge regression, with intervals that hold at every moment.

f(x) = mean + <theta, phi(x)> + what features and kernel miss. There are two kinds of interval, which share delta:

ellipsoids    for theta, whatever chose the places of the measurements (`superlevel.confidence.ellipsoids`)
challenges    tests of the directions that are left, from plans that were told as a whole
              (`superlevel.confidence.challenges`)

Both hold for all points and all times at once with probability 1 - delta, so they may be intersected, looked at after
every measurement, and acted upon: whatever is declared, at whatever moment one stops, is right with probability 1 -
delta. Pairs of points are bounded by ellipsoids, challenges and the intervals of their points, whichever is tighter.

Which kinds are used is settled before any noise is seen. If results came before there was a plan, there may never be a
plan that was told as a whole: the challenges are left out, and the ellipsoids have all of delta.

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
from superlevel.arrays import Array, Indices, Labels, Mask, as_deviations, as_number, frozen
from superlevel.confidence import assumption_checks, challenges, outlooks
from superlevel.confidence.challenges import Challenges, OneSided
from superlevel.confidence.ellipsoids import Spectrum, spectrum
from superlevel.confidence.protocol import CompleteBelief, Guarantee, near, no_posterior
from superlevel.confidence.ridge_setting import Setting
from superlevel.errors import InputError
from superlevel.features import Features
from superlevel.findings import Finding, Verdict
from superlevel.goals import Bounds, Goal
from superlevel.one_thread import one_thread
from superlevel.posterior import GaussianPosterior
from superlevel.problem import Problem
from superlevel.records import Batch, GaussianModel, LinearModel, Outlook, View
from superlevel.sizes import BATCH, Growing, Sizes
from superlevel.sufficient_statistics import Sample, Statistics, nothing

EVEN, MOST = 16, 0.8  # features for which both kinds share delta evenly, and the largest share of the challenges
LARGEST = 1e100  # of a measurement: what is beyond contradicts everything in any case, and its square is a number
RADIUS = 4.0  # of an ellipsoid, about: the ball ||theta|| <= 1 beside it
FARTHEST = 1000.0  # times the norm: where the search for a larger one ends
GROWTH, LARGEST_GROWTH = 1.2, 10.0  # of a batch over the one before: at most a fifth more than was needed
BUDGET = 10**7  # measurements of a simulation that has no other budget
ELLIPSOIDS, CHALLENGES = "ellipsoids", "challenges"
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
    challenges: Challenges
    shares: tuple[float, float]
    """Of delta, for ellipsoids and challenges; a kind whose share is zero is not used."""
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
        first, second = self._by_ellipsoids, self._by_challenges
        narrower = (second.lower > first.lower) | (second.upper < first.upper)
        return tuple(np.where(narrower, CHALLENGES, ELLIPSOIDS)[: self.n].tolist())

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

    @one_thread
    def outlook(self, view: View, weights: Array) -> Outlook:
        """If gaps are as estimated and measurements follow ``weights`` (n,)."""
        found = outlooks.directions(view, self.bounds(view.goal.share)) if self.statistics.count else None
        if found is None:
            return Outlook()
        seen, shares, support = self.spectrum, np.where(found.others < 0, 0.0, view.goal.share), np.flatnonzero(weights)
        rows = seen.arms[found.points] - shares[:, None] * seen.arms[found.others]
        coming = linalg.moment(seen.arms[support], weights[support] / np.square(self.setting.deviations[support]))
        linalg.add_to_diagonal(coming, RADIUS**2 / (1.0 + self.statistics.count))
        return outlooks.outlook(
            found,
            variances=linalg.times(rows**2, 1.0 / (seen.sizes + 1.0)),
            single=linalg.squared_norms(linalg.whiten(linalg.cholesky(coming), rows)),
            challenges=self.challenges,
        )

    def norms(self, goal: Goal, labels: Labels) -> Array | None:
        """(n,) or (k, n) the largest norm, or bound, for which each label is right; NaN where there is none.

        None where the level is unknown. It costs no delta: the event is the same for every norm.
        """
        if goal.implicit:
            return None
        rows = [self._norms(level, row) for level, row in zip(goal.levels, np.atleast_2d(labels), strict=True)]
        return np.asarray(rows).reshape(labels.shape)

    @one_thread
    def _norms(self, level: float, labels: Labels) -> Array:
        """(n,) of the labels (n,) for a level. A label that was given before holds for the norm as it is, at least."""
        setting, delta, signs = self.setting, self.shares[0] * self.setting.delta, labels.astype(np.float64)
        beyond = signs * (setting.mean - level) + self.tolerance
        found = self.spectrum.within(self.n).largest(signs, beyond, setting.misses[: self.n], delta)
        for tests in self.challenges.tests:
            known = tests.challenge
            some = (known.others < 0) & (labels[known.points] == known.signs) & (tests.variances > 0)
            if not some.any() or setting.features is not setting.own:
                continue
            at, rest = known.points[some], self.spectrum.of((tests.directions - tests.means)[some])
            shown = beyond[at] + (known.signs * tests.estimates - tests.far)[some]
            missed = (tests.misses + tests.unexplained)[some]
            found[at] = np.maximum(found[at], rest.largest(known.signs[some], shown, missed, delta))
        scale, h = setting.scale, setting.misspecification if setting.scale.name == "bound" else 0.0
        return np.where(labels == 0, np.nan, np.clip(found, 1.0, FARTHEST) * (scale.value + h) - h)

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
        known = self.setting
        features, seen = known.features, self.statistics
        return spectrum(features.array, seen, known.misses, features.residuals, single=known.single)

    @cached_property
    @one_thread
    def _by_ellipsoids(self) -> Bounds:
        found, misses = self.spectrum.points(self.shares[0] * self.setting.delta), self.setting.misses
        return Bounds(lower=found.lower - misses, upper=found.upper + misses)

    @cached_property
    @one_thread
    def _by_challenges(self) -> Bounds:
        """(n + m,) of the points that were challenged, and infinite for the others."""
        everywhere = len(self.setting.misses)
        found = Bounds(lower=np.full(everywhere, -np.inf), upper=np.full(everywhere, np.inf))
        for tests, ends in self._shown:
            points = tests.challenge.others < 0
            _tighten(found, tests.challenge.signs[points], ends[points], tests.challenge.points[points])
        return found

    @cached_property
    def _shown(self) -> tuple[tuple[OneSided, Array], ...]:
        """Each challenge, with the ends (m,) that it puts to its directions of f - mean."""
        return tuple((tests, tests.ends(self._rest(tests.directions - tests.means))) for tests in self.challenges.tests)

    def _rest(self, rows: Array) -> Bounds:
        """(m,) where <theta, v> is for v (m, r) in own features; by the ball, if places elsewhere changed features."""
        if self.setting.features is not self.setting.own:
            lengths = np.linalg.norm(rows, axis=1)
            return Bounds(lower=-lengths, upper=lengths)
        return self.spectrum.of(rows).points(self.shares[0] * self.setting.delta)

    @cached_property
    def free(self) -> Bounds:
        """(n + m,) where f - mean is, before the bound B is taken into account."""
        first, second = self._by_ellipsoids, self._by_challenges
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
        np.fill_diagonal(lower, (1.0 - share) * low + offset)  # a point with itself
        np.fill_diagonal(upper, (1.0 - share) * high + offset)
        if np.isfinite(lower).all():
            pairs = self.spectrum.within(self.n).pairs(self.shares[0] * self.setting.delta, share)
            missed = misses[:, None] + share * misses
            np.maximum(lower, pairs.lower - missed + offset, out=lower)
            np.minimum(upper, pairs.upper + missed + offset, out=upper)
        found = Bounds(lower=lower, upper=upper)
        for tests, ends in self._shown:
            known, some = tests.challenge, tests.challenge.others >= 0
            _tighten(found, known.signs[some], ends[some] + offset, (known.points[some], known.others[some]))
        return found

    # ---------------------------------------------------------------------------------------- update

    def told(self, batch: Batch) -> RidgeBelief:
        """With the measurements of a batch."""
        setting, sample = self.setting, self._sample(batch)
        shares, known = self.shares, self.challenges
        begins = not self.statistics.count and len(batch.points) > 0
        if begins and batch.begins_unplanned and shares[1]:
            shares = (sum(shares), 0.0)
        if batch.plan is not None and batch.whole and shares[1]:
            features, misses = setting.own.array, setting.own_misses
            if (announced := batch.plan.challenge) is not None:
                known = known.begun(challenges.begin(announced, features, misses, self.problem.goal.share))
            known = known.told(features, *sample.at_points(self.n), misses)
        after = replace(
            self,
            statistics=self.statistics.told(sample.points, sample.values, sample.deviations),
            challenges=known,
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


def _tighten(found: Bounds, signs: Array, ends: Array, at: Any) -> None:
    """Put ends (m,) at places ``at``: lower ones where a sign is +1, upper ones where it is -1."""
    np.maximum.at(found.lower, at, np.where(signs > 0, ends, -np.inf))
    np.minimum.at(found.upper, at, np.where(signs < 0, ends, np.inf))


@dataclass(frozen=True, kw_only=True)
class Ridge:
    """All labels are right at every moment with probability 1 - delta, for sub-Gaussian noise and a norm as given."""

    growth: float = GROWTH
    """Each batch has that many times as many measurements as the one before, about; 1 for batches of equal size."""
    shares: tuple[float, float] | None = None
    """Of delta, for ellipsoids and challenges. None: challenges have r^2 / (r^2 + 256), at most 0.8, for r features."""

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
        object.__setattr__(self, "shares", None if self.shares is None else _as_shares(self.shares))

    @property
    def ordered(self) -> bool:
        """Challenges are fed with one plan after the other."""
        return self.shares is None or self.shares[1] > 0

    def prior(self, problem: Problem) -> RidgeBelief:
        """Before the first measurement nothing is declared, even where norm and bound alone would decide.

        A batch may contradict them first.
        """
        if problem.fit:
            remedy = "a guarantee needs kernel, noise and mean to be given"
            raise InputError("fit", repr(problem.fit), remedy)
        setting = Setting.of(problem)
        shares = _shares(setting.own.rank) if self.shares is None else self.shares
        return RidgeBelief(
            problem=problem,
            setting=setting,
            statistics=nothing(problem.domain.everywhere.n),
            challenges=challenges.none(shares[1] * problem.delta, problem.domain.n),
            shares=shares,
        )

    def update(self, belief: RidgeBelief, batch: Batch) -> RidgeBelief:
        """Only batches that are a plan, told as a whole, feed the challenges."""
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


def _shares(rank: int) -> tuple[float, float]:
    """An ellipsoid pays for its dimension: with few features it needs most of delta, with many little helps it."""
    challenged = min(MOST, rank**2 / (rank**2 + EVEN**2))
    return 1.0 - challenged, challenged


def _as_shares(given: Sequence[float]) -> tuple[float, float]:
    """Two shares of delta."""
    two = isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 2
    shares = tuple(as_number("Ridge.shares", share, at_least=0.0) for share in given) if two else ()
    if not 0.0 < sum(shares) <= 1.0:
        raise InputError("Ridge.shares", repr(given), "give two shares of delta whose sum is at most 1")
    return shares[0], shares[1]
