"""Every method of the table, with every confidence and criterion that it has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.arrays import Array
from superlevel.goals import FractionOfMax, Goal, Threshold
from superlevel.methods.loop import Method
from superlevel.methods.table import ROWS
from superlevel.records import Plan, State

N = 24
X = np.linspace(0, 1, N) ** 1.1  # without the symmetry that would leave ties to rounding
TRUTH = np.sin(6 * X)
NOISE = 0.1
GOALS: dict[type[Goal], Goal] = {Threshold: Threshold(0.23), FractionOfMax: FractionOfMax(0.3)}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One row of the table with one choice of everything else."""

    name: str
    goal: Goal
    confidence: str
    criterion: str | None

    @property
    def label(self) -> str:
        return "-".join(str(part) for part in (self.name, self.confidence, self.criterion, type(self.goal).__name__))

    @property
    def in_rounds(self) -> bool:
        return self.confidence == "rips"

    def make(self, *, problem: sl.Problem | None = None, **options: Any) -> Method:
        """On the common problem, or on another one with this case's goal."""
        given = self.problem() if problem is None else problem
        if self.criterion is not None:
            options = {"criterion": self.criterion, **options}
        if self.confidence == "ridge" and "batch" in options:
            options = {"growth": 1.0, **options}  # of a fixed size, as all others have it
        return sl.methods.make(self.name, given, confidence=self.confidence, **options)

    def problem(self, **changes: Any) -> sl.Problem:
        fields = {"noise": NOISE, "bound": 1.5, "norm": 5.0, "tolerance": 0.4 if self.in_rounds else 0.0, **changes}
        domain = fields.pop("domain", sl.Domain(X, RBF(0.2)))
        return sl.Problem(domain, goal=fields.pop("goal", self.goal), **fields)


def _cases() -> list[Case]:
    found = []
    for name, row in ROWS.items():
        for goal in row.goals:
            for confidence in row.confidences:
                many = "rips" in row.confidences and confidence == "posterior"
                criteria = ("greedy", "average", "worst") if many else (None,)
                found += [
                    Case(name=name, goal=GOALS[goal], confidence=confidence, criterion=criterion)
                    for criterion in criteria
                ]
    return found


CASES = _cases()
IN_BATCHES = [case for case in CASES if not case.in_rounds]
EXPLICIT = [case for case in IN_BATCHES if isinstance(case.goal, Threshold)]
IMPLICIT = [case for case in IN_BATCHES if isinstance(case.goal, FractionOfMax)]
ONE_AT_A_TIME = [
    case
    for case in IN_BATCHES
    if case.criterion == "greedy" or (case.criterion is None and case.name != "uniform" and case.confidence != "ridge")
]


def each(cases: list[Case]) -> pytest.MarkDecorator:
    """A test for each of these."""
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.label)


def measured(plan: Plan, truth: Array = TRUTH, noise: float = NOISE) -> Array:
    """Values of a plan: the same each time."""
    rng = np.random.default_rng([plan.phase, plan.total])
    return np.asarray(truth[plan.indices] + noise * rng.standard_normal(plan.total))


def after(method: Method, phases: int, *, seed: int = 0) -> State:
    """Some phases into a campaign."""
    state = method.init(seed=seed)
    for _ in range(phases):
        plan = method.ask(state)
        state, _ = method.tell(state, plan, measured(plan))
    return state


def known(state: State) -> Array:
    """(k, n) what all measurements say, in whatever order they came."""
    if state.learned is not None:
        evidence = state.learned.evidence
        return np.array([evidence.counts, evidence.information, evidence.means])
    assert state.posterior is not None
    return np.array([state.posterior.mean, state.posterior.variance])


def at(plan: Plan, points: list[int], origin: str) -> Plan:
    """A plan for other points, as if it had been asked for."""
    counts = np.bincount(points, minlength=len(plan.counts))
    return replace(plan, counts=counts, weights=counts / counts.sum(), origin=origin)
