"""The average of a mixture that is held fixed: interior point on an active set of arms.

The problem is convex and smooth in lambda. Far from the optimum a multiplicative step, lambda_i <- lambda_i sqrt(g_i),
which never increases T (Yu 2010, Ann. Statist. 38:1593), does as much as a Newton step at a fraction of its cost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from superlevel import linalg
from superlevel.arrays import Array, normalised
from superlevel.design.active_set import SMALL, ActiveSet, Ended, begin, blend, blurred, entering
from superlevel.design.average import Averaged, AverageProblem, Objective
from superlevel.design.descent import Iterate, Local, cautious, halfway, step
from superlevel.design.problem import DesignProblem
from superlevel.design.result import Design

RESUMED = 0.03  # uniform part of a design that is taken up again: a weight of zero could never grow
ENTERED = 0.1  # uniform part when arms enter, and at most the gap
IDLE = 0.1  # arms with less than this part of the mean weight are left out once
HELPS = 0.65  # multiplicative steps go on while each leaves at most this part of the gap
MOST = 4  # and at most this many
LEAST = 0.03  # part of the largest factor of a multiplicative step that every factor gets
HEADROOM = 0.03  # how far above the best arm the method is centred,
CLOSENESS = 0.3  # and at most this part of the gap
AHEAD = 0.02  # the products are aimed at this part of the gap at least
OVERSHOT = 1.5  # a step that makes the average this much larger is halved
SINGLE = 1e-3  # directions are computed in single precision while the gap is above this
PATIENCE = 6  # steps without progress before cautious ones are taken:
CAREFUL = 0.3  # their barrier falls to this part of itself
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
        weights = blend(arms, resumed.arms, resumed.weights, RESUMED)
        return replace(first, arms=arms, weights=weights)

    def covers(self, active: ActiveSet) -> bool:
        return len(active.arms) == len(self.problem.arms)

    def improve(self, active: ActiveSet, *, aim: float, budget: int, coarse: bool) -> Ended[Averaged]:
        objective = self.average.objective
        if not self.covers(active):
            objective = objective.among(active.arms)
        return _Inner(objective=objective, aim=aim, budget=budget).run(active, coarse=coarse)

    def look(self, active: ActiveSet) -> Averaged:
        return self.average.objective.evaluate(active.everywhere(self.problem))

    def enter(self, active: ActiveSet, seen: Averaged) -> ActiveSet | None:
        arms = entering(active.arms, seen, most=max(len(active.arms), SMALL))
        if len(arms) == len(active.arms):
            return None
        kept = active if active.thinned or self.problem.ridge == 0 else _thinned(active)
        arms = np.union1d(np.setdiff1d(arms, active.arms), kept.arms)
        return replace(kept, arms=arms, weights=blend(arms, kept.arms, kept.weights, min(ENTERED, seen.gap)))


def _thinned(active: ActiveSet) -> ActiveSet:
    """Without the arms that have next to no weight."""
    kept = active.weights >= IDLE / len(active.arms)
    return replace(active, arms=active.arms[kept], weights=normalised(active.weights[kept]), thinned=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Inner:
    """Interior point on all arms of an objective."""

    objective: Objective
    aim: float
    """Gap at which to stop."""
    budget: int
    """Steps at most."""

    def run(self, active: ActiveSet, *, coarse: bool) -> Ended[Averaged]:
        weights = active.weights
        iterate: _Centred | None = None
        before: _Centred | None = None
        best: Ended[Averaged] | None = None
        last_gap, idle, steps, evaluations = np.inf, 0, 0, 0
        while True:
            try:
                seen = self.objective.evaluate(weights)
            except LinAlgError:
                if best is None:
                    raise
                return self._cautiously(best)
            evaluations += 1
            idle = 0 if best is None or seen.gap < best.seen.gap else idle + 1
            if best is None or idle == 0:
                best = Ended(active=replace(active, weights=weights), seen=seen)
            best = replace(best, steps=steps, evaluations=evaluations)
            if self._done(best, seen):
                return best
            if idle > PATIENCE:
                return self._cautiously(best)
            steps += 1
            if iterate and before and seen.average > OVERSHOT * iterate.unit:
                iterate = replace(iterate, at=halfway(before.at, iterate.at))
                weights = iterate.at.weights
                continue
            coarse = coarse and (steps == 1 or (seen.gap < HELPS * last_gap and steps <= MOST))
            last_gap = seen.gap
            if coarse:
                weights = _multiplied(weights, seen.gains)
                continue
            before = iterate or _centred(weights, seen)
            try:
                iterate = self._newton(before, seen)
            except LinAlgError:
                return self._cautiously(best)
            weights = iterate.at.weights

    def _done(self, best: Ended[Averaged], seen: Averaged) -> bool:
        return best.seen.gap <= self.aim or seen.limited_by_features(self.aim) or best.steps >= self.budget

    def _cautiously(self, best: Ended[Averaged]) -> Ended[Averaged]:
        """From the best point so far, with a search along every step: slower, and sure where the optimum is singular.

        The barrier mu falls when lambda o z is within a factor of it for every arm, z = nu - g, sum lambda o z = m mu.
        """
        weights = blurred(best.active.weights)
        count, mu = len(weights), CAREFUL * best.seen.gap / len(weights)
        try:
            seen = self.objective.evaluate(weights)
            here = _centred(weights, seen)
            while not self._done(best, seen) and mu * count > LOWEST:
                gains = seen.gains / here.unit
                products = here.at.weights * (here.at.weights @ gains + count * mu - gains)
                if np.abs(products - mu).max() < CENTRAL * mu:
                    mu *= CAREFUL
                there = cautious(here.at, self._local(here.unit, seen, np.float64), aim=mu)
                here, seen = self._searched((here, seen), there, mu)
                steps = replace(best, steps=best.steps + 1, evaluations=best.evaluations + 1)
                better = replace(steps, active=replace(best.active, weights=here.at.weights), seen=seen)
                best = better if seen.gap < best.seen.gap else steps
        except LinAlgError:
            return replace(best, stuck=True)
        return replace(best, stuck=not self._done(best, seen))

    def _searched(self, at: tuple[_Centred, Averaged], there: Iterate, mu: float) -> tuple[_Centred, Averaged]:
        """As far towards there as T - mu sum log lambda falls."""
        here, seen = at

        def barrier(weights: Array, seen: Averaged) -> float:
            return seen.average / here.unit - mu * float(np.log(weights).sum())

        level = barrier(here.at.weights, seen)
        for _ in range(HALVINGS):
            seen = self.objective.evaluate(there.weights)
            if barrier(there.weights, seen) < level:
                return replace(here, at=there), seen
            there = halfway(here.at, there)
        raise LinAlgError("rounding hides the descent")

    def _newton(self, iterate: _Centred, seen: Averaged) -> _Centred:
        least = AHEAD * seen.kept_gap
        if seen.gap > SINGLE:
            try:
                return replace(iterate, at=step(iterate.at, self._local(iterate.unit, seen, np.float32), least=least))
            except LinAlgError:
                pass  # too few digits: once more with twice as many
        return replace(iterate, at=step(iterate.at, self._local(iterate.unit, seen, np.float64), least=least))

    def _local(self, unit: float, seen: Averaged, dtype: type[np.floating]) -> Local:
        return Local(
            arms=linalg.whiten(seen.factor, self.objective.arms).astype(dtype),
            roots=(seen.roots / np.sqrt(unit)).astype(dtype),
            gains=seen.gains / unit,
        )


def _multiplied(weights: Array, gains: Array) -> Array:
    """A multiplicative step that leaves nothing at zero, from where a Newton step could not move it."""
    return normalised(weights * (np.sqrt(gains / gains.max()) + LEAST))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Centred:
    """An iterate in units in which the average was 1 when it was centred."""

    at: Iterate
    unit: float


def _centred(weights: Array, seen: Averaged) -> _Centred:
    """Reduced costs that are feasible and not small, at given weights."""
    gains = seen.gains / seen.average
    price = float(gains.max()) + min(HEADROOM, CLOSENESS * seen.gap)
    return _Centred(at=Iterate(weights=weights, price=price, reduced=price - gains), unit=seen.average)
