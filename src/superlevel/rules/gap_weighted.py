"""The rule of the ridge confidence: a design for the undecided directions, each as important as it is hard to decide.

The lower bound spends its measurements on min over lambda of max_v ||v||^2 / gap_v^2. Gaps are unknown; what is
estimated of them, but no less than a part of what they are uncertain by, takes their place:

    lambda  =  argmin over designs of max_v ||v||^2_{A(lambda)^-1} / max(|gap-hat_v| + tolerance, c width_v)^2

and none is aimed at more closely than at a part of the largest width that is left. Without that the one direction which
is nearest to the level would take nearly all measurements long before the others are decided.

A pair (x, x') is only needed as far as it decides x. A point that seems to be in the set needs all its pairs; for one
that seems out the pair that says so most clearly is enough.

Measurements follow the shares lambda in total, those that were made earlier or are on their way included, so that what
early estimates aimed at by mistake is made good for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel import design
from superlevel.arrays import Array, Indices, Mask, normalised
from superlevel.features import Features
from superlevel.goals import FractionOfMax, Goal
from superlevel.records import Choice, Learned, View
from superlevel.rules.design import Worth, numbers, scaled, targets

WIDTH = 0.5  # c: a gap is taken to be at least half of what it may be wrong by
TOGETHER = 0.25  # of the largest half-width: nothing is aimed at more closely, as long as that is so large
GIVEN_UP = 2  # failures for each measurement, and one more: then a point is left alone where there are others
RADIUS = 4.0  # R of an ellipsoid, about
TENTH = 0.1  # of a measurement
CLOSEST = 1e-6  # of the largest aim: the smallest that a design can be made for


@dataclass(frozen=True, kw_only=True, eq=False)
class GapWeighted:
    """The design weighted by the estimated gaps."""

    goal: Goal
    features: Features
    """In coordinates with ||theta|| <= 1."""
    reached: Mask
    """(n,) or (n, n): the directions that are not zero."""
    effort: float
    """sigma^2 cost of a measurement where that is least."""
    cost: Array
    """(n,)"""
    tolerance: float
    rtol: float
    worth: Worth | None
    """What a measurement is worth at each point, if not the same."""

    def choose(self, view: View) -> Choice:
        """As many measurements as the phase takes, so that all together follow the design."""
        found = design.solve(*self._posed(view), ridge=self._ridge(view), rtol=self.rtol, start=view.start)
        shares = normalised(np.where(_failing(view), 0.0, numbers(found, self.worth)))
        counts = followed(shares, view.begun, view.total)
        return Choice(weights=shares, counts=counts, certificate=found)

    def certify(self, view: View, found: design.Design) -> float:
        """The lower bound of a design that was chosen in this view, recomputed without any solver."""
        return design.certify(*self._posed(view), found.weights, found.dual, ridge=self._ridge(view))

    def appraise(self, view: View, found: design.Design) -> float:
        """The value of such a design, recomputed."""
        return design.appraise(*self._posed(view), found.weights, ridge=self._ridge(view))

    def _posed(self, view: View) -> tuple[Features, design.Subset | design.Pairs]:
        """Arms and targets."""
        learned, arms = view.learned, self.features
        assert learned is not None
        failing = _failing(view)
        wanted = self._wanted(view.undecided, learned.estimates, failing)
        scales = self._aims(learned, wanted)
        if isinstance(self.goal, FractionOfMax):
            return arms, targets(self.goal, wanted, scales)
        roots = np.where(failing, 0.0, 1.0 if self.worth is None else self.worth.roots)
        if (roots < 1.0).any():  # targets are the arms themselves, and are not to be scaled with them
            arms, scales = scaled(arms, roots), scales * np.where(roots > 0, roots, 1.0)
        return arms, targets(self.goal, wanted, scales)

    def _ridge(self, view: View) -> float:
        """gamma for one of N measurements, R^2 sigma^2 / N: the ball ||theta|| <= 1 beside an ellipsoid of radius R."""
        spent = float(view.begun @ self.cost) + view.total * float(self.cost.mean())
        return RADIUS**2 * self.effort / spent

    def _wanted(self, undecided: Mask, estimates: Array, failing: Mask) -> Mask:
        """The directions to aim at; all that are not zero where no other is left."""
        wanted, reached = undecided & self.reached, self.reached
        if failing.any():
            reached = reached & ~(failing if reached.ndim == 1 else np.logical_or.outer(failing, failing))
            wanted &= reached
        if isinstance(self.goal, FractionOfMax):
            clearest = estimates.argmin(axis=1)
            seem_out = np.flatnonzero((estimates.min(axis=1) < 0) & wanted.any(axis=1))
            wanted[seem_out] = False
            wanted[seem_out, clearest[seem_out]] = reached[seem_out, clearest[seem_out]]
        return wanted if wanted.any() else reached

    def _aims(self, learned: Learned, wanted: Mask) -> Array:
        """How well to know each direction."""
        half = (learned.bounds.upper - learned.bounds.lower) / 2
        aims = np.maximum(np.abs(learned.estimates) + self.tolerance, WIDTH * half)
        largest = TOGETHER * float(half[wanted].max(initial=0.0))
        return np.maximum(aims, max(largest, CLOSEST * float(aims.max())) or 1.0)


def followed(shares: Array, begun: Array | Indices, total: int) -> Indices:
    """(n,) counts with sum ``total`` that bring those (n,) that were begun towards the shares of all together.

    Less than a tenth of a measurement that is missing waits: a rounding that serves all would serve little else.
    """
    missing = normalised(np.maximum(shares * (begun.sum() + total) - begun, 0.0))
    worth_one = missing * total >= TENTH
    return design.apportion(normalised(missing * worth_one) if worth_one.any() else missing, total)


def _failing(view: View) -> Mask:
    """(n,) points that cannot be measured, by all that is known; none if that would be all of them."""
    assert view.learned is not None
    counts = view.learned.evidence.counts
    failing = np.bincount(view.failed, minlength=len(counts)) > GIVEN_UP * (counts + 1)
    return np.asarray(failing & ~failing.all())
