"""A mixture's targets in blocks, and roots of its moment M = sum_v w_v v v'."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from scipy.linalg import qr

from superlevel import linalg
from superlevel.arrays import Array, Indices
from superlevel.design.targets import View

BLOCK = 2**22  # numbers of targets' rows held at a time: 32 MB


@dataclass(frozen=True, kw_only=True, eq=False)
class Mixture:
    """Targets with weights, seen through one A."""

    view: View
    positions: Indices
    """(p,)"""
    weights: Array
    """(p,) > 0"""
    rank: int
    """r"""

    @cached_property
    def rows(self) -> Array:
        """(p, r)"""
        return self.view.rows(self.positions)

    @property
    def few(self) -> bool:
        """Whether there are no more targets than coordinates."""
        return len(self.positions) <= self.rank

    @property
    def variances(self) -> Array:
        """(p,) s of the targets."""
        found = [linalg.squared_norms(rows) for rows, _ in self.blocks()]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def blocks(self) -> Iterator[tuple[Array, Array]]:
        """The targets' rows (m, r) and their weights (m,), as many at a time as fit."""
        parts = 1 + len(self.positions) * self.rank // BLOCK
        if parts == 1:
            yield self.rows, self.weights
        else:
            for part in np.array_split(np.arange(len(self.positions)), parts):
                yield self.view.rows(self.positions[part]), self.weights[part]

    def weighted(self) -> Array:
        """N' (p, r) of M = N N', of few targets."""
        return self.rows * np.sqrt(self.weights)[:, None]

    def lower(self) -> Array:
        """C (r, r), lower, of M = C C': it holds half of the digits. Raises LinAlgError where M is singular."""
        moments = (linalg.moment(rows, weights) for rows, weights in self.blocks())
        return linalg.cholesky(np.asfortranarray(reduce(np.add, moments)))

    def triangle(self) -> Array:
        """N' (k, r) of M = N N', k at most r and p, without forming M."""
        found = np.zeros((0, self.rank))
        for rows, weights in self.blocks():
            (found,) = qr(np.concatenate([found, rows * np.sqrt(weights)[:, None]]), mode="r", check_finite=False)
            found = found[: self.rank]
        return np.ascontiguousarray(found)
