"""Features of a kernel that are computed when they are needed: for domains whose array of features would be too large.

    phi(x) = L^-1 k(P, x)      P the r pivots, L L' = k(P, P)      residual(x) = k(x, x) - ||phi(x)||^2

Only P, L and numbers (n,) are held. Pivots are chosen on a sample of the points. A pass over all points finds those with
a residual above the tolerance; more pivots are chosen among these until none is left. A pivot added makes no residual
larger, so that in between only these points are looked at. If there was more than one round, a last pass computes the
residuals of all points with all pivots.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
    """Some points and all pivots: everything that the points' features are computed from, as a job elsewhere needs it."""

    kernel: Any
    points: Array
    """(m, d)"""
    pivots: Array
    """(r, d)"""
    same: tuple[Indices, Indices]
    """Which of the points are pivots, and which ones."""

    def rows(self) -> Array:
        """(m, r) k(x, P); for linear features x itself."""
        if self.kernel is None:
            return self.points
        rows = np.ascontiguousarray(self.kernel(self.points, self.pivots), dtype=np.float64)
        here, which = self.same
        if len(here):  # WhiteKernel leaves its diagonal out of k(X, Y)
            rows[here, which] = self.kernel.diag(self.points[here])
        return rows


@dataclass(frozen=True, kw_only=True, eq=False)
class Streamed:
    """phi(x) for every point on demand, k(x, y) = phi(x)' phi(y) up to sqrt(residual(x) residual(y))."""

    kernel: Any
    points: Array
    """(n, d)"""
    pivots: Indices
    """(r,) the points whose kernel rows span the features: they lie well apart."""
    factor: Array
    """(r, r) L, lower; the identity for linear features."""
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

    @property
    def rank(self) -> int:
        return len(self.factor)

    def at(self, positions: Indices) -> Array:
        """(m, r) the features of these points: the rows of `Features.array`."""
        return linalg.whiten(self.factor, self.block(positions).rows())

    def block(self, positions: Indices) -> Block:
        """What these points' features are computed from."""
        return _Places.of(self.kernel, self.points, self.pivots).block(positions)

    def blocks(self) -> Iterator[Block]:
        """All points, in their order."""
        places = _Places.of(self.kernel, self.points, self.pivots)
        return (places.block(some) for some in _parts(np.arange(len(self.points))))


def pivoted(kernel: Any, points: Array, *, tol: float, limit: int) -> Streamed:
    """Features of the points (n, d), until no residual is above ``tol`` or there are ``limit`` of them."""
    diagonal = np.array(kernel.diag(points), dtype=np.float64)
    scale = float(np.abs(diagonal).max())
    check_residuals(kernel, diagonal, scale=scale)
    if scale <= tol:
        raise InputError("kernel", "at most tol on every point", f"give a tol below {scale:g}")
    stop = lowest(tol, len(points), scale)
    above, pivots, factor = np.arange(len(points)), np.empty(0, dtype=np.int64), np.empty((0, 0))
    squares, rounds = np.zeros(len(points)), 0
    while len(above) and len(pivots) < limit:
        further = _extended(kernel, points, (pivots, factor), _sample(above, SAMPLE), tol=stop, limit=limit)
        if len(further[0]) == len(pivots):
            break  # what is above the tolerance is rounding
        (pivots, factor), rounds = further, rounds + 1
        squares[above] = _squares(kernel, points, (pivots, factor), above)
        left = diagonal[above] - squares[above]
        above = above[(left > stop) & ~np.isin(above, pivots)]
    if rounds > 1:
        squares = _squares(kernel, points, (pivots, factor), np.arange(len(points)))
    residuals = diagonal - squares
    residuals[pivots] = 0.0
    check_residuals(kernel, residuals, scale=scale)
    return Streamed(
        kernel=kernel,
        points=points,
        pivots=pivots,
        factor=factor,
        squares=squares,
        residuals=residuals,
        passes=min(rounds, 2),
    )


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


@dataclass(frozen=True, kw_only=True, eq=False)
class _Places:
    """Points and pivots, ready to be cut into blocks."""

    kernel: Any
    points: Array
    places: Array
    """(r, d) of the pivots."""
    order: Indices
    ascending: Indices
    """(r,) the pivots in ascending order, and that order."""

    @classmethod
    def of(cls, kernel: Any, points: Array, pivots: Indices) -> _Places:
        order = np.argsort(pivots)
        return cls(kernel=kernel, points=points, places=points[pivots], order=order, ascending=pivots[order])

    def block(self, positions: Indices) -> Block:
        same = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        if len(self.ascending):
            near = np.minimum(np.searchsorted(self.ascending, positions), len(self.ascending) - 1)
            here = np.flatnonzero(self.ascending[near] == positions)
            same = here, self.order[near[here]]
        return Block(kernel=self.kernel, points=self.points[positions], pivots=self.places, same=same)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Job:
    block: Block
    factor: Array
    key: ClassVar[None] = None


def _squares(kernel: Any, points: Array, chosen: tuple[Indices, Array], positions: Indices) -> Array:
    """(m,) ||phi(x)||^2 of these points, in blocks."""
    pivots, factor = chosen
    places = _Places.of(kernel, points, pivots)
    jobs = (_Job(block=places.block(some), factor=factor) for some in _parts(positions))
    return np.concatenate(list(passes.over(jobs, _lengths)))


def _lengths(job: _Job) -> Array:
    return linalg.squared_norms(linalg.whiten(job.factor, job.block.rows()))


def _extended(
    kernel: Any, points: Array, chosen: tuple[Indices, Array], some: Indices, *, tol: float, limit: int
) -> tuple[Indices, Array]:
    """Pivots and factor, with further pivots until these points have no residual above ``tol``."""
    pivots, factor = chosen
    known = None
    if len(pivots):
        known = linalg.whiten(factor, _Places.of(kernel, points, pivots).block(some).rows())
    found = pivoted_cholesky(kernel, points[some], tol=tol, limit=limit - len(pivots), known=known)
    count = len(pivots) + len(found.pivots)
    larger = np.zeros((count, count), order="F")
    larger[: len(pivots), : len(pivots)] = factor
    larger[len(pivots) :] = np.tril(found.array[found.pivots], k=len(pivots))
    return np.concatenate([pivots, some[found.pivots]]), larger


def _sample(positions: Indices, most: int) -> Indices:
    """Some of the positions, at most so many, spread by chance: equal steps through a grid would lie on lines."""
    if len(positions) <= most:
        return positions
    return np.sort(np.random.default_rng(0).choice(positions, most, replace=False))


def _parts(positions: Indices) -> Iterator[Indices]:
    return (positions[start : start + PART] for start in range(0, len(positions), PART))
