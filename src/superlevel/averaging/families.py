"""Correlations of f that are tried: Matern, of several smoothnesses and lengths, or the kernel that is given."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from superlevel.arrays import Array, Indices
from superlevel.averaging.metrics import Metric
from superlevel.domain import Domain
from superlevel.geography import AXES
from superlevel.kernel_blocks import block, same, variances
from superlevel.kernels.own import similarities

FLAT = 1e9  # length of a coordinate that does not count, in units of a typical distance


@dataclass(frozen=True, kw_only=True, eq=False)
class Between:
    """Two sets of points, and how far apart or how similar they are: arrays, so that it can be computed anywhere."""

    kernel: Any
    """That of the domain."""
    metrics: tuple[Metric, ...]
    left: Array
    """(p, d)"""
    right: Array
    """(q, d)"""
    same: tuple[Indices, Indices]
    """Pairs of a point of the left set and one of the right set that are the same."""
    _known: dict[int, Array] = field(default_factory=dict)

    @classmethod
    def of(cls, domain: Domain, metrics: tuple[Metric, ...], rows: Indices, columns: Indices) -> Between:
        """Points of a domain, by their numbers."""
        left, right = domain.points[rows], domain.points[columns]
        return cls(kernel=domain.kernel, metrics=metrics, left=left, right=right, same=same(rows, columns))

    def distances(self, metric: int) -> Array:
        """(p, q)"""
        if metric not in self._known:
            chosen = self.metrics[metric]
            self._known[metric] = cdist(chosen.scaled(self.left), chosen.scaled(self.right))
        return self._known[metric]

    @cached_property
    def similarities(self) -> Array:
        """(p, q) Tanimoto's"""
        return similarities(self.left, self.right)


class Family(Protocol):
    """A correlation of f between points."""

    @property
    def log_prior(self) -> float: ...

    @property
    def scaled(self) -> bool:
        """Whether the variance of f is unknown and the correlation is relative to it."""
        ...

    def between(self, where: Between, /) -> Array:
        """(p, q)"""
        ...

    def diagonal(self, where: Between, /) -> Array:
        """(q,) of the right points with themselves."""
        ...

    def kernel(self, domain: Domain, metrics: tuple[Metric, ...], variance: float, rough: float, /) -> Any:
        """A scikit-learn kernel of this variance, a part ``rough`` of which each point has for itself."""
        ...

    def words(self, domain: Domain, metrics: tuple[Metric, ...], /) -> str: ...


@dataclass(frozen=True)
class OfSmoothness:
    """The Matern correlation."""

    metric: int
    smoothness: float
    length: float
    """In units of a typical distance between two points of the domain."""
    log_prior: float = 0.0

    scaled = True

    def between(self, where: Between, /) -> Array:
        return matern(self.smoothness, where.distances(self.metric) / self.length)

    def diagonal(self, where: Between, /) -> Array:
        return np.ones(len(where.right))

    def kernel(self, _domain: Domain, metrics: tuple[Metric, ...], variance: float, rough: float, /) -> Any:
        factors = metrics[self.metric].factors
        lengths = np.divide(self.length, factors, out=np.full(len(factors), FLAT), where=factors > 0)
        same = len(factors) == 1 or np.ptp(lengths) == 0
        each = float(lengths[0]) if same else lengths
        smooth = RBF(each) if np.isinf(self.smoothness) else Matern(each, nu=self.smoothness)
        found = ConstantKernel(variance * (1.0 - rough)) * smooth
        return found + WhiteKernel(variance * rough) if rough else found

    def words(self, domain: Domain, metrics: tuple[Metric, ...], /) -> str:
        name = {0.5: "Matern 1/2", 1.5: "Matern 3/2", 2.5: "Matern 5/2"}.get(self.smoothness, "RBF")
        chosen = metrics[self.metric]
        if not chosen.stretched:
            alone = domain.coordinates.sphere is not None and domain.dimension == len(AXES)
            in_km = alone and chosen.factors[0] > 0
            length = f"{self.length / chosen.factors[0]:.3g} km" if in_km else f"{self.length:.2g}"
            return f"{name} of length {length}"
        shortest = domain.columns[int(np.argmax(chosen.factors * domain.points.std(axis=0)))]
        return f"{name} with a length for each coordinate, the shortest along {shortest}"


@dataclass(frozen=True)
class Given:
    """The kernel of the domain, with its own variance."""

    log_prior: float = 0.0

    scaled = False

    def between(self, where: Between, /) -> Array:
        return block(where.kernel, where.left, where.right, where.same)

    def diagonal(self, where: Between, /) -> Array:
        return variances(where.kernel, where.right)

    def kernel(self, domain: Domain, _metrics: tuple[Metric, ...], _variance: float, _rough: float, /) -> Any:
        return domain.kernel

    def words(self, _domain: Domain, _metrics: tuple[Metric, ...], /) -> str:
        return "the given kernel"


def matern(smoothness: float, scaled: Array) -> Array:
    """Matern correlation at distances in units of the length, any shape."""
    if smoothness == 0.5:
        return np.asarray(np.exp(-scaled))
    if smoothness == 1.5:
        far = np.sqrt(3.0) * scaled
        return np.asarray((1.0 + far) * np.exp(-far))
    if smoothness == 2.5:
        far = np.sqrt(5.0) * scaled
        return np.asarray((1.0 + far + far * far / 3.0) * np.exp(-far))
    return np.asarray(np.exp(-0.5 * scaled * scaled))


def falling(smoothness: float, scaled: Array) -> Array:
    """-R'(r) / r of the Matern correlation R at distances r in units of the length, any shape; 0 at r = 0."""
    if smoothness == 0.5:
        return np.divide(np.exp(-scaled), scaled, out=np.zeros_like(scaled), where=scaled > 0)
    apart = scaled > 0
    if smoothness == 1.5:
        return np.asarray(apart * 3.0 * np.exp(-np.sqrt(3.0) * scaled))
    if smoothness == 2.5:
        far = np.sqrt(5.0) * scaled
        return np.asarray(apart * (5.0 / 3.0) * (1.0 + far) * np.exp(-far))
    return np.asarray(apart * np.exp(-0.5 * scaled * scaled))
