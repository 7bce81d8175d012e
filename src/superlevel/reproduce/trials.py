"""What is run: a method against a world, and the bounds that it is held against."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from superlevel import bounds, methods
from superlevel.arrays import Labels, Mask
from superlevel.confidence.posterior import PosteriorConfidence
from superlevel.confidence.rkhs import RkhsWidth
from superlevel.goals import ABOVE, BELOW, FractionOfMax, Threshold
from superlevel.problem import Problem
from superlevel.reproduce.settings import Setting, Values
from superlevel.simulation import Run, Step, simulate


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """A method of the table with its options."""

    method: str
    options: tuple[tuple[str, Any], ...] = ()
    budget: int | None = None
    """Measurements after which it is ended, if that is before the setting's budget: it keeps its labels."""

    def make(self, problem: Problem) -> methods.Method:
        return methods.make(self.method, problem, **dict(self.options))

    def __call__(self, setting: Setting, seed: int) -> Values:
        """F1 of the declared set along the way, when the last label was right, and what was wrong at the end."""
        world = setting.world(seed)
        budget = min(setting.samples[-1], self.budget or setting.samples[-1])
        run = simulate(self.make(world.problem), world.oracle, max_samples=budget, seed=seed)
        truth = world.truth
        return {
            "f1": [f1(labels == ABOVE, truth) for labels in at(run, setting.samples)],
            "last": last_correct(run, truth),
            "wrong": int((run.labels == np.where(truth, BELOW, ABOVE)).sum()),
            "measured": run.samples,
        }


class OtherWidths(Simulated):
    """The same with RKHS widths from another bound on the information gain."""

    def widths(self, given: RkhsWidth) -> RkhsWidth:
        """Instead of these."""
        return given

    def make(self, problem: Problem) -> methods.Method:
        method = super().make(problem)
        confidence = method.confidence
        assert isinstance(confidence, PosteriorConfidence)
        assert isinstance(confidence.widths, RkhsWidth)
        return replace(method, confidence=replace(confidence, widths=self.widths(confidence.widths)))


@dataclass(frozen=True, kw_only=True)
class OfRank(OtherWidths):
    """For a kernel of this rank on the points, instead of the dimension of its features."""

    rank: int

    def widths(self, given: RkhsWidth) -> RkhsWidth:
        return replace(given, rank=self.rank)


@dataclass(frozen=True, kw_only=True)
class Loose(OtherWidths):
    """From d log(1 + t), which is what "of the order of d log T" comes to if nothing is done about its constant."""

    def widths(self, given: RkhsWidth) -> RkhsWidth:
        return LooseWidth(**vars(given))


class LooseWidth(RkhsWidth):
    """At least twice the information gain of d / 2 log(1 + t L^2 / (d sigma^2)), for L <= sigma."""

    def information(self, count: int) -> float:
        return self.rank * float(np.log1p(count))


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """What no method can beat on average, on the function itself."""

    def __call__(self, setting: Setting, seed: int) -> Values:
        world = setting.world(seed)
        problem, values = world.problem, world.values
        domain, noise, delta = problem.domain, problem.noise, problem.delta
        found: bounds.LowerBound
        match problem.goal:
            case Threshold(alpha):
                found = bounds.explicit(domain, values, threshold=alpha, noise=noise, delta=delta)
            case FractionOfMax(epsilon):
                found = bounds.implicit(domain, values, epsilon=epsilon, noise=noise, delta=delta)
        return {"samples": found.samples}


def at(run: Run, samples: tuple[int, ...], read: Callable[[Step], Labels] = lambda step: step.labels) -> list[Labels]:
    """The labels of a run's last step within each number of measurements; a run that ended keeps its last."""
    taken = [step.samples for step in run.trace]
    nothing = np.zeros_like(run.labels)
    places = [bisect_right(taken, limit) for limit in samples]
    return [read(run.trace[place - 1]) if place else nothing for place in places]


def f1(declared: Mask, truth: Mask) -> float:
    """2 TP / (2 TP + FP + FN); 1 where nothing is and nothing was declared."""
    total = int(declared.sum() + truth.sum())
    return 2 * int((declared & truth).sum()) / total if total else 1.0


def last_correct(run: Run, truth: Mask) -> int | None:
    """Measurements from which on every label was there and right; None if that never came."""
    sides, found = np.where(truth, ABOVE, BELOW), None
    for step in reversed(run.trace):
        if (step.labels != sides).any():
            break
        found = step.samples
    return found
