"""The bounds for several levels at once, and for one level that is written in another way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.bounds import explicit, foretell, melk, plan, resolution, rounds, upper
from superlevel.bounds.decided_points import bound
from superlevel.goals import Goal
from superlevel.records import Stop

from .oracle import Array, design_optimum, normal

UNIT = 2.0 * np.log(1 / 0.24)  # measurements that a complexity of 1 costs where delta is 0.1 and sigma 1
LINE = np.linspace(0, 1, 25)[:, None]
BUMPS = np.asarray(RBF(0.1)(LINE, [[0.15], [0.4], [0.8]]) @ [1.0, -0.7, 1.2])
EVERYONE = np.ones(4, dtype=np.bool_)


def line(goal: Goal, **changes: Any) -> sl.Problem:
    return sl.Problem(**{"domain": sl.Domain(LINE, RBF(0.1)), "goal": goal, "noise": 0.3, "norm": 2.0, **changes})


def arms(goal: Goal, n: int = 4, **changes: Any) -> sl.Problem:
    """Points that have nothing to do with each other."""
    return sl.Problem(**{"domain": sl.Domain(np.eye(n)), "goal": goal, "noise": 1.0, "bound": 2.0, **changes})


# ------------------------------------------------------------------------------------- lower bound


def test_independent_points_add_up_with_the_nearest_level_of_each() -> None:
    values = np.array([0.3, -0.4, 1.2, 0.9])
    found = explicit(sl.Domain(np.eye(4)), values, threshold=[0.0, 1.0], noise=1.0, rtol=1e-5)
    terms = np.array([0.3, 0.4, 0.2, 0.1]) ** -2.0
    assert found.complexity == pytest.approx(terms.sum(), rel=1e-4)
    np.testing.assert_allclose(found.weights, terms / terms.sum(), atol=1e-3)


def test_a_point_within_the_tolerance_of_one_level_is_still_placed_by_the_other() -> None:
    """0.05 is as good as 0, and must be told from functions that have it beyond 1.1."""
    values = np.array([0.05, -0.4, 1.3, 0.95])
    found = explicit(sl.Domain(np.eye(4)), values, threshold=[0.0, 1.0], noise=1.0, tolerance=0.1, rtol=1e-5)
    terms = np.array([0.95 + 0.1, 0.4 + 0.1, 0.3 + 0.1, 0.95 + 0.1]) ** -2.0
    assert found.complexity == pytest.approx(terms.sum(), rel=1e-4)


def nearest_other_map(
    points: Array, values: Array, levels: Sequence[float], tolerance: float, weights: Array, *, reach: float
) -> float:
    """1 / ||f' - f||^2 of the nearest f' of a grid in a plane that has a clear label clearly the other way."""
    side = np.linspace(-reach, reach, 1201)
    moves = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    other = np.zeros(len(moves), dtype=np.bool_)
    for level in levels:
        margin, changed = values - level, values + moves @ points.T - level
        other |= ((np.abs(margin) > tolerance) & (np.sign(margin) * changed < -tolerance)).any(axis=1)
    return float(1 / (((moves @ points.T) ** 2) @ weights)[other].min())


@pytest.mark.parametrize("tolerance", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_no_function_with_another_map_is_nearer(seed: int, tolerance: float) -> None:
    rng = np.random.default_rng(seed)
    points, levels = rng.normal(size=(6, 2)), (-0.4, 0.1, 0.7)
    values = points @ rng.normal(size=2)
    found = explicit(sl.Domain(points), values, threshold=levels, noise=1.0, tolerance=tolerance, rtol=1e-4)
    information = (points * found.weights[:, None]).T @ points
    reach = 3.0 / np.sqrt(found.complexity * np.linalg.eigvalsh(information)[0])
    seen = nearest_other_map(points, values, levels, tolerance, found.weights, reach=float(reach))
    assert seen <= found.complexity * (1 + 1e-9)
    assert seen == pytest.approx(found.complexity, rel=0.05)


def test_a_cone_solver_finds_the_same() -> None:
    points, values = normal(0, 12, 3), normal(1, 12)
    found = explicit(sl.Domain(points), values, threshold=[-0.5, 0.3], noise=1.0, rtol=1e-5)
    nearest = np.minimum(np.abs(values + 0.5), np.abs(values - 0.3))
    optimum = design_optimum(points, points / nearest[:, None])
    assert found.lower_bound <= optimum * (1 + 1e-6)
    assert found.complexity == pytest.approx(optimum, rel=2e-5)
    same = melk(sl.Domain(points), values, threshold=[-0.5, 0.3], rtol=1e-5)
    assert (same.value, same.lower_bound) == (found.complexity, found.lower_bound)


def test_the_order_of_the_levels_and_repeats_do_not_matter() -> None:
    domain, values = sl.Domain(normal(2, 10, 3)), normal(3, 10)
    found = [explicit(domain, values, threshold=levels, noise=1.0).samples for levels in ([0.1, 0.9], [0.9, 0.1, 0.9])]
    assert found[0] == found[1]
    assert found[0] > explicit(domain, values, threshold=0.9, noise=1.0).samples


# ------------------------------------------------------------------------------------ decided points


def test_a_point_at_one_level_counts_for_the_others() -> None:
    problem = arms(sl.Levels([0.0, 1.0]))
    values = np.array([0.0, -0.5, 1.0, 0.4])
    found = bound(problem, values, EVERYONE)
    assert found is not None
    assert found.samples == pytest.approx(UNIT * (1 + 4 + 1 + 1 / 0.4**2), rel=0.05)


def test_only_counted_points_add_up() -> None:
    problem = arms(sl.Band(0.0, 1.0), tolerance=0.1)
    values = np.array([0.05, -0.5, 1.4, 0.4])
    found = bound(problem, values, np.array([True, False, True, False]))
    assert found is not None
    assert found.samples == pytest.approx(UNIT * (1.05**-2 + 0.5**-2), rel=0.05)
    assert found.weights[[1, 3]].max() < 0.01
    assert bound(problem, values, ~EVERYONE) is None


def test_for_all_points_it_is_the_lower_bound() -> None:
    problem = arms(sl.Levels([0.0, 0.6]), tolerance=0.1)
    values = np.array([0.2, -0.5, 1.4, 0.4])
    found = bound(problem, values, EVERYONE)
    whole = explicit(problem.domain, values, threshold=[0.0, 0.6], noise=1.0, tolerance=0.1, rtol=0.05)
    assert found is not None
    assert found.samples == whole.samples


# ----------------------------------------------------------------------------------- rounds, theorems


def test_one_level_is_a_threshold_however_it_is_written() -> None:
    values = np.array([0.2, -0.5, 1.4, 0.45])
    threshold = arms(sl.Threshold(0.3))
    for goal in (sl.Levels([0.3]), sl.Threshold(0.3, side="below")):
        problem = replace(threshold, goal=goal)
        rows, same = plan(problem, values).rows, plan(threshold, values).rows
        assert rows == same


@pytest.mark.parametrize("error", [0.0, 2.0])
def test_a_round_asks_for_the_points_that_are_near_to_a_level(error: float) -> None:
    values = np.array([0.9, -0.3, 1.4, 0.45, -1.9, 0.31])
    goal = sl.Levels([-0.2, 0.6])
    found = rounds(arms(goal, n=6), values, error=error)
    margins = np.minimum(np.abs(values + 0.2), np.abs(values - 0.6))
    left = [6, *(int((margins <= (2 + error) * each.precision).sum()) for each in found)]
    assert [each.undecided for each in found] == left[:-1]
    assert left[-1] == 0


def test_a_point_with_zero_features_asks_for_no_round() -> None:
    problem = arms(sl.Threshold(0.0), domain=sl.Domain([[0.0], [1.0]]))
    assert [each.undecided for each in rounds(problem, [0.0, 0.5])] == [1] * 4  # 0.5 is more than 2 * 2 * 2^-4


@given(st.integers(0, 10_000), st.integers(2, 8), st.integers(1, 3), st.sampled_from([0.0, 0.2]))
@settings(max_examples=20)
def test_lower_bound_rounds_and_theorem_are_in_order(seed: int, n: int, r: int, tolerance: float) -> None:
    points = normal(seed, n, r)
    values = points @ normal(seed + 1, r)
    values = values / np.abs(values).max()
    assume(np.abs(values - np.array([[-0.3], [0.1], [0.5]])).min() > 1e-3)
    goal = sl.Levels([-0.3, 0.1, 0.5])
    problem = arms(goal, domain=sl.Domain(points), bound=1.0, tolerance=tolerance)
    best, worst = (sum(each.samples for each in rounds(problem, values, error=error)) for error in (0.0, 2.0))
    found = upper(problem, values)
    assert best <= worst * 1.01  # up to how closely the designs were solved
    assert worst <= found.samples
    assert found.complexity.value == melk(problem.domain, values, threshold=goal.levels, tolerance=tolerance).value
    if tolerance == 0.0:
        assert explicit(problem.domain, values, threshold=goal.levels, noise=1.0).samples <= best


def test_the_resolution_is_that_of_the_nearest_levels() -> None:
    """Independent points see their margins only, so that a threshold at zero does the same to these."""
    values = np.random.default_rng(0).uniform(-2, 3, size=15)
    domain, given_ = sl.Domain(np.eye(15)), {"norm": 1.0, "misspecification": 0.01, "ridge": 1e-4, "rtol": 1e-6}
    margins = np.minimum(np.abs(values), np.abs(values - 1.0))
    found = resolution(domain, values, goal=sl.Band(0.0, 1.0), **given_)
    same = resolution(domain, margins, goal=sl.Threshold(0.0), **given_)
    assert (found.value, found.safe) == pytest.approx((same.value, same.safe))


# ----------------------------------------------------------------------------------------- forecasts


@pytest.mark.parametrize("goal", [sl.Band(0.2, 0.7), sl.Levels([-0.3, 0.2, 0.7])])
def test_a_forecast_is_the_loop_on_exact_measurements(goal: Goal) -> None:
    problem = line(goal, tolerance=0.1)
    method = sl.methods.make("melk", problem, confidence="ridge")
    fit = sl.bounds.expressed(problem, BUMPS).values
    state = method.init()
    while state.stop is None:
        asked = method.ask(state)
        state, _ = method.tell(state, asked, fit[asked.indices])
    assert state.stop is Stop.DECIDED
    found = foretell(problem, BUMPS)
    assert found.decided
    assert found.samples == state.samples
    assert foretell(problem, BUMPS, at_worst=True).samples > found.samples


def test_more_levels_take_no_fewer_measurements() -> None:
    given_ = [sl.Threshold(0.2), sl.Band(0.2, 0.7), sl.Levels([-0.3, 0.2, 0.7])]
    for at_worst in (False, True):
        counts = [foretell(line(goal, tolerance=0.1), BUMPS, at_worst=at_worst).samples for goal in given_]
        assert counts[0] <= 1.3 * counts[1]  # batches grow: as finely as measurements are counted
        assert counts[1] <= 1.3 * counts[2]


def test_a_plan_has_every_row() -> None:
    rows = {row.name: row for row in plan(line(sl.Band(0.2, 0.7), tolerance=0.1), BUMPS).rows}
    order = ["lower bound", "MELK with ridge, typical", "MELK with ridge, at worst", "MELK at worst"]
    counts = [rows[name].measurements for name in [*order, "theorem as proved"]]
    assert counts == sorted(counts)
    assert 0 < counts[0] < counts[-1] < np.inf


def test_a_point_at_any_level_never_ends_without_a_tolerance() -> None:
    values = np.array([0.2, -0.5, 1.4, 1.0])
    rows = plan(arms(sl.Band(0.0, 1.0)), values).rows
    assert all(row.measurements == np.inf for row in rows)
    within = plan(arms(sl.Band(0.0, 1.0), tolerance=0.7), np.array([0.4, 0.5, 0.6, 0.35])).rows
    assert within[0].measurements == 0.0
    assert within[0].assumes == "points without noise, or all within the tolerance"
