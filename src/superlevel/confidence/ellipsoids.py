"""Ellipsoids that hold theta at all times at once, however the points were chosen: the method of mixtures.

Coordinates are such that ||theta|| <= 1, and every measurement is divided by its sigma.

w(x), y-bar(x)  information and mean of the measurements at x
Sigma, b        sum_x w(x) phi(x) phi(x)',  sum_x w(x) phi(x) y-bar(x)
h(x)            what <theta, phi(x)> may miss of f(x): misspecification, and what the features leave out
e               (sum_x w(x) h(x)^2)^1/2
t               sum_x w(x) residual(x): what the features leave out of the kernel where it was measured

Theorem (Robbins and Siegmund 1970, Ann. Math. Statist. 41:1410; de la Pena, Klass and Lai 2004, Ann. Probab. 32:1902;
for one gamma Abbasi-Yadkori, Pal and Szepesvari 2011, NeurIPS, Theorem 1). Let the noise be conditionally sub-Gaussian:
E exp(l eta_t) <= exp(l^2 sigma_t^2 / 2) given everything before measurement t, its place and its sigma_t included. Let
gamma_k > 0 and weights omega_k with sum 1 be fixed beforehand, S the summed noise, sum of phi eta over sigma^2, and

    M_k  =  det(I + Sigma / gamma_k)^-1/2 exp(||S||^2 / 2),    the norm being that of (Sigma + gamma_k)^-1.

With probability 1 - delta, for all t at once, sum_k omega_k M_k < 1 / delta.

Proof: exp(l' S - l' Sigma l / 2) is a supermartingale for every l. So is M_k, which is its mean over l ~ N(0, I /
gamma_k), and so is the weighted sum, which begins at 1. Ville's inequality ends it.

Every pi of the simplex, also one chosen from the measurements, makes an ellipsoid of this event. As log is concave,

    log sum_k omega_k M_k  >=  sum_k pi_k log(omega_k M_k / pi_k),

with equality if pi_k is proportional to omega_k M_k. So on the event, in the norm of sum_k pi_k (Sigma + gamma_k)^-1,

    ||b - Sigma theta||  <=  R  =  (2 log(1 / delta) + sum_k pi_k (2 log(pi_k / omega_k) + g_k))^1/2 + e,
    g_k  =  log det(I + Sigma / gamma_k) + t / gamma_k.

What is not explained moves b by Phi' W h, whose norm is e at most. All pi hold at once and cost nothing. We take those
with equality where the noise lies along an axis of Sigma and is as large as the event allows: one pi for each of
some sizes of the axis. A union over the gammas would have pi = 1 for one gamma, which is never better by much.

t makes this hold at once for all feature maps that are projections of the kernel's own, whenever and by whatever they
are chosen: for those of more places, say, after a place was added. Proof: take the above in the kernel's space, where
z = W^1/2 eta is the noise and K the kernel matrix of the measurements, both over sigma. Features have a part K' of it,
with 0 <= K' <= K and trace(K - K') = t. x / (x + gamma) is operator monotone, and log det is concave, so that

    z' K' (K' + gamma)^-1 z - log det(I + K' / gamma) - t / gamma  <=  z' K (K + gamma)^-1 z - log det(I + K / gamma).

Each gamma is a power of ten times the information that one measurement gives at most, so that the event knows neither
the norm nor the scale of f: it is the same event for every norm. Small gammas are tight early, large ones late. Unlike
in the usual statement gamma is not the ridge of an estimate, so that a large one costs no bias. An ellipsoid and the
ball ||theta|| <= 1 bound f together: for 0 < tau <= 1,

    (1 - tau) ||b - Sigma theta||^2 / R^2 + tau ||theta||^2  <=  1

is another ellipsoid. Its centre is a ridge estimate, and the best tau gives the exact range of <theta, v> over both
sets (Lagrange duality). Intervals are intersected over some pi and taus: all of them hold.

For how large a norm does a sign hold? The event is the same for every norm. For ||theta|| <= c in place of 1, and h(x)
at most c times as large, R becomes R + (c - 1) e, and 1 on the right side (1 - tau) (1 + (c - 1) e / R)^2 + tau c^2:
the same ellipsoid with another radius. With its centre z, the weights W of its quadratic form, and l what completing
the square leaves, <theta, v> + beyond > c missed for all theta of it as long as

    <z, v> + beyond - c missed  >  (v' W^-1 v ((1 - tau) (1 + (c - 1) e / R)^2 + tau c^2 - l))^1/2,

which holds up to a root of a quadratic equation. Every pi and tau gives such a c, and the largest of them counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.special import entr, logsumexp

from superlevel import linalg
from superlevel.arrays import Array
from superlevel.goals import Bounds
from superlevel.sufficient_statistics import Statistics

GAMMAS = 10.0 ** np.arange(7)  # in units of the information of one measurement: for that many measurements, about
OMEGAS = np.array([2.0, 4.0, 6.0, 4.0, 2.0, 1.0, 1.0]) / 20.0  # most campaigns have ten to 10^4 measurements
AXES = 8  # sizes of an axis that there is a pi for, from the smallest to the largest of Sigma
SMALLEST = 1e-9  # of the largest: what an axis is taken to have at least
NEWTON, DIGITS = (
    30,
    1e-6,
)  # steps of Newton's method, and where it ends: any pi is right, and the best need not be exact
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


class Mixed(NamedTuple):
    """||b - Sigma theta|| <= radius, in the norm of the diagonal matrix of the scales, for each pi."""

    pis: Array
    """(AXES, K)"""
    scales: Array
    """(AXES, r) sum_k pi_k / (sizes + gamma_k)"""
    radii: Array
    """(AXES,) R"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Spectrum:
    """The measurements in coordinates in which Sigma is diagonal."""

    axes: Array
    """(r, r) Each column is an axis, in the coordinates of the features."""
    arms: Array
    """(n, r) phi in these axes."""
    sizes: Array
    """(r,) eigenvalues of Sigma, none negative."""
    moments: Array
    """(r,) b"""
    missed: float
    """e"""
    left: float = 0.0
    """t"""
    single: float = 1.0
    """The information of one measurement, of which the gammas are multiples."""

    @property
    def gammas(self) -> Array:
        """(K,) gamma_k"""
        return np.asarray(GAMMAS * self.single)

    @property
    def blur(self) -> float:
        """e, and rounding: how far b - Sigma theta may be from the summed noise, for no gamma is below ``single``."""
        return self.missed + ROUNDING * float(self.sizes.sum()) / float(np.sqrt(self.single))

    def scaled(self, norm: float) -> Spectrum:
        """In coordinates in which the ball ||theta|| <= norm has radius 1."""
        return replace(
            self,
            arms=self.arms * norm,
            sizes=self.sizes * norm**2,
            moments=self.moments * norm,
            left=self.left * norm**2,
            single=self.single * norm**2,
        )

    def within(self, n: int) -> Spectrum:
        """Of the first n points; what was measured at the others counts too."""
        return self if n == len(self.arms) else replace(self, arms=self.arms[:n])

    def of(self, rows: Array) -> Spectrum:
        """With directions (m, r) in the coordinates of the features in place of the points."""
        return replace(self, arms=np.ascontiguousarray(rows @ self.axes))

    def mixed(self, delta: float) -> Mixed:
        """R of the theorem for some pi, all right at once with probability 1 - delta; infinite for delta = 0."""
        logs = np.log(OMEGAS) - 0.5 * (
            np.log1p(self.sizes / self.gammas[:, None]).sum(axis=1) + self.left / self.gammas
        )
        pis = _balanced(logs, self._slopes, delta or 1.0)
        entropies = entr(pis).sum(axis=1)
        squares = -2.0 * (pis @ logs + entropies + np.log(delta)) if delta else np.full(AXES, np.inf)
        return Mixed(
            pis=pis,
            scales=pis @ (1.0 / (self.sizes + self.gammas[:, None])),
            radii=np.sqrt(squares) + self.blur,
        )

    @property
    def _slopes(self) -> Array:
        """(AXES, K) size / (size + gamma_k): log M_k grows by that with half the squared noise along an axis."""
        largest = max(float(self.sizes.max(initial=0.0)), SMALLEST * self.single)
        smallest = max(float(self.sizes.min(initial=largest)), SMALLEST * largest)
        sizes = np.geomspace(smallest, largest, AXES)[:, None]
        return np.asarray(sizes / (sizes + self.gammas))

    def ellipsoids(self, delta: float) -> Ellipsoids:
        """One for each pi and tau."""
        sizes, mixed = self.sizes, self.mixed(delta)
        scales = mixed.scales / np.square(mixed.radii)[:, None]  # of (b - Sigma theta)_i^2
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

    def largest(self, signs: Array, beyond: Array, missed: Array, delta: float) -> Array:
        """(n,) the largest c such that signs <theta, v> + beyond > c missed wherever ||theta|| <= c, v the arms.

        Below 1 where that does not hold for the ball as it is.
        """
        found, taus = self.ellipsoids(delta), np.tile(TAUS, AXES)
        slack = np.repeat(self.missed / self.mixed(delta).radii, len(TAUS))  # e / R
        squares = linalg.inner(self.arms**2, 1.0 / found.weights)
        gaps = signs[:, None] * linalg.inner(self.arms, found.centres) + beyond[:, None]
        misses = missed[:, None]
        # a c^2 + b c + d <= 0
        a = squares * ((1.0 - taus) * slack**2 + taus) - misses**2
        b = squares * (2.0 * (1.0 - taus) * slack * (1.0 - slack)) + 2.0 * gaps * misses
        left = 1.0 - found.squared
        d = squares * ((1.0 - taus) * (1.0 - slack) ** 2 - left) - gaps**2
        with np.errstate(divide="ignore", invalid="ignore"):
            roots = -2.0 * d / (b + np.sqrt(np.maximum(b**2 - 4.0 * a * d, 0.0)))
        held = (gaps > misses) & (a + b + d <= 0.0)
        return np.asarray(np.where(held, np.where(np.isnan(roots), 1.0, roots), 0.0).max(axis=1))

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
        """(n, n) where <theta, phi(x) - share phi(x')> is, by a few ellipsoids that are the tightest together."""
        found, n = self.ellipsoids(delta), len(self.arms)
        best = _together(self._halves(found))
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


