"""A rule for problems that leave something open: a pilot first, then the rule itself."""

from __future__ import annotations

from dataclasses import dataclass

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
    """Another rule, after a pilot."""

    rule: Rule

    def check(self, problem: Problem, goal: Goal, /) -> None:
        self.rule.check(problem, goal)

    def choose(self, view: View) -> Choice:
        if not view.belief.pilot:
            return self.rule.choose(view)
        begun = np.repeat(np.arange(view.n), view.begun)
        places = pilots.pilot(view.problem, count=view.samples(), begun=begun)
        counts = np.bincount(places, minlength=view.n).astype(np.int64)
        return Choice(weights=normalised(counts.astype(np.float64)), counts=counts)

    def review(self, view: View, found: Design, /) -> Review | None:
        return self.rule.review(view, found)
