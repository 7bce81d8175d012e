"""Other roads to the scores of the newer rules: refits with explicit matrices, and integrals over the next value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import quad
from scipy.special import entr, ndtr
from scipy.stats import norm

from superlevel.arrays import Array
from superlevel.rules import volume
from tests.rules.oracle import LEVEL, Dense, World

NODES = np.linspace(-8.5, 8.5, 1701)
DENSITIES = norm.pdf(NODES) * (NODES[1] - NODES[0])


def targeted_mse(dense: Dense, world: World) -> Array:  # noqa: ARG001
    return np.asarray(dense.variance * norm.pdf(LEVEL, loc=dense.mean, scale=dense.deviation))


def targeted_imse(dense: Dense, world: World) -> Array:
    """The drop of the weighted sum of variances, by refitting with every candidate; weights from before the batch."""
    weights = norm.pdf(LEVEL, loc=world.dense.mean, scale=world.dense.deviation)
    return np.array([weights @ (dense.variance - dense.after(x).variance) for x in range(dense.n)])


def weighted_mse(dense: Dense, world: World) -> Array:  # noqa: ARG001
    above = norm.sf(LEVEL, loc=dense.mean, scale=dense.deviation)
    return np.asarray([min(p, 1 - p) * s for p, s in zip(above, dense.deviation, strict=True)])


def feasibility(dense: Dense, world: World) -> Array:  # noqa: ARG001
    """The expectation as an integral over f."""
    return np.array([_feasibility(m, s) for m, s in zip(dense.mean, dense.deviation, strict=True)])


def _feasibility(mean: float, deviation: float) -> float:
    def within(f: float) -> float:
        return float((2 * deviation - abs(f - LEVEL)) * norm.pdf(f, loc=mean, scale=deviation))

    low, high = LEVEL - 2 * deviation, LEVEL + 2 * deviation
    return sum(float(quad(within, *ends, epsabs=1e-13)[0]) for ends in ((low, LEVEL), (LEVEL, high)))


def ahead(dense: Dense, x: int, z: Array) -> Array:
    """(n, k) the probability of being above at every point after a measurement at x that is z (k,) deviations off."""
    covariances, total = dense.covariance[:, x], dense.variance[x] + dense.noise[x]
    means = dense.mean[:, None] + covariances[:, None] / np.sqrt(total) * z
    left = np.sqrt(np.diag(dense.after(x).covariance))
    return np.asarray(ndtr((means - LEVEL) / left[:, None]))


def expected_drop(uncertainty: Callable[[Array], Array]) -> Callable[[Dense, World], Array]:
    """The expected drop of a sum over all points of a function of their probabilities."""

    def drop(dense: Dense, world: World) -> Array:  # noqa: ARG001
        now = uncertainty(ndtr((dense.mean - LEVEL) / dense.deviation)).sum()
        each = [uncertainty(ahead(dense, x, NODES)).sum(axis=0) @ DENSITIES for x in range(dense.n)]
        return np.asarray(now - np.array(each))

    return drop


excursion = expected_drop(lambda p: p * (1 - p))
information = expected_drop(lambda p: entr(p) + entr(1 - p))


def volume_change(dense: Dense, world: World) -> Array:  # noqa: ARG001
    return _volume_change(dense, NODES, DENSITIES)


def volume_change_by_few_values(dense: Dense, world: World) -> Array:  # noqa: ARG001
    """With as few values as the rule itself takes."""
    return _volume_change(dense, *volume.intervals(volume.INTERVALS, volume.WIDTH))


def _volume_change(dense: Dense, z: Array, weights: Array) -> Array:
    now = ndtr((dense.mean - LEVEL) / dense.deviation).sum()
    return np.array([np.abs(ahead(dense, x, z).sum(axis=0) - now) @ weights for x in range(dense.n)])


def transductive(dense: Dense, world: World) -> Array:
    """H(f_A) + H(y_x) - H(f_A, y_x), f_A with the least noise of the library."""
    chosen = np.flatnonzero(world.view.undecided)
    sigma = dense.covariance
    nugget = world.posterior.origin.nugget * np.eye(len(chosen))
    known = sigma[np.ix_(chosen, chosen)] + nugget
    scores = np.empty(dense.n)
    for x in range(dense.n):
        total = np.array([[sigma[x, x] + dense.noise[x]]])
        joint = np.block([[known, sigma[chosen, x : x + 1]], [sigma[x : x + 1, chosen], total]])
        scores[x] = (_logdet(known) + _logdet(total) - _logdet(joint)) / 2
    return scores


def _logdet(matrix: Array) -> float:
    return float(np.linalg.slogdet(matrix).logabsdet)
