"""EAVC: the expected absolute change of the volume that is thought to be above the level.

    EAVC(x) = E_y | sum_j (p_j+ - p_j) |,      p_j = P(f_j > alpha),  p_j+ = P(f_j > alpha | y_x)

(Letham, Guan, Tymms, Bakshy and Shvartsman 2022, AISTATS, for binary responses). For a Gaussian response one Z, normal
with variance 1, stands for y_x, p_j+ = Phi((a_j + r_jx Z) / sqrt(1 - r_jx^2)) with the sign of r_jx, and the
expectation is a sum over intervals of Z. Above and below change by the same volume; with several levels the changes are
added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from superlevel.arrays import Array
from superlevel.linalg import transposed_times
from superlevel.posterior import GaussianPosterior
from superlevel.records import View
from superlevel.rules.correlations import Targets, distances, targets
from superlevel.rules.sequential import Unchanging

INTERVALS = 40  # of Z, each so wide: the sum over them is right to two percent,
WIDTH = 0.25  # also where a change is as unlikely as a value five deviations off
PAIRS = 2**21  # of points at a time: each is looked at for every value
SURE = 1 - 1e-12  # r^2 from which a measurement tells all


@dataclass(frozen=True)
class AbsoluteVolumeChange:
    """The largest EAVC."""

    def begin(self, view: View) -> _Changing:
        levels = view.goal.levels
        chances = [ndtr(distances(view.posterior, level)) for level in levels]
        sizes = np.sum([np.sqrt(p * (1 - p)) for p in chances], axis=0)  # the deviation of p+ if all became known
        return _Changing(levels=levels, targets=targets(view, sizes, PAIRS))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Changing(Unchanging):
    levels: Sequence[float]
    targets: Targets

    def scores(self, posterior: GaussianPosterior) -> Array:
        if not len(self.targets.points):
            return posterior.variance  # no label is in doubt
        r = self.targets.correlations(posterior)
        left = 1 / np.sqrt(1 - np.minimum(r * r, SURE))
        r *= left
        return np.asarray(sum(self._changes(posterior, level, r, left) for level in self.levels))

    def _changes(self, posterior: GaussianPosterior, level: float, moves: Array, left: Array) -> Array:
        """(n,) for one level, from r / sqrt(1 - r^2) (m, n) and 1 / sqrt(1 - r^2) (m, n)."""
        a = self.targets.distances(posterior, level)
        shares, still = self.targets.shares, a[:, None] * left
        volume, changes = float(shares @ ndtr(a)), np.zeros(moves.shape[1])
        for z, chance in zip(*intervals(INTERVALS, WIDTH), strict=True):
            reached = moves * z
            reached += still
            changes += chance * np.abs(transposed_times(ndtr(reached, out=reached), shares) - volume)
        return changes


def intervals(count: int, width: float) -> tuple[Array, Array]:
    """(count,) the mean of Z in each interval, and its probability; the first and the last one have no end.

    Functions that are linear in each interval have the right mean. Zero is an end: there the change has its kink.
    """
    ends = np.concatenate([[-np.inf], width * (np.arange(1, count) - count / 2), [np.inf]])
    chances = np.diff(ndtr(ends))
    return -np.diff(np.exp(-(ends**2) / 2)) / (np.sqrt(2 * np.pi) * chances), chances
