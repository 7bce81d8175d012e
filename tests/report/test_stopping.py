"""When points were decided and what that took, by roads that the report does not take."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import superlevel as sl
from superlevel.arrays import Array
from superlevel.errors import AssumptionWarning, InputError
from superlevel.records import Stop
from superlevel.report.stopping import COLUMNS, LARGEST, LARGEST_PAIRS, Stopping, of_run
from superlevel.simulation import Run
from tests.worlds import apart

ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6], [0.8, -0.3], [0.1, 0.05]])
THETA = np.array([0.9, -0.6])
UNIT = 2.0 * np.log(1 / 0.24)  # measurements that a complexity of 1 costs where delta is 0.1 and sigma 1


def simulated(
    goal: sl.Goal, *, confidence: str = "ridge", max_samples: int | None = None, **given: Any
) -> tuple[Run, sl.Problem]:
    problem = sl.Problem(sl.Domain(ARMS), goal=goal, **({"noise": 0.4, "norm": 1.5, "delta": 0.1} | given))
    method = sl.methods.make("melk" if isinstance(goal, sl.Threshold) else "milk", problem, confidence=confidence)
    return sl.simulate(method, sl.oracles.Gaussian(ARMS @ THETA, noise=0.4), max_samples=max_samples), problem


def made(problem: sl.Problem, values: Array, labels: list[int], **given: Any) -> Stopping:
    """A campaign with these estimates and labels, all given after 30 measurements."""
    signs = np.array(labels, dtype=np.int8)
    fields: dict[str, Any] = {
        "names": problem.domain.names,
        "points": problem.domain.points,
        "problem": problem,
        "labels": signs,
        "decided": np.where(signs == 0, -1, 30),
        "samples": 40,
        "estimate": values,
        "lower": values - 0.1,
        "upper": values + 0.1,
        "sources": None,
        "ended": None,
    }
    return Stopping(**(fields | given))


# --- efficiency


def test_efficiency_is_what_was_used_over_the_bound_at_the_estimate() -> None:
    run, problem = simulated(sl.Threshold(0.2))
    found = of_run(run, problem)
    assert run.stop is Stop.DECIDED
    assert run.estimate is not None
    direct = sl.bounds.explicit(problem.domain, run.estimate, threshold=0.2, noise=0.4, delta=0.1)
    assert found.lower_bound is not None
    assert direct.samples / 1.05 <= found.lower_bound.samples <= direct.complexity * 0.16 * UNIT
    assert found.efficiency == run.samples / found.lower_bound.samples
    assert found.efficiency > 1
    assert found.reason == ""
    assert str(found).startswith(f"{run.samples:,} measurements; the lower bound at the estimated function is ")


def test_a_fraction_of_the_maximum_has_the_exact_implicit_bound() -> None:
    run, problem = simulated(sl.FractionOfMax(0.5))
    found = of_run(run, problem)
    assert (run.labels != 0).all()
    assert run.estimate is not None
    theta = np.linalg.lstsq(ARMS, run.estimate, rcond=None)[0]
    direct = sl.bounds.implicit(problem.domain, ARMS @ theta, epsilon=0.5, noise=0.4, delta=0.1)
    assert found.lower_bound is not None
    assert found.lower_bound.samples == pytest.approx(direct.samples, rel=0.06)
    assert found.efficiency == pytest.approx(run.samples / direct.samples, rel=0.06)


def test_a_linear_function_is_fitted_where_the_estimate_was_put_into_intervals() -> None:
    problem = sl.Problem(sl.Domain(ARMS), goal=sl.FractionOfMax(0.5), noise=0.4)
    bent = ARMS @ THETA + np.array([0.0, 0.0, 0.02, 0.0, 0.0])
    with pytest.raises(InputError, match="not linear"):
        sl.bounds.implicit(problem.domain, bent, epsilon=0.5, noise=0.4)
    assert made(problem, bent, [1, -1, -1, 1, -1]).efficiency > 0


@settings(max_examples=25, deadline=None)
@given(
    gaps=st.lists(st.sampled_from([-1.5, -0.4, -0.2, 0.25, 0.5, 1.0]), min_size=2, max_size=6),
    seed=st.integers(0, 1000),
)
def test_only_decided_points_count(gaps: list[float], seed: int) -> None:
    """On independent arms the bound is 2 sigma^2 log(1 / 2.4 delta) times the sum of 1 / gap^2."""
    rng = np.random.default_rng(seed)
    values, decided = 0.3 + np.array(gaps), rng.random(len(gaps)) < 0.6
    decided[0] = True
    values[~decided] = 0.3 + rng.choice([0.0, 1e-9, 1e-3, 0.1], size=int((~decided).sum()))
    problem, _ = apart([1.0] * len(gaps), goal=sl.Threshold(0.3), noise=1.0)
    found = made(problem, values, np.where(decided, np.sign(gaps), 0).astype(int).tolist())
    wanted = UNIT * (1 / np.square(np.array(gaps)[decided])).sum()
    assert found.lower_bound is not None
    assert wanted / 1.05 <= found.lower_bound.samples <= wanted * (1 + 1e-9)
    assert found.efficiency == 40 / found.lower_bound.samples
    left = int((~decided).sum())
    assert (f"for the {len(gaps) - left:,} point" in str(found)) == (left > 0)


def test_only_decided_points_count_below_a_fraction_of_the_maximum() -> None:
    """The pair (x, x') of two independent arms costs (1 + (1 - eps))^2 / gap^2."""
    problem, _ = apart([1.0, 0.8], goal=sl.FractionOfMax(0.5), noise=1.0)
    found = made(problem, np.array([1.0, 0.8]), [0, 1])
    assert found.lower_bound is not None
    wanted = UNIT * 1.5**2 / 0.3**2
    assert wanted / 1.05 <= found.lower_bound.samples <= wanted * (1 + 1e-6)
    whole = sl.bounds.implicit(problem.domain, [1.0, 0.8], epsilon=0.5, noise=1.0)
    assert found.lower_bound.samples <= whole.samples * 1.01
    assert "for the 1 point decided" in str(found)


def test_where_no_point_needs_anything_the_reason_says_so() -> None:
    domain = sl.Domain(np.array([[1.0], [0.0], [0.5]]))
    problem = sl.Problem(domain, goal=sl.Threshold(0.2), noise=1.0, tolerance=0.15)
    assert "within the tolerance" in made(problem, np.array([0.3, 0.0, 0.15]), [1, -1, -1]).reason


def test_points_within_the_tolerance_are_said_to_be_left_out() -> None:
    problem, _ = apart([0.5, 0.1, -0.5], goal=sl.Threshold(0.0), noise=1.0, tolerance=0.2)
    found = made(problem, np.array([0.5, 0.1, -0.5]), [1, 1, -1])
    assert "with 1 point within the tolerance left out: " in str(found)
    direct = sl.bounds.explicit(problem.domain, [0.5, 0.1, -0.5], threshold=0.0, noise=1.0, tolerance=0.2)
    assert found.efficiency == pytest.approx(40 / direct.samples, rel=0.05)
    assert "left out" not in str(made(problem, np.array([0.5, 0.1, -0.5]), [1, 0, -1]))


def test_a_reason_stands_where_there_is_no_efficiency() -> None:
    problem, _ = apart([0.5, -0.5], goal=sl.Threshold(0.0), noise=1.0)
    values = np.array([0.5, -0.5])
    whole = made(problem, values, [1, -1])
    assert whole.efficiency > 0
    many, pairs = (
        sl.Problem(sl.Domain(np.ones((largest + 1, 1))), goal=goal, noise=1.0)
        for largest, goal in ((LARGEST, sl.Threshold(0.0)), (LARGEST_PAIRS, sl.FractionOfMax(0.5)))
    )
    cases = {
        "kernel and noise are not estimated yet": replace(whole, problem=None),
        "there is no estimate": replace(whole, estimate=None),
        "nothing was measured": replace(whole, samples=0),
        "no point is decided": made(problem, values, [0, 0]),
        "measured without noise": replace(whole, problem=replace(problem, noise=np.array([1.0, 0.0]))),
        "with delta = 0.5 a guess may do": replace(whole, problem=replace(problem, delta=0.5)),
        "for more than 5,000 points it takes minutes": made(many, np.ones(many.domain.n), [1] * many.domain.n),
        "for more than 500 points it takes minutes": made(pairs, np.ones(pairs.domain.n), [1] * pairs.domain.n),
        "nowhere above zero": made(replace(problem, goal=sl.FractionOfMax(0.5)), -(values**2), [-1, -1]),
    }
    for words, found in cases.items():
        assert words in found.reason
        assert np.isnan(found.efficiency)
        assert f"no lower bound to compare with: {found.reason}" in str(found)


def test_what_is_better_than_the_bound_is_said_to_be_so() -> None:
    problem, _ = apart([0.5, -0.5], goal=sl.Threshold(0.0), noise=10.0)
    found = made(problem, np.array([0.5, -0.5]), [1, -1])
    assert 0 < found.efficiency < 1
    assert "which no method reaches on average" in str(found)


# --- how runs stop


def test_nothing_decided_is_nothing_to_compare() -> None:
    problem, oracle = apart([0.5, -0.5, 0.2], goal=sl.Threshold(0.0), noise=5.0, norm=9.0)
    method = sl.methods.make("melk", problem, confidence="ridge")
    for budget in (1, 20):
        run = sl.simulate(method, oracle, max_samples=budget)
        found = of_run(run, problem)
        assert (len(run.trace) > 0) == (budget > 1)
        assert (found.decided == -1).all()
        assert "0 above, 3 undecided, 0 below" in str(found)
    assert found.reason == "no point is decided"
    assert np.isnan(found.efficiency)


@pytest.mark.parametrize("goal", [sl.Threshold(5.0), sl.FractionOfMax(0.5)], ids=["threshold", "fraction"])
def test_what_no_measurement_tells_was_decided_before_the_first(goal: sl.Goal) -> None:
    problem = sl.Problem(sl.Domain(np.zeros((5, 2))), goal=goal, noise=0.4, norm=1.5)
    method = sl.methods.make("melk" if isinstance(goal, sl.Threshold) else "milk", problem, confidence="ridge")
    found = of_run(sl.simulate(method, sl.oracles.Gaussian(np.zeros(5), noise=0.4)), problem)
    assert found.samples == 0
    assert found.decided.tolist() == [0] * 5
    assert found.reason == "nothing was measured"
    assert "5 before the first measurement" in str(found)


def test_a_short_arm_is_decided_first() -> None:
    run, problem = simulated(sl.Threshold(0.2))
    found = of_run(run, problem)
    assert found.decided[4] == run.trace[0].samples  # |f| <= 1.5 * 0.112 there, but nothing is said before a batch
    assert (found.decided[:4] > 0).all()
    assert found.decided.max() == run.samples
    assert "before the first measurement" not in str(found)
    assert f"the last after {run.samples:,}" in str(found)


def test_a_contradicted_campaign_decided_nothing() -> None:
    problem = sl.Problem(sl.Domain(ARMS), goal=sl.Threshold(0.2), noise=0.4, norm=0.3)
    method = sl.methods.make("melk", problem, confidence="ridge")
    with pytest.warns(AssumptionWarning):
        run = sl.simulate(method, sl.oracles.Gaussian(20 * ARMS @ THETA, noise=0.4))
    found = of_run(run, problem)
    assert run.stop is Stop.CONTRADICTED
    assert (found.decided == -1).all()
    assert found.reason == "no point is decided"
    assert Stop.CONTRADICTED.value in str(found)
    assert {(line["lower"], line["upper"]) for line in found.table()} == {(None, None)}


@pytest.mark.parametrize("goal", [sl.Threshold(0.0), sl.FractionOfMax(0.5)], ids=["threshold", "fraction"])
def test_rounds_are_compared_with_the_bound_at_their_last_estimate(goal: sl.Goal) -> None:
    problem, oracle = apart([0.9, 0.3, -0.8], goal=goal)
    run = sl.simulate(sl.methods.make("melk", problem, confidence="rips"), oracle)
    found = of_run(run, problem)
    assert (found.decided > 0).all()
    assert run.estimate is not None
    assert run.estimate == pytest.approx([0.9, 0.3, -0.8], abs=0.2)
    given: dict[str, Any] = {"noise": 0.1, "delta": 0.1}
    direct: sl.bounds.LowerBound
    if goal.implicit:
        direct = sl.bounds.implicit(problem.domain, run.estimate, epsilon=0.5, **given)
    else:
        direct = sl.bounds.explicit(problem.domain, run.estimate, threshold=0.0, **given)
    assert found.efficiency == pytest.approx(run.samples / direct.samples, rel=0.06)
    assert [line["estimate"] for line in found.table()] == run.estimate.tolist()
    assert {line["interval"] for line in found.table()} == {None}


@pytest.mark.parametrize("goal", [sl.Band(-0.4, 0.4), sl.Levels([-0.4, 0.4])], ids=["band", "levels"])
def test_two_levels_name_the_class_of_each_point_and_have_a_bound(goal: sl.Goal) -> None:
    values = [0.9, 0.3, -0.8]
    problem, oracle = apart(values, goal=goal, norm=2.0)
    run = sl.simulate(sl.methods.make("melk", problem), oracle)
    found = of_run(run, problem)
    assert run.labels.shape == (2, 3)
    assert [line["label"] for line in found.table()] == [goal.groups[2], goal.groups[1], goal.groups[0]]
    assert [line["decided"] for line in found.table()] == run.decided.tolist()
    assert run.estimate is not None
    nearest = np.minimum(np.abs(run.estimate - 0.4), np.abs(run.estimate + 0.4))
    wanted = UNIT * 0.1**2 * (1 / np.square(nearest)).sum()
    assert found.lower_bound is not None
    assert wanted / 1.05 <= found.lower_bound.samples <= wanted * (1 + 1e-9)
    assert found.efficiency > 1
    assert f"1 {goal.groups[1]}" in str(found)


def test_a_point_with_one_of_two_levels_undecided_is_undecided() -> None:
    problem, _ = apart([0.9, 0.3], goal=sl.Band(-0.4, 0.4), noise=1.0)
    labels = np.array([[1, 1], [1, 0]], dtype=np.int8)
    found = replace(made(problem, np.array([0.9, 0.3]), [1, 0]), labels=labels)
    assert found.counted.tolist() == [True, False]
    assert [line["label"] for line in found.table()] == ["above 0.4", "undecided"]
    assert "1 above 0.4, 0 between -0.4 and 0.4, 1 undecided, 0 below -0.4" in str(found)
    one = sl.bounds.explicit(problem.domain, [0.9, 9.0], threshold=0.4, noise=1.0)
    assert found.lower_bound is not None
    assert found.lower_bound.samples == pytest.approx(one.samples, rel=0.06)


def test_a_run_of_another_problem_is_refused() -> None:
    run, _ = simulated(sl.Threshold(0.2), max_samples=10)
    other, _ = apart([0.5, -0.5], goal=sl.Threshold(0.0))
    with pytest.raises(InputError, match="problem is of 2 points: give that of the run, of 5"):
        of_run(run, other)


# --- tables


def test_a_line_has_all_that_is_known_of_its_point(tmp_path: Path) -> None:
    run, problem = simulated(sl.Threshold(0.2))
    found = of_run(run, problem)
    found.write(tmp_path / "stopping.csv")
    with (tmp_path / "stopping.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert list(rows[0]) == [*problem.domain.names, *COLUMNS]
    assert [int(row["decided"]) for row in rows] == run.decided.tolist()
    assert run.estimate is not None
    assert run.intervals is not None
    assert [float(row["estimate"]) for row in rows] == run.estimate.tolist()
    assert [float(row["lower"]) for row in rows] == run.intervals.lower.tolist()
    assert [float(row["upper"]) for row in rows] == run.intervals.upper.tolist()
    assert tuple(row["interval"] for row in rows) == run.sources
    level = np.array([float(row["lower"]) > 0.2 for row in rows])
    assert [row["label"] for row in rows] == np.where(level, "above", "below").tolist()


def test_what_is_undecided_is_blank_and_names_stay_apart(tmp_path: Path) -> None:
    problem = sl.Problem(sl.Domain(np.eye(2), names=("decided", "y")), goal=sl.Threshold(0.0), noise=1.0)
    found = made(problem, np.array([0.5, 0.1]), [1, 0], lower=None, upper=np.array([1.0, np.inf]))
    found.write(tmp_path / "stopping.csv")
    assert (tmp_path / "stopping.csv").read_text().splitlines() == [
        "decided (coordinate),y,label,decided,estimate,lower,upper,interval",
        "1.0,0.0,above,30,0.5,,1.0,",
        "0.0,1.0,undecided,,0.1,,,",
    ]


def test_equal_times_are_told_once() -> None:
    problem, _ = apart([0.5, -0.5], goal=sl.Threshold(0.0), noise=1.0)
    told = str(made(problem, np.array([0.5, -0.5]), [1, -1]))
    assert "1 above, 0 undecided, 1 below; of those decided the last after 30" in told
    assert told.count("after") == 1
