"""Laws with a known mean and variance, and the plainest way to Catoni's mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize

from superlevel.arrays import Array
from superlevel.robust import Grouped, Products, catoni_scale


@dataclass(frozen=True, kw_only=True)
class Law:
    """A distribution."""

    draw: Callable[[np.random.Generator, Any], Array]
    mean: float
    variance: float


def two_point(share: float, height: float) -> Law:
    """height with probability share, otherwise 0."""
    return Law(
        draw=lambda rng, size: np.where(rng.random(size) < share, height, 0.0),
        mean=share * height,
        variance=share * (1 - share) * height**2,
    )


GAUSS = Law(draw=lambda rng, size: rng.normal(3.0, 2.0, size), mean=3.0, variance=4.0)
STUDENT = Law(draw=lambda rng, size: rng.standard_t(2.5, size), mean=0.0, variance=5.0)
SKEWED = two_point(0.02, 10.0)
RARE = two_point(2e-4, 100.0)
CONSTANT = Law(draw=lambda _, size: np.full(size, 2.5), mean=2.5, variance=1.0)
LAWS = {"gauss": GAUSS, "student": STUDENT, "skewed": SKEWED, "rare": RARE, "constant": CONSTANT}


def by_bisection(samples: Array, *, variance: float, delta: float) -> float:
    """The root of sum_i psi(alpha (z_i - mu)) in mu, by Brent's method."""
    alpha = catoni_scale(len(samples), variance=variance, delta=delta)

    def influence(mu: float) -> float:
        u = alpha * (samples - mu)
        return float((np.sign(u) * np.log1p(np.abs(u) + u**2 / 2)).sum())

    low, high = samples.min(), samples.max()
    return float(low if low == high else optimize.brentq(influence, low, high, xtol=1e-14, rtol=1e-14))


def products(law: Law, *, count: int, groups: int, directions: int, seed: int = 0) -> tuple[Products, Array]:
    """Samples of a law at random points, and the variances of the directions' z at most."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(groups, directions)) * rng.uniform(0.2, 3, size=directions)
    sample = Grouped(values=law.draw(rng, count), groups=rng.integers(0, groups, count))
    second = law.variance + law.mean**2
    return Products(factors=factors, sample=sample), second * np.square(factors).mean(axis=0)


def dense(given: Products) -> Array:
    """z written out, one row for each sample; rows of weighted samples once."""
    return given.factors[given.sample.groups] * given.sample.values[:, None]


FINITE = st.floats(-1e3, 1e3, allow_nan=False).map(lambda x: round(x, 6))
SAMPLES = hnp.arrays(np.float64, st.integers(8, 40), elements=FINITE)
