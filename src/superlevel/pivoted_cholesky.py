"""Pivoted Cholesky of a kernel matrix K, from its rows: K = Phi Phi' + E, E positive semi-definite.

After r pivots the largest entry of E is on its diagonal, residual(x) = k(x, x) - ||phi(x)||^2. The next pivots are
where the residual is largest. Only r rows of K are ever computed and the work is n r^2.

Pivots are taken in blocks, so that the passes over Phi are matrix products rather than matrix times vector. Within a
block the pivoting is exact on the candidates, and stops once they fall to a fraction of the largest residual: the
guarantee, which is the residual that remains, does not depend on the order of the pivots.

References: Harbrecht, Peters and Schneider 2012, Appl. Numer. Math. 62:428; Bach and Jordan 2002, JMLR 3:1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas, lapack

from superlevel import costs, linalg
from superlevel.arrays import Array, Indices
from superlevel.errors import InputError

CANDIDATES = 96  # points looked at together for the next pivots
PART = costs.PART
FRACTION = 0.1  # a candidate is taken while its residual is at least this part of the largest


class Rows(NamedTuple):
    """The rows of Phi, and what they miss."""

    array: Array
    """(n, r)"""
    residuals: Array
    """(n,) k(x, x) - ||phi(x)||^2, never negative."""
    pivots: Indices
    """(r,), or (r - s,) if s columns were known before."""


def pivoted_cholesky(kernel: Any, points: Array, *, tol: float, limit: int, known: Array | None = None) -> Rows:
    """The rows of points (n, d), until no residual is above ``tol`` or there are ``limit`` pivots.

    ``known`` (n, s) are columns that earlier pivots, on these or on other points, have given.
    """
    residuals = np.array(kernel.diag(points), dtype=np.float64)
    scale = float(np.abs(residuals).max())
    check_residuals(kernel, residuals, scale=scale)
    stop = lowest(tol, len(points), scale)
    columns = _Columns(len(points))
    if known is not None:
        columns.begin(known)
        residuals -= linalg.squared_norms(known)
        check_residuals(kernel, residuals, scale=scale)
    pivots: list[int] = []
    while len(pivots) < limit and (largest := float(residuals.max())) > stop:
        chosen, among, factor = _next_pivots(kernel, points, columns, residuals, max(stop, FRACTION * largest))
        room = slice(limit - len(pivots))
        chosen, among, factor = chosen[room], among[room, room], factor[room, room]
        at_pivots = columns.at(chosen)
        for part, rows in enumerate(columns.parts):
            fresh = np.asfortranarray(kernel(points[rows], points[chosen]), dtype=np.float64)
            within = (rows.start <= chosen) & (chosen < rows.stop)
            fresh[chosen[within] - rows.start] = among[within]  # WhiteKernel leaves its diagonal out of k(X, Y)
            fresh = blas.dgemm(-1.0, columns.known(part), at_pivots, beta=1.0, c=fresh, trans_b=1, overwrite_c=1)
            fresh = blas.dtrsm(1.0, factor, fresh, side=1, lower=1, trans_a=1, overwrite_b=1)
            residuals[rows] -= np.einsum("ij,ij->i", fresh, fresh)
            columns.append(part, fresh, limit)
        residuals[chosen] = 0.0
        check_residuals(kernel, residuals, scale=scale)
        pivots.extend(int(i) for i in chosen)
    if not pivots and known is None:
        raise InputError("kernel", "at most tol on every point", f"give a tol below {scale:g}")
    return Rows(array=columns.as_array(), residuals=residuals, pivots=np.array(pivots, dtype=np.int64))


def lowest(tol: float, count: int, scale: float) -> float:
    """The residual at which to stop: below it there is only rounding."""
    return max(tol, count * float(np.finfo(float).eps) * scale)


def _next_pivots(
    kernel: Any, points: Array, columns: _Columns, residuals: Array, least: float
) -> tuple[Indices, Array, Array]:
    """Points with large residuals that stay large given each other, their kernel, and the factor of its new part."""
    count = min(CANDIDATES, len(residuals))
    candidates = np.argpartition(-residuals, count - 1)[:count]
    among = np.asarray(kernel(points[candidates]), dtype=np.float64)
    rows = columns.at(candidates)
    new = np.asfortranarray(among - linalg.inner(rows, rows))
    factor, order, rank, _ = lapack.dpstrf(new, tol=least, lower=1)
    first = order[: max(rank, 1)] - 1
    return (
        candidates[first],
        among[np.ix_(first, first)],
        np.asfortranarray(np.tril(factor[: len(first), : len(first)])),
    )


class _Columns:
    """The features that are known so far, (n, r), in parts of `PART` points each.

    A part is column-major, so that it can grow by columns. No more than one part at a time exists twice: while it
    grows, and while it is copied into the row-major array.
    """

    def __init__(self, count: int) -> None:
        self.parts = [slice(start, min(start + PART, count)) for start in range(0, count, PART)]
        self._columns = [np.empty((rows.stop - rows.start, 64), order="F") for rows in self.parts]
        self._used = [0] * len(self.parts)

    def begin(self, known: Array) -> None:
        """Take the columns (n, s) that are known before the first pivot."""
        for part, rows in enumerate(self.parts):
            self.append(part, known[rows], known.shape[1])

    def known(self, part: int) -> Array:
        """(m, r) the features of the points of a part, column-major."""
        return self._columns[part][:, : self._used[part]]

    def at(self, points: Indices) -> Array:
        """(m, r) the features of these points."""
        return np.array([self.known(i // PART)[i % PART] for i in points.tolist()])

    def append(self, part: int, fresh: Array, limit: int) -> None:
        """Write fresh columns after the known ones, in twice the room where it is too small, up to the limit."""
        columns, used = self._columns[part], self._used[part]
        needed = used + fresh.shape[1]
        if needed > columns.shape[1]:
            larger = np.empty((len(columns), max(needed, min(2 * columns.shape[1], limit))), order="F")
            larger[:, :used] = columns[:, :used]
            self._columns[part] = columns = larger
        columns[:, used:needed] = fresh
        self._used[part] = needed

    def as_array(self) -> Array:
        """(n, r), row-major. Every part is freed as soon as it is copied."""
        array = np.empty((self.parts[-1].stop, self._used[-1]))
        for part, rows in enumerate(self.parts):
            array[rows] = self.known(part)
            self._columns[part] = np.empty((0, 0))
        return array


def check_residuals(kernel: Any, residuals: Array, *, scale: float) -> None:
    """Residuals of a positive semi-definite kernel are never negative; clip what is rounding."""
    least = float(residuals.min())
    if not np.isfinite(residuals).all():
        raise InputError("kernel", kernel, "it gives numbers that are not finite on these points")
    if least < -1e-8 * scale or scale == 0:
        raise InputError("kernel", kernel, f"it must be positive definite, but a residual is {least:g}")
    np.maximum(residuals, 0.0, out=residuals)
