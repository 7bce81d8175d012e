"""The average case: the smallest sum_v w_v s_v for a mixture that is held fixed, on an active set of arms.

The problem is convex and smooth in lambda. A multiplicative step, lambda_i <- lambda_i sqrt(g_i), never increases the
average (Yu 2010, Ann. Statist. 38:1593).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from superlevel import linalg
from superlevel.arrays import Array, normalised
from superlevel.design.active_set import SMALL, ActiveSet, begin, blurred, entering
from superlevel.design.average import Averaged, AverageProblem
from superlevel.design.inner import Ended, Inner, multiplied
from superlevel.design.newton import Iterate, Local, cautious, halfway
from superlevel.design.problem import DesignProblem
from superlevel.design.result import Design

RESUMED = 0.03  # uniform part of a design that is taken up again: a weight of zero could never grow
ENTERED = 0.1  # uniform part when arms enter, and at most the gap
IDLE = 0.1  # arms with less than this part of the mean weight are left out once
CAREFUL = 0.3  # the barrier of cautious steps falls to this part of itself
CENTRAL = 0.9  # when no product is further from it than this part,
LOWEST = 1e-12  # down to this,
HALVINGS = 30  # and a step is halved at most so often


@dataclass(frozen=True, kw_only=True, eq=False)
class AverageCase:
    """The smallest sum_v w_v s_v."""

    average: AverageProblem

    @property
    def problem(self) -> DesignProblem:
        return self.average.problem

    def begin(self, start: Design | None) -> ActiveSet:
        """On arms that lie apart, or on those of the start. What a start knows of targets is not needed."""
        first = replace(begin(self.problem), targets=self.average.positions, mixture=self.average.mixture)
        if start is None:
            return first
        resumed = _thinned(replace(first, arms=start.support, weights=start.weights[start.support]))
        arms = resumed.arms
        if self.problem.ridge == 0:  # they must span everything
            arms = np.union1d(first.arms, arms)
        return replace(resumed.on_arms(arms, RESUMED), thinned=False)

    def covers(self, active: ActiveSet) -> bool:
        return len(active.arms) == self.problem.arms.shape[0]

    def inner(self, active: ActiveSet, *, aim: float, budget: int) -> Inner[Averaged]:
        average = self.average.written() if self.covers(active) else self.average.among(active.arms)
        return _Inner(average=average, aim=aim, budget=budget)

    def look(self, active: ActiveSet) -> Averaged:
        return self.average.evaluate(active.everywhere(self.problem))

    def enter(self, active: ActiveSet, seen: Averaged) -> ActiveSet | None:
        arms = entering(active.arms, seen, most=max(len(active.arms), SMALL))
        if len(arms) == len(active.arms):
            return None
        kept = active if active.thinned or self.problem.ridge == 0 else _thinned(active)
        arms = np.union1d(np.setdiff1d(arms, active.arms), kept.arms)
        return kept.on_arms(arms, min(ENTERED, seen.gap))


def _thinned(active: ActiveSet) -> ActiveSet:
    """Without the arms that have next to no weight."""
    kept = active.weights >= IDLE / len(active.arms)
    return replace(active, arms=active.arms[kept], weights=normalised(active.weights[kept]), thinned=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Inner(Inner[Averaged]):
    average: AverageProblem

    def evaluate(self, active: ActiveSet) -> Averaged:
        return self.average.evaluate(active.weights)

    def multiplied(self, active: ActiveSet, seen: Averaged) -> ActiveSet:
        return replace(active, weights=multiplied(active.weights, np.sqrt(seen.gains)))

    def local(self, seen: Averaged, unit: float, dtype: type[np.floating]) -> Local:
        return Local(
            arms=linalg.whiten(seen.factor, self.average.problem.arms.written()).astype(dtype),
            roots=(seen.roots / np.sqrt(unit)).astype(dtype),
            gains=seen.gains / unit,
        )

    def rescue(self, best: Ended[Averaged]) -> Ended[Averaged]:
        """From the best point so far, with a search along every step: slower, and sure where the optimum is singular.

        The barrier mu falls when lambda o z is within a factor of it for every arm, z = nu - g, sum lambda o z = m mu.
        """
        active = replace(best.active, weights=blurred(best.active.weights))
        count, mu = len(active.arms), CAREFUL * best.seen.gap / len(active.arms)
        try:
            seen = self.evaluate(active)
            here, unit = self.centred(active, seen), seen.average
            while not self.done(best, seen) and mu * count > LOWEST:
                gains = seen.gains / unit
                products = here.weights * (here.weights @ gains + count * mu - gains)
                if np.abs(products - mu).max() < CENTRAL * mu:
                    mu *= CAREFUL
                here, seen = self._searched(here, seen, unit=unit, mu=mu)
                best = best.after(replace(active, weights=here.weights), seen, steps=best.steps + 1)
        except LinAlgError:
            return replace(best, stuck=True)
        return replace(best, stuck=not self.done(best, seen))

    def _searched(self, here: Iterate, seen: Averaged, *, unit: float, mu: float) -> tuple[Iterate, Averaged]:
        """A step as long as lets T - mu sum log lambda fall."""

        def barrier(weights: Array, seen: Averaged) -> float:
            return seen.average / unit - mu * float(np.log(weights).sum())

        level = barrier(here.weights, seen)
        there = cautious(here, self.local(seen, unit, np.float64), aim=mu)
        for _ in range(HALVINGS):
            seen = self.average.evaluate(there.weights)
            if barrier(there.weights, seen) < level:
                return there, seen
            there = halfway(here, there)
        raise LinAlgError("rounding hides the descent")
