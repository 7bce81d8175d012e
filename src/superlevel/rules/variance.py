"""Rules that look at variances alone: the widest interval, and TruVar's largest drop of the undecided points' variance.

After a measurement at x the variance of another point y falls by

    sigma^2(y) - sigma^2_{|x}(y) = Sigma(y, x)^2 / (sigma^2(x) + sigma_x^2),       sigma_x^2 the noise there,

so TruVar's sum over y is q(x) / (sigma^2(x) + sigma_x^2) with q(x) = sum_y w_y Sigma(y, x)^2, w_y = 1 for undecided
points, divided by the cost of x (Bogunovic et al. 2016, NeurIPS; as in the paper's experiments, without the levels at
which TruVar itself truncates variances). When x is planned, with row c = Sigma(x, .) / sqrt(sigma^2(x) + sigma_x^2), q
need not be summed again:

    q <- q - 2 c o (Sigma (w o c)) + (c' (w o c)) c o c.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Protocol

import numpy as np

from superlevel import design
from superlevel.arrays import Array, Indices, normalised
from superlevel.posterior import GaussianPosterior, Planned
from superlevel.records import View
from superlevel.rules.sequential import Unchanging

EXACT = 2**22  # covariances of which a sum over points takes all;
TARGETS = 256  # beyond, so many points stand for all
PAIRS = 2**25  # covariances of which rules that evaluate more than a square take all;
SAMPLED = 2**22  # beyond, so many are sampled
LOST = 1e-4  # of what it was: q that fell by more is summed again, because what was taken off leaves its rounding
SAMPLING = 2  # sets the sample's random numbers apart from those of draws and of measurements


@dataclass(frozen=True)
class Widest:
    """LSE-imp's rule: the widest interval among what is undecided or may be the maximum."""

    def begin(self, view: View) -> _Wide:
        return _Wide(view=view)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Wide(Unchanging):
    view: View

    def scores(self, posterior: GaussianPosterior) -> Array:
        ends = self.view.belief.model.ends(posterior)
        return np.where(self.view.undecided, ends.upper - ends.lower, -np.inf)


@dataclass(frozen=True)
class LargestVariance(Unchanging):
    """The largest variance, wherever it is."""

    def begin(self, _view: View, /) -> LargestVariance:
        return self

    def scores(self, posterior: GaussianPosterior) -> Array:
        return posterior.variance


class Weights(Protocol):
    """How much the variance of each point matters."""

    def at(self, view: View) -> tuple[Array, Array]:
        """w (n,), and the variance (n,) that each point has beside what the kernel explains."""
        ...


@dataclass(frozen=True)
class Undecided:
    """TruVar's: every undecided point alike."""

    def at(self, view: View) -> tuple[Array, Array]:
        weights = view.undecided.astype(np.float64)
        return weights, np.zeros(len(weights))


@dataclass(frozen=True)
class Mislabelled:
    """Points that may well be on the other side of the level, and a part of f that the kernel does not explain.

    h = |mu - level| / s is how many deviations a point is from the level, and w = (1 + h^2)^-3 stands for how likely it
    is mislabelled: near the level it falls somewhat faster than that probability, and far from it like a power, because
    normal tails would stake everything on the kernel being right. What the prediction errors show beyond the kernel,
    `rough`, is a variance of each point by itself: s^2 = sigma^2 + rough, and measuring x tells all of its own rough
    part and nothing of its neighbours'. Where predictions are as good as the kernel says, it is zero.
    """

    def at(self, view: View) -> tuple[Array, Array]:
        model = view.belief.model
        variance = np.square(model.spread)
        near = [share * close(gap, variance) for share, gap in view.goal.critical(model.centre)]
        return reduce(np.maximum, near), model.rough


@dataclass(frozen=True)
class Doubtful:
    """The same points, each by the relative drop of its variance: w / s^2.

    If measurements take the part r off the variance of a point, the expected value of p (1 - p), p its probability of
    being above the level, falls by r exp(-h^2) / 2 pi for small r: in proportion to the relative drop.
    `superlevel.rules.excursion` has the formula for any r. Mislabelled's w takes the place of exp(-h^2).
    """

    def at(self, view: View) -> tuple[Array, Array]:
        weights, rough = Mislabelled().at(view)
        return _relative(weights, view), rough


@dataclass(frozen=True)
class Undeclared:
    """Points whose interval contains the level, each by the relative drop of its variance: 1 / s^2.

    A point is declared once it is beta^1/2 deviations from the level. A measurement that takes the part r off its
    variance moves it from h to h (1 - r)^-1/2 deviations, so that relative drops count, and not absolute ones.
    """

    def at(self, view: View) -> tuple[Array, Array]:
        model = view.belief.model
        reach = model.width * model.spread
        contained = [np.where(np.abs(gap) < reach, share, 0.0) for share, gap in view.goal.critical(model.centre)]
        weights = reduce(np.maximum, contained)
        if not weights.any():  # nothing is open: every point may show that the belief is wrong
            weights = np.ones_like(reach)
        return _relative(weights, view), model.rough


