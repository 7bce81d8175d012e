"""One step of a primal-dual interior-point method for a design problem with its arms and targets written out.

    minimise t   subject to   s_v(lambda) <= t for every target v,   lambda >= 0,   sum lambda = 1

    C_iv = phi_i' A^-1 v      s_v = v' A^-1 v             ds_v / dlambda_i = -C_iv^2
    B_ij = phi_i' A^-1 phi_j  g_i = sum_v w_v C_iv^2      dg_i / dlambda_j = -H_ij,   H = 2 (C W C') o B

The multipliers are w for the targets (a mixture: the dual that certifies), z for lambda >= 0 and nu for the sum.
With slacks u the conditions of optimality are

    u = t - s,   z = nu - g,   w o u = 0,   lambda o z = 0,   sum w = sum lambda = 1.

A step is Newton's on these, the products relaxed to a small positive number that Mehrotra's predictor chooses
(Mehrotra 1992, SIAM J. Optim. 2:575; Wright 1997, Primal-Dual Interior-Point Methods, ch. 10). Eliminating du, dw
and dz leaves a positive definite system in dlambda,

    Q = H + C2 diag(w / u) C2' + diag(z / lambda),   C2 = C o C,

bordered by dt and dnu. Forming Q is nearly all of the work. A direction needs few digits, and the residuals of the
next step are computed afresh in double precision, so Q may be formed and factored in single.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from superlevel import linalg
from superlevel.arrays import Array, Floats

BOUNDARY = 0.995  # the part of the way to the boundary that a step goes
CORRECTIONS = 2  # Gondzio 1996, Comput. Optim. Appl. 6:137: each costs two triangular solves, a step a factorisation
TINY = 1e-300


@dataclass(frozen=True, kw_only=True, eq=False)
class Iterate:
    """Where the method is, on m arms and p targets."""

    weights: Array
    """lambda (m,) > 0"""
    mixture: Array
    """w (p,) > 0"""
    level: float
    """t"""
    price: float
    """nu"""
    slack: Array
    """u (p,) > 0"""
    reduced: Array
    """z (m,) > 0"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Products:
    """What must vanish: w o u (p,) and lambda o z (m,)."""

    slack: Array
    reduced: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class Local:
    """The problem seen from an iterate, in coordinates where A is the identity."""

    arms: Floats
    """(m, r)"""
    targets: Floats
    """(p, r); the same object as arms where they are the same rows."""
    roots: Floats
    """(m, k) with roots @ roots' = C W C'."""
    variances: Array
    """s (p,)"""
    gains: Array
    """g (m,)"""


