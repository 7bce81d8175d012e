"""The worst case: interior point on an active set of arms and targets.

Far from the optimum a multiplicative step, lambda_i <- lambda_i g_i and w_v <- w_v s_v, does as much as a Newton step
at a fraction of its cost: the first steps are of that kind for as long as they help.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from superlevel import linalg
from superlevel.arrays import Array, normalised
from superlevel.design.active_set import ActiveSet, Ended, begin, blurred, enter, part, resume
from superlevel.design.certificate import Evaluation, evaluate
from superlevel.design.newton import Iterate, Local, halfway, step
from superlevel.design.problem import DesignProblem
from superlevel.design.result import Design

HELPS = 0.65  # multiplicative steps go on while each leaves at most this part of the gap
MOST = 4  # and at most this many
LEAST = 0.03  # part of the largest factor of a multiplicative step that every factor gets
HEADROOM = 0.03  # how far above the worst target and the best arm the method is centred,
CLOSENESS = 0.3  # and at most this part of the gap
AHEAD = 0.02  # the products are aimed at this part of the gap at least,
CAREFUL = 0.3  # or at this part, after a start that led nowhere
OVERSHOT = 1.5  # a step that makes the worst variance this much larger than its level is halved
SINGLE = 1e-3  # directions are computed in single precision while the gap is above this
PATIENCE = 6  # steps without progress before a new start, and after that before rounding is blamed


@dataclass(frozen=True, kw_only=True, eq=False)
class Minimax:
    """The smallest max_v s_v."""

    problem: DesignProblem

    def begin(self, start: Design | None) -> ActiveSet:
        return begin(self.problem) if start is None else resume(self.problem, start)

    def covers(self, active: ActiveSet) -> bool:
        return active.covers(self.problem)

    def improve(self, active: ActiveSet, *, aim: float, budget: int, coarse: bool) -> Ended[Evaluation]:
        problem = self.problem if self.covers(active) else part(self.problem, active)
        return _Inner(problem=problem, aim=aim, budget=budget).run(active, coarse=coarse)

    def look(self, active: ActiveSet) -> Evaluation:
        return evaluate(self.problem, active.everywhere(self.problem), active.targets, active.mixture)

    def enter(self, active: ActiveSet, seen: Evaluation) -> ActiveSet | None:
        return enter(active, seen)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Inner:
    """Interior point on all of a problem whose targets can be listed."""

    problem: DesignProblem
    aim: float
    """Gap at which to stop."""
    budget: int
    """Steps at most."""

    def run(self, active: ActiveSet, *, coarse: bool) -> Ended[Evaluation]:
        weights, mixture = active.weights, active.mixture
        positions = np.flatnonzero(self.problem.targets.mask)
        iterate: _Centred | None = None
        before: _Centred | None = None
        best: Ended[Evaluation] | None = None
        last_gap, idle, steps, evaluations, careful = np.inf, 0, 0, 0, False
        while True:
            try:
                seen = evaluate(self.problem, weights, positions, mixture)
            except LinAlgError:
                if best is None:
                    raise
                return replace(best, stuck=True)
            evaluations += 1
            idle = 0 if best is None or seen.gap < best.seen.gap else idle + 1
            if best is None or idle == 0:
                best = Ended(active=replace(active, weights=weights, mixture=mixture), seen=seen)
            best = replace(best, steps=steps, evaluations=evaluations)
            done = best.seen.gap <= self.aim or seen.limited_by_features(self.aim) or seen.average == 0
            if done or steps >= self.budget:
                return best
            if idle > PATIENCE:
                if careful:
                    return replace(best, stuck=True)
                weights, mixture = blurred(best.active.weights), blurred(best.active.mixture)
                iterate, careful, idle = None, True, 0
                continue
            targets = seen.view.rows(positions)
            variances = linalg.squared_norms(targets)
            if iterate and before and variances.max() > OVERSHOT * iterate.unit * iterate.at.level:
                iterate = replace(iterate, at=halfway(before.at, iterate.at))
                weights, mixture, steps = iterate.at.weights, iterate.at.mixture, steps + 1
                continue
            coarse = coarse and (steps == 0 or (seen.gap < HELPS * last_gap and steps < MOST))
            last_gap = seen.gap
            if coarse:
                weights, mixture = _multiplied(weights, seen.gains), _multiplied(mixture, variances)
            else:
                before = iterate or _centred(weights, mixture, variances, seen)
                try:
                    iterate = _newton(before, (targets, variances), seen, CAREFUL if careful else AHEAD)
                except LinAlgError:
                    weights, mixture = best.active.weights, best.active.mixture
                    idle = PATIENCE  # seen again, it is one too many
                    continue
                weights, mixture = iterate.at.weights, iterate.at.mixture
            steps += 1


def _multiplied(distribution: Array, factors: Array) -> Array:
    """A multiplicative step that leaves nothing at zero, from where a Newton step could not move it."""
    largest = float(factors.max())
    return normalised(distribution * (factors / largest + LEAST)) if largest > 0 else distribution


@dataclass(frozen=True, kw_only=True, eq=False)
class _Centred:
    """An iterate in units in which the average variance was 1 when it was centred."""

    at: Iterate
    unit: float


def _centred(weights: Array, mixture: Array, variances: Array, seen: Evaluation) -> _Centred:
    """Slacks that are feasible and not small, at given weights and mixture."""
    unit = seen.average
    room = min(HEADROOM, CLOSENESS * seen.gap)
    level, price = float(variances.max()) / unit * (1 + room), float(seen.gains.max()) / unit + room
    at = Iterate(
        weights=weights,
        mixture=mixture,
        level=level,
        price=price,
        slack=level - variances / unit,
        reduced=price - seen.gains / unit,
    )
    return _Centred(at=at, unit=unit)


def _newton(iterate: _Centred, among: tuple[Array, Array], seen: Evaluation, ahead: float) -> _Centred:
    """One step, given the targets (p, r) and their variances (p,)."""
    targets, variances = among

    def local(dtype: type[np.floating]) -> Local:
        # Only products of an arm and a target, and of a root and an arm, occur: the unit may be shared out.
        share = iterate.unit**-0.25
        arms = (seen.arms * share).astype(dtype)
        return Local(
            arms=arms,
            targets=arms if targets is seen.arms else (targets * share).astype(dtype),
            roots=(seen.roots * share).astype(dtype),
            variances=variances / iterate.unit,
            gains=seen.gains / iterate.unit,
        )

    least = ahead * seen.kept_gap
    if seen.gap > SINGLE:
        try:
            return replace(iterate, at=step(iterate.at, local(np.float32), least=least))
        except LinAlgError:
            pass  # too few digits: once more with twice as many
    return replace(iterate, at=step(iterate.at, local(np.float64), least=least))
