"""Blocks of a kernel matrix between sets of points.

x, y        points, d coordinates each, as the kernel sees them
k(x, y)     kernel; None stands for the linear kernel <x, y>
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from superlevel.arrays import Array, Indices


class Kernel(Protocol):
    """What is used of a scikit-learn kernel. Any object with these two methods will do."""

    def __call__(self, left: Array, right: Array | None = None, /) -> Any:
        """Kernel block (p, q) between the rows of left (p, d) and of right (q, d), or (p, p) of left with itself."""

    def diag(self, points: Array, /) -> Any:
        """Vector (n,) of k(x, x) for the rows x of points (n, d)."""


def block(kernel: Kernel | None, left: Array, right: Array, shared: tuple[Indices, Indices]) -> Array:
    """(p, q) k between the rows of left (p, d) and of right (q, d), of which ``shared`` names pairs of the same point.

    scikit-learn's k(X, Y) has no WhiteKernel part even where X and Y share a row; only its k(X) and diag(X) have.
    """
    if kernel is None:
        return left @ right.T
    found = np.array(kernel(left, right), dtype=np.float64)
    above, beside = shared
    if above.size:  # not every kernel takes an empty set
        found[above, beside] = kernel.diag(left[above])
    return found


def variances(kernel: Kernel | None, points: Array) -> Array:
    """k(x, x) (m,) for the rows x of points (m, d)."""
    if kernel is None:
        return np.asarray(np.square(points).sum(axis=1))
    return np.array(kernel.diag(points), dtype=np.float64)


def same(left: Indices, right: Indices) -> tuple[Indices, Indices]:
    """Every pair of positions, in left (p,) and in right (q,), that are of the same point."""
    order = np.argsort(left, kind="stable")
    first, end = (np.searchsorted(left[order], right, side=side) for side in ("left", "right"))
    counts = end - first
    beside = np.repeat(np.arange(len(right)), counts)
    steps = np.arange(len(beside)) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[np.repeat(first, counts) + steps], beside
