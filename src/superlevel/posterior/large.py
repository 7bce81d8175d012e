"""The posterior of a large domain: the data are held, and everything else is computed when somebody looks.

Mean and variance of all n points take one pass over blocks of near points. While that is cheap, every block is
conditioned on all q measured points; beyond, on the k of them that tell most of it. A measured point j by itself takes
the part

    k(x, x_j)^2 / (k(x, x) (k(x_j, x_j) + d_j))

off the variance of x, d_j the variance of its mean. The block takes the k points for which the largest of these parts
over its corners is largest. To condition on fewer points never makes a variance smaller. What a few points need, their
covariances included, is always computed from all measured points.

A block's result depends on that block and its k points alone: where nothing has changed, it is not computed again
(`superlevel.passes`).
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np

from superlevel import blocks, linalg, passes
from superlevel.arrays import Array, Indices, frozen
from superlevel.domain import Domain
from superlevel.kernel_blocks import block, same, variances
from superlevel.one_thread import one_thread
from superlevel.posterior.downdated import Downdated, stored
from superlevel.posterior.field import Approximation, Field
from superlevel.posterior.protocol import Fresh, Told, chunks, noisy_factor

COLUMNS = 2**22  # covariances held at a time: 32 MB
COMPARED = 200  # points at which a local field is compared with the exact one


@dataclass(frozen=True, kw_only=True, eq=False)
class ByData:
    """K, of which nothing is stored."""

    domain: Domain

    @property
    def rank(self) -> int:
        return self.domain.n

    def after(self, told: Told, /) -> Fresh:
        points = np.flatnonzero(told.weights)
        found = Conditioned(domain=self.domain, points=points, variances=1 / told.weights[points])
        return Fresh(covariance=found, field=found.field(told))


@dataclass(frozen=True, kw_only=True, eq=False)
class Conditioned:
    """Sigma = K - K_X' (K_XX + D)^-1 K_X, in blocks of columns."""

    domain: Domain
    points: Indices
    """X (q,), ascending: the measured points."""
    variances: Array
    """(q,) the diagonal of D."""
    first: int | None = None
    """Of so many of the points only; None for all of them."""

    at_hand: ClassVar[bool] = False
    kept: ClassVar[int] = 0

    @property
    def n(self) -> int:
        return self.domain.n if self.first is None else self.first

    @cached_property
    @one_thread
    def factor(self) -> Array:
        """L (q, q)"""
        covariances = self.domain.gram(self.points)
        return noisy_factor(covariances, self.variances, np.diag(covariances))

    def field(self, told: Told) -> Field:
        """Mean and variance of all points, after these measurements."""
        averages = told.sums[self.points] * self.variances
        return Passed(given=self, mean_before=told.mean, averages=averages)

    @one_thread
    def columns(self, points: Indices) -> Array:
        found = np.empty((len(points), self.n))
        step = max(1, COLUMNS // max(1, len(points) + len(self.points)))
        gains = self._gains(points)
        for start in range(0, self.n, step):
            cells = np.arange(start, min(start + step, self.n))
            found[:, cells] = self.domain.gram(points, cells)
            if len(self.points):
                found[:, cells] -= gains @ self.domain.gram(self.points, cells)
        return found

    @one_thread
    def between(self, left: Indices, right: Indices) -> Array:
        found = self.domain.gram(left, right)
        return found - self._gains(left) @ self.domain.gram(self.points, right) if len(self.points) else found

    def _gains(self, points: Indices) -> Array:
        """K_pX (K_XX + D)^-1 (m, q)"""
        if not len(self.points):
            return np.empty((len(points), 0))
        return linalg.cholesky_solve(self.factor, self.domain.gram(self.points, points)).T

    def times(self, vector: Array) -> Array:
        found = np.zeros(self.n)
        for some in chunks(np.flatnonzero(vector), self.n):
            found += linalg.transposed_times(self.columns(some), vector[some])
        return found

    def squares(self, weights: Array) -> Array:
        found = np.zeros(self.n)
        for some in chunks(np.flatnonzero(weights), self.n):
            found += linalg.transposed_times(np.square(self.columns(some)), weights[some])
        return found

    @one_thread
    def measured(self, points: Indices, variances: Array) -> Deferred:
        factor = noisy_factor(self.between(points, points), variances, self.domain.at(points))
        together, place = np.unique(np.concatenate([self.points, points]), return_inverse=True)
        weights = np.bincount(place, 1 / np.concatenate([self.variances, variances]))
        after = replace(self, points=together, variances=1 / weights)
        if not len(self.points):
            vars(after)["factor"] = factor  # it is the same, and takes q^3
        return Deferred(before=self, after=after, points=points, factor=factor)

    def diagonal(self) -> Array:
        return self.field(Told(mean=0.0, weights=np.empty(0), sums=np.zeros(self.domain.n))).variance

    def within(self, n: int) -> Conditioned:
        return replace(self, first=n)

    def among(self, points: Indices) -> Downdated:
        return stored(np.ascontiguousarray(self.between(points, points)))

    def drift(self, _weights: Array) -> float:
        """None: nothing is updated."""
        return 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Deferred:
    """What measurements do to the covariance, of which the rows are computed if somebody needs them."""

    before: Conditioned
    after: Conditioned
    points: Indices
    factor: Array

    @cached_property
    def rows(self) -> Array:
        return linalg.solve_lower(self.factor, self.before.columns(self.points))

    def field(self, _before: Field, _whitened: Array, told: Told, /) -> Field:
        return self.after.field(told)


@dataclass(frozen=True, kw_only=True, eq=False)
class Passed:
    """Mean and variance by one pass over all points, when they are first asked for."""

    given: Conditioned
    mean_before: float
    averages: Array
    """(q,) the mean of the measurements at each measured point, less that of f."""

    @property
    def mean(self) -> Array:
        return self._both[0]

    @property
    def variance(self) -> Array:
        return self._both[1]

    @property
    def neighbours(self) -> int:
        """Measured points that each block is conditioned on."""
        return min(len(self.given.points), blocks.neighbours(self.given.domain.n))

    @property
    def is_exact(self) -> bool:
        """Whether that is all of them."""
        return self.neighbours == len(self.given.points)

    @one_thread
    def at(self, points: Indices, /) -> tuple[Array, Array]:
        """From all measured points."""
        known = self.given
        own = known.domain.at(points)
        if not len(known.points):
            return np.full(len(points), self.mean_before), own
        white = linalg.solve_lower(known.factor, known.domain.gram(known.points, points))
        errors = linalg.solve_lower(known.factor, self.averages[:, None])[:, 0]
        mean = self.mean_before + linalg.transposed_times(white, errors)
        return mean, np.maximum(own - np.einsum("ij,ij->j", white, white), 0.0)

    def within(self, n: int, /) -> Field:
        return replace(self, given=self.given.within(n))

    @cached_property
    def approximation(self) -> Approximation | None:
        if self.is_exact:
            return None
        points = np.random.default_rng(0).permutation(self.given.n)[:COMPARED]
        mean, variance = self.at(points)
        exact = np.sqrt(np.maximum(variance, np.finfo(float).tiny))
        ratios = np.sqrt(self.variance[points]) / exact
        return Approximation(
            neighbours=self.neighbours,
            compared=len(points),
            wider=float(ratios.max()),
            narrower=float(ratios.min()),
            off=float((np.abs(self.mean[points] - mean) / exact).max()),
        )

    @cached_property
    def _both(self) -> tuple[Array, Array]:
        domain = self.given.domain
        mean, variance = np.empty(domain.n), np.empty(domain.n)
        each = passes.over(self._jobs(), predict, total=len(domain.blocks))
        for cells, found in zip(domain.blocks, each, strict=True):
            mean[cells], variance[cells] = found
        mean += self.mean_before
        return frozen(mean[: self.given.n]), frozen(variance[: self.given.n])

    def _jobs(self) -> Iterator[Job]:
        known = self.given
        domain, data = known.domain, known.points
        kernel_key = blake2b(pickle.dumps(domain.kernel), digest_size=16).digest()
        for cells, near in zip(domain.blocks, self._near(), strict=True):
            yield Job(
                kernel=domain.kernel,
                kernel_key=kernel_key,
                data=domain.points[data[near]],
                cells=domain.points[cells],
                shared=same(data[near], cells),
                variances=known.variances[near],
                averages=self.averages[near],
            )

    def _near(self) -> Iterator[Indices]:
        """For each block, the positions of the measured points that it is conditioned on."""
        domain, data = self.given.domain, self.given.points
        if self.is_exact:
            yield from (np.arange(len(data)) for _ in range(len(domain.blocks)))
            return
        precision = 1 / (domain.at(data) + self.given.variances)
        step = max(1, COLUMNS // (len(data) * domain.blocks.corners.shape[1]))
        for start in range(0, len(domain.blocks), step):
            corners = domain.blocks.corners[start : start + step]
            parts = np.square(domain.gram(data, corners.ravel())) * precision[:, None]
            parts /= np.maximum(domain.at(corners.ravel()), np.finfo(float).tiny)
            told = parts.reshape(len(data), *corners.shape)
            yield from domain.blocks.nearest(data, told, self.neighbours, first=start)


@dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """A block of points, and what it is conditioned on: plain arrays, so that it can be computed anywhere."""

    kernel: Any
    kernel_key: bytes
    """A digest of the kernel."""
    data: Array
    """(k, d) measured points."""
    cells: Array
    """(b, d) points of the block."""
    shared: tuple[Indices, Indices]
    """Pairs of a measured point and a point of the block that are the same."""
    variances: Array
    """(k,) of the measured means."""
    averages: Array
    """(k,)"""

    @property
    def key(self) -> bytes:
        digest = blake2b(self.kernel_key, digest_size=16)
        for array in (self.data, self.cells, *self.shared, self.variances, self.averages):
            digest.update(str(array.shape).encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.digest()


def predict(job: Job) -> Array:
    """(2, b) the mean, less that of f, and the variance of the block's points."""
    own = variances(job.kernel, job.cells)
    if not len(job.data):
        return np.stack([np.zeros(len(job.cells)), own])
    alone = np.arange(len(job.data))
    covariances = block(job.kernel, job.data, job.data, (alone, alone))
    factor = noisy_factor(covariances, job.variances, covariances.diagonal())
    white = linalg.solve_lower(factor, block(job.kernel, job.data, job.cells, job.shared))
    errors = linalg.solve_lower(factor, job.averages[:, None])[:, 0]
    left = own - np.einsum("ij,ij->j", white, white)
    return np.stack([linalg.transposed_times(white, errors), np.maximum(left, 0.0)])
