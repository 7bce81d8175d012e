"""How few measurements can do, for given levels: Theorem 1 of the paper, with its certificate.

    H          min over lambda of max_x ||phi(x)||^2 / (f(x) - alpha)^2, in the norm of A(lambda)^-1
    samples    2 sigma^2 log(1 / (2.4 delta)) H

An algorithm that is right with probability 1 - delta for *every* function of the space must collect
sum_i E[N_i] (f'(x_i) - f(x_i))^2 / (2 sigma_i^2) >= log(1 / (2.4 delta)) against every f' with another set (Kaufmann,
Cappe and Garivier 2016). The nearest f' that moves x is at squared distance (f(x) - alpha)^2 / ||phi(x)||^2.

With several levels f' must move some x across some level. The level nearest to f(x) is the first that it reaches, so
alpha is that one.

With a tolerance, points within it may be declared either way and need nothing. For any other x, f' must put it beyond
the tolerance on the other side, which is |f(x) - alpha| + tolerance away: these are the distances in H then. A point
within the tolerance of one level must still be placed right with respect to the others, so alpha is then the nearest
level that is beyond the tolerance.

A ridge makes A larger and H smaller, so with one the bound is still a bound. Truncated features make H smaller as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, as_number
from superlevel.bounds.complexity import complexity
from superlevel.bounds.setting import as_features, as_levels, as_noise, as_ridge, as_values, from_levels
from superlevel.design import Design, Status
from superlevel.domain import Domain
from superlevel.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class LowerBound:
    """How many measurements every algorithm needs on average, and how the best would spread them."""

    samples: float
    """No algorithm that errs with probability delta at most takes fewer on average. It comes from `lower_bound`, so it
    holds however loosely the design was solved; 0 where delta is above 1/2.4 or there is no noise."""
    complexity: float
    """H at the weights: the true H is no larger. Infinite where a point is exactly at the level."""
    lower_bound: float
    """The true H is no smaller."""
    weights: Array
    """(n,) the proportions in which the best algorithm measures. With a point at the level they are those for the
    points at it, which is where all effort goes as a gap goes to zero."""
    status: Status
    """Whether complexity and lower_bound are within the rtol that was asked for, and if not, why."""

    @property
    def gap(self) -> float:
        """complexity / lower_bound - 1; 0 where both are infinite."""
        if np.isinf(self.lower_bound):
            return 0.0
        return self.complexity / self.lower_bound - 1.0 if self.lower_bound > 0.0 else np.inf


@dataclass(frozen=True, kw_only=True, eq=False)
class ExplicitBound(LowerBound):
    """The lower bound for given levels."""

    design: Design
    """The design that proves it: its dual is the mixture of points that are hard to place."""


def explicit(
    domain: Domain,
    values: ArrayLike,
    *,
    threshold: float | Sequence[float],
    noise: float | ArrayLike,
    delta: float = 0.1,
    tolerance: float = 0.0,
    ridge: float | None = None,
    rtol: float = 0.01,
) -> ExplicitBound:
    """The number of measurements below which nobody can find {x: f(x) > threshold}, for every level that is given.

    Args:
        domain: n points and a kernel.
        values: (n,) f at the points.
        threshold: the level alpha, or several levels.
        noise: standard deviation of a measurement, or (n,) one for each point. With unequal ones the complexity is in
            units of the largest, sigma: a point with sigma_i counts as an arm sigma / sigma_i times as long.
        delta: allowed probability of a wrong set.
        tolerance: points this near to the level, or nearer, may be declared either way.
        ridge: None is 0 for the linear kernel and 1e-7 of the largest k(x, x) for others. It only lowers the bound.
        rtol: how closely H is found.

    Points with zero features are known without measuring and do not count. A point exactly at the level can be moved by
    the smallest change of f: then complexity, bound and samples are infinite.

    >>> bound = explicit(Domain(np.eye(2)), [0.5, -0.25], threshold=0.0, noise=1.0, rtol=1e-6)
    >>> round(bound.complexity, 3), round(bound.samples, 1)     # H = 1/0.5^2 + 1/0.25^2
    (20.0, 57.1)
    """
    levels, given = as_levels(threshold), as_values(domain, values)
    slack = as_number("tolerance", tolerance, at_least=0.0)
    moves = smallest_moves(levels, given, slack)
    if np.isinf(moves).all():
        raise InputError("tolerance", slack, "give a smaller one: every point is within it, and nothing need be found")
    return bound_of_moves(domain, moves, noise=noise, delta=delta, ridge=ridge, rtol=rtol)


def smallest_moves(levels: Sequence[float], values: Array, tolerance: float) -> Array:
    """(n,) how far each value must move for one of its labels to be wrong; infinite where none can be."""
    gaps = from_levels(levels, values)
    return np.asarray((np.where(gaps > tolerance, gaps + tolerance, np.inf) if tolerance else gaps).min(axis=0))


def bound_of_moves(
    domain: Domain, moves: Array, *, noise: float | ArrayLike, delta: float, ridge: float | None, rtol: float
) -> ExplicitBound:
    """The lower bound if the value of each point must move so far (n,) for a wrong label.

    Points whose move is infinite do not count.
    """
    sound = as_noise(noise, domain.n)
    unit = information(sound.sigma, delta)
    gamma = as_ridge(domain, ridge)
    arms = sound.amplify(as_features(domain, ridge=gamma, rtol=rtol))
    # phi(x) / move is an arm divided by loudness times move.
    found = complexity(arms, 0.0, moves * sound.loudness, ridge=gamma, rtol=rtol)
    return ExplicitBound(
        samples=scaled(unit, found.lower_bound),
        complexity=found.value,
        lower_bound=found.lower_bound,
        weights=found.weights,
        status=found.design.status,
        design=found.design,
    )


def information(sigma: float, delta: float) -> float:
    """2 sigma^2 log(1 / (2.4 delta)): the measurements that a complexity of 1 costs."""
    delta = as_number("delta", delta, above=0.0, below=1.0)
    return 2.0 * sigma**2 * max(0.0, -float(np.log(2.4 * delta)))


def scaled(unit: float, found: float) -> float:
    """unit times complexity, where nothing times infinity is nothing: without noise one look is enough."""
    return unit * found if unit > 0.0 else 0.0
