"""The covariance of all points, in the form that is cheapest for a domain and a kernel.

    Sigma = Phi S Phi'          `InFeatures`: r features stand for n points, S is (r, r)
    Sigma = base - R' R         `Downdated`: a prior matrix that is stored, or computed when it is needed, less rows R

Measurements at the points X (m,) with variances D (m,) change either by the same rows:

    L L' = Sigma[X, X] + diag(D),    R = L^-1 Sigma[X],    Sigma <- Sigma - R' R.

Nothing changes in place: a covariance that was handed out stays what it was. Downdates lose digits; `drift` measures
how many by an identity that a downdate does not use, and whoever holds the data starts afresh when it is too large.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from superlevel import linalg
from superlevel.arrays import Array, Indices
from superlevel.domain import Domain
from superlevel.features import Features, embed

BLOCK = 2**21  # covariances held at a time: 16 MB
FOLD = 64  # rows that are kept apart before they are taken off a stored matrix
THIRD = 3  # features are cheaper while they are fewer than this part of the points, n r against n^2,
ROOTS = 8  # and than this many times sqrt(n), n r^2 against n^2 times the rows that are kept apart
STORED = 6000  # points up to which all their covariances are stored: 0.3 GB


class Change(NamedTuple):
    """What measuring some points does to the covariance."""

    after: Covariance
    rows: Array
    """R (m, n): the variance of every point falls by its column's sum of squares."""
    factor: Array
    """L (m, m)"""


class Covariance(Protocol):
    """Sigma (n, n)."""

    def columns(self, points: Indices) -> Array:
        """(m, n) the rows, or columns, of these points."""
        ...

    def times(self, vector: Array) -> Array:
        """Sigma v (n,)."""
        ...

    def squares(self, weights: Array) -> Array:
        """sum_j weights_j Sigma_jx^2 (n,), for every x."""
        ...

    def measured(self, points: Indices, variances: Array) -> Change:
        """After measurements at these points, all different, with these variances > 0."""
        ...

    def diagonal(self) -> Array:
        """(n,)"""
        ...

    def features(self, variance: Array, *, tol: float, max_rank: int) -> Features:
        """phi with phi(x)' phi(y) = Sigma(x, y), up to the residuals; the variances (n,) are known already."""
        ...

    def drift(self, weights: Array) -> float:
        """How far Sigma is from (K^-1 + diag(weights))^-1, relative to K, seen through one fixed random vector."""
        ...


class Prior(Protocol):
    """K, and the covariance that a given weight of measurements leaves of it."""

    def after(self, weights: Array) -> Covariance:
        """(K^-1 + diag(weights))^-1 without any downdate; weights (n,) are sums of 1 / variance."""
        ...

    @property
    def rank(self) -> int:
        """At least the rank of K."""
        ...


def prior(domain: Domain) -> Prior:
    """Features where they are few, a stored matrix where it is small enough, or else rows when they are needed."""
    found = _exact_features(domain)
    if found is not None:
        return FeaturePrior(features=found)
    if domain.n <= STORED:
        return MatrixPrior(base=_Stored(matrix=domain.gram(np.arange(domain.n))))
    return MatrixPrior(base=_Computed(domain=domain))


