"""A forecast is the closed loop without noise, for the guess as the kernel has it."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, Matern

import superlevel as sl
from superlevel.arrays import Array
from superlevel.bounds import End, explicit, expressed, foretell, norm_of, sweep
from superlevel.records import Stop
from superlevel.reproduce.worlds import Linear, World

LINE = np.linspace(0, 1, 25)[:, None]
CENTRES, HEIGHTS = np.array([[0.15], [0.4], [0.8]]), np.array([1.0, -0.7, 1.2])
BATCH = 1.3  # one more of them, or one less: as finely as measurements are counted


def benchmark(implicit: bool, seed: int = 0) -> World:
    return Linear(arms=30, dimension=4, implicit=implicit, noise=1.0, ridge=1e-7)(seed)


def bumps(kernel: Any = None) -> tuple[Array, float]:
    """A sum of kernel functions on the line, and its norm by the reproducing property."""
    kernel = RBF(0.1) if kernel is None else kernel
    return kernel(LINE, CENTRES) @ HEIGHTS, float(np.sqrt(HEIGHTS @ kernel(CENTRES) @ HEIGHTS))


def line(**changes: Any) -> sl.Problem:
    return sl.Problem(**{"domain": sl.Domain(LINE, RBF(0.1)), "goal": sl.Threshold(0.3), "noise": 0.3, **changes})


def arms(values: list[float], **changes: Any) -> tuple[sl.Problem, Array]:
    """Points that have nothing to do with each other."""
    given = {"domain": sl.Domain(np.eye(len(values))), "goal": sl.Threshold(0.0), "noise": 0.5, **changes}
    return sl.Problem(**given), np.array(values)


# ------------------------------------------------------------------------------------------- norms


@pytest.mark.parametrize("kernel", [RBF(0.1), RBF(0.3), Matern(0.2, nu=1.5), 9.0 * Matern(0.1, nu=2.5)])
def test_the_norm_of_a_sum_of_kernel_functions_is_in_closed_form(kernel: Any) -> None:
    on_points = sl.Domain(LINE, kernel)
    centres = LINE[[3, 10, 20]]
    values = 2.5 + kernel(LINE, centres) @ HEIGHTS
    norm = float(np.sqrt(HEIGHTS @ kernel(centres) @ HEIGHTS))
    assert norm_of(line(domain=on_points, mean=2.5), values) == pytest.approx(norm, rel=1e-4)


@given(st.lists(st.floats(-10, 10), min_size=3, max_size=3))
def test_the_norm_of_a_linear_function_is_that_of_its_coefficients(theta: list[float]) -> None:
    points = np.random.default_rng(0).normal(size=(12, 3))
    problem = sl.Problem(sl.Domain(points), goal=sl.Threshold(0.0), noise=1.0, mean=-3.0)
    assert norm_of(problem, points @ theta - 3.0) == pytest.approx(np.linalg.norm(theta), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("noise", [0.1, 0.3, 1.0])
def test_the_noise_of_a_pilot_is_not_in_its_norm(noise: float) -> None:
    values, norm = bumps()
    pilot = values + noise * np.random.default_rng(1).normal(size=len(LINE))
    found = expressed(line(), pilot)
    assert norm / 2 < found.norm < 2 * norm
    assert found.smoothed
    assert np.abs(found.values - values).mean() < np.abs(pilot - values).mean()


def test_a_guess_that_is_too_rough_is_smoothed_by_a_tenth_of_the_tolerance_at_most() -> None:
    rough, _ = bumps(RBF(0.06))
    norms = []
    for tolerance in (0.0, 0.05, 0.3, 1.0):
        found = expressed(line(tolerance=tolerance), rough)
        assert found.moved <= max(0.1 * tolerance, 0.01)
        assert not found.smoothed
        norms.append(found.norm)
    assert norms == sorted(norms, reverse=True)
    assert norms[-1] < norms[0] / 2


def test_what_the_misspecification_allows_is_part_of_the_function_and_not_of_its_norm() -> None:
    values, norm = bumps()
    jagged = values + 0.05 * np.where(np.arange(len(LINE)) % 2, 1.0, -1.0)
    found = expressed(line(misspecification=0.08), jagged)
    np.testing.assert_array_equal(found.values, jagged)
    assert found.norm <= norm
    assert not found.smoothed


def test_a_constant_guess_has_no_norm_and_suggests_none() -> None:
    assert norm_of(line(mean=2.0), np.full(len(LINE), 2.0)) == 0.0
    with pytest.raises(sl.InputError, match="norm is None: give the problem one"):
        foretell(line(mean=2.0), np.full(len(LINE), 2.0))
    assert foretell(line(mean=2.0, norm=1.0), np.full(len(LINE), 2.0)).decided


# --------------------------------------------------------------------------------------- the loop


def by_hand(problem: sl.Problem, values: Array) -> int:
    """The loop as its users write it, with measurements that are f."""
    method = sl.methods.make("melk", problem, confidence="ridge")
    state = method.init()
    while state.stop is None:
        plan = method.ask(state)
        state, _ = method.tell(state, plan, values[plan.indices])
    assert state.stop is Stop.DECIDED
    return state.samples


@pytest.mark.parametrize("implicit", [False, True])
def test_a_forecast_is_the_loop_on_exact_measurements(implicit: bool) -> None:
    world = benchmark(implicit)
    found = foretell(world.problem, world.values)
    assert (found.end, found.norm) == (End.DECIDED, 1.0)
    assert found.needed == pytest.approx(1.0)
    # The forecast's f is fitted in features: a last digit of what is missing may change the size of a batch.
    assert found.samples == pytest.approx(by_hand(world.problem, world.values), rel=0.01)
    assert found == foretell(world.problem, world.values)


def test_so_it_is_for_a_kernel_with_tolerance_and_unequal_noise() -> None:
    values, norm = bumps()
    problem = line(norm=1.2 * norm, tolerance=0.1, noise=np.linspace(0.1, 0.4, len(LINE)))
    fit = expressed(problem, values).values
    assert foretell(problem, values).samples == by_hand(problem, fit)


@pytest.mark.parametrize("implicit", [False, True])
def test_runs_take_about_the_forecast_and_less_than_at_worst(implicit: bool) -> None:
    world = benchmark(implicit, seed=1)
    method = sl.methods.make("milk" if implicit else "melk", world.problem, confidence="ridge")
    runs = [sl.simulate(method, world.oracle, seed=seed) for seed in range(6)]
    assert all(run.stop is Stop.DECIDED for run in runs)
    mean = np.mean([run.samples for run in runs])
    assert mean / 1.5 < foretell(world.problem, world.values).samples < 1.5 * mean
    assert foretell(world.problem, world.values, at_worst=True).samples > max(run.samples for run in runs)


@given(st.sampled_from([1e-3, 7.0, 1e4]), st.sampled_from([-50.0, 0.0, 3.0]), st.booleans())
@settings(max_examples=6)
def test_units_and_an_offset_change_nothing(unit: float, offset: float, at_worst: bool) -> None:
    values, norm = bumps()
    small = line(norm=norm, tolerance=0.2)
    large = line(
        norm=unit * norm, tolerance=0.2 * unit, noise=0.3 * unit, goal=sl.Threshold(0.3 * unit + offset), mean=offset
    )
    expected = foretell(small, values, at_worst=at_worst).samples
    assert foretell(large, unit * values + offset, at_worst=at_worst).samples == pytest.approx(expected, rel=BATCH - 1)


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("noise", [0.1, 0.2, 0.4, 0.8]), ("norm", [2, 4, 8, 200]), ("tolerance", [0.4, 0.2, 0.1, 0.05])],
)
def test_more_noise_a_larger_norm_and_less_tolerance_do_not_take_less(name: str, numbers: list[float]) -> None:
    values, _ = bumps()
    given = {"norm": 3.0, "tolerance": 0.15}
    for at_worst in (False, True):
        found = [foretell(line(**given | {name: each}), values, at_worst=at_worst).samples for each in numbers]
        assert all(later >= earlier / BATCH for earlier, later in pairwise(found))
        assert found[-1] > found[0]


def test_without_norm_and_bound_the_norm_of_the_guess_has_half_as_much_room_again() -> None:
    values, norm = bumps()
    guessed = foretell(line(tolerance=0.1), values)
    assert guessed.norm == pytest.approx(1.5 * norm, rel=0.01)
    assert guessed == foretell(line(tolerance=0.1, norm=guessed.norm), values)


def test_a_bound_takes_the_place_of_the_norm_where_it_limits_f() -> None:
    values, norm = bumps()
    found = foretell(line(tolerance=0.1, bound=2.0, misspecification=0.01), values)
    assert found.decided
    assert found.norm is None
    found = foretell(line(tolerance=0.1, bound=2.0), values)  # nothing limits what the features miss
    assert found.norm == pytest.approx(1.5 * norm, rel=0.05)
    with pytest.raises(sl.InputError, match=re.escape("bound is 0.5: give the problem one of at least")):
        foretell(line(bound=0.5), values)


def test_a_norm_below_that_of_the_guess_is_too_small() -> None:
    values, norm = bumps()
    found = foretell(line(norm=norm / 2), values)
    assert (found.samples, found.end, found.too_small) == (np.inf, End.SMALL, True)
    assert f"norm is {norm / 2:.4g}, but the guess has one of {found.needed:.4g}" == found.reason
    assert foretell(line(norm=1.001 * norm, tolerance=0.1), values).decided


# --------------------------------------------------------------------------------- degenerate cases


@pytest.mark.parametrize(
    ("goal", "values"), [(sl.Threshold(0.5), [1.0, 0.5]), (sl.FractionOfMax(0.5), [1.0, 0.5, 0.2])]
)
def test_a_point_at_the_level_never_ends_without_a_tolerance(goal: sl.Goal, values: list[float]) -> None:
    problem, f = arms(values, goal=goal, norm=2.0)
    assert foretell(problem, f).end is End.TIED
    assert foretell(replace(problem, tolerance=0.2), f).decided


def test_a_point_that_cannot_be_measured_is_no_tie() -> None:
    problem = sl.Problem(sl.Domain([[0.0], [1.0]]), goal=sl.Threshold(0.0), noise=0.5, norm=2.0)
    assert foretell(problem, [0.0, 1.0]).decided


def test_a_point_very_near_to_the_level_is_beyond_counting() -> None:
    problem, f = arms([1.0, 1e-6], norm=2.0)
    assert foretell(problem, f, max_samples=5000) == foretell(problem, f, max_samples=5000)
    found = foretell(problem, f, max_samples=5000)
    assert (found.samples, found.exceeded) == (5000, True)
    with pytest.raises(sl.InputError, match="max_samples"):
        foretell(problem, f, max_samples=0)


def test_one_point() -> None:
    for value in (-0.3, 0.3):
        problem, f = arms([value], norm=1.0)
        alone = foretell(problem, f)
        assert alone.decided
        # The lower bound for one point, 2 log(1 / 2.4 delta) sigma^2 / gap^2.
        assert alone.samples > 2 * np.log(1 / 0.24) * (0.5 / 0.3) ** 2


def test_everything_above_and_a_threshold_outside() -> None:
    problem, f = arms([0.5, 0.6, 0.9], norm=2.0)
    assert 0 < foretell(problem, f).samples < np.inf
    outside = replace(problem, goal=sl.Threshold(2.5))  # |f| <= ||theta|| <= 2 at every point
    assert foretell(outside, f).samples == foretell(outside, f, at_worst=True).samples == 10  # a batch, to see


def test_misspecification_takes_more_and_beyond_the_gap_it_never_ends() -> None:
    problem, f = arms([1.0, -0.5, 0.4], norm=2.0)
    found = [foretell(replace(problem, misspecification=h), f) for h in (0.0, 0.05, 0.15, 0.3, 0.6)]
    counts = [each.samples for each in found]
    assert counts == sorted(counts)
    assert counts[0] < counts[2] < np.inf
    assert [each.end for each in found[3:]] == [End.MISSED] * 2
    assert foretell(replace(problem, misspecification=0.05), f, at_worst=True).samples > counts[1]


def test_unequal_noise_counts_point_by_point() -> None:
    problem, f = arms([1.0, -0.5, 0.4], norm=2.0)
    alike = foretell(problem, f).samples
    assert foretell(replace(problem, noise=np.full(3, 0.5)), f).samples == alike
    assert foretell(replace(problem, noise=np.array([0.5, 0.5, 0.1])), f).samples < alike
    assert foretell(replace(problem, noise=0.0), f).samples <= 10


def test_values_are_checked() -> None:
    problem, _ = arms([1.0, 2.0])
    with pytest.raises(sl.InputError, match=re.escape("values is of shape (3,): give shape (2,)")):
        foretell(problem, [1.0, 2.0, 3.0])
    with pytest.raises(sl.InputError, match="values is at most -1"):
        foretell(replace(problem, goal=sl.FractionOfMax(0.5)), [-1.0, -2.0])


# ------------------------------------------------------------------------------------------ ranges


def test_a_sweep_is_every_combination_by_itself() -> None:
    values, _ = bumps()
    problem, seen = line(tolerance=0.15), []
    cells = sweep(
        problem, values, noise=[0.2, 0.4], norm=[1.0, 3.0], watch=lambda done, total: seen.append((done, total))
    )
    assert [(cell.problem.noise, cell.problem.norm) for cell in cells] == [(0.2, 1), (0.2, 3), (0.4, 1), (0.4, 3)]
    assert seen == [(0, 4), (1, 4), (2, 4), (3, 4)]
    for cell in cells:
        assert cell.forecast == foretell(cell.problem, values)
        fit = expressed(cell.problem, values).values
        noise = cell.problem.known_noise
        lower = explicit(problem.domain, fit, threshold=0.3, noise=noise, tolerance=0.15).samples
        assert cell.lower == lower
        assert cell.forecast.samples > lower


def test_a_sweep_over_nothing_is_the_problem_with_the_norm_of_the_guess() -> None:
    values, norm = bumps()
    (cell,) = sweep(line(tolerance=0.15), values)
    assert cell.problem.norm == pytest.approx(1.5 * norm, rel=0.01)
    assert cell.problem.delta == 0.1


def test_ranges_are_lists_of_numbers_that_the_problem_takes() -> None:
    values, _ = bumps()
    for wrong, sentence in (
        ({"norm": 2.0}, "norm is 2.0: give a list of numbers"),
        ({"noise": "0.5"}, "noise is '0.5': give a list of numbers"),
        ({"delta": [0.1, 2.0]}, "delta is 2.0: give a number > 0 and < 1"),
    ):
        with pytest.raises(sl.InputError, match=re.escape(sentence)):
            sweep(line(), values, **wrong)


def test_what_the_lower_bound_puts_beyond_counting_is_not_counted() -> None:
    problem, f = arms([1.0, 1e-5], norm=2.0)
    (cell,) = sweep(problem, f)
    assert cell.lower > 1e7
    assert cell.forecast.exceeded
    assert "as the lower bound is" in cell.forecast.reason
