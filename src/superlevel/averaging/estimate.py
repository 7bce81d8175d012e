"""Kernel, noise and mean from measurements: a mixture of kernels on transformed values.

What a problem leaves open is averaged over; what it gives is used as it is. The transform of the values is chosen by
its likelihood where nothing speaks against one: the kernel is unknown, mean and noise are too, and the level is given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from superlevel.arrays import Array, Indices
from superlevel.averaging import metrics, warps
from superlevel.averaging.mixture import Mixture, averaged, likeliest
from superlevel.averaging.predictive import Predictive, probit
from superlevel.averaging.structures import Structure, Summary, evidences, grid, grid_of_noise, summarise
from superlevel.averaging.warps import Warp
from superlevel.errors import InputError
from superlevel.problem import Problem

MOST = 300  # different points from which kernels are compared: the cost grows with their cube
FEW, SHORT = 80, 200  # points by which most of the grid is ruled out, and structures that are left then
TRIED = 24  # structures by which transforms are compared
TRANSFORMS, NEGLIGIBLE = 3, 0.1  # transforms that are averaged at most; relative weight of one that is left out
RELUCTANCE = 3.0  # the prior of each transform in log-likelihood, relative to none
ENOUGH = 10  # measurements without a noise of their own, from which the noise of one can be told
LEAST = 1e-5  # of the usual noise: no measurement counts as more precise than that
SHARES_OF_VARIANCE = np.geomspace(1e-5, 2.0, 18)  # that the noise may have, where the kernel is given


@dataclass(frozen=True, kw_only=True, eq=False)
class Data:
    """Measurements, in any order and with repeats."""

    points: Indices
    """(N,)"""
    values: Array
    """(N,)"""
    noise: Array
    """(N,) the standard deviation of each, NaN where it has none of its own."""

    def __getitem__(self, at: Indices) -> Data:
        return Data(points=self.points[at], values=self.values[at], noise=self.noise[at])

    def __len__(self) -> int:
        return len(self.points)

    def joined(self, other: Data) -> Data:
        """These, and then others."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in ("points", "values", "noise"))
        points, values, noise = (np.concatenate(pair) for pair in pairs)
        return Data(points=points, values=values, noise=noise)


NO_DATA = Data(points=np.empty(0, dtype=np.int64), values=np.empty(0), noise=np.empty(0))


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
        return f"{best.structure.family}{rough}{shape}{others}"

    def predict(self, points: Indices) -> Predictive:
        """f at points (n,) of the domain."""
        found = []
        for weight, warp, mixture in self.parts:
            part = mixture.predict(points)
            found.append((warp, replace(part, weights=weight * part.weights)))
        return Predictive(parts=tuple(found))

    def left_out(self) -> Array:
        """(q,) how far each measured point is from what all others predict, as a normal deviate."""
        return probit(np.sum([weight * mixture.left_out() for weight, _, mixture in self.parts], axis=0))


def average(problem: Problem, data: Data) -> Average:
    """From all measurements, of which there is at least one.

    Of more than `MOST` different points some decide which kernels and which transforms are likely.
    """
    if not len(data):
        raise InputError("fit", "asked for without any measurement", "tell some first")
    counts, noise = _precision(problem, data)
    tool, few = _Tool(problem, noise), _some(data, MOST)
    listed = tool.transforms(data[few], counts[few])
    total = np.logaddexp.reduce([log for log, _, _ in listed])
    parts = []
    for log, warp, structures in listed:
        members, weights = likeliest(tool.summary(data[few], counts[few], warp), structures)
        mixture = averaged(tool.summary(data, counts, warp), members, weights)
        parts.append((math.exp(log - total), warp, mixture))
    return Average(parts=tuple(parts), counts=counts)


