"""What a solver returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np

from superlevel.arrays import Array, Indices
from superlevel.design.certificate import Evaluation
from superlevel.design.problem import DesignProblem
from superlevel.design.targets import Dual, as_dual


class Status(StrEnum):
    """Why a solver stopped."""

    CERTIFIED = "certified"
    """The gap is at most what was asked for."""
    ITERATIONS = "iterations"
    """The iterations ran out; the gap is what was reached."""
    FEATURES = "features"
    """The weights are good enough; the rest of the gap is what the features miss: embed with a smaller tol."""
    ROUNDING = "rounding"
    """Double precision ended the progress; the gap is what was reached."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """Where to measure, in which proportions, and how far from the best that can be at most."""

    weights: Array
    """(n,) a distribution on the arms."""
    value: float
    """max_v v' A^-1 v at the weights, what the features miss included."""
    lower_bound: float
    """No distribution on the arms has a smaller value."""
    dual: Dual
    """The mixture of targets that proves the bound: `certify` recomputes it from weights and dual."""
    status: Status
    iterations: int
    """Steps that changed the weights."""
    evaluations: int
    """Full evaluations: value and bound over all arms and targets."""
    truncation: float
    """The part of the value that is owed to what the features miss."""

    @property
    def gap(self) -> float:
        """value / lower_bound - 1: nobody can do better by more than this."""
        return self.value / self.lower_bound - 1.0

    @property
    def support(self) -> Indices:
        """The arms with positive weight."""
        return np.flatnonzero(self.weights)

    def __repr__(self) -> str:
        return (
            f"Design({self.status.value}: value {self.value:.6g}, gap {self.gap:.2%}, "
            f"{len(self.support)} of {len(self.weights)} arms, {self.iterations} iterations)"
        )


Watch: TypeAlias = Callable[[Design], None]
"""Called with the best design so far."""


def found(problem: DesignProblem, weights: Array, mixture: tuple[Indices, Array], seen: Evaluation) -> Design:
    """A design as an evaluation saw it, not yet judged."""
    return Design(
        weights=weights,
        value=seen.value,
        lower_bound=seen.lower_bound,
        dual=as_dual(problem.targets, *mixture),
        status=Status.ITERATIONS,
        iterations=0,
        evaluations=1,
        truncation=seen.truncation,
    )
