"""How likely measurements are for each of a small grid of kernels.

A structure is a correlation R of f and a share of noise. With amplitude a, f - mean is Gaussian with the covariance

    a^2 [(1 - rough) R(x, x') + rough 1{x = x'}],

and a measurement adds noise of variance a^2 noise. `rough` is a part of f that each point has for itself: a second
measurement of the same point sees it again, and its neighbours do not. For q different points with c_i measurements
each, means ybar and the sum W of squares within the points,

    V = (1 - rough) R + rough I + noise diag(1 / c),    m = 1'V^-1 ybar / 1'V^-1 1,    r = ybar - m
    S = r'V^-1 r + W / noise
    log p = -1/2 [log |V| + log 1'V^-1 1 + (N - q) log noise + (N - 1) log S] + constant

where the mean has a flat prior and the amplitude the prior 1 / a^2, and both are integrated out: f at a point is then
Student's t with N - 1 degrees of freedom (O'Hagan 1978, JRSS B 40:1). Three things may be given instead:

- the mean: m is that mean, the term log 1'V^-1 1 goes, and N - 1 becomes N;
- the noise sigma: it counts as M measurements of pure noise, so that N - q and N grow by M, and W by M sigma^2;
- the kernel: a = 1, S takes the place of (N - 1) log S, and f at a point is Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from superlevel import linalg
from superlevel.arrays import Array, Indices
from superlevel.averaging.families import Between, Family, Given, OfSmoothness
from superlevel.averaging.metrics import Metric
from superlevel.domain import Domain

SMOOTHNESS = {0.5: 0.25, 1.5: 0.3, 2.5: 0.3, math.inf: 0.15}  # with their prior weights, as in the tables below
LENGTHS = tuple(float(length) for length in np.geomspace(0.06, 4.0, 9))
TYPICAL, SPREAD = 0.5, 1.2  # of the length: its prior is log-normal
SCATTER = {1e-7: 0.03, 2e-6: 0.05, 4e-5: 0.08, 0.001: 0.1, 0.01: 0.2, 0.05: 0.24, 0.2: 0.2, 0.8: 0.1}
FINER_SCATTER = dict.fromkeys((float(share) for share in 2.0 ** np.arange(-14, 3)), 1.0 / 17)
ROUGH = {0.0: 0.45, 0.5: 0.3, 0.9: 0.25}  # the part of the scatter that is f's own
SLIGHT = 1e-4  # scatter below which it makes no difference which part of it is f's own
REPLICATES = 50.0  # M: measurements of pure noise that a given noise is worth
SMALLEST = 1e-12  # of the mean square of the values: S of values that are all equal


class Structure(NamedTuple):
    """One kernel of the grid."""

    family: Family
    rough: float
    noise: float
    """Variance of one measurement relative to that of f, or absolute where the kernel is given."""
    log_prior: float

    @property
    def scatter(self) -> float:
        """What neighbours know nothing of: the rough part and the noise."""
        return self.rough + self.noise


def grid(metrics: Sequence[Metric], *, noise_is_given: bool) -> dict[Structure, OfSmoothness]:
    """All structures for an unknown kernel and their families; those of one family follow each other."""
    found: dict[Structure, OfSmoothness] = {}
    for number, metric in enumerate(metrics):
        found |= _of_metric(number, metric.log_prior, noise_is_given)
    return found


def without_length(families: Sequence[Family], *, noise_is_given: bool) -> list[Structure]:
    """All structures of families that have no length."""
    scatter = FINER_SCATTER if noise_is_given else SCATTER
    return [structure for family in families for structure in _members(family, scatter, ROUGH)]


@lru_cache(maxsize=16)
def _of_metric(number: int, log_prior: float, noise_is_given: bool) -> dict[Structure, OfSmoothness]:
    """The structures of one metric. Those of a metric that is not estimated are the same each time."""
    scatter = FINER_SCATTER if noise_is_given else SCATTER
    found: dict[Structure, OfSmoothness] = {}
    for (smoothness, weight), length in product(SMOOTHNESS.items(), LENGTHS):
        prior = log_prior + math.log(weight) - 0.5 * (math.log(length / TYPICAL) / SPREAD) ** 2
        family = OfSmoothness(number, smoothness, length, prior)
        found |= dict.fromkeys(_members(family, scatter, ROUGH), family)
    return found


def grid_of_noise(variances: Sequence[float]) -> list[Structure]:
    """The kernel that is given, with each of these variances of the noise."""
    return _members(Given(), dict.fromkeys(variances, 1.0), {0.0: 1.0})


def _members(family: Family, scatter: dict[float, float], rough: dict[float, float]) -> list[Structure]:
    """A structure for each scatter, which is the rough part and the noise together, and for each part that is rough.

    The rough part is less than the variance of f, which is 1. If the scatter is more, the rest of it is noise.
    """
    found = []
    pairs = [(size, part) for size in scatter.items() for part in (rough if size[0] >= SLIGHT else {0.0: 1.0}).items()]
    for (size, one), (part, other) in pairs:
        own = part * min(size, 1.0)
        found.append(Structure(family, own, size - own, family.log_prior + math.log(one) + math.log(other)))
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Summary:
    """Measurements in the numbers that the likelihood needs."""

    domain: Domain
    metrics: tuple[Metric, ...]
    points: Indices
    """(q,) the different points, in ascending order."""
    numbers: Indices
    """(q,) measurements at each."""
    counts: Array
    """(q,) c: how many measurements of the common noise they are worth."""
    means: Array
    """(q,) ybar"""
    within: Array
    """(q,) sums of squares within the points: their sum is W."""
    noise: float | None
    """sigma where it is given."""
    mean: float | None
    """The mean where it is given."""

    @cached_property
    def samples(self) -> float:
        """N, and M more where the noise is given."""
        return float(self.numbers.sum()) + (0.0 if self.noise is None else REPLICATES)

    @cached_property
    def squares(self) -> float:
        """W, and M sigma^2 more where the noise is given."""
        return float(self.within.sum()) + (0.0 if self.noise is None else REPLICATES * self.noise**2)

    @cached_property
    def freedom(self) -> float:
        """Degrees of freedom of the amplitude."""
        return max(self.samples - (self.mean is None), 1.0)

    @cached_property
    def inside(self) -> Between:
        """The measured points with each other."""
        return Between.of(self.domain, self.metrics, self.points, self.points)

    @cached_property
    def columns(self) -> Array:
        """(2, q) the means, and ones."""
        return np.stack([self.means, np.ones_like(self.means)])

    @cached_property
    def size(self) -> float:
        """The mean square of what is to be explained; 1 where there is nothing."""
        centre = float(self.means.mean()) if self.mean is None else self.mean
        return float(np.square(self.means - centre).mean()) + self.squares / self.samples or 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """What the measurements say if a structure is right."""

    structure: Structure
    log_evidence: float
    """log p with the prior of the structure."""
    factor: Array
    """L (q, q), V = L L'"""
    mean: float
    """m"""
    residuals: Array
    """(q,) L^-1 r"""
    ones: Array
    """(q,) L^-1 1"""
    amplitude: float
    """a^2 = S / (N - 1), or 1 where the kernel is given"""
    mean_is_given: bool

    @property
    def noise(self) -> float:
        """The deviation of one measurement, in the units of the values."""
        return math.sqrt(self.structure.noise * self.amplitude)


