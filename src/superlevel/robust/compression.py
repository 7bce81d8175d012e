"""Many samples replaced by few weighted ones that Catoni's estimator cannot tell from them.

y           the samples of one group, g(y) = psi(alpha a y - alpha mu) what the estimator sums over them
reach       (m,)  the largest alpha |a| of each group: |g''''| <= 3 reach^4, for psi''' has the Lipschitz constant 3
h           the width of a bin in units of 1 / reach

The samples of one bin become two weighted ones, the nodes of Gauss's quadrature for them: number, mean, variance and
third moment are kept, so cubic polynomials are summed exactly. What g differs from the cubic that meets it twice at
each node is at most 3 reach^4 / 4! times (y - y_1)^2 (y - y_2)^2, and of all monic quadratic polynomials the nodes' own
has the least mean square, less than that of Chebyshev's y^2 - w^2 / 2 <= w^2 / 2 on a bin of half-width w. So

    |mean of g over the bin - mean of g over its nodes|  <=  (3 / 24) (reach w)^4 / 4  =  (h / 2)^4 / 32.

A higher order would not help: psi'''' jumps from -3 to 3 at 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from superlevel.arrays import Array, Indices

NEAR = 0.5  # samples with reach |y - centre| beyond this are few by Chebyshev's inequality and stay as they are
FLAT = 1e-12  # a bin's variance, in squared widths, that the rounding of its moments may have made
THIN = 1e-10  # and one below which they no longer tell the skewness
SEEN = 2**14  # samples that the middles of the groups are found from
SMALLEST_BLOCK, LARGEST_BLOCK = 2**16, 2**20  # samples at a time: a few MB of temporaries


class Nodes(NamedTuple):
    """Weighted samples."""

    values: Array
    groups: Indices
    weights: Array


class Grid(NamedTuple):
    """The bins of all groups: bin k of group x is centres_x + (k - 1/2, k + 1/2) / rates_x, |k| <= half."""

    centres: Array
    rates: Array
    half: int

    @property
    def shape(self) -> tuple[int, int]:
        """Bins and groups; the first and the last bin are for what is too far."""
        return 2 * self.half + 3, len(self.centres)


def width(count: int, *, logarithm: float, rtol: float) -> float:
    """The h for which no estimate moves by more than rtol times Catoni's deviation.

    A sum of psi that is off by e for each sample moves its root by e / (alpha d), where d, the mean of psi', is at
    least 1/2 unless the samples contradict their variance. In the same unit the deviation is 2 L / (N alpha).

    Args:
        logarithm: L = log(2 / delta).
    """
    return float(2 * (32 * rtol * logarithm / count) ** 0.25)


def compress(values: Array, groups: Indices, reach: Array, *, width: float) -> Nodes | None:
    """The samples (N,) as nodes of bins of this width; None where there would be more than half as many."""
    # No more bins than a quarter of the samples, so that the nodes are at most half as many.
    half = min(int(np.ceil(NEAR / width)), (len(values) // (4 * len(reach)) - 1) // 2)
    if half < 0:
        return None
    spread = float(values.max() - values.min())
    least = 1 / spread if spread > np.finfo(np.float64).tiny else 0.0  # no bin need be longer than all samples
    rates = np.maximum(reach / width, least)
    grid = Grid(centres=_medians(values, groups, len(reach)), rates=rates, half=half)
    moments, far = _moments(values, groups, grid)
    near = _nodes(moments, grid)
    if len(near.values) + len(far) > len(values) / 2:
        return None
    return Nodes(
        values=np.concatenate([near.values, values[far]]),
        groups=np.concatenate([near.groups, groups[far]]),
        weights=np.concatenate([near.weights, np.ones(len(far))]),
    )


def _medians(values: Array, groups: Indices, m: int) -> Array:
    """(m,) about the median of each group, which no far sample moves; bins may lie anywhere, so some samples do."""
    some = slice(None, None, -(-len(values) // SEEN))
    seen, order = values[some], np.lexsort((values[some], groups[some]))
    sizes = np.bincount(groups[some], minlength=m)
    middles = np.cumsum(sizes) - sizes // 2 - 1
    return np.where(sizes > 0, seen[order[middles]], 0.0)


def _moments(values: Array, groups: Indices, grid: Grid) -> tuple[Array, Indices]:
    """(4, bins, groups) sums of the powers 0 to 3 of the offsets from the bins' middles, and who is in no bin."""
    bins, m = grid.shape
    sums = np.zeros((4, bins * m))
    far = []
    for start, stop in _blocks(len(values), bins * m):
        some = groups[start:stop]
        offsets = values[start:stop] - grid.centres[some]
        with np.errstate(over="ignore"):  # what overflows is far
            offsets *= grid.rates[some]
        np.clip(offsets, -grid.half - 1, grid.half + 1, out=offsets)
        at = np.rint(offsets)
        far.append(start + np.flatnonzero(np.abs(at) > grid.half))
        offsets -= at  # within half a bin: powers of the values themselves would cancel
        at += grid.half + 1
        at *= m
        at += some
        position = at.astype(np.intp)
        sums[0] += np.bincount(position, minlength=bins * m)
        power = offsets.copy()
        for order in (1, 2, 3):
            sums[order] += np.bincount(position, power, minlength=bins * m)
            power *= offsets
    return sums.reshape(4, bins, m), np.concatenate(far)


