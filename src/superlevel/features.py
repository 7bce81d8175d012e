"""Finite features of a kernel, with the error they carry, by pivoted Cholesky (`superlevel.pivoted_cholesky`).

`embed` returns the features of all points as an array. `stream` returns what is needed to compute them when they are
needed, for domains whose array would not fit into the memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from superlevel import costs, linalg, streamed
from superlevel.arrays import Array, Indices, Mask, as_count, as_matrix, as_number
from superlevel.one_thread import one_thread
from superlevel.pivoted_cholesky import pivoted_cholesky
from superlevel.streamed import Streamed

CLOSE, ROUNDING = 1e-12, 1e-28  # squared lengths of a pair, relative to its parts', that may be, and are, none
PROBED, SATURATED = 1000, 0.5  # points whose features show how many all need, if they are fewer than this part
INSTEAD = "give fewer points or a smoother kernel, or leave the kernel out: it is then estimated, without features"


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
    return Features(**pivoted_cholesky(kernel, places, tol=tol, limit=limit)._asdict())


@one_thread
def stream(kernel: Any, points: ArrayLike, *, tol: float = 1e-6, max_rank: int | None = None) -> Streamed:
    """The features of `embed` for points (n, d) so many that an array (n, r) of them would be too large.

    They are computed when they are needed, in blocks of points and in threads; what is held are the pivots, a factor
    (r, r) and a few numbers for each point. The same arguments mean the same. Pivots are others than those of `embed`:
    they are chosen on samples, and no point of all has a residual above ``tol``.

    >>> from sklearn.gaussian_process.kernels import RBF
    >>> line = np.linspace(0, 1, 5000)[:, None]
    >>> found = stream(RBF(0.1), line, tol=1e-3)
    >>> found.residual <= 1e-3, found.at(np.array([7, 2000])).shape == (2, found.rank), found.passes
    (True, True, 1)
    """
    places = as_matrix("points", points)
    tol = as_number("tol", tol, at_least=0)
    if kernel is None:
        return streamed.linear(places)
    limit = len(places) if max_rank is None else min(len(places), as_count("max_rank", max_rank))
    streamed.announce(kernel, places, tol=tol, limit=limit)
    return streamed.pivoted(kernel, places, tol=tol, limit=limit)


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
    rank = len(pivoted_cholesky(kernel, some, tol=tol, limit=min(limit, len(some))).pivots)
    expected = limit if rank > SATURATED * len(some) else min(limit, 2 * rank)
    cost = costs.of_features(n, d, expected)
    costs.announce("points", f"up to {expected:,} features of the kernel on {n:,} points", cost, instead=INSTEAD)
