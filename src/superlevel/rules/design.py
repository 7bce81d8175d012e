"""The paper's rule, the optimal design for the undecided directions; and the one for the average of all points."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from superlevel import design
from superlevel.arrays import Array, Mask, normalised
from superlevel.features import Features, tolerance
from superlevel.goals import FractionOfMax, Goal, Threshold
from superlevel.linalg import inner, squared_norms
from superlevel.records import Choice, View
from superlevel.rules.variance import Weights

RANK = 400  # features of the posterior that a design may have: it is to take less than a second
ROOT = 1e-5  # of the largest sigma sqrt(c): a measurement without noise is worth no more than with this
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
        ridge = self.ridge / phase if self.shrinking else self.ridge
        arms, scales = self.features, None
        if self.worth is not None:
            arms, scales = self.worth.scaled(arms), self.worth.roots
        wanted = targets(self.goal, undecided, scales)
        return design.solve(arms, wanted, ridge=ridge, rtol=self.rtol, start=start)

    def choose(self, view: View) -> Choice:
        """As many draws from lambda_t as the phase takes."""
        found = self.aim(view.undecided, phase=view.phase, start=view.start)
        return _drawn(found, view, self.worth)


@dataclass(frozen=True, kw_only=True, eq=False)
class AverageRule:
    """lambda = argmin over designs of the expected mislabelling that a batch of b measurements leaves.

    With the posterior's own features, Sigma = Phi Phi', and b measurements shared out by lambda, the variances are

        (sigma^2 / b) phi(x)' A^-1 phi(x),    A = sum_x lambda_x phi(x) phi(x)' + (sigma^2 / b) I,

    and their sum, each weighted by how likely the point is mislabelled, is what is minimised: TruVar for a batch, all
    at once instead of one after the other, with a certificate.
    """

    weights: Weights
    noise: Array
    """(n,) variances of a measurement."""
    rtol: float
    worth: Worth | None = None

    def choose(self, view: View) -> Choice:
        posterior = view.posterior
        assert posterior is not None
        total = view.sizes.samples(view.phase, np.nan, int(np.count_nonzero(view.undecided)))
        ridge = float(self.noise.min()) / total
        features = posterior.features(tol=tolerance(ridge, self.rtol), max_rank=RANK)
        mixture, _ = self.weights.at(view)
        arms, scales = features, None
        if self.worth is not None:
            arms, scales = self.worth.scaled(features), self.worth.roots
        found = design.solve(
            arms, design.Subset(scales=scales), ridge=ridge, rtol=self.rtol, mixture=mixture, start=view.start
        )
        return _drawn(found, view, self.worth)


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

    def scaled(self, features: Features) -> Features:
        """The arms of a design."""
        return replace(
            features, array=features.array * self.roots[:, None], residuals=features.residuals * self.roots**2
        )


def worth(noise: float | Array, cost: float | Array, n: int) -> Worth | None:
    """None where all points are alike."""
    spent = np.broadcast_to(noise * np.sqrt(cost), n)
    if np.ptp(spent) == 0 and np.ptp(np.broadcast_to(cost, n)) == 0:
        return None
    least = np.maximum(spent, ROOT * spent.max())
    return Worth(roots=least.min() / least, cost=np.broadcast_to(cost, n))


def _drawn(found: design.Design, view: View, worth: Worth | None) -> Choice:
    """Draws from a design; where measurements differ in cost, from the numbers of them that its money buys."""
    weights = found.weights if worth is None else normalised(found.weights / worth.cost)
    total = view.sizes.samples(view.phase, found.value, int(np.count_nonzero(view.undecided)))
    return Choice(weights=weights, counts=design.draw(weights, total, rng=view.rng), certificate=found)


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
