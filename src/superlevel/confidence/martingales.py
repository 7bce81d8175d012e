"""One martingale for each point: intervals for finitely many directions, from batches whose places were fixed before.

Coordinates are such that ||theta|| <= 1, and every measurement is divided by its sigma.

For a point with features v there is one estimate a = sum over batches of <u, y>. When batch k is planned its places are
known and its noise is not, so that weights u that are made from the places alone are fixed before the noise comes:

    a  <-  c a + <u, y>         m  <-  c m + Phi' u        a estimates <theta, m>, |<theta, v - m>| <= ||v - m||
    q  <-  c^2 q + ||u||^2      p  <-  c p                 X = (summed noise of a) / p is a martingale

c and u minimise q + ||v - m||^2 / kappa^2: with e = v - c m, G = Phi' Phi of the batch and W = (G + kappa^2)^-1,

    c = m' W v / (q + m' W m),     u = Phi W e = (Phi Phi' + kappa^2)^-1 Phi e.

Earlier weights change in common only, by c; that is what keeps X a martingale whatever the places depend on. Its
quadratic variation is Q = q / p^2, and p begins as q ||v|| / <m, v>, which makes Q the information about f(x) in units
of 1 / ||v||^2: a first batch that hardly reaches v has hardly any, and units of f change nothing.

Theorem (Robbins 1970, Ann. Math. Statist. 41:1397; Howard, Ramdas, McAuliffe and Sekhon 2021, Ann. Statist. 49:1055).
For a fixed rho > 0, with probability 1 - delta, for all batches at once

    X^2  <=  (Q + rho) (2 log(1 / delta) + log(1 + Q / rho)).

n points and a few rhos share delta: the price is 2 log n where an ellipsoid pays for the dimension, which is less where
the dimension is large. What <theta, phi> misses, h(x), moves a by at most ||u|| (sum_batch w h^2)^1/2 a batch.

Measurements that are not of a plan, or not all of it, may have been chosen by what others showed: they are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from superlevel import linalg
from superlevel.arrays import Array, frozen
from superlevel.confidence.ellipsoids import ROUNDING
from superlevel.goals import Bounds

RHOS = np.array([4.0, 256.0, 16384.0])  # as for a normal mean with that much information, where ||v|| is 1
KAPPA = 4.0  # an estimate's noise against its bias: about the width of an interval in deviations
LEAST = 1e-6  # of c: what was learned so far is never thrown away
DIGITS = 1e-12  # of the product of two vectors' lengths: an inner product below is rounding
NOTHING = 1e-100  # a variance below this is of a point that a batch does not reach


@dataclass(frozen=True, kw_only=True, eq=False)
class Martingales:
    """The estimate of every point, and how its noise adds up."""

    estimates: Array
    """(n,) a"""
    means: Array
    """(n, r) m"""
    variances: Array
    """(n,) q; zero until something is measured."""
    scales: Array
    """(n,) p"""
    misses: Array
    """(n,) how far what the features miss may have moved a."""

    def __post_init__(self) -> None:
        for array in (self.estimates, self.means, self.variances, self.scales, self.misses):
            frozen(array)

    def told(self, features: Array, information: Array, sums: Array, missed: Array) -> Martingales:
        """With a batch: its information w (n,) at each point, sums (n,) of y / sigma^2, and h (n,)."""
        if not information.any():
            return self
        rows, values = _batch(features, information, sums)
        factor = _shifted(rows)
        wanted, before = linalg.inner(features, rows), linalg.inner(self.means, rows)
        kept = self._kept(features, linalg.whiten(factor, wanted), linalg.whiten(factor, before))
        open_ = wanted - kept[:, None] * before
        weights = linalg.cholesky_solve(factor, np.asfortranarray(open_.T)).T  # u = (Phi Phi' + kappa^2)^-1 Phi e
        variances = linalg.squared_norms(weights)
        total = kept**2 * self.variances + variances
        off = float((information * missed**2).sum()) + float((ROUNDING * rows).ravel() @ (ROUNDING * rows).ravel())
        seen = (self.variances > 0) | (total > NOTHING)  # never begun anew: a second martingale has no share of delta
        means = kept[:, None] * self.means + weights @ rows
        scales = np.where(self.variances > 0, kept * self.scales, _first(features, means, total))
        return Martingales(
            estimates=np.where(seen, kept * self.estimates + weights @ values, 0.0),
            means=np.where(seen[:, None], means, 0.0),
            variances=np.where(seen, total, 0.0),
            scales=np.where(seen, scales, 0.0),
            misses=np.where(seen, kept * self.misses + np.sqrt(variances * off), 0.0),
        )

    def _kept(self, features: Array, wanted: Array, before: Array) -> Array:
        """(n,) c, from Phi v and Phi m in coordinates where Phi Phi' + kappa^2 is 1; zero with nothing to keep.

        a' W b = (a' b - (Phi a)' (Phi Phi' + kappa^2)^-1 (Phi b)) / kappa^2
        """
        begun, lengths = self.variances > 0, linalg.squared_norms(self.means)
        across = np.vecdot(self.means, features) - np.vecdot(before, wanted)
        along = np.maximum(lengths - linalg.squared_norms(before), 0.0)
        best = across / np.where(begun, KAPPA**2 * self.variances + along, 1.0)
        # A point that is hardly reached has an m of hardly any length, and across may be rounding: what it has is kept.
        certain = np.abs(across) > DIGITS * np.sqrt(lengths * linalg.squared_norms(features))
        return np.where(begun, np.where(certain, np.maximum(best, LEAST), 1.0), 0.0)

    def bounds(self, features: Array, delta: float) -> Bounds:
        """(n,) where <theta, phi(x)> is, for all points and batches with probability 1 - delta."""
        begun = self.variances > 0
        scales = np.where(begun, self.scales, 1.0)
        information = np.where(begun, self.variances, 0.0) / scales**2
        price = 2.0 * np.log(len(scales) * len(RHOS) / delta)
        squares = (information[:, None] + RHOS) * (price + np.log1p(information[:, None] / RHOS))
        half = scales * np.sqrt(squares.min(axis=1)) + np.linalg.norm(features - self.means, axis=1) + self.misses
        half = np.where(begun, half, np.inf)
        return Bounds(lower=self.estimates - half, upper=self.estimates + half)


def _batch(features: Array, information: Array, sums: Array) -> tuple[Array, Array]:
    """Phi (k, r) and y (k,) of a batch, over sigma: no more rows than features, with the same Phi' Phi and Phi' y."""
    support = np.flatnonzero(information)
    roots = np.sqrt(information[support])
    rows, values = features[support] * roots[:, None], sums[support] / roots
    if len(rows) <= features.shape[1]:
        return rows, values
    turned, triangle = qr(rows, mode="economic", check_finite=False)
    return np.ascontiguousarray(triangle), turned.T @ values


def _shifted(rows: Array) -> Array:
    """The lower factor of Phi Phi' + kappa^2."""
    matrix = linalg.gram(rows)
    linalg.add_to_diagonal(matrix, KAPPA**2)
    return linalg.cholesky(matrix)


def _first(wanted: Array, means: Array, variances: Array) -> Array:
    """(n,) p after the batch that reaches a point first."""
    explained = np.vecdot(means, wanted)  # no less than kappa^2 q then
    lengths = np.linalg.norm(wanted, axis=1)
    return np.asarray(variances * lengths / np.where(explained > 0, explained, 1.0))


def begin(features: Array) -> Martingales:
    """Before the first batch, for features (n, r)."""
    n = len(features)
    none = np.zeros(n)
    return Martingales(estimates=none, means=np.zeros_like(features), variances=none, scales=none, misses=none)
