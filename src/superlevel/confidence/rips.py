"""RIPS in rounds: the paper's confidence (`superlevel.confidence.rips_estimate` has the estimator and its theorem).

Each round is estimated by itself, from its own measurements: W +- 2 * 2^-t bounds every direction that was undecided
when the round was planned. Nothing is assumed of the noise but its variance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from superlevel import linalg, robust
from superlevel.arrays import Array, Indices, Mask, frozen
from superlevel.confidence.protocol import CompleteBelief, Guarantee, near, no_posterior
from superlevel.confidence.rips_estimate import Estimate, Setting
from superlevel.confidence.rounds import ROOM, Rounds, Schedule, as_schedule
from superlevel.confidence.unit_features import turned
from superlevel.design import information_factor
from superlevel.design.basis import basis
from superlevel.errors import InputError
from superlevel.features import Features, embed, tolerance
from superlevel.findings import Finding, Verdict
from superlevel.goals import Bounds, Goal
from superlevel.one_thread import one_thread
from superlevel.posterior import GaussianPosterior
from superlevel.problem import Problem
from superlevel.records import Batch, GaussianModel, LinearModel, Plan

RIDGE = 1e-7  # gamma of the paper's linear experiments, times the largest k(x, x)
RTOL = 0.01  # how far from the best a design is, by which the features are chosen
MISSED = 1e-3  # part of the largest k(x, x) that the features may miss at most, however large the ridge is
BUDGET = 10**9  # measurements of a simulation that has no other budget: 16 GB of them
FALSE_ALARM = 1e-3  # probability with which a round may doubt a bound that holds
SLACK = 1e-9  # relative; a mean that exceeds the bound by less does so by rounding


@dataclass(frozen=True, kw_only=True, eq=False)
class RipsBelief(CompleteBelief):
    """Each round by itself: its measurements bound the directions that were undecided when it was planned."""

    problem: Problem
    setting: Setting
    plan: Plan | None = None
    """The last round; None before the first."""
    measured: Array
    """(N,) its measurements, in the order of the plan's indices."""
    findings: tuple[Finding, ...]
    earlier: Array | None = None
    """(n,) the estimate of f before the last round; None before the second."""

    tolerance: ClassVar[float] = 0.0  # it sets the number of rounds, and takes no part in decisions
    contradicted: ClassVar[bool] = False
    sources: ClassVar[None] = None

    @property
    def counts(self) -> Indices:
        n = len(self.setting.deviations)
        return np.zeros(n, dtype=np.int64) if self.plan is None else self.plan.counts

    @property
    def averages(self) -> tuple[Array, Array]:
        """Of the last round."""
        counts, sigma = self.counts, self.setting.deviations
        means = np.zeros(len(counts))
        if self.plan is not None:
            sums = np.bincount(self.plan.indices, self.measured, len(counts))
            np.divide(sums, counts, out=means, where=counts > 0)
        return counts / np.maximum(sigma, np.finfo(float).tiny) ** 2, means

    @property
    def hints(self) -> Mapping[str, Any]:
        return {"pivots": self.setting.features.pivots.tolist()}

    @property
    def posterior(self) -> GaussianPosterior:
        raise no_posterior("rips")

    @property
    def model(self) -> GaussianModel:
        raise no_posterior("rips")

    @property
    def linear(self) -> LinearModel:
        setting = self.setting
        return LinearModel(features=setting.features, ridge=setting.ridge, deviations=setting.deviations)

    @cached_property
    @one_thread
    def round(self) -> Estimate:
        """W^(v) of the last round, NaN where it says nothing."""
        if self.plan is None:
            nothing = np.full_like(self.setting.features.reached(self.setting.share), np.nan, dtype=np.float64)
            return Estimate(values=nothing, norms=nothing)
        return self.setting.estimate(self.plan, self.measured)

    @cached_property
    @one_thread
    def estimate(self) -> Array:
        """(n,) f by theta-hat, the weighted Chebyshev fit to the last round; the mean before the first.

        A round measures for the directions that are undecided. Where a point is in none of them, the estimate is that
        of the last round that was planned for it.
        """
        setting, plan = self.setting, self.plan
        if plan is None or not (self.round.norms > 0).any():
            mean = np.full(len(setting.deviations), setting.mean)
            return frozen(mean) if self.earlier is None else self.earlier
        fitted = setting.mean + linalg.times(setting.features.array, setting.theta(self.round).theta)
        if self.earlier is None:
            return frozen(fitted)
        aimed = plan.undecided.any(axis=0) | plan.undecided.any(axis=1) if setting.share else plan.undecided
        return frozen(np.where(aimed, fitted, self.earlier))

    @property
    def bias(self) -> float | None:
        """The part of the last round's error that more measurements do not remove; None where it is unknown."""
        return None if self.plan is None else self.setting.bias(self.plan)

    def values(self, _goal: Goal, /) -> Array:
        return self.round.values + self.setting.offset

    def bounds(self, share: float = 0.0, _mask: Mask | None = None, /) -> Bounds:
        """W +- 2 * 2^-t, twice the precision to leave room for the bias; NaN for directions of another kind."""
        if self.plan is None or self.plan.precision is None or share != self.setting.share:
            n = len(self.setting.deviations)
            nothing = np.full((n, n) if share else n, np.nan)
            return Bounds(lower=nothing, upper=nothing)
        centre = self.round.values + self.setting.offset
        return Bounds(lower=centre - 2 * self.plan.precision, upper=centre + 2 * self.plan.precision)

    def fixed(self, share: float, /) -> Bounds | None:
        """Directions of length zero are known without measuring: at phi(x) = 0, f(x) is the mean.

        A pair exactly at zero speaks neither for nor against its point, as in the paper's lemma, where a point is in if
        no pair is below zero.
        """
        zero, setting = ~self.setting.features.reached(share), self.setting
        if not zero.any():
            return None
        if share:
            side = np.where(zero, np.inf if setting.offset >= 0 else -np.inf, np.nan)
            return Bounds(lower=side, upper=side)
        known, slack = np.where(zero, setting.mean, np.nan), setting.misspecification
        return Bounds(lower=known - slack, upper=known + slack)

    def probability(self, _level: float, /) -> None:
        """None: f is fixed, and there is no model of it."""
        return

    def relief(self, points: Indices) -> Array:
        """(phi_y' A^-1 phi_x)^2 / (phi_y' A^-1 phi_y . phi_x' A^-1 phi_x), A of the last round or of all points."""
        arms = self.setting.features.array
        weights = np.full(len(arms), 1 / len(arms)) if self.plan is None else self.plan.weights
        seen = linalg.whiten(information_factor(arms, weights, ridge=self.setting.ridge), arms)
        lengths = linalg.squared_norms(seen)
        products = linalg.inner(seen[points], seen) ** 2
        scale = np.outer(lengths[points], lengths)
        return np.divide(products, scale, out=np.zeros_like(products), where=scale > 0)


