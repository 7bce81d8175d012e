"""A confidence on transformed values: the border between the units that people see and those that are computed in.

t           the problem's transform, increasing
batch       values y and their own deviations come in the user's units, and t(y) goes to the inner confidence
belief      estimates and intervals of t(f) go back to the user's units: an interval [l, u] of t(f) is the interval
            [t^-1(l), t^-1(u)] of f, with the same probability, because t is increasing; a median stays a median

Rules look at the inner belief, with the levels moved to t(alpha).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from superlevel.arrays import Array, Indices, Labels, Mask, frozen
from superlevel.confidence.protocol import AnyConfidence, Guarantee
from superlevel.findings import Finding
from superlevel.goals import Bounds, Goal
from superlevel.posterior import GaussianPosterior
from superlevel.problem import Problem
from superlevel.records import Batch, Belief, Forecast, GaussianModel, LinearModel, Outlook, View
from superlevel.sizes import Sizes
from superlevel.transforms import Transform


@dataclass(frozen=True, kw_only=True, eq=False)
class TransformedBelief:
    """What is known of f, from a belief about t(f)."""

    problem: Problem
    """As it was given, in the user's units."""
    inner: Belief
    """About t(f)."""

    # ---------------------------------------------------------------------------- in the user's units

    @cached_property
    def estimate(self) -> Array:
        """(n,) t^-1 of the estimate of t(f)."""
        return frozen(self._scale.inverse(self.inner.estimate))

    @property
    def averages(self) -> tuple[Array, Array]:
        """Weights and means of t(y), in the user's units: 1 / sigma^2 is multiplied by t'^2."""
        weights, means = self.inner.averages
        measured = weights > 0
        back = np.where(measured, self._scale.inverse(means), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            steeper = weights * np.square(self._scale.slopes(back, np.zeros_like(back)))
        return np.where(measured, steeper, 0.0), back

    @property
    def tolerance(self) -> float:
        """That of the problem, where the inner confidence decides by a tolerance at all."""
        return self.problem.tolerance if self.inner.tolerance else 0.0

    def values(self, goal: Goal, /) -> Array:
        return goal.combine(self.estimate)

    def bounds(self, share: float = 0.0, mask: Mask | None = None, /) -> Bounds:
        return self._back(self.inner.bounds(share, mask))

    def fixed(self, share: float, /) -> Bounds | None:
        found = self.inner.fixed(share)
        return None if found is None else self._back(found)

    @property
    def deviation(self) -> Array | None:
        """(n,) half of the interval of f that t^-1 makes of the estimate of t(f) minus and plus its deviation."""
        deviation = self.inner.deviation
        if deviation is None:
            return None
        low, high = (self._scale.inverse(self.inner.estimate + side * deviation) for side in (-1.0, 1.0))
        return np.asarray(0.5 * (high - low))

    def probability(self, level: float, /) -> Array | None:
        return self.inner.probability(float(self._scale(level)))

    @property
    def estimated(self) -> Mapping[str, str]:
        return {name: self._scale.described(name, text) for name, text in self.inner.estimated.items()}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Their numbers are those of t(f), and the sentences say so."""
        remark = f" (in terms of the {self._scale.noun})"
        return tuple(replace(finding, sentence=finding.sentence + remark) for finding in self.inner.findings)

    def seen_by_rules(self, goal: Goal, /) -> tuple[Belief, Goal]:
        return self.inner.seen_by_rules(goal.moved(self._scale))

    @property
    def _scale(self) -> Transform:
        return self.problem.scale

    def _back(self, bounds: Bounds) -> Bounds:
        """The intervals in the user's units, on the same sides of the levels: rounding must not change an order.

        An error rate puts the end of some interval exactly at a level.
        """
        lower, upper = self._scale.inverse(bounds.lower), self._scale.inverse(bounds.upper)
        for level in self.problem.goal.levels:
            at, over, under = self._scale(level), np.nextafter(level, np.inf), np.nextafter(level, -np.inf)
            lower = np.where(bounds.lower > at, np.maximum(lower, over), np.minimum(lower, level))
            upper = np.where(bounds.upper < at, np.minimum(upper, under), np.maximum(upper, level))
        return Bounds(lower=lower, upper=upper)

    # --------------------------------------------------------------------------- the same in any units

    @property
    def pilot(self) -> int:
        return self.inner.pilot

    @property
    def counts(self) -> Indices:
        return self.inner.counts

    @property
    def contradicted(self) -> bool:
        return self.inner.contradicted

    @property
    def sources(self) -> tuple[str, ...] | None:
        return self.inner.sources

    @property
    def hints(self) -> Mapping[str, Any]:
        return self.inner.hints

    def relief(self, points: Indices) -> Array:
        return self.inner.relief(points)

    # ---------------------------------------------------------------------------------------- of t(f)

    @property
    def posterior(self) -> GaussianPosterior:
        return self.inner.posterior

    @property
    def model(self) -> GaussianModel:
        return self.inner.model

    @property
    def linear(self) -> LinearModel:
        return self.inner.linear

    def forecast(self, points: Indices, /) -> Forecast | None:
        """Of t(y), which is what the inner confidence compares it with."""
        return self.inner.forecast(points)

    def outlook(self, view: View, weights: Array, /) -> Outlook:
        return self.inner.outlook(view, weights)

    def norms(self, goal: Goal, labels: Labels, /) -> Array | None:
        """Of t(f)."""
        return self.inner.norms(goal.moved(self._scale), labels)


@dataclass(frozen=True)
class Transformed:
    """Another confidence, on transformed values."""

    inner: AnyConfidence

    given_only: ClassVar[bool] = False  # the inner one was asked before

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def uses(self) -> frozenset[str]:
        return self.inner.uses

    @property
    def in_rounds(self) -> bool:
        return self.inner.in_rounds

    @property
    def gaussian(self) -> bool:
        return self.inner.gaussian

    @property
    def permanent(self) -> bool:
        return self.inner.permanent

    @property
    def ordered(self) -> bool:
        return self.inner.ordered

    @property
    def budget(self) -> int:
        return self.inner.budget

    def prior(self, problem: Problem) -> TransformedBelief:
        return TransformedBelief(problem=problem, inner=self.inner.prior(problem.transformed))

    def update(self, belief: TransformedBelief, batch: Batch) -> TransformedBelief:
        """An InputError where a value has no transform."""
        scale = belief.problem.scale
        scale.check("values", batch.values)
        noise = None if batch.noise is None else scale.deviations(batch.values, batch.noise)
        told = replace(batch, values=scale(batch.values), noise=noise)
        return replace(belief, inner=self.inner.update(belief.inner, told))

    def guarantee(self, problem: Problem) -> Guarantee:
        """That of the inner confidence; a label is right or wrong in any units."""
        noun = problem.scale.noun
        found = self.inner.guarantee(replace(problem.transformed, tolerance=problem.tolerance))
        remark = f"what is assumed is assumed of the {noun} of the values"
        return replace(found, promise=f"{found.promise}; {remark}", assumes=(*found.assumes, remark))

    def sizes(self, problem: Problem, batch: int | None, /) -> Sizes:
        return self.inner.sizes(problem.transformed, batch)
