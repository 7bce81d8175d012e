"""The information matrix A(lambda) = sum_i lambda_i phi_i phi_i' + ridge I, by its Cholesky factor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel import linalg
from superlevel.arrays import Array
from superlevel.design.arms import Arms, Seen, Written

BLOCK = 2**22  # numbers of arms' rows held at a time: 32 MB
# ridge / tr(A) below which rounding of A would leave a variance fewer than nine digits
DROWNED = 1e9 * np.finfo(float).eps


@dataclass(frozen=True, kw_only=True, eq=False)
class Whitened:
    """The arms in coordinates where A = L L' is the identity."""

    factor: Array
    """(r, r) L, lower."""
    arms: Seen
    """(n, r) rows phi_i' L^-T."""


def information_factor(
    arms: Array,  # (n, r)
    weights: Array,  # (n,), none negative
    *,
    ridge: float,
) -> Array:  # (r, r), lower
    """L of A = L L'. Where a small ridge would drown in A, from the rows of its root instead of from A.

    Raises LinAlgError where there is no ridge and the arms with a weight do not span everything.
    """
    return factor_of(Written(arms), weights, ridge=ridge)


def factor_of(arms: Arms, weights: Array, *, ridge: float) -> Array:
    """The same for arms that may be streamed."""
    (_, rank), support = arms.shape, np.flatnonzero(weights)
    step = max(1, BLOCK // rank)
    parts = [support[start : start + step] for start in range(0, len(support), step)]
    information = linalg.moment(arms.at(parts[0]), weights[parts[0]])
    for part in parts[1:]:
        information += linalg.moment(arms.at(part), weights[part])
    if 0 < ridge < DROWNED * float(np.trace(information)):
        factor = np.asfortranarray(np.sqrt(ridge) * np.eye(rank))
        for part in parts:
            root = np.sqrt(weights[part])[:, None] * arms.at(part)
            factor = linalg.cholesky_of_moment(np.vstack([root, factor.T]))
        return factor
    linalg.add_to_diagonal(information, ridge)
    return linalg.cholesky(information)
