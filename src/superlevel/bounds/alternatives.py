"""The functions nearest to f that have another set, where the level is a fraction of the maximum.

    phi_x, a_i   (r,)   features of a point; of a point as an arm, louder where the noise is lower
    y_xx'               phi_x - (1 - eps) phi_x'
    g_xx'               f(x) - (1 - eps) f(x'), the value of that direction
    d            (r,)   a change of theta: f'(x) = f(x) + phi_x' d, a direction's value becomes g_xx' + y_xx' d
    A                   sum_i lambda_i a_i a_i' + gamma I = L L'
    z            (r,)   L' d, whose length is the distance ||d||_A of f' from f
    H(lambda)           1 / the smallest ||d||^2_A over the d that change the set

A point x in the set leaves it when one y_xx' d <= -g_xx'. The nearest such d is at squared distance g^2 / (y' A^-1 y),
over a single x'.

A point x outside enters it when y_xx' d >= -g_xx' for *all* x': the projection of 0 onto a polyhedron. (The paper's
proof takes the furthest of the half-spaces for it, which is nearer than their intersection.) Lawson and Hanson 1974,
chapter 23: min ||z|| subject to R z >= h is a non-negative least squares problem, min ||E u - e||, E = [R'; h'],
e = (0, ..., 0, 1), with z = -residual[:-1] / residual[-1]; no solution where the residual is zero. Of the n rows of R
few are active, and only those that were violated once enter E.

A point that is outside under every f' leaves nothing to find out. y_xx' d > -g_xx' for all x' has no solution where
phi_x lies in (1 - eps) times the convex hull of the features, unless a positive mean lifts all values: f(x) is then
an average of (1 - eps) f(x') and never above it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, solve_triangular
from scipy.optimize import nnls

from superlevel import linalg
from superlevel.arrays import Array, Indices, Mask

CLOSE = 0.5  # points outside are projected exactly where one half-space alone allows this part of H(lambda)
SLACK = 1e-9  # part of its size by which a constraint may be violated and still count as kept
INFEASIBLE = 1e-7  # residual of the least squares problem that is zero
PATIENCE = 100  # rows that may enter the least squares problem, beyond one for each point
STEPS = 10_000  # of one least squares problem
BLEND = 1e-3  # of the uniform design, where a design does not reach everything


@dataclass(frozen=True, kw_only=True, eq=False)
class Instance:
    """A function, its points and how they can be measured."""

    arms: Array
    """(n, r) a_i"""
    points: Array
    """(n, r) phi_x"""
    gaps: Array
    """(n, n) g_xx'"""
    share: float
    """1 - eps"""
    ridge: float
    inside: Indices
    """Points of the set."""
    outside: Indices
    """Points that are not in it and could be."""

    def directions(self, positions: Indices) -> Array:
        """(m, r) y_xx' / g_xx' at positions n x + x'."""
        first, second = np.divmod(positions, len(self.points))
        rows = self.points[first] - self.share * self.points[second]
        return np.asarray(rows / self.gaps[first, second][:, None])

    def obstacles(self) -> Mask:
        """(n, n) the pairs that must change for a point outside to enter."""
        return np.asarray(self.gaps < 0.0)

    def constraints(self, x: int, white: Array) -> tuple[Array, Array]:
        """R (n, r) and h (n,): x enters where R z >= h."""
        return white[x] - self.share * white, -self.gaps[x]


@dataclass(frozen=True, kw_only=True, eq=False)
class Nearest:
    """What one design leaves hardest to tell apart."""

    weights: Array
    """(n,) lambda"""
    value: float
    """H(lambda)"""
    pairs: Indices
    """The worst pair n x + x' of every point in the set."""
    hulls: Array
    """(q, r) for every point outside a v in the hull of its directions y / g: ||v||^2 in the norm of A^-1 is its part
    of H(lambda) where that is large, and not below it elsewhere."""
    moves: Array
    """(m, r) changes d of theta after which the set is another one: for every pair and point that is hard to place."""


def nearest(instance: Instance, weights: Array, pairs: Indices) -> Nearest:
    """H at one design, the directions that make it and the changes that prove it. ``pairs`` are looked at again."""
    weights, factor = _factor(instance, weights)
    white = linalg.whiten(factor, instance.points)
    ratios = pair_ratios(instance, white)
    own = ratios[instance.inside]
    worst = instance.inside * len(white) + own.argmax(axis=1)
    hardest = float(own.max(initial=0.0))
    entering = _entering(instance, white, ratios, hardest)
    level = max(hardest, entering.level)
    rows = linalg.whiten(factor, instance.directions(np.union1d(worst, pairs)))
    sizes = linalg.squared_norms(rows)
    close = sizes > CLOSE * level
    moves = np.vstack([-rows[close] / sizes[close][:, None], entering.moves])
    return Nearest(
        weights=weights,
        value=level,
        pairs=worst,
        hulls=linalg.inner(entering.hulls, factor),
        moves=np.ascontiguousarray(solve_triangular(factor, moves.T, lower=True, trans="T").T),
    )


def pair_ratios(instance: Instance, white: Array) -> Array:
    """(n, n) ||y_xx'||^2 / g_xx'^2 in the norm of A^-1; infinite where the gap is zero."""
    lengths, share = linalg.squared_norms(white), instance.share
    squares = lengths[:, None] - 2.0 * share * linalg.inner(white, white) + share**2 * lengths
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(instance.gaps == 0.0, np.inf, np.maximum(squares, 0.0) / instance.gaps**2)


