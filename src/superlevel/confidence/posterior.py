"""Intervals from the Gaussian posterior: f(x) is within mu(x) +- beta^1/2 sigma(x).

beta^1/2     a constant, 3 in the paper's experiments; or what the RKHS theory asks for (`superlevel.confidence.rkhs`)
Q_t(x)       [mu +- beta^1/2 sigma] from all measurements so far
C_t(x)       Q_t(x), or the intersection of C_{t-1}(x) and Q_t(x), as LSE has it

A pair of points needs the deviation of f(x) - (1 - eps) f(x') itself, which is smaller than what the two intervals say:

    var = sigma^2(x) - 2 (1 - eps) Sigma(x, x') + (1 - eps)^2 sigma^2(x')

Everything is computed from all measurements each time, so an early mistake can be corrected; whether labels are kept
once they are given is the method's choice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from scipy.special import ndtr, ndtri

from superlevel import posterior
from superlevel.arrays import Array, Indices, Mask, as_number, frozen, occurrences
from superlevel.confidence import error_rate
from superlevel.confidence.protocol import CompleteBelief, Guarantee
from superlevel.errors import InputError
from superlevel.findings import Finding, Verdict
from superlevel.goals import Bounds, Goal
from superlevel.posterior import GaussianPosterior
from superlevel.problem import Problem
from superlevel.records import Batch, LinearModel
from superlevel.sizes import BATCH, Growing, Sizes

BETA = 3.0  # beta^1/2 of the paper's experiments
BUDGET = 10**5  # measurements of a simulation that has no other budget
DOUBTFUL = 1e-3  # probability of prediction errors as large as those seen, below which kernel and noise are doubted,
UNLIKELY = 1e-6  # and below which they are contradicted
NEAR = 0.25  # deviations that an approximation may be off before it is doubted


class Width(Protocol):
    """The half-width of an interval, beta^1/2 sigma + extra."""

    def at(self, posterior: GaussianPosterior, /) -> float:
        """beta^1/2 after these measurements."""
        ...

    def extra(self, posterior: GaussianPosterior, /) -> Array | float:
        """What the half-widths get on top, (n,) or one number: misspecification."""
        ...

    @property
    def hints(self) -> Mapping[str, Any]:
        """What a verifier needs besides the measurements to compute them."""
        ...


@dataclass(frozen=True, kw_only=True)
class Constant:
    """The same beta^1/2 at all times, and h for what the kernel does not explain at the point itself."""

    value: float
    misspecification: float | Array = 0.0
    """h, one number or (n,)"""

    hints: ClassVar[Mapping[str, Any]] = {}

    def at(self, _posterior: GaussianPosterior, /) -> float:
        return self.value

    def extra(self, _posterior: GaussianPosterior, /) -> float | Array:
        return self.misspecification


@dataclass(frozen=True, kw_only=True)
class ByRate:
    """As many deviations as it takes that only a given share of the declared labels is wrong on average."""

    rate: float
    levels: tuple[float, ...]
    tolerance: float
    misspecification: float

    hints: ClassVar[Mapping[str, Any]] = {}

    def at(self, posterior: GaussianPosterior, /) -> float:
        distances = np.abs(posterior.mean - np.array(self.levels)[:, None]) + self.tolerance
        with np.errstate(divide="ignore", invalid="ignore"):
            wrong = ndtr(-np.nan_to_num(distances / posterior.deviation, nan=0.0))
        return -float(ndtri(error_rate.tail(wrong, self.rate)))

    def extra(self, _posterior: GaussianPosterior, /) -> float:
        return self.misspecification


@dataclass(frozen=True, kw_only=True, eq=False)
class GaussianBelief(CompleteBelief):
    """A Gaussian posterior with a width: all measurements at once, whatever rule chose their places."""

    problem: Problem
    posterior: GaussianPosterior
    widths: Width
    counts: Indices
    """(n,) measurements at each point."""
    narrowest: Bounds | None = None
    """(n,) the intersection of all intervals before, where intervals are intersected over time."""
    disjoint: tuple[int, ...] = ()
    """The points whose interval had nothing in common with those before, at the last update."""

    contradicted: ClassVar[bool] = False
    sources: ClassVar[None] = None

    @property
    def tolerance(self) -> float:
        return self.problem.tolerance

    @property
    def estimate(self) -> Array:
        return self.posterior.mean

    @property
    def averages(self) -> tuple[Array, Array]:
        weights, sums, mean = self.posterior.weights, self.posterior.sums, self.posterior.origin.mean
        means = np.divide(sums, weights, out=np.zeros_like(weights), where=weights > 0)
        return weights, np.where(weights > 0, mean + means, 0.0)

    @property
    def model(self) -> Self:
        return self

    @property
    def linear(self) -> LinearModel:
        remedy = "it needs features that bound f, which a Gaussian posterior does not have: give confidence='ridge'"
        raise InputError("rule", "made for another confidence", remedy)

    @property
    def centre(self) -> Array:
        return self.posterior.mean

    @property
    def spread(self) -> Array:
        """s with s^2 = sigma^2 + rough"""
        return np.asarray(np.sqrt(self.posterior.variance + self.rough))

    @property
    def rough(self) -> Array:
        """What the prediction errors show beyond the kernel, less what measurements of the point itself told of it."""
        found = self.posterior
        if not found.roughness:
            return np.zeros(len(found.mean))
        return np.asarray(1 / (1 / found.roughness + found.weights))

    @property
    def hints(self) -> Mapping[str, Any]:
        return self.widths.hints

    @property
    def width(self) -> float:
        """beta^1/2 now."""
        return self.widths.at(self.posterior)

    def among(self, points: Indices, /) -> Self:
        extra = np.broadcast_to(self.widths.extra(self.posterior), self.problem.domain.n)
        before = self.narrowest
        return replace(
            self,
            problem=self.problem.among(points),
            posterior=self.posterior.among(points),
            widths=Constant(value=self.width, misspecification=extra[points]),
            counts=frozen(self.counts[points]),
            narrowest=None if before is None else Bounds(lower=before.lower[points], upper=before.upper[points]),
            disjoint=(),
        )

    def values(self, goal: Goal) -> Array:
        return goal.combine(self.posterior.mean)

    def bounds(self, share: float = 0.0, _mask: Mask | None = None, /) -> Bounds:
        return self._pairs(share) if share else self._intervals

    def ends(self, planned: GaussianPosterior, /) -> Bounds:
        """(n,) the intervals at every point as a posterior for planning has them, within those that are known."""
        half = self.width * planned.deviation + self.widths.extra(self.posterior)
        known = self._intervals
        return Bounds(
            lower=np.maximum(known.lower, planned.mean - half), upper=np.minimum(known.upper, planned.mean + half)
        )

    def fixed(self, _share: float, /) -> None:
        """None: every measurement may tell something."""
        return

    @property
    def deviation(self) -> Array | None:
        return self.posterior.deviation[: self.problem.domain.n]

    def probability(self, level: float, /) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            distances = (self.posterior.mean - level) / self.posterior.deviation
        return np.asarray(ndtr(np.nan_to_num(distances, nan=0.0)))

    def relief(self, points: Indices) -> Array:
        return self.posterior.relief(points)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        return (self._predictions(), *([self._disjoint()] if self.disjoint else []), *self._approximated())

    @cached_property
    def _intervals(self) -> Bounds:
        now, before = current(self.posterior, self.widths), self.narrowest
        if before is None:
            return now
        lower, upper = np.maximum(before.lower, now.lower), np.minimum(before.upper, now.upper)
        empty = lower > upper
        return Bounds(lower=np.where(empty, now.lower, lower), upper=np.where(empty, now.upper, upper))

    def _pairs(self, share: float) -> Bounds:
        mean, variance = self.posterior.mean, self.posterior.variance
        half = self.posterior.columns(np.arange(len(mean)))
        half *= -2 * share
        half += variance[:, None]
        half += share**2 * variance
        np.maximum(half, 0.0, out=half)
        np.sqrt(half, out=half)
        half *= self.width
        extra = np.broadcast_to(self.widths.extra(self.posterior), mean.shape)
        if extra.any():
            half += extra[:, None] + share * extra
        estimates = mean[:, None] - share * mean
        lower = estimates - half
        half += estimates
        return Bounds(lower=lower, upper=half)

    def _predictions(self) -> Finding:
        """Every point's mean against what kernel, noise and mean allow: chi^2."""
        found = self.posterior
        if not found.terms:
            sentence = "nothing was measured yet"
            return Finding(assumption="kernel", verdict=Verdict.UNTESTED, number=1.0, sentence=sentence)
        chance, ratio = found.plausibility, float(np.sqrt(found.surprise))
        verdict = Verdict.HOLDS if chance >= DOUBTFUL else Verdict.DOUBTED
        sentence = (
            f"{found.terms:,} points: {ratio:{'.2f' if ratio < 10 else '.3g'}} times as far from their predictions as "
            f"kernel and noise say (p = {chance:.2g})"
        )
        if chance < UNLIKELY:
            verdict = Verdict.CONTRADICTED
            sentence += (
                ": intervals are too narrow; estimate kernel and noise anew (superlevel.hyperparameters) or give a "
                "rougher kernel"
            )
        return Finding(assumption="kernel", verdict=verdict, number=chance, sentence=sentence)

    def _approximated(self) -> tuple[Finding, ...]:
        """How far the intervals of a large domain are from the exact ones; nothing where they are exact."""
        found = self.posterior.field.approximation
        if found is None:
            return ()
        sentence = (
            f"each point is predicted from the {found.neighbours:,} measured points that tell most of it: at "
            f"{found.compared:,} random points deviations are {found.narrower:.3f} to {found.wider:.3f} times the "
            f"exact ones, and means are off by at most {found.off:.2g} of them"
        )
        verdict = Verdict.HOLDS if found.off <= NEAR and found.wider <= 1.0 + NEAR else Verdict.DOUBTED
        return (Finding(assumption="approximation", verdict=verdict, number=found.off, sentence=sentence),)

    def _disjoint(self) -> Finding:
        count = len(self.disjoint)
        sentence = (
            f"the intervals of {count:,} points, the first of them point {self.disjoint[0]}, contradict earlier ones: "
            "the kernel or the noise is not as assumed, and the new ones are used"
        )
        return Finding(assumption="intervals", verdict=Verdict.CONTRADICTED, number=float(count), sentence=sentence)


