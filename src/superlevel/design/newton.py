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
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.linalg import LinAlgError

from superlevel import linalg
from superlevel.arrays import Array, Floats

BOUNDARY = 0.995  # the part of the way to the boundary that a step goes
CORRECTIONS = 2  # Gondzio 1996, Comput. Optim. Appl. 6:137: each costs two triangular solves, a step a factorisation
NEAR = 10  # factor by which a cautious step lets z differ from aim / lambda
TINY = 1e-300


@dataclass(frozen=True, kw_only=True, eq=False)
class Iterate:
    """Where the method is on m arms and p targets, or a change of that. The products primal o dual must vanish."""

    primal: Array
    """lambda (m,) and u (p,), > 0"""
    dual: Array
    """z (m,) and w (p,), > 0"""
    level: float
    """t"""
    price: float
    """nu"""
    arms: int
    """m"""

    @property
    def weights(self) -> Array:
        return self.primal[: self.arms]

    @property
    def slack(self) -> Array:
        return self.primal[self.arms :]

    @property
    def reduced(self) -> Array:
        return self.dual[: self.arms]

    @property
    def mixture(self) -> Array:
        return self.dual[self.arms :]


def joined(
    *,
    weights: Array,  # lambda (m,)
    reduced: Array,  # z (m,)
    price: float,
    mixture: Array,  # w (p,)
    slack: Array,  # u (p,)
    level: float,
) -> Iterate:
    """An iterate from its parts."""
    primal, dual = np.concatenate([weights, slack]), np.concatenate([reduced, mixture])
    return Iterate(primal=primal, dual=dual, level=level, price=price, arms=len(weights))


Direction: TypeAlias = Callable[[Array], Iterate]
"""Newton's direction as a function of the wanted changes of the products (m + p,)."""


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

        def direction(change: Array) -> Iterate:
            b = change / lam
            free = linalg.cholesky_solve(factor, (b - unmet).astype(dtype)).astype(np.float64)
            d_price = (free.sum() - (1 - lam.sum())) / against.sum()
            d_weights = free - d_price * against
            d_reduced = b - z / lam * d_weights
            return Iterate(primal=d_weights, dual=d_reduced, level=0.0, price=float(d_price), arms=len(lam))

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

        def direction(change: Array) -> Iterate:
            a = change[len(lam) :] / u - ratio * unmet_slack
            b = change[: len(lam)] / lam
            right = linalg.times(squares, a.astype(dtype)) + b - unmet_reduced
            free = linalg.cholesky_solve(factor, right.astype(dtype)).astype(np.float64)
            excess = [free.sum() - (1 - lam.sum()), a.sum() - (1 - w.sum()) - border @ free]
            d_level, d_price = np.linalg.solve(corner, excess)
            d_weights = free - against @ (d_level, d_price)
            lowered = d_level + linalg.transposed_times(squares, d_weights.astype(dtype))
            return joined(
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
        change = local.factored(here)(aim - here.primal * here.dual)
        moved = _moved(here, change, _room(here, change))
        near = np.clip(moved.dual, aim / (NEAR * moved.primal), NEAR * aim / moved.primal)
        return _checked(replace(moved, dual=near))


def halfway(one: Iterate, other: Iterate) -> Iterate:
    """The middle between two iterates."""
    return _moved(one, _moved(other, one, (-1.0, -1.0)), (0.5, 0.5))


def _step(here: Iterate, direction: Direction, least: float) -> Iterate:
    products = here.primal * here.dual
    # Predictor: straight for zero products. How far it gets says how much centring is needed.
    ahead = direction(-products)
    reached = _moved(here, ahead, _room(here, ahead))
    aims = _aims(reached.primal * reached.dual, products, here.arms, least)
    wanted = aims - products - ahead.primal * ahead.dual
    change = direction(wanted)
    room = _room(here, change)
    for _ in range(CORRECTIONS):
        further = _moved(here, change, (min(1.0, 0.1 + 1.08 * room[0]), min(1.0, 0.1 + 1.08 * room[1])))
        wanted = wanted + _into_band(further.primal * further.dual, aims)
        other = direction(wanted)
        longer = _room(here, other)
        if sum(longer) < sum(room) + 0.05:
            break
        change, room = other, longer
    return _moved(here, change, room)


def _room(here: Iterate, change: Iterate) -> tuple[float, float]:
    """The longest steps, at most 1, that keep everything positive: for lambda, t, u and for w, nu, z."""
    primal = max(float(np.max(-change.primal / here.primal)), TINY)
    dual = max(float(np.max(-change.dual / here.dual)), TINY)
    return min(1.0, BOUNDARY / primal), min(1.0, BOUNDARY / dual)


def _moved(here: Iterate, change: Iterate, lengths: tuple[float, float]) -> Iterate:
    primal, dual = lengths
    return Iterate(
        primal=here.primal + primal * change.primal,
        level=here.level + primal * change.level,
        dual=here.dual + dual * change.dual,
        price=here.price + dual * change.price,
        arms=here.arms,
    )


def _checked(moved: Iterate) -> Iterate:
    """With weights and mixture that are distributions."""
    if not (np.isfinite(moved.primal).all() and np.isfinite(moved.dual).all()):
        raise LinAlgError("the step overflows")
    primal, dual = moved.primal.copy(), moved.dual.copy()
    primal[: moved.arms] /= moved.weights.sum()
    dual[moved.arms :] /= moved.mixture.sum()
    return replace(moved, primal=primal, dual=dual)


def _aims(reached: Array, products: Array, arms: int, least: float) -> Array:
    """Mehrotra's rule: the cube of what the predictor would leave, as a mean product; the sum is ``least`` or more.

    Arms and targets have an aim each.
    """
    aims = np.empty_like(products)
    for part in (slice(arms), slice(arms, None)):
        if count := len(now := products[part]):
            total = now.sum()
            aims[part] = max((reached[part].sum() / total) ** 3 * (total / count), least / count)
    return aims


def _into_band(products: Array, aims: Array) -> Array:
    """Gondzio's correction: lift what would fall below a tenth of the aim, lower what would exceed ten times it."""
    return np.clip(np.clip(products, 0.1 * aims, 10 * aims) - products, -10 * aims, None)
