"""The worst case: the smallest max_v s_v, on an active set of arms and targets.

A multiplicative step is lambda_i <- lambda_i g_i and w_v <- w_v s_v.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from superlevel.arrays import normalised
from superlevel.design.active_set import ActiveSet, apart, begin, blurred, entering, largest
from superlevel.design.certificate import Evaluation, evaluate
from superlevel.design.inner import Ended, Inner, headroom, multiplied
from superlevel.design.newton import Iterate, LocalTargets
from superlevel.design.problem import DesignProblem
from superlevel.design.result import Design
from superlevel.design.targets import from_dual

RESUMED = 0.1  # uniform part of a design that is taken up again: a weight of zero could never grow
CAREFUL = 0.3  # part of the gap at which the products are aimed at least, after a start that led nowhere


@dataclass(frozen=True, kw_only=True, eq=False)
class Minimax:
    """The smallest max_v s_v."""

    problem: DesignProblem

    def begin(self, start: Design | None) -> ActiveSet:
        """On arms and targets that lie apart, and on those of the start that still count."""
        first = begin(self.problem)
        if start is None:
            return first
        ended = replace(first, arms=start.support, weights=start.weights[start.support])
        positions, mixture = from_dual(self.problem.targets, start.dual)
        if len(positions):
            ended = replace(ended, targets=positions, mixture=normalised(mixture))
        arms, targets = np.union1d(first.arms, ended.arms), np.union1d(first.targets, ended.targets)
        return ended.on_arms(arms, RESUMED).on_targets(targets, RESUMED)

    def covers(self, active: ActiveSet) -> bool:
        counted = np.count_nonzero(self.problem.targets.mask)
        return len(active.arms) == self.problem.arms.shape[0] and len(active.targets) == counted

    def inner(self, active: ActiveSet, *, aim: float, budget: int) -> Inner[Evaluation]:
        problem = self.problem
        if self.covers(active):
            return _Inner(problem=problem.written(), aim=aim, budget=budget)
        few = problem.among(active.arms, problem.directions().rows(active.targets))
        return _Inner(problem=few, aim=aim, budget=budget)

    def look(self, active: ActiveSet) -> Evaluation:
        return evaluate(self.problem, active.everywhere(self.problem), active.targets, active.mixture)

    def enter(self, active: ActiveSet, seen: Evaluation) -> ActiveSet | None:
        """With the arms that gain more than any in the active set, and the targets that are worse than any in it.

        At most as many enter as were there.
        """
        arms = entering(active.arms, seen, most=len(active.arms))
        worst = float(seen.mixed_variances.max())
        others = np.sort(seen.variances.positions[largest(seen.variances.values, worst, len(active.targets))])
        targets = np.union1d(active.targets, others[apart(seen.view.rows(others))])
        if len(arms) == len(active.arms) and len(targets) == len(active.targets):
            return None
        uniform = min(RESUMED, seen.gap)
        return active.on_arms(arms, uniform).on_targets(targets, uniform)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Inner(Inner[Evaluation]):
    problem: DesignProblem
    """One whose targets can be listed."""

    def evaluate(self, active: ActiveSet) -> Evaluation:
        return evaluate(self.problem, active.weights, np.flatnonzero(self.problem.targets.mask), active.mixture)

    def multiplied(self, active: ActiveSet, seen: Evaluation) -> ActiveSet:
        weights, mixture = multiplied(active.weights, seen.gains), multiplied(active.mixture, seen.mixed_variances)
        return replace(active, weights=weights, mixture=mixture)

    def centred(self, active: ActiveSet, seen: Evaluation) -> Iterate:
        """Slacks as well that are feasible and not small."""
        variances = seen.mixed_variances / seen.average
        level = float(variances.max()) * (1 + headroom(seen))
        arms = super().centred(active, seen)
        primal, dual = np.concatenate([arms.primal, level - variances]), np.concatenate([arms.dual, active.mixture])
        return replace(arms, primal=primal, dual=dual, level=level)

    def local(self, seen: Evaluation, unit: float, dtype: type[np.floating]) -> LocalTargets:
        # Only products of an arm and a target, and of a root and an arm, occur: the unit may be shared out.
        share = unit**-0.25
        whole, mixed = seen.arms, seen.mixed
        arms = (whole * share).astype(dtype)
        return LocalTargets(
            arms=arms,
            targets=arms if mixed is whole else (mixed * share).astype(dtype),
            roots=(seen.roots * share).astype(dtype),
            variances=seen.mixed_variances / unit,
            gains=seen.gains / unit,
        )

    def rescue(self, best: Ended[Evaluation]) -> Ended[Evaluation]:
        """Once more from near the best point, with products that stay larger."""
        weights, mixture = blurred(best.active.weights), blurred(best.active.mixture)
        return self.descend(replace(best.active, weights=weights, mixture=mixture), best, ahead=CAREFUL)
