"""From weights to counts: whole numbers of measurements.

`draw` takes independent draws, as the paper's algorithms do: their estimator needs them. `systematic` takes draws that
are as spread out as they can be, for whoever does not need them to be independent. `apportion` is deterministic:
with N measurements on a support of m arms every arm gets at least

    (1 - m/N) N lambda_i

of them, so the information of the N measurements is at least (1 - m/N) N A(lambda) where there is no ridge, and no
variance is larger than 1 / (1 - m/N) times the design's promise. It is the efficient design apportionment of
Pukelsheim and Rieder 1992, Biometrika 79:763 (also Pukelsheim 1993, Optimal Design of Experiments, ch. 12): no other
rounding has a larger min_i n_i / (N lambda_i).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superlevel.arrays import Indices, as_count, as_vector, as_weights
from superlevel.errors import InputError


def draw(weights: ArrayLike, total: int, *, rng: np.random.Generator) -> Indices:
    """Counts (n,) of ``total`` independent draws from the weights."""
    distribution = _distribution(weights)
    return rng.multinomial(as_count("total", total), distribution).astype(np.int64)


def systematic(weights: ArrayLike, total: int, *, rng: np.random.Generator) -> Indices:
    """Counts (n,) with sum ``total`` and mean ``total`` times the weights, by equal steps from one random start.

    No count is farther than 1 from its mean, and neighbours in the arms' order share what independent draws would give
    to either by chance (Madow and Madow 1944, Ann. Math. Statist. 15:1). Draws are not independent.
    """
    distribution, total = _distribution(weights), as_count("total", total)
    reached = np.cumsum(distribution) * total
    reached[np.flatnonzero(distribution)[-1] :] = total  # not a rounding less
    return np.diff(np.floor(reached + rng.uniform()), prepend=0.0).astype(np.int64)


def apportion(weights: ArrayLike, total: int) -> Indices:
    """Counts (n,) with sum ``total``, by efficient apportionment.

    Arms of weight zero get none. With fewer measurements than supported arms the largest weights get one each:
    nothing can be guaranteed then.
    """
    distribution = _distribution(weights)
    total = as_count("total", total)
    counts = np.zeros(len(distribution), dtype=np.int64)
    support = np.flatnonzero(distribution)
    shares = distribution[support]
    if total < len(support):
        counts[support[np.argsort(-shares, kind="stable")[:total]]] = 1
        return counts
    quota = np.ceil((total - len(support) / 2) * shares).astype(np.int64)
    while (excess := int(quota.sum()) - total) != 0:
        # One at a time, ties by position; fewer than len(support) moves are needed.
        if excess > 0:
            quota[np.argmax((quota - 1) / shares)] -= 1
        else:
            quota[np.argmin(quota / shares)] += 1
    counts[support] = quota
    return counts


def efficiency(weights: ArrayLike, counts: ArrayLike) -> float:
    """min_i n_i / (N lambda_i) over the support: no variance is larger than the promise divided by this."""
    distribution = _distribution(weights)
    numbers = as_vector("counts", counts, length=len(distribution))
    total = numbers.sum()
    if total <= 0 or (numbers < 0).any():
        raise InputError("counts", f"of sum {total:g}", "give counts >= 0 with at least one measurement")
    support = distribution > 0
    with np.errstate(over="ignore"):  # a weight of 1e-310 may be served without limit
        return float(np.min(numbers[support] / (total * distribution[support])))


def _distribution(weights: ArrayLike) -> NDArray[np.float64]:
    return as_weights("weights", weights, np.size(np.asarray(weights)))