def fits(summary: Summary, structures: Sequence[Structure]) -> Iterator[Fit]:
    """What each structure makes of the measurements; those whose V is singular are left out."""
    return (_fit(summary, structure, factor) for structure, factor in factors(summary, structures))


def evidences(summary: Summary, structures: Sequence[Structure]) -> list[tuple[float, Structure]]:
    """log p of each structure with its prior; those whose V is singular are left out."""
    (found,) = evidences_of_each([summary], structures)
    return found


def evidences_of_each(
    summaries: Sequence[Summary], structures: Sequence[Structure]
) -> list[list[tuple[float, Structure]]]:
    """The same for several transforms of the same measurements: V does not depend on values, and is factored once."""
    return evidences_by_factors(summaries, factors(summaries[0], structures) if summaries else ())


def evidences_by_factors(
    summaries: Sequence[Summary], factored: Iterable[tuple[Structure, Array]]
) -> list[list[tuple[float, Structure]]]:
    """The same from what `factors` returned."""
    found: list[list[tuple[float, Structure]]] = [[] for _ in summaries]
    for structure, factor in factored:
        for mine, summary in zip(found, summaries, strict=True):
            mine.append((_fit(summary, structure, factor).log_evidence, structure))
    return found


def factors(summary: Summary, structures: Sequence[Structure]) -> Iterator[tuple[Structure, Array]]:
    """L (q, q) with V = L L', for each structure whose V is not singular."""
    family: Family | None = None
    base = np.empty((0, 0))
    for structure in structures:
        if structure.family is not family:
            family = structure.family
            base = family.between(summary.inside)
        matrix = np.asfortranarray((1.0 - structure.rough) * base)
        linalg.add_to_diagonal(matrix, structure.rough + structure.noise / summary.counts)
        try:
            yield structure, linalg.cholesky(matrix)
        except LinAlgError:
            continue


