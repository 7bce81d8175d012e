"""Challenges: a one-sided test for each of the directions that are left, from batches whose places were fixed before.

Coordinates are such that ||theta|| <= 1, and every measurement is divided by its sigma. A direction is <theta, v>.

For a direction there is one estimate a = sum over batches of <u, y>. When batch k is planned its places are known and
its noise is not, so that weights u that are made from the places alone are fixed before the noise comes:

    a  <-  c a + <u, y>         m  <-  c m + Phi' u        a estimates <theta, m>
    q  <-  c^2 q + ||u||^2      p  <-  c p                 X = (summed noise of a) / p is a martingale

<theta, v - m> is bounded by the ellipsoids, which hold at the same time. So c and u minimise q + ||v - m||^2 / kappa^2,
in the norm of H^-1, H = 1 + Sigma / R^2: in coordinates in which H is 1, with e = v - c m, W = (Phi' Phi + kappa^2)^-1,

    c = m' W v / (q + m' W m),     u = Phi W e = (Phi Phi' + kappa^2)^-1 Phi e.

Sigma is the information of the batches that were planned, and R^2 = 2 log(1 / delta) + log det H of the batch before:
both are made of places that were fixed before this batch's noise. Earlier weights change in common only, by c; that is
what keeps X a martingale whatever the places depend on. Its quadratic variation is Q = q / p^2. p begins as
q <v, v> / <m, v>, so that Q is the information about <theta, v>, and X is about gap Q where the direction is a gap from
its level.

Theorem. Fix a density on slopes mu > 0. With probability 1 - delta, for all batches at once,

    E(X, Q)  =  mean of exp(mu X - mu^2 Q / 2)  <  1 / delta,

as E is a supermartingale that begins at 1 (Ville). E increases in X, so that X < B(Q, delta), at which E is 1 / delta.
Therefore <theta, m> is above a - p B. With the other sign of the noise it is below a + p B. Here the density is that of
N(g, (g / 2)^2) on mu > 0, g the gap as it was thought to be when the challenge began. Sign, g and delta of each
direction are written down in the plan before it is measured; what they are chosen from is the past. Challenges share
delta: whatever is chosen,

    P(some test ever errs)  <=  sum over challenges of their deltas  <=  delta,

for a challenge begins only if its deltas and those of all that began before fit into delta.

What <theta, phi> misses, h(x), moves a by at most ||u|| (sum_batch w h^2)^1/2 a batch. Measurements that are not of a
plan, or not all of it, may have been chosen by what others showed: they count in the ellipsoids only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr
from scipy.special import log_ndtr

from superlevel import linalg
from superlevel.arrays import Array, frozen
from superlevel.challenge import Challenge
from superlevel.confidence.ellipsoids import ROUNDING
from superlevel.goals import Bounds

KAPPA = 0.5  # the noise of an estimate against what the ellipsoids leave over
SPREAD = 0.5  # of the slopes' deviation over their mean
LEAST = 1e-6  # of c: what was learned so far is never thrown away
DIGITS = 1e-12  # of the product of two vectors' lengths: an inner product below is rounding
NOTHING = 1e-100  # a variance below this is of a direction that a batch does not reach
NEWTON = 60  # steps, which end sooner


class Told(NamedTuple):
    """A batch, over sigma."""

    rows: Array
    """(k, r) Phi"""
    whitened: Array
    """(k, r) the same in coordinates in which H is 1."""
    values: Array
    """(k,) y"""
    missed: float
    """(sum w h^2)^1/2, and rounding."""
    metric: Array
    """The lower factor of H."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OneSided:
    """The tests of a challenge that began."""

    challenge: Challenge
    directions: Array
    """(m, r) v"""
    unexplained: Array
    """(m,) what <theta, v> may miss of the direction of f."""
    estimates: Array
    """(m,) a"""
    means: Array
    """(m, r) m, in the coordinates of the features."""
    variances: Array
    """(m,) q; zero until a batch reaches the direction."""
    scales: Array
    """(m,) p"""
    misses: Array
    """(m,) how far what the features miss may have moved a."""

    def __post_init__(self) -> None:
        for array in (self.estimates, self.means, self.variances, self.scales, self.misses):
            frozen(array)

    def told(self, batch: Told) -> OneSided:
        """With a batch."""
        begun = self.variances > 0
        wanted, before = linalg.whiten(batch.metric, self.directions), linalg.whiten(batch.metric, self.means)
        shifted = linalg.gram(batch.whitened)
        linalg.add_to_diagonal(shifted, KAPPA**2)
        factor = linalg.cholesky(shifted)
        seen, known = linalg.inner(wanted, batch.whitened), linalg.inner(before, batch.whitened)
        kept = self._kept(wanted, before, linalg.whiten(factor, seen), linalg.whiten(factor, known))
        weights = linalg.cholesky_solve(factor, np.asfortranarray((seen - kept[:, None] * known).T)).T
        fresh = linalg.squared_norms(weights)
        total = kept**2 * self.variances + fresh
        reached = begun | (total > NOTHING)  # never begun anew: a second martingale has no share of delta
        means = kept[:, None] * self.means + weights @ batch.rows
        explained = np.vecdot(weights @ batch.whitened, wanted)  # no less than kappa^2 q at first
        first = total * linalg.squared_norms(wanted) / np.where(explained > 0, explained, 1.0)
        return replace(
            self,
            estimates=np.where(reached, kept * self.estimates + weights @ batch.values, 0.0),
            means=np.where(reached[:, None], means, 0.0),
            variances=np.where(reached, total, 0.0),
            scales=np.where(reached, np.where(begun, kept * self.scales, first), 0.0),
            misses=np.where(reached, kept * self.misses + np.sqrt(fresh) * batch.missed, 0.0),
        )

    def _kept(self, wanted: Array, before: Array, seen: Array, known: Array) -> Array:
        """(m,) c, from Phi v and Phi m in coordinates where Phi Phi' + kappa^2 is 1; zero with nothing to keep.

        a' W b = (a' b - (Phi a)' (Phi Phi' + kappa^2)^-1 (Phi b)) / kappa^2
        """
        begun, lengths = self.variances > 0, linalg.squared_norms(before)
        across = np.vecdot(before, wanted) - np.vecdot(known, seen)
        along = np.maximum(lengths - linalg.squared_norms(known), 0.0)
        best = across / np.where(begun, KAPPA**2 * self.variances + along, 1.0)
        # A direction that is hardly reached has an m of hardly any length, and across may be rounding: keep it then.
        certain = np.abs(across) > DIGITS * np.sqrt(lengths * linalg.squared_norms(wanted))
        return np.where(begun, np.where(certain, np.maximum(best, LEAST), 1.0), 0.0)

    @property
    def information(self) -> Array:
        """(m,) Q"""
        begun = self.variances > 0
        return np.asarray(np.where(begun, self.variances, 0.0) / np.where(begun, self.scales, 1.0) ** 2)

    @property
    def far(self) -> Array:
        """(m,) p B: how far the noise may have moved a."""
        return self.scales * reach(self.information, self.challenge.gaps, self.challenge.deltas)

    def ends(self, left: Bounds) -> Array:
        """(m,) the end of each direction of f on the side of the challenge; infinite where nothing was measured.

        ``left`` (m,) is where <theta, v - m> is.
        """
        signs, known = self.challenge.signs, self.variances > 0
        far = self.far + self.misses + self.unexplained
        rest = np.where(signs > 0, left.lower, left.upper)
        return np.where(known, self.estimates + rest - signs * far, -np.inf * signs)


