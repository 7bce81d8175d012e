"""The information matrix A(lambda) = sum_i lambda_i phi_i phi_i' + ridge I, by its Cholesky factor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel import linalg
from superlevel.arrays import Array

# ridge / tr(A) below which rounding of A would leave a variance fewer than nine digits
DROWNED = 1e9 * np.finfo(float).eps


@dataclass(frozen=True, kw_only=True, eq=False)
class Whitened:
    """The arms in coordinates where A = L L' is the identity."""

    factor: Array
    """(r, r) L, lower."""
    arms: Array
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
    support = np.flatnonzero(weights)
    information = linalg.moment(arms[support], weights[support])
    if 0 < ridge < DROWNED * float(np.trace(information)):
        root = np.sqrt(weights[support])[:, None] * arms[support]
        return linalg.cholesky_of_moment(np.vstack([root, np.sqrt(ridge) * np.eye(root.shape[1])]))
    linalg.add_to_diagonal(information, ridge)
    return linalg.cholesky(information)
