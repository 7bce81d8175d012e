"""Any confidence on a problem that leaves kernel, noise or mean open: they are estimated first, and again later.

Before the pilot is complete nothing is known. From then on the belief is that of the inner confidence on the problem
with the estimates in it; whenever there are a fifth more measurements, everything is estimated and read anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from superlevel import estimation
from superlevel.arrays import Array, Indices, Mask
from superlevel.confidence.posterior import SIZE
from superlevel.confidence.protocol import AnyConfidence, Guarantee
from superlevel.errors import InputError
from superlevel.estimation import Data, Estimate
from superlevel.findings import Finding, Verdict
from superlevel.goals import Bounds, Goal
from superlevel.posterior import GaussianPosterior
from superlevel.problem import Problem
from superlevel.records import Batch, Belief, GaussianModel, LinearModel, Sizes


@dataclass(frozen=True, kw_only=True, eq=False)
class Unready:
    """The belief before the first estimate: nothing is known of f."""

    problem: Problem
    data: Data
    pilot: int

    tolerance = 0.0
    contradicted = False
    sources = None

    @property
    def estimate(self) -> Array:
        """(n,) the mean of what was measured, everywhere."""
        centre = float(self.data.values.mean()) if len(self.data) else 0.0
        return np.full(self.problem.domain.n, centre)

    @property
    def counts(self) -> Indices:
        return np.bincount(self.data.points, minlength=self.problem.domain.n).astype(np.int64)

    @property
    def averages(self) -> tuple[Array, Array]:
        n = self.problem.domain.n
        return np.zeros(n), np.zeros(n)

    @property
    def findings(self) -> tuple[Finding, ...]:
        sentence = "there is no estimate yet"
        return (Finding(assumption="noise", verdict=Verdict.UNTESTED, number=0.0, sentence=sentence),)

    @property
    def posterior(self) -> GaussianPosterior:
        raise self._too_early()

    @property
    def model(self) -> GaussianModel:
        raise self._too_early()

    @property
    def linear(self) -> LinearModel:
        raise self._too_early()

    def values(self, goal: Goal, /) -> Array:
        return goal.combine(self.estimate)

    def bounds(self, share: float = 0.0, _mask: Mask | None = None, /) -> Bounds:
        n = self.problem.domain.n
        shape = (n, n) if share else (n,)
        return Bounds(lower=np.full(shape, -np.inf), upper=np.full(shape, np.inf))

    def fixed(self, _share: float, /) -> None:
        return None

    def probability(self, _level: float, /) -> None:
        return None

    def relief(self, points: Indices) -> Array:
        """Zeros: nothing is known of how points go together."""
        return np.zeros((len(points), self.problem.domain.n))

    def _too_early(self) -> InputError:
        remedy = f"{self.pilot} more measurements of the pilot come first"
        return InputError("belief", "without an estimate", remedy)


@dataclass(frozen=True, kw_only=True, eq=False)
class EstimatedBelief:
    """The belief of the inner confidence, with the data and the estimate that it rests on."""

    open: Problem
    """The problem as it was given."""
    data: Data
    found: Estimate | None
    inner: Belief

    def __getattr__(self, name: str) -> Any:
        """Everything but the findings is the inner belief's."""
        if name.startswith("__") or name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    @property
    def findings(self) -> tuple[Finding, ...]:
        doubts = () if self.found is None else self.found.doubts
        said = (
            Finding(assumption="estimate", verdict=Verdict.DOUBTED, number=float(len(self.data)), sentence=doubt)
            for doubt in doubts
        )
        return (*said, *self.inner.findings)


@dataclass(frozen=True)
class Estimated:
    """A confidence whose problem is completed by estimates."""

    inner: AnyConfidence

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def uses(self) -> frozenset[str]:
        return self.inner.uses

    @property
    def given_only(self) -> bool:
        return self.inner.given_only

    @property
    def in_rounds(self) -> bool:
        return self.inner.in_rounds

    @property
    def permanent(self) -> bool:
        return self.inner.permanent

    @property
    def budget(self) -> int:
        return self.inner.budget

    @property
    def ordered(self) -> bool:
        """When an estimate is made depends on how measurements were grouped."""
        return True

    def prior(self, problem: Problem) -> EstimatedBelief:
        complete = stand_in(problem)
        self.inner.prior(complete)  # what the confidence needs besides is missed here, not after the pilot
        if self.inner.guarantee(complete).probability is not None:
            remedy = "a guarantee needs kernel, noise and mean to be given: give them, or confidence='posterior'"
            raise InputError("fit", repr(problem.fit), remedy)
        none = Data(points=np.empty(0, dtype=np.int64), values=np.empty(0), noise=np.empty(0))
        pilot = estimation.pilot_size(problem.domain.points.shape[1], SIZE)
        return EstimatedBelief(
            open=problem, data=none, found=None, inner=Unready(problem=problem, data=none, pilot=pilot)
        )

    def update(self, belief: EstimatedBelief, batch: Batch) -> EstimatedBelief:
        """With a new estimate where one is due; otherwise the inner confidence takes the batch."""
        own = np.full(len(batch.points), np.nan) if batch.noise is None else batch.noise
        data = Data(
            points=np.concatenate([belief.data.points, batch.points]),
            values=np.concatenate([belief.data.values, batch.values]),
            noise=np.concatenate([belief.data.noise, own]),
        )
        problem = belief.open
        missing = estimation.pilot_size(problem.domain.points.shape[1], SIZE) - len(data)
        if belief.found is None and missing > 0:
            return replace(belief, data=data, inner=Unready(problem=problem, data=data, pilot=missing))
        if not estimation.is_due(None if belief.found is None else belief.found.samples, len(data)):
            return replace(belief, data=data, inner=self.inner.update(belief.inner, batch))
        found = estimation.estimate(problem, data)
        completed = found.applied(problem)
        noise = np.where(np.isnan(data.noise), completed.deviations[data.points], data.noise)
        everything = Batch(points=data.points, values=data.values, noise=noise)
        inner = self.inner.update(self.inner.prior(completed), everything)
        return EstimatedBelief(open=problem, data=data, found=found, inner=inner)

    def guarantee(self, problem: Problem) -> Guarantee:
        return self.inner.guarantee(problem)

    def sizes(self, problem: Problem, batch: int | None, /) -> Sizes:
        return self.inner.sizes(problem, batch)


def stand_in(problem: Problem) -> Problem:
    """The problem with something harmless in place of what is estimated later."""
    from sklearn.gaussian_process.kernels import RBF  # noqa: PLC0415

    extent = float(np.ptp(problem.domain.points, axis=0).max()) or 1.0
    kernel = RBF(extent) if "kernel" in problem.fit else problem.domain.kernel
    noise = 1.0 if "noise" in problem.fit else problem.known_noise
    mean = 0.0 if "mean" in problem.fit else problem.mean
    return Estimate(kernel=kernel, noise=noise, mean=mean, samples=0, doubts=()).applied(problem)
