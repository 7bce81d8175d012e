"""Other means: median of means, trimmed mean, and the plain mean to compare with.

N           samples, v at least their variance, delta the allowed failure probability of one estimate

Median of means and trimmed mean split the samples into parts that must not depend on them. Samples often come sorted
by the point they were taken at, so the parts are drawn without looking: by a permutation of 0..N-1 that depends on
nothing but N. The estimates therefore depend on the samples' order, and are the same in every run.
"""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, Indices, as_count, as_number
from superlevel.errors import InputError
from superlevel.robust.influence import Numbers, scaled, too_few
from superlevel.robust.samples import Products, Samples, as_given, as_samples, slices

SEED = 20120531  # of the permutations; any number will do
HELD = 2**21  # samples times directions written out at a time: 16 MB


# --------------------------------------------------------------------------------- median of means


@overload
def median_of_means(samples: Products, *, delta: float) -> Array: ...
@overload
def median_of_means(samples: ArrayLike, *, delta: float) -> float | Array: ...
def median_of_means(samples: ArrayLike | Products, *, delta: float) -> float | Array:
    """The median of the means of k = ceil(8 log(1 / delta)) blocks: a number for samples (N,), else (p,).

    Blocks are drawn by a fixed permutation and differ by at most one sample in size.
    """
    given = _unweighted(samples)
    blocks = _block_count(delta)
    if given.count < blocks:
        raise too_few(given.count, blocks, delta)
    labels = _permutation(given.count) % blocks
    sizes = np.bincount(labels, minlength=blocks)
    return as_given(np.median(given.block_sums(labels, blocks) / sizes[:, None], axis=0), samples)


def median_of_means_deviation(count: int, *, variance: Numbers, delta: float) -> Numbers:
    """2 sqrt(v / m) for blocks of m = floor(N / k) samples or more; infinite for N < k.

    Lugosi and Mendelson 2019, Found. Comput. Math. 19:1145. By Chebyshev's inequality a block is farther
    off with probability 1/4 at most, and by Hoeffding's half of the k blocks are with probability exp(-k / 8) at
    most. Both sides are counted in that, and blocks of unequal sizes are no worse than their smallest.
    """
    size = as_count("count", count) // _block_count(delta)
    return scaled(2 / np.sqrt(size) if size else np.inf, variance)


def _block_count(delta: float) -> int:
    return int(np.ceil(8 * np.log(1 / as_number("delta", delta, above=0, below=1))))


# ------------------------------------------------------------------------------------ trimmed mean


@overload
def trimmed_mean(samples: Products, *, delta: float) -> Array: ...
@overload
def trimmed_mean(samples: ArrayLike, *, delta: float) -> float | Array: ...
def trimmed_mean(samples: ArrayLike | Products, *, delta: float) -> float | Array:
    """The mean of one half of the samples, clipped at what the other half has as its r-th smallest and r-th largest
    value, r = ceil(16/3 log(8 / delta)): a number for samples (N,), else (p,).

    Halves are drawn by a fixed permutation. Needs 3/8 floor(N / 2) >= r.
    """
    given = _unweighted(samples)
    rank, half = _rank(delta), given.count // 2
    if 3 * half < 8 * rank:
        raise too_few(given.count, 2 * -(-8 * rank // 3), delta)
    order = _permutation(given.count)
    limits, averaged = np.sort(order[:half]), np.sort(order[half:])  # in order, memory is read once
    estimates = np.empty(given.width)
    for columns in slices(given.width, max(1, HELD // given.count)):
        view = given.view(columns)
        part = np.empty((len(averaged), columns.stop - columns.start))
        view.fill(limits, part[:half])
        kept = np.partition(part[:half], (rank - 1, half - rank), axis=0)
        low, high = kept[rank - 1], kept[half - rank]
        view.fill(averaged, part)
        estimates[columns] = np.clip(part, low, high, out=part).mean(axis=0)
    return as_given(estimates, samples)


def trimmed_mean_deviation(count: int, *, variance: Numbers, delta: float) -> Numbers:
    """9 sqrt(v log(8 / delta) / n) for halves of n = floor(N / 2); infinite where N is too small for the estimator.

    Lugosi and Mendelson 2019, Found. Comput. Math. 19:1145. With e = r / n, which must be at most 3/8, the
    limits lie between the quantiles e/2 and 2e on either side with probability 1 - delta / 2 (Bernstein); clipping
    there moves the mean by sqrt(8 e v) at most, and the clipped samples' mean obeys Bernstein's inequality.
    """
    rank, half = _rank(delta), as_count("count", count) // 2
    return scaled(9 * np.sqrt(np.log(8 / delta) / half) if 3 * half >= 8 * rank else np.inf, variance)


def _rank(delta: float) -> int:
    return int(np.ceil(16 / 3 * np.log(8 / as_number("delta", delta, above=0, below=1))))


# -------------------------------------------------------------------------------------- plain mean


@overload
def mean(samples: Products) -> Array: ...
@overload
def mean(samples: ArrayLike) -> float | Array: ...
def mean(samples: ArrayLike | Products) -> float | Array:
    """The plain mean, which one sample may move anywhere."""
    return as_given(as_samples(samples).means(), samples)


def mean_deviation(count: int, *, variance: Numbers, delta: float) -> Numbers:
    """sqrt(v / (N delta)), Chebyshev's inequality: nothing better holds for every distribution (Catoni 2012)."""
    return scaled(1 / np.sqrt(as_count("count", count) * as_number("delta", delta, above=0, below=1)), variance)


# ----------------------------------------------------------------------------------------- helpers


def _unweighted(samples: ArrayLike | Products) -> Samples:
    given = as_samples(samples)
    if given.weights is not None:
        raise InputError(
            "samples", "weighted", "give every sample by itself: only catoni and mean take compressed ones"
        )
    return given


def _permutation(count: int) -> Indices:
    """The permutation of 0..count-1 that every sample of that size is split by."""
    return np.random.default_rng(SEED).permutation(count)