@dataclass(frozen=True, kw_only=True)
class Rips:
    """The paper's rounds: all labels are right with probability 1 - delta, for any noise of that variance."""

    schedule: Schedule = "scaled"
    """How many measurements a round takes: "scaled" and "paper" with the constants as printed, "tight" with those that
    the robust mean needs, "experiments" without the printed 16, as in the paper's linear experiments. The paper's proof
    needs the 16. Without it the bounds rest on Catoni's own deviation bound, and leave a quarter of the room for ridge
    and misspecification."""
    estimator: robust.Estimator = robust.CATONI
    """The robust mean, or its name. Others than Catoni's need "tight", because the printed constants are Catoni's."""

    name: ClassVar[str] = "rips"
    uses: ClassVar[frozenset[str]] = frozenset(
        {"noise", "mean", "bound", "norm", "delta", "misspecification", "tolerance", "ridge"}
    )
    given_only: ClassVar[bool] = True
    in_rounds: ClassVar[bool] = True
    gaussian: ClassVar[bool] = False
    permanent: ClassVar[bool] = True
    budget: ClassVar[int] = BUDGET
    ordered: ClassVar[bool] = True

    def __post_init__(self) -> None:
        chosen = as_schedule(self.schedule)
        estimator = robust.as_estimator(self.estimator)
        if estimator != robust.CATONI and chosen != "tight":
            raise InputError("schedule", repr(chosen), "the printed constants are for Catoni's mean: give 'tight'")
        object.__setattr__(self, "estimator", estimator)

    def prior(self, problem: Problem) -> RipsBelief:
        if len(problem.domain.elsewhere):
            got = f"{len(problem.domain.elsewhere):,} places beside the points"
            remedy = "rounds take only what they planned, at the points: leave them out, or give confidence='ridge'"
            raise InputError("elsewhere", got, remedy)
        setting = self._setting(problem)
        _check_zero(problem, setting)
        untested = Finding(
            assumption="bound", verdict=Verdict.UNTESTED, number=0.0, sentence="no round is complete yet"
        )
        return RipsBelief(problem=problem, setting=setting, measured=np.empty(0), findings=(untested,))

    def update(self, belief: RipsBelief, batch: Batch) -> RipsBelief:
        """A round, which must be a plan that is told as a whole."""
        if batch.plan is None or not batch.whole:
            remedy = "rounds are told as a whole: give tell(state, plan, values)"
            raise InputError("points", "told without a plan", remedy)
        earlier = None if belief.plan is None else belief.estimate
        after = replace(belief, plan=batch.plan, measured=frozen(batch.values), earlier=earlier)
        return replace(after, findings=_findings(belief, after, batch))

    def guarantee(self, problem: Problem) -> Guarantee:
        promise = f"all labels are right with probability {1 - problem.delta:g}, for any noise of that variance"
        return Guarantee(
            promise=promise + near(problem.tolerance),
            probability=1 - problem.delta,
            at_all_times=True,
            assumes=(f"|f - mean| <= {problem.bound:g}", "noise whose variance is as given", *self._small_bias()),
        )

    def _small_bias(self) -> tuple[str, ...]:
        """What a schedule assumes that leaves less room for the bias than the paper does."""
        room = ROOM[self.schedule]
        return () if room >= 1 else (f"ridge and misspecification hide at most {room:g} of a round's precision",)

    def sizes(self, problem: Problem, batch: int | None, /) -> Rounds:
        if batch is not None:
            raise InputError("batch", batch, "rounds are as long as their guarantee needs: leave it out")
        if problem.bound is None:
            remedy = "the rips confidence needs B with |f(x) - mean| <= B at every point"
            raise InputError("problem.bound", None, remedy)
        return Rounds(
            n=problem.domain.n,
            second_moment=problem.bound**2 + float(problem.deviations.max()) ** 2,
            delta=problem.delta,
            unit=1.0 if self.schedule == "paper" else problem.bound,
            tolerance=problem.tolerance,
            schedule=self.schedule,
            estimator=self.estimator,
        )

    def _setting(self, problem: Problem) -> Setting:
        if problem.fit:
            raise InputError("fit", repr(problem.fit), "a guarantee needs kernel, noise and mean to be given")
        rounds = self.sizes(problem, None)
        ridge = RIDGE * float(problem.domain.diagonal().max()) if problem.ridge is None else problem.ridge
        return Setting(
            share=problem.goal.share,
            features=_features(problem, ridge),
            ridge=ridge,
            mean=problem.mean,
            rounds=rounds,
            bound=problem.bound or 0.0,
            deviations=problem.deviations,
            norm=problem.norm,
            misspecification=problem.misspecification,
        )