def step(here: Iterate, local: Local, *, least: float) -> Iterate:
    """The next iterate. Raises LinAlgError where rounding makes Q indefinite or a number overflows.

    The sums of the products are not aimed below ``least``. s and g are not linear in lambda, so the residuals of
    the first two conditions shrink only with the square of the step; products that outrun them leave Q ill
    conditioned and the bound behind.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        moved = _step(here, local, least)
    if not all(np.isfinite(x).all() for x in (moved.weights, moved.mixture, moved.slack, moved.reduced)):
        raise LinAlgError("the step overflows")
    return replace(moved, weights=moved.weights / moved.weights.sum(), mixture=moved.mixture / moved.mixture.sum())


def halfway(one: Iterate, other: Iterate) -> Iterate:
    """The middle between two iterates."""
    return _moved(one, _moved(other, one, (-1.0, -1.0)), (0.5, 0.5))


def _step(here: Iterate, local: Local, least: float) -> Iterate:
    direction = _factored(here, local)
    products = Products(slack=here.mixture * here.slack, reduced=here.weights * here.reduced)
    # Predictor: straight for zero products. How far it gets says how much centring is needed.
    ahead = direction(-products.slack, -products.reduced)
    reached = _products(_moved(here, ahead, _room(here, ahead)))
    aims = (
        max(centring(reached.slack, products.slack), least / len(products.slack)),
        max(centring(reached.reduced, products.reduced), least / len(products.reduced)),
    )
    wanted = Products(
        slack=aims[0] - products.slack - ahead.mixture * ahead.slack,
        reduced=aims[1] - products.reduced - ahead.weights * ahead.reduced,
    )
    change = direction(wanted.slack, wanted.reduced)
    room = _room(here, change)
    for _ in range(CORRECTIONS):
        further = tuple(min(1.0, 0.1 + 1.08 * length) for length in room)
        off = _products(_moved(here, change, further))
        wanted = Products(
            slack=wanted.slack + into_band(off.slack, aims[0]),
            reduced=wanted.reduced + into_band(off.reduced, aims[1]),
        )
        other = direction(wanted.slack, wanted.reduced)
        longer = _room(here, other)
        if sum(longer) < sum(room) + 0.05:
            break
        change, room = other, longer
    return _moved(here, change, room)


def _factored(here: Iterate, local: Local) -> Callable[[Array, Array], Iterate]:
    """Newton's direction as a function of the wanted changes of w o u (p,) and lambda o z (m,)."""
    w, lam, u, z = here.mixture, here.weights, here.slack, here.reduced
    dtype = local.arms.dtype
    squares = linalg.inner(local.arms, local.targets)
    system = linalg.gram(local.roots)
    system *= squares.T if local.targets is local.arms else linalg.gram(local.arms)
    system *= 2
    squares *= squares
    system += linalg.gram(squares * np.sqrt(w / u).astype(dtype))
    linalg.add_to_diagonal(system, (z / lam).astype(dtype))
    factor = linalg.cholesky(system)
    ratio = w / u
    border = linalg.times(squares, ratio.astype(dtype))
    against = linalg.cholesky_solve(factor, np.stack([border, np.ones_like(border)], axis=1)).astype(np.float64)
    corner = np.array([against.sum(axis=0), [ratio.sum() - border @ against[:, 0], -(border @ against[:, 1])]])
    unmet_slack = here.level - local.variances - u
    unmet_reduced = here.price - local.gains - z

    def direction(slack_change: Array, weight_change: Array) -> Iterate:
        a = slack_change / u - ratio * unmet_slack
        b = weight_change / lam
        right = linalg.times(squares, a.astype(dtype)) + b - unmet_reduced
        free = linalg.cholesky_solve(factor, right.astype(dtype)).astype(np.float64)
        excess = [free.sum() - (1 - lam.sum()), a.sum() - (1 - w.sum()) - border @ free]
        d_level, d_price = np.linalg.solve(corner, excess)
        d_weights = free - against @ (d_level, d_price)
        lowered = d_level + linalg.transposed_times(squares, d_weights.astype(dtype))
        return Iterate(
            weights=d_weights,
            mixture=a - ratio * lowered,
            level=float(d_level),
            price=float(d_price),
            slack=lowered + unmet_slack,
            reduced=b - z / lam * d_weights,
        )

    return direction


def _room(here: Iterate, change: Iterate) -> tuple[float, float]:
    """The longest steps, at most 1, that keep everything positive: for lambda, t, u and for w, nu, z."""
    primal = max(steepest(here.weights, change.weights), steepest(here.slack, change.slack))
    dual = max(steepest(here.mixture, change.mixture), steepest(here.reduced, change.reduced))
    return min(1.0, BOUNDARY / primal), min(1.0, BOUNDARY / dual)


def steepest(values: Array, change: Array) -> float:
    return max(float(np.max(-change / values)), TINY)


def _moved(here: Iterate, change: Iterate, lengths: tuple[float, ...]) -> Iterate:
    primal, dual = lengths
    return Iterate(
        weights=here.weights + primal * change.weights,
        level=here.level + primal * change.level,
        slack=here.slack + primal * change.slack,
        mixture=here.mixture + dual * change.mixture,
        price=here.price + dual * change.price,
        reduced=here.reduced + dual * change.reduced,
    )


def _products(at: Iterate) -> Products:
    return Products(slack=at.mixture * at.slack, reduced=at.weights * at.reduced)


def centring(reached: Array, products: Array) -> float:
    """Mehrotra's rule: the cube of what the predictor would leave, as a mean product."""
    return float((reached.sum() / products.sum()) ** 3 * products.mean())


def into_band(products: Array, aim: float) -> Array:
    """Gondzio's correction: lift what would fall below a tenth of the aim, lower what would exceed ten times it."""
    return np.clip(np.clip(products, 0.1 * aim, 10 * aim) - products, -10 * aim, None)
