"""Samples in the forms in which robust means take them.

z           (N, p)  samples of p directions, one row a sample; the mean of each column is wanted
Columns     z as given
Products    z_iv = factors[x_i, v] y_i for samples y that were taken at points x: never written out, N may be 10^7
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, Indices, as_floats, as_matrix, as_number, as_positive, as_vector
from superlevel.errors import InputError
from superlevel.robust import compression

RTOL = 1e-6  # of a deviation, what compression may move an estimate by
LARGEST = 1e100  # sums and squares of samples up to this size do not overflow


@dataclass(frozen=True, kw_only=True, eq=False)
class Grouped:
    """The samples of one round, each with the point it was taken at."""

    values: Array
    """(N,)"""
    groups: Indices
    """(N,) whole numbers from 0: the point of each sample."""
    weights: Array | None = None
    """(N,) positive: how many samples each entry stands for. None means one."""

    def __post_init__(self) -> None:
        flat = as_floats("values", self.values)
        if flat.ndim != 1 or not flat.size:
            raise InputError("values", f"of shape {flat.shape}", "give one number for each sample, and at least one")
        values = as_vector("values", flat, length=flat.size)
        object.__setattr__(self, "values", values)
        _check_size("values", max(map(abs, self.extremes)))
        object.__setattr__(self, "groups", _groups(self.groups, len(values)))
        if self.weights is not None:
            object.__setattr__(self, "weights", as_positive("weights", self.weights, shape=values.shape))

    @cached_property
    def count(self) -> int:
        """How many samples these are, or stand for."""
        return len(self.values) if self.weights is None else round(float(self.weights.sum()))

    @cached_property
    def highest(self) -> int:
        """The largest group."""
        return int(self.groups.max())

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest value."""
        return float(self.values.min()), float(self.values.max())

    def sums(self, points: int) -> Array:
        """The sum of the values of each group (points,)."""
        weighted = self.values if self.weights is None else self.values * self.weights
        return np.asarray(np.bincount(self.groups, weighted, minlength=points), dtype=np.float64)

    def compressed(self, reach: ArrayLike, *, delta: float | None = None, rtol: float = RTOL) -> Grouped:
        """Fewer, weighted samples that give the same estimates: number, mean, variance and third moment of short bins
        of each group are kept, and what is far from its group's mean stays as it is.

        No Catoni estimate moves by more than rtol times its deviation, provided that the samples do not contradict
        their variance (the mean of psi' is at least 1/2). Plain means do not move at all. Samples that would not
        become half as many, and samples that have weights already, are returned as they are.

        Args:
            reach: (m,) for each group the largest alpha_v |factors[x, v]| of the directions v: see `catoni_reach`.
            delta: the largest failure probability that estimates will be asked at; None means any. A smaller one lets
                bins be longer.
        """
        far = as_floats("reach", reach)
        far = as_vector("reach", far, length=max(far.size, self.highest + 1))
        if (far < 0).any():
            raise InputError(f"reach[{np.argmin(far)}]", far.min(), "give numbers >= 0")
        logarithm = np.log(2) if delta is None else np.log(2 / as_number("delta", delta, above=0, below=1))
        rtol = as_number("rtol", rtol, above=0)
        if self.weights is not None:
            return self
        width = compression.width(self.count, logarithm=float(logarithm), rtol=rtol)
        nodes = compression.compress(self.values, self.groups, far, width=width)
        return self if nodes is None else Grouped(values=nodes.values, groups=nodes.groups, weights=nodes.weights)


@dataclass(frozen=True, kw_only=True, eq=False)
class Products:
    """Samples of p directions, z_iv = factors[groups_i, v] values_i."""

    factors: Array
    """(m, p)"""
    sample: Grouped
    """Of groups below m."""

    def __post_init__(self) -> None:
        factors = as_matrix("factors", self.factors)
        if not isinstance(self.sample, Grouped):
            raise InputError("sample", f"of type {type(self.sample).__name__}", "give Grouped(values=..., groups=...)")
        if self.sample.highest >= len(factors):
            raise InputError("factors", f"of shape {factors.shape}", f"give a row for group {self.sample.highest} too")
        largest = max(float(factors.max()), -float(factors.min())) * max(map(abs, self.sample.extremes))
        _check_size("factors times values", largest)
        object.__setattr__(self, "factors", factors)

    @property
    def count(self) -> int:
        """How many samples of each direction."""
        return self.sample.count

    @property
    def rows(self) -> int:
        """How many of them are written out."""
        return len(self.sample.values)

    @property
    def width(self) -> int:
        """How many directions."""
        return int(self.factors.shape[1])

    @property
    def weights(self) -> Array | None:
        """(rows,) how many samples each row stands for."""
        return self.sample.weights

    def means(self) -> Array:
        """(p,)"""
        return self.factors.T @ self.sample.sums(len(self.factors)) / self.count

    def extremes(self) -> tuple[Array, Array]:
        """(p,) numbers that no sample is below, and above: those of any value with any factor."""
        factors = np.stack([self.factors.min(axis=0), self.factors.max(axis=0)])
        corners = np.concatenate([factors * value for value in self.sample.extremes])
        return corners.min(axis=0), corners.max(axis=0)

    def block_sums(self, labels: Indices, blocks: int) -> Array:
        """(blocks, p) sums over the samples with each label."""
        m = len(self.factors)
        sums = np.bincount(labels * m + self.sample.groups, self.sample.values, minlength=blocks * m)
        return sums.reshape(blocks, m) @ self.factors

    def view(self, columns: slice | Indices, scales: Array | None = None) -> View:
        """Some of the directions, each times its scale."""
        factors = self.factors[:, columns]
        return _ProductsView(factors=factors if scales is None else factors * scales, sample=self.sample)


