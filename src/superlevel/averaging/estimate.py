"""Kernel, noise and mean from measurements: a mixture of kernels on transformed values.

What a problem leaves open is averaged over; what it gives is used as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from superlevel import blocks, costs
from superlevel.arrays import Array, Indices
from superlevel.averaging import local
from superlevel.averaging.candidates import Candidates, likely, log_prior
from superlevel.averaging.data import NO_DATA, Data, some
from superlevel.averaging.mixture import Mixture, averaged, likeliest
from superlevel.averaging.predictive import Predictive, probit
from superlevel.averaging.structures import Structure
from superlevel.averaging.warps import Warp
from superlevel.blocks import LARGE
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.one_thread import one_thread
from superlevel.problem import Problem

MOST = 300  # different points from which kernels are compared: the cost grows with their cube
ENOUGH = 10  # measurements without a noise of their own, from which the noise of one can be told
LEAST = 1e-5  # of the usual noise: no measurement counts as more precise than that


@dataclass(frozen=True, kw_only=True, eq=False)
class Average:
    """What takes the place of what is not given."""

    parts: tuple[tuple[float, Warp, Mixture], ...]
    """Weight, transform, and the mixture of kernels for the transformed values; the largest weight comes first."""
    counts: Array
    """(N,) how many measurements of the common noise each is worth."""

    @property
    def warp(self) -> Warp:
        """The likeliest transform."""
        return self.parts[0][1]

    @property
    def mixture(self) -> Mixture:
        """The kernels for the likeliest transform."""
        return self.parts[0][2]

    @cached_property
    def noise(self) -> float:
        """The deviation of one measurement in the middle of the measured values, in their units."""
        middle = self.warp.inverse(np.median(self.mixture.summary.means))
        return self.mixture.noise / float(self.warp.slopes(middle))

    @property
    def kernel(self) -> str:
        """The likeliest kernel, and of how many it is, in words."""
        best, count = self.mixture.best, sum(len(mixture.fits) for _, _, mixture in self.parts)
        rough = f", {best.structure.rough:.0%} rough" if best.structure.rough else ""
        shape = "" if math.isinf(self.warp.scale) else ", of transformed values"
        others = f", the likeliest of {count} that are averaged" if count > 1 else ""
        summary = self.mixture.summary
        return f"{best.structure.family.words(summary.domain, summary.metrics)}{rough}{shape}{others}"

    @one_thread
    def predict(self, points: Indices) -> Predictive:
        """f at points (n,) of the domain."""
        self._announce(len(points))
        found = []
        for weight, warp, mixture in self.parts:
            part = mixture.predict(points)
            found.append((warp, replace(part, weights=weight * part.weights)))
        return Predictive(parts=tuple(found))

    def _announce(self, n: int) -> None:
        known, members = self.mixture.summary, sum(len(mixture.fits) for _, _, mixture in self.parts)
        q = len(known.points)
        # Of a large domain no matrix is kept, and no block is conditioned on more than some of the points.
        near = min(q, blocks.neighbours(n, members)) if n > LARGE else q
        cost = costs.of_prediction(n, known.domain.dimension, near, members, kept=q if n <= LARGE else 0)
        what = f"the predictions of {n:,} points from {q:,} measured ones by {members} estimated kernels"
        costs.announce("problem.domain", what, cost, instead="give fewer points, or a kernel, noise and mean")

    def elsewhere(self, places: Array) -> Predictive:
        """f at places (m, d) that need not be points of the domain; a place that is one is that point."""
        known = self.mixture.summary.domain.points
        index = {row.tobytes(): k for k, row in enumerate(known + 0.0)}  # -0.0 is 0.0
        at = np.array([index.get(row.tobytes(), len(known) + k) for k, row in enumerate(places + 0.0)], dtype=np.int64)
        domain = Domain(np.concatenate([known, places]), self.mixture.summary.domain.kernel)
        parts = tuple(
            (weight, warp, replace(mixture, summary=replace(mixture.summary, domain=domain)))
            for weight, warp, mixture in self.parts
        )
        return replace(self, parts=parts).predict(at)

    @one_thread
    def left_out(self) -> Array:
        """(q,) how far each measured point is from what all others predict, as a normal deviate."""
        return probit(np.sum([weight * mixture.left_out() for weight, _, mixture in self.parts], axis=0))

    def local_scales(self, deviates: Array) -> Array:
        """(n,) how much rougher f is at each point of the domain than on average, from what `left_out` returned."""
        known = self.mixture.summary
        places = known.metrics[0].scaled(known.domain.points)
        if known.domain.n <= LARGE:
            return local.scales(places[known.points], deviates, places)
        # Of a large domain each block has one scale: that of a point in its middle.
        found = np.empty(known.domain.n)
        middle = local.scales(places[known.points], deviates, places[known.domain.blocks.corners[:, -1]])
        for members, scale in zip(known.domain.blocks, middle, strict=True):
            found[members] = scale
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Shortlist:
    """The transforms and kernels that some measurements make likely.

    The search for them is what an estimate costs most of. Later measurements need no search of their own as long as
    they are few: all of them decide how much each transform and each kernel of the list counts.
    """

    problem: Problem
    data: Data
    """At least one measurement."""

    def averaged(self, data: Data) -> Average:
        """From all measurements, those of the list and later ones."""
        return _averaged(self.problem, self._listed, data) or average(self.problem, data)

    @cached_property
    def _listed(self) -> list[_Listed]:
        return _searched(self.problem, self.data)


class _Listed(NamedTuple):
    """A transform, the likely kernels with it, and the logarithm of what its other kernels add to their evidence."""

    warp: Warp
    candidates: Candidates
    structures: list[Structure]
    others: float


def average(problem: Problem, data: Data) -> Average:
    """From all measurements, of which there is at least one."""
    if not len(data):
        raise InputError("fit", "asked for without any measurement", "tell some first")
    return Shortlist(problem=problem, data=data).averaged(data)


@one_thread
def _searched(problem: Problem, data: Data) -> list[_Listed]:
    """Of more than `MOST` different points some decide which kernels and which transforms are likely."""
    counts, noise = _precision(problem, data)
    chosen = some(data, MOST)
    found = []
    for part in likely(Candidates.of(problem, noise), data[chosen], counts[chosen]):
        members, share = likeliest(part.structures)
        found.append(_Listed(part.warp, part.candidates, members, -math.log(share)))
    return found


@one_thread
def _averaged(problem: Problem, listed: list[_Listed], data: Data) -> Average | None:
    """None if the covariances of all kernels are singular for these measurements."""
    counts, noise = _precision(problem, data)
    logs, parts = [], []
    for each in listed:
        summary = replace(each.candidates, noise=noise).summary(data, counts, each.warp)
        mixture = averaged(summary, each.structures)
        if mixture is not None:
            logs.append(mixture.log_evidence + each.others + log_prior(each.warp) + each.warp.log_slopes(data.values))
            parts.append((each.warp, mixture))
    if not parts:
        return None
    weights = softmax(logs)
    order = np.argsort(-weights, kind="stable")
    return Average(parts=tuple((float(weights[k]), *parts[k]) for k in order), counts=counts)


def _precision(problem: Problem, data: Data) -> tuple[Array, float | None]:
    """(N,) how many measurements of the common noise each is worth, and that noise where it is given.

    Where the noise is to be estimated, measurements that have their own are compared with what the others show; where
    there are too few others, with the median of their own.
    """
    own = ~np.isnan(data.noise)
    if "noise" not in problem.fit:
        deviations = np.where(own, data.noise, problem.deviations[data.points])
        usual = float(np.median(deviations))
        return _worth(deviations, usual), usual
    if not own.any():
        return np.ones(len(data)), None
    common = np.flatnonzero(~own)
    if len(common) >= ENOUGH:
        usual = average(problem, data[common]).noise
        return np.where(own, _worth(np.where(own, data.noise, usual), usual), 1.0), None
    usual = float(np.median(data.noise[own]))
    return _worth(np.where(own, data.noise, usual), usual), usual


def _worth(deviations: Array, usual: float) -> Array:
    if usual == 0.0:
        return np.ones(len(deviations))
    return np.square(usual / np.maximum(deviations, LEAST * usual))


__all__ = ["NO_DATA", "Average", "Data", "Shortlist", "average"]
