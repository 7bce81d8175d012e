"""The functions of the paper's experiments: a world is drawn from a seed, and knows the truth.

gp       f ~ N(0, k) on points of [0, 1]
cosine   f(x) = cos(8 pi x) on [0, 1], which no kernel here has as a sample
plane    f(x, y) = cos(2 pi x) sin(2 pi y) on the unit square
surface  f ~ N(0, k) on the unit square: theta ~ N(0, I), f = theta' phi
linear   the benchmark of Soare et al. (2014): f(x) = x_1 for arms x that nearly agree
bumps    f = sum_j a_j k(., c_j), whose norm in the kernel's space is known
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.gaussian_process.kernels import RBF, Matern

from superlevel.arrays import Array, Labels, Mask
from superlevel.domain import Domain
from superlevel.goals import ABOVE, FractionOfMax, Threshold
from superlevel.oracles import Gaussian
from superlevel.problem import Problem

DELTA = 0.1
DRAWING = 2  # sets a function's random numbers apart from those of methods and oracles with the same seed


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """A problem, and the function it is about."""

    problem: Problem
    values: Array
    """(n,) f"""

    @property
    def oracle(self) -> Gaussian:
        return Gaussian(self.values, noise=self.problem.known_noise)

    @property
    def signs(self) -> Labels:
        """(n,) or (k, n): the right labels."""
        return self.problem.goal.signs(self.values)

    @property
    def truth(self) -> Mask:
        """(n,) the points that are to be found."""
        return np.asarray(self.problem.goal.wanted(self.signs) == ABOVE)


@dataclass(frozen=True, kw_only=True)
class Line:
    """Points of [0, 1], a squared-exponential kernel, and a level with a share of the points above it."""

    points: int
    length: float
    """l of k(x, x') = exp(-|x - x'|^2 / 2 l^2)"""
    noise: float
    """sigma"""
    above: float
    """Share of the points above the level."""

    def at(self, places: Array, values: Array) -> World:
        level = float(np.quantile(values, 1 - self.above))
        domain = Domain(places, kernel=RBF(self.length))
        return World(problem=Problem(domain, goal=Threshold(level), noise=self.noise, delta=DELTA), values=values)


@dataclass(frozen=True, kw_only=True)
class Gp(Line):
    """Well specified: f is drawn from the kernel, a new one for each seed."""

    def __call__(self, seed: int) -> World:
        places = np.linspace(0, 1, self.points)[:, None]
        return self.at(places, gaussian_process(places, self.length, seed))


@dataclass(frozen=True, kw_only=True)
class Cosine(Line):
    """Misspecified: cos(8 pi x), the same for each seed."""

    def __call__(self, _seed: int, /) -> World:
        """Only the measurements are random."""
        places = np.linspace(0, 1, self.points)
        return self.at(places[:, None], np.cos(8 * np.pi * places))


@dataclass(frozen=True, kw_only=True)
class Plane(Line):
    """Misspecified: cos(2 pi x) sin(2 pi y) on a grid with that many points a side, the same for each seed."""

    def __call__(self, _seed: int, /) -> World:
        places = square(np.linspace(0, 1, self.points))
        return self.at(places, np.cos(2 * np.pi * places[:, 0]) * np.sin(2 * np.pi * places[:, 1]))


@dataclass(frozen=True, kw_only=True)
class Surface:
    """theta ~ N(0, I), f = theta' phi on the grid (i / side, j / side), i and j from 1 to side; the level is 0."""

    side: int
    length: float
    noise: float

    @property
    def ticks(self) -> Array:
        return np.arange(1, self.side + 1) / self.side

    def __call__(self, seed: int) -> World:
        places = square(self.ticks)
        values = gaussian_process(places, self.length, seed)
        domain = Domain(places, kernel=RBF(self.length))
        reached = float(np.abs(values).max())
        problem = Problem(domain, goal=Threshold(0.0), noise=self.noise, bound=reached, delta=DELTA)
        return World(problem=problem, values=values)


@dataclass(frozen=True, kw_only=True)
class Linear:
    """x_1 = theta = e_1, x_2 = e_2, the others at angles pi/4 (1 + xi), xi ~ U(-0.2, 0.2), in dimension d.

    The level is 1/2: as a threshold, or as the fraction 1 - epsilon of the maximum f(x_1) = 1.
    """

    arms: int
    dimension: int
    implicit: bool
    noise: float
    ridge: float

    def __call__(self, seed: int) -> World:
        angles = np.pi / 4 * (1 + drawing(seed).uniform(-0.2, 0.2, self.arms - 2))
        arms = np.zeros((self.arms, self.dimension))
        arms[0, 0] = arms[1, 1] = 1.0
        arms[2:, 0], arms[2:, 1] = np.cos(angles), np.sin(angles)
        problem = Problem(
            Domain(arms),
            goal=FractionOfMax(0.5) if self.implicit else Threshold(0.5),
            noise=self.noise,
            bound=1.0,
            norm=1.0,
            delta=DELTA,
            ridge=self.ridge,
        )
        return World(problem=problem, values=arms[:, 0].copy())


@dataclass(frozen=True, kw_only=True)
class Bumps:
    """f = sum_j a_j k(., c_j) on points of [0, 1] or of a square, a ~ N(0, I) and c uniform; ||f||^2 = a' k(c, c) a.

    The level is in the middle of the widest gap between values that a fifth to a half of the points are above.
    """

    points: int
    length: float
    noise: float
    bumps: int = 8
    smoothness: float = np.inf
    """nu of a Matern kernel; with infinity it is RBF."""
    plane: bool = False
    """Whether the points are a square grid."""

    def __call__(self, seed: int) -> World:
        rng = drawing(seed)
        kernel = RBF(self.length) if np.isinf(self.smoothness) else Matern(self.length, nu=self.smoothness)
        places = square(np.linspace(0, 1, round(self.points**0.5))) if self.plane else np.linspace(0, 1, self.points)
        places = places.reshape(self.points, -1)
        centres, heights = rng.random((self.bumps, places.shape[1])), rng.standard_normal(self.bumps)
        values = np.asarray(kernel(places, centres) @ heights)
        ordered = np.sort(values)[self.points // 2 : self.points * 4 // 5]
        widest = int(np.argmax(np.diff(ordered)))
        problem = Problem(
            Domain(places, kernel=kernel),
            goal=Threshold(float(ordered[widest : widest + 2].mean())),
            noise=self.noise,
            norm=float(np.sqrt(heights @ kernel(centres) @ heights)),
            delta=DELTA,
        )
        return World(problem=problem, values=values)


def drawing(seed: int) -> np.random.Generator:
    """The random numbers of a function."""
    return np.random.default_rng([seed, 0, DRAWING])


def gaussian_process(places: Array, length: float, seed: int) -> Array:
    """(n,) K^1/2 theta for theta ~ N(0, I)."""
    covariance = RBF(length)(places)
    # Its eigenvalues fall below rounding, which is all that this adds to.
    factor = np.linalg.cholesky(covariance + 1e-10 * np.eye(len(places)))
    return np.asarray(factor @ drawing(seed).standard_normal(len(places)))


def square(ticks: Array) -> Array:
    """(k^2, 2) all pairs of coordinates, row-major."""
    return np.stack(np.meshgrid(ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 2)
