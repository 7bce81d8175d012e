"""What a measurement at x tells of the label of a point j: the two numbers that look-ahead rules sum over points.

    a_j  = (mu_j - alpha) / sigma_j                              how many deviations f_j is from the level
    r_jx = Sigma_jx / (sigma_j sqrt(sigma_x^2 + noise_x))        the correlation of f_j with a measurement at x

A measurement y at x leaves sigma_j^2 (1 - r^2) of the variance and moves the mean by sigma_j r Z, Z ~ N(0, 1), so that

    P(f_j > alpha | y) = Phi((a_j + r_jx Z) / sqrt(1 - r_jx^2)).

Sums over all pairs (j, x) are too many for large domains: then a sample of the points j stands for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from superlevel.arrays import Array, Indices
from superlevel.linalg import transposed_times
from superlevel.posterior import GaussianPosterior
from superlevel.records import View
from superlevel.rules.sequential import Unchanging
from superlevel.rules.variance import SAMPLED, SAMPLING, sampled

NEGLIGIBLE = 1e-12  # of the largest: a point that can contribute no more takes no part


@dataclass(frozen=True, kw_only=True, eq=False)
class Targets:
    """The points j of a sum."""

    points: Indices
    """(m,)"""
    shares: Array
    """(m,) how many points each stands for."""

    def correlations(self, posterior: GaussianPosterior) -> Array:
        """r (m, n); zero for a point that is known exactly."""
        deviation = posterior.deviation[self.points]
        found = posterior.covariance.columns(self.points)
        found *= np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)[:, None]
        found /= np.sqrt(posterior.variance + posterior.noise)
        return np.clip(found, -1.0, 1.0, out=found)

    def distances(self, posterior: GaussianPosterior, level: float) -> Array:
        """a (m,)"""
        return distances(posterior, level)[self.points]


def distances(posterior: GaussianPosterior, level: float) -> Array:
    """a (n,); infinite for a point that is known exactly, also at the level itself: nothing can change its label."""
    gap, deviation = posterior.mean - level, posterior.deviation
    return np.divide(gap, deviation, out=np.full_like(gap, np.inf), where=deviation > 0)


def targets(view: View, sizes: Array, pairs: int = SAMPLED) -> Targets:
    """All points that contribute, or a sample in proportion to the most (n,) that each can contribute."""
    standing = np.broadcast_to(view.standing, sizes.shape)
    chosen = np.flatnonzero(sizes > NEGLIGIBLE * sizes.max())
    if len(chosen) * len(sizes) <= pairs:
        return Targets(points=chosen, shares=standing[chosen])
    chosen, shares = sampled(sizes * standing, max(1, pairs // len(sizes)), view.rng(SAMPLING))
    return Targets(points=chosen, shares=shares * standing[chosen])


class LabelGain(ABC):
    """A rule that sums over points what a measurement is expected to tell of their labels, and over levels."""

    @abstractmethod
    def gain(self, a: Array, rho: Array) -> Array:
        """What is told of a label, for a (m, 1) and rho = r^2 (m, n) or (m, 1); with rho = 1 all that is unknown."""

    def begin(self, view: View) -> _Gaining:
        levels, known = view.goal.levels, np.ones((1, 1))
        sizes = [self.gain(distances(view.posterior, level)[:, None], known)[:, 0] for level in levels]
        return _Gaining(rule=self, levels=levels, targets=targets(view, np.sum(sizes, axis=0)))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Gaining(Unchanging):
    rule: LabelGain
    levels: Sequence[float]
    targets: Targets

    def scores(self, posterior: GaussianPosterior) -> Array:
        if not len(self.targets.points):
            return posterior.variance  # no label is in doubt
        rho = self.targets.correlations(posterior)
        rho *= rho
        each = (self.rule.gain(self.targets.distances(posterior, level)[:, None], rho) for level in self.levels)
        return np.asarray(sum(transposed_times(gains, self.targets.shares) for gains in each))