def _features(problem: Problem, ridge: float) -> Features:
    """phi(x) for every point. Without a ridge only the span matters, and its coordinates are orthonormal."""
    kernel, points = problem.domain.kernel, problem.domain.points
    if kernel is None and ridge > 0:
        return embed(None, turned(points))
    if ridge > 0:
        # However large the ridge is, the features are to be of some use.
        return embed(kernel, points, tol=min(tolerance(ridge, RTOL), MISSED * float(problem.domain.diagonal().max())))
    found = embed(kernel, points, tol=0)
    coordinates = basis(found.array, ridge)
    return replace(found, array=coordinates.arms, residuals=np.zeros(len(points)))


def _check_zero(problem: Problem, setting: Setting) -> None:
    """That the side of a point with phi(x) = 0 is known: no measurement tells it."""
    zero, slack = ~setting.features.array.any(axis=1), problem.misspecification
    unclear = any(-slack < problem.mean - level <= slack for level in problem.goal.levels)
    if slack > 0 and zero.any() and unclear:
        got = f"{int(np.argmax(zero))} for the number of a point with phi(x) = 0, whose side no measurement tells"
        raise InputError("domain.points", got, "leave that point out, or give a smaller misspecification")


# ------------------------------------------------------------------------------------------- findings


def _findings(before: RipsBelief, after: RipsBelief, batch: Batch) -> tuple[Finding, ...]:
    """What was contradicted stays so; the rest is about the last round."""
    kept = tuple(each for each in before.findings if each.verdict is Verdict.CONTRADICTED)
    said = {finding.assumption for finding in kept}
    found = [_bounded(after, batch), _biased(after), _noisier(after, batch)]
    return (*kept, *(each for each in found if each is not None and each.assumption not in said))


