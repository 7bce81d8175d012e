"""The paper's rule: the optimal design for the undecided directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel import design
from superlevel.arrays import Array, Mask
from superlevel.features import Features
from superlevel.goals import FractionOfMax, Goal, Threshold
from superlevel.linalg import inner, squared_norms

CLOSE, ROUNDING = 1e-12, 1e-28  # squared lengths of a pair, relative to its parts', that may be, and are, none


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
        return design.solve(self.features, targets(self.goal, undecided), ridge=self.ridge, rtol=self.rtol)


def targets(goal: Goal, mask: Mask, scales: Array | None = None) -> design.Subset | design.Pairs:
    """Some of a goal's directions, divided by their scales, as targets of a design."""
    used = None if scales is None else np.where(mask, scales, 1.0)
    match goal:
        case Threshold():
            return design.Subset(mask=mask, scales=used)
        case FractionOfMax(epsilon):
            return design.Pairs(epsilon, mask=mask, scales=used)


def unknown(goal: Goal, features: Features) -> Mask:
    """The directions, (n,) or (n, n), that are not zero: the value of a zero one is known without measuring."""
    arms = features.array
    match goal:
        case Threshold():
            return np.asarray(arms.any(axis=1))
        case FractionOfMax(epsilon):
            share, lengths = 1.0 - epsilon, squared_norms(arms)
            parts = np.add.outer(lengths, share**2 * lengths)
            seen = np.asarray(parts - 2.0 * share * inner(arms, arms) > CLOSE * parts)
            # The product form cancels: a small epsilon makes short pairs that are not zero.
            first, second = np.nonzero(~seen)
            seen[first, second] = squared_norms(arms[first] - share * arms[second]) > ROUNDING * parts[first, second]
            return seen