def _fit(summary: Summary, structure: Structure, factor: Array) -> Fit:
    means, ones = linalg.whiten(factor, summary.columns)
    precision = float(ones @ ones)
    mean = float(ones @ means) / precision if summary.mean is None else summary.mean
    residuals = means - mean * ones
    total = max(float(residuals @ residuals) + summary.squares / structure.noise, SMALLEST * summary.size)
    terms = 2.0 * float(np.log(np.einsum("ii->i", factor)).sum())
    terms += math.log(precision) if summary.mean is None else 0.0
    terms += (summary.samples - len(summary.points)) * math.log(structure.noise)
    terms += summary.freedom * math.log(total) if structure.family.scaled else total
    return Fit(
        structure=structure,
        log_evidence=structure.log_prior - 0.5 * terms,
        factor=factor,
        mean=mean,
        residuals=residuals,
        ones=ones,
        amplitude=total / summary.freedom if structure.family.scaled else 1.0,
        mean_is_given=summary.mean is not None,
    )


def restricted(fit: Fit, among: Array, counts: Array, means: Array) -> Fit:
    """The fit with the same kernel, mean and amplitude, conditioned on k of the measured points.

    ``among`` (k, k) is their correlation; counts and means (k,) are those of the summary.
    """
    structure = fit.structure
    matrix = np.asfortranarray((1.0 - structure.rough) * among)
    linalg.add_to_diagonal(matrix, structure.rough + structure.noise / counts)
    factor = linalg.cholesky(matrix)
    residuals, ones = linalg.whiten(factor, np.stack([means - fit.mean, np.ones(len(means))]))
    return replace(fit, factor=factor, residuals=residuals, ones=ones)


def summarise(
    domain: Domain,
    metrics: tuple[Metric, ...],
    points: Indices,
    values: Array,
    counts: Array,
    *,
    noise: float | None = None,
    mean: float | None = None,
) -> Summary:
    """Values (N,) at points (N,), each worth ``counts`` (N,) measurements of the common noise.

    ``noise`` and ``mean`` are numbers where they are given.
    """
    different, place = np.unique(points, return_inverse=True)
    worth = np.asarray(np.bincount(place, counts), dtype=np.float64)
    means = np.bincount(place, counts * values) / worth
    return Summary(
        domain=domain,
        metrics=metrics,
        points=different,
        numbers=np.bincount(place),
        counts=worth,
        means=means,
        within=np.asarray(np.bincount(place, counts * np.square(values - means[place])), dtype=np.float64),
        noise=noise,
        mean=mean,
    )
