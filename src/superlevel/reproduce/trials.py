"""What is run: a method against a world, and the bounds that it is held against."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from superlevel import bounds, methods
from superlevel.arrays import Labels, Mask
from superlevel.goals import ABOVE
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
        goal, signs = world.problem.goal, world.signs
        return {
            "f1": [f1(goal.wanted(labels) == ABOVE, world.truth) for labels in at(run, setting.samples)],
            "last": last_correct(run, signs),
            "wrong": int((np.atleast_2d(run.labels) == -signs).any(axis=0).sum()),
            "measured": run.samples,
        }


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """What no method can beat on average, on the function itself."""

    def __call__(self, setting: Setting, seed: int) -> Values:
        world = setting.world(seed)
        problem, values = world.problem, world.values
        domain, noise, delta = problem.domain, problem.known_noise, problem.delta
        found: bounds.LowerBound
        if problem.goal.implicit:
            epsilon = 1 - problem.goal.share
            found = bounds.implicit(domain, values, epsilon=epsilon, noise=noise, delta=delta)
        else:
            (level,) = problem.goal.levels
            found = bounds.explicit(domain, values, threshold=level, noise=noise, delta=delta)
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


def last_correct(run: Run, signs: Labels) -> int | None:
    """Measurements from which on every label was there and right; None if that never came."""
    found = None
    for step in reversed(run.trace):
        if (step.labels != signs).any():
            break
        found = step.samples
    return found
