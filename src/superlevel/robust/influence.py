"""Catoni's mean, for one sample or for very many directions at once.

z_i         N samples of one direction, v at least their variance, delta the allowed failure probability
L           log(2 / delta)
psi(u)      sign(u) log(1 + |u| + u^2 / 2), Catoni's widest influence function
alpha       sqrt(2 L / (N (v + D^2))) = sqrt(2 L (N - 2 L) / v) / N, its scale
mu          the root of sum_i psi(alpha (z_i - mu)) = 0
D           sqrt(2 v L / (N - 2 L)), with |mu - mean| < D with probability 1 - delta; alpha D = 2 L / N

Catoni 2012, Ann. Inst. H. Poincare 48:1148; in this form Lugosi and Mendelson 2019, Found. Comput. Math. 19:1145,
where exp(psi(u)) <= 1 + u + u^2 / 2 and its mirror image bound the sum from both sides by quadratics in mu that
this alpha makes touch zero, where they do first, at distance D.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, Indices, Mask, as_count, as_floats, as_matrix, as_number
from superlevel.errors import InputError
from superlevel.robust.samples import Products, Samples, as_given, as_samples, slices

Numbers = TypeVar("Numbers", float, Array)
"""One number, or one for each direction."""

TILE = 2**15  # samples times directions at a time: four buffers of 256 kB
WIDEST = 128  # directions of a tile
PRECISION = 1e-8  # of an estimate, in deviations
MAX_ITER = 200  # halving the bracket alone ends sooner
HUGE = 1e150  # what can be squared: no sample is larger than that in units of 1 / alpha
EPS = float(np.finfo(np.float64).eps)


@overload
def catoni(samples: Products, *, variance: float | Array, delta: float, exact: bool = False) -> Array: ...
@overload
def catoni(samples: ArrayLike, *, variance: float | Array, delta: float, exact: bool = False) -> float | Array: ...
def catoni(
    samples: ArrayLike | Products, *, variance: float | Array, delta: float, exact: bool = False
) -> float | Array:
    """Catoni's robust mean: a number for samples (N,), an array (p,) for samples (N, p) and for products.

    With probability at least 1 - delta an estimate is closer to the mean than `catoni_deviation`, whatever the
    distribution, for each direction by itself. It depends on the samples' order by rounding only.

    Args:
        variance: an upper bound of the samples' variance, one for all or (p,). Where it is zero the plain mean is
            the answer.
        exact: every sample of products is looked at for every direction. Otherwise short bins of samples are summed
            by quadrature (`Grouped.compressed`), which moves no estimate by more than a millionth of its deviation
            and makes most of the time independent of N. Products whose sample has weights are taken as they are.
    """
    given = as_samples(samples)
    bound = np.broadcast_to(as_variance(variance, given.width), given.width)
    alphas = catoni_scale(given.count, variance=bound, delta=delta)
    deviations = catoni_deviation(given.count, variance=bound, delta=delta)
    means = given.means()
    search = _search(given, means, alphas, deviations)
    if isinstance(given, Products) and given.weights is None and not exact:
        reach = _reach(given.factors, np.where(np.isfinite(alphas), alphas, 0.0))
        given = replace(given, sample=given.sample.compressed(reach, delta=delta))
    means[search.columns] = _roots(given, search)
    return as_given(means, samples)


def catoni_scale(count: int, *, variance: Numbers, delta: float) -> Numbers:
    """alpha of the influence function, in units of 1 / z; infinite where the variance is zero."""
    count, double = as_count("count", count), 2 * logarithm(delta)
    if count <= double:
        raise too_few(count, int(double) + 1, delta)
    with np.errstate(divide="ignore"):
        return shaped(np.sqrt(double * (count - double)) / count / np.sqrt(as_variance(variance)), variance)


def catoni_deviation(count: int, *, variance: Numbers, delta: float) -> Numbers:
    """D = sqrt(2 v L / (N - 2 L)); infinite for N <= 2 L, where the estimator does not exist."""
    count, double = as_count("count", count), 2 * logarithm(delta)
    factor = np.sqrt(double / (count - double)) if count > double else np.inf
    return scaled(factor, variance)


def catoni_reach(factors: ArrayLike, *, count: int, variance: float | Array, delta: float) -> Array:
    """(m,) the largest alpha_v |factors[x, v]| of the directions v, for `Grouped.compressed`.

    Directions of variance zero, whose estimate is the plain mean, do not count. Of directions that come in blocks,
    take the largest over the blocks.
    """
    matrix = as_matrix("factors", factors)
    bound = np.broadcast_to(as_variance(variance, matrix.shape[1]), matrix.shape[1])
    alphas = catoni_scale(count, variance=bound, delta=delta)
    return _reach(matrix, np.where(np.isfinite(alphas), alphas, 0.0))


# ------------------------------------------------------------------------------------------- roots


@dataclass(frozen=True, kw_only=True, eq=False)
class _Search:
    """Directions whose roots are being looked for; arrays (k,)."""

    columns: Indices
    """Their positions among all directions."""
    alphas: Array
    means: Array
    """The present guess of mu."""
    low: Array
    """Below the root."""
    high: Array
    """Above it."""
    steps: Array
    """The length of the last step."""
    tolerance: Array
    """How far from the root an estimate may be."""

    def take(self, some: Indices) -> _Search:
        return _Search(**{name: array[some] for name, array in vars(self).items()})


def _search(samples: Samples, means: Array, alphas: Array, deviations: Array) -> _Search:
    """Where to begin for all directions whose variance is not zero: at the plain mean, between all samples."""
    columns = np.flatnonzero(np.isfinite(alphas))
    low, high = (extreme[columns] for extreme in samples.extremes())
    sizes = np.maximum(np.abs(low), np.abs(high))
    return _Search(
        columns=columns,
        alphas=alphas[columns] / np.maximum(1.0, alphas[columns] * sizes / HUGE),
        means=np.clip(means[columns], low, high),
        low=low,
        high=high,
        steps=np.full(len(columns), np.inf),
        tolerance=np.maximum(PRECISION * deviations[columns], sizes / HUGE),
    )


def _roots(samples: Samples, search: _Search) -> Array:
    """mu for the directions of the search (k,): Newton's method, all directions at once, inside a bracket.

    |psi''| <= 1/4, so after a Newton step of length s / alpha the mean of psi is at most s^2 / 8, and its slope at
    least d - s / 4 if it was d before. For s <= d the root is therefore within s^2 / (6 d alpha): a step is known to
    have arrived without being looked at.
    """
    found = np.empty(len(search.columns))
    places = np.arange(len(found))
    for _ in range(MAX_ITER):
        if not len(places):
            break
        value, slope = _influence(samples, search)
        search, newton = _advance(search, value, slope)
        jump = search.alphas * search.steps
        arrived = newton & (jump <= slope) & (jump * search.steps <= 6 * slope * _tolerance(search))
        arrived |= search.high - search.low <= _tolerance(search)
        found[places] = search.means
        left = np.flatnonzero(~arrived)
        if len(left) < len(places):
            places, search = places[left], search.take(left)
    return found


def _advance(search: _Search, value: Array, slope: Array) -> tuple[_Search, Mask]:
    """One step each, and whether it was Newton's.

    Where that leaves the bracket, or is not half as long as the step before, the bracket is halved.
    """
    low = np.where(value >= 0, search.means, search.low)  # the sum falls as mu grows
    high = np.where(value <= 0, search.means, search.high)
    step = value / (search.alphas * slope)
    guess = search.means + step
    newton = (guess >= low) & (guess <= high) & (np.abs(step) <= search.steps / 2)
    guess = np.where(newton, guess, _middle(low, high, search.tolerance))
    return replace(search, means=guess, low=low, high=high, steps=np.abs(guess - search.means)), newton


def _middle(low: Array, high: Array, unit: Array) -> Array:
    """Of long brackets halfway in asinh(mu): one sample of 10^100 among others of about 1 makes them that long."""
    left, right = np.arcsinh(low / unit), np.arcsinh(high / unit)
    return np.where(right - left > 1, unit * np.sinh((left + right) / 2), low + (high - low) / 2)


def _tolerance(search: _Search) -> Array:
    return np.maximum(search.tolerance, 2 * EPS * np.abs(search.means))


def _influence(samples: Samples, search: _Search) -> tuple[Array, Array]:
    """(k,) means over the samples of psi and of psi' at u = alpha (z - mu)."""
    sums = [_sums(samples, search, part) for part in slices(len(search.columns), WIDEST)]
    value, slope = (np.concatenate(column) for column in zip(*sums, strict=True))
    return value / samples.count, slope / samples.count


