"""A length for each coordinate, as far as the measurements ask for one.

Coordinate j is multiplied by exp(t_j), and t has the prior N(0, s^2 I). With everything else of a structure as it is,
the most probable t is

    t = argmax log p(y | t) - |t|^2 / 2 s^2,

and Laplace's approximation of the integral over t is

    log p(y)  =  log p(y | t) - |t|^2 / 2 s^2 - 1/2 log |s^2 H|,

with the Hessian H of what was minimised. The last two terms are the prior of the metric that is returned. If the
measurements say nothing of the lengths, then t = 0 and s^2 H = I, and the metric is the one with a single length. If
they say much, the likelihood makes up for the prior.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from superlevel import linalg
from superlevel.arrays import Array, Indices
from superlevel.averaging.families import OfSmoothness, falling, matern
from superlevel.averaging.metrics import Metric
from superlevel.averaging.structures import SMALLEST, Structure, Summary

SPREAD = 0.7  # s: one length is usually within a factor of two of another
FARTHEST = 3.0  # a length differs from the common one by no more than a factor of exp(3) = 20
STEPS = 25  # of the search
STEP = 1e-4  # of the differences that make the Hessian
IMPOSSIBLE = 1e25  # minus log p where V is singular


def stretched(summary: Summary, structure: Structure, family: OfSmoothness) -> Metric:
    """The metric of ``family``, with the most probable length for each coordinate; ``structure`` is of that family."""
    metric = summary.metrics[family.metric]
    units = metric.scaled(summary.domain.points[summary.points])
    used = metric.factors > 0
    different, of = np.unique(summary.domain.units[used], return_inverse=True)
    search = _Search(summary=summary, structure=structure, family=family, units=units, of=of)
    start = np.zeros(len(different))
    found = minimize(
        search.loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(-FARTHEST, FARTHEST)] * len(start),
        options={"maxiter": STEPS},
    )
    factors = metric.factors.copy()
    factors[used] *= np.exp(found.x[of])
    return Metric(factors=factors, log_prior=metric.log_prior + search.log_volume(found.x), stretched=True)


class _At(NamedTuple):
    """What V is for one t."""

    scaled: Array
    """(q, d) the points in units of the lengths."""
    slopes: Array
    """(q, q) H, with dV / dt_j = -H (x_j - x'_j)^2."""
    factor: Array
    """L (q, q), V = L L'"""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Search:
    summary: Summary
    structure: Structure
    family: OfSmoothness
    units: Array
    """(q, d) the measured points in the metric that is to be stretched."""
    of: Indices
    """(d,) which length each coordinate has: those of one unit share it."""

    def at(self, lengths: Array) -> _At:
        smooth = 1.0 - self.structure.rough
        scaled = self.units * (np.exp(lengths[self.of]) / self.family.length)
        distances = cdist(scaled, scaled)
        matrix = np.asfortranarray(smooth * matern(self.family.smoothness, distances))
        linalg.add_to_diagonal(matrix, self.structure.rough + self.structure.noise / self.summary.counts)
        return _At(scaled, smooth * falling(self.family.smoothness, distances), linalg.cholesky(matrix))

    def loss(self, lengths: Array) -> tuple[float, Array]:
        """Minus log p(y | t) p(t) without its constant, and its gradient.

        With a = V^-1 r and v = V^-1 1 the derivative of log p by V is G = -1/2 (V^-1 - (N - 1) a a' / S - v v' / 1'v).
        """
        try:
            at = self.at(lengths)
        except LinAlgError:
            return IMPOSSIBLE, np.zeros_like(lengths)
        known = self.summary
        inverse = linalg.cholesky_solve(at.factor, np.eye(len(at.factor)))
        ones = inverse.sum(axis=1)
        precision = float(ones.sum())
        mean = float(ones @ known.means) / precision if known.mean is None else known.mean
        residuals = known.means - mean
        weighted = inverse @ residuals
        total = max(float(residuals @ weighted) + known.squares / self.structure.noise, SMALLEST * known.size)
        terms = 2.0 * float(np.log(np.diag(at.factor)).sum()) + known.freedom * math.log(total)
        slope = inverse - np.outer(known.freedom / total * weighted, weighted)
        if known.mean is None:
            terms += math.log(precision)
            slope -= np.outer(ones / precision, ones)
        away = lengths / SPREAD**2
        gradient = -np.bincount(self.of, _summed(slope * at.slopes, at.scaled))
        return 0.5 * terms + 0.5 * float(lengths @ away), 0.5 * gradient + away

    def log_volume(self, lengths: Array) -> float:
        """-|t|^2 / 2 s^2 - 1/2 log |s^2 H|; no direction has more room than its prior."""
        _, gradient = self.loss(lengths)
        moved = np.stack([self.loss(lengths + STEP * unit)[1] - gradient for unit in np.eye(len(lengths))]) / STEP
        sizes = np.linalg.eigvalsh(0.5 * SPREAD**2 * (moved + moved.T))
        room = float(np.log(np.maximum(sizes, 1.0)).sum())
        return -0.5 * float(lengths @ lengths) / SPREAD**2 - 0.5 * room


def _summed(weights: Array, points: Array) -> Array:
    """(d,) the sum over pairs of weights (q, q) times (x_j - x'_j)^2, for each coordinate j of points (q, d)."""
    squares = weights.sum(axis=1) @ np.square(points)
    return np.asarray(2.0 * (squares - np.einsum("aj,aj->j", points, weights @ points)))
