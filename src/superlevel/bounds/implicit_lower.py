"""How few measurements can do, where the level is a fraction of the unknown maximum: Theorem 2 of the paper.

    y_xx'      phi(x) - (1 - eps) phi(x')
    g_xx'      f(x) - (1 - eps) f(x')
    exact      H = min over lambda of max over f' with another set of 1 / ||f' - f||^2 in the norm of A(lambda)
    printed    H = min over lambda of the larger of
                   max over x in the set, max over x' of ||y_xx'||^2 / g_xx'^2
                   max over x outside,    min over x' of ||y_xx'||^2 / g_xx'^2,   norms in A(lambda)^-1
    samples    2 sigma^2 log(1 / (2.4 delta)) H

To enter the set a point must reach *every* (1 - eps) f'(x'): f' lies in an intersection of half-spaces. The distance
to that is at least the one to the furthest of them. The printed proof needs it to be at most that, so for points
outside the printed term can exceed the truth. More often it falls below it, since its min may be at an x' that is no
obstacle to x, x' = x for one. The exact bound is the default (`implicit`), the printed one is there for comparison
(`implicit_printed`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from superlevel import linalg
from superlevel.arrays import Array, as_number
from superlevel.bounds.alternatives import Instance, movable
from superlevel.bounds.lower import LowerBound, information, scaled
from superlevel.bounds.saddle import Saddle, saddle
from superlevel.bounds.setting import (
    as_features,
    as_noise,
    as_ridge,
    as_share,
    as_values,
    check_maximum,
    from_maximum,
    pair_gaps,
)
from superlevel.design import Rows, Status, solve
from superlevel.design.basis import basis
from superlevel.domain import Domain
from superlevel.errors import InputError

LINEAR = 1e-6  # part of the values' length that may not be linear in the points


@dataclass(frozen=True, kw_only=True, eq=False)
class Alternatives:
    """Functions with another set that are hard to tell from f: the proof of a lower bound.

    No design separates all of them better than their mixture: with h_j = f'_j - f,

        1 / lower_bound = max_i sum_j mixture_j ((sigma / sigma_i)^2 h_j(x_i)^2 + ridge norms_j).
    """

    functions: Array
    """(m, n) f'_j at the points; each is on the border of a set that is not f's."""
    mixture: Array
    """(m,) a distribution."""
    norms: Array
    """(m,) ||theta'_j - theta||^2 in the coordinates in which the problem was solved: they count with a ridge only."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ImplicitBound(LowerBound):
    """The lower bound for a fraction of the maximum.

    With a kernel, `complexity` is the one of the truncated features; the lower bound holds for the kernel itself.
    """

    alternatives: Alternatives


def implicit(
    domain: Domain,
    values: ArrayLike,
    *,
    epsilon: float,
    noise: float | ArrayLike,
    delta: float = 0.1,
    mean: float = 0.0,
    tolerance: float = 0.0,
    ridge: float | None = None,
    rtol: float = 0.01,
) -> ImplicitBound:
    """The number of measurements below which nobody can find {x: f(x) > (1 - epsilon) max f}.

    Args:
        domain: n points and a kernel.
        values: (n,) f at the points, with a positive maximum; without a kernel, mean + points @ theta.
        epsilon: in (0, 1).
        noise: standard deviation of a measurement, or (n,) one for each point, as for `explicit`.
        delta: allowed probability of a wrong set.
        mean: known mean of f.
        tolerance: points this near to the level, or nearer, may be declared either way. As for `explicit`, they need
            nothing, and f' must put any other point beyond the tolerance on the other side.
        ridge: as for `explicit`; it only lowers the bound.
        rtol: how closely H is found.

    A point that no f' can put into the set is known without measuring. Any other point exactly at the level makes all
    figures infinite, as for `explicit`.

    >>> bound = implicit(Domain(np.eye(2)), [1.0, 0.1], epsilon=0.5, noise=1.0, rtol=1e-4)
    >>> bound.gap <= 1e-4
    True
    """
    return implicit_by_share(
        domain,
        as_values(domain, values),
        as_share(epsilon),
        noise=noise,
        delta=delta,
        mean=mean,
        tolerance=tolerance,
        ridge=ridge,
        rtol=rtol,
    )


