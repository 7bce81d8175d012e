"""What every form of the covariance can do, and the one factor that all of them need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from superlevel import linalg
from superlevel.arrays import Array, Indices
from superlevel.posterior.field import Field, Held, less

EPS = float(np.finfo(float).eps)
HELD = 2**21  # covariances held at a time: 16 MB
ROUNDING = 8  # of m eps k(x, x): the least noise of m measurements that leaves a factor


class Change(Protocol):
    """What measuring some points does to the covariance."""

    @property
    def after(self) -> Covariance: ...
    @property
    def factor(self) -> Array:
        """L (m, m)"""
        ...

    @property
    def rows(self) -> Array:
        """R (m, n): the variance of every point falls by its column's sum of squares."""
        ...

    def field(self, before: Field, whitened: Array, told: Told, /) -> Field:
        """Mean and variance after it, for the whitened errors L^-1 (y - mu_X) (m,) of the predictions before."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Told:
    """What was measured, all together."""

    mean: float
    """Of f before the first measurement."""
    weights: Array
    """w (n,)"""
    sums: Array
    """b (n,)"""


@dataclass(frozen=True, kw_only=True, eq=False)
class RowChange:
    """A change whose rows are there."""

    after: Covariance
    rows: Array
    factor: Array

    def field(self, before: Field, whitened: Array, _told: Told, /) -> Field:
        shift = linalg.transposed_times(self.rows, whitened)
        return Held(mean=before.mean + shift, variance=less(before.variance, self.rows))


class Fresh(NamedTuple):
    """What measurements leave of K, without any update."""

    covariance: Covariance
    """Sigma."""
    field: Field
    """Mean and variance, from the data: b is large where Sigma is small, and their product would lose digits."""


class Covariance(Protocol):
    """Sigma (n, n)."""

    def columns(self, points: Indices) -> Array:
        """(m, n) the rows, or columns, of these points."""
        ...

    def between(self, left: Indices, right: Indices) -> Array:
        """(p, q) covariances of some points with others."""
        ...

    def times(self, vector: Array) -> Array:
        """Sigma v (n,)."""
        ...

    def squares(self, weights: Array) -> Array:
        """sum_j weights_j Sigma_jx^2 (n,), for every x."""
        ...

    def measured(self, points: Indices, variances: Array) -> Change:
        """After measurements at these points, all different, with these variances > 0."""
        ...

    def diagonal(self) -> Array:
        """(n,)"""
        ...

    def within(self, n: int) -> Covariance:
        """Of the first n points among themselves."""
        ...

    def among(self, points: Indices) -> Covariance:
        """Of some points (m,) among themselves, all of them stored."""
        ...

    def drift(self, weights: Array) -> float:
        """How far Sigma is from (K^-1 + diag(weights))^-1, relative to K, seen through one fixed random vector."""
        ...

    @property
    def kept(self) -> int:
        """Rows R that are kept apart; every use of Sigma goes through them."""
        ...

    @property
    def at_hand(self) -> bool:
        """Whether all n^2 covariances are stored, or follow from few features: no kernel is evaluated for them."""
        ...


class Prior(Protocol):
    """K, and the covariance that a given weight of measurements leaves of it."""

    def after(self, told: Told, /) -> Fresh:
        """Sigma = (K^-1 + diag(w))^-1 and mean + Sigma b."""
        ...

    @property
    def rank(self) -> int:
        """The rank of K, to rounding, or a larger number."""
        ...


def noisy_factor(covariances: Array, variances: Array, before: Array) -> Array:
    """L of the measured points' covariances plus the noise.

    The covariances carry the rounding of what they were before any measurement; less noise than that would leave a
    matrix that may have no factor.
    """
    rounding = ROUNDING * len(variances) * EPS * float(before.max())
    if len(variances) == 1:
        return np.sqrt(covariances + max(float(variances[0]), rounding))
    matrix = np.array(covariances, order="F")
    linalg.add_to_diagonal(matrix, np.maximum(variances, rounding))
    return linalg.cholesky(matrix)


def probe(count: int) -> Array:
    """The fixed random vector (count,) that looks at the drift."""
    return np.random.default_rng(0).standard_normal(count)


def chunks(chosen: Indices, width: int) -> list[Indices]:
    """The chosen points, as many at a time as rows of this width may be held."""
    step = max(1, HELD // width)
    return [chosen[start : start + step] for start in range(0, len(chosen), step)]
