"""The inner loop: interior point on an active set, for the worst case and for an average.

Far from the optimum a multiplicative step does as much as a Newton step at a fraction of its cost: the first steps are
of that kind for as long as they help.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from scipy.linalg import LinAlgError

from superlevel.arrays import Array, normalised
from superlevel.design.active_set import ActiveSet
from superlevel.design.certificate import Proof
from superlevel.design.newton import Iterate, Local, halfway, step

HELPS = 0.65  # multiplicative steps go on while each leaves at most this part of the gap
MOST = 4  # and at most this many
LEAST = 0.03  # part of the largest factor of a multiplicative step that every factor gets
HEADROOM = 0.03  # how far above the worst target and the best arm the method is centred,
CLOSENESS = 0.3  # and at most this part of the gap
AHEAD = 0.02  # the products are aimed at this part of the gap at least
OVERSHOT = 1.5  # a step that makes the value this much larger than its level is halved
SINGLE = 1e-3  # directions are computed in single precision while the gap is above this
PATIENCE = 6  # steps without progress before others are tried

Seen = TypeVar("Seen", bound=Proof)


@dataclass(frozen=True, kw_only=True, eq=False)
class Ended(Generic[Seen]):
    """Where an inner loop ended: the best weights and mixture it saw, and what it saw there."""

    active: ActiveSet
    seen: Seen
    steps: int = 0
    evaluations: int = 1
    stuck: bool = False

    def after(self, active: ActiveSet, seen: Seen, *, steps: int) -> Ended[Seen]:
        """The better of this and of what one evaluation more saw, after so many steps in all."""
        best = (active, seen) if seen.gap < self.seen.gap else (self.active, self.seen)
        return Ended(active=best[0], seen=best[1], steps=steps, evaluations=self.evaluations + 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Inner(ABC, Generic[Seen]):
    """Interior point on all arms and targets of an active set."""

    aim: float
    """Gap at which to stop."""
    budget: int
    """Steps at most."""

    @abstractmethod
    def evaluate(self, active: ActiveSet) -> Seen:
        """Value and bound. Raises LinAlgError where the design does not reach everything."""

    @abstractmethod
    def multiplied(self, active: ActiveSet, seen: Seen) -> ActiveSet:
        """After a multiplicative step."""

    @abstractmethod
    def local(self, seen: Seen, unit: float, dtype: type[np.floating]) -> Local:
        """The problem as a Newton step needs it, in units in which variances are divided by ``unit``."""

    @abstractmethod
    def rescue(self, best: Ended[Seen]) -> Ended[Seen]:
        """The last resort, from the best point so far, where Newton steps lead nowhere."""

    def run(self, active: ActiveSet, *, coarse: bool) -> Ended[Seen]:
        """Steps until the gap is at most the aim, the budget is spent or nothing helps.

        ``coarse`` says that the active set may be far from the optimum.
        """
        ended = self.descend(active, coarse=coarse)
        return self.rescue(ended) if ended.stuck else ended

    def descend(
        self, active: ActiveSet, best: Ended[Seen] | None = None, *, coarse: bool = False, ahead: float = AHEAD
    ) -> Ended[Seen]:
        """Newton steps from an active set, with its multiplicative steps first if it is ``coarse``.

        The products are aimed at the part ``ahead`` of the gap or more. The loop is stuck when steps bring no progress
        or when rounding makes the next one impossible.
        """
        iterate: Iterate | None = None
        before: Iterate | None = None
        unit, last_gap, idle, steps = 1.0, np.inf, 0, best.steps if best else 0
        try:
            while True:
                seen = self.evaluate(active)
                idle = 0 if best is None or seen.gap < best.seen.gap else idle + 1
                best = best.after(active, seen, steps=steps) if best else Ended(active=active, seen=seen)
                if self.done(best, seen) or idle > PATIENCE:
                    return replace(best, stuck=not self.done(best, seen))
                if iterate and before and seen.kept > OVERSHOT * unit * iterate.level:
                    iterate = halfway(before, iterate)
                else:
                    coarse = coarse and (steps == 0 or (seen.gap < HELPS * last_gap and steps < MOST))
                    last_gap = seen.gap
                    if not coarse:
                        unit = unit if iterate else seen.average
                        before = iterate or self.centred(active, seen)
                        iterate = self._newton(before, seen, unit=unit, least=ahead * seen.kept_gap)
                active = self.multiplied(active, seen) if iterate is None else _at(active, iterate)
                steps += 1
        except LinAlgError:
            if best is None:
                raise
            return replace(best, stuck=True)

    def done(self, best: Ended[Seen], seen: Seen) -> bool:
        """Whether the best point is good enough, or no step may or can follow what was seen last."""
        over = best.steps >= self.budget or seen.average == 0
        return best.seen.gap <= self.aim or seen.limited_by_features(self.aim) or over

    def centred(self, active: ActiveSet, seen: Seen) -> Iterate:
        """Reduced costs that are feasible and not small, in units in which the average is 1."""
        gains = seen.gains / seen.average
        price = float(gains.max()) + headroom(seen)
        return Iterate(primal=active.weights, dual=price - gains, level=1.0, price=price, arms=len(gains))

    def _newton(self, iterate: Iterate, seen: Seen, *, unit: float, least: float) -> Iterate:
        if seen.gap > SINGLE:
            try:
                return step(iterate, self.local(seen, unit, np.float32), least=least)
            except LinAlgError:
                pass  # too few digits: once more with twice as many
        return step(iterate, self.local(seen, unit, np.float64), least=least)


def headroom(seen: Proof) -> float:
    """How far above the largest the method is centred."""
    return min(HEADROOM, CLOSENESS * seen.gap)


def multiplied(distribution: Array, factors: Array) -> Array:
    """A multiplicative step that leaves nothing at zero, from where a Newton step could not move it."""
    largest = float(factors.max())
    return normalised(distribution * (factors / largest + LEAST)) if largest > 0 else distribution


def _at(active: ActiveSet, iterate: Iterate) -> ActiveSet:
    """With an iterate's weights, and its mixture unless that is held fixed."""
    return replace(active, weights=iterate.weights, mixture=iterate.mixture if len(iterate.mixture) else active.mixture)
