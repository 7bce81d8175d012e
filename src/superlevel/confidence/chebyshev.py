"""The weighted Chebyshev fit, theta-hat = argmin over theta of max_v |<theta, v> - W_v| / s_v: the last line of RIPS.

v, W_v, s_v      directions, their values and positive scales; w = v / s_v, R_v = W_v / s_v
c                (k,)  coordinates in which the mean of <c, w>^2 over all directions is |c|^2; theta = back c
t                max_v |<c, w> - R_v|

A linear program in (c, t) with two constraints a direction. Few of them matter: it is solved for a working set, which
is then joined by what violates the answer most. Any theta gives an upper bound, its own t. From a c whose t is T, no
step d to a better one changes any <c, w> by more than 2 T, so |d| <= 2 T in these coordinates. That gives the program
a box which excludes nothing better and holds still what the working set does not see yet, and its multipliers a lower
bound that its tolerance does not touch: sum_v lambda_v (R_v - <c, w>) - 2 T |sum_v lambda_v w|, for sum |lambda_v| = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh, svd
from scipy.optimize import linprog

from superlevel.arrays import Array, Indices, as_floats, as_mask, as_matrix, as_number, as_positive, as_vector
from superlevel.errors import InputError

RANK = 1e-12  # singular values below this part of the largest are rounding
ROUNDING = 1e-13  # a deviation of this part of the largest value is zero
BOX = 3.0  # 2 is enough but for rounding
KEPT = 0.3  # constraints with less than this part of the deviation leave the working set
MAX_ITER = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """Coefficients, and how far from the best that can be at most. Of several that are best, always the same one."""

    theta: Array
    """(r,)"""
    deviation: float
    """max_v |<theta, v> - W_v| / s_v"""
    lower_bound: float
    """No theta has a smaller deviation."""
    iterations: int
    """Linear programs that were solved."""


def fit(rows: ArrayLike, values: ArrayLike, scales: ArrayLike, *, rtol: float = 1e-6) -> Fit:
    """The fit to listed directions: rows (p, r), values (p,) and positive scales (p,).

    Linearly independent directions are met exactly. The deviation is at most 1 + rtol times the smallest there is.
    """
    vectors = as_matrix("rows", rows)
    divisors = as_positive("scales", scales, shape=(len(vectors),))
    wanted = as_vector("values", values, length=len(vectors)) / divisors
    return _fit(_Rows(vectors=vectors / divisors[:, None], wanted=wanted), as_number("rtol", rtol, above=0))


def fit_pairs(
    arms: ArrayLike,
    values: ArrayLike,
    scales: ArrayLike,
    *,
    share: float,
    mask: ArrayLike | None = None,
    rtol: float = 1e-6,
) -> Fit:
    """The fit to the directions arms[x] - share arms[x'] of ordered pairs, which are never written out.

    Args:
        arms: (n, r)
        values: (n, n), row x and column x'.
        scales: (n, n) positive.
        mask: (n, n) which pairs count; values and scales of the others may be anything. None means all.
    """
    points = as_matrix("arms", arms)
    shape = (len(points), len(points))
    chosen = np.ones(shape, dtype=np.bool_) if mask is None else as_mask("mask", mask, shape=shape)
    weights = chosen / as_positive("scales", np.where(chosen, _square("scales", scales, shape), 1.0), shape=shape)
    wanted = weights * as_matrix("values", np.where(chosen, _square("values", values, shape), 0.0))
    pairs = _Pairs(arms=points, share=as_number("share", share), weights=weights, wanted=wanted)
    return _fit(pairs, as_number("rtol", rtol, above=0))


# ------------------------------------------------------------------------------------- directions


class _Directions(Protocol):
    """Scaled directions w and values R. A position counts through an array of R's shape."""

    @property
    def wanted(self) -> Array:
        """R; zero for what does not count."""
        ...

    @property
    def count(self) -> int: ...

    def back(self) -> Array:
        """(r, k) from the coordinates c, in which the mean of w w' is the identity, to these."""
        ...

    def through(self, back: Array) -> _Directions:
        """The directions in the coordinates c."""
        ...

    def residuals(self, coefficients: Array) -> Array:
        """R_v - <c, w>, of R's shape; zero for what does not count."""
        ...

    def rows(self, positions: Indices) -> Array:
        """(m, k) the w at these positions."""
        ...

    def moment(self) -> Array:
        """(k,) sum_v R_v w."""
        ...

    def worst(self, residuals: Array, count: int) -> Indices:
        """Positions of at most count large residuals, the largest among them."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class _Rows:
    vectors: Array
    """(p, r)"""
    wanted: Array

    @property
    def count(self) -> int:
        return len(self.vectors)

    def back(self) -> Array:
        return np.asarray(_basis(self.vectors) * np.sqrt(self.count))

    def through(self, back: Array) -> _Directions:
        return _Rows(vectors=self.vectors @ back, wanted=self.wanted)

    def residuals(self, coefficients: Array) -> Array:
        return self.wanted - self.vectors @ coefficients

    def rows(self, positions: Indices) -> Array:
        return self.vectors[positions]

    def moment(self) -> Array:
        return self.vectors.T @ self.wanted

    def worst(self, residuals: Array, count: int) -> Indices:
        return np.argsort(-np.abs(residuals), kind="stable")[:count]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Pairs:
    arms: Array
    """(n, r)"""
    share: float
    weights: Array
    """(n, n) 1 / s_v; zero for what does not count."""
    wanted: Array

    @property
    def count(self) -> int:
        return int(np.count_nonzero(self.weights))

    def back(self) -> Array:
        """By way of the arms' own span, in which the Gram matrix of the pairs is well conditioned.

        Pairs may span less than their arms do: a chain of n - 1 pairs leaves one direction of n arms unseen.
        """
        seen = self.weights > 0
        basis = _basis(self.arms[seen.any(axis=0) | seen.any(axis=1)])
        arms, squares = self.arms @ basis, self.weights**2
        middle = np.diag(squares.sum(axis=1) + self.share**2 * squares.sum(axis=0))
        middle -= self.share * (squares + squares.T)
        sizes, axes = eigh(arms.T @ middle @ arms)
        kept = sizes > RANK * sizes.max(initial=0)
        return np.asarray(basis @ axes[:, kept] * np.sqrt(self.count / sizes[kept]))

    def through(self, back: Array) -> _Directions:
        return _Pairs(arms=self.arms @ back, share=self.share, weights=self.weights, wanted=self.wanted)

    def residuals(self, coefficients: Array) -> Array:
        heights = self.arms @ coefficients
        return self.wanted - self.weights * (heights[:, None] - self.share * heights)

    def rows(self, positions: Indices) -> Array:
        first, second = np.divmod(positions, len(self.arms))
        rows = self.arms[first] - self.share * self.arms[second]
        return np.asarray(rows * self.weights[first, second, None])

    def moment(self) -> Array:
        scaled = self.wanted * self.weights
        return np.asarray(self.arms.T @ (scaled.sum(axis=1) - self.share * scaled.sum(axis=0)))

    def worst(self, residuals: Array, count: int) -> Indices:
        """Out of the worst of each x and of each x': the very worst are neighbours and say the same."""
        sizes, n = np.abs(residuals), len(residuals)
        everyone = np.arange(n)
        positions = np.union1d(everyone * n + sizes.argmax(axis=1), sizes.argmax(axis=0) * n + everyone)
        positions = positions[self.weights.ravel()[positions] > 0]
        return np.asarray(positions[np.argsort(-sizes.ravel()[positions], kind="stable")[:count]])


def _basis(vectors: Array) -> Array:
    """(r, k) such that vectors @ basis has orthonormal columns and the same span."""
    _, sizes, right = svd(vectors, full_matrices=False)
    kept = sizes > RANK * sizes[0]
    return np.asarray(right[kept].T / sizes[kept])


# ---------------------------------------------------------------------------------------- program


class _Working(NamedTuple):
    """The constraints of a program: (R_v - <c, w>) sign <= t for some v and signs."""

    codes: Indices
    """2 v + 1 for the sign -, 2 v for +; sorted."""

    @property
    def signs(self) -> Array:
        return np.where(self.codes % 2, -1.0, 1.0)

    def rows(self, directions: _Directions) -> Array:
        return directions.rows(self.codes // 2) * self.signs[:, None]

    def residuals(self, residuals: Array) -> Array:
        return residuals.ravel()[self.codes // 2] * self.signs


class _Step(NamedTuple):
    move: Array
    """(k,) the correction that is best for the working set."""
    bound: float
    """What the multipliers prove of the least deviation."""


def _fit(given: _Directions, rtol: float) -> Fit:
    """From least squares by working sets until upper and lower bound agree."""
    back = given.back()
    directions = given.through(back)
    best = directions.moment() / directions.count
    residuals = directions.residuals(best)
    upper, lower, iterations = float(np.abs(residuals).max()), 0.0, 0
    smallest = ROUNDING * float(np.abs(given.wanted).max())
    working = _worst(directions, residuals, 4 * len(best) + 4)
    while upper > max(smallest, lower * (1 + rtol)) and iterations < MAX_ITER:
        step = _step(working.rows(directions), working.residuals(residuals) / upper)
        lower, iterations = max(lower, upper * step.bound), iterations + 1
        guess = best + upper * step.move
        seen = directions.residuals(guess)
        reached = float(np.abs(seen).max())
        slack = working.residuals(seen)
        entering = np.setdiff1d(_worst(directions, seen, 2 * len(best) + 2).codes, working.codes)
        if not len(entering) and reached > upper * (1 - rtol):
            break  # neither a better theta nor a better proof: the program's tolerance is reached
        if reached < upper:
            best, residuals, upper = guess, seen, reached
        working = _Working(codes=np.union1d(working.codes[slack > KEPT * slack.max()], entering))
    theta = back @ best
    deviation = float(np.abs(given.residuals(theta)).max())
    return Fit(theta=theta, deviation=deviation, lower_bound=min(lower, deviation), iterations=iterations)


def _worst(directions: _Directions, residuals: Array, count: int) -> _Working:
    positions = directions.worst(residuals, count)
    return _Working(codes=np.sort(2 * positions + (residuals.ravel()[positions] < 0)))


def _step(rows: Array, residuals: Array) -> _Step:
    """minimise t over d in the box and t, residual_w - <d, w> <= t; residuals are at most 1."""
    m, k = rows.shape
    found = linprog(
        np.append(np.zeros(k), 1.0),
        A_ub=-np.column_stack([rows, np.ones(m)]),
        b_ub=-residuals,
        bounds=[*[(-BOX, BOX)] * k, (0.0, None)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.x is None:
        return _Step(move=np.zeros(k), bound=0.0)  # the bounds so far stand
    return _Step(move=found.x[:k], bound=_proof(rows, residuals, np.maximum(0.0, -found.ineqlin.marginals)))


def _proof(rows: Array, residuals: Array, multipliers: Array) -> float:
    """The lower bound that multipliers lambda >= 0 prove, whatever the program's tolerance.

    A better d has t sum_w lambda_w >= sum_w lambda_w (residual_w - <d, w>), and is in the box's ball.
    """
    total = float(multipliers.sum())
    missed = float(np.linalg.norm(multipliers @ rows))
    return max(0.0, float(multipliers @ residuals) - BOX * missed) / total if total > 0 else 0.0


def _square(field: str, given: ArrayLike, shape: tuple[int, int]) -> Array:
    matrix = as_floats(field, given)
    if matrix.shape != shape:
        raise InputError(field, f"of shape {matrix.shape}", f"give shape {shape}")
    return matrix
