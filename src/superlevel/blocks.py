"""Points that are near each other, in blocks of about a thousand: the leaves of a k-d tree.

n      points (n, d)
b      blocks; block i has the points ``order[starts[i]:starts[i + 1]]``
q      measured points; a block is conditioned on at most k of them
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from superlevel.arrays import Array, Indices, frozen

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

LARGE = 20_000  # points of a domain from which passes go block by block, and no matrix (q, n) is kept
SIZE = 1024  # points of a block at most: a triangular solve with so many columns is as fast as with more
WORK = 2**35  # n k^2 of a pass: seconds
FEWEST = 64  # k at least
PLANE = 2  # coordinates of which a block has a lattice of corners


@dataclass(frozen=True, kw_only=True, eq=False)
class Blocks:
    """Every point is in one block."""

    order: Indices
    """(n,) the points, those of one block after those of another."""
    starts: Indices
    """(b + 1,) where each block begins, and n."""
    corners: Indices
    """(b, r) points that stand for a block, the last of them in its middle: in a plane those nearest to a lattice of
    3 by 3, in more dimensions those with the least and the greatest of each coordinate."""

    @cached_property
    def of(self) -> Indices:
        """(n,) the block of each point."""
        found = np.empty(len(self.order), dtype=np.int64)
        found[self.order] = np.repeat(np.arange(len(self)), np.diff(self.starts))
        return frozen(found)

    def nearest(self, data: Indices, told: Array, k: int, *, first: int = 0) -> Iterator[Indices]:
        """For some blocks, from ``first`` on, the positions of k < q measured points, ascending.

        ``told`` (q, b, r) is what each of the points ``data`` (q,) tells of each corner. Points of the block itself
        come first, and then those that tell most of one of the corners.
        """
        most = told.max(axis=2)
        own = self.of[data] - first
        inside = np.flatnonzero((own >= 0) & (own < most.shape[1]))
        most[inside, own[inside]] += told.max() + 1.0
        chosen = np.argpartition(-most, k - 1, axis=0)[:k]
        yield from np.sort(chosen, axis=0).T

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[Indices]:
        """The points of each block."""
        return (self.order[start:end] for start, end in zip(self.starts[:-1], self.starts[1:], strict=True))


def blocks(points: Array, units: Indices) -> Blocks:
    """Blocks of points (n, d); coordinates with the same number in ``units`` (d,) are of one unit."""
    ranges = np.ptp(points, axis=0)
    largest = np.zeros(units.max() + 1)
    np.maximum.at(largest, units, ranges)
    extent = largest[units]
    scaled = (points - points.min(axis=0)) / np.where(extent > 0, extent, 1.0)
    from scipy.spatial import cKDTree  # noqa: PLC0415  slow to import

    # Splitting in the middle of a range, and not at the median, takes a third of the time.
    tree = cKDTree(scaled, leafsize=SIZE, balanced_tree=False, compact_nodes=False)
    starts = sorted(_leaves(tree))
    order = np.asarray(tree.indices, dtype=np.int64)
    ends = [*starts[1:], len(order)]
    corners = np.array([_corners(scaled, order[start:end]) for start, end in zip(starts, ends, strict=True)])
    return Blocks(order=frozen(order), starts=frozen(np.array([*starts, len(order)])), corners=frozen(corners))


def _leaves(tree: cKDTree) -> Iterator[int]:
    """Where each leaf begins in the tree's order."""
    left = [tree.tree]
    while left:
        node = left.pop()
        if node.lesser is None:
            yield int(node.start_idx)
        else:
            left += [node.lesser, node.greater]


def _corners(scaled: Array, members: Indices) -> Indices:
    own = scaled[members]
    low, high = own.min(axis=0), own.max(axis=0)
    dimension = own.shape[1]
    if dimension > PLANE:
        middle = np.square(own - (low + high) / 2).sum(axis=1).argmin()
        chosen: Indices = members[np.concatenate([own.argmin(axis=0), own.argmax(axis=0), [middle]])]
        return chosen
    from scipy.spatial.distance import cdist  # noqa: PLC0415

    steps = np.array(list(product((0.0, 1.0, 0.5), repeat=dimension)))  # the middle comes last
    lattice = low + steps * (high - low)
    return np.asarray(members[cdist(lattice, own, "sqeuclidean").argmin(axis=1)])


def neighbours(n: int, members: int = 1) -> int:
    """k: how many measured points each block of n points is conditioned on, at most, by each of some kernels."""
    return max(FEWEST, int((WORK / (n * members)) ** 0.5))
