"""The paper's rule: the optimal design for the undecided directions."""

from __future__ import annotations

from dataclasses import dataclass

from superlevel import design
from superlevel.arrays import Mask
from superlevel.features import Features
from superlevel.goals import Goal, Threshold


@dataclass(frozen=True, kw_only=True, eq=False)
class DesignRule:
    """lambda_t = argmin over designs of g(lambda; A_t; gamma), the largest variance of an undecided direction.

    For a threshold the directions are points, a G-optimal design (Algorithm 1); for a fraction of the maximum they are
    pairs, an XY-optimal one (Algorithm 2).
    """

    goal: Goal
    features: Features
    ridge: float
    """gamma"""
    rtol: float
    """How far from the best design to stop."""

    def aim(self, undecided: Mask) -> design.Design:
        """lambda_t, with g(lambda_t; A_t; gamma) as its value."""
        targets: design.Subset | design.Pairs
        if isinstance(self.goal, Threshold):
            targets = design.Subset(undecided)
        else:
            targets = design.Pairs(self.goal.epsilon, undecided)
        return design.solve(self.features, targets, ridge=self.ridge, rtol=self.rtol)
