"""Every method of the table, with every confidence and rule that it has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.arrays import Array
from superlevel.confidence.posterior import GaussianBelief
from superlevel.confidence.ridge import RidgeBelief
from superlevel.goals import FractionOfMax, Goal, Threshold
from superlevel.methods.loop import Method
from superlevel.methods.table import ROWS
from superlevel.posterior import GaussianPosterior
from superlevel.records import Plan, State

N = 24
X = np.linspace(0, 1, N) ** 1.1  # without the symmetry that would leave ties to rounding
TRUTH = np.sin(6 * X)
NOISE = 0.1
GOALS: tuple[Goal, ...] = (Threshold(0.23), FractionOfMax(0.3))


@dataclass(frozen=True, kw_only=True)
class Case:
    """One row of the table with one choice of everything else."""

    name: str
    goal: Goal
    confidence: str
    rule: str | None
    """None where the method has one rule only on this confidence."""

    @property
    def label(self) -> str:
        return "-".join(str(part) for part in (self.name, self.confidence, self.rule, type(self.goal).__name__))

    @property
    def in_rounds(self) -> bool:
        return self.confidence == "rips"

    @property
    def intersected(self) -> bool:
        """Whether intervals are intersected over time."""
        return bool(getattr(ROWS[self.name].confidences[self.confidence].confidence, "intersected", False))

    def make(self, *, problem: sl.Problem | None = None, **options: Any) -> Method:
        """On the common problem, or on another one with this case's goal."""
        given = self.problem() if problem is None else problem
        fixed = self.confidence == "ridge" and "batch" in options  # of a fixed size, as all others have it
        default = {"confidence": sl.Ridge(growth=1.0) if fixed else self.confidence, "rule": self.rule}
        return sl.methods.make(self.name, given, **{**default, **options})

    def problem(self, **changes: Any) -> sl.Problem:
        fields = {"noise": NOISE, "bound": 1.5, "norm": 5.0, "tolerance": 0.4 if self.in_rounds else 0.0, **changes}
        domain = fields.pop("domain", sl.Domain(X, RBF(0.2)))
        return sl.Problem(domain, goal=fields.pop("goal", self.goal), **fields)


def _cases() -> list[Case]:
    found = []
    for name, row in ROWS.items():
        for goal in filter(row.takes, GOALS):
            for confidence, pairing in row.confidences.items():
                rules = tuple(pairing.rules) if len(pairing.rules) > 1 else (None,)
                found += [Case(name=name, goal=goal, confidence=confidence, rule=rule) for rule in rules]
    return found


CASES = _cases()
IN_BATCHES = [case for case in CASES if not case.in_rounds]
EXPLICIT = [case for case in IN_BATCHES if isinstance(case.goal, Threshold)]
IMPLICIT = [case for case in IN_BATCHES if isinstance(case.goal, FractionOfMax)]
ONE_AT_A_TIME = [
    case
    for case in IN_BATCHES
    if case.rule in {"label", "declare", "greedy"}
    or (case.rule is None and case.name != "uniform" and case.confidence != "ridge")
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
    if isinstance(state.belief, RidgeBelief):
        statistics = state.belief.statistics
        return np.array([statistics.counts, statistics.information, statistics.means])
    return np.array([gaussian(state).mean, gaussian(state).variance])


def gaussian(state: State) -> GaussianPosterior:
    """The posterior of a state that has one."""
    assert isinstance(state.belief, GaussianBelief)
    return state.belief.posterior


def at(plan: Plan, points: list[int], origin: str) -> Plan:
    """A plan for other points, as if it had been asked for."""
    counts = np.bincount(points, minlength=len(plan.counts))
    return replace(plan, counts=counts, weights=counts / counts.sum(), origin=origin)