@dataclass(frozen=True, kw_only=True)
class OnPosterior(ABC):
    """What all confidences on a Gaussian posterior have in common."""

    intersected: bool = False
    """Whether intervals are intersected over time, as LSE does."""

    name: ClassVar[str]
    uses: ClassVar[frozenset[str]] = frozenset({"noise", "mean", "misspecification", "tolerance", "ridge", "cost"})
    given_only: ClassVar[bool] = False
    in_rounds: ClassVar[bool] = False
    gaussian: ClassVar[bool] = True
    permanent: ClassVar[bool] = False
    budget: ClassVar[int] = BUDGET

    @property
    def ordered(self) -> bool:
        """Only intersected intervals remember how narrow they were."""
        return self.intersected

    @abstractmethod
    def widths(self, problem: Problem, prior: GaussianPosterior, /) -> Width:
        """The width of the intervals."""

    def rate(self, problem: Problem) -> float | None:
        """The share of the declared labels that may be wrong on average; None for a fixed number of deviations.

        A goal whose level depends on the maximum has no rate. By default an estimated kernel has one.
        """
        return error_rate.RATE if "kernel" in problem.fit and problem.goal.levels else None

    @property
    def deviations(self) -> float:
        """How many deviations a label has where there is no rate."""
        return BETA

    def promise(self, problem: Problem) -> str:
        """In which sense the declared labels are right, in words."""
        rate = self.rate(problem)
        if rate is not None:
            wide = f" by more than {problem.tolerance:g}" if problem.tolerance else ""
            return f"at most {100 * rate:g} % of the declared labels are wrong{wide} on average"
        wide = f", give or take {problem.tolerance:g}" if problem.tolerance else ""
        return f"every label is {self.deviations:g} posterior deviations from the level{wide}"

    def prior(self, problem: Problem) -> GaussianBelief:
        return self.believing(problem, posterior.begin(problem.domain, noise=problem.known_noise, mean=problem.mean))

    def believing(self, problem: Problem, prior: GaussianPosterior) -> GaussianBelief:
        """The belief that begins with a posterior before its first measurement."""
        counts = frozen(np.zeros(problem.domain.n, dtype=np.int64))
        return GaussianBelief(problem=problem, posterior=prior, widths=self.widths(problem, prior), counts=counts)

    def update(self, belief: GaussianBelief, batch: Batch) -> GaussianBelief:
        """Of a batch that nobody planned as a whole, each point is compared with what those before it predict."""
        noise = batch.deviations(belief.problem.everywhere)
        found = belief.posterior.told(batch.points, batch.values, noise=noise, in_turn=not batch.whole)
        counts = frozen(belief.counts + occurrences(batch.points, len(belief.counts)))
        after = replace(belief, posterior=found, counts=counts, narrowest=None, disjoint=())
        if not self.intersected or not belief.posterior.count:
            return after
        before, now = belief.bounds(), current(found, belief.widths)
        apart = (before.lower > now.upper) | (now.lower > before.upper)
        return replace(after, narrowest=before, disjoint=tuple(np.flatnonzero(apart).tolist()))

    def sizes(self, _problem: Problem, batch: int | None, /) -> Sizes:
        return Growing(first=BATCH if batch is None else batch)


