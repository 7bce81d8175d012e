"""Other roads to the numbers of the bounds: a cone solver, grids, closed forms. Nothing here calls the library."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from tests.worlds import paper_arms

Array = NDArray[np.float64]


def normal(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def benchmark() -> tuple[Array, Array]:
    """Points (100, 25) and values of the paper's linear benchmark: they span two dimensions, theta = e_1."""
    points = paper_arms()
    return points, points[:, 0].copy()


def design_optimum(arms: Array, rows: Array, ridge: float = 0.0) -> float:
    """min over lambda of max_v v' A^-1 v, A = sum_i lambda_i a_i a_i' + ridge I."""
    weights, level = cp.Variable(len(arms), nonneg=True), cp.Variable()
    information = arms.T @ cp.diag(weights) @ arms + ridge * np.eye(arms.shape[1])
    uniform = arms.T @ arms / len(arms) + ridge * np.eye(arms.shape[1])
    unit = float(np.einsum("ij,ji->i", rows, np.linalg.solve(uniform, rows.T)).max())  # solvers like numbers near 1
    constraints = [cp.matrix_frac(row / np.sqrt(unit), information) <= level for row in rows]
    return unit * _solved(cp.Problem(cp.Minimize(level), [*constraints, cp.sum(weights) == 1]))


def implicit_optimum(
    points: Array,
    values: Array,
    epsilon: float,
    *,
    loudness: Array | None = None,
    ridge: float = 0.0,
    unit: float = 1.0,
) -> float:
    """min over lambda of max over alternatives, where points outside mix their directions: convex in all of it at once.

    A point outside enters if y_xx' d >= -g_xx' for all x'. By duality 1 / min ||d||^2_A is the least ||Y'u||^2 in the
    norm of A^-1 over u >= 0 with -g'u = 1, and a square in the norm of A^-1 is convex in vector and matrix together.
    ``unit`` is about what comes out: solvers like numbers near 1.
    """
    arms = points if loudness is None else points * loudness[:, None]
    weights, level = cp.Variable(len(arms), nonneg=True), cp.Variable()
    information = arms.T @ cp.diag(weights) @ arms + ridge * np.eye(arms.shape[1])
    constraints = [cp.sum(weights) == 1]
    for x, value in enumerate(values):
        gaps = np.sqrt(unit) * (value - (1 - epsilon) * values)
        directions = points[x] - (1 - epsilon) * points
        if value > (1 - epsilon) * values.max():
            constraints += [cp.matrix_frac(y / g, information) <= level for y, g in zip(directions, gaps, strict=True)]
        else:
            mixed = cp.Variable(len(points), nonneg=True)
            constraints += [-gaps @ mixed == 1, cp.matrix_frac(directions.T @ mixed, information) <= level]
    return unit * _solved(cp.Problem(cp.Minimize(level), constraints))


def nearest_on_a_grid(
    points: Array, values: Array, epsilon: float, weights: Array, *, reach: float, steps: int
) -> float:
    """max of 1 / ||d||^2_A over the d of a grid in R^2 after which the set is another one: no duality, no cones."""
    side = np.linspace(-reach, reach, steps)
    moves = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    changed = values + moves @ points.T
    member = changed > (1 - epsilon) * changed.max(axis=1, keepdims=True)
    other = (member != (values > (1 - epsilon) * values.max())).any(axis=1)
    distances = ((moves @ points.T) ** 2) @ weights
    return float(1 / distances[other].min())


def information_gain(arms: Array, factor: float) -> float:
    """max over lambda of log det(I + factor A)."""
    weights = cp.Variable(len(arms), nonneg=True)
    matrix = np.eye(arms.shape[1]) + factor * (arms.T @ cp.diag(weights) @ arms)
    problem = cp.Problem(cp.Maximize(cp.log_det(matrix)), [cp.sum(weights) == 1])
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


def _solved(problem: cp.Problem) -> float:
    # The last digit of Clarabel's own tolerances, 1e-8, is not reached on every processor.
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-7, tol_gap_rel=1e-7, tol_feas=1e-7)
    return float(problem.value)
