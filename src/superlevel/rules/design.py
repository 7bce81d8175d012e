"""The paper's rule: the optimal design for the undecided directions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from superlevel import design
from superlevel.arrays import Array, Mask, normalised
from superlevel.features import Features
from superlevel.goals import FractionOfMax, Goal, Threshold
from superlevel.linalg import inner, squared_norms
from superlevel.records import Choice, View

LEAST = 1e-5  # of the largest sigma: a measurement without noise is worth no more than with this
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
    shrinking: bool = False
    """Whether gamma falls like 1 / i with the i-th design: the paper's batched MELK."""
    worth: Worth | None = None
    """What a measurement is worth at each point, if not the same."""

    def aim(self, undecided: Mask, *, phase: int = 1, start: design.Design | None = None) -> design.Design:
        """lambda_t, with g(lambda_t; A_t; gamma) as its value."""
        arms, wanted, ridge = self._posed(undecided, phase)
        return design.solve(arms, wanted, ridge=ridge, rtol=self.rtol, start=start)

    def certify(self, view: View, found: design.Design) -> float:
        """The lower bound of a design that was chosen in this view, recomputed without any solver."""
        arms, wanted, ridge = self._posed(view.undecided, view.phase)
        return design.certify(arms, wanted, found.weights, found.dual, ridge=ridge)

    def appraise(self, view: View, found: design.Design) -> float:
        """The value of such a design, recomputed."""
        arms, wanted, ridge = self._posed(view.undecided, view.phase)
        return design.appraise(arms, wanted, found.weights, ridge=ridge)

    def _posed(self, undecided: Mask, phase: int) -> tuple[Features, design.Subset | design.Pairs, float]:
        """Arms, targets and gamma."""
        ridge = self.ridge / phase if self.shrinking else self.ridge
        arms, scales = self.features, None
        if self.worth is not None:
            arms, scales = scaled(arms, self.worth.roots), self.worth.roots
        return arms, targets(self.goal, self._reached(undecided), scales), ridge

    def _reached(self, undecided: Mask) -> Mask:
        """Without points whose features are zero, of which no measurement tells; all others where none is left."""
        if not isinstance(self.goal, Threshold):
            return undecided
        seen = unknown(self.goal, self.features)
        return undecided & seen if (undecided & seen).any() else seen

    def choose(self, view: View) -> Choice:
        """As many draws from lambda_t as the phase takes."""
        found = self.aim(view.undecided, phase=view.phase, start=view.start)
        weights = numbers(found, self.worth)
        total = view.sizes.samples(view.phase, found.value, int(np.count_nonzero(view.undecided)))
        return Choice(weights=weights, counts=design.draw(weights, total, rng=view.rng()), certificate=found)


@dataclass(frozen=True, kw_only=True, eq=False)
class Worth:
    """Points differ in what a measurement costs, c, and in its noise, sigma.

    lambda shares out the money, and a unit of it buys 1 / (c sigma^2) of the information phi phi' at a point: arms are
    scaled by the root of that, relative to the best, and targets are not.
    """

    roots: Array
    """(n,) at most 1: the best sigma sqrt(c) over the point's."""
    cost: Array
    """(n,)"""


def scaled(features: Features, roots: Array) -> Features:
    """The arms of a design, each by the root of what a measurement there is worth."""
    return replace(features, array=features.array * roots[:, None], residuals=features.residuals * roots**2)


def worth(noise: float | Array, cost: float | Array, n: int) -> Worth | None:
    """None where all points are alike."""
    costs, deviations = np.broadcast_to(cost, n), np.broadcast_to(noise, n)
    if np.ptp(costs) == 0 and np.ptp(deviations) == 0:
        return None
    largest = float(deviations.max()) or 1.0  # where nothing has noise, costs are all that differs
    spent = np.maximum(deviations, LEAST * largest) * np.sqrt(costs)
    return Worth(roots=spent.min() / spent, cost=costs)


def numbers(found: design.Design, worth: Worth | None) -> Array:
    """(n,) the shares of the measurements: a design's own, or of the numbers of them that its money buys."""
    return found.weights if worth is None else normalised(found.weights / worth.cost)


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
