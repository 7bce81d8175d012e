"""The distribution of f at every point: a mixture of Student's t, each of some transform of f.

Probabilities and quantiles are those of the mixture, so intervals are wide while kernels and transforms disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from superlevel import passes
from superlevel.arrays import Array, Indices
from superlevel.averaging.warps import Warp

STEPS = 20  # of the search for a quantile
CLOSE = 1e-6  # deviations from the wanted probability at which Newton needs no help
ENDING = 1e-4  # deviations from the wanted probability after which one more step of Newton ends the search
PORTION = 2**14  # points whose quantiles are searched for together: the search ends with the slowest of them
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

    def below(self, values: Array | float, scale: Array | float = 1.0) -> Array:
        """(n,) weight times the probability of less than a value, with deviations multiplied by ``scale``."""
        return np.asarray(self.weights @ ndtr(self.deviates(values, scale)))

    def density(self, values: Array, scale: Array | float = 1.0) -> Array:
        """(n,) the derivative of `below`, up to a factor 1 / sqrt(2 pi)."""
        wide = scale * self.deviations
        t = (values - self.means) / wide
        heights = np.exp(-0.5 * np.square(normal(t, self.freedom))) * normal_slope(t, self.freedom)
        return np.asarray(self.weights @ (heights / wide))

    def deviates(self, values: Array | float, scale: Array | float) -> Array:
        """(m, n) as normal deviates."""
        return normal((values - self.means) / (scale * self.deviations), self.freedom)

    def quantiles(self, probability: float, scale: Array | float = 1.0) -> Array:
        """(m, n) of each member."""
        return np.asarray(self.means + scale * self.deviations * student(float(ndtri(probability)), self.freedom))

    def moments(self) -> tuple[Array, Array]:
        """(n,) the mean of all members together, and their deviation."""
        shares = self.weights / self.weights.sum()
        mean = shares @ self.means
        return mean, np.sqrt(shares @ (np.square(self.deviations) + np.square(self.means - mean)))

    def at(self, points: Indices | slice) -> Prediction:
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

    def at(self, points: Indices | slice) -> Predictive:
        """The same for some of the points only."""
        return Predictive(parts=tuple((warp, part.at(points)) for warp, part in self.parts))

    def below(self, values: Array | float, scale: Array | float = 1.0) -> Array:
        """(n,) the probability that f is below a value, with all deviations multiplied by ``scale``."""
        return self._by_portions(_below, values, scale)

    def quantile(self, probability: float, scale: Array | float = 1.0) -> Array:
        """(n,) the value that f is below with this probability."""
        return self.reference.inverse(self._quantile(probability, scale))

    def spread(self) -> tuple[Array, Array]:
        """(n,) the median, and half of the distance between the quantiles of one deviation, both transformed."""
        low, middle, high = (self._quantile(chance, 1.0) for chance in (ONE_DEVIATION, 0.5, 1.0 - ONE_DEVIATION))
        return middle, 0.5 * (high - low)

    def _quantile(self, probability: float, scale: Array | float) -> Array:
        """(n,) transformed."""
        return self._by_portions(_searched, probability, scale)

    def _by_portions(self, function: Callable[..., Array], value: Array | float, scale: Array | float) -> Array:
        """(n,) a function of the prediction, a value and the scale, for some thousand points at a time."""
        n = self.parts[0][1].means.shape[1]
        if n <= PORTION:
            return function(self, value, scale)
        starts = range(0, n, PORTION)
        jobs = (
            _Portion(
                function=function,
                prediction=self.at(slice(start, start + PORTION)),
                value=value[start : start + PORTION] if isinstance(value, np.ndarray) and value.ndim else value,
                scale=scale[start : start + PORTION] if isinstance(scale, np.ndarray) and scale.ndim else scale,
            )
            for start in starts
        )
        # A job of 2 MB takes a twentieth of a second: it is not worth its way to another machine.
        return np.concatenate(list(passes.over(jobs, _Portion.done, total=len(starts), here=True)))

    def below_of_all(self, values: Array | float, scale: Array | float) -> Array:
        """`below`, at once."""
        return np.asarray(sum(part.below(warp(values), scale) for warp, part in self.parts))

    def search(self, probability: float, scale: Array | float) -> Array:
        """(n,) quantiles by Newton's method within a bracket, which is halved where Newton gains too little.

        On the probit scale a distribution function is nearly straight, also far out in its tails.
        """
        wanted = float(ndtri(probability))
        each = np.concatenate([self._moved(warp, part.quantiles(probability, scale)) for warp, part in self.parts])
        low, high = each.min(axis=0), each.max(axis=0)
        guess = np.clip(np.concatenate([part.weights for _, part in self.parts]) @ each, low, high)
        before = np.full(len(guess), np.inf)
        for _ in range(STEPS if len(each) > 1 else 1):
            values = self.reference.inverse(guess)
            reached = probit(self.below_of_all(values, scale))
            off = reached - wanted
            high, low = np.where(off > 0, guess, high), np.where(off > 0, low, guess)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                newton = guess - off * np.exp(-0.5 * reached**2) / self._density(values, scale)
            gained = np.abs(off) <= np.maximum(0.5 * before, CLOSE)
            good = (newton >= low) & (newton <= high) & gained
            guess, before = np.where(good, newton, 0.5 * (low + high)), np.abs(off)
            if (good & (before <= ENDING)).all():  # this step squared what was left
                break
        return np.asarray(guess)

    def _moved(self, warp: Warp, transformed: Array) -> Array:
        """From the units of one transform to those of the first."""
        return transformed if warp is self.reference else self.reference(warp.inverse(transformed))

    def _density(self, values: Array, scale: Array | float) -> Array:
        """(n,) the derivative of `below` by the transformed value."""
        own = self.reference.slopes(values)
        return np.asarray(
            sum(part.density(warp(values), scale) * (warp.slopes(values) / own) for warp, part in self.parts)
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Portion:
    """A function of the prediction of some points."""

    function: Callable[..., Array]
    prediction: Predictive
    value: Array | float
    scale: Array | float

    key: ClassVar[None] = None

    def done(self) -> Array:
        return self.function(self.prediction, self.value, self.scale)


def _below(prediction: Predictive, values: Array | float, scale: Array | float) -> Array:
    return prediction.below_of_all(values, scale)


def _searched(prediction: Predictive, probability: float, scale: Array | float) -> Array:
    return prediction.search(probability, scale)


def normal(t: Array, freedom: float) -> Array:
    """The normal deviates z that are exceeded as often as t (Wallace 1959, Ann. Math. Statist. 30:1124).

    z = c sqrt(nu log(1 + t^2 / nu)), c = (8 nu + 1) / (8 nu + 3), for nu degrees of freedom. The probability is off by
    at most about 0.012 / nu^2.
    """
    if np.isinf(freedom):
        return t
    with np.errstate(over="ignore"):
        root = _factor(freedom) * np.sqrt(freedom * np.log1p(t * t / freedom))
    return np.asarray(np.copysign(root, t))


def normal_slope(t: Array, freedom: float) -> Array | float:
    """dz / dt of `normal`."""
    if np.isinf(freedom):
        return 1.0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratio = t * t / freedom
        slopes = np.sqrt(ratio / np.log1p(ratio)) / (1.0 + ratio)
    return np.asarray(_factor(freedom) * np.where(ratio > 0, np.nan_to_num(slopes), 1.0))


def student(z: float, freedom: float) -> float:
    """The t of `normal`."""
    if np.isinf(freedom):
        return z
    with np.errstate(over="ignore"):
        return float(np.copysign(np.sqrt(freedom * np.expm1((z / _factor(freedom)) ** 2 / freedom)), z))


def _factor(freedom: float) -> float:
    return (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0)


def probit(chances: Array) -> Array:
    """Normal deviates of probabilities; rounding may leave a sum of weights a little above 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.clip(ndtri(np.clip(chances, 0.0, 1.0)), -FARTHEST, FARTHEST))
