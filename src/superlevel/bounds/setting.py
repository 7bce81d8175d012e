"""What every bound starts from: features, a ridge, the noise, and how far each direction is from its level.

    phi(x)    (r,)   features of a point; x itself without a kernel
    f         (n,)   the function at the points, `values`
    g_x              f(x) - alpha                     for Threshold(alpha), one direction for each point
    g_xx'            f(x) - (1 - eps) f(x')           for FractionOfMax(eps), one for each ordered pair
    sigma_i   (n,)   standard deviation of a measurement at point i, sigma the largest of them
    gamma            ridge

Both kinds of gap are in the units of f. A known mean shifts a threshold and the values alike, so it never shows here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, Mask, as_number, as_vector
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.features import Features, embed, tolerance
from superlevel.goals import FractionOfMax, Goal, Threshold

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


# --------------------------------------------------------------------------------------------- goals


def check_maximum(values: Array) -> None:
    """A fraction of the maximum is a level below the maximum only where the maximum is positive."""
    largest = float(values.max())
    if largest <= 0.0:
        remedy = "give values with a positive maximum: otherwise no point is above a fraction of it"
        raise InputError("values", f"at most {largest:g}", remedy)


def gaps(goal: Goal, values: Array) -> Array:
    """g of every direction, (n,) or (n, n): above zero where it speaks for the set, below where against."""
    match goal:
        case Threshold(alpha):
            return values - alpha
        case FractionOfMax(epsilon):
            return np.asarray(np.subtract.outer(values, (1.0 - epsilon) * values))


def margins(goal: Goal, values: Array) -> Array:
    """(n,) distance of every point from the level. The smallest is the Delta_min of the paper's theorems.

    For a fraction of the maximum the appendix prints the part of the points outside as min over x of the max over x'
    of *negative* g_xx'. Its lemmas let x go once any one pair (x, x') is clearly below, so the largest |g_xx'| is
    meant; it is at x' = x*. For the points inside the smallest g_xx' is at x' = x* too, which makes both parts the
    Delta_min of the main text, min over x of |f(x) - (1 - eps) f(x*)|.
    """
    match goal:
        case Threshold(alpha):
            return np.abs(values - alpha)
        case FractionOfMax(epsilon):
            return np.abs(values - (1.0 - epsilon) * float(values.max()))


def inside(goal: Goal, values: Array) -> Mask:
    """(n,) the points of the set."""
    match goal:
        case Threshold(alpha):
            return np.asarray(values > alpha)
        case FractionOfMax(epsilon):
            return np.asarray(values > (1.0 - epsilon) * float(values.max()))
