"""Designs with their certificates as data, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from superlevel.arrays import Array, frozen
from superlevel.design import Design, Status
from superlevel.study.events import Certified, Sparse


def stored(found: Design) -> Certified:
    """A design as data."""
    return Certified(
        weights=thin(found.weights),
        dual=thin(found.dual),
        value=found.value,
        lower_bound=found.lower_bound,
        truncation=found.truncation,
        status=found.status.value,
        iterations=found.iterations,
        evaluations=found.evaluations,
    )


def restored(kept: Certified) -> Design:
    """The same design, to the last bit."""
    return Design(
        weights=dense(kept.weights),
        dual=dense(kept.dual) if len(kept.dual.shape) == 1 else _matrix(kept.dual),
        value=kept.value,
        lower_bound=kept.lower_bound,
        truncation=kept.truncation,
        status=Status(kept.status),
        iterations=kept.iterations,
        evaluations=kept.evaluations,
    )


def thin(array: Any) -> Sparse:
    """Without the zeros."""
    found = sparse.coo_array(array)
    return Sparse(shape=found.shape, at=[axis.tolist() for axis in found.coords], values=found.data.tolist())


def dense(kept: Sparse) -> Array:
    """(n,) with the zeros."""
    array = np.zeros(kept.shape)
    array[tuple(kept.at)] = kept.values
    return frozen(array)


def _matrix(kept: Sparse) -> Any:
    return sparse.coo_array((kept.values, tuple(np.array(axis) for axis in kept.at)), shape=kept.shape).tocsr()
