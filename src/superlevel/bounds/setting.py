"""What every bound starts from: features, a ridge, the noise, and how far each direction is from its level.

    phi(x)    (r,)   features of a point; x itself without a kernel
    f         (n,)   the function at the points, `values`
    alpha_1, ...     given levels; a point is compared with each of them
    share            1 - eps, where the level is that part of the maximum
    g_x              f(x) - alpha, alpha the nearest of the levels; one direction for each point
    g_xx'            f(x) - share f(x'), one for each ordered pair
    sigma_i   (n,)   standard deviation of a measurement at point i, sigma the largest of them
    gamma            ridge

Both kinds of gap are in the units of f. A known mean shifts the levels and the values alike, so it never shows here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, Mask, as_number, as_vector
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.features import Features, embed, tolerance
from superlevel.goals import Goal
from superlevel.problem import Problem

RIDGE = 1e-7  # of the largest k(x, x), where a kernel comes without a ridge


def as_ridge(domain: Domain, ridge: float | None) -> float:
    """The ridge as given; None is 0 for the linear kernel and a very small one for any other.

    The linear kernel has as many dimensions as coordinates and needs none. The features of another kernel are
    truncated, and what they miss can be bounded with a ridge only.
    """
    if ridge is not None:
        return as_number("ridge", ridge, at_least=0.0)
    return 0.0 if domain.kernel is None else RIDGE * float(domain.diagonal().max())


def as_features(domain: Domain, *, ridge: float, rtol: float) -> Features:
    """Features that cost a design with this ridge a tenth of ``rtol`` at most."""
    rtol = as_number("rtol", rtol, above=0.0)
    tol = 0.0 if domain.kernel is None else tolerance(ridge, rtol)
    return embed(domain.kernel, domain.points, tol=tol)


def check_units(problem: Problem) -> None:
    """That nothing is transformed: bounds are computed for a function and noise in the same units."""
    scale = problem.scale
    if scale.name:
        remedy = f"give problem.transformed, and the {scale.noun} of the values"
        raise InputError("problem.transform", repr(scale.name), remedy)


def as_values(domain: Domain, values: ArrayLike) -> Array:
    return as_vector("values", values, length=domain.n)


@dataclass(frozen=True, kw_only=True, eq=False)
class Noise:
    """Unequal noise as equal noise: a measurement of phi_i with sigma_i tells what one of loud_i phi_i with sigma does.

    The divergence of f' from f at point i is (f'(x_i) - f(x_i))^2 / (2 sigma_i^2).
    """

    sigma: float
    """The largest standard deviation."""
    loudness: Array
    """(n,) sigma / sigma_i, none below 1."""

    def amplify(self, features: Features) -> Features:
        """The arms loud_i phi_i; what the features miss grows with them."""
        return Features(
            array=features.array * self.loudness[:, None],
            residuals=features.residuals * self.loudness**2,
            pivots=features.pivots,
        )


def as_noise(noise: float | ArrayLike, n: int) -> Noise:
    """One standard deviation >= 0, or n of them, all > 0."""
    if np.ndim(noise) == 0:
        return Noise(sigma=as_number("noise", noise, at_least=0.0), loudness=np.ones(n))
    deviations = as_vector("noise", noise, length=n)
    if (deviations <= 0.0).any():
        at = int(np.argmax(deviations <= 0.0))
        raise InputError(f"noise[{at}]", deviations[at], "give standard deviations > 0")
    sigma = float(deviations.max())
    return Noise(sigma=sigma, loudness=sigma / deviations)


# --------------------------------------------------------------------------------------------- levels


def as_levels(threshold: float | Sequence[float]) -> tuple[float, ...]:
    """One level or several, in any order."""
    if not isinstance(threshold, Sequence | np.ndarray) or isinstance(threshold, str):
        return (as_number("threshold", threshold),)
    if not len(threshold):
        raise InputError("threshold", "empty", "give a level, or several")
    return tuple(as_number(f"threshold[{k}]", level) for k, level in enumerate(threshold))


def as_share(epsilon: float) -> float:
    """1 - epsilon."""
    return 1.0 - as_number("epsilon", epsilon, above=0.0, below=1.0)


def check_maximum(values: Array) -> None:
    """A fraction of the maximum is a level below the maximum only where the maximum is positive."""
    largest = float(values.max())
    if largest <= 0.0:
        remedy = "give values with a positive maximum: otherwise no point is above a fraction of it"
        raise InputError("values", f"at most {largest:g}", remedy)


def from_levels(levels: Sequence[float], values: Array) -> Array:
    """(k, n) the distance of every point from each of the levels."""
    return np.asarray(np.abs(values - np.array(levels)[:, None]))


def from_maximum(share: float, values: Array) -> Array:
    """(n,) f(x) - share max f: above zero for the points of the set."""
    return np.asarray(values - share * float(values.max()))


def pair_gaps(share: float, values: Array) -> Array:
    """(n, n) g_xx'"""
    return np.asarray(np.subtract.outer(values, share * values))


def distances(goal: Goal, values: Array) -> Array:
    """(n,) or (n, n): |g| of every direction, the distance from its nearest level."""
    return goal.gaps(goal.combine(values), goal.unread(len(values)).labels)


def needed(goal: Goal, values: Array, tolerance: float) -> Mask:
    """(n,) the points with a label that can be wrong: they are farther than the tolerance from a level."""
    if goal.implicit:
        return np.asarray(goal.margins(values) > tolerance)
    return np.asarray((from_levels(goal.levels, values) > tolerance).any(axis=0))
