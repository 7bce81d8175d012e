"""What the parts of a method hand to each other: plans go out, batches come in, and a state leads to the next one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from superlevel.arrays import Array, Indices, Labels, Mask, frozen
from superlevel.averaging.warps import Warp
from superlevel.challenge import Challenge
from superlevel.design import Design
from superlevel.features import Features
from superlevel.findings import Finding
from superlevel.goals import ABOVE, BELOW, Bounds, Goal, Reading, summary
from superlevel.posterior import GaussianPosterior
from superlevel.problem import Problem
from superlevel.sizes import Need, Sizes


class Stop(StrEnum):
    """Why nothing more is measured, in words."""

    DECIDED = "every point is decided"
    EMPTY = "no point is above a fraction of the maximum, because the maximum is not above zero"
    TOLERANCE = "the tolerance is reached: what is still undecided may be declared either way"
    BUDGET = "the budget ends before the next phase would"
    CRITERION = "the stopping criterion is met"
    CONTRADICTED = "the measurements contradict what is assumed: nothing is declared"


@dataclass(frozen=True, kw_only=True, eq=False)
class Forecast:
    """What a plan expects to be measured, written down before it is: a normal distribution of transformed values."""

    points: Indices
    """(m,) in ascending order, each once."""
    means: Array
    """(m,)"""
    deviations: Array
    """(m,) of one measurement, its noise included."""
    warp: Warp
    """The transform."""

    def deviates(self, points: Indices, values: Array) -> Array:
        """(N,) how many deviations values (N,), measured at some of the points (N,), are from what was expected."""
        at = np.searchsorted(self.points, points)
        return np.asarray((self.warp(values) - self.means[at]) / self.deviations[at])


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """How often to measure each point in one phase, and the certificate of that choice."""

    phase: int
    """Which phase it is for, from 1: the paper's round t."""
    weights: Array
    """(n,) the distribution that the counts were drawn from: lambda_t."""
    counts: Indices
    """(n,) measurements at each point."""
    certificate: Design | None
    """The design, with a proof of how far it is from the best; None for rules that make none."""
    precision: float | None
    """How well every undecided direction will be known, in the units of the measurements; None for a fixed batch."""
    undecided: Mask
    """(n,) or (n, n): the directions that were undecided when it was planned."""
    origin: str
    """A fingerprint of the method, the state and the pending plans that it was asked for."""
    campaign: str
    """A fingerprint of the method and the seed: `tell` takes no plan of another campaign."""
    forecast: Forecast | None = None
    """What is expected to be measured; None where the confidence makes no forecasts."""
    challenge: Challenge | None = None
    """Which directions get a test of their own that begins with this plan; None where none do."""

    def __post_init__(self) -> None:
        frozen(self.weights)
        frozen(self.counts)

    @cached_property
    def total(self) -> int:
        """Measurements in all."""
        return int(self.counts.sum())

    @cached_property
    def indices(self) -> Indices:
        """(total,) the point of each measurement, sorted: the order in which `tell` wants the values."""
        support = np.flatnonzero(self.counts)
        return frozen(np.repeat(support, self.counts[support]))

    def __repr__(self) -> str:
        points = np.count_nonzero(self.counts)
        return f"Plan(phase {self.phase}: {self.total:,} measurements at {points} of {len(self.counts)} points)"


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """Measurements that became known together."""

    points: Indices
    """(N,) the point of each."""
    values: Array
    """(N,)"""
    noise: Array | None = None
    """(N,) the standard deviation of each measurement, NaN where it is the problem's; None where all of them are."""
    plan: Plan | None = None
    """The plan that asked for the first of them; None where nobody planned it."""
    whole: bool = False
    """Whether the batch holds all measurements of that plan, reported as a unit, and no others."""
    after_plans: bool | None = None
    """Whether there was a plan before the campaign's first result; None: this batch has one, if it is the first."""

    @property
    def begins_unplanned(self) -> bool:
        """Whether the campaign began with results that nobody planned, if this is its first batch."""
        return self.plan is None if self.after_plans is None else not self.after_plans

    def deviations(self, problem: Problem) -> Array | None:
        """(N,) the deviation of each measurement, the problem's where it has none of its own; None where none has."""
        if self.noise is None:
            return None
        return np.where(np.isnan(self.noise), problem.deviations[self.points], self.noise)


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearModel:
    """The features in which a confidence bounds f, for rules that make designs in them."""

    features: Features
    ridge: float
    """gamma"""
    deviations: Array
    """(n,) the standard deviation of one measurement at each point, as it enters the bounds."""


class Outlook(NamedTuple):
    """What lies ahead of a confidence that knows how its intervals shrink."""

    missing: float = math.inf
    """Measurements until all is decided, if gaps are as estimated; infinite where nothing is known of it."""
    challenge: Challenge | None = None


