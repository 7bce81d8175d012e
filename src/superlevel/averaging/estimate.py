"""Kernel, noise and mean from measurements: a mixture of kernels on transformed values.

What a problem leaves open is averaged over; what it gives is used as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from superlevel.arrays import Array, Indices
from superlevel.averaging import local
from superlevel.averaging.candidates import Candidates, likely
from superlevel.averaging.data import NO_DATA, Data, some
from superlevel.averaging.mixture import Mixture, averaged, likeliest
from superlevel.averaging.predictive import Predictive, probit
from superlevel.averaging.warps import Warp
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
        found = []
        for weight, warp, mixture in self.parts:
            part = mixture.predict(points)
            found.append((warp, replace(part, weights=weight * part.weights)))
        return Predictive(parts=tuple(found))

    @one_thread
    def left_out(self) -> Array:
        """(q,) how far each measured point is from what all others predict, as a normal deviate."""
        return probit(np.sum([weight * mixture.left_out() for weight, _, mixture in self.parts], axis=0))

    def local_scales(self, deviates: Array) -> Array:
        """(n,) how much rougher f is at each point of the domain than on average, from what `left_out` returned."""
        known = self.mixture.summary
        places = known.metrics[0].scaled(known.domain.points)
        return local.scales(places[known.points], deviates, places)


@one_thread
def average(problem: Problem, data: Data) -> Average:
    """From all measurements, of which there is at least one.

    Of more than `MOST` different points some decide which kernels and which transforms are likely.
    """
    if not len(data):
        raise InputError("fit", "asked for without any measurement", "tell some first")
    counts, noise = _precision(problem, data)
    chosen = some(data, MOST)
    listed = likely(Candidates.of(problem, noise), data[chosen], counts[chosen])
    total = np.logaddexp.reduce([part.log_evidence for part in listed])
    parts = []
    for part in listed:
        members, weights = likeliest(part.structures)
        mixture = averaged(part.candidates.summary(data, counts, part.warp), members, weights)
        parts.append((math.exp(part.log_evidence - total), part.warp, mixture))
    return Average(parts=tuple(parts), counts=counts)


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


__all__ = ["NO_DATA", "Average", "Data", "average"]
