"""The covariance of all points, in the form that is cheapest for a domain and a kernel.

    Sigma = Phi S Phi'          `InFeatures`: r features stand for n points, S is (r, r)
    Sigma = base - R' R         `Downdated`: a prior matrix that is stored, or computed when it is needed, less rows R

Measurements at the points X (m,) with variances D (m,) change either by the same rows:

    L L' = Sigma[X, X] + diag(D),    R = L^-1 Sigma[X],    Sigma <- Sigma - R' R.

Nothing changes in place: a covariance that was handed out stays what it was. Downdates lose digits; `drift` measures
how many by an identity that a downdate does not use, and whoever holds the data starts afresh when it is too large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from superlevel import linalg
from superlevel.arrays import Array, Indices
from superlevel.blocks import LARGE
from superlevel.domain import Domain
from superlevel.features import Features, embed
from superlevel.posterior.downdated import Computed, Downdated, MatrixPrior, Stored
from superlevel.posterior.field import Held
from superlevel.posterior.large import ByData
from superlevel.posterior.protocol import EPS, Fresh, Prior, RowChange, Told, noisy_factor, probe

__all__ = ["Downdated", "FeaturePrior", "InFeatures", "by_rows", "prior"]

THIRD = 3  # features are cheaper while they are fewer than this part of the points, n r against n^2,
ROOTS = 8  # and than this many times sqrt(n), n r^2 against n^2 times the rows that are kept apart
SOME, WORTHWHILE = 2, 4  # points that show whether features pay, for each of them; and how many times as many there are
STORED = 6000  # points up to which all their covariances are stored: 0.3 GB
ROOM = 2**25  # numbers that the features of a large domain may have: 0.25 GB


def prior(domain: Domain) -> Prior:
    """Features where they are few, a stored matrix where it is small enough, or else rows when they are needed.

    Of a large domain no rows are kept (`superlevel.posterior.large`).
    """
    found = _exact_features(domain)
    if found is not None:
        return FeaturePrior(features=found)
    if domain.n <= STORED:
        return MatrixPrior(base=Stored(matrix=domain.gram(np.arange(domain.n))))
    return by_rows(domain)


def by_rows(domain: Domain) -> Prior:
    """Rows of the kernel when they are needed: cheapest where a kernel serves for one batch only."""
    return ByData(domain=domain) if domain.n > LARGE else MatrixPrior(base=Computed(domain=domain))


def _exact_features(domain: Domain) -> Features | None:
    """Features that miss no more than rounding does, if they are few enough to pay."""
    limit = min(domain.n // THIRD, int(ROOTS * domain.n**0.5))
    if domain.n > LARGE:
        limit = min(limit, ROOM // domain.n)
    scale = float(domain.diagonal().max())
    if limit == 0 or scale == 0:
        return None
    if domain.kernel is None:
        return embed(None, domain.points) if domain.dimension <= limit else None
    missed = 2 * domain.n * EPS * scale
    count = SOME * limit
    if WORTHWHILE * count <= domain.n:
        # Some of the points need as many features as all of them at most: where these are too many already, to find
        # that out from all points would take minutes and gigabytes.
        some = domain.points[np.linspace(0, domain.n - 1, count).astype(np.int64)]
        if embed(domain.kernel, some, tol=0, max_rank=limit).residual > missed:
            return None
    found = embed(domain.kernel, domain.points, tol=0, max_rank=limit)
    return found if found.residual <= missed else None


@dataclass(frozen=True, kw_only=True, eq=False)
class FeaturePrior:
    """K = Phi Phi'."""

    features: Features

    @property
    def rank(self) -> int:
        return self.features.rank

    def after(self, told: Told, /) -> Fresh:
        arms, weights = self.features.array, told.weights
        support = np.flatnonzero(weights)
        precision = np.eye(arms.shape[1], order="F")
        if len(support):
            precision += linalg.moment(arms[support], weights[support])  # the lower triangle is all that is read
        factor = linalg.cholesky(precision)
        whitened = linalg.whiten(factor, np.eye(len(precision)))
        found = InFeatures(arms=arms, inner=linalg.inner(whitened, whitened))
        theta = linalg.cholesky_solve(factor, linalg.transposed_times(arms, told.sums))
        field = Held(mean=told.mean + linalg.times(arms, theta), variance=np.maximum(found.diagonal(), 0.0))
        return Fresh(covariance=found, field=field)


@dataclass(frozen=True, kw_only=True, eq=False)
class InFeatures:
    """Sigma = Phi S Phi' with S = (I + Phi' diag(w) Phi)^-1."""

    arms: Array
    """Phi (n, r)"""
    inner: Array
    """S (r, r)"""

    at_hand: ClassVar[bool] = True

    def columns(self, points: Indices) -> Array:
        return linalg.inner(linalg.inner(self.arms[points], self.inner), self.arms)

    def between(self, left: Indices, right: Indices) -> Array:
        return linalg.inner(linalg.inner(self.arms[left], self.inner), self.arms[right])

    def times(self, vector: Array) -> Array:
        return linalg.times(self.arms, linalg.times(self.inner, linalg.transposed_times(self.arms, vector)))

    def squares(self, weights: Array) -> Array:
        """phi_x' S M S phi_x with M = Phi' diag(weights) Phi."""
        chosen = np.flatnonzero(weights)
        half = linalg.inner(self.arms[chosen] * np.sqrt(weights[chosen])[:, None], self.inner)
        if len(chosen) > self.arms.shape[1]:
            return _quadratic(self.arms, half.T @ half)
        products = linalg.inner(half, self.arms)
        products *= products
        return np.asarray(products.sum(axis=0))

    def measured(self, points: Indices, variances: Array) -> RowChange:
        arms = self.arms[points]
        columns = linalg.inner(arms, self.inner)  # (m, r)
        factor = noisy_factor(linalg.inner(columns, arms), variances, linalg.squared_norms(arms))
        half = linalg.solve_lower(factor, columns)  # L^-1 Phi_X S
        rows = linalg.inner(half, self.arms)
        after = InFeatures(arms=self.arms, inner=self.inner - half.T @ half)
        return RowChange(after=after, rows=rows, factor=factor)

    def diagonal(self) -> Array:
        return _quadratic(self.arms, self.inner)

    def within(self, n: int) -> InFeatures:
        return InFeatures(arms=self.arms[:n], inner=self.inner)

    def among(self, points: Indices) -> InFeatures:
        return InFeatures(arms=self.arms[points], inner=self.inner)

    def drift(self, weights: Array) -> float:
        """S (I + Phi' diag(w) Phi) = I"""
        vector = probe(len(self.inner))
        told = linalg.transposed_times(self.arms, weights * linalg.times(self.arms, vector))
        return float(np.abs(linalg.times(self.inner, vector + told) - vector).max())

    @property
    def kept(self) -> int:
        return 0


def _quadratic(arms: Array, matrix: Array) -> Array:
    """phi_x' matrix phi_x for every x."""
    return np.asarray(np.vecdot(linalg.inner(arms, np.ascontiguousarray(matrix)), arms))
