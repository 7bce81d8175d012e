"""The distribution of f at every point: a mixture of Student's t, each of some transform of f.

Probabilities and quantiles are those of the mixture, so intervals are wide while kernels and transforms disagree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from superlevel.arrays import Array, Indices
from superlevel.averaging.warps import Warp

STEPS = 12  # of the search for a quantile
FARTHEST = 8.0  # deviations: what is beyond has no probability that a float can tell from 0
ONE_DEVIATION = float(ndtr(-1.0))


@dataclass(frozen=True, kw_only=True, eq=False)
class Prediction:
    """A transform of f at n points by each of m members."""

    weights: Array
    """(m,)"""
    means: Array
    """(m, n)"""
    deviations: Array
    """(m, n) scale of Student's t."""
    freedom: float
    """Degrees of freedom; infinite for the normal distribution."""

    def below(self, values: Array | float, scale: float = 1.0) -> Array:
        """(n,) weight times the probability of less than a value, with deviations multiplied by ``scale``."""
        return np.asarray(self.weights @ ndtr(self.deviates(values, scale)))

    def density(self, values: Array, scale: float = 1.0) -> Array:
        """(n,) the derivative of `below`, up to a factor 1 / sqrt(2 pi)."""
        heights = np.exp(-0.5 * np.square(self.deviates(values, scale))) / (scale * self.deviations)
        return np.asarray(self.weights @ heights)

    def deviates(self, values: Array | float, scale: float) -> Array:
        """(m, n) as normal deviates."""
        return normal((values - self.means) / (scale * self.deviations), self.freedom)

    def quantiles(self, probability: float, scale: float = 1.0) -> Array:
        """(m, n) of each member."""
        deviate = ndtri(probability) if np.isinf(self.freedom) else stdtrit(self.freedom, probability)
        return np.asarray(self.means + scale * self.deviations * float(deviate))

    def at(self, points: Indices) -> Prediction:
        """The same for some of the points only."""
        return replace(self, means=self.means[:, points], deviations=self.deviations[:, points])


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictive:
    """f at n points, in the units of the measurements. The weights of all parts together sum up to 1."""

    parts: tuple[tuple[Warp, Prediction], ...]
    """The first has the largest weight."""

    @property
    def reference(self) -> Warp:
        """The transform in whose units quantiles are searched for."""
        return self.parts[0][0]

    def at(self, points: Indices) -> Predictive:
        """The same for some of the points only."""
        return Predictive(parts=tuple((warp, part.at(points)) for warp, part in self.parts))

    def below(self, values: Array | float, scale: float = 1.0) -> Array:
        """(n,) the probability that f is below a value, with all deviations multiplied by ``scale``."""
        return np.asarray(sum(part.below(warp(values), scale) for warp, part in self.parts))

    def quantile(self, probability: float, scale: float = 1.0) -> Array:
        """(n,) the value that f is below with this probability."""
        return self.reference.inverse(self._quantile(probability, scale))

    def spread(self) -> tuple[Array, Array]:
        """(n,) the median, and half of the distance between the quantiles of one deviation, both transformed."""
        low, middle, high = (self._quantile(chance, 1.0) for chance in (ONE_DEVIATION, 0.5, 1.0 - ONE_DEVIATION))
        return middle, 0.5 * (high - low)

    def _quantile(self, probability: float, scale: float) -> Array:
        """(n,) transformed, by Newton's method within a bracket.

        On the probit scale a distribution function is nearly straight, also far out in its tails.
        """
        wanted = float(ndtri(probability))
        each = np.concatenate([self._moved(warp, part.quantiles(probability, scale)) for warp, part in self.parts])
        low, high = each.min(axis=0), each.max(axis=0)
        guess = np.concatenate([part.weights for _, part in self.parts]) @ each
        for _ in range(STEPS if len(each) > 1 else 1):
            values = self.reference.inverse(guess)
            reached = probit(self.below(values, scale))
            high, low = np.where(reached > wanted, guess, high), np.where(reached > wanted, low, guess)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                slope = self._density(values, scale) / np.exp(-0.5 * reached**2)
                guess = guess - (reached - wanted) / slope
            guess = np.where((guess >= low) & (guess <= high), guess, 0.5 * (low + high))
        return np.asarray(guess)

    def _moved(self, warp: Warp, transformed: Array) -> Array:
        """From the units of one transform to those of the first."""
        return transformed if warp is self.reference else self.reference(warp.inverse(transformed))

    def _density(self, values: Array, scale: float) -> Array:
        """(n,) the derivative of `below` by the transformed value."""
        own = self.reference.slopes(values)
        return np.asarray(
            sum(part.density(warp(values), scale) * (warp.slopes(values) / own) for warp, part in self.parts)
        )


def normal(t: Array, freedom: float) -> Array:
    """The normal deviates that are exceeded as often as t (Wallace 1959, Ann. Math. Statist. 30:1124)."""
    if np.isinf(freedom):
        return t
    root = np.sqrt(freedom * np.log1p(t * t / freedom)) * ((8 * freedom + 1) / (8 * freedom + 3))
    return np.asarray(np.copysign(root, t))


def probit(chances: Array) -> Array:
    """Normal deviates of probabilities."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.clip(ndtri(chances), -FARTHEST, FARTHEST))