def _relative(weights: Array, view: View) -> Array:
    """Weights (n,) over the variance that the posterior's kernel and the rough part leave at each point."""
    variance = view.posterior.variance + view.belief.model.rough
    return np.divide(weights, variance, out=np.zeros_like(variance), where=variance > 0)


def close(gap: Array, variance: Array) -> Array:
    """(1 + gap^2 / variance)^-3, without dividing by zero."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        growing = 1 + gap**2 / variance
        weights = 1 / (growing * growing * growing)  # ten times as fast as a power
    return np.where(variance > 0, weights, 0.0)


@dataclass(frozen=True, kw_only=True)
class VarianceReduction:
    """The largest drop of the points' weighted variance for each unit of cost."""

    weights: Weights

    def begin(self, view: View) -> _Summed | _Sampled:
        posterior = view.posterior
        weights, rough = self.weights.at(view)
        own = _Own(weights=weights, rough=rough, cost=view.problem.cost)
        weights = weights * view.standing
        sizes = weights * posterior.variance
        if posterior.covariance.at_hand and np.count_nonzero(sizes) * len(sizes) <= EXACT:
            sums = posterior.covariance.squares(weights)
            return _Summed(own=own, weights=weights, sums=sums, largest=float(sums.max()))
        targets, shares = sampled(sizes, TARGETS, view.rng(SAMPLING))
        shares *= weights[targets]
        return _Sampled(own=own, weights=shares, targets=targets, columns=posterior.covariance.columns(targets))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Own:
    """What a point's own rough part adds to its score."""

    weights: Array
    rough: Array
    cost: Array | float

    def scores(self, sums: Array, posterior: GaussianPosterior) -> Array:
        """(q + w ((sigma^2 + rough)^2 - sigma^4)) / (sigma^2 + rough + noise) / cost"""
        variance, rough = posterior.variance, self.rough
        gained = np.maximum(sums, 0.0) + self.weights * rough * (2 * variance + rough)
        return np.asarray(gained / ((variance + rough + posterior.noise) * self.cost))

    def after(self, before: GaussianPosterior, planned: Planned) -> _Own:
        x = int(planned.points[0])
        if not self.rough[x]:
            return self
        rough = self.rough.copy()
        rough[x] = 1 / (1 / rough[x] + 1 / before.noise[x])
        return replace(self, rough=rough)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Summed:
    """q over all points."""

    own: _Own
    weights: Array
    sums: Array
    """q (n,)"""
    largest: float
    """Of q, when it was last summed."""

    def scores(self, posterior: GaussianPosterior) -> Array:
        return self.own.scores(self.sums, posterior)

    def after(self, before: GaussianPosterior, planned: Planned) -> _Summed:
        (row,) = planned.rows
        weighted = self.weights * row
        sums = self.sums - row * (2 * before.covariance.times(weighted) - float(row @ weighted) * row)
        largest = self.largest
        if sums.max() < LOST * largest:
            sums = planned.after.covariance.squares(self.weights)
            largest = float(sums.max())
        return replace(self, own=self.own.after(before, planned), sums=sums, largest=largest)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sampled:
    """q over a sample of points, where all pairs would be too many."""

    own: _Own
    weights: Array
    """(m,) with which the sample stands for all."""
    targets: Indices
    """(m,)"""
    columns: Array
    """(m, n) their covariances."""

    def scores(self, posterior: GaussianPosterior) -> Array:
        sums = np.einsum("jx,jx,j->x", self.columns, self.columns, self.weights, optimize=False)
        return self.own.scores(sums, posterior)

    def after(self, before: GaussianPosterior, planned: Planned) -> _Sampled:
        (row,) = planned.rows
        columns = self.columns - row[self.targets, None] * row
        return replace(self, own=self.own.after(before, planned), columns=columns)


def sampled(sizes: Array, count: int, rng: np.random.Generator) -> tuple[Indices, Array]:
    """About ``count`` positions, each with a chance in proportion to its size, and 1 / expected number of hits.

    A sum over the sample, with these factors, has the sum over everything for its mean. If no more than ``count``
    positions have a size, the sample is all of them.
    """
    if np.count_nonzero(sizes) <= count:
        chosen = np.flatnonzero(sizes)
        return chosen, np.ones(len(chosen))
    chances = normalised(sizes)
    hits = design.systematic(chances, count, rng=rng)
    chosen = np.flatnonzero(hits)
    return chosen, hits[chosen] / (count * chances[chosen])
