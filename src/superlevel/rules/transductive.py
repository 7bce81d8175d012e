"""ITL: the information of a measurement about a set of points A, here those that are undecided.

    ITL(x) = I(f_A; y_x) = 1/2 log [ (sigma^2(x) + noise) / (sigma^2_{|A}(x) + noise) ]

sigma^2_{|A}(x) is the variance that is left at x once f is known on A (Hübotter, Sukhija, Treven, As and Krause 2024,
"Transductive active learning", NeurIPS). In A itself nothing is left, and ITL is the largest variance over noise;
outside of A it is smaller by what does not concern A. Of more than 500 undecided points a sample is A.

VTL, of the same paper, takes the smallest sum_A sigma^2_{|x}: that is TruVar's score without truncation, so the method
`vtl` is `VarianceReduction(weights=Undecided())`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel import linalg
from superlevel.arrays import Array, Indices
from superlevel.posterior import GaussianPosterior
from superlevel.records import View
from superlevel.rules.sequential import Unchanging
from superlevel.rules.variance import SAMPLING, sampled

TARGETS = 500  # points of A: a score is to take less than a second


@dataclass(frozen=True)
class TransductiveInformation:
    """The largest information about the undecided points."""

    def begin(self, view: View) -> _Informing:
        wanted = np.flatnonzero(view.undecided)
        if len(wanted) > TARGETS:
            wanted, _ = sampled(view.undecided.astype(np.float64), TARGETS, view.rng(SAMPLING))
        return _Informing(points=wanted)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Informing(Unchanging):
    points: Indices
    """A (m,)"""

    def scores(self, posterior: GaussianPosterior) -> Array:
        variance, noise = posterior.variance, posterior.noise
        return np.asarray(np.log((variance + noise) / (remaining(posterior, self.points) + noise)) / 2)


def remaining(posterior: GaussianPosterior, known: Indices) -> Array:
    """(n,) sigma^2_{|A}: the variance that is left once f is known at some points.

    To leave a factor of covariances that are nearly singular, f is known there with the least noise there is.
    """
    if not len(known):
        return posterior.variance
    columns = posterior.covariance.columns(known)
    covariances = np.array(columns[:, known], order="F")
    linalg.add_to_diagonal(covariances, posterior.origin.nugget)
    rows = linalg.solve_lower(linalg.cholesky(covariances), columns)
    return np.asarray(np.maximum(posterior.variance - np.einsum("jx,jx->x", rows, rows), 0.0))