@dataclass(frozen=True, kw_only=True, eq=False)
class PairValues:
    """What one design makes of the pairs, one x' at a time."""

    weights: Array
    """(n,) lambda"""
    value: float
    """The larger of the worst ratio of the points in the set and the worst, over points outside, of the chosen one."""
    pairs: Indices
    """The worst pair n x + x' of every point in the set."""
    choices: Indices
    """(q,) x' for each of the points outside."""


def evaluate_pairs(instance: Instance, weights: Array, choices: Indices | None = None) -> PairValues:
    """The printed criterion; with choices for the points outside, or with the best ones."""
    weights, factor = _factor(instance, weights)
    ratios = pair_ratios(instance, linalg.whiten(factor, instance.points))
    own, others = ratios[instance.inside], ratios[instance.outside]
    choices = others.argmin(axis=1) if choices is None else choices
    chosen = others[np.arange(len(others)), choices]
    return PairValues(
        weights=weights,
        value=max(float(own.max()), float(chosen.max(initial=0.0))),
        pairs=instance.inside * len(weights) + own.argmax(axis=1),
        choices=choices,
    )


def payoffs(instance: Instance, moves: Array) -> Array:
    """(n, m) (a_i' d)^2 + gamma ||d||^2: their average over lambda is the squared distance of each change."""
    return linalg.inner(instance.arms, moves) ** 2 + instance.ridge * linalg.squared_norms(moves)


def _factor(instance: Instance, weights: Array) -> tuple[Array, Array]:
    """L, at the design or, where it reaches too little, a little beside it."""
    for design in (weights, (1.0 - BLEND) * weights + BLEND / len(weights)):
        information = linalg.moment(instance.arms, design)
        linalg.add_to_diagonal(information, instance.ridge)
        try:
            return design, linalg.cholesky(information)
        except LinAlgError:
            continue
    raise LinAlgError("the arms do not span their own span")  # their coordinates were chosen so that they do


# ----------------------------------------------------------------------------------- points outside


@dataclass(frozen=True, kw_only=True, eq=False)
class _Entering:
    """Points outside, in coordinates where A is the identity."""

    level: float
    """The largest 1 / ||z||^2."""
    hulls: Array
    """(q, r)"""
    moves: Array
    """(m, r) z"""


def _entering(instance: Instance, white: Array, ratios: Array, level: float) -> _Entering:
    """The hardest first; one half-space alone says enough about a point that is far from deciding anything."""
    alone = np.where(instance.obstacles(), ratios, np.inf)[instance.outside]
    nearest_alone = alone.argmin(axis=1)
    hulls, moves = [np.empty((0, white.shape[1]))], [np.empty((0, white.shape[1]))]
    for k in np.argsort(-alone.min(axis=1)):
        x, other = int(instance.outside[k]), int(nearest_alone[k])
        rows, heights = instance.constraints(x, white)
        if alone[k, other] <= CLOSE * level:
            hulls.append(rows[other][None] / heights[other])
            continue
        z, kept = shortest(rows, heights, other)
        if z is None:
            continue
        level = max(level, 1.0 / float(z @ z))
        hulls.append(z[None] / float(z @ z))  # the v of the hull with the least norm is z / ||z||^2
        if kept:
            moves.append(z[None])
    return _Entering(level=level, hulls=np.vstack(hulls), moves=np.vstack(moves))


def shortest(
    rows: Array,  # (n, r)
    heights: Array,  # (n,)
    first: int,  # a row with heights > 0
) -> tuple[Array | None, bool]:
    """The shortest z with rows z >= heights, None if there is none, and whether every row is kept.

    A z that stops short of a constraint is too short, so 1 / ||z||^2 errs on the large side.
    """
    scale = float(heights[first] / np.linalg.norm(rows[first]))  # nothing shorter reaches the first row
    rows = rows * scale
    sizes = np.sqrt(linalg.squared_norms(rows) + heights**2)
    sizes[sizes == 0.0] = 1.0
    unit = np.zeros(rows.shape[1] + 1)
    unit[-1] = 1.0
    active = np.array([first])
    for _ in range(len(rows) + PATIENCE):
        system = np.vstack([rows[active].T, heights[active]]) / sizes[active]
        shares, distance = nnls(system, unit, maxiter=STEPS)
        if distance < INFEASIBLE:
            return None, False
        residual = system @ shares - unit
        z = -residual[:-1] / residual[-1]
        excess = (linalg.times(rows, z) - heights) / (sizes * np.sqrt(1.0 + float(z @ z)))
        worst = int(excess.argmin())
        active = active[shares > 0.0]
        if excess[worst] >= -SLACK:
            return z * scale, True
        if worst in active:
            break  # rounding: it is active and violated
        active = np.append(active, worst)
    return z * scale, False


def movable(points: Array, share: float, outside: Mask) -> Mask:
    """The points outside that some theta puts inside: y_xx' theta > 0 for all x'.

    For most kernels theta = phi_x is one. Otherwise the question is whether rows of length 1 leave a direction open.
    """
    gram = linalg.inner(points, points)
    answer: Mask = np.logical_and(outside, np.diag(gram) > (1.0 + SLACK) * share * gram.max(axis=1))
    for x in np.flatnonzero(outside & ~answer):
        rows = points[x] - share * points
        sizes = np.linalg.norm(rows, axis=1)
        if (sizes <= SLACK * np.linalg.norm(points, axis=1).max()).any():
            continue  # f(x) = (1 - eps) f(x') whatever f is
        _, answer[x] = shortest(rows / sizes[:, None], np.ones(len(rows)), 0)
    return answer
