"""The worst case: the smallest max_v s_v, on an active set of arms and targets.

A multiplicative step is lambda_i <- lambda_i g_i and w_v <- w_v s_v.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from superlevel.design.active_set import ActiveSet, begin, blurred, enter, part, resume
from superlevel.design.certificate import Evaluation, evaluate
from superlevel.design.inner import Ended, Inner, headroom, multiplied
from superlevel.design.newton import Iterate, LocalTargets
from superlevel.design.problem import DesignProblem
from superlevel.design.result import Design

CAREFUL = 0.3  # part of the gap at which the products are aimed at least, after a start that led nowhere


@dataclass(frozen=True, kw_only=True, eq=False)
class Minimax:
    """The smallest max_v s_v."""

    problem: DesignProblem

    def begin(self, start: Design | None) -> ActiveSet:
        return begin(self.problem) if start is None else resume(self.problem, start)

    def covers(self, active: ActiveSet) -> bool:
        return active.covers(self.problem)

    def inner(self, active: ActiveSet, *, aim: float, budget: int) -> Inner[Evaluation]:
        problem = self.problem if self.covers(active) else part(self.problem, active)
        return _Inner(problem=problem, aim=aim, budget=budget)

    def look(self, active: ActiveSet) -> Evaluation:
        return evaluate(self.problem, active.everywhere(self.problem), active.targets, active.mixture)

    def enter(self, active: ActiveSet, seen: Evaluation) -> ActiveSet | None:
        return enter(active, seen)


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
        return replace(super().centred(active, seen), mixture=active.mixture, level=level, slack=level - variances)

    def local(self, seen: Evaluation, unit: float, dtype: type[np.floating]) -> LocalTargets:
        # Only products of an arm and a target, and of a root and an arm, occur: the unit may be shared out.
        share = unit**-0.25
        arms = (seen.arms * share).astype(dtype)
        return LocalTargets(
            arms=arms,
            targets=arms if seen.mixed is seen.arms else (seen.mixed * share).astype(dtype),
            roots=(seen.roots * share).astype(dtype),
            variances=seen.mixed_variances / unit,
            gains=seen.gains / unit,
        )

    def rescue(self, best: Ended[Evaluation]) -> Ended[Evaluation]:
        """Once more from near the best point, with products that stay larger."""
        weights, mixture = blurred(best.active.weights), blurred(best.active.mixture)
        return self.descend(replace(best.active, weights=weights, mixture=mixture), best, ahead=CAREFUL)