def begin(challenge: Challenge, features: Array, misses: Array, share: float) -> OneSided:
    """Before the first batch, for features (n, r) and h (n,); a pair is f(x) - share f(x')."""
    points, others = challenge.points, challenge.others
    shares, none = np.where(others < 0, 0.0, share), np.zeros(len(points))
    return OneSided(
        challenge=challenge,
        directions=features[points] - shares[:, None] * features[others],
        unexplained=misses[points] + shares * misses[others],
        estimates=none,
        means=np.zeros((len(none), features.shape[1])),
        variances=none,
        scales=none,
        misses=none,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Challenges:
    """All that began, and what the next batch is weighed by."""

    tests: tuple[OneSided, ...]
    delta: float
    """What all of them may spend."""
    information: Array
    """(n,) of the batches that were planned so far, at each point."""
    squared: float
    """R^2"""

    @property
    def free(self) -> float:
        """What is left of delta."""
        return max(0.0, self.delta - sum(tests.challenge.delta for tests in self.tests))

    def begun(self, fresh: OneSided) -> Challenges:
        """With another challenge, if delta has room for it."""
        fits = fresh.challenge.delta <= self.free * (1 + DIGITS)
        return replace(self, tests=(*self.tests, fresh)) if fits else self

    def told(self, features: Array, information: Array, sums: Array, misses: Array) -> Challenges:
        """With a batch that was planned, and told as a whole: its w (n,), sums (n,) of y / sigma^2, and h (n,)."""
        if not information.any():
            return self
        matrix = linalg.moment(features, self.information / self.squared)
        linalg.add_to_diagonal(matrix, 1.0)
        factor = linalg.cholesky(matrix)
        told = _batch(features, information, sums, misses, factor)
        gain = 2.0 * float(np.log(np.diag(factor)).sum())
        return replace(
            self,
            tests=tuple(tests.told(told) for tests in self.tests),
            information=self.information + information,
            squared=_price(self.delta) + gain,
        )


def none(delta: float, n: int) -> Challenges:
    """Before the first one, on n points."""
    return Challenges(tests=(), delta=delta, information=np.zeros(n), squared=_price(delta))


def _price(delta: float) -> float:
    return 2.0 * float(np.log(1.0 / delta)) if delta else 1.0


def _batch(features: Array, information: Array, sums: Array, misses: Array, factor: Array) -> Told:
    """A batch, with no more rows than features, the same Phi' Phi and Phi' y, and the factor of H."""
    support = np.flatnonzero(information)
    roots = np.sqrt(information[support])
    rows, values = features[support] * roots[:, None], sums[support] / roots
    off = float((information * misses**2).sum()) + float(np.square(ROUNDING * rows).sum())
    if len(rows) > features.shape[1]:
        turned, triangle = qr(rows, mode="economic", check_finite=False)
        rows, values = np.ascontiguousarray(triangle), turned.T @ values
    whitened = linalg.whiten(factor, rows)
    return Told(rows=rows, whitened=whitened, values=values, missed=float(np.sqrt(off)), metric=factor)


def log_evidence(x: Array, information: Array, gaps: Array) -> tuple[Array, Array]:
    """log E(X, Q), and its derivative in X.

    E = (1 + s^2 Q)^-1/2 exp((P m^2 - g^2 / s^2) / 2) Phi(m P^1/2) / Phi(g / s), with s = g / 2, P = Q + 1 / s^2 and
    m = (X + g / s^2) / P, the mean of the slopes given X, had they not been positive.
    """
    precision = (SPREAD * gaps) ** -2.0
    total = information + precision
    mean = (x + gaps * precision) / total
    z = mean * np.sqrt(total)
    found = 0.5 * (z**2 - SPREAD**-2.0 - np.log1p(information / precision)) + log_ndtr(z) - log_ndtr(1.0 / SPREAD)
    mills = np.exp(-0.5 * z**2 - log_ndtr(z)) / np.sqrt(2.0 * np.pi)
    return found, mean + mills / np.sqrt(total)


def reach(information: Array, gaps: Array, deltas: Array) -> Array:
    """(m,) B, the root of E(B, Q) = 1 / delta, from the right by Newton's method: log E is convex in X."""
    wanted = np.log(1.0 / deltas)
    x = gaps * information + (wanted + 1.0) / gaps
    while (low := log_evidence(x, information, gaps)[0] < wanted).any():
        x = np.where(low, 2.0 * x + 1.0 / gaps, x)
    for _ in range(NEWTON):
        found, slope = log_evidence(x, information, gaps)
        step = (found - wanted) / slope
        x = x - step
        if (np.abs(step) <= 1e-9 * np.abs(x)).all():
            break
    return x


def needed(deltas: Array) -> Array:
    """(m,) g^2 Q at which a direction that is its gap from the level is decided, about, for these deltas."""
    wanted = np.log(1.0 / deltas)
    return 2.0 * wanted + np.log1p(SPREAD**2 * 2.0 * wanted)
