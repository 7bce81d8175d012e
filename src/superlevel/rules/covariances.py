"""Designs on the covariances of the points themselves, where no few features of the prior stand for them.

phi phi' = covariance (m, m) by its eigenvectors: m features that miss nothing. Of more than 500 points a sample takes
part, and the certificate is for designs on the sample.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from superlevel import design
from superlevel.arrays import Array, Indices
from superlevel.domain import Domain
from superlevel.features import Features, tolerance
from superlevel.linalg import squared_norms
from superlevel.records import Choice, View
from superlevel.rules.chance import Chance
from superlevel.rules.design import Worth, numbers, scaled
from superlevel.rules.variance import SAMPLING, Weights, sampled

CANDIDATES = 500  # points that take part: a design is to take less than a second


@dataclass(frozen=True, kw_only=True, eq=False)
class AverageRule:
    """lambda = argmin over designs of the weighted variance that a batch of b measurements leaves.

    With the posterior's own features, Sigma = Phi Phi', and b measurements shared out by lambda, the variances are

        (sigma^2 / b) phi(x)' A^-1 phi(x),    A = sum_x lambda_x phi(x) phi(x)' + (sigma^2 / b) I,

    and their sum, each weighted by how likely the point is mislabelled, is what is minimised: TruVar for a batch, all
    at once instead of one after the other, with a certificate. In a sample each point has a chance in proportion to
    what it contributes to the sum.
    """

    weights: Weights
    noise: Array
    """(n,) variances of a measurement."""
    rtol: float
    worth: Worth | None = None

    def choose(self, view: View) -> Choice:
        posed = self._posed(view)
        if posed is None:
            return Chance().choose(view)  # all is known that these points can tell
        among, mixture = posed
        n = len(view.undecided)
        start = view.start if len(among.points) == n else None
        found = among.solve(n, rtol=self.rtol, mixture=mixture, start=start)
        weights = numbers(found, self.worth)
        counts = design.systematic(weights, view.total, rng=view.rng())
        return Choice(weights=weights, counts=counts, certificate=found)

    def certify(self, view: View, found: design.Design) -> float:
        """The lower bound of a design that was chosen in this view, recomputed without any solver."""
        posed = self._posed(view)
        if posed is None:
            return 0.0
        among, mixture = posed
        return among.certify(found.weights, mixture, rtol=self.rtol)  # this average, whichever the design says it is of

    def appraise(self, view: View, found: design.Design) -> float:
        """The value of such a design, recomputed, but for what the features miss."""
        posed = self._posed(view)
        return 0.0 if posed is None else posed[0].appraise(found.weights, rtol=self.rtol, mixture=posed[1])

    def _posed(self, view: View) -> tuple[_Among, Array] | None:
        """The points that take part, and the weights of their variances; None where nothing is left to learn."""
        # The noise where a unit of money buys most: there the batch will be.
        best = int(np.argmin(self.noise) if self.worth is None else np.argmax(self.worth.roots))
        posterior, ridge = view.known, float(self.noise[best]) / view.total
        mixture, _ = self.weights.at(view)
        if not (mixture * posterior.variance).any():
            return None
        chosen = np.arange(len(mixture))
        if len(mixture) > CANDIDATES:
            chosen, shares = sampled(mixture * posterior.variance, CANDIDATES, view.rng(SAMPLING))
            mixture = mixture[chosen] * shares
        covariance = posterior.columns(chosen)[:, chosen]
        return _Among(points=chosen, covariance=covariance, worth=self.worth, ridge=ridge), mixture


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledWorst:
    """Batched MELK's design for a rough kernel: undecided points, or a sample of them, are both arms and targets."""

    domain: Domain
    ridge: float
    """gamma of the first batch."""
    rtol: float
    shrinking: bool
    """Whether gamma falls like 1 / i with the i-th design."""
    worth: Worth | None = None

    def choose(self, view: View) -> Choice:
        among = self._posed(view)
        if not among.covariance.any():
            return Chance().choose(view)
        found = among.solve(len(view.undecided), rtol=self.rtol)
        weights = numbers(found, self.worth)
        return Choice(weights=weights, counts=design.draw(weights, view.total, rng=view.rng()), certificate=found)

    def certify(self, view: View, found: design.Design) -> float:
        """The lower bound of a design that was chosen in this view, recomputed without any solver."""
        among = self._posed(view)
        return among.certify(found.weights, found.dual[among.points], rtol=self.rtol)

    def appraise(self, view: View, found: design.Design) -> float:
        """The value of such a design, recomputed."""
        return self._posed(view).appraise(found.weights, rtol=self.rtol)

    def _posed(self, view: View) -> _Among:
        """The points that take part."""
        chosen = np.flatnonzero(view.undecided)
        if len(chosen) > CANDIDATES:
            chosen, _ = sampled(view.undecided.astype(np.float64), CANDIDATES, view.rng(SAMPLING))
        ridge = self.ridge / view.phase if self.shrinking else self.ridge
        return _Among(points=chosen, covariance=self.domain.gram(chosen), worth=self.worth, ridge=ridge)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Among:
    """Some of n points, as arms and as targets."""

    points: Indices
    """(m,)"""
    covariance: Array
    """(m, m)"""
    worth: Worth | None
    ridge: float

    def solve(
        self, n: int, *, rtol: float, mixture: Array | None = None, start: design.Design | None = None
    ) -> design.Design:
        """The best design on these points, as one on all n."""
        arms, wanted = self._targets(rtol)
        found = design.solve(arms, wanted, ridge=self.ridge, rtol=rtol, mixture=mixture, start=start)
        weights, dual = np.zeros(n), np.zeros(n)
        weights[self.points], dual[self.points] = found.weights, found.dual
        return replace(found, weights=weights, dual=dual)

    def certify(self, weights: Array, mixture: Array, *, rtol: float) -> float:
        """The lower bound that a design on all n points and a mixture (m,) of these prove."""
        arms, wanted = self._targets(rtol)
        return design.certify(arms, wanted, weights[self.points], mixture, ridge=self.ridge)

    def appraise(self, weights: Array, *, rtol: float, mixture: Array | None = None) -> float:
        """The value of a design on all n points, for these."""
        arms, wanted = self._targets(rtol)
        return design.appraise(arms, wanted, weights[self.points], ridge=self.ridge, mixture=mixture)

    def _targets(self, rtol: float) -> tuple[Features, design.Subset]:
        arms = _root(self.covariance, tolerance(self.ridge, rtol))
        wanted = design.Subset(mask=arms.array.any(axis=1))
        if self.worth is None:
            return arms, wanted
        scales = self.worth.roots[self.points]
        return scaled(arms, scales), replace(wanted, scales=scales)


def _root(covariance: Array, tol: float) -> Features:
    """phi (m, r) with phi phi' = covariance (m, m), without what adds less than ``tol`` to any variance."""
    sizes, axes = eigh(covariance)
    kept = sizes > min(tol, 0.5 * float(sizes[-1]))
    array = axes[:, kept] * np.sqrt(sizes[kept])
    residuals = np.maximum(np.diag(covariance) - squared_norms(array), 0.0)
    return Features(array=np.ascontiguousarray(array), residuals=residuals, pivots=np.empty(0, dtype=np.int64))