def implicit_by_share(
    domain: Domain,
    given: Array,
    share: float,
    *,
    noise: float | ArrayLike,
    delta: float,
    mean: float,
    tolerance: float,
    ridge: float | None,
    rtol: float,
) -> ImplicitBound:
    """`implicit` for values (n,) that were checked, with share = 1 - epsilon."""
    sound = as_noise(noise, domain.n)
    unit = information(sound.sigma, delta)
    instance = make_instance(
        domain, given, share, loudness=sound.loudness, mean=mean, tolerance=tolerance, ridge=ridge, rtol=rtol
    )
    tied = instance.outside[from_maximum(share, given)[instance.outside] == 0.0]
    found = saddle(instance, rtol=rtol) if not len(tied) else _tie(instance, tied, int(given.argmax()), rtol)
    return ImplicitBound(
        samples=scaled(unit, found.lower_bound),
        complexity=found.value,
        lower_bound=found.lower_bound,
        weights=found.weights,
        status=found.status,
        alternatives=Alternatives(
            functions=given + linalg.inner(found.moves, instance.points),
            mixture=found.mixture,
            norms=linalg.squared_norms(found.moves),
        ),
    )


def make_instance(
    domain: Domain,
    values: Array,
    share: float,
    *,
    loudness: Array,
    mean: float,
    ridge: float | None,
    rtol: float,
    tolerance: float = 0.0,
) -> Instance:
    """Features, gaps, and which points can be moved."""
    check_maximum(values)
    slack = as_number("tolerance", tolerance, at_least=0.0)
    above = from_maximum(share, values)
    clear = np.abs(above) > slack if slack > 0.0 else np.ones(domain.n, dtype=np.bool_)
    if not clear.any():
        raise InputError("tolerance", slack, "give a smaller one: every point is within it, and nothing need be found")
    mean, gamma = as_number("mean", mean), as_ridge(domain, ridge)
    points = as_features(domain, ridge=gamma, rtol=rtol).array
    if domain.kernel is None:
        _check_linear(points, values - mean)
    if gamma == 0.0:
        points = basis(points, 0.0).arms  # any coordinates of the span will do, and these are well conditioned
    member = above > 0.0
    # A positive mean puts every point above a fraction of the maximum when theta = 0.
    open_ = ~member if mean > 0.0 else movable(points, share, ~member)
    return Instance(
        arms=points * loudness[:, None],
        points=points,
        gaps=pair_gaps(share, values) + np.where(member, slack, -slack)[:, None],
        share=share,
        ridge=gamma,
        inside=np.flatnonzero(member & clear),
        outside=np.flatnonzero(open_ & clear),
    )


def _check_linear(points: Array, values: Array) -> None:
    fitted = points @ np.linalg.lstsq(points, values, rcond=None)[0]
    length = float(np.linalg.norm(values))
    away = float(np.linalg.norm(values - fitted))
    if away > LINEAR * length:
        got = f"not linear in the points by {away / length:.2g} of its length"
        raise InputError("values", got, "give values = mean + points @ theta, or a domain with a kernel")


def _tie(instance: Instance, tied: Array, top: int, rtol: float) -> Saddle:
    """A point at the level enters by a change as small as one likes: f itself is the alternative."""
    rows = instance.points[tied] - instance.share * instance.points[top]
    design = solve(instance.arms, Rows(rows), ridge=instance.ridge, rtol=rtol)
    return Saddle(
        weights=design.weights,
        value=np.inf,
        lower_bound=np.inf,
        moves=np.zeros((1, instance.points.shape[1])),
        mixture=np.ones(1),
        status=Status.CERTIFIED,
    )
