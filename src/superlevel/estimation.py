"""Kernel, noise and mean from measurements: when there are enough of them, from which, and what came out.

A problem that leaves some of them open begins with a pilot whose places are spread out. They are estimated from its
results by marginal likelihood, and again as more measurements come in.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, Matern

from superlevel import hyperparameters
from superlevel.arrays import Array, Indices
from superlevel.domain import Domain
from superlevel.errors import AssumptionWarning, InputError
from superlevel.problem import Problem

PILOT_POINTS, PILOT_EACH = 8, 4  # places of a pilot, and so many more for each coordinate
TWICE = 3  # places of a pilot that are measured twice where the noise is unknown
GROWN = 1.2  # times the measurements of the last estimate: then there is another
ENOUGH = 10  # measurements without a noise of their own, from which the noise of one can be told
MOST = 300  # different points that an estimate looks at: its cost grows with their cube
STARTS = 4  # of the search for each kernel
ROUGHNESS = (0.5, 1.5, 2.5, np.inf)  # nu of the kernels that are tried: the likeliest is taken


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


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """What takes the place of what is not given."""

    kernel: Any
    noise: float | Array
    mean: float
    samples: int
    """From so many measurements."""
    doubts: tuple[str, ...]
    """What there is to doubt, in sentences."""

    def applied(self, problem: Problem) -> Problem:
        """The problem, with nothing left to estimate."""
        domain = Domain(problem.domain.points, self.kernel, names=problem.domain.names)
        return replace(problem, domain=domain, noise=self.noise, mean=self.mean, fit=())


def pilot_size(dimension: int, batch: int) -> int:
    """Measurements before the first estimate."""
    return max(batch, PILOT_POINTS + PILOT_EACH * dimension)


def is_due(before: int | None, samples: int) -> bool:
    """Whether to estimate again, after an estimate from ``before`` measurements if there was one."""
    return before is None or samples >= GROWN * before


def estimate(problem: Problem, data: Data, *, seed: int = 0) -> Estimate:
    """What the problem leaves open, from all measurements; the rest as it is given."""
    if not len(data):
        raise InputError("fit", "asked for without any measurement", "tell some first")
    used = _some(_counted(problem, data))
    noise = None if "noise" in problem.fit else _deviations(problem, used)
    tried = []
    for kernel in _forms(problem):
        with warnings.catch_warnings():  # they are in what it returns
            warnings.simplefilter("ignore", AssumptionWarning)
            tried.append(
                hyperparameters.fit(
                    Domain(problem.domain.points, kernel, names=problem.domain.names),
                    used.points,
                    used.values,
                    noise=noise,
                    mean=None if "mean" in problem.fit else problem.mean,
                    amplitude="kernel" in problem.fit,
                    restarts=STARTS,
                    seed=seed,
                )
            )
    best = max(tried, key=lambda found: found.log_likelihood)
    left = len(data) - len(_counted(problem, data))
    out = [f"{left:,} measurement{'s' * (left != 1)} with a noise of their own did not count in the estimate"]
    return Estimate(
        kernel=best.kernel if "kernel" in problem.fit else problem.domain.kernel,
        noise=float(best.noise) if "noise" in problem.fit else problem.known_noise,
        mean=best.mean,
        samples=len(data),
        doubts=(*best.warnings, *(out if left else [])),
    )


def _forms(problem: Problem) -> list[Any]:
    """A length for each coordinate, because their units differ; or the given kernel as it is."""
    if "kernel" not in problem.fit:
        return [_fixed(problem.domain.kernel)]
    lengths = np.maximum(np.ptp(problem.domain.points, axis=0), 1e-12) / 4
    start = float(lengths[0]) if len(lengths) == 1 else lengths
    return [RBF(start) if np.isinf(nu) else Matern(start, nu=nu) for nu in ROUGHNESS]


def _fixed(kernel: Any) -> Any:
    if kernel is None:
        return None
    fixed = {f"{item.name}_bounds": "fixed" for item in kernel.hyperparameters}
    return clone(kernel).set_params(**fixed)


def _counted(problem: Problem, data: Data) -> Data:
    """The measurements that an estimate is made from.

    One number is estimated for the noise of all of them. Those that have their own would be taken for as noisy as the
    rest, or the rest for as noisy as they are.
    """
    common = np.flatnonzero(np.isnan(data.noise))
    return data[common] if "noise" in problem.fit and len(common) >= ENOUGH else data


def _some(data: Data) -> Data:
    """All measurements, or those at some of the points, evenly spread in their order."""
    different = np.unique(data.points)
    if len(different) <= MOST:
        return data
    chosen = different[np.linspace(0, len(different) - 1, MOST).astype(np.int64)]
    return data[np.flatnonzero(np.isin(data.points, chosen))]


def _deviations(problem: Problem, data: Data) -> Array:
    """(n,) of one measurement; where measurements of a point have their own, what stands for all of them."""
    given, n = problem.deviations, problem.domain.n
    if np.isnan(data.noise).all():
        return given.copy()
    each = np.where(np.isnan(data.noise), given[data.points], data.noise)
    counts = np.bincount(data.points, minlength=n)
    with np.errstate(divide="ignore"):
        weights = np.bincount(data.points, 1 / np.square(each), minlength=n)
        return np.where(counts > 0, np.sqrt(counts / np.where(counts > 0, weights, 1.0)), given)


# --------------------------------------------------------------------------------------------- pilot


def pilot(problem: Problem, *, count: int, begun: Indices) -> Indices:
    """The places of a pilot, sorted; ``begun`` are points that were measured or are about to be.

    Where the noise is unknown, some of the first places come twice.
    """
    twice = TWICE if "noise" in problem.fit and not len(begun) else 0
    chosen = spread(problem.domain.points, max(1, count - twice), begun)
    return np.sort(np.concatenate([chosen, chosen[:twice]]))


def spread(points: Array, count: int, begun: Indices) -> Indices:
    """``count`` points, each as far as can be from those before it, in units of each coordinate's range.

    The first is nearest to the middle. Where there are fewer different points than that, they come again.
    """
    extent = np.ptp(points, axis=0)
    scaled = (points - points.min(axis=0)) / np.where(extent > 0, extent, 1.0)
    middle = int(np.argmin(np.square(scaled - 0.5).sum(axis=1)))
    apart = np.full(len(points), np.inf)
    for place in begun:
        apart = np.minimum(apart, _distances(scaled, int(place)))
    chosen: list[int] = []
    for _ in range(count):
        place = middle if np.isinf(apart).all() else int(np.argmax(apart))
        chosen.append(place)
        apart = np.minimum(apart, _distances(scaled, place))
        if not apart.any():
            apart = np.full(len(points), np.inf)
    return np.array(chosen, dtype=np.int64)


def _distances(scaled: Array, place: int) -> Array:
    return np.asarray(np.square(scaled - scaled[place]).sum(axis=1))
