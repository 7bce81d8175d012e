"""Sigma = base - R' R: a prior matrix that is stored, or computed when it is needed, less rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np
from scipy.linalg import blas

from superlevel import linalg
from superlevel.arrays import Array, Indices
from superlevel.domain import Domain
from superlevel.posterior.field import Held
from superlevel.posterior.protocol import Fresh, RowChange, Told, chunks, noisy_factor, probe

FOLD = 64  # rows that are kept apart before they are taken off a stored matrix


class _Base(Protocol):
    """A symmetric (n, n) matrix, known by its rows."""

    @property
    def n(self) -> int: ...

    def rows(self, points: Indices) -> Array:
        """(m, n), which the caller may change."""
        ...

    def times(self, vector: Array) -> Array: ...

    def diagonal(self) -> Array: ...

    @property
    def at_hand(self) -> bool:
        """Whether a row costs no evaluation of the kernel."""
        ...

    def less(self, rows: tuple[Array, ...]) -> Downdated:
        """Without R' R for all these blocks of rows."""
        ...

    def within(self, n: int) -> _Base:
        """Of the first n points among themselves."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Stored:
    """All of it."""

    matrix: Array
    """(n, n), row-major"""

    at_hand: ClassVar[bool] = True

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
        return Downdated(prior=self, base=Stored(matrix=matrix), blocks=())

    def within(self, n: int) -> Stored:
        return Stored(matrix=np.ascontiguousarray(self.matrix[:n, :n]))


@dataclass(frozen=True, kw_only=True, eq=False)
class Computed:
    """K, of which nothing is stored."""

    domain: Domain
    first: int | None = None
    """Of so many of the points only; None for all of them."""

    at_hand: ClassVar[bool] = False

    @property
    def n(self) -> int:
        return self.domain.n if self.first is None else self.first

    def rows(self, points: Indices) -> Array:
        return self.domain.gram(points, np.arange(self.n))

    def times(self, vector: Array) -> Array:
        """From the rows where the vector is not zero."""
        product = np.zeros(self.n)
        for block in chunks(np.flatnonzero(vector), self.n):
            product += linalg.transposed_times(self.rows(block), vector[block])
        return product

    def diagonal(self) -> Array:
        return self.domain.diagonal()[: self.n]

    def less(self, rows: tuple[Array, ...]) -> Downdated:
        return Downdated(prior=self, base=self, blocks=rows)

    def within(self, n: int) -> Computed:
        return replace(self, first=n)


@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixPrior:
    """K by its rows."""

    base: _Base

    @property
    def rank(self) -> int:
        return self.base.n

    def after(self, told: Told, /) -> Fresh:
        """K - K_X' C K_X and K_X' C (b / w)_X with C = (K_XX + diag(1 / w_X))^-1, X the measured points."""
        support, shift = np.flatnonzero(told.weights), np.zeros(self.base.n)
        found = Downdated(prior=self.base, base=self.base, blocks=())
        if len(support):
            columns, variances = self.base.rows(support), 1 / told.weights[support]
            covariances = columns[:, support]
            factor = noisy_factor(covariances, variances, np.diag(covariances))
            rows = linalg.solve_lower(factor, columns)
            means = linalg.solve_lower(factor, (told.sums[support] * variances)[:, None])[:, 0]
            found = replace(self.base.less((rows,)), prior=self.base)
            shift = linalg.transposed_times(rows, means)
        return Fresh(found, Held(mean=told.mean + shift, variance=np.maximum(found.diagonal(), 0.0)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Downdated:
    """Sigma = base - R' R, R in blocks of rows of which only the last one still grows."""

    prior: _Base
    """K itself."""
    base: _Base
    blocks: tuple[Array, ...]

    def columns(self, points: Indices) -> Array:
        found = self.base.rows(points)
        for block in self.blocks if len(points) else ():  # BLAS takes no empty matrix
            found = blas.dgemm(-1.0, block.T, block[:, points], beta=1.0, c=found.T, overwrite_c=1).T
        return np.asarray(found)

    def between(self, left: Indices, right: Indices) -> Array:
        return self.columns(left)[:, right]

    def times(self, vector: Array) -> Array:
        product = self.base.times(vector)
        for block in self.blocks:
            product -= linalg.transposed_times(block, linalg.times(block, vector))
        return product

    def squares(self, weights: Array) -> Array:
        total = np.zeros(self.base.n)
        for chosen in chunks(np.flatnonzero(weights), self.base.n):
            products = self.columns(chosen)
            products *= products
            total += linalg.transposed_times(products, weights[chosen])
        return total

    def measured(self, points: Indices, variances: Array) -> RowChange:
        columns = self.columns(points)
        factor = noisy_factor(columns[:, points], variances, self.prior.diagonal()[points])
        rows = linalg.solve_lower(factor, columns)
        return RowChange(after=self._less(rows), rows=rows, factor=factor)

    def diagonal(self) -> Array:
        values = self.base.diagonal()
        for block in self.blocks:
            values -= np.einsum("ij,ij->j", block, block)
        return values

    def within(self, n: int) -> Downdated:
        blocks = tuple(np.ascontiguousarray(block[:, :n]) for block in self.blocks)
        return Downdated(prior=self.prior.within(n), base=self.base.within(n), blocks=blocks)

    def among(self, points: Indices) -> Downdated:
        return stored(np.ascontiguousarray(self.between(points, points)))

    def drift(self, weights: Array) -> float:
        """(I + K diag(w)) Sigma = K, on a probe where something was measured, where nothing else adds to the cost."""
        support = np.flatnonzero(weights)
        vector = np.zeros(self.base.n)
        vector[support] = probe(len(support)) / max(1.0, np.sqrt(len(support)))
        seen = self.times(vector)
        # K (v - w o Sigma v) is K times something on the support alone.
        inside = vector - weights * seen
        scale = float(self.prior.diagonal().max())
        return float(np.abs(self.prior.times(inside) - seen).max()) / scale

    @property
    def kept(self) -> int:
        return sum(len(block) for block in self.blocks)

    @property
    def at_hand(self) -> bool:
        return self.base.at_hand

    def _less(self, rows: Array) -> Downdated:
        last = self.blocks[-1] if self.blocks else None
        if last is not None and len(last) + len(rows) <= FOLD:
            return replace(self, blocks=(*self.blocks[:-1], np.concatenate([last, rows])))
        if isinstance(self.base, Stored) and last is not None and len(last) <= FOLD:
            folded = self.base.less((np.concatenate([last, rows]),))
            return replace(folded, prior=self.prior, blocks=self.blocks[:-1])
        # A block that came large, a whole campaign at once, stays apart: to fold it costs more than the few uses of it.
        return replace(self, blocks=(*self.blocks, rows))


def stored(matrix: Array) -> Downdated:
    """A covariance (n, n), row-major, of which nothing was taken off."""
    base = Stored(matrix=matrix)
    return Downdated(prior=base, base=base, blocks=())