def _exact_features(domain: Domain) -> Features | None:
    """Features that miss no more than rounding does, if they are few enough to pay."""
    limit = min(domain.n // THIRD, int(ROOTS * domain.n**0.5))
    scale = float(domain.diagonal().max())
    if limit == 0 or scale == 0:
        return None
    if domain.kernel is None:
        return embed(None, domain.points) if domain.dimension <= limit else None
    found = embed(domain.kernel, domain.points, tol=0, max_rank=limit)
    return found if found.residual <= 2 * domain.n * np.finfo(float).eps * scale else None


def _probe(count: int) -> Array:
    return np.random.default_rng(0).standard_normal(count)


# ------------------------------------------------------------------------------------------ features


@dataclass(frozen=True, kw_only=True, eq=False)
class FeaturePrior:
    """K = Phi Phi'."""

    features: Features

    @property
    def rank(self) -> int:
        return self.features.rank

    def after(self, weights: Array) -> InFeatures:
        arms = self.features.array
        support = np.flatnonzero(weights)
        precision = np.eye(arms.shape[1], order="F")
        if len(support):
            precision += linalg.moment(arms[support], weights[support])
            precision = np.asfortranarray(np.tril(precision) + np.tril(precision, -1).T)
        whitened = linalg.whiten(linalg.cholesky(precision), np.eye(len(precision)))
        return InFeatures(arms=arms, inner=linalg.inner(whitened, whitened), precision=precision)


@dataclass(frozen=True, kw_only=True, eq=False)
class InFeatures:
    """Sigma = Phi S Phi', S = P^-1, P = I + Phi' diag(w) Phi. P only ever grows, so it keeps its digits."""

    arms: Array
    """Phi (n, r)"""
    inner: Array
    """S (r, r)"""
    precision: Array
    """P (r, r)"""

    def columns(self, points: Indices) -> Array:
        return linalg.inner(linalg.inner(self.arms[points], self.inner), self.arms)

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

    def measured(self, points: Indices, variances: Array) -> Change:
        arms = self.arms[points]
        columns = linalg.inner(arms, self.inner)  # (m, r)
        factor = _factor(linalg.inner(columns, arms), variances)
        half = linalg.solve_lower(factor, columns)  # L^-1 Phi_X S
        rows = linalg.inner(half, self.arms)
        after = InFeatures(
            arms=self.arms,
            inner=self.inner - half.T @ half,
            precision=self.precision + (arms.T / variances) @ arms,
        )
        return Change(after=after, rows=rows, factor=factor)

    def diagonal(self) -> Array:
        return _quadratic(self.arms, self.inner)

    def features(self, variance: Array, *, tol: float, max_rank: int) -> Features:  # noqa: ARG002
        """Phi L^-T with P = L L': all of them, since there are few."""
        arms = linalg.whiten(linalg.cholesky(self.precision), self.arms)
        return Features(array=arms, residuals=np.zeros(len(arms)), pivots=np.empty(0, dtype=np.int64))

    def drift(self, weights: Array) -> float:  # noqa: ARG002  (P knows them)
        probe = _probe(len(self.inner))
        left = linalg.times(self.inner, linalg.times(np.ascontiguousarray(self.precision), probe)) - probe
        return float(np.abs(left).max())


def _quadratic(arms: Array, matrix: Array) -> Array:
    """phi_x' matrix phi_x for every x."""
    return np.asarray(np.vecdot(linalg.inner(arms, np.ascontiguousarray(matrix)), arms))


# --------------------------------------------------------------------------------------------- points


class _Base(Protocol):
    """A symmetric (n, n) matrix, known by its rows."""

    @property
    def n(self) -> int: ...

    def rows(self, points: Indices) -> Array:
        """(m, n), which the caller may change."""
        ...

    def times(self, vector: Array) -> Array: ...

    def diagonal(self) -> Array: ...

    def less(self, rows: tuple[Array, ...]) -> Downdated:
        """Without R' R for all these blocks of rows."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class _Stored:
    matrix: Array

    @property
    def n(self) -> int:
        return len(self.matrix)

    def rows(self, points: Indices) -> Array:
        return self.matrix[points]

    def times(self, vector: Array) -> Array:
        return linalg.times(self.matrix, vector)

    def diagonal(self) -> Array:
        return np.diag(self.matrix).copy()

    def less(self, rows: tuple[Array, ...]) -> Downdated:
        matrix = self.matrix
        for block in rows:
            matrix = linalg.less_gram(matrix, block)
        return Downdated(prior=self, base=_Stored(matrix=matrix), blocks=())


@dataclass(frozen=True, kw_only=True, eq=False)
class _Computed:
    domain: Domain

    @property
    def n(self) -> int:
        return self.domain.n

    def rows(self, points: Indices) -> Array:
        return self.domain.gram(points, np.arange(self.domain.n))

    def times(self, vector: Array) -> Array:
        """From the rows where the vector is not zero."""
        product = np.zeros(self.n)
        for block in _blocks(np.flatnonzero(vector), self.n):
            product += linalg.transposed_times(self.rows(block), vector[block])
        return product

    def diagonal(self) -> Array:
        return self.domain.diagonal()

    def less(self, rows: tuple[Array, ...]) -> Downdated:
        return Downdated(prior=self, base=self, blocks=rows)


@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixPrior:
    """K by its rows."""

    base: _Base

    @property
    def rank(self) -> int:
        return self.base.n

    def after(self, weights: Array) -> Downdated:
        """K - K_X' (K_XX + diag(1 / w_X))^-1 K_X, X the measured points."""
        support = np.flatnonzero(weights)
        if not len(support):
            return Downdated(prior=self.base, base=self.base, blocks=())
        columns = self.base.rows(support)
        factor = _factor(columns[:, support], 1 / weights[support])
        rows = linalg.solve_lower(factor, columns)
        return replace(self.base.less((rows,)), prior=self.base)


@dataclass(frozen=True, kw_only=True, eq=False)
class Downdated:
    """Sigma = base - R' R, R in blocks of rows of which only the last one still grows."""

    prior: _Base
    """K itself."""
    base: _Base
    blocks: tuple[Array, ...]

    def columns(self, points: Indices) -> Array:
        found = self.base.rows(points)
        for block in self.blocks:
            found -= linalg.inner(np.ascontiguousarray(block[:, points].T), block.T)
        return found

    def times(self, vector: Array) -> Array:
        product = self.base.times(vector)
        for block in self.blocks:
            product -= linalg.transposed_times(block, linalg.times(block, vector))
        return product

    def squares(self, weights: Array) -> Array:
        total = np.zeros(self.base.n)
        for chosen in _blocks(np.flatnonzero(weights), self.base.n):
            products = self.columns(chosen)
            products *= products
            total += linalg.transposed_times(products, weights[chosen])
        return total

    def measured(self, points: Indices, variances: Array) -> Change:
        columns = self.columns(points)
        factor = _factor(columns[:, points], variances)
        rows = linalg.solve_lower(factor, columns)
        return Change(after=self._less(rows), rows=rows, factor=factor)

    def diagonal(self) -> Array:
        values = self.base.diagonal()
        for block in self.blocks:
            values -= np.einsum("ij,ij->j", block, block)
        return values

    def features(self, variance: Array, *, tol: float, max_rank: int) -> Features:
        """Pivoted Cholesky of Sigma by its columns."""
        places = np.arange(self.base.n, dtype=np.float64)[:, None]
        return embed(_AsKernel(covariance=self, variance=variance), places, tol=tol, max_rank=max_rank)

    def drift(self, weights: Array) -> float:
        """(I + K diag(w)) Sigma = K, on a probe where something was measured, where nothing else adds to the cost."""
        support = np.flatnonzero(weights)
        probe = np.zeros(self.base.n)
        probe[support] = _probe(len(support)) / max(1.0, np.sqrt(len(support)))
        seen = self.times(probe)
        # K (probe - w o Sigma probe) is K times something on the support alone.
        inside = probe - weights * seen
        scale = float(self.prior.diagonal().max())
        return float(np.abs(self.prior.times(inside) - seen).max()) / scale

    def _less(self, rows: Array) -> Downdated:
        last = self.blocks[-1] if self.blocks else None
        if last is not None and len(last) + len(rows) <= FOLD:
            return replace(self, blocks=(*self.blocks[:-1], np.concatenate([last, rows])))
        if isinstance(self.base, _Stored) and last is not None:
            return replace(self.base.less((last, rows)), prior=self.prior)
        return replace(self, blocks=(*self.blocks, rows))


@dataclass(frozen=True, kw_only=True, eq=False)
class _AsKernel:
    """A covariance as a kernel on the numbers of the points."""

    covariance: Downdated
    variance: Array

    def __call__(self, left: Array, right: Array | None = None, /) -> Array:
        rows = left[:, 0].astype(np.int64)
        columns = rows if right is None else right[:, 0].astype(np.int64)
        if len(columns) < len(rows):
            return np.asarray(self.covariance.columns(columns)[:, rows].T)
        return self.covariance.columns(rows)[:, columns]

    def diag(self, points: Array, /) -> Array:
        return self.variance[points[:, 0].astype(np.int64)]


def _factor(covariances: Array, variances: Array) -> Array:
    """L of the measured points' covariances plus the noise."""
    matrix = np.asfortranarray(covariances)
    linalg.add_to_diagonal(matrix, variances)
    return linalg.cholesky(matrix)


def _blocks(chosen: Indices, width: int) -> list[Indices]:
    """The chosen points, as many at a time as a block may hold."""
    step = max(1, BLOCK // width)
    return [chosen[start : start + step] for start in range(0, len(chosen), step)]
