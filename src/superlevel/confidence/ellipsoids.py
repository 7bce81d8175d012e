"""Ellipsoids that hold theta at all times at once, however the points were chosen: the method of mixtures.

Coordinates are such that ||theta|| <= 1, and every measurement is divided by its sigma.

w(x), y-bar(x)  information and mean of the measurements at x
Sigma, b        sum_x w(x) phi(x) phi(x)',  sum_x w(x) phi(x) y-bar(x)
h(x)            what <theta, phi(x)> may miss of f(x): misspecification, and what the features leave out
e               (sum_x w(x) h(x)^2)^1/2
t               sum_x w(x) residual(x): what the features leave out of the kernel where it was measured

Theorem (Robbins and Siegmund 1970, Ann. Math. Statist. 41:1410; de la Pena, Klass and Lai 2004, Ann. Probab. 32:1902;
in this form Abbasi-Yadkori, Pal and Szepesvari 2011, NeurIPS, Theorem 1). Let the noise be conditionally sub-Gaussian:
E exp(l eta_t) <= exp(l^2 sigma_t^2 / 2) given everything before measurement t, its place and its sigma_t included. For
a gamma > 0 that was fixed beforehand, with probability 1 - delta, for all t at once, in the norm of (Sigma + gamma)^-1,

    ||b - Sigma theta||  <=  R  =  (2 log(1 / delta) + log det(I + Sigma / gamma) + t / gamma)^1/2 + e.

Proof: exp(l' S - l' Sigma l / 2) with S the summed noise is a supermartingale for every l; so is its mean over
l ~ N(0, I / gamma), which is det(I + Sigma / gamma)^-1/2 exp(||S||^2 / 2), and Ville's inequality ends it. What is not
explained moves b by Phi' W h, whose norm is e at most.

t makes this hold at once for all feature maps that are projections of the kernel's own, whenever and by whatever they
are chosen: for those of more places, say, after a place was added. Proof: take the above in the kernel's space, where
z = W^1/2 eta is the noise and K the kernel matrix of the measurements, both over sigma. Features have a part K' of it,
with 0 <= K' <= K and trace(K - K') = t. x / (x + gamma) is operator monotone, and log det is concave, so that

    z' K' (K' + gamma)^-1 z - log det(I + K' / gamma) - t / gamma  <=  z' K (K + gamma)^-1 z - log det(I + K / gamma).

Several gammas share delta, and all their ellipsoids hold at once: small ones are tight early, large ones late. Unlike
in the usual statement gamma is not the ridge of an estimate, so that a large one costs no bias. An ellipsoid and the
ball ||theta|| <= 1 bound f together: for 0 < tau <= 1,

    (1 - tau) ||b - Sigma theta||^2 / R^2 + tau ||theta||^2  <=  1

is another ellipsoid. Its centre is a ridge estimate, and the best tau gives the exact range of <theta, v> over both
sets (Lagrange duality). Intervals are intersected over some gammas and taus: all of them hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from superlevel import linalg
from superlevel.arrays import Array
from superlevel.goals import Bounds
from superlevel.sufficient_statistics import Statistics

# In units of 1 / ||theta||^2: for as much information as a first look gives, up to a million times that.
GAMMAS = 10.0 ** np.arange(7)
TAUS = np.array([1e-4, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99, 1.0])
PAIRED = 4  # ellipsoids that pairs are bounded by: each costs a matrix of all pairs
ROUNDING = 1e-15  # of the trace of Sigma: what b - Sigma theta is off by in the computed axes, four times over


class Ellipsoids(NamedTuple):
    """|<theta - centre, v>|^2 <= squared * sum_i v_i^2 / weights_i, for v in the axes' coordinates."""

    centres: Array
    """(k, r)"""
    weights: Array
    """(k, r) positive."""
    squared: Array
    """(k,) squared radii; one that is negative has no theta in it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Spectrum:
    """The measurements in coordinates in which Sigma is diagonal."""

    arms: Array
    """(n, r) phi"""
    sizes: Array
    """(r,) eigenvalues of Sigma, none negative."""
    moments: Array
    """(r,) b"""
    missed: float
    """e"""
    left: float = 0.0
    """t"""

    @property
    def blur(self) -> float:
        """e, and rounding: how far b - Sigma theta may be from the summed noise, for no gamma is below 1."""
        return self.missed + ROUNDING * float(self.sizes.sum())

    def scaled(self, norm: float) -> Spectrum:
        """In coordinates in which the ball ||theta|| <= norm has radius 1."""
        return Spectrum(
            arms=self.arms * norm,
            sizes=self.sizes * norm**2,
            moments=self.moments * norm,
            missed=self.missed,
            left=self.left * norm**2,
        )

    def within(self, n: int) -> Spectrum:
        """Of the first n points; what was measured at the others counts too."""
        return self if n == len(self.arms) else replace(self, arms=self.arms[:n])

    def radii(self, delta: float) -> Array:
        """(k,) R for every gamma, all of them right with probability 1 - delta; infinite where delta is zero."""
        gains = np.log1p(self.sizes / GAMMAS[:, None]).sum(axis=1) + self.left / GAMMAS
        price = 2.0 * np.log(len(GAMMAS) / delta) if delta else np.inf
        return np.asarray(np.sqrt(price + gains) + self.blur)

    def ellipsoids(self, delta: float) -> Ellipsoids:
        """One for each gamma and tau."""
        sizes, gammas = self.sizes, GAMMAS[:, None]
        scales = self.radii(delta)[:, None] ** -2 / (sizes + gammas)  # of (b - Sigma theta)_i^2
        share, rest = (1.0 - TAUS)[:, None], TAUS[:, None]
        curved = share * (sizes**2 * scales)[:, None]
        weights = curved + rest
        centres = share * (sizes * self.moments * scales)[:, None] / weights
        # The constant that completing the square leaves, without the difference of large numbers that it is.
        left = share * (self.moments**2 * scales)[:, None] * rest / weights
        rank = len(sizes)
        return Ellipsoids(
            centres=centres.reshape(-1, rank),
            weights=weights.reshape(-1, rank),
            squared=1.0 - left.sum(axis=-1).ravel(),
        )

    def estimate(self) -> Array:
        """(n,) the ridge estimate of <theta, phi(x)>, with the ridge 1 that ||theta|| <= 1 suggests."""
        return linalg.times(self.arms, self.coefficients())

    def coefficients(self) -> Array:
        """(r,) its theta."""
        return np.asarray(self.moments / (self.sizes + 1.0))

    def points(self, delta: float) -> Bounds:
        """(n,) where <theta, phi(x)> is."""
        found = self.ellipsoids(delta)
        means = linalg.inner(self.arms, found.centres)
        halves = self._halves(found)
        return Bounds(lower=(means - halves).max(axis=1), upper=(means + halves).min(axis=1))

    def pairs(self, delta: float, share: float) -> Bounds:
        """(n, n) where <theta, phi(x) - share phi(x')> is, by the ellipsoids that are tightest for most points."""
        found = self.ellipsoids(delta)
        best = np.argsort(np.median(self._halves(found), axis=0), kind="stable")[:PAIRED]
        n = len(self.arms)
        lower, upper = np.full((n, n), -np.inf), np.full((n, n), np.inf)
        for k in best:
            means = linalg.times(self.arms, found.centres[k])
            centre = means[:, None] - share * means
            half = spread(self.arms / np.sqrt(found.weights[k]), share)
            half *= np.sqrt(max(0.0, found.squared[k]))
            np.maximum(lower, centre - half, out=lower)
            np.minimum(upper, centre + half, out=upper)
        return Bounds(lower=lower, upper=upper)

    def _halves(self, found: Ellipsoids) -> Array:
        """(n, k) half-widths; negative where an ellipsoid is empty, so that nothing is left of its intervals."""
        squares = linalg.inner(self.arms**2, 1.0 / found.weights)
        return np.asarray(np.copysign(np.sqrt(squares * np.abs(found.squared)), found.squared))


def spectrum(features: Array, evidence: Statistics, misses: Array, residuals: Array | None = None) -> Spectrum:
    """Of features (n, r) in coordinates with ||theta|| <= 1, h (n,), and residuals (n,) where there are any."""
    information = evidence.information
    matrix = linalg.moment(features, information)
    sizes, axes = eigh(matrix, lower=True, check_finite=False, driver="evd")
    arms = np.ascontiguousarray(features @ axes)
    return Spectrum(
        arms=arms,
        sizes=np.maximum(sizes, 0.0),
        moments=linalg.transposed_times(arms, information * evidence.means),
        missed=float(np.sqrt((information * misses**2).sum())),
        left=0.0 if residuals is None else float(information @ residuals),
    )


def spread(rows: Array, share: float) -> Array:
    """(n, n) ||row_x - share row_x'||, from inner products."""
    squares = linalg.inner(rows, rows)
    lengths = np.diag(squares).copy()
    squares *= -2.0 * share
    squares += lengths[:, None]
    squares += share**2 * lengths
    np.maximum(squares, 0.0, out=squares)
    return np.sqrt(squares, out=squares)