def _sums(samples: Samples, search: _Search, columns: slice) -> tuple[Array, Array]:
    """Sums over the samples, for some directions, a tile at a time."""
    alphas = search.alphas[columns]
    view = samples.view(search.columns[columns], alphas)
    shift = alphas * search.means[columns]
    height = max(1, TILE // len(alphas))
    ones = np.ones(height)
    buffers = np.empty((4, height * len(alphas)))
    value, slope = np.zeros(len(alphas)), np.zeros(len(alphas))
    for rows in slices(samples.rows, height):
        shape = (rows.stop - rows.start, len(alphas))
        u, *work = (buffer[: shape[0] * shape[1]].reshape(shape) for buffer in buffers)
        view.fill(rows, u)
        u -= shift
        psi, derivative = _psi(u, *work)
        weights = ones[: shape[0]] if samples.weights is None else samples.weights[rows]
        value += np.einsum("ij,i->j", psi, weights)
        slope += np.einsum("ij,i->j", derivative, weights)
    return value, slope


def _psi(u: Array, q: Array, slope: Array, size: Array) -> tuple[Array, Array]:
    """psi(u) and psi'(u) = (1 + |u|) / (1 + |u| + u^2 / 2), in the memory of q and slope."""
    np.abs(u, out=slope)
    np.multiply(slope, 0.5, out=q)
    q += 1
    q *= slope  # |u| + u^2 / 2
    slope += 1
    np.add(q, 1, out=size)
    slope /= size
    np.log1p(q, out=q)
    return np.copysign(q, u, out=q), slope


# ----------------------------------------------------------------------------------------- helpers


def logarithm(delta: float) -> float:
    """L = log(2 / delta), checked."""
    return float(np.log(2 / as_number("delta", delta, above=0, below=1)))


def as_variance(variance: float | Array, width: int | None = None) -> Array:
    """() or (p,) numbers >= 0; where a width is given, p must be it."""
    bound = np.asarray(as_floats("variance", variance))
    if np.ndim(variance) == 0:
        return np.asarray(as_number("variance", variance, at_least=0))
    if bound.ndim != 1 or (width is not None and len(bound) != width):
        wanted = "one number for each direction" if width is None else f"shape ({width},)"
        raise InputError("variance", f"of shape {bound.shape}", f"give one number, or {wanted}")
    good = np.isfinite(bound) & (bound >= 0)
    if not good.all():
        at = int(np.argmin(good))
        raise InputError(f"variance[{at}]", bound[at], "give finite numbers >= 0")
    return bound


def scaled(factor: float, variance: Numbers) -> Numbers:
    """factor sqrt(variance), infinite for an infinite factor."""
    bound = as_variance(variance)
    return shaped(factor * np.sqrt(bound) if np.isfinite(factor) else np.full_like(bound, np.inf), variance)


def shaped(values: Array, like: Numbers) -> Numbers:
    """A number for a number, an array for an array."""
    return cast("Numbers", float(values) if np.ndim(like) == 0 else np.asarray(values))


def too_few(count: int, needed: int, delta: float) -> InputError:
    return InputError("count", count, f"give at least {needed} samples, or a delta larger than {delta:g}")


def _reach(factors: Array, alphas: Array) -> Array:
    reach = np.zeros(len(factors))
    for columns in slices(len(alphas), max(1, TILE // len(factors))):
        np.maximum(reach, (np.abs(factors[:, columns]) * alphas[columns]).max(axis=1), out=reach)
    return reach
