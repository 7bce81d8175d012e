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
from superlevel.averaging import lengths, metrics, warps
from superlevel.averaging.metrics import Metric
from superlevel.averaging.mixture import Mixture, averaged, likeliest
from superlevel.averaging.predictive import Predictive, probit
from superlevel.averaging.structures import Structure, Summary, evidences, grid, grid_of_noise, summarise
from superlevel.averaging.warps import Warp
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.problem import Problem

MOST = 300  # different points from which kernels are compared: the cost grows with their cube
FEW, SHORT = 80, 200  # points by which most of the grid is ruled out, and structures that are left then
STRETCHED = 150  # points from which the length of each coordinate is estimated
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
        summary = self.mixture.summary
        return f"{best.structure.family.words(summary.domain, summary.metrics)}{rough}{shape}{others}"

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
    some = _some(data, MOST)
    begin = _Candidates.of(problem, noise)
    candidates, listed = begin.likely(data[some], counts[some])
    total = np.logaddexp.reduce([log for log, _, _ in listed])
    parts = []
    for log, warp, structures in listed:
        members, weights = likeliest(candidates.summary(data[some], counts[some], warp), structures)
        mixture = averaged(candidates.summary(data, counts, warp), members, weights)
        parts.append((math.exp(log - total), warp, mixture))
    return Average(parts=tuple(parts), counts=counts)


Listed = tuple[float, Warp, list[Structure]]
"""log evidence, a transform, and the structures to be averaged for it"""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Candidates:
    """What is tried for a problem."""

    domain: Domain
    noise: float | None
    """The deviation of one measurement where it is given."""
    mean: float | None
    """The mean where it is given."""
    metrics: tuple[Metric, ...]
    """None where the kernel is given."""
    by_levels: bool
    """Whether f is compared with levels, and not with its own maximum."""

    @classmethod
    def of(cls, problem: Problem, noise: float | None) -> _Candidates:
        return cls(
            domain=problem.domain,
            noise=noise,
            mean=None if "mean" in problem.fit else problem.mean,
            metrics=metrics.metrics(problem.domain.points) if "kernel" in problem.fit else (),
            by_levels=not problem.goal.share,
        )

    def likely(self, data: Data, counts: Array) -> tuple[_Candidates, list[Listed]]:
        """The likely transforms, the likeliest first; with the candidates whose metrics their structures are in.

        Transforms are compared by the structures that are likely without one. All structures are looked at for the
        likeliest transform, and for the others those that are likely with it.
        """
        if not self.metrics:
            plain = Warp(centre=0.0, scale=math.inf, unit=1.0)
            return self, [(0.0, plain, self.with_given_kernel(data))]
        plain = self.plain(data.values)
        chosen, structures = self.stretched(data, counts, plain)
        if not self.by_levels or self.noise is not None or self.mean is not None:
            return chosen, [(0.0, plain, structures)]
        likely = _best(evidences(chosen.summary(data, counts, plain), structures), TRIED)
        found = []
        for warp in (plain, *warps.candidates(data.values)):
            evidence = _total(evidences(chosen.summary(data, counts, warp), likely)) + warp.log_slopes(data.values)
            found.append((evidence - (0.0 if warp is plain else RELUCTANCE), warp))
        found.sort(key=lambda pair: -pair[0])
        largest, first = found[0]
        if first is not plain:
            chosen, structures = self.stretched(data, counts, first)
        others = [(log, warp) for log, warp in found[1:TRANSFORMS] if log > largest + math.log(NEGLIGIBLE)]
        if others:
            likely = _best(evidences(chosen.summary(data, counts, first), structures), TRIED)
        return chosen, [(largest, first, structures), *((log, warp, likely) for log, warp in others)]

    def stretched(self, data: Data, counts: Array, warp: Warp) -> tuple[_Candidates, list[Structure]]:
        """With one more metric that has a length for each coordinate, and the structures that are likely then.

        Some of the points rule most of the grid out, which need not be tried on all of them.
        """
        few, some = _some(data, FEW), _some(data, STRETCHED)
        listed = grid(self.metrics, noise_is_given=self.noise is not None)
        found = evidences(self.summary(data[few], counts[few], warp), list(listed))
        if np.count_nonzero(self.metrics[0].factors) < 2:
            return self, _best(found, SHORT)
        summary = self.summary(data[some], counts[some], warp)
        (best,) = _best(evidences(summary, _best(found, TRIED)), 1)
        more = replace(self, metrics=(*self.metrics, lengths.stretched(summary, best, listed[best])))
        added = [each for each in grid(more.metrics, noise_is_given=self.noise is not None) if each not in listed]
        found += evidences(more.summary(data[few], counts[few], warp), added)
        return more, _best(found, SHORT)

    def with_given_kernel(self, data: Data) -> list[Structure]:
        if self.noise is not None:
            largest = float(self.domain.diagonal().max())
            return grid_of_noise([max(self.noise**2, LEAST**2 * largest)])
        return grid_of_noise((SHARES_OF_VARIANCE * (float(data.values.var()) or 1.0)).tolist())

    def plain(self, values: Array) -> Warp:
        """The transform that changes units only; where f is compared with its own maximum, zero stays zero."""
        unit = float(values.std()) or 1.0
        return Warp(centre=float(values.mean()) if self.by_levels else 0.0, scale=math.inf, unit=unit)

    def summary(self, data: Data, counts: Array, warp: Warp) -> Summary:
        mean = None if self.mean is None else float(warp(self.mean))
        noise = None if self.noise is None else self.noise / warp.unit
        values = warp(data.values)
        return summarise(self.domain, self.metrics, data.points, values, counts, noise=noise, mean=mean)


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
