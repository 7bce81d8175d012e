"""What every method needs <= what MELK and MILK take <= what their theorems allow, on random linear instances."""

from __future__ import annotations

import numpy as np
import pytest

import superlevel as sl
from superlevel.confidence.rounds import Schedule
from superlevel.records import Stop
from superlevel.rules.design import OptimalDesign


def instance(seed: int, goal: str) -> tuple[sl.Problem, sl.oracles.Oracle]:
    """Six arms in a space; a level amid the widest gap of the values, or a fraction of the maximum amid one."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(6, 3))
    values = points @ rng.normal(size=3)
    values /= np.abs(values).max()
    values *= np.sign(values[np.argmax(np.abs(values))])  # the maximum is 1
    ordered = np.sort(values[values > 0]) if goal == "milk" else np.sort(values)
    ordered = np.append(0.0, ordered) if goal == "milk" else ordered
    widest = int(np.argmax(np.diff(ordered)))
    level = float(ordered[widest] + ordered[widest + 1]) / 2
    chosen: sl.Goal = sl.Threshold(level) if goal == "melk" else sl.FractionOfMax(1 - level)
    problem = sl.Problem(sl.Domain(points), goal=chosen, noise=1.0, bound=1.0, delta=0.1)
    return problem, sl.oracles.Gaussian(values, noise=1.0)


@pytest.mark.parametrize("name", ["melk", "milk"])
@pytest.mark.parametrize("seed", range(6))
def test_lower_bound_measured_upper_bound(name: str, seed: int) -> None:
    problem, oracle = instance(seed, name)
    common = {"noise": 1.0, "delta": 0.1}
    if isinstance(problem.goal, sl.FractionOfMax):
        lower = sl.bounds.implicit(problem.domain, oracle.values, epsilon=problem.goal.epsilon, **common).samples
    else:
        (level,) = problem.goal.levels
        lower = sl.bounds.explicit(problem.domain, oracle.values, threshold=level, **common).samples
    upper = sl.bounds.upper(problem, oracle.values)
    schedules: tuple[Schedule, ...] = ("paper", "tight")
    for schedule in schedules:
        run = sl.simulate(sl.methods.make(name, problem, confidence=sl.Rips(schedule=schedule)), oracle, seed=seed)
        assert run.stop is Stop.DECIDED
        assert 0 < lower <= run.samples <= upper.samples
        assert len(run.trace) <= upper.rounds


@pytest.mark.parametrize(("name", "seed"), [("melk", 31), ("milk", 40)])
def test_the_printed_upper_bound_is_exceeded_by_the_printed_algorithm(name: str, seed: int) -> None:
    """The appendix's T_delta lacks the number of rounds and a factor of 4: here the algorithm as printed takes more."""
    problem, oracle = instance(seed, name)
    upper = sl.bounds.upper(problem, oracle.values)
    theta = np.linalg.lstsq(problem.domain.points, oracle.values, rcond=None)[0]
    ridge = 1e-7 * float(problem.domain.diagonal().max())
    blur = sl.bounds.resolution(
        problem.domain, oracle.values, goal=problem.goal, norm=float(np.linalg.norm(theta)), ridge=ridge
    )
    assert upper.smallest_gap > 10 * blur.safe  # the theorem's condition is met, with room
    for noise in range(3):
        method = sl.methods.make(name, problem, confidence=sl.Rips(schedule="paper"), rule=OptimalDesign(rtol=1e-3))
        run = sl.simulate(method, oracle, seed=noise)
        assert 1.05 * upper.printed < run.samples <= upper.samples
