"""Functions that are known in closed form, and functions that are drawn from Gaussian processes.

branin      (x2 - 5.1 x1^2 / 4 pi^2 + 5 x1 / pi - 6)^2 + 10 (1 - 1 / 8 pi) cos x1 + 10    Dixon and Szego (1978)
himmelblau  (x1^2 + x2 - 11)^2 + (x1 + x2^2 - 7)^2                                         Himmelblau (1972)
rosenbrock  100 (x2 - x1^2)^2 + (1 - x1)^2                                                 Rosenbrock (1960)
hartmann    sum_i c_i exp(-sum_j A_ij (x_j - P_ij)^2)                                      Dixon and Szego (1978)
ishigami    sin x1 + 7 sin^2 x2 + 0.1 x3^4 sin x1, here at x3 = 1                          Ishigami and Homma (1990)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import qmc
from sklearn.gaussian_process.kernels import RBF, Matern

from superlevel.arrays import Array
from superlevel.reproduce.worlds import drawing, square

SIDE = 48  # points of an axis of a test function in the plane: 2,304 points
SOBOL = 11  # 2^11 = 2,048 points in more dimensions
SLICE = 1.0  # x3 of Ishigami's function
JITTER = 1e-8  # eigenvalues of smooth kernels fall below rounding

_HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_STEEPNESS: dict[int, Array] = {
    3: np.array([[3.0, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]]),
    6: np.array(
        [
            [10, 3, 17, 3.5, 1.7, 8],
            [0.05, 10, 17, 0.1, 8, 14],
            [3, 3.5, 1.7, 10, 17, 8],
            [17, 8, 0.05, 10, 0.1, 14],
        ]
    ),
}
_CENTRES: dict[int, Array] = {
    3: 1e-4 * np.array([[3689.0, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]),
    6: 1e-4
    * np.array(
        [
            [1312.0, 1696, 5569, 124, 8283, 5886],
            [2329, 4135, 8307, 3736, 1004, 9991],
            [2348, 1451, 3522, 2883, 3047, 6650],
            [4047, 8828, 8732, 5743, 1091, 381],
        ]
    ),
}


def branin(points: Array) -> Array:
    """(n,) at points (n, 2) of [-5, 10] x [0, 15]."""
    x, y = points.T
    bowl = (y - 5.1 * x**2 / (4 * np.pi**2) + 5 * x / np.pi - 6) ** 2
    return np.asarray(bowl + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10)


def himmelblau(points: Array) -> Array:
    """(n,) at points (n, 2) of [-5, 5] x [-5, 5]."""
    x, y = points.T
    return np.asarray((x**2 + y - 11) ** 2 + (x + y**2 - 7) ** 2)


def rosenbrock(points: Array) -> Array:
    """(n,) at points (n, 2) of [-2, 2] x [-1, 3]."""
    x, y = points.T
    return np.asarray(100 * (y - x**2) ** 2 + (1 - x) ** 2)


def ishigami(points: Array) -> Array:
    """(n,) at points (n, 2) of [-pi, pi] x [-pi, pi]."""
    x, y = points.T
    return np.asarray(np.sin(x) + 7 * np.sin(y) ** 2 + 0.1 * SLICE**4 * np.sin(x))


def hartmann(points: Array) -> Array:
    """(n,) at points (n, d) of the unit cube in 3 or 6 dimensions."""
    d = points.shape[1]
    squares = (points[:, None, :] - _CENTRES[d]) ** 2
    return np.asarray(np.exp(-np.einsum("nij,ij->ni", squares, _STEEPNESS[d])) @ _HEIGHTS)


def rectangle(low: tuple[float, float], high: tuple[float, float]) -> Array:
    """(2,304, 2) a grid on a rectangle."""
    return plane(SIDE) * np.subtract(high, low) + low


def sobol(dimension: int) -> Array:
    """(2,048, d) the first points of Sobol's sequence, scrambled always in the same way."""
    return np.asarray(qmc.Sobol(dimension, scramble=True, rng=0).random_base2(SOBOL))


# ------------------------------------------------------------------------------------------ draws


def plane(side: int) -> Array:
    """(side^2, 2) a grid on the unit square."""
    return square(np.linspace(0, 1, side))


def draw(kernel: Any, places: Array, seed: int) -> Array:
    """(n,) f ~ N(0, k) at places (n, d)."""
    factor = np.linalg.cholesky(kernel(places) + JITTER * np.eye(len(places)))
    return np.asarray(factor @ drawing(seed).standard_normal(len(places)))


def changing(places: Array, seed: int) -> Array:
    """A draw whose length falls from left to right by a factor of 7: Matern 5/2 of (x + 2 x^3, y)."""
    stretched = places.copy()
    stretched[:, 0] += 2 * places[:, 0] ** 3
    return draw(Matern(0.3, nu=2.5), stretched, seed)


def stepped(places: Array, seed: int) -> Array:
    """A smooth draw, and a step of two deviations across a random line through the middle of the square."""
    angle = np.random.default_rng([seed, 3]).uniform(0, 2 * np.pi)
    beyond = (places - 0.5) @ [np.cos(angle), np.sin(angle)] > 0
    return draw(RBF(0.2), places, seed) + 2.0 * beyond - 1.0


def ten(seed: int) -> tuple[Array, Array]:
    """Ten coordinates of which each matters 0.6 times as much as the one before, and a smooth draw of all of them."""
    points = sobol(10)
    slopes = 2.0 * 0.6 ** np.arange(10)
    return points, (points - 0.5) @ slopes + 0.5 * draw(Matern(1.0, nu=2.5), points, seed)