class GaussianModel(Protocol):
    """A Gaussian posterior with its intervals, for rules that look ahead in it."""

    @property
    def posterior(self) -> GaussianPosterior: ...

    @property
    def centre(self) -> Array:
        """(n,) the estimate of f from which rules count deviations."""
        ...

    @property
    def spread(self) -> Array:
        """(n,) the deviation of f, with all that the posterior's kernel does not know of."""
        ...

    @property
    def rough(self) -> Array:
        """(n,) the variance of f at a point that its neighbours tell nothing of, beside the posterior's."""
        ...

    @property
    def width(self) -> float:
        """beta^1/2: how many deviations a half-width has."""
        ...

    def among(self, points: Indices, /) -> Belief:
        """What all measurements say of some of the points (m,), ascending."""
        ...

    def ends(self, planned: GaussianPosterior, /) -> Bounds:
        """(n,) the intervals at every point as a posterior for planning has them, within those that are known."""
        ...


class Belief(Protocol):
    """What a confidence knows of f. Nothing in it changes; an update returns another one."""

    @property
    def problem(self) -> Problem:
        """The problem, with what was estimated in place of what was not given."""
        ...

    @property
    def pilot(self) -> int:
        """Measurements that are missing for a first estimate of what is not given; 0 where nothing is."""
        ...

    @property
    def estimated(self) -> Mapping[str, str]:
        """What of kernel, noise and mean was estimated, and what came out, in words."""
        ...

    @property
    def estimate(self) -> Array:
        """(n,) the estimate of f."""
        ...

    @property
    def counts(self) -> Indices:
        """(n,) how many measurements at each point the belief rests on."""
        ...

    @property
    def averages(self) -> tuple[Array, Array]:
        """The sum of 1 / sigma^2 (n,) of the measurements at each point, and their mean (n,), 0 where there is none."""
        ...

    @property
    def tolerance(self) -> float:
        """How far the goal may move the ends of these bounds when it decides."""
        ...

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the measurements say of each assumption."""
        ...

    @property
    def contradicted(self) -> bool:
        """Whether the measurements rule out what the bounds rest on, so that nothing may be declared."""
        ...

    @property
    def hints(self) -> Mapping[str, Any]:
        """What makes the bounds quick to compute again from the log: plain numbers, for a certificate."""
        ...

    @property
    def sources(self) -> tuple[str, ...] | None:
        """(n,) which of several kinds of interval is the narrowest at each point; None where there is one kind only."""
        ...

    @property
    def posterior(self) -> GaussianPosterior:
        """The Gaussian posterior of f; an InputError where the confidence has none."""
        ...

    @property
    def model(self) -> GaussianModel:
        """The posterior with its intervals; an InputError where the confidence has none."""
        ...

    @property
    def linear(self) -> LinearModel:
        """The features in which f is bounded; an InputError where the confidence has none."""
        ...

    def values(self, goal: Goal, /) -> Array:
        """(n,) or (n, n): the estimated value of every direction of the goal."""
        ...

    def bounds(self, share: float = 0.0, mask: Mask | None = None, /) -> Bounds:
        """The interval of f(x) for every point (n,), or of f(x) - share f(x') for every pair (n, n) if share > 0.

        A mask names the directions that are needed; the others may be NaN.
        """
        ...

    def fixed(self, share: float, /) -> Bounds | None:
        """Bounds of the directions that no measurement can change, NaN for the others; None if there are none."""
        ...

    @property
    def deviation(self) -> Array | None:
        """(n,) the standard deviation of f, or what takes its place: half of the interval that has 68 % of the
        probability; None where there is no model of f."""
        ...

    def probability(self, level: float, /) -> Array | None:
        """(n,) the probability that f(x) is above a level; None where there is no model of f."""
        ...

    def relief(self, points: Indices) -> Array:
        """(m, n) the share of the variance at each point that one measurement at each of these points (m,) removes."""
        ...

    def forecast(self, points: Indices, /) -> Forecast | None:
        """What will be measured at points (m,), in ascending order and each once; None if no forecasts are made."""
        ...

    def outlook(self, view: View, weights: Array, /) -> Outlook:
        """What is missing if measurements follow a distribution (n,), and the challenge that would begin with them."""
        ...

    def norms(self, goal: Goal, labels: Labels, /) -> Array | None:
        """The largest norm, or bound, for which each label is right, shaped as the labels: NaN where there is no label.

        None where that is not known.
        """
        ...

    def seen_by_rules(self, goal: Goal, /) -> tuple[Belief, Goal]:
        """The belief that rules look at, and the goal in its units."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """All that a method knows between two phases. Nothing in it changes; `tell` returns another one."""

    seed: int
    """Every random choice of phase t comes from (seed, t)."""
    phase: int
    """The phase that comes next, from 1."""
    goal: Goal
    reading: Reading
    """What is decided, and which directions are not: the sets G, B and A_t of the paper."""
    samples: int
    """Measurements told so far."""
    stop: Stop | None
    """Why nothing more is to be measured; None while something is."""
    belief: Belief
    """What is known of f."""
    design: Design | None = None
    """The last design, from which the next one starts."""
    told: frozenset[str] = frozenset()
    """The origins of the plans that were told, where they may be told in any order."""
    campaign: str = ""
    """A fingerprint of the method and the seed: no other method takes this state."""
    history: str = ""
    """A fingerprint of all that was told, in its order."""

    @property
    def labels(self) -> Labels:
        """(n,) +1 above, 0 undecided, -1 below; (k, n) where the goal has k levels."""
        return self.reading.labels

    @property
    def undecided(self) -> Mask:
        """(n,) points or (n, n) pairs whose sign is still needed."""
        return self.reading.undecided

    @property
    def estimate(self) -> Array:
        """(n,) the estimate of f."""
        return self.belief.estimate

    @property
    def intervals(self) -> Bounds:
        """(n,) the interval of f at every point."""
        return self.belief.bounds()

    @property
    def above(self) -> Mask:
        """The points that are decided to be above the level: G."""
        return np.asarray(self.labels == ABOVE)

    @property
    def not_below(self) -> Mask:
        """The points that are above the level or undecided: X without B."""
        return np.asarray(self.labels != BELOW)

    def __repr__(self) -> str:
        status = "asks for more" if self.stop is None else self.stop.value
        return f"State(phase {self.phase}, {self.samples:,} measurements, {summary(self.goal, self.labels)}: {status})"


@dataclass(frozen=True, kw_only=True, eq=False)
class Info:
    """What a phase showed, for the reader; the method itself needs none of it."""

    phase: int
    samples: int
    """Measurements of this phase."""
    precision: float | None
    """Half-width that the phase was planned for; None for a fixed batch."""
    bounds: Bounds
    """The bounds of the goal's directions after this phase."""
    findings: tuple[Finding, ...]
    """What this phase showed against the assumptions, and no phase before it."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The findings in sentences."""
        return tuple(finding.sentence for finding in self.findings)


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """What a rule may look at."""

    goal: Goal
    """The problem's goal, with the directions by which the method reads it."""
    phase: int
    reading: Reading
    belief: Belief
    pending: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """(m,) points that are being measured already, with repeats."""
    failed: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """(k,) points at which measuring failed, with repeats."""
    start: Design | None = None
    """A design to start from."""
    sizes: Sizes
    seed: int
    standing: Array | float = 1.0
    """(n,) how many points each stands for in a sum over points: one, unless a sample stands for all."""

    @property
    def problem(self) -> Problem:
        """The problem, with what was estimated in place of what was not given."""
        return self.belief.problem

    @property
    def undecided(self) -> Mask:
        """(n,) points or (n, n) pairs."""
        return self.reading.undecided

    @property
    def n(self) -> int:
        """Points of the domain."""
        return self.problem.domain.n

    def rng(self, use: int | None = None) -> np.random.Generator:
        """Everything random comes from (seed, phase), and from its use where there is more than one."""
        return np.random.default_rng([self.seed, self.phase] if use is None else [self.seed, self.phase, use])

    @cached_property
    def posterior(self) -> GaussianPosterior:
        """The Gaussian posterior after all measurements; an InputError where the confidence has none."""
        return self.belief.posterior

    @cached_property
    def planned(self) -> GaussianPosterior:
        """The posterior, with the pending points as if they had been measured."""
        return self.posterior.planned(self.pending).after

    def among(self, points: Indices, standing: Array) -> View:
        """The view of some of the points (m,), ascending, with all that are pending or failed among them."""
        reading = Reading(labels=self.reading.labels[..., points], undecided=self.reading.undecided[points])
        return replace(
            self,
            reading=reading,
            belief=self.belief.model.among(points),
            pending=np.searchsorted(points, self.pending),
            failed=np.searchsorted(points, self.failed),
            start=None,
            standing=standing,
        )

    @cached_property
    def begun(self) -> Indices:
        """(n,) measurements that were made or are on their way."""
        return np.asarray(np.bincount(self.pending, minlength=self.n) + self.belief.counts)

    def samples(self, value: float = math.nan, *, missing: float = math.inf) -> int:
        """The number of measurements of this phase, for a design of this value where it depends on one.

        ``missing`` is how many further ones are expected to decide everything.
        """
        undecided = int(np.count_nonzero(self.undecided))
        begun = len(self.pending) + int(self.belief.counts.sum())
        need = Need(phase=self.phase, value=value, directions=undecided, begun=begun, missing=missing)
        return self.sizes.samples(need)


@dataclass(frozen=True, kw_only=True, eq=False)
class Choice:
    """Where a rule wants to measure."""

    weights: Array
    """(n,) a distribution."""
    counts: Indices
    """(n,) how often each point."""
    certificate: Design | None = None
    forecast: Forecast | None = None
    """What is expected to be measured."""
    outlook: Outlook | None = None
    """What is missing if measurements follow these weights; None if the rule did not ask."""
    challenge: Challenge | None = None
    """Which directions get a test of their own."""
    checks: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """(k,) points that were drawn at random to check the model; the counts include them."""