def _nodes(moments: Array, grid: Grid) -> Nodes:
    """Two nodes for each bin, one where all its samples are equal.

    With mean, deviation s and skewness g of a bin they are mean + s u and mean - s / u, u = g/2 + sqrt(1 + g^2/4),
    with shares 1 / (1 + u^2) and u^2 / (1 + u^2).
    """
    inner = moments[:, 1:-1].transpose(0, 2, 1)  # groups first: who evaluates them reads one group after the other
    group, bin_ = np.nonzero(inner[0])
    size, *sums = inner[:, group, bin_]
    mean, square, cube = (total / size for total in sums)
    variance = square - mean**2
    flat, two = np.flatnonzero(variance <= FLAT), np.flatnonzero(variance > FLAT)
    up, share = _split(mean[two], variance[two], (cube - 3 * mean * square + 2 * mean**3)[two])
    spread = np.sqrt(variance[two])
    which = np.concatenate([flat, two, two])
    offsets = np.concatenate([mean[flat], mean[two] + spread * up, mean[two] - spread / up])
    weights = np.concatenate([size[flat], size[two] * share, size[two] * (1 - share)])
    order = np.argsort(which, kind="stable")
    which, groups = which[order], group[which[order]]
    widths = np.divide(1.0, grid.rates, out=np.zeros_like(grid.rates), where=grid.rates > 0)
    offsets = (bin_[which] - grid.half) + offsets[order]
    return Nodes(values=grid.centres[groups] + offsets * widths[groups], groups=groups, weights=weights[order])


def _split(mean: Array, variance: Array, third: Array) -> tuple[Array, Array]:
    """The u of `_nodes`, and the share of the upper node."""
    spread = np.sqrt(variance)
    skewness = np.where(variance > THIN, third, 0.0) / spread**3
    larger = np.abs(skewness) / 2 + np.sqrt(1 + skewness**2 / 4)
    up = np.where(skewness > 0, larger, 1 / larger)  # the other root without cancellation
    # The nodes lie inside the bin; rounding must not take them out of it.
    up = np.clip(up, spread / (0.5 + mean), (0.5 - mean) / spread)
    return up, 1 / (1 + up**2)


def _blocks(count: int, bins: int) -> Iterator[tuple[int, int]]:
    """Slices long enough that adding up the bins of each costs little."""
    step = min(max(bins, SMALLEST_BLOCK), LARGEST_BLOCK)
    for start in range(0, count, step):
        yield start, min(start + step, count)
