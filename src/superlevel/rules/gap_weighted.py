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

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from superlevel import design
from superlevel.arrays import Array, Indices, Mask, normalised
from superlevel.features import Features
from superlevel.records import Choice, View
from superlevel.rules.protocol import DesignRule
from superlevel.rules.worth import Worth, costs, numbers, scaled, worth
from superlevel.sizes import Growing

WIDTH = 0.5  # c: a gap is taken to be at least half of what it may be wrong by
TOGETHER = 0.15  # of the largest half-width: nothing is aimed at more closely, as long as that is so large
GIVEN_UP = 2  # failures for each measurement, and one more: then a point is left alone where there are others
RADIUS = 4.0  # R of an ellipsoid, about
TENTH = 0.1  # of a measurement
CLOSEST = 1e-6  # of the largest aim: the smallest that a design can be made for


class _Posed(NamedTuple):
    """A design problem."""

    arms: Features
    targets: design.Subset | design.Pairs
    ridge: float
    worth: Worth | None


@dataclass(frozen=True, kw_only=True)
class GapWeighted(DesignRule):
    """The design weighted by the estimated gaps."""

    certifies: ClassVar[bool] = True

    rtol: float = 0.05
    """How far from the best each design may be; the guarantee is in the intervals, not in the design."""

    def choose(self, view: View) -> Choice:
        """As many measurements as the phase takes, so that all together follow the design."""
        found, shares = self._solved(view)
        ahead = view.belief.outlook(view, shares)
        total = view.samples(missing=ahead.missing)
        if total == view.samples():
            counts = followed(shares, view.begun, total)
            return Choice(weights=shares, counts=counts, certificate=found, outlook=ahead)
        # The ridge of the design, and so its proof, goes with the size of the batch.
        found, shares = self._solved(replace(view, sizes=Growing(first=total), start=found))
        return Choice(weights=shares, counts=followed(shares, view.begun, total), certificate=found)

    def _solved(self, view: View) -> tuple[design.Design, Array]:
        """The design, and the shares (n,) of the measurements."""
        posed = self._posed(view)
        found = design.solve(posed.arms, posed.targets, ridge=posed.ridge, rtol=self.rtol, start=view.start)
        return found, normalised(np.where(_failing(view), 0.0, numbers(found, posed.worth)))

    def review(self, view: View, found: design.Design, /) -> design.Review:
        posed = self._posed(view)
        return design.review(posed.arms, posed.targets, found.weights, found.dual, ridge=posed.ridge)

    def _posed(self, view: View) -> _Posed:
        model, share, failing = view.belief.linear, view.goal.share, _failing(view)
        arms, cost = model.features, np.ones(view.n) if share else costs(view.problem)
        # Pairs are made of arms, so that arms of unequal worth would make other pairs: all count alike there.
        differing = None if share else worth(model.deviations, cost, view.n)
        values = view.belief.values(view.goal)
        wanted = _wanted(view, values, failing)
        scales = _aims(view, values, wanted)
        roots = np.where(failing, 0.0, 1.0 if differing is None else differing.roots)
        if not share and (roots < 1.0).any():  # targets are the arms themselves, and are not to be scaled with them
            arms, scales = scaled(arms, roots), scales * np.where(roots > 0, roots, 1.0)
        targets = design.targets(share, wanted, np.where(wanted, scales, 1.0))
        return _Posed(arms, targets, _ridge(view, cost, float((model.deviations**2 * cost).min())), differing)


def _ridge(view: View, cost: Array, effort: float) -> float:
    """gamma for one of N measurements, R^2 sigma^2 / N: the ball ||theta|| <= 1 beside an ellipsoid of radius R.

    ``effort`` is sigma^2 cost of a measurement where that is least.
    """
    spent = float(view.begun @ cost) + view.samples() * float(cost.mean())
    return RADIUS**2 * effort / spent


def _wanted(view: View, values: Array, failing: Mask) -> Mask:
    """The directions to aim at; all that are not zero where no other is left."""
    reached = view.belief.linear.features.reached(view.goal.share)
    if failing.any():
        reached = reached & ~(failing if reached.ndim == 1 else np.logical_or.outer(failing, failing))
    wanted = view.goal.needed(view.undecided & reached, values) & reached
    return wanted if wanted.any() else reached


def _aims(view: View, values: Array, wanted: Mask) -> Array:
    """How well to know each direction."""
    bounds = view.belief.bounds(view.goal.share)
    half = (bounds.upper - bounds.lower) / 2
    if not np.isfinite(half).all():
        return np.ones_like(half)  # as long as nothing limits f, all count alike
    aims = np.maximum(view.goal.gaps(values, view.reading.labels) + view.problem.tolerance, WIDTH * half)
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
    counts = view.belief.counts
    failing = np.bincount(view.failed, minlength=len(counts)) > GIVEN_UP * (counts + 1)
    return np.asarray(failing & ~failing.all())
