"""Features of a kernel that are computed when they are needed: for domains whose array of features would be too large.

    phi(x) = L^-1 k(P, x)      P the r pivots, L L' = k(P, P)      residual(x) = k(x, x) - ||phi(x)||^2

Only P, L and numbers (n,) are held. Pivots are chosen on a sample of the points. A pass over all points finds those
with a residual above the tolerance, and further pivots are chosen among these until none is left. A further pivot makes
no residual larger, so that only these points are looked at in between. After more than one such round a last pass
computes the residuals of all points with all pivots.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from superlevel import costs, linalg, passes
from superlevel.arrays import Array, Indices
from superlevel.errors import InputError
from superlevel.pivoted_cholesky import check_residuals, lowest, pivoted_cholesky

PART = 2048  # points of a block: with a thousand features, a block and its products are 50 MB
SAMPLE = 20_000  # points at most among which pivots are chosen together
PROBED, SATURATED = 4000, 0.5  # points whose features show how many all need, if they are fewer than this part
INSTEAD = "give a larger tol, a max_rank, a smoother kernel or fewer points"


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """Some points, to be computed here or on another machine."""

    points: Array
    """(m, d)"""
    same: tuple[Indices, Indices]
    """Which of the points are pivots, and which ones."""

    key: ClassVar[None] = None  # results are numbers of one design: nobody asks for them again


@dataclass(frozen=True, kw_only=True, eq=False)
class Basis:
    """What the features of all blocks are computed from."""

    kernel: Any
    pivots: Array
    """(r, d)"""
    factor: Array
    """(r, r) F, lower: a row is k(x, P)' F^-T."""

    def rows(self, block: Block) -> Array:
        """(m, r)"""
        return linalg.whiten(self.factor, self._kernel_rows(block))

    def _kernel_rows(self, block: Block) -> Array:
        """(m, r) k(x, P); for linear features x itself."""
        if self.kernel is None:
            return block.points
        rows = np.ascontiguousarray(self.kernel(block.points, self.pivots), dtype=np.float64)
        here, which = block.same
        if len(here):  # WhiteKernel leaves its diagonal out of k(X, Y)
            rows[here, which] = self.kernel.diag(block.points[here])
        return rows


@dataclass(frozen=True, kw_only=True, eq=False)
class Pivoted:
    """phi(x) of any of the points, from pivots among them."""

    kernel: Any
    points: Array
    """(n, d)"""
    pivots: Indices
    """(r,) the points whose kernel rows span the features: they lie well apart."""
    factor: Array
    """(r, r) L, lower; the identity for linear features."""

    @property
    def rank(self) -> int:
        return len(self.factor)

    def at(self, positions: Indices) -> Array:
        """(m, r) the features of these points."""
        return self.basis(self.factor).rows(self.block(positions))

    def basis(self, factor: Array) -> Basis:
        """For rows with this factor (r, r) in the place of L."""
        return Basis(kernel=self.kernel, pivots=self.points[self.pivots], factor=factor)

    def block(self, positions: Indices) -> Block:
        """These points."""
        order = np.argsort(self.pivots)
        here = np.flatnonzero(np.isin(positions, self.pivots))
        which = order[np.searchsorted(self.pivots, positions[here], sorter=order)]
        return Block(points=self.points[positions], same=(here, which))

    def over(self, positions: Indices, function: Callable[[Block], Array]) -> Array:
        """What a function makes of these points, `PART` at a time, side by side."""
        starts = range(0, len(positions), PART)
        blocks = (self.block(positions[start : start + PART]) for start in starts)
        return np.concatenate(list(passes.over(blocks, function, total=len(starts))), axis=-1)

    def lengths(self, positions: Indices) -> Array:
        """(m,) ||phi(x)||^2 of these points, in blocks."""
        return self.over(positions, partial(_lengths, self.basis(self.factor)))

    def extended(self, some: Indices, *, tol: float, limit: int) -> Pivoted:
        """With further pivots, until these points have no residual above ``tol`` or there are ``limit`` pivots."""
        count = len(self.pivots)
        known = self.at(some) if count else None
        found = pivoted_cholesky(self.kernel, self.points[some], tol=tol, limit=limit - count, known=known)
        factor = np.zeros((count + len(found.pivots), count + len(found.pivots)), order="F")
        factor[:count, :count] = self.factor
        factor[count:] = np.tril(found.array[found.pivots], k=count)
        pivots = np.concatenate([self.pivots, some[found.pivots]])
        return Pivoted(kernel=self.kernel, points=self.points, pivots=pivots, factor=factor)