class _Tool:
    """What is tried for a problem; ``noise`` is the deviation of one measurement where it is given."""

    def __init__(self, problem: Problem, noise: float | None) -> None:
        self.domain, self.noise = problem.domain, noise
        self.scaled = "kernel" in problem.fit
        self.mean = None if "mean" in problem.fit else problem.mean
        self.by_levels = not problem.goal.share
        self.metrics = metrics.metrics(problem.domain.points) if self.scaled else ()

    def structures(self, data: Data) -> list[Structure]:
        if self.scaled:
            return grid(len(self.metrics), noise_is_given=self.noise is not None)
        if self.noise is not None:
            largest = float(self.domain.diagonal().max())
            return grid_of_noise([max(self.noise**2, LEAST**2 * largest)])
        return grid_of_noise((SHARES_OF_VARIANCE * (float(data.values.var()) or 1.0)).tolist())

    def plain(self, values: Array) -> Warp:
        """The transform that changes units only; where f is compared with its own maximum, zero stays zero."""
        if not self.scaled:
            return Warp(centre=0.0, scale=math.inf, unit=1.0)
        unit = float(values.std()) or 1.0
        return Warp(centre=float(values.mean()) if self.by_levels else 0.0, scale=math.inf, unit=unit)

    def summary(self, data: Data, counts: Array, warp: Warp) -> Summary:
        mean = None if self.mean is None else float(warp(self.mean))
        noise = None if self.noise is None else self.noise / warp.unit
        values = warp(data.values)
        return summarise(self.domain, self.metrics, data.points, values, counts, noise=noise, mean=mean)

    def transforms(self, data: Data, counts: Array) -> list[tuple[float, Warp, list[Structure]]]:
        """The likely transforms, the likeliest first: log evidence, the transform, and the structures to be averaged.

        Transforms are compared by the structures that are likely without one. All structures are looked at for the
        likeliest transform, and for the others those that are likely with it.
        """
        plain, structures = self.plain(data.values), self.structures(data)
        if not self.scaled or not self.by_levels or self.noise is not None or self.mean is not None:
            return [(0.0, plain, self.shortlisted(data, counts, plain, structures))]
        structures = self.shortlisted(data, counts, plain, structures)
        likely = _best(evidences(self.summary(data, counts, plain), structures), TRIED)
        found = []
        for warp in (plain, *warps.candidates(data.values)):
            evidence = _total(evidences(self.summary(data, counts, warp), likely)) + warp.log_slopes(data.values)
            found.append((evidence - (0.0 if warp is plain else RELUCTANCE), warp))
        found.sort(key=lambda pair: -pair[0])
        largest, first = found[0]
        structures = self.shortlisted(data, counts, first, self.structures(data))
        others = [(log, warp) for log, warp in found[1:TRANSFORMS] if log > largest + math.log(NEGLIGIBLE)]
        if others:
            likely = _best(evidences(self.summary(data, counts, first), structures), TRIED)
        return [(largest, first, structures), *((log, warp, likely) for log, warp in others)]

    def shortlisted(self, data: Data, counts: Array, warp: Warp, structures: list[Structure]) -> list[Structure]:
        """The structures that some of the points find likely: most of the grid need not be tried on all of them."""
        few = _some(data, FEW)
        if len(few) == len(data):
            return structures
        return _best(evidences(self.summary(data[few], counts[few], warp), structures), SHORT)


def _best(listed: list[tuple[float, Structure]], count: int) -> list[Structure]:
    """The structures of the largest evidence, in the order in which they are listed."""
    order = sorted(range(len(listed)), key=lambda k: -listed[k][0])[:count]
    return [listed[k][1] for k in sorted(order)]


def _total(listed: list[tuple[float, Structure]]) -> float:
    """The logarithm of the sum of the evidence."""
    return float(np.logaddexp.reduce([log for log, _ in listed])) if listed else -math.inf


def _some(data: Data, most: int) -> Indices:
    """(N',) all measurements, or those at so many of the points, evenly spread in their order."""
    different = np.unique(data.points)
    if len(different) <= most:
        return np.arange(len(data))
    chosen = different[np.linspace(0, len(different) - 1, most).astype(np.int64)]
    return np.flatnonzero(np.isin(data.points, chosen))


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
