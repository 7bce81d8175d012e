"""GlobalMI: the mutual information between a measurement at x and the labels of all points, one by one.

    sum_j I(1{f_j > alpha}; y_x) = sum_j [ H(p_j) - E H(p_j+) ],      H(p) = -p log p - (1 - p) log(1 - p)

(Letham, Guan, Tymms, Bakshy and Shvartsman 2022, AISTATS, for binary responses.) For a Gaussian response p+ is
Phi((a + sqrt(rho) Z) / sqrt(1 - rho)), so a summand depends on |a| and rho only. It is tabulated once, as I / rho on a
grid of |a| and t = sqrt(1 - rho), in which it is smooth; where rho = 0 it is phi(a)^2 / (2 Phi(a) Phi(-a)), half the
Fisher information. With h(u) = H(Phi(u)) the expectation is an integral over Z, or for rho > 1/2 over u:

    E H(p+) = int h((a + sqrt(rho) z) / t) phi(z) dz = t / sqrt(rho) int h(u) phi((t u - a) / sqrt(rho)) du.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import entr, ndtr

from superlevel.arrays import Array, Indices
from superlevel.rules.correlations import LabelGain

FARTHEST = 8.0  # deviations from the level beyond which a label is no secret: H is 1e-14
STEPS = 512  # of |a|, and
PARTS = 256  # of t: linear interpolation is then right to 1e-3 of the value, and to 1e-4 near the level
NODES = np.linspace(-9.0, 9.0, 73)  # the trapezoidal rule on them is exact to rounding for functions as smooth as these


@dataclass(frozen=True)
class GlobalMi(LabelGain):
    """The largest sum of the informations about single labels, in nats."""

    def gain(self, a: Array, rho: Array) -> Array:
        table = _table()
        row = np.minimum(np.abs(a), FARTHEST) * (STEPS / FARTHEST)
        part = np.sqrt(1 - rho) * PARTS
        i, k = (np.minimum(place, last - 1).astype(np.int64) for place, last in ((row, STEPS), (part, PARTS)))
        corner = i * (PARTS + 1) + k
        part -= k
        near = _between(table, corner, part)
        far = _between(table, corner + (PARTS + 1), part)
        return np.asarray(rho * (near + (row - i) * (far - near)))


def entropy(p: Array) -> Array:
    """H(p) in nats."""
    return np.asarray(entr(p) + entr(1 - p))


def _between(table: Array, corner: Indices, part: Array) -> Array:
    low = table.take(corner)
    return np.asarray(low + part * (table.take(corner + 1) - low))


@cache
def _table() -> Array:
    """I / rho, flat, a row for each |a|."""
    a, t = np.linspace(0, FARTHEST, STEPS + 1), np.linspace(0, 1, PARTS + 1)
    rho = 1 - t**2
    found = np.empty((len(a), len(t)))
    found[:, 0] = h = entropy(ndtr(a))
    found[:, -1] = _density(a) ** 2 / (2 * ndtr(a) * ndtr(-a))
    for k in range(1, PARTS):
        root = np.sqrt(rho[k])
        if rho[k] > 0.5:
            values = entropy(ndtr(NODES)) * _density((t[k] * NODES - a[:, None]) / root) * (t[k] / root)
        else:
            values = entropy(ndtr((a[:, None] + root * NODES) / t[k])) * _density(NODES)
        found[:, k] = (h - values.sum(axis=1) * (NODES[1] - NODES[0])) / rho[k]
    return np.maximum(found, 0.0).ravel()


def _density(z: Array) -> Array:
    return np.asarray(np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi))