@dataclass(frozen=True, kw_only=True, eq=False)
class Streamed(Pivoted):
    """phi(x) of all points on demand, k(x, y) = phi(x)' phi(y) up to sqrt(residual(x) residual(y))."""

    squares: Array
    """(n,) ||phi(x)||^2"""
    residuals: Array
    """(n,) k(x, x) - ||phi(x)||^2, never negative."""
    passes: int
    """Passes over all points that this took."""

    @property
    def residual(self) -> float:
        """The largest residual."""
        return float(self.residuals.max())


def pivoted(kernel: Any, points: Array, *, tol: float, limit: int) -> Streamed:
    """Features of the points (n, d), until no residual is above ``tol`` or there are ``limit`` of them."""
    everywhere, none = np.arange(len(points)), np.empty(0, dtype=np.int64)
    diagonal = np.array(kernel.diag(points), dtype=np.float64)
    scale = float(np.abs(diagonal).max())
    check_residuals(kernel, diagonal, scale=scale)
    if scale <= tol:
        raise InputError("kernel", "at most tol on every point", f"give a tol below {scale:g}")
    stop = lowest(tol, len(points), scale)
    found = Pivoted(kernel=kernel, points=points, pivots=none, factor=np.empty((0, 0)))
    above, squares, rounds = everywhere, np.zeros(len(points)), 0
    while len(above) and found.rank < limit:
        further = found.extended(_sample(above, SAMPLE), tol=stop, limit=limit)
        if further.rank == found.rank:
            break  # what is above the tolerance is rounding
        found, rounds = further, rounds + 1
        squares[above] = found.lengths(above)
        above = above[diagonal[above] - squares[above] > stop]
        above = above[~np.isin(above, found.pivots)]
    if rounds > 1:
        squares = found.lengths(everywhere)
    residuals = diagonal - squares
    residuals[found.pivots] = 0.0
    check_residuals(kernel, residuals, scale=scale)
    return Streamed(**vars(found), squares=squares, residuals=residuals, passes=min(rounds, 2))


def linear(points: Array) -> Streamed:
    """phi(x) = x, which is exact."""
    count, d = points.shape
    return Streamed(
        kernel=None,
        points=points,
        pivots=np.empty(0, dtype=np.int64),
        factor=np.eye(d, order="F"),
        squares=linalg.squared_norms(points),
        residuals=np.zeros(count),
        passes=0,
    )


def announce(kernel: Any, points: Array, *, tol: float, limit: int) -> None:
    """Say what streamed features will take, where that is much: their number is seen from a sample."""
    n, d = points.shape
    if not costs.of_streamed_features(n, d, min(limit, n), SAMPLE).notable:
        return
    some = points[_sample(np.arange(n), PROBED)]
    rank = len(pivoted_cholesky(kernel, some, tol=tol, limit=min(limit, len(some))).pivots)
    expected = limit if rank > SATURATED * len(some) else min(limit, 2 * rank)
    cost = costs.of_streamed_features(n, d, expected, SAMPLE)
    costs.announce("points", f"up to {expected:,} streamed features on {n:,} points", cost, instead=INSTEAD)


def _lengths(basis: Basis, block: Block) -> Array:
    return linalg.squared_norms(basis.rows(block))


def _sample(positions: Indices, most: int) -> Indices:
    """Some of the positions, at most so many, spread by chance: equal steps through a grid would lie on lines."""
    if len(positions) <= most:
        return positions
    return np.sort(np.random.default_rng(0).choice(positions, most, replace=False))