def spectrum(
    features: Array, evidence: Statistics, misses: Array, residuals: Array | None = None, *, single: float = 1.0
) -> Spectrum:
    """Of features (n, r) in coordinates with ||theta|| <= 1, h (n,), and residuals (n,) where there are any."""
    information = evidence.information
    matrix = linalg.moment(features, information)
    sizes, axes = eigh(matrix, lower=True, check_finite=False, driver="evd")
    arms = np.ascontiguousarray(features @ axes)
    return Spectrum(
        axes=axes,
        arms=arms,
        sizes=np.maximum(sizes, 0.0),
        moments=linalg.transposed_times(arms, information * evidence.means),
        missed=float(np.sqrt((information * misses**2).sum())),
        left=0.0 if residuals is None else float(information @ residuals),
        single=single,
    )


def _balanced(logs: Array, slopes: Array, delta: float) -> Array:
    """(m, K) pi proportional to exp(logs_k + z slopes_k), z such that the sum of these is 1 / delta.

    By Newton's method from the right: the logarithm of the sum is convex and increases in z.
    """
    z = ((np.log(1.0 / delta) - logs) / slopes).min(axis=1)
    for _ in range(NEWTON):
        powers = logs + z[:, None] * slopes
        found = logsumexp(powers, axis=1)
        pis = np.exp(powers - found[:, None])
        step = (found - np.log(1.0 / delta)) / np.vecdot(pis, slopes)
        z = z - step
        if (step <= DIGITS * z).all():
            break
    return np.asarray(pis)


def _together(halves: Array) -> list[int]:
    """Columns of halves (n, k), one after the other: with those before, each makes the mean of row minima smallest."""
    best: list[int] = []
    narrowest = np.full((len(halves), 1), np.inf)
    for _ in range(min(PAIRED, halves.shape[1])):
        means = np.minimum(halves, narrowest).mean(axis=0)
        means[best] = np.inf
        best.append(int(means.argmin()))
        narrowest = np.minimum(narrowest, halves[:, best[-1:]])
    return best


def spread(rows: Array, share: float) -> Array:
    """(n, n) ||row_x - share row_x'||, from inner products."""
    squares = linalg.inner(rows, rows)
    lengths = np.diag(squares).copy()
    squares *= -2.0 * share
    squares += lengths[:, None]
    squares += share**2 * lengths
    np.maximum(squares, 0.0, out=squares)
    return np.sqrt(squares, out=squares)
