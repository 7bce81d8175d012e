"""Intervals from the posterior: where they come from, what they remember, and what they decide."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.arrays import Array
from superlevel.confidence.rkhs import RkhsWidth
from superlevel.errors import AssumptionWarning
from superlevel.findings import Verdict
from superlevel.goals import ABOVE, BELOW, UNDECIDED, Bounds, FractionOfMax, Threshold
from superlevel.records import Batch, Info, State, Stop

N = 30
DOMAINS = {
    "features": sl.Domain(np.linspace(0, 1, N), RBF(0.5)),
    "matrix": sl.Domain(np.linspace(0, 1, N), RBF(0.04)),
}
TRUTH = np.sin(5 * np.linspace(0, 1, N))


def told(method: sl.methods.Method, state: State, seed: int = 0) -> tuple[State, Info]:
    plan = method.ask(state)
    noise = 0.1 * np.random.default_rng([seed, state.phase]).standard_normal(plan.total)
    return method.tell(state, plan, TRUTH[plan.indices] + noise)


def around(state: State, beta: float) -> tuple[Array, Array]:
    found = state.belief.posterior
    half = beta * found.deviation
    return found.mean - half, found.mean + half


# --- points


@pytest.mark.parametrize("kind", DOMAINS)
@pytest.mark.parametrize("beta", [1.0, 3.0])
def test_intervals_are_so_many_deviations_around_the_mean(kind: str, beta: float) -> None:
    problem = sl.Problem(DOMAINS[kind], goal=Threshold(0.3), noise=0.1)
    method = sl.methods.make("truvar", problem, confidence=sl.Posterior(beta=beta), batch=4)
    state = method.init()
    np.testing.assert_allclose(state.intervals.lower, -beta)
    for _ in range(3):
        state, info = told(method, state)
        lower, upper = around(state, beta)
        np.testing.assert_allclose(state.intervals.lower, lower)
        np.testing.assert_allclose(state.intervals.upper, upper)
        np.testing.assert_allclose(info.bounds.lower, lower)
        np.testing.assert_allclose(info.bounds.upper, upper)
        np.testing.assert_allclose(state.belief.values(method.goal), (lower + upper) / 2, atol=1e-12)
        np.testing.assert_array_equal(state.labels == ABOVE, lower > 0.3)
        np.testing.assert_array_equal(state.labels == BELOW, upper < 0.3)


@pytest.mark.parametrize("name", ["lse", "lse-imp"])
def test_intersected_intervals_are_all_intervals_so_far_at_once(name: str) -> None:
    goal: sl.Goal = Threshold(0.3) if name == "lse" else FractionOfMax(0.3)
    problem = sl.Problem(DOMAINS["matrix"], goal=goal, noise=0.1)
    method = sl.methods.make(name, problem, confidence=sl.Posterior(beta=2.0, intersected=True))
    state = method.init()
    lower, upper = np.full(N, -np.inf), np.full(N, np.inf)
    shorter = 0
    for _ in range(25):
        state, _ = told(method, state)
        now = around(state, 2.0)
        lower, upper = np.maximum(lower, now[0]), np.minimum(upper, now[1])
        np.testing.assert_allclose(state.intervals.lower, lower)
        np.testing.assert_allclose(state.intervals.upper, upper)
        shorter += int((upper - lower < now[1] - now[0] - 1e-6).sum())
    assert shorter > 0


def test_intervals_that_contradict_earlier_ones_are_named_and_replaced() -> None:
    problem = sl.Problem(sl.Domain(np.arange(3.0), RBF(0.1)), goal=Threshold(0.0), noise=0.1)
    method = sl.methods.make("lse", problem, batch=1, confidence=sl.Posterior(beta=1.0, intersected=True))
    state = method.init()
    plan = method.ask(state)
    state, _ = method.tell(state, plan, [0.05])
    x = int(plan.indices[0])
    again = replace(plan, origin="another")
    with pytest.warns(AssumptionWarning) as caught:
        state, info = method.tell(state, again, [1.0])
    expected = f"the intervals of 1 points, the first of them point {x}, contradict earlier ones"
    assert any(str(warning.message).startswith(expected) for warning in caught)
    assert any(sentence.startswith(expected) for sentence in info.warnings)
    (finding,) = (each for each in info.findings if each.assumption == "intervals")
    assert (finding.verdict, finding.number) == (Verdict.CONTRADICTED, 1.0)
    lower, upper = around(state, 1.0)
    assert state.intervals.lower[x] == pytest.approx(lower[x])
    assert state.intervals.upper[x] == pytest.approx(upper[x])


def test_a_kernel_that_is_too_smooth_is_doubted_once() -> None:
    problem = sl.Problem(sl.Domain(np.linspace(0, 1, N), RBF(1.0)), goal=Threshold(0.1), noise=0.01)
    method = sl.methods.make("uniform", problem, batch=30, confidence=sl.Posterior(beta=1e6))
    truth = np.random.default_rng(0).standard_normal(N)
    state, said = method.init(), list[str]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        for _ in range(4):
            plan = method.ask(state)
            state, info = method.tell(state, plan, truth[plan.indices])
            said += info.warnings
    assert len(said) == 1
    assert "times as far from their predictions as kernel and noise say" in said[0]


# --- pairs


@pytest.mark.parametrize("kind", DOMAINS)
@pytest.mark.parametrize("epsilon", [0.01, 0.3])
def test_the_bounds_of_pairs_are_those_of_the_whole_covariance(kind: str, epsilon: float) -> None:
    problem = sl.Problem(DOMAINS[kind], goal=FractionOfMax(epsilon), noise=0.1)
    method = sl.methods.make("milk", problem, batch=5, confidence=sl.Posterior(beta=2.0))
    state, info = told(method, method.init())
    found, values = state.belief.posterior, state.belief.values(method.goal)
    sigma, share = found.columns(np.arange(N)), 1 - epsilon
    for x in range(0, N, 3):
        for other in range(N):
            direction = np.zeros(N)
            direction[x] += 1.0
            direction[other] -= share
            centre = direction @ found.mean
            half = 2.0 * np.sqrt(np.maximum(0.0, direction @ sigma @ direction))
            assert values[x, other] == pytest.approx(centre, abs=1e-10)
            assert info.bounds.lower[x, other] == pytest.approx(centre - half, abs=1e-6)
            assert info.bounds.upper[x, other] == pytest.approx(centre + half, abs=1e-6)


def test_pairs_are_known_better_than_their_points_say() -> None:
    problem = sl.Problem(DOMAINS["features"], goal=FractionOfMax(0.3), noise=0.1)
    method = sl.methods.make("milk", problem, batch=5)
    state, info = told(method, method.init())
    apart = state.intervals.upper[:, None] - 0.7 * state.intervals.lower
    assert (info.bounds.upper <= apart + 1e-9).all()
    assert (info.bounds.upper < apart - 0.1).any()


def test_misspecification_widens_a_pair_at_both_of_its_points() -> None:
    bounds, beliefs = [], []
    for h in (0.2, 0.0):
        problem = sl.Problem(
            DOMAINS["matrix"], goal=FractionOfMax(0.3), noise=0.1, norm=1.0, delta=0.1, misspecification=h
        )
        batch = Batch(points=np.array([3, 9]), values=np.array([0.1, 0.2]))
        beliefs.append(sl.Rkhs().update(sl.Rkhs().prior(problem), batch))
        bounds.append(beliefs[-1].bounds(0.7))
    widths = beliefs[0].widths
    assert isinstance(widths, RkhsWidth)
    assert (widths.norm, widths.noise, widths.delta, widths.misspecification) == (1.0, 0.1, 0.1, 0.2)
    extra = widths.extra(beliefs[0].posterior)
    np.testing.assert_allclose(bounds[0].upper - bounds[1].upper, extra[:, None] + 0.7 * extra)
    np.testing.assert_allclose(bounds[1].lower - bounds[0].lower, extra[:, None] + 0.7 * extra)


# --- tolerance


def labels_of(lower: Array, upper: Array, tolerance: float) -> Array:
    goal = Threshold(0.0)
    found = goal.read(goal.unread(len(lower)), Bounds(lower=lower, upper=upper), tolerance=tolerance)
    return found.labels.astype(np.float64)


BOUND = st.floats(-2, 2, allow_subnormal=False)


@given(st.lists(st.tuples(BOUND, BOUND), min_size=1, max_size=8), st.floats(0, 1))
def test_nothing_is_declared_that_is_wrong_by_more_than_the_tolerance(
    ends: list[tuple[float, float]], tolerance: float
) -> None:
    lower, upper = np.sort(np.array(ends), axis=1).T.copy()
    labels = labels_of(lower, upper, tolerance)
    assert (lower[labels == ABOVE] >= -tolerance).all()
    assert (upper[labels == BELOW] <= tolerance).all()
    assert (labels[lower > 0] == ABOVE).all()
    assert (labels[upper < 0] == BELOW).all()
    assert (labels[(lower > -tolerance) | (upper < tolerance)] != UNDECIDED).all()
    assert (labels[upper - lower <= 2 * tolerance - 1e-12] != UNDECIDED).all()
    if tolerance == 0:
        assert (labels[(lower <= 0) & (upper >= 0) & (lower < upper)] == UNDECIDED).all()


def test_a_value_that_is_known_to_be_at_the_level_is_not_above_it() -> None:
    np.testing.assert_array_equal(labels_of(np.array([0.0, 0.1, -0.1]), np.array([0.0, 0.1, -0.1]), 0.0), [-1, 1, -1])


def test_where_both_sides_are_ruled_out_the_middle_decides() -> None:
    lower, upper = np.array([-0.1, -0.3, -0.2]), np.array([0.3, 0.1, 0.2])
    np.testing.assert_array_equal(labels_of(lower, upper, 0.5), [1, -1, -1])


@pytest.mark.parametrize(("name", "goal"), [("truvar", Threshold(0.0)), ("truvar", FractionOfMax(0.5)), ("lse", None)])
@pytest.mark.parametrize("tolerance", [0.05, 0.2])
def test_a_tolerance_ends_a_tie_at_every_point(name: str, goal: sl.Goal | None, tolerance: float) -> None:
    problem = sl.Problem(DOMAINS["features"], goal=goal or Threshold(0.0), noise=0.1, tolerance=tolerance)
    run = sl.simulate(sl.methods.make(name, problem, batch=10), sl.oracles.Gaussian(np.zeros(N), noise=0.1))
    assert run.stop in {Stop.DECIDED, Stop.EMPTY}
    assert run.samples < 4000
