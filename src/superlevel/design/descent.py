"""One step of a primal-dual interior-point method for the average of a mixture that is held fixed.

    minimise T(lambda) = tr(A^-1 M)   subject to   lambda >= 0,   sum lambda = 1

    B_ij = phi_i' A^-1 phi_j      g_i = -dT / dlambda_i = phi_i' A^-1 M A^-1 phi_i
    dg_i / dlambda_j = -H_ij,     H = 2 (F F') o B,   F F' = Phi A^-1 M A^-1 Phi'

These are the equations of `superlevel.design.newton` without the mixture's: with multipliers z for lambda >= 0 and nu
for the sum, the conditions of optimality are

    z = nu - g,   lambda o z = 0,   sum lambda = 1,

and eliminating dz from Newton's equations leaves Q = H + diag(z / lambda), bordered by dnu.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from superlevel import linalg
from superlevel.arrays import Array, Floats
from superlevel.design.newton import BOUNDARY, CORRECTIONS, centring, into_band, steepest

NEAR = 10  # factor by which a cautious step lets z differ from aim / lambda


@dataclass(frozen=True, kw_only=True, eq=False)
class Iterate:
    """Where the method is, on m arms."""

    weights: Array
    """lambda (m,) > 0"""
    price: float
    """nu"""
    reduced: Array
    """z (m,) > 0"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Local:
    """The problem seen from an iterate, in coordinates where A is the identity."""

    arms: Floats
    """(m, r)"""
    roots: Floats
    """F (m, k)"""
    gains: Array
    """g (m,)"""


def step(here: Iterate, local: Local, *, least: float) -> Iterate:
    """The next iterate; the sum of the products is not aimed below ``least``.

    Raises LinAlgError where rounding makes Q indefinite or a number overflows.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        moved = _step(here, local, least)
    if not (np.isfinite(moved.weights).all() and np.isfinite(moved.reduced).all()):
        raise LinAlgError("the step overflows")
    return replace(moved, weights=moved.weights / moved.weights.sum())


def cautious(here: Iterate, local: Local, *, aim: float) -> Iterate:
    """A step for products that all equal ``aim``: downhill for T - aim sum log lambda, whatever z is.

    Raises LinAlgError as `step` does. z is kept near aim / lambda, as a method that only looks at lambda has it
    (Waechter and Biegler 2006, Math. Program. 106:25, equation 16).
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        change = _factored(here, local)(aim - here.weights * here.reduced)
        moved = _moved(here, change, _room(here, change))
        near = np.clip(moved.reduced, aim / (NEAR * moved.weights), NEAR * aim / moved.weights)
    if not (np.isfinite(moved.weights).all() and np.isfinite(near).all()):
        raise LinAlgError("the step overflows")
    return replace(moved, weights=moved.weights / moved.weights.sum(), reduced=near)


def halfway(one: Iterate, other: Iterate) -> Iterate:
    """The middle between two iterates."""
    return Iterate(
        weights=(one.weights + other.weights) / 2,
        price=(one.price + other.price) / 2,
        reduced=(one.reduced + other.reduced) / 2,
    )


def _step(here: Iterate, local: Local, least: float) -> Iterate:
    """Mehrotra's predictor and Gondzio's corrections, as in `superlevel.design.newton`."""
    direction = _factored(here, local)
    products = here.weights * here.reduced
    ahead = direction(-products)
    reached = _moved(here, ahead, _room(here, ahead))
    aim = max(centring(reached.weights * reached.reduced, products), least / len(products))
    wanted = aim - products - ahead.weights * ahead.reduced
    change = direction(wanted)
    room = _room(here, change)
    for _ in range(CORRECTIONS):
        further = _moved(here, change, (min(1.0, 0.1 + 1.08 * room[0]), min(1.0, 0.1 + 1.08 * room[1])))
        wanted = wanted + into_band(further.weights * further.reduced, aim)
        other = direction(wanted)
        longer = _room(here, other)
        if sum(longer) < sum(room) + 0.05:
            break
        change, room = other, longer
    return _moved(here, change, room)


def _factored(here: Iterate, local: Local) -> Callable[[Array], Iterate]:
    """Newton's direction as a function of the wanted changes of lambda o z (m,)."""
    lam, z = here.weights, here.reduced
    dtype = local.arms.dtype
    system = linalg.gram(local.roots)
    system *= linalg.gram(local.arms)
    system *= 2
    linalg.add_to_diagonal(system, (z / lam).astype(dtype))
    factor = linalg.cholesky(system)
    against = linalg.cholesky_solve(factor, np.ones(len(lam), dtype=dtype)).astype(np.float64)
    unmet = here.price - local.gains - z

    def direction(change: Array) -> Iterate:
        b = change / lam
        free = linalg.cholesky_solve(factor, (b - unmet).astype(dtype)).astype(np.float64)
        d_price = (free.sum() - (1 - lam.sum())) / against.sum()
        d_weights = free - d_price * against
        return Iterate(weights=d_weights, price=float(d_price), reduced=b - z / lam * d_weights)

    return direction


def _room(here: Iterate, change: Iterate) -> tuple[float, float]:
    """The longest steps, at most 1, that keep lambda and z positive."""
    return (
        min(1.0, BOUNDARY / steepest(here.weights, change.weights)),
        min(1.0, BOUNDARY / steepest(here.reduced, change.reduced)),
    )


def _moved(here: Iterate, change: Iterate, lengths: tuple[float, float]) -> Iterate:
    primal, dual = lengths
    return Iterate(
        weights=here.weights + primal * change.weights,
        price=here.price + dual * change.price,
        reduced=here.reduced + dual * change.reduced,
    )
