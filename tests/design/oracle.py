"""Other roads to the numbers of the design part: a cone solver, plain numpy, and the kernel lemma.

Nothing here calls the library.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import cvxpy as cp
import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

Array = NDArray[np.float64]

GRID = np.array([[i / 30, j / 30] for i in range(30) for j in range(30)])  # the paper's grid


@dataclass(frozen=True, kw_only=True, eq=False)
class Instance:
    """A design problem with its targets written out and scaled."""

    arms: Array
    """(n, r)"""
    rows: Array
    """(p, r)"""
    ridge: float

    def inverse(self, weights: Array) -> Array:
        """A(lambda)^-1; without a ridge, on the span of the arms."""
        information = (self.arms * weights[:, None]).T @ self.arms + self.ridge * np.eye(self.arms.shape[1])
        return np.asarray(
            np.linalg.inv(information) if self.ridge > 0 else np.linalg.pinv(information, hermitian=True),
            dtype=np.float64,
        )

    def variances(self, weights: Array) -> Array:
        """(p,) v' A^-1 v, infinite where A does not reach v.

        With A = B'B it is the squared length of the shortest c with B'c = v: half the digits of A's condition are lost
        and not all of them.
        """
        root = np.vstack([self.arms * np.sqrt(weights)[:, None], np.sqrt(self.ridge) * np.eye(self.arms.shape[1])])
        shortest = np.linalg.lstsq(root.T, self.rows.T, rcond=None)[0]
        missed = np.linalg.norm(root.T @ shortest - self.rows.T, axis=0) > 1e-8 * np.linalg.norm(self.rows, axis=1)
        return np.where(missed, np.inf, (shortest**2).sum(axis=0))

    def value(self, weights: Array) -> float:
        return float(self.variances(weights).max())

    def bound(self, weights: Array, mixture: Array) -> float:
        """T^2 / (max_i g_i + ridge R), each letter from its definition."""
        inverse = self.inverse(weights)
        moment = (self.rows * mixture[:, None]).T @ self.rows
        gains = np.einsum("ij,jk,ik->i", self.arms, inverse @ moment @ inverse, self.arms)
        shrinkage = self.ridge * np.trace(inverse @ inverse @ moment)
        return float(np.trace(inverse @ moment) ** 2 / (gains.max() + shrinkage))

    def optimum(self) -> float:
        """Minimise t subject to v' A(lambda)^-1 v <= t, as a semidefinite programme."""
        weights = cp.Variable(len(self.arms), nonneg=True)
        level = cp.Variable()
        information = self.arms.T @ cp.diag(weights) @ self.arms + self.ridge * np.eye(self.arms.shape[1])
        unit = self.value(np.full(len(self.arms), 1 / len(self.arms)))  # the solver likes numbers near 1
        constraints = [cp.matrix_frac(row / np.sqrt(unit), information) <= level for row in self.rows]
        problem = cp.Problem(cp.Minimize(level), [*constraints, cp.sum(weights) == 1])
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        return float(level.value) * unit

    def average(self, weights: Array, mixture: Array) -> float:
        """sum_v w_v v' A^-1 v"""
        counted = mixture > 0  # what has no weight may be out of reach
        return float(mixture[counted] @ self.variances(weights)[counted])

    def smallest_average(self, mixture: Array) -> float:
        """Minimise tr(N' A(lambda)^-1 N), N N' = sum_v w_v v v', as a semidefinite programme."""
        weights = cp.Variable(len(self.arms), nonneg=True)
        information = self.arms.T @ cp.diag(weights) @ self.arms + self.ridge * np.eye(self.arms.shape[1])
        unit = self.average(np.full(len(self.arms), 1 / len(self.arms)), mixture)
        root = np.asarray(np.linalg.qr(self.rows * np.sqrt(mixture / unit)[:, None], mode="r")).T
        problem = cp.Problem(cp.Minimize(cp.matrix_frac(root, information)), [cp.sum(weights) == 1])
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        return float(problem.value) * unit

    def multiplied(self, weights: Array, mixture: Array, times: int) -> Array:
        """lambda_i <- lambda_i sqrt(g_i), normalised: never increases the average (Yu 2010)."""
        moment = (self.rows * mixture[:, None]).T @ self.rows
        for _ in range(times):
            inverse = self.inverse(weights)
            gains = np.einsum("ij,jk,ik->i", self.arms, inverse @ moment @ inverse, self.arms)
            weights = weights * np.sqrt(gains)
            weights = weights / weights.sum()
        return weights


