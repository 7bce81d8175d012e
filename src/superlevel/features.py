"""Finite features of a kernel, with the error they carry.

Pivoted Cholesky of the kernel matrix K, from its rows: after r pivots K = Phi Phi' + E with E positive semi-definite,
so the largest entry of E is on its diagonal, residual(x) = k(x, x) - ||phi(x)||^2. The next pivots are where the
residual is largest. Only r rows of K are ever computed and the work is n r^2.

Pivots are taken in blocks, so that the passes over Phi are matrix products rather than matrix times vector. Within a
block the pivoting is exact on the candidates, and stops once they fall to a fraction of the largest residual: the
guarantee, which is the residual that remains, does not depend on the order of the pivots.

References: Harbrecht, Peters and Schneider 2012, Appl. Numer. Math. 62:428; Bach and Jordan 2002, JMLR 3:1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import blas, lapack

from superlevel import costs, linalg
from superlevel.arrays import Array, Indices, Mask, as_count, as_matrix, as_number
from superlevel.errors import InputError
from superlevel.one_thread import one_thread

CANDIDATES = 96  # points looked at together for the next pivots
PART = costs.PART
CLOSE, ROUNDING = 1e-12, 1e-28  # squared lengths of a pair, relative to its parts', that may be, and are, none
PROBED, SATURATED = 1000, 0.5  # points whose features show how many all need, if they are fewer than this part
INSTEAD = "give fewer points or a smoother kernel, or leave the kernel out: it is then estimated, without features"
FRACTION = 0.1  # a candidate is taken while its residual is at least this part of the largest


@dataclass(frozen=True, kw_only=True, eq=False)
class Features:
    """phi(x) for every point, k(x, y) = phi(x)' phi(y) up to sqrt(residual(x) residual(y))."""

    array: Array
    """(n, r)"""
    residuals: Array
    """(n,) k(x, x) - ||phi(x)||^2, never negative."""
    pivots: Indices
    """(r,) the points whose kernel rows span the features: they lie well apart."""

    @property
    def residual(self) -> float:
        """The largest residual."""
        return float(self.residuals.max())

    @property
    def rank(self) -> int:
        return int(self.array.shape[1])

    def within(self, n: int) -> Features:
        """Those of the first n points."""
        if n == len(self.array):
            return self
        return Features(array=self.array[:n], residuals=self.residuals[:n], pivots=self.pivots[self.pivots < n])

    def reached(self, share: float = 0.0) -> Mask:
        """The directions phi(x) (n,), or phi(x) - share phi(x') (n, n) if share > 0, that are not zero.

        The value of a zero direction is known without measuring.
        """
        arms = self.array
        if not share:
            return np.asarray(arms.any(axis=1))
        lengths = linalg.squared_norms(arms)
        parts = np.add.outer(lengths, share**2 * lengths)
        found = np.asarray(parts - 2.0 * share * linalg.inner(arms, arms) > CLOSE * parts)
        # The product form cancels: a share near 1 makes short pairs that are not zero.
        first, second = np.nonzero(~found)
        short = linalg.squared_norms(arms[first] - share * arms[second])
        found[first, second] = short > ROUNDING * parts[first, second]
        return found


@one_thread
def embed(kernel: Any, points: ArrayLike, *, tol: float = 1e-6, max_rank: int | None = None) -> Features:
    """Features of a kernel on points (n, d), until no residual is above ``tol``.

    ``kernel`` is any scikit-learn kernel, or None for linear features phi(x) = x, which are exact. ``max_rank`` ends
    the work early; the residual says at what price.
    """
    places = as_matrix("points", points)
    tol = as_number("tol", tol, at_least=0)
    count = len(places)
    if kernel is None:
        return Features(array=places, residuals=np.zeros(count), pivots=np.arange(0))
    limit = count if max_rank is None else min(count, as_count("max_rank", max_rank))
    _announce(kernel, places, tol, limit)
    return _pivoted_cholesky(kernel, places, tol, limit)


def tolerance(ridge: float, rtol: float) -> float:
    """A residual that costs a design with this ridge about a tenth of a gap of ``rtol``.

    `superlevel.design.solve` adds what the features miss to the value it certifies: at most about (1 + 1/sqrt(s))^2
    tol / ridge of the value s, and in practice a fraction of that.
    """
    return 0.25 * as_number("rtol", rtol, above=0) * as_number("ridge", ridge, above=0)


