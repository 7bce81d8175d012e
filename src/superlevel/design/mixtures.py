"""A mixture's targets, in blocks, and roots of its moment M = sum_v w_v v v'."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import qr

from superlevel import linalg
from superlevel.arrays import Array, Indices
from superlevel.design.targets import View

BLOCK = 2**22  # numbers of targets' rows held at a time: 32 MB


def in_blocks(
    view: View,
    positions: Indices,  # (p,)
    mixture: Array,  # (p,)
) -> Iterator[tuple[Array, Array]]:
    """The targets' rows (m, r) and their weights (m,), as many at a time as fit."""
    width = view.rows(positions[:1]).shape[1]
    parts = 1 + len(positions) * width // BLOCK
    if parts == 1:
        yield view.rows(positions), mixture
    else:
        for part in np.array_split(np.arange(len(positions)), parts):
            yield view.rows(positions[part]), mixture[part]


def lower_root(view: View, positions: Indices, mixture: Array) -> Array:
    """C (r, r), lower, of M = C C': it holds half of the digits. Raises LinAlgError where M is singular."""
    moment = sum(linalg.moment(rows, shares) for rows, shares in in_blocks(view, positions, mixture))
    return linalg.cholesky(np.asfortranarray(moment))


def triangle(view: View, positions: Indices, mixture: Array) -> Array:
    """N' (k, r) of M = N N', k at most r and p, without forming M."""
    found = np.zeros((0, view.rows(positions[:1]).shape[1]))
    for rows, shares in in_blocks(view, positions, mixture):
        weighted = rows * np.sqrt(shares)[:, None]
        (found,) = qr(np.concatenate([found, weighted]), mode="r", check_finite=False)
        found = found[: found.shape[1]]
    return np.ascontiguousarray(found)
