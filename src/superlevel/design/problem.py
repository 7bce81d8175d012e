"""A design problem, checked: arms, targets and a ridge, in coordinates fit to solve in."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr

from superlevel.arrays import Array, Indices, as_matrix, as_number
from superlevel.design.arms import Arms, InBlocks, Written
from superlevel.design.basis import Given, basis
from superlevel.design.information import Whitened
from superlevel.design.targets import AnyTargets, Pairs, Targets, View, as_targets, listed
from superlevel.errors import InputError
from superlevel.features import Features
from superlevel.streamed import Streamed


@dataclass(frozen=True, kw_only=True, eq=False)
class DesignProblem:
    """Over distributions lambda on the arms, minimise max_v v' A^-1 v, A = sum_i lambda_i phi_i phi_i' + ridge I."""

    arms: Arms
    """(n, r) rows phi_i."""
    targets: Targets
    """The directions v."""
    ridge: float
    residuals: Array | None
    """(n,) what truncated features miss of each arm's squared length; None where the arms are exact."""
    missed: float = 0.0
    """The most that they miss of a target's squared length."""
    pivots: Indices
    """Arms that lie well apart; without a ridge, enough of them to span everything. May be empty with one."""

    def directions(self) -> View:
        """The targets in the coordinates of the arms, as they are for A = I."""
        return self.targets.view(Whitened(factor=np.eye(self.arms.shape[1], order="F"), arms=self.arms))

    def written(self) -> DesignProblem:
        """With the arms as an array."""
        return replace(self, arms=Written(self.arms.written()))

    def among(self, arms: Indices, rows: Array) -> DesignProblem:
        """On these arms only, as if they were exact, with the targets written out as rows (p, r)."""
        none = np.empty(0, dtype=np.int64)
        some = Written(self.arms.at(arms))
        return replace(self, arms=some, targets=listed(rows), residuals=None, missed=0.0, pivots=none)


def design_problem(
    arms: ArrayLike | Features | Streamed, targets: AnyTargets | ArrayLike | None, *, ridge: float
) -> DesignProblem:
    """Check everything once."""
    ridge = as_number("ridge", ridge, at_least=0)
    features = arms if isinstance(arms, Features | Streamed) else None
    if ridge == 0 and features is not None and features.residual > 0:
        remedy = (
            "truncated features say nothing without one: give a ridge > 0, or the features' array for an answer in it"
        )
        raise InputError("ridge", ridge, remedy)
    if isinstance(arms, Streamed):
        coordinates = _streamed(arms, targets, ridge)
    else:
        coordinates = _written(arms.array if isinstance(arms, Features) else as_matrix("arms", arms), ridge)
    pivots = features.pivots if features is not None else np.empty(0, dtype=np.int64)
    if ridge == 0:
        _, order = qr(coordinates.arms.T, mode="r", pivoting=True)
        pivots = order[: coordinates.arms.shape[1]].astype(np.int64)
    residuals = features.residuals if features is not None and features.residual > 0 else None
    bound = as_targets(targets, coordinates)
    missed = 0.0 if residuals is None else bound.residual(residuals)
    return DesignProblem(
        arms=coordinates.lines, targets=bound, ridge=ridge, residuals=residuals, missed=missed, pivots=pivots
    )


def _written(given: Array, ridge: float) -> Given:
    with np.errstate(over="ignore"):
        if not np.isfinite(np.square(given).sum()):
            raise InputError("arms", f"as large as {np.abs(given).max():g}", "rescale them: their squares overflow")
    return basis(given, ridge)


def _streamed(features: Streamed, targets: AnyTargets | ArrayLike | None, ridge: float) -> Given:
    """Streamed features stay in their own coordinates, and pairs of so many points are too many."""
    if ridge == 0:
        raise InputError("ridge", ridge, "streamed features need one: give a ridge > 0, or an array, which needs none")
    if isinstance(targets, Pairs):
        n = len(features.points)
        got = f"Pairs of streamed features, {n:,} points of which make {n**2:,} pairs"
        raise InputError("targets", got, "give sl.features.embed(kernel, points) of fewer points, or another target")
    return Given(lines=InBlocks(source=features, factor=features.factor))