@dataclass(frozen=True, kw_only=True)
class Posterior(OnPosterior):
    """Intervals of the posterior: so many deviations, or as many as an error rate asks for.

    They are as right as kernel and noise are. By default they have 3 deviations where the kernel is given, and an error
    rate of 1 % where it is estimated.
    """

    beta: float | None = None
    """beta^1/2 > 0: the half-width of an interval in deviations."""
    error_rate: float | None = None
    """The share of the declared labels that may be wrong on average, between 0 and 0.2."""

    name: ClassVar[str] = "posterior"

    def __post_init__(self) -> None:
        if self.beta is not None:
            object.__setattr__(self, "beta", as_number("Posterior.beta", self.beta, above=0))
        if self.error_rate is not None:
            rate = as_number("Posterior.error_rate", self.error_rate, above=0, below=0.2)
            object.__setattr__(self, "error_rate", rate)
        if self.beta is not None and self.error_rate is not None:
            raise InputError("Posterior.beta", self.beta, "give a number of deviations or an error rate, not both")
        object.__setattr__(self, "intersected", as_flag("Posterior.intersected", self.intersected))

    def widths(self, problem: Problem, _prior: GaussianPosterior, /) -> Width:
        rate, extra = self.rate(problem), problem.misspecification
        if rate is None:
            return Constant(value=self.deviations, misspecification=extra)
        return ByRate(rate=rate, levels=problem.goal.levels, tolerance=problem.tolerance, misspecification=extra)

    def rate(self, problem: Problem) -> float | None:
        if self.beta is not None:
            return None
        return self.error_rate if self.error_rate is not None and problem.goal.levels else super().rate(problem)

    @property
    def deviations(self) -> float:
        return BETA if self.beta is None else self.beta

    def guarantee(self, problem: Problem) -> Guarantee:
        return Guarantee(
            promise=f"{self.promise(problem)}: as right as kernel and noise are",
            probability=None,
            at_all_times=False,
            assumes=("f is a draw from the Gaussian process of the kernel", "Gaussian noise of the given deviation"),
        )


def current(posterior: GaussianPosterior, widths: Width) -> Bounds:
    """(n,) Q_t: the intervals of this posterior by itself."""
    half = widths.at(posterior) * posterior.deviation + widths.extra(posterior)
    return Bounds(lower=posterior.mean - half, upper=posterior.mean + half)


def as_flag(field: str, given: object) -> bool:
    """A flag, and nothing else."""
    if not isinstance(given, bool | np.bool_):
        raise InputError(field, repr(given), "give True or False")
    return bool(given)