@dataclass(frozen=True, kw_only=True, eq=False)
class Columns:
    """Samples of p directions, written out."""

    matrix: Array
    """(N, p)"""
    weights: None = None

    @property
    def count(self) -> int:
        return len(self.matrix)

    @property
    def rows(self) -> int:
        return len(self.matrix)

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1])

    def means(self) -> Array:
        return np.asarray(self.matrix.mean(axis=0))

    def extremes(self) -> tuple[Array, Array]:
        return self.matrix.min(axis=0), self.matrix.max(axis=0)

    def block_sums(self, labels: Indices, blocks: int) -> Array:
        order = np.argsort(labels, kind="stable")
        ends = np.cumsum(np.bincount(labels, minlength=blocks))
        return np.stack([self.matrix[some].sum(axis=0) for some in np.split(order, ends[:-1])])

    def view(self, columns: slice | Indices, scales: Array | None = None) -> View:
        return _ColumnsView(matrix=self.matrix, columns=columns, scales=scales)


class View(Protocol):
    """Some directions of a sample."""

    def fill(self, rows: slice | Indices, out: Array) -> None:
        """Write these rows of z to out."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class _ProductsView:
    factors: Array
    sample: Grouped

    def fill(self, rows: slice | Indices, out: Array) -> None:
        np.take(self.factors, self.sample.groups[rows], axis=0, out=out, mode="clip")  # "raise" would buffer
        out *= self.sample.values[rows, None]


@dataclass(frozen=True, kw_only=True, eq=False)
class _ColumnsView:
    matrix: Array
    columns: slice | Indices
    scales: Array | None

    def fill(self, rows: slice | Indices, out: Array) -> None:
        np.multiply(self.matrix[rows][:, self.columns], 1.0 if self.scales is None else self.scales, out=out)


Samples: TypeAlias = Products | Columns
"""What every estimator works on."""


def as_samples(given: ArrayLike | Products) -> Samples:
    """Samples in any of their forms, checked; one sample of N numbers becomes one column."""
    if isinstance(given, Products):
        return given
    matrix = as_floats("samples", given)
    if np.ndim(given) not in {1, 2} or not matrix.size:
        raise InputError(
            "samples", f"of shape {np.shape(given)}", "give (N,) numbers or (N, p), one column a direction"
        )
    finite = np.isfinite(matrix)
    if not finite.all():
        at = [int(i) for i in np.argwhere(~finite)[0]]
        raise InputError(f"samples{at}", matrix[tuple(at)], "give finite numbers")
    _check_size("samples", max(float(matrix.max()), -float(matrix.min())))
    return Columns(matrix=matrix.reshape(len(matrix), -1))


def as_given(estimates: Array, given: ArrayLike | Products) -> float | Array:
    """A number for one sample, an array for many."""
    return estimates if isinstance(given, Products) or np.ndim(given) == 2 else float(estimates[0])


def slices(count: int, step: int) -> Iterator[slice]:
    """0 to count in slices of at most step."""
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def _groups(given: ArrayLike, length: int) -> Indices:
    groups = np.asarray(given)
    if groups.shape != (length,):
        raise InputError("groups", f"of shape {groups.shape}", f"give shape ({length},), a group for each value")
    if not np.issubdtype(groups.dtype, np.integer):
        raise InputError("groups", f"of type {groups.dtype}", "give whole numbers from 0")
    if groups.min() < 0:
        raise InputError(f"groups[{np.argmin(groups)}]", groups.min(), "give whole numbers from 0")
    return np.ascontiguousarray(groups, dtype=np.int64)


def _check_size(field: str, largest: float) -> None:
    if largest > LARGEST:
        raise InputError(field, f"up to {largest:g} in size", f"give numbers up to {LARGEST:g}")