def exact_value(instance: Instance, weights: Array) -> float:
    """max_v v' A^-1 v with no rounding at all, by elimination with fractions."""
    arms, rows = ([[Fraction(float(x)) for x in row] for row in matrix] for matrix in (instance.arms, instance.rows))
    shares, size = [Fraction(float(w)) for w in weights], range(instance.arms.shape[1])
    matrix = [
        [sum((w * arm[i] * arm[j] for w, arm in zip(shares, arms, strict=True)), start=Fraction(0)) for j in size]
        + [row[i] for row in rows]
        for i in size
    ]
    for i in size:
        matrix[i][i] += Fraction(instance.ridge)
    for i in size:  # A is positive definite: no pivoting
        for k in size[i + 1 :]:
            part = matrix[k][i] / matrix[i][i]
            matrix[k] = [below - part * above for below, above in zip(matrix[k], matrix[i], strict=True)]
    # Now A = L D L' and the last columns are L^-1 v: v' A^-1 v is their sum of squares over D.
    values = [sum(matrix[i][len(size) + j] ** 2 / matrix[i][i] for i in size) for j in range(len(rows))]
    return float(max(values))


def kernel_inverse(kernel: Array, weights: Array, ridge: float) -> Array:
    """(n, n) phi(x)' A^-1 phi(y) for all points, from the whole kernel matrix: the corrected lemma."""
    roots = np.sqrt(weights)
    weighted = roots[:, None] * kernel  # column x is k_lambda(x)
    system = weighted * roots + ridge * np.eye(len(kernel))
    return np.asarray((kernel - weighted.T @ np.linalg.solve(system, weighted)) / ridge)


def pairs(arms: Array, epsilon: float) -> Array:
    """(n * n, r) phi(x) - (1 - epsilon) phi(x'), row n x + x'."""
    return (arms[:, None, :] - (1 - epsilon) * arms[None, :, :]).reshape(-1, arms.shape[1])


def uniform(count: int) -> Array:
    return np.full(count, 1 / count)


def rounding(instance: Instance) -> float:
    """Relative accuracy that an answer can have. Forming A costs eps |A| / ridge of what only the ridge reaches."""
    if instance.ridge == 0:
        return 1e-9
    size = float(np.square(instance.arms).sum(axis=1).max())
    return 1e-9 + 100 * float(np.finfo(float).eps) * size / instance.ridge


@st.composite
def small_instances(draw: st.DrawFn) -> Instance:
    """Quarters, so that equal points, zero arms, parallel arms and singular designs are common."""
    n, r, p = draw(st.integers(1, 7)), draw(st.integers(1, 3)), draw(st.integers(1, 5))
    quarters = st.integers(-8, 8).map(lambda i: i / 4)
    arms = draw(hnp.arrays(np.float64, (n, r), elements=quarters))
    assume(arms.any())
    ridge = draw(st.sampled_from([0, 1e-8, 1e-3, 1.0, 1e3]))
    if ridge == 0:  # only what the arms reach may be asked for
        rows = draw(hnp.arrays(np.float64, (p, n), elements=st.integers(-2, 2).map(float))) @ arms
    else:
        rows = draw(hnp.arrays(np.float64, (p, r), elements=quarters))
    rows = rows[rows.any(axis=1)]
    assume(len(rows) > 0)
    scales = draw(hnp.arrays(np.float64, len(rows), elements=st.sampled_from([0.1, 0.5, 1.0, 3.0])))
    return Instance(arms=arms, rows=rows / scales[:, None], ridge=ridge)


@st.composite
def distributions(draw: st.DrawFn, count: int) -> Array:
    """Most of them with zeros."""
    parts = draw(hnp.arrays(np.float64, count, elements=st.integers(0, 4).map(float)))
    assume(parts.any())
    return np.asarray(parts / parts.sum())
