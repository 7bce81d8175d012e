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

If the mixture is held fixed, T(lambda) = sum_v w_v s_v is minimised instead of t. The equations are then those of
lambda, z and nu alone, Q = H + diag(z / lambda), and an iterate has no targets: p = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import LinAlgError

from superlevel import linalg
from superlevel.arrays import Array, Floats

BOUNDARY = 0.995  # the part of the way to the boundary that a step goes
CORRECTIONS = 2  # Gondzio 1996, Comput. Optim. Appl. 6:137: each costs two triangular solves, a step a factorisation
NEAR = 10  # factor by which a cautious step lets z differ from aim / lambda
TINY = 1e-300


def _none() -> Array:
    return np.empty(0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Iterate:
    """Where the method is, on m arms and p targets."""

    weights: Array
    """lambda (m,) > 0"""
    mixture: Array = field(default_factory=_none)
    """w (p,) > 0"""
    level: float = 0.0
    """t"""
    price: float
    """nu"""
    slack: Array = field(default_factory=_none)
    """u (p,) > 0"""
    reduced: Array
    """z (m,) > 0"""

    @property
    def products(self) -> Products:
        return Products(slack=self.mixture * self.slack, reduced=self.weights * self.reduced)


class Products(NamedTuple):
    """What must vanish."""

    slack: Array
    """w o u (p,)"""
    reduced: Array
    """lambda o z (m,)"""


Direction: TypeAlias = Callable[[Products], Iterate]
"""Newton's direction as a function of the wanted changes of the products."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Local:
    """The average of a fixed mixture seen from an iterate, in coordinates where A is the identity."""

    arms: Floats
    """(m, r)"""
    roots: Floats
    """(m, k) with roots @ roots' = C W C'."""
    gains: Array
    """g (m,)"""

    def factored(self, here: Iterate) -> Direction:
        """The direction from here. Raises LinAlgError where rounding makes Q indefinite."""
        lam, z = here.weights, here.reduced
        dtype = self.arms.dtype
        system = linalg.gram(self.roots)
        system *= linalg.gram(self.arms)
        system *= 2
        linalg.add_to_diagonal(system, (z / lam).astype(dtype))
        factor = linalg.cholesky(system)
        against = linalg.cholesky_solve(factor, np.ones(len(lam), dtype=dtype)).astype(np.float64)
        unmet = here.price - self.gains - z

        def direction(change: Products) -> Iterate:
            b = change.reduced / lam
            free = linalg.cholesky_solve(factor, (b - unmet).astype(dtype)).astype(np.float64)
            d_price = (free.sum() - (1 - lam.sum())) / against.sum()
            d_weights = free - d_price * against
            return Iterate(weights=d_weights, price=float(d_price), reduced=b - z / lam * d_weights)

        return direction


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalTargets(Local):
    """The largest variance seen from an iterate: its targets take part."""

    targets: Floats
    """(p, r); the same object as arms where they are the same rows."""
    variances: Array
    """s (p,)"""

    def factored(self, here: Iterate) -> Direction:
        """The direction from here. Raises LinAlgError where rounding makes Q indefinite."""
        w, lam, u, z = here.mixture, here.weights, here.slack, here.reduced
        dtype = self.arms.dtype
        squares = linalg.inner(self.arms, self.targets)
        system = linalg.gram(self.roots)
        system *= squares.T if self.targets is self.arms else linalg.gram(self.arms)
        system *= 2
        squares *= squares
        system += linalg.gram(squares * np.sqrt(w / u).astype(dtype))
        linalg.add_to_diagonal(system, (z / lam).astype(dtype))
        factor = linalg.cholesky(system)
        ratio = w / u
        border = linalg.times(squares, ratio.astype(dtype))
        against = linalg.cholesky_solve(factor, np.stack([border, np.ones_like(border)], axis=1)).astype(np.float64)
        corner = np.array([against.sum(axis=0), [ratio.sum() - border @ against[:, 0], -(border @ against[:, 1])]])
        unmet_slack = here.level - self.variances - u
        unmet_reduced = here.price - self.gains - z

        def direction(change: Products) -> Iterate:
            a = change.slack / u - ratio * unmet_slack
            b = change.reduced / lam
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


def step(here: Iterate, local: Local, *, least: float) -> Iterate:
    """The next iterate. Raises LinAlgError where rounding makes Q indefinite or a number overflows.

    The sums of the products are not aimed below ``least``. s and g are not linear in lambda, so the residuals of
    the first two conditions shrink only with the square of the step; products that outrun them leave Q ill
    conditioned and the bound behind.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return _checked(_step(here, local.factored(here), least))


def cautious(here: Iterate, local: Local, *, aim: float) -> Iterate:
    """A step for products that all equal ``aim``: downhill for T - aim sum log lambda, whatever z is.

    Raises LinAlgError as `step` does. z is kept near aim / lambda, as a method that only looks at lambda has it
    (Waechter and Biegler 2006, Math. Program. 106:25, equation 16).
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        change = local.factored(here)(Products(*(aim - products for products in here.products)))
        moved = _moved(here, change, _room(here, change))
        near = np.clip(moved.reduced, aim / (NEAR * moved.weights), NEAR * aim / moved.weights)
        return _checked(replace(moved, reduced=near))


def halfway(one: Iterate, other: Iterate) -> Iterate:
    """The middle between two iterates."""
    return _moved(one, _moved(other, one, (-1.0, -1.0)), (0.5, 0.5))


def _step(here: Iterate, direction: Direction, least: float) -> Iterate:
    products = here.products
    # Predictor: straight for zero products. How far it gets says how much centring is needed.
    ahead = direction(Products(-products.slack, -products.reduced))
    reached = _moved(here, ahead, _room(here, ahead)).products
    aims = [_aim(left, now, least) for left, now in zip(reached, products, strict=True)]
    second = ahead.products
    wanted = Products(*(aim - now - more for aim, now, more in zip(aims, products, second, strict=True)))
    change = direction(wanted)
    room = _room(here, change)
    for _ in range(CORRECTIONS):
        further = tuple(min(1.0, 0.1 + 1.08 * length) for length in room)
        off = _moved(here, change, further).products
        wanted = Products(*(now + _into_band(at, aim) for now, at, aim in zip(wanted, off, aims, strict=True)))
        other = direction(wanted)
        longer = _room(here, other)
        if sum(longer) < sum(room) + 0.05:
            break
        change, room = other, longer
    return _moved(here, change, room)


def _room(here: Iterate, change: Iterate) -> tuple[float, ...]:
    """The longest steps, at most 1, that keep everything positive: for lambda, t, u and for w, nu, z."""
    primal = max(_steepest(here.weights, change.weights), _steepest(here.slack, change.slack))
    dual = max(_steepest(here.mixture, change.mixture), _steepest(here.reduced, change.reduced))
    return min(1.0, BOUNDARY / primal), min(1.0, BOUNDARY / dual)


def _steepest(values: Array, change: Array) -> float:
    return float(np.max(-change / values, initial=TINY))


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


def _checked(moved: Iterate) -> Iterate:
    """With weights and mixture that are distributions."""
    if not all(np.isfinite(x).all() for x in (moved.weights, moved.mixture, moved.slack, moved.reduced)):
        raise LinAlgError("the step overflows")
    return replace(moved, weights=moved.weights / moved.weights.sum(), mixture=moved.mixture / moved.mixture.sum())


def _aim(reached: Array, products: Array, least: float) -> float:
    """Mehrotra's rule: the cube of what the predictor would leave, as a mean product; the sum is ``least`` or more."""
    if not len(products):
        return 0.0
    return max(float((reached.sum() / products.sum()) ** 3 * products.mean()), least / len(products))


def _into_band(products: Array, aim: float) -> Array:
    """Gondzio's correction: lift what would fall below a tenth of the aim, lower what would exceed ten times it."""
    return np.clip(np.clip(products, 0.1 * aim, 10 * aim) - products, -10 * aim, None)
