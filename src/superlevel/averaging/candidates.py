"""Which kernels and which transforms of the values are likely.

Three things make the search short. Some of the points, and structures without a rough part, rule out most of the grid.
All points then compare one structure of each family, and those of the best families that are near it. The transforms
are screened by the structures that are likely without one; of those that come near the likeliest, at most `TRANSFORMS`
are compared in full, each with its own structures and its own lengths.

No transform is tried where something speaks against one: the kernel, the mean or the noise is given, or f is compared
with its own maximum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from superlevel.arrays import Array
from superlevel.averaging import fingerprints, lengths, warps
from superlevel.averaging.data import Data, some
from superlevel.averaging.families import Family, OfSmoothness
from superlevel.averaging.metrics import Metric, metrics
from superlevel.averaging.structures import (
    Structure,
    Summary,
    evidences,
    evidences_by_factors,
    evidences_of_each,
    factors,
    grid,
    grid_of_noise,
    summarise,
    without_length,
)
from superlevel.averaging.warps import Warp
from superlevel.domain import Domain
from superlevel.problem import Problem

FEW = 80  # points by which one structure of each family is chosen
LEADING, FAMILIES = 40, 8  # families of which all points compare one structure, and those near the likeliest
BESIDE = 3.0  # by that factor a common length may differ from the one with which those of the coordinates were found
WITHIN = 26.0  # by that factor the scatter may differ from the likeliest: the next value of the grid, or two
MOST_LENGTHS = 200  # coordinates, up to which each may have a length of its own
STRETCHED = 150  # points from which the length of each coordinate is estimated, and by which transforms are screened
TRIED = 24  # structures by which transforms are screened
TRANSFORMS = 3  # that are compared in full, at most
NEAR = 10.0  # in log-likelihood, to the likeliest transform: those that are compared in full
NEGLIGIBLE = 0.1  # relative weight of a transform that is left out of the average
RELUCTANCE = 3.0  # the prior of each transform in log-likelihood, relative to none
PRECISE = 1e-5  # of the deviation of f: no given noise counts as less than that
SHARES_OF_VARIANCE = np.geomspace(1e-5, 2.0, 18)  # that the noise may have, where the kernel is given

Evidences = list[tuple[float, Structure]]
"""log p with the prior of each structure"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """What is tried for a problem."""

    domain: Domain
    noise: float | None
    """The deviation of one measurement where it is given."""
    mean: float | None
    """The mean where it is given."""
    metrics: tuple[Metric, ...]
    """Empty where the kernel is given, as the next."""
    others: tuple[Family, ...]
    """Correlations without a length."""
    by_levels: bool
    """Whether f is compared with levels, and not with its own maximum."""

    @classmethod
    def of(cls, problem: Problem, noise: float | None) -> Candidates:
        """``noise`` is the deviation of one measurement where it is given."""
        estimated = "kernel" in problem.fit
        return cls(
            domain=problem.domain,
            noise=noise,
            mean=None if "mean" in problem.fit else problem.mean,
            metrics=metrics(problem.domain.points, problem.domain.units) if estimated else (),
            others=fingerprints.families(problem.domain.points) if estimated else (),
            by_levels=not problem.goal.share,
        )

    @property
    def transformed(self) -> bool:
        """Whether transforms of the values are tried."""
        return bool(self.metrics) and self.by_levels and self.noise is None and self.mean is None

    @cached_property
    def of_lengths(self) -> dict[Structure, OfSmoothness]:
        """The structures for an unknown kernel that have a length, and their families."""
        return grid(self.metrics, noise_is_given=self.noise is not None)

    @cached_property
    def structures(self) -> dict[Structure, Family]:
        """All structures for an unknown kernel, and their families."""
        others = without_length(self.others, noise_is_given=self.noise is not None)
        return self.of_lengths | {structure: structure.family for structure in others}

    def standardised(self, values: Array) -> Warp:
        """The transform that changes units only; where f is compared with its own maximum, zero stays zero."""
        unit = float(values.std()) or 1.0
        return Warp(centre=float(values.mean()) if self.by_levels else 0.0, scale=math.inf, unit=unit)

    def summary(self, data: Data, counts: Array, warp: Warp) -> Summary:
        """Of measurements that are worth ``counts`` (N,) of the common noise each."""
        mean = None if self.mean is None else float(warp(self.mean))
        noise = None if self.noise is None else self.noise / warp.unit
        values = warp(data.values)
        return summarise(self.domain, self.metrics, data.points, values, counts, noise=noise, mean=mean)

    def stretched(self, summary: Summary, best: Structure) -> Candidates:
        """With one more metric that has a length for each coordinate, found from the likeliest structure.

        Hundreds of lengths cannot be told from a few hundred measurements, and the cost grows with their cube.
        """
        units = np.unique(self.domain.units[self.metrics[0].factors > 0])
        if not 2 <= len(units) <= MOST_LENGTHS:
            return self
        return replace(self, metrics=(*self.metrics, lengths.stretched(summary, best, self.of_lengths[best])))

    def beside(self, known: Candidates, best: Structure) -> list[Structure]:
        """The structures that these have more than ``known``, without a rough part, near the likeliest in length.

        The lengths of the coordinates were found with that length and that scatter.
        """
        middle = known.of_lengths[best].length
        return [
            structure
            for structure, family in self.of_lengths.items()
            if structure not in known.of_lengths
            and not structure.rough
            and middle / BESIDE <= family.length <= middle * BESIDE
            and _is_near(structure, best.scatter)
        ]


class Part(NamedTuple):
    """A transform, and the structures that are likely with it."""

    log_evidence: float
    warp: Warp
    candidates: Candidates
    structures: Evidences


def likely(candidates: Candidates, data: Data, counts: Array) -> list[Part]:
    """The likely transforms, the likeliest first; measurements are worth ``counts`` (N,) of the common noise each."""
    if not candidates.metrics:
        return [_given(candidates, data, counts)]
    plain, few = candidates.standardised(data.values), some(data, FEW)

    def summaries(tried: Sequence[Warp]) -> list[Summary]:
        return [candidates.summary(data[few], counts[few], warp) for warp in tried]

    # Some of the points rule out most of the grid. Their factors serve all transforms.
    (summary,) = summaries([plain])
    factored = list(factors(summary, _smooth(candidates.structures)))
    (screened,) = evidences_by_factors([summary], factored)
    if not candidates.transformed:
        return _compared(candidates, data, counts, {plain: screened})
    near = _near(candidates, data, counts, (plain, *warps.candidates(data.values)), _best(screened, TRIED))
    others = [warp for warp in near if warp is not plain]
    known = dict(zip(others, evidences_by_factors(summaries(others), factored), strict=True)) | {plain: screened}
    parts = []
    for part in _compared(candidates, data, counts, {warp: known[warp] for warp in near}):
        log = part.log_evidence + log_prior(part.warp) + part.warp.log_slopes(data.values)
        parts.append(part._replace(log_evidence=log))
    parts.sort(key=lambda part: -part.log_evidence)
    return [part for part in parts if part.log_evidence > parts[0].log_evidence + math.log(NEGLIGIBLE)]


def _given(candidates: Candidates, data: Data, counts: Array) -> Part:
    """The kernel that is given, with the noise that is given or with several."""
    warp = Warp(centre=0.0, scale=math.inf, unit=1.0)
    if candidates.noise is None:
        variances = SHARES_OF_VARIANCE * (float(data.values.var()) or 1.0)
    else:
        least = PRECISE**2 * float(candidates.domain.diagonal().max())
        variances = np.array([max(candidates.noise**2, least)])
    structures = evidences(candidates.summary(data, counts, warp), grid_of_noise(variances.tolist()))
    return Part(0.0, warp, candidates, structures)


def _smooth(structures: Iterable[Structure]) -> list[Structure]:
    """Those without a rough part. Only repeats can tell it from noise, so that it says nothing of the family."""
    return [structure for structure in structures if not structure.rough]


def _near(
    candidates: Candidates, data: Data, counts: Array, tried: Sequence[Warp], structures: list[Structure]
) -> list[Warp]:
    """The transforms that come near the likeliest, by some structures and some of the points."""
    few = some(data, STRETCHED)
    summaries = [candidates.summary(data[few], counts[few], warp) for warp in tried]
    found = []
    for warp, listed in zip(tried, evidences_of_each(summaries, structures), strict=True):
        found.append((_total(listed) + log_prior(warp) + warp.log_slopes(data.values[few]), warp))
    found.sort(key=lambda pair: -pair[0])
    return [warp for log, warp in found[:TRANSFORMS] if log > found[0][0] - NEAR]


def _compared(candidates: Candidates, data: Data, counts: Array, screened: dict[Warp, Evidences]) -> list[Part]:
    """The evidence of the likeliest families with each transform, from all measurements.

    Some of the points choose one structure of each family. All points compare those, and then all structures of the
    best families. Each transform has lengths of its own.
    """
    few, fewer = some(data, STRETCHED), some(data, FEW)
    tried, listed = [], []
    for warp, known in screened.items():
        summary = candidates.summary(data[few], counts[few], warp)
        scaled = [pair for pair in known if pair[1] in candidates.of_lengths]
        (best,) = _best(evidences(summary, _best(scaled, TRIED)), 1)
        more = candidates.stretched(summary, best)
        own = evidences(more.summary(data[fewer], counts[fewer], warp), more.beside(candidates, best))
        tried.append(_Tried(warp=warp, candidates=more, summary=more.summary(data, counts, warp)))
        listed.append(_best(_one_of_each_family(known + own), LEADING))
    members = []
    for one, leading in zip(tried, _evidences(candidates, tried, listed), strict=True):
        scatter = {structure.family: structure.scatter for structure in _best(leading, FAMILIES)}
        members.append([each for each in one.candidates.structures if _is_near(each, scatter.get(each.family))])
    found = _evidences(candidates, tried, members)
    return [Part(_total(each), one.warp, one.candidates, each) for one, each in zip(tried, found, strict=True)]


class _Tried(NamedTuple):
    """A transform, and all measurements with it."""

    warp: Warp
    candidates: Candidates
    summary: Summary


def _evidences(
    candidates: Candidates, tried: Sequence[_Tried], wanted: Sequence[Sequence[Structure]]
) -> list[Evidences]:
    """Of the structures that each transform wants, in their order; those that all may share are factored once."""
    union = set().union(*map(set, wanted))
    common = [structure for structure in candidates.structures if structure in union]
    shared = evidences_of_each([one.summary for one in tried], common)
    found = []
    for one, mine, known in zip(tried, wanted, shared, strict=True):
        asked = set(mine)
        own = evidences(one.summary, [structure for structure in mine if structure not in candidates.structures])
        found.append([pair for pair in known if pair[1] in asked] + own)
    return found


def _is_near(structure: Structure, scatter: float | None) -> bool:
    """Whether the scatter of a structure is within a factor of `WITHIN` of the likeliest in its family."""
    return scatter is not None and scatter / WITHIN <= structure.scatter <= scatter * WITHIN


def _one_of_each_family(listed: Evidences) -> Evidences:
    """The likeliest structure of each family."""
    found: dict[Family, tuple[float, Structure]] = {}
    for log, structure in listed:
        if structure.family not in found or log > found[structure.family][0]:
            found[structure.family] = (log, structure)
    return list(found.values())


def log_prior(warp: Warp) -> float:
    """Of a transform, relative to none."""
    return 0.0 if math.isinf(warp.scale) else -RELUCTANCE


def _best(listed: Evidences, count: int) -> list[Structure]:
    """The structures of the largest evidence, in the order in which they are listed."""
    order = sorted(range(len(listed)), key=lambda k: -listed[k][0])[:count]
    return [listed[k][1] for k in sorted(order)]


def _total(listed: Evidences) -> float:
    """The logarithm of the sum of the evidence."""
    return float(np.logaddexp.reduce([log for log, _ in listed])) if listed else -math.inf