def _announce(kernel: Any, points: Array, tol: float, limit: int) -> None:
    """Say what the features will take, where that is much: their number is at most the limit, and seen from a part."""
    n, d = points.shape
    if not costs.of_features(n, d, limit).notable:
        return
    some = points[np.linspace(0, n - 1, min(n, PROBED)).astype(np.int64)]
    rank = _pivoted_cholesky(kernel, some, tol, min(limit, len(some))).rank
    expected = limit if rank > SATURATED * len(some) else min(limit, 2 * rank)
    cost = costs.of_features(n, d, expected)
    costs.announce("points", f"up to {expected:,} features of the kernel on {n:,} points", cost, instead=INSTEAD)


def _pivoted_cholesky(kernel: Any, points: Array, tol: float, limit: int) -> Features:
    residuals = np.array(kernel.diag(points), dtype=np.float64)
    _check_residuals(kernel, residuals, scale=float(np.abs(residuals).max()))
    scale = float(residuals.max())
    stop = max(tol, len(points) * np.finfo(float).eps * scale)  # below this there is only rounding
    known = _Known(len(points))
    pivots: list[int] = []
    while len(pivots) < limit and (largest := float(residuals.max())) > stop:
        chosen, among, factor = _next_pivots(kernel, points, known, residuals, max(stop, FRACTION * largest))
        room = slice(limit - len(pivots))
        chosen, among, factor = chosen[room], among[room, room], factor[room, room]
        at_pivots = known.at(chosen)
        for part, rows in enumerate(known.parts):
            fresh = np.asfortranarray(kernel(points[rows], points[chosen]), dtype=np.float64)
            within = (rows.start <= chosen) & (chosen < rows.stop)
            fresh[chosen[within] - rows.start] = among[within]  # WhiteKernel leaves its diagonal out of k(X, Y)
            fresh = blas.dgemm(-1.0, known.columns(part), at_pivots, beta=1.0, c=fresh, trans_b=1, overwrite_c=1)
            fresh = blas.dtrsm(1.0, factor, fresh, side=1, lower=1, trans_a=1, overwrite_b=1)
            residuals[rows] -= np.einsum("ij,ij->i", fresh, fresh)
            known.append(part, fresh, limit)
        residuals[chosen] = 0.0
        _check_residuals(kernel, residuals, scale=scale)
        pivots.extend(int(i) for i in chosen)
    if not pivots:
        raise InputError("kernel", "at most tol on every point", f"give a tol below {scale:g}")
    return Features(array=known.as_array(), residuals=residuals, pivots=np.array(pivots, dtype=np.int64))


def _next_pivots(
    kernel: Any, points: Array, known: _Known, residuals: Array, least: float
) -> tuple[Indices, Array, Array]:
    """Points with large residuals that stay large given each other, their kernel, and the factor of its new part."""
    count = min(CANDIDATES, len(residuals))
    candidates = np.argpartition(-residuals, count - 1)[:count]
    among = np.asarray(kernel(points[candidates]), dtype=np.float64)
    rows = known.at(candidates)
    new = np.asfortranarray(among - linalg.inner(rows, rows))
    factor, order, rank, _ = lapack.dpstrf(new, tol=least, lower=1)
    first = order[: max(rank, 1)] - 1
    return (
        candidates[first],
        among[np.ix_(first, first)],
        np.asfortranarray(np.tril(factor[: len(first), : len(first)])),
    )


class _Known:
    """The features that are known so far, (n, r), in parts of `PART` points each.

    A part is column-major, so that it can grow by columns. No more than one part at a time exists twice: while it
    grows, and while it is copied into the row-major array.
    """

    def __init__(self, count: int) -> None:
        self.parts = [slice(start, min(start + PART, count)) for start in range(0, count, PART)]
        self._columns = [np.empty((rows.stop - rows.start, 64), order="F") for rows in self.parts]
        self._used = [0] * len(self.parts)

    def columns(self, part: int) -> Array:
        """(m, r) the features of the points of a part, column-major."""
        return self._columns[part][:, : self._used[part]]

    def at(self, points: Indices) -> Array:
        """(m, r) the features of these points."""
        return np.array([self.columns(i // PART)[i % PART] for i in points.tolist()])

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
            array[rows] = self.columns(part)
            self._columns[part] = np.empty((0, 0))
        return array


def _check_residuals(kernel: Any, residuals: Array, *, scale: float) -> None:
    """Residuals of a positive semi-definite kernel are never negative; clip what is rounding."""
    least = float(residuals.min())
    if not np.isfinite(residuals).all():
        raise InputError("kernel", kernel, "it gives numbers that are not finite on these points")
    if least < -1e-8 * scale or scale == 0:
        raise InputError("kernel", kernel, f"it must be positive definite, but a residual is {least:g}")
    np.maximum(residuals, 0.0, out=residuals)
