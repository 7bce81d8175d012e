"""How campaigns end: easy problems, one-sided ones, ties, and domains that leave little to choose."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import superlevel as sl
from superlevel.arrays import Array
from superlevel.errors import AssumptionWarning, InputError
from superlevel.goals import FractionOfMax, Threshold
from superlevel.records import Plan, Stop
from superlevel.simulation import Run
from tests.methods.cases import EXPLICIT, IMPLICIT, IN_BATCHES, NOISE, TRUTH, Case, X, each, gaussian

UNITS = "ignore:the level is:superlevel.errors.AssumptionWarning"
TWELVE = np.linspace(0, 1, 12) ** 1.1
EASY = np.sin(6 * TWELVE)


def level_of(case: Case, truth: Array) -> float:
    return 0.35 if isinstance(case.goal, Threshold) else 0.7 * float(truth.max())


def run_on(
    case: Case, domain: sl.Domain, truth: Array, *, noise: float = NOISE, max_samples: int = 300, **changes: object
) -> Run:
    goal = Threshold(0.35) if isinstance(case.goal, Threshold) else case.goal
    problem = case.problem(**{"domain": domain, "noise": noise, "goal": goal, **changes})
    method = case.make(problem=problem, batch=5)
    return sl.simulate(method, sl.oracles.Gaussian(truth, noise=noise), max_samples=max_samples)


def right(case: Case, run: Run, truth: Array) -> None:
    np.testing.assert_array_equal(run.labels, np.sign(truth - level_of(case, truth)))
    assert run.stop is Stop.DECIDED


@each(IN_BATCHES)
def test_an_easy_problem_is_decided_correctly(case: Case) -> None:
    run = run_on(case, sl.Domain(TWELVE, RBF(0.2)), EASY, noise=0.02, max_samples=1500)
    right(case, run, EASY)


# --- one side only


@each(EXPLICIT)
@pytest.mark.parametrize("level", [-9.0, 9.0])
def test_a_level_that_nothing_is_near_ends_at_once_and_is_doubted(case: Case, level: float) -> None:
    side = "above" if level < 0 else "below"
    with pytest.warns(AssumptionWarning, match=rf"the level is {level:g}, but .* all points are {side}: check the"):
        run = run_on(case, sl.Domain(X, RBF(0.2)), TRUTH, goal=Threshold(level), max_samples=100)
    assert run.stop is Stop.DECIDED
    assert (run.labels == -np.sign(level)).all()


def test_a_level_between_labels_is_not_doubted_whatever_was_measured() -> None:
    problem = sl.Problem(sl.Domain(np.linspace(-1, 1, 9)[:, None]), goal=sl.Threshold(0.2), noise=0.1)
    method = sl.methods.make("truvar", problem, batch=3)
    run = sl.simulate(method, sl.oracles.Gaussian(2 * np.linspace(-1, 1, 9), noise=0.1), max_samples=300)
    assert run.stop is Stop.DECIDED  # all measured at one end of a line, and without a warning
    np.testing.assert_array_equal(run.labels, np.where(np.linspace(-1, 1, 9) > 0.1, 1, -1))


@each(IMPLICIT)
def test_a_maximum_that_is_not_above_zero_is_reported(case: Case) -> None:
    run = run_on(case, sl.Domain(X, RBF(0.2)), TRUTH - 9.0, mean=-9.0, max_samples=400)
    assert run.stop is Stop.EMPTY
    assert not run.not_below.any()


@each([case for case in IMPLICIT if case.confidence == "posterior"])
def test_all_points_are_above_a_fraction_of_a_constant(case: Case) -> None:
    run = run_on(case, sl.Domain(TWELVE, RBF(0.5)), np.ones(12), noise=0.05, max_samples=1000)
    assert run.stop is Stop.DECIDED
    assert run.above.all()


# --- ties


@each(IN_BATCHES)
def test_a_function_that_is_the_level_everywhere_ends_with_the_tolerance(case: Case) -> None:
    truth = np.full(12, 0.35) if isinstance(case.goal, Threshold) else np.zeros(12)
    run = run_on(case, sl.Domain(TWELVE, RBF(0.3)), truth, noise=0.05, tolerance=0.3, norm=1.0, max_samples=5000)
    assert run.stop in {Stop.DECIDED, Stop.EMPTY}
    without = run_on(case, sl.Domain(TWELVE, RBF(0.3)), truth, noise=0.05, norm=1.0, max_samples=50)
    assert without.samples == 50 or without.stop in {Stop.DECIDED, Stop.EMPTY}


# --- little to choose from


@pytest.mark.filterwarnings(UNITS)
@each(IN_BATCHES)
def test_one_point(case: Case) -> None:
    run = run_on(case, sl.Domain(np.array([[0.3]]), RBF(0.2)), np.array([0.9]), noise=0.05, max_samples=1000)
    assert run.labels.tolist() == [1]


@each(IN_BATCHES)
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_points_that_are_listed_more_than_once_get_one_label(case: Case, noise: float) -> None:
    """Without noise too: their covariance is singular then."""
    places, truth = np.repeat(TWELVE, 3), np.repeat(EASY, 3)
    run = run_on(case, sl.Domain(places, RBF(0.2)), truth, noise=noise, max_samples=1500)
    right(case, run, truth)


@each(IN_BATCHES)
def test_without_noise_a_few_measurements_suffice(case: Case) -> None:
    run = run_on(case, sl.Domain(TWELVE, RBF(0.2)), EASY, noise=0.0, max_samples=100)
    right(case, run, EASY)


@pytest.mark.filterwarnings(UNITS)
@each(IN_BATCHES)
def test_a_kernel_without_variation_has_one_value_to_learn(case: Case) -> None:
    run = run_on(case, sl.Domain(X, ConstantKernel(1.0)), np.full(len(X), 0.8), noise=0.05, max_samples=1500)
    assert (run.labels == 1).all()


@pytest.mark.filterwarnings(UNITS)
@each(IN_BATCHES)
def test_a_point_that_the_model_knows_already_is_no_obstacle(case: Case) -> None:
    """f(0) = 0 for every linear f: its features are zero, and its value needs no measurement."""
    places = np.linspace(-1, 1, 9)
    run = run_on(case, sl.Domain(places[:, None]), 2 * places, noise=0.05, bound=2.0, max_samples=1000)
    np.testing.assert_array_equal(run.labels, np.sign(2 * places - (0.35 if case in EXPLICIT else 1.4)))


# --- the implicit problem


def f1(run: Run, truth: Array) -> float:
    found, wanted = run.not_below, truth > 0.8 * truth.max()
    return float(2 * (found & wanted).sum() / (found.sum() + wanted.sum()))


@each([case for case in IMPLICIT if case.name in {"milk", "lse-imp", "truvar"} and case.confidence == "posterior"])
def test_the_upper_fifth_of_a_wave_is_found(case: Case) -> None:
    points = np.linspace(0, 1, 200)
    truth = np.cos(6 * np.pi * points)
    problem = sl.Problem(sl.Domain(points, RBF(0.1)), goal=FractionOfMax(0.2), noise=0.05)
    run = sl.simulate(case.make(problem=problem, batch=10), sl.oracles.Gaussian(truth, noise=0.05), max_samples=500)
    assert f1(run, truth) > 0.95


@pytest.mark.parametrize("name", ["truvar", "lse-imp", "milk"])
def test_a_tolerance_wider_than_the_set_does_not_make_the_maximum_negative(name: str) -> None:
    places = np.linspace(0, 1, 60)
    f = 0.5 + 0.5 * np.sin(6 * places) ** 2
    problem = sl.Problem(sl.Domain(places, RBF(0.2)), goal=sl.FractionOfMax(0.2), noise=0.05, tolerance=1.0)
    method = sl.methods.make(name, problem, batch=10)
    run = sl.simulate(method, sl.oracles.Gaussian(f, noise=0.05), max_samples=400)
    assert run.stop is Stop.DECIDED
    assert run.labels[np.argmax(f)] == 1


@pytest.mark.parametrize("noise", [0.0, 1e-5, 1e-3])
@pytest.mark.parametrize(("name", "goal"), [("truvar", sl.Threshold(0.0)), ("melk", sl.Threshold(0.0))])
def test_a_long_batch_leaves_what_one_at_a_time_leaves(name: str, goal: sl.Goal, noise: float) -> None:
    places = np.sort(np.random.default_rng(0).random(100))
    problem = sl.Problem(sl.Domain(places, RBF(0.15)), goal=goal, noise=noise)
    method, one = (sl.methods.make(name, problem, batch=size) for size in (40, 1))
    state = method.init()
    together = gaussian(state).planned(method.ask(state).indices).after.variance.sum()
    single = one.init()
    plans: list[Plan] = []
    for _ in range(40):
        plans.append(one.ask(single, pending=plans))
    apart = gaussian(single).planned(np.concatenate([plan.indices for plan in plans])).after.variance.sum()
    fresh = gaussian(single)
    for _ in range(40):  # every sum formed anew
        gains = fresh.covariance.squares(np.ones(100)) / (fresh.variance + fresh.noise)
        fresh = fresh.planned([int(np.argmax(gains))]).after
    assert together == pytest.approx(apart, rel=1e-6)
    if name == "truvar":
        assert together == pytest.approx(fresh.variance.sum(), rel=0.05)


def test_what_cannot_be_simulated_is_said_in_a_sentence() -> None:
    problem = sl.Problem(sl.Domain(X, RBF(0.2)), goal=sl.Threshold(0.0), noise=0.1)
    method, oracle = sl.methods.make("lse", problem), sl.oracles.Gaussian(TRUTH, noise=0.1)
    with pytest.raises(InputError, match="oracle is of type ndarray: give one of oracles"):
        sl.simulate(method, TRUTH)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"method is of type str: give what methods\.make returned"):
        sl.simulate("lse", oracle)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="watch is of type int: give a function of one Step"):
        sl.simulate(method, oracle, watch=3)  # type: ignore[arg-type]
