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
from superlevel.features import Features, tolerance
from superlevel.linalg import squared_norms
from superlevel.records import Choice, View
from superlevel.rules.chance import Chance
from superlevel.rules.protocol import DesignRule, Rule
from superlevel.rules.variance import SAMPLING, Mislabelled, sampled
from superlevel.rules.worth import Worth, numbers, scaled, worth

CANDIDATES = 500  # points that take part: a design is to take less than a second


@dataclass(frozen=True, kw_only=True)
class AverageCase(DesignRule):
    """lambda = argmin over designs of the weighted variance that a batch of b measurements leaves.

    With the posterior's own features, Sigma = Phi Phi', and b measurements shared out by lambda, the variances are

        (sigma^2 / b) phi(x)' A^-1 phi(x),    A = sum_x lambda_x phi(x) phi(x)' + (sigma^2 / b) I,

    and their sum, each weighted by how likely the point is mislabelled, is what is minimised: TruVar for a batch, all
    at once instead of one after the other, with a certificate. In a sample each point has a chance in proportion to
    what it contributes to the sum.
    """

    def choose(self, view: View) -> Choice:
        posed = self._posed(view)
        if posed is None:
            return Chance().choose(view)  # all is known that these points can tell
        among, mixture = posed
        start = view.start if len(among.points) == view.n else None
        found = among.solve(view.n, rtol=self.rtol, mixture=mixture, start=start)
        weights = numbers(found, among.worth)
        counts = design.systematic(weights, view.samples(), rng=view.rng())
        return Choice(weights=weights, counts=counts, certificate=found)

    def review(self, view: View, found: design.Design, /) -> design.Review:
        """Of this average, whichever the design says it is of."""
        posed = self._posed(view)
        if posed is None:
            return design.Review(value=0.0, lower_bound=0.0)
        among, mixture = posed
        return among.review(found.weights, mixture, rtol=self.rtol, mixture=mixture)

    def _posed(self, view: View) -> tuple[_Among, Array] | None:
        """The points that take part, and the weights of their variances; None where nothing is left to learn."""
        differing = worth(view.problem.known_noise, view.problem.cost, view.n)
        # The noise where a unit of money buys most: there the batch will be.
        noise = view.posterior.noise
        best = int(np.argmin(noise) if differing is None else np.argmax(differing.roots))
        posterior, ridge = view.planned, float(noise[best]) / view.samples()
        mixture, _ = Mislabelled().at(view)
        mixture = mixture * view.standing
        if not (mixture * posterior.variance).any():
            return None
        chosen = np.arange(len(mixture))
        if len(mixture) > CANDIDATES:
            chosen, shares = sampled(mixture * posterior.variance, CANDIDATES, view.rng(SAMPLING))
            mixture = mixture[chosen] * shares
        covariance = posterior.columns(chosen)[:, chosen]
        return _Among(points=chosen, covariance=covariance, worth=differing, ridge=ridge), mixture


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledWorst(Rule):
    """Batched MELK's design for a rough kernel: undecided points, or a sample of them, are both arms and targets."""

    ridge: float
    """gamma of this batch."""
    rtol: float
    worth: Worth | None = None

    def choose(self, view: View) -> Choice:
        among = self._posed(view)
        if not among.covariance.any():
            return Chance().choose(view)
        found = among.solve(view.n, rtol=self.rtol)
        weights = numbers(found, self.worth)
        counts = design.draw(weights, view.samples(), rng=view.rng())
        return Choice(weights=weights, counts=counts, certificate=found)

    def review(self, view: View, found: design.Design, /) -> design.Review:
        among = self._posed(view)
        return among.review(found.weights, found.dual[among.points], rtol=self.rtol)

    def _posed(self, view: View) -> _Among:
        """The points that take part."""
        chosen = np.flatnonzero(view.undecided)
        if len(chosen) > CANDIDATES:
            chosen, _ = sampled(view.undecided.astype(np.float64), CANDIDATES, view.rng(SAMPLING))
        covariance = view.problem.domain.gram(chosen)
        return _Among(points=chosen, covariance=covariance, worth=self.worth, ridge=self.ridge)


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

    def review(self, weights: Array, dual: Array, *, rtol: float, mixture: Array | None = None) -> design.Review:
        """The value of a design on all n points for these, and the lower bound that it proves with a dual (m,)."""
        arms, wanted = self._targets(rtol)
        return design.review(arms, wanted, weights[self.points], dual, ridge=self.ridge, mixture=mixture)

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
