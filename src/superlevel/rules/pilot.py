"""A rule for problems that leave something open: a pilot first, then the rule itself on the likeliest kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from superlevel import pilots
from superlevel.arrays import normalised
from superlevel.design import Design, Review
from superlevel.goals import Goal
from superlevel.problem import Problem
from superlevel.records import Choice, View
from superlevel.rules.protocol import Rule


@dataclass(frozen=True)
class Piloted(Rule):
    """Another rule, after a pilot. Its choices carry a forecast of what will be measured."""

    rule: Rule

    def check(self, problem: Problem, goal: Goal, /) -> None:
        self.rule.check(problem, goal)

    def choose(self, view: View) -> Choice:
        if view.belief.pilot:
            begun = np.repeat(np.arange(view.n), view.begun)
            places = pilots.pilot(view.problem, count=view.samples(), begun=begun)
            counts = np.bincount(places, minlength=view.n).astype(np.int64)
            return Choice(weights=normalised(counts.astype(np.float64)), counts=counts)
        choice = self.rule.choose(_inside(view))
        belief: Any = view.belief
        return replace(choice, forecast=belief.forecast(np.flatnonzero(choice.counts)))

    def review(self, view: View, found: Design, /) -> Review | None:
        return self.rule.review(_inside(view), found)


def _inside(view: View) -> View:
    """The view of the likeliest kernel, in which values and levels are transformed."""
    belief: Any = view.belief
    return replace(view, belief=belief.representative, goal=view.goal.moved(belief.average.warp))
