"""Designs for the average of the targets, their mixture held fixed.

    M = sum_v w_v v v' = N N'     T = tr(A^-1 M)     Y = A^-1 N     g_i = |Y' phi_i|^2     R = |Y|^2

The bound of `superlevel.design.certificate` is one for the average itself: T^2 / (max_i g_i + ridge R) <= min T. The
mixture enters through the root N alone, which has r columns at most, however many targets there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, solve_triangular

from superlevel import linalg
from superlevel.arrays import Array, Indices, normalised
from superlevel.design.arms import Root
from superlevel.design.certificate import Proof, truncation
from superlevel.design.information import DROWNED, factor_of
from superlevel.design.mixtures import Mixture
from superlevel.design.problem import DesignProblem
from superlevel.design.targets import Dual, from_dual
from superlevel.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class Averaged(Proof):
    """One evaluation of an average, with all arms that it is a matter of."""

    factor: Array
    """(r, r) L of A = L L'."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AverageProblem:
    """Over distributions lambda on the arms, minimise T = sum_v w_v v' A^-1 v for one mixture w."""

    problem: DesignProblem
    positions: Indices
    """(p,) the targets with a weight."""
    mixture: Array
    """(p,) > 0, a distribution."""
    root: Array
    """(k, r) N', k at most r."""
    missed: float
    """The mixture's average of what truncated features miss of the targets' squared lengths."""

    def among(self, arms: Indices) -> AverageProblem:
        """On these arms only, as if they were exact."""
        return replace(self, problem=self.problem.among(arms, self.root))

    def written(self) -> AverageProblem:
        """With the arms as an array."""
        return replace(self, problem=self.problem.written())

    def evaluate(
        self,
        weights: Array,  # (n,)
    ) -> Averaged:
        """Average and bound. Raises LinAlgError where the design does not reach everything."""
        arms, ridge = self.problem.arms, self.problem.ridge
        factor = factor_of(arms, weights, ridge=ridge)
        white = linalg.whiten(factor, self.root)  # N' L^-T
        pulled = solve_triangular(factor, white.T, lower=True, trans="T", check_finite=False).T  # Y'
        average = float(linalg.squared_norms(white).sum())
        return Averaged(
            factor=factor,
            look=arms.look(Root(matrix=pulled, lower=False)),
            average=average,
            shrinkage=ridge * float(linalg.squared_norms(pulled).sum()),
            truncation=truncation(self.problem, weights, missed=self.missed, kept=average),
        )


def average_problem(problem: DesignProblem, mixture: Dual) -> AverageProblem:
    """Check the mixture and take a root of it. Weights of targets that are masked out are ignored."""
    positions, given = from_dual(problem.targets, mixture, field="mixture")
    if not len(positions):
        raise InputError("mixture", "zero on every target that counts", "give one of them a weight > 0")
    weights = normalised(given / given.max())  # the sum itself may overflow
    drowned = problem.ridge < DROWNED * problem.arms.longest
    rank = problem.arms.shape[1]
    mixed = Mixture(view=problem.directions(), positions=positions, weights=weights, rank=rank)
    root = _root(mixed, careful=bool(drowned))
    if not root.any():
        raise InputError("mixture", "on targets that are zero", "their values are known without measuring: use others")
    residuals = problem.residuals
    missed = 0.0 if residuals is None else float(problem.targets.missed(residuals, positions) @ weights)
    return AverageProblem(problem=problem, positions=positions, mixture=weights, root=root, missed=missed)


def _root(mixed: Mixture, *, careful: bool) -> Array:
    """Rows whose moments are the mixture's, at most as many as there are coordinates.

    M itself holds its root to half of the digits, which is ``careful`` enough unless a ridge is small or missing.
    """
    if mixed.few:
        return mixed.weighted()
    if not careful:
        try:
            return np.ascontiguousarray(mixed.lower().T)
        except LinAlgError:
            pass  # M is singular
    return mixed.triangle()
