"""The functions of the experiments are those of the paper, each by a second road."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.gaussian_process.kernels import RBF

from superlevel.domain import Domain
from superlevel.goals import FractionOfMax, Threshold
from superlevel.oracles import Gaussian
from superlevel.reproduce.worlds import (
    DELTA,
    Bumps,
    Cosine,
    Gp,
    Linear,
    Plane,
    Surface,
    World,
    drawing,
    gaussian_process,
    square,
)
from superlevel.simulation import MEASURING

WORLDS: list[Callable[[int], World]] = [
    Gp(points=20, length=0.1, noise=0.3, above=0.28),
    Cosine(points=50, length=0.1, noise=0.2, above=0.3),
    Plane(points=7, length=0.2, noise=0.5, above=0.3),
    Surface(side=6, length=0.2, noise=1.0),
    Linear(arms=12, dimension=4, implicit=False, noise=1.0, ridge=1e-7),
    Linear(arms=12, dimension=4, implicit=True, noise=1.0, ridge=1e-7),
    Bumps(points=40, length=0.1, noise=0.5),
]


def arms_of(world: World) -> Any:
    return world.problem.domain.points


def test_over_many_seeds_the_process_has_its_mean_and_covariance() -> None:
    draws, length = 2000, 0.3
    places = np.linspace(0, 1, 8)[:, None]
    values = np.array([gaussian_process(places, length, seed) for seed in range(draws)])
    expected = np.exp(-((places - places.T) ** 2) / (2 * length**2))
    error = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / draws)
    assert (np.abs(values.T @ values / draws - expected) < 5 * error).all()
    assert (np.abs(values.mean(axis=0)) < 5 / np.sqrt(draws)).all()


def test_the_process_of_the_plane_has_its_covariance_too() -> None:
    draws, side, length = 1500, 3, 0.4
    places = np.array([(i / side, j / side) for i in range(1, side + 1) for j in range(1, side + 1)])
    values = np.array([gaussian_process(places, length, seed) for seed in range(draws)])
    expected = np.exp(-((places[:, None] - places) ** 2).sum(axis=-1) / (2 * length**2))
    assert (np.abs(values.T @ values / draws - expected) < 5 * np.sqrt((1 + expected**2) / draws)).all()
    np.testing.assert_allclose(Surface(side=side, length=length, noise=1.0)(7).values, values[7])


def test_the_process_is_normal() -> None:
    ends = [gaussian_process(np.array([[0.0], [1.0]]), 0.1, seed)[1] for seed in range(1000)]
    assert stats.kstest(ends, "norm").pvalue > 0.01


def test_a_process_with_hardly_any_eigenvalues_is_smooth() -> None:
    places = np.linspace(0, 1, 400)[:, None]
    values = gaussian_process(places, 0.2, 3)
    assert np.abs(np.diff(values, n=2)).max() < 1e-3


def test_functions_have_random_numbers_of_their_own() -> None:
    first = drawing(5).standard_normal()
    methods = [np.random.default_rng([5, phase]).standard_normal() for phase in range(50)]
    oracles = [np.random.default_rng([5, phase, MEASURING]).standard_normal() for phase in range(50)]
    assert first not in [*methods, *oracles, np.random.default_rng(5).standard_normal()]
    assert len({drawing(seed).standard_normal() for seed in range(100)}) == 100


@pytest.mark.parametrize("world", WORLDS, ids=repr)
def test_a_seed_gives_the_same_world_each_time_and_after_a_journey(world: Callable[[int], World]) -> None:
    there = pickle.loads(pickle.dumps(world))
    assert (there, repr(there)) == (world, repr(world))
    np.testing.assert_array_equal(world(3).values, there(3).values)
    np.testing.assert_array_equal(arms_of(world(3)), arms_of(there(3)))


@pytest.mark.parametrize("world", WORLDS, ids=repr)
def test_only_drawn_worlds_depend_on_the_seed(world: Callable[[int], World]) -> None:
    fixed = isinstance(world, Cosine | Plane)
    assert np.array_equal(world(0).values, world(1).values) is fixed


@pytest.mark.parametrize("world", WORLDS, ids=repr)
def test_the_truth_and_the_oracle_are_those_of_the_problem(world: Callable[[int], World]) -> None:
    found = world(2)
    goal = found.problem.goal
    level = 0.5 * found.values.max() if goal == FractionOfMax(0.5) else goal.levels[0]
    np.testing.assert_array_equal(found.truth, found.values > level)
    np.testing.assert_array_equal(found.signs, np.where(found.truth, 1, -1))
    assert isinstance(found.oracle, Gaussian)
    assert (found.oracle.noise, found.problem.delta) == (found.problem.noise, DELTA) == (vars(world)["noise"], 0.1)
    np.testing.assert_array_equal(found.oracle.values, found.values)
    assert 0 < found.truth.sum() < len(found.truth)


def test_a_point_at_the_level_is_not_above_it() -> None:
    problem = replace(WORLDS[0](0).problem, domain=Domain(np.eye(3)), goal=Threshold(0.5))
    assert World(problem=problem, values=np.array([0.5, 0.6, 0.4])).truth.tolist() == [False, True, False]


def test_measurements_scatter_by_the_noise() -> None:
    found = Gp(points=20, length=0.1, noise=0.3, above=0.28)(0)
    errors = found.oracle.measure(np.arange(20_000) % 20, np.random.default_rng(0)) - np.tile(found.values, 1000)
    assert errors.std() == pytest.approx(0.3, rel=0.03)


@settings(max_examples=50)
@given(
    points=st.integers(5, 40),
    above=st.floats(0.05, 0.95),
    length=st.floats(0.05, 0.5),
    seed=st.integers(0, 2**32),
)
def test_the_promised_share_is_above_the_level(points: int, above: float, length: float, seed: int) -> None:
    found = Gp(points=points, length=length, noise=1.0, above=above)(seed)
    count = int(found.truth.sum())
    assert abs(count - above * points) <= 1
    assert set(np.flatnonzero(found.truth)) == set(np.argsort(-found.values)[:count])


def test_the_papers_shares_are_met_exactly() -> None:
    drawn = Gp(points=200, length=0.05, noise=1.0, above=0.1)
    assert [int(drawn(seed).truth.sum()) for seed in range(10)] == [20] * 10
    assert int(Cosine(points=700, length=0.1, noise=0.2, above=0.3)(0).truth.sum()) == 210


def test_lines_run_from_end_to_end() -> None:
    found = Cosine(points=5, length=0.1, noise=0.2, above=0.3)(0)
    np.testing.assert_allclose(arms_of(found)[:, 0], [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(found.values, 1)


def test_the_cosine_is_the_one_of_the_paper() -> None:
    found = Cosine(points=701, length=0.1, noise=0.2, above=0.3)(0)
    half = np.cos(4 * np.pi * arms_of(found)[:, 0])
    np.testing.assert_allclose(found.values, 2 * half**2 - 1, atol=1e-12)
    assert (np.diff(np.sign(found.values)) != 0).sum() == 8


def test_the_plane_is_the_one_of_the_paper() -> None:
    found = Plane(points=9, length=0.2, noise=0.5, above=0.3)(0)
    x, y = arms_of(found).T
    expected = (np.sin(2 * np.pi * (x + y)) - np.sin(2 * np.pi * (x - y))) / 2
    np.testing.assert_allclose(found.values, expected, atol=1e-12)
    assert {tuple(place) for place in arms_of(found)} == {(i / 8, j / 8) for i in range(9) for j in range(9)}


@pytest.mark.parametrize("world", [world for world in WORLDS if not isinstance(world, Linear)], ids=repr)
def test_the_kernel_is_squared_exponential_with_the_length_given(world: Callable[[int], World]) -> None:
    domain = world(0).problem.domain
    assert domain.kernel is not None
    apart = np.linalg.norm(domain.points[0] - domain.points[-2])
    expected = np.exp(-(apart**2) / (2 * vars(world)["length"] ** 2))
    assert domain.kernel(domain.points[[0, -2]])[0, 1] == pytest.approx(expected)


def test_a_square_is_written_row_by_row() -> None:
    assert square(np.array([1.0, 2.0, 5.0])).tolist() == [[a, b] for a in (1, 2, 5) for b in (1, 2, 5)]


def test_a_surface_is_on_the_grid_of_the_paper_with_level_zero() -> None:
    world = Surface(side=4, length=0.2, noise=1.0)
    found = world(0)
    assert world.ticks.tolist() == [0.25, 0.5, 0.75, 1.0]
    for k, place in enumerate(arms_of(found)):
        assert place.tolist() == [(k // 4 + 1) / 4, (k % 4 + 1) / 4]
    assert found.problem.goal == Threshold(0.0)
    assert found.problem.bound == max(abs(value) for value in found.values)


# ------------------------------------------------------------------------------------------ the linear benchmark

BENCHMARK = Linear(arms=100, dimension=25, implicit=False, noise=1.0, ridge=1e-7)


def test_the_benchmarks_arms_are_two_axes_and_angles_between_them() -> None:
    arms = arms_of(BENCHMARK(0))
    assert arms.shape == (100, 25)
    np.testing.assert_array_equal(arms[:2], np.eye(25)[:2])
    np.testing.assert_allclose(np.linalg.norm(arms, axis=1), 1)
    assert not arms[:, 2:].any()
    assert np.linalg.matrix_rank(arms) == 2


def test_the_benchmarks_angles_are_uniform() -> None:
    arms = np.concatenate([arms_of(BENCHMARK(seed))[2:] for seed in range(10)])
    xi = np.arctan2(arms[:, 1], arms[:, 0]) / (np.pi / 4) - 1
    assert (np.abs(xi) <= 0.2).all()
    assert stats.kstest(xi, stats.uniform(-0.2, 0.4).cdf).pvalue > 0.01


@pytest.mark.parametrize("implicit", [False, True])
def test_the_benchmarks_function_is_the_first_axis_and_all_arms_but_one_are_above(implicit: bool) -> None:
    for seed in range(5):
        found = replace(BENCHMARK, implicit=implicit)(seed)
        np.testing.assert_allclose(found.values, arms_of(found) @ np.eye(25)[0])
        assert found.values[0] == 1.0 > found.values[1:].max()
        assert np.flatnonzero(~found.truth).tolist() == [1]
        assert np.abs(found.values[2:] - 0.5).min() > np.cos(0.3 * np.pi) - 0.5 - 1e-9


def test_the_benchmarks_problem_says_what_the_theory_may_know() -> None:
    explicit, implicit = (replace(BENCHMARK, implicit=given)(0).problem for given in (False, True))
    assert (explicit.goal, implicit.goal) == (Threshold(0.5), FractionOfMax(0.5))
    for problem in (explicit, implicit):
        known = (problem.noise, problem.bound, problem.norm, problem.delta, problem.ridge, problem.domain.kernel)
        assert known == (1.0, 1.0, 1.0, 0.1, 1e-7, None)


def test_the_values_of_a_world_are_not_its_arms() -> None:
    found = BENCHMARK(0)
    assert not np.shares_memory(found.values, arms_of(found))


@pytest.mark.parametrize("seed", range(5))
def test_the_norm_of_bumps_is_that_of_the_least_function_through_them(seed: int) -> None:
    world = Bumps(points=60, length=0.2, noise=0.5)(seed)
    kernel = RBF(0.2)(world.problem.domain.points)
    # Of all functions with these values the least norm is y' K^-1 y; a little noise keeps K invertible.
    least = np.sqrt(world.values @ np.linalg.solve(kernel + 1e-9 * np.eye(60), world.values))
    assert world.problem.norm is not None
    assert least <= world.problem.norm * (1 + 1e-6)
    assert least > 0.9 * world.problem.norm


def test_the_level_of_bumps_is_in_a_gap_with_points_on_both_sides() -> None:
    for seed in range(20):
        world = Bumps(points=100, length=0.1, noise=0.5)(seed)
        gaps = world.values - world.problem.goal.levels[0]
        assert 0.2 <= world.truth.mean() <= 0.5
        assert gaps[gaps > 0].min() == pytest.approx(-gaps[gaps < 0].max())
