"""A weighted handful of kernels, and what they say together of f at every point.

f at a point is a mixture of Student's t, one for each member, with weights proportional to evidence times prior.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr, softmax

from superlevel import blocks, linalg, passes
from superlevel.arrays import Array, Indices
from superlevel.averaging.families import Between
from superlevel.averaging.metrics import Metric
from superlevel.averaging.predictive import Prediction, normal
from superlevel.averaging.structures import Fit, Structure, Summary, fits, restricted
from superlevel.blocks import LARGE
from superlevel.kernel_blocks import same

MEMBERS = 8  # kernels that are averaged for each transform: with 16, or with 6, the same labels are as likely wrong,
COVERED = 0.99  # or as many as have this share of the weight, if they are fewer
BLOCK = 2**20  # covariances held at a time: 8 MB
LEAST = 1e-9  # of the variance of f: rounding leaves about so much


@dataclass(frozen=True, kw_only=True, eq=False)
class Mixture:
    """The likeliest structures, with their weights."""

    fits: tuple[Fit, ...]
    """Those of one family follow each other."""
    weights: Array
    """(m,) their sum is 1."""
    summary: Summary

    @property
    def best(self) -> Fit:
        """The member of the largest weight."""
        return self.fits[int(np.argmax(self.weights))]

    @property
    def log_evidence(self) -> float:
        """The logarithm of the sum of the members' evidence."""
        return float(np.logaddexp.reduce([fit.log_evidence for fit in self.fits]))

    @property
    def noise(self) -> float:
        """The deviation of one measurement, on average over the members."""
        return float(np.sqrt(self.weights @ np.array([fit.noise**2 for fit in self.fits])))

    @property
    def freedom(self) -> float:
        return self.summary.freedom if self.best.structure.family.scaled else np.inf

    def predict(self, points: Indices) -> Prediction:
        """f at points (n,) of the domain."""
        n, m = len(points), len(self.fits)
        means, variances = np.empty((m, n)), np.empty((m, n))
        portions = list(self._portions(points))
        jobs = (self._portion(points[at], near) for at, near in portions)
        function = partial(predicted, self._basis(alone=all(near is not None for _, near in portions)))
        done = map(function, jobs) if n <= LARGE else passes.over(jobs, function, total=len(portions))
        for (at, _), (mean, variance) in zip(portions, done, strict=True):
            means[:, at], variances[:, at] = mean, variance
        return Prediction(weights=self.weights, means=means, deviations=np.sqrt(variances), freedom=self.freedom)

    def _basis(self, *, alone: bool) -> Basis:
        """What all portions have in common; ``alone`` if each has measured points of its own."""
        known = self.summary
        return Basis(
            fits=tuple(replace(fit, factor=np.empty((0, 0))) for fit in self.fits) if alone else self.fits,
            kernel=known.domain.kernel,
            metrics=known.metrics,
            data=known.domain.points[known.points],
            counts=known.counts,
            means=known.means,
        )

    def _portion(self, points: Indices, near: Indices | None) -> Portion:
        data = self.summary.points if near is None else self.summary.points[near]
        return Portion(points=self.summary.domain.points[points], near=near, shared=same(data, points))

    def _portions(self, points: Indices) -> Iterator[tuple[Indices, Indices | None]]:
        """Positions of some points, and of the measured points that they are conditioned on; None for all of these."""
        known, n = self.summary, len(points)
        if n <= LARGE:
            step = max(1, BLOCK // max(1, len(known.points)))
            yield from ((np.arange(start, min(start + step, n)), None) for start in range(0, n, step))
            return
        whole = n == known.domain.n
        found = known.domain.blocks if whole else blocks.blocks(known.domain.points[points], known.domain.units)
        k = blocks.neighbours(n, len(self.fits))
        if k >= len(known.points):
            yield from ((members, None) for members in found)
            return
        corners = points[found.corners]
        told = np.square(self._correlations(corners.ravel()))
        told /= (1.0 + self.best.structure.noise / known.counts)[:, None]
        data = known.points if whole else np.full(len(known.points), -1)
        near = found.nearest(data, told.reshape(len(known.points), *corners.shape), k)
        yield from zip(found, near, strict=True)

    def _correlations(self, points: Indices) -> Array:
        """(q, m) of f at the measured points with f at some points, by the likeliest kernel."""
        known = self.summary
        where = Between.of(known.domain, known.metrics, known.points, points)
        return self.best.structure.family.between(where)

    def left_out(self) -> Array:
        """(q,) the probability of less than the mean of each measured point, as all others predict it.

        With P = V^-1 - V^-1 1 1'V^-1 / 1'V^-1 1 the error is (V^-1 r)_i / P_ii, and its variance a^2 / P_ii (Rasmussen
        and Williams 2006, eq. 5.12; with an estimated mean, Dubrule 1983, Math. Geol. 15:687).
        """
        chances = np.zeros(len(self.summary.points))
        for weight, fit in zip(self.weights, self.fits, strict=True):
            columns = linalg.whiten(fit.factor, np.eye(len(fit.factor)))  # (q, q), row i is L^-1 e_i
            precision = linalg.squared_norms(columns)
            if not fit.mean_is_given:
                precision -= np.square(columns @ fit.ones) / float(fit.ones @ fit.ones)
            scale = np.sqrt(np.maximum(precision, LEAST) * fit.amplitude)
            chances += weight * ndtr(normal((columns @ fit.residuals) / scale, self.freedom))
        return chances


@dataclass(frozen=True, kw_only=True, eq=False)
class Basis:
    """What all portions are predicted from: plain arrays, so that they can be computed anywhere."""

    fits: tuple[Fit, ...]
    """Without their factors, if no portion is conditioned on all measured points."""
    kernel: Any
    metrics: tuple[Metric, ...]
    data: Array
    """(q, d) measured points."""
    counts: Array
    """(q,)"""
    means: Array
    """(q,)"""

    def between(self, left: Array, right: Array, shared: tuple[Indices, Indices]) -> Between:
        """Two sets of points."""
        return Between(kernel=self.kernel, metrics=self.metrics, left=left, right=right, same=shared)


@dataclass(frozen=True, kw_only=True, eq=False)
class Portion:
    """Some points to predict."""

    points: Array
    """(b, d)"""
    near: Indices | None
    """Positions (k,) of the measured points that they are conditioned on; None for all."""
    shared: tuple[Indices, Indices]
    """Pairs of one of these measured points and one of the points that are the same."""

    key: ClassVar[None] = None  # every measurement changes evidence and amplitude, and with them all predictions


def predicted(basis: Basis, portion: Portion) -> Array:
    """(2, m, b) the means and the variances of the points by each member."""
    each = list(_by_members(basis, portion))
    return np.stack([np.stack([mean for mean, _ in each]), np.stack([variance for _, variance in each])])


def _by_members(basis: Basis, portion: Portion) -> Iterator[tuple[Array, Array]]:
    """Mean and variance (b,) by each member."""
    near = slice(None) if portion.near is None else portion.near
    data, counts, means = basis.data[near], basis.counts[near], basis.means[near]
    where = basis.between(data, portion.points, portion.shared)
    all_of_them = np.arange(len(data))
    inside = None if portion.near is None else basis.between(data, data, (all_of_them, all_of_them))
    family, base, own, among = None, np.empty((0, 0)), np.empty(0), np.empty((0, 0))
    for fit in basis.fits:
        if fit.structure.family is not family:
            family = fit.structure.family
            base, own = family.between(where), family.diagonal(where)
            among = among if inside is None else family.between(inside)
        mine = fit if inside is None else restricted(fit, among, counts, means)
        yield _predicted(mine, base, own, portion.shared)


def likeliest(listed: Sequence[tuple[float, Structure]]) -> tuple[list[Structure], float]:
    """Out of structures with their log evidence, those that count, in their order, and their share of the weight."""
    logs = np.array([log for log, _ in listed])
    weights = np.exp(logs - logs.max())
    order = np.argsort(-weights, kind="stable")
    enough = int(np.searchsorted(np.cumsum(weights[order]), COVERED * weights.sum())) + 1
    chosen = np.sort(order[: min(enough, MEMBERS)])
    return [listed[k][1] for k in chosen], float(weights[chosen].sum() / weights.sum())


def averaged(summary: Summary, structures: Sequence[Structure]) -> Mixture | None:
    """The mixture of these structures by their evidence.

    One whose V is singular for these measurements is left out; None if that is so for all.
    """
    members = tuple(fits(summary, structures))
    if not members:
        return None
    return Mixture(fits=members, weights=softmax([fit.log_evidence for fit in members]), summary=summary)


def _predicted(fit: Fit, base: Array, own: Array, shared: tuple[Indices, Indices]) -> tuple[Array, Array]:
    """Mean and variance (n,); ``base`` (q, n) is the correlation with measured points, ``own`` (n,) that of a point."""
    rough = fit.structure.rough
    block = (1.0 - rough) * base
    block[shared] += rough
    white = linalg.solve_lower(fit.factor, block)
    variance = (1.0 - rough) * own + rough - np.einsum("ij,ij->j", white, white)
    if not fit.mean_is_given:
        variance += np.square(1.0 - fit.ones @ white) / float(fit.ones @ fit.ones)
    least = np.maximum(LEAST * own, np.finfo(float).tiny)  # a point whose value is certain has a deviation too
    return fit.mean + fit.residuals @ white, fit.amplitude * np.maximum(variance, least)
