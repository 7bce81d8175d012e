"""The other road: every measurement is a row of its own, matrices are full, and integrals are sums over a grid.

V       (N, N)  covariance of the measurements relative to a^2: (1 - rough) R + rough 1{same point} + noise / c
r(m)    (N,)    y - m, and M rows of pure noise where the noise is given
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.gaussian_process.kernels import RBF, Matern

from superlevel.arrays import Array, Indices
from superlevel.averaging.families import OfSmoothness
from superlevel.averaging.metrics import Metric, metrics
from superlevel.averaging.mixture import Mixture, averaged
from superlevel.averaging.structures import REPLICATES, Structure, Summary, summarise
from superlevel.domain import Domain

NODES = 801  # of each integral: the integrands are smooth and vanish at both ends, so sums over a grid are exact


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """Measurements at some points, and what is given."""

    domain: Domain
    points: Indices
    """(N,)"""
    values: Array
    """(N,)"""
    counts: Array
    """(N,) how many measurements of the common noise each is worth."""
    noise: float | None = None
    mean: float | None = None
    stretched: tuple[Metric, ...] = ()

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return (*metrics(self.domain.points), *self.stretched)

    @property
    def summary(self) -> Summary:
        known = self.points, self.values, self.counts
        return summarise(self.domain, self.metrics, *known, noise=self.noise, mean=self.mean)

    def without(self, point: int) -> World:
        """All measurements but those of one point."""
        kept = self.points != point
        return replace(self, points=self.points[kept], values=self.values[kept], counts=self.counts[kept])


def world(
    kernel: object = None, *, count: int = 14, seed: int = 0, noise: float | None = None, mean: float | None = None
) -> World:
    """Measurements of a bumpy function on 25 random points, some of them repeated and not all equally precise."""
    rng = np.random.default_rng(seed)
    domain = Domain(rng.random((25, 2)) * [1.0, 3.0], kernel)  # type: ignore[arg-type]
    points = np.concatenate([rng.integers(0, 20, count - 4), [3, 3, 7, 7]])
    values = 2.0 + np.sin(4 * domain.points[points].sum(axis=1)) + 0.2 * rng.standard_normal(count)
    return World(
        domain=domain, points=points, values=values, counts=rng.choice([0.25, 1.0, 2.5], count), noise=noise, mean=mean
    )


def correlation(known: World, structure: Structure, rows: Indices, columns: Indices) -> Array:
    """(p, q) of f relative to a^2, by scikit-learn."""
    same = rows[:, None] == columns
    family = structure.family
    if isinstance(family, OfSmoothness):
        scaled = known.domain.points * known.metrics[family.metric].factors
        kernel = RBF(family.length) if np.isinf(family.smoothness) else Matern(family.length, nu=family.smoothness)
        smooth = np.asarray(kernel(scaled[rows], scaled[columns]))
    else:
        smooth = known.domain.gram(rows, columns)
    return np.asarray((1.0 - structure.rough) * smooth + structure.rough * same)


def covariance(known: World, structure: Structure) -> Array:
    """V"""
    return correlation(known, structure, known.points, known.points) + np.diag(structure.noise / known.counts)


def log_evidence(known: World, structure: Structure) -> float:
    """log of the integral of p(y | m, a^2) dm da^2 / a^2, or over what is left of it where mean or kernel are given.

    The mean runs over centre + width sinh(u), because its tails are those of Student's t.
    """
    matrix = covariance(known, structure)
    pure = 0 if known.noise is None else int(REPLICATES)
    n = len(known.points) + pure
    u = np.linspace(-9.0, 9.0, NODES)
    width = float(known.values.std())
    means = known.values.mean() + width * np.sinh(u) if known.mean is None else np.array([known.mean])
    log_steps = np.log((u[1] - u[0]) * width * np.cosh(u)) if known.mean is None else np.zeros(1)
    residuals = known.values - means[:, None]
    squares = np.einsum("mi,im->m", residuals, np.linalg.solve(matrix, residuals.T))
    squares += pure * (known.noise or 0.0) ** 2 / structure.noise
    determinant = float(np.linalg.slogdet(matrix)[1]) + pure * np.log(structure.noise)
    if structure.family.scaled:
        logs = np.log(squares.min() / n) + np.linspace(-12.0, 60.0, NODES)
        log_steps = log_steps[:, None] + np.log(logs[1] - logs[0])
    else:
        logs = np.zeros(1)
        log_steps = log_steps[:, None]
    densities = -0.5 * (n * np.log(2 * np.pi) + n * logs + determinant + squares[:, None] * np.exp(-logs))
    return float(np.logaddexp.reduce(densities + log_steps, axis=None))


def amplitude(known: World, structure: Structure) -> float:
    """a^2: what is left unexplained, for each degree of freedom."""
    if not structure.family.scaled:
        return 1.0
    matrix = covariance(known, structure)
    centre = generalised_mean(known, structure) if known.mean is None else known.mean
    residuals = known.values - centre
    squares = float(residuals @ np.linalg.solve(matrix, residuals))
    freedom = len(residuals) - (known.mean is None)
    if known.noise is not None:
        squares += REPLICATES * known.noise**2 / structure.noise
        freedom += int(REPLICATES)
    return squares / freedom


def generalised_mean(known: World, structure: Structure) -> float:
    """The mean by generalised least squares."""
    precision = np.linalg.inv(covariance(known, structure))
    return float((precision @ known.values).sum() / precision.sum())


def kriged(known: World, structure: Structure, at: Indices) -> tuple[Array, Array]:
    """Mean and variance relative to a^2 of f at points (n,), with weights that solve

    [V  1] [weights   ]   [k]
    [1' 0] [multiplier] = [1]

    where the mean is unknown (universal kriging), and V weights = k where it is known.
    """
    n = len(known.points)
    cross = correlation(known, structure, known.points, at)
    own = np.diag(correlation(known, structure, at, at))
    if known.mean is not None:
        weights = np.linalg.solve(covariance(known, structure), cross)
        return known.mean + weights.T @ (known.values - known.mean), own - np.einsum("ij,ij->j", weights, cross)
    system = np.ones((n + 1, n + 1))
    system[:n, :n], system[n, n] = covariance(known, structure), 0.0
    solved = np.linalg.solve(system, np.vstack([cross, np.ones(len(at))]))
    weights, multiplier = solved[:n], solved[n]
    return weights.T @ known.values, own - np.einsum("ij,ij->j", weights, cross) - multiplier


def mixed(summary: Summary, structures: Sequence[Structure]) -> Mixture:
    """The mixture of structures of which one at least is not singular."""
    found = averaged(summary, structures)
    assert found is not None
    return found
