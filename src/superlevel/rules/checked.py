"""A rule for problems that leave the kernel open: one measurement in ten checks the model where it is sure.

A rule measures where the model is in doubt. Those measurements do not tell whether the model is right where it is sure.
A check does: it is drawn uniformly from the points that nobody has measured and that are more than `SURE` deviations
from the level. Its result is compared with its forecast like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from superlevel.arrays import Indices, normalised
from superlevel.design import Design, Review
from superlevel.goals import Goal
from superlevel.problem import Problem
from superlevel.records import Choice, View
from superlevel.rules.protocol import Rule
from superlevel.sizes import Growing

INTERVAL = 10  # measurements of which one is a check
SURE = 1.5  # deviations from the level
CHECKING = 3  # sets the random numbers of checks apart from those of draws, of measurements and of samples


@dataclass(frozen=True)
class Checked(Rule):
    """Another rule, and checks."""

    rule: Rule

    def check(self, problem: Problem, goal: Goal, /) -> None:
        self.rule.check(problem, goal)

    def choose(self, view: View) -> Choice:
        places, total = checks(view), view.samples()
        if not len(places):
            return self.rule.choose(view)
        drawn = np.bincount(places, minlength=view.n).astype(np.int64)
        rest = total - len(places)
        if not rest:
            return Choice(weights=normalised(drawn.astype(np.float64)), counts=drawn, checks=places)
        chosen = self.rule.choose(_without(view, places))
        weights = (rest * chosen.weights + drawn) / total
        return replace(chosen, weights=weights, counts=chosen.counts + drawn, checks=places)

    def review(self, view: View, found: Design, /) -> Review | None:
        return self.rule.review(_without(view, checks(view)), found)


def checks(view: View) -> Indices:
    """The places of this batch's checks, sorted: as many as make one in `INTERVAL` of all measurements so far."""
    begun, count = int(view.begun.sum()), view.samples()
    due = (begun + count) // INTERVAL - begun // INTERVAL
    model = view.belief.model
    far = view.goal.margins(model.centre) > SURE * model.spread
    candidates = np.flatnonzero(far & (view.begun == 0))
    return np.sort(view.rng(CHECKING).choice(candidates, size=min(due, len(candidates)), replace=False))


def _without(view: View, places: Indices) -> View:
    """The view of a smaller batch, with these places on their way."""
    if not len(places):
        return view
    left = Growing(first=view.samples() - len(places))
    return replace(view, pending=np.concatenate([view.pending, places]), sizes=left)