def _bounded(belief: RipsBelief, batch: Batch) -> Finding:
    """Whether some point's mean is farther from the problem's than B allows.

    By Chebyshev's inequality, which needs no more than a variance, that happens by chance in one of 1000 rounds at
    most.
    """
    setting, counts = belief.setting, np.bincount(batch.points, minlength=len(belief.counts))
    support = np.flatnonzero(counts)
    counts = counts[support]
    means = np.bincount(batch.points, batch.values, len(belief.counts))[support] / counts - setting.mean
    excess = np.abs(means) - setting.deviations[support] * np.sqrt(len(support) / (FALSE_ALARM * counts))
    excess -= setting.bound * (1 + SLACK) + SLACK * abs(setting.mean)
    worst = int(np.argmax(excess))
    if excess[worst] <= 0:
        sentence = f"|f - mean| <= {setting.bound:g} at every point measured"
        return Finding(assumption="bound", verdict=Verdict.HOLDS, number=setting.bound, sentence=sentence)
    sentence = (
        f"bound is {setting.bound:g}, but the mean of {counts[worst]:,} measurements at point {support[worst]} "
        f"is {means[worst]:g} away from problem.mean: give a larger bound, or nothing declared is guaranteed"
    )
    number = float(abs(means[worst]))
    return Finding(assumption="bound", verdict=Verdict.CONTRADICTED, number=number, sentence=sentence)


def _biased(belief: RipsBelief) -> Finding | None:
    """Whether ridge and misspecification hide more than the round resolves."""
    bias, plan = belief.bias, belief.plan
    if bias is None or plan is None:
        return None
    room = belief.setting.rounds.room(plan.phase)
    if bias <= room:
        return None
    sentence = (
        f"round {plan.phase} resolves {room:g}, but ridge and misspecification hide up to {bias:g}: "
        "what is declared from now on may be wrong by that much; give a smaller ridge, or a larger tolerance"
    )
    return Finding(assumption="ridge", verdict=Verdict.CONTRADICTED, number=bias, sentence=sentence)


def _noisier(belief: RipsBelief, batch: Batch) -> Finding | None:
    """Whether measurements are noisier, by their own account, than is assumed: rounds weigh all alike."""
    if batch.noise is None:
        return None
    louder = batch.noise > belief.setting.deviations[batch.points]
    if not louder.any():
        return None
    count, largest = int(louder.sum()), float(batch.noise[louder].max())
    sentence = (
        f"{count:,} measurement{'s' * (count != 1)} with a noise of up to {largest:.4g} by their own account, "
        "above what is assumed: rounds weigh all alike, so withdraw them and measure again"
    )
    return Finding(assumption="noise", verdict=Verdict.CONTRADICTED, number=largest, sentence=sentence)
