"""RIPS against the formulas written out, one direction at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

import superlevel as sl
from superlevel import robust
from superlevel.arrays import Array
from superlevel.confidence import chebyshev
from superlevel.confidence.rips import RipsBelief
from superlevel.confidence.rips_estimate import deviation
from superlevel.confidence.rounds import COMPRESSION, Schedule
from superlevel.methods import Method
from superlevel.records import Batch, Plan
from tests.worlds import promise, proof, rips


def world(name: str, *, mean: float = 0.0, schedule: Schedule = "scaled") -> tuple[Method, Array]:
    rng = np.random.default_rng(5)
    points = rng.normal(size=(7, 3))
    truth = points @ np.array([0.3, -0.2, 0.1])
    goal: sl.Goal = sl.Threshold(0.05) if name == "melk" else sl.FractionOfMax(0.3)
    problem = sl.Problem(
        sl.Domain(points), goal=goal, noise=0.4, bound=float(np.abs(truth).max()), mean=mean, ridge=1e-3, norm=0.5
    )
    return sl.methods.make(name, problem, confidence=sl.Rips(schedule=schedule)), truth + mean


def measured(method: Method, truth: Array) -> tuple[Plan, Array]:
    plan = method.ask(method.init())
    return plan, truth[plan.indices] + 0.4 * np.random.default_rng(0).standard_t(2.5, plan.total)


def told(method: Method, plan: Plan, values: Array) -> RipsBelief:
    """The belief after a first round."""
    belief = method.confidence.update(method.prior, Batch(points=plan.indices, values=values, plan=plan, whole=True))
    assert isinstance(belief, RipsBelief)
    return belief


def plain_catoni(samples: Array, variance: float, delta: float) -> float:
    """The root of sum psi(alpha (z - mu)), by bisection."""
    count, log = len(samples), np.log(2 / delta)
    alpha = np.sqrt(2 * log / (count * (variance + 2 * variance * log / (count - 2 * log))))

    def total(mu: float) -> float:
        u = alpha * (samples - mu)
        return float(np.sum(np.sign(u) * np.log(1 + np.abs(u) + u**2 / 2)))

    return float(brentq(total, samples.min(), samples.max(), xtol=1e-14))


def written_out(method: Method, plan: Plan, values: Array, direction: Array, mean: float) -> tuple[float, float]:
    """W and the length of one direction, from the inverse of A."""
    arms = rips(method).features.array
    inverse = np.linalg.inv(arms.T @ (plan.weights[:, None] * arms) + 1e-3 * np.eye(3))
    variance = float(direction @ inverse @ direction) * rips(method).rounds.second_moment
    samples = (arms @ inverse @ direction)[plan.indices] * (values - mean)
    n = len(arms)
    return plain_catoni(samples, variance, 0.1 / 2 / n**2), float(np.sqrt(direction @ inverse @ direction))


def deviation_of(method: Method, plan: Plan, length: float) -> float:
    variance, failure = rips(method).rounds.second_moment * length**2, rips(method).rounds.failure(1, 49)
    return robust.catoni_deviation(plan.total, variance=variance, delta=failure)


@pytest.mark.parametrize("mean", [0.0, 2.0])
def test_each_w_of_a_threshold_is_catoni_s_mean(mean: float) -> None:
    method, truth = world("melk", mean=mean)
    plan, values = measured(method, truth)
    found = rips(method).estimate(plan, values)
    for x, arm in enumerate(rips(method).features.array):
        wanted, length = written_out(method, plan, values, arm, mean)
        assert found.values[x] == pytest.approx(wanted, abs=COMPRESSION * deviation_of(method, plan, length))
        assert found.norms[x] == pytest.approx(length, rel=1e-10)


def test_each_w_of_a_pair_is_catoni_s_mean() -> None:
    method, truth = world("milk")
    plan, values = measured(method, truth)
    undecided = plan.undecided.copy()
    undecided[2, 3] = False
    found = rips(method).estimate(replace(plan, undecided=undecided), values)
    assert np.isnan(found.values[2, 3])
    for x, y in ((0, 0), (0, 5), (5, 0), (6, 2)):
        direction = rips(method).features.array[x] - 0.7 * rips(method).features.array[y]
        wanted, length = written_out(method, plan, values, direction, 0.0)
        assert found.values[x, y] == pytest.approx(wanted, abs=COMPRESSION * deviation_of(method, plan, length))
        assert found.norms[x, y] == pytest.approx(length, rel=1e-10)


@pytest.mark.parametrize("name", ["melk", "milk"])
def test_blocks_of_directions_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method, truth = world(name)
    plan, values = measured(method, truth)
    whole = rips(method).estimate(plan, values)
    monkeypatch.setattr("superlevel.confidence.rips_estimate.BLOCK", 10)
    np.testing.assert_allclose(rips(method).estimate(plan, values).values, whole.values, rtol=1e-10)


@pytest.mark.parametrize("name", ["melk", "milk"])
def test_the_bounds_are_twice_the_precision_around_f(name: str) -> None:
    method, truth = world(name, mean=2.0)
    plan, values = measured(method, truth)
    bounds = told(method, plan, values).bounds(method.goal.share)
    exact = truth if name == "melk" else truth[:, None] - 0.7 * truth
    np.testing.assert_allclose((bounds.upper + bounds.lower) / 2, exact, atol=promise(plan))
    np.testing.assert_allclose(bounds.upper - bounds.lower, 4 * promise(plan))


@pytest.mark.parametrize("name", ["melk", "milk"])
def test_theta_is_within_the_largest_deviation_of_w(name: str) -> None:
    method, truth = world(name)
    plan, values = measured(method, truth)
    estimate = rips(method).estimate(plan, values)
    fit = rips(method).theta(estimate)
    arms = rips(method).features.array
    fitted = arms @ fit.theta if name == "melk" else (arms @ fit.theta)[:, None] - 0.7 * (arms @ fit.theta)
    exact = truth if name == "melk" else truth[:, None] - 0.7 * truth
    worst = np.max(np.abs(estimate.values - exact) / estimate.norms)
    assert np.max(np.abs(fitted - estimate.values) / estimate.norms) <= worst * (1 + 1e-6)
    assert np.max(np.abs(fitted - exact) / estimate.norms) <= 2 * worst * (1 + 1e-6)


def test_independent_directions_are_fitted_exactly() -> None:
    problem = sl.Problem(sl.Domain(np.eye(4)), goal=sl.Threshold(0.0), noise=0.1, bound=1.0)
    method = sl.methods.make("melk", problem, confidence="rips")
    plan = method.ask(method.init())
    values = np.random.default_rng(0).normal(size=plan.total)
    estimate = rips(method).estimate(plan, values)
    np.testing.assert_allclose(rips(method).theta(estimate).theta, estimate.values, atol=1e-9)


# --- the estimate of f


@pytest.mark.parametrize("mean", [0.0, 2.0])
def test_the_estimate_is_the_mean_and_the_chebyshev_fit_to_a_round(mean: float) -> None:
    method, truth = world("melk", mean=mean)
    plan, values = measured(method, truth)
    w, arms = rips(method).estimate(plan, values), rips(method).features.array
    fit = chebyshev.fit(arms, w.values, w.norms)
    belief = told(method, plan, values)
    np.testing.assert_allclose(belief.estimate, mean + arms @ fit.theta, atol=1e-12)
    assert np.ptp(belief.estimate) > 0.1
    # W decides, and not theta-hat: the two differ, because seven directions in three dimensions do not fit exactly.
    assert np.abs(belief.estimate - belief.values(method.goal)).max() > 1e-6


def test_the_estimate_of_pairs_is_the_fit_to_all_of_them() -> None:
    method, truth = world("milk", mean=2.0)
    plan, values = measured(method, truth)
    w, arms = rips(method).estimate(plan, values), rips(method).features.array
    fit = chebyshev.fit_pairs(arms, w.values, w.norms, share=0.7, mask=w.norms > 0)
    np.testing.assert_allclose(told(method, plan, values).estimate, 2.0 + arms @ fit.theta, atol=1e-12)


def test_directions_that_were_decided_take_no_part_in_the_estimate() -> None:
    method, truth = world("melk")
    plan, values = measured(method, truth)
    part = replace(plan, undecided=np.arange(7) < 4)
    w, arms = rips(method).estimate(part, values), rips(method).features.array
    fit = chebyshev.fit(arms[:4], w.values[:4], w.norms[:4])
    np.testing.assert_allclose(told(method, part, values).estimate, arms @ fit.theta, atol=1e-12)


@pytest.mark.parametrize("mean", [0.0, 2.0])
def test_before_the_first_round_the_estimate_is_the_mean(mean: float) -> None:
    method, _ = world("melk", mean=mean)
    np.testing.assert_array_equal(method.prior.estimate, np.full(7, mean))


def test_the_stated_deviation_is_the_theorem_s() -> None:
    stated = deviation(1000, directions=50, delta=0.1, second_moment=2.0, norm=3.0, ridge=1e-4, misspecification=0.01)
    assert stated == pytest.approx(0.01 * 3 + 0.01 + 4 * np.sqrt(2.0 / 1000 * np.log(2 * 50 / 0.1)))


def test_the_printed_number_of_measurements_makes_the_deviation_the_precision() -> None:
    """N_t with log(2 t^2 |X|^2 / delta) is the theorem's N for the design's largest direction, at half the delta_t."""
    method, _ = world("melk")
    plan = method.ask(method.init())
    worst = np.sqrt(proof(plan).value)
    random = deviation(
        plan.total, directions=49, delta=0.1, second_moment=rips(method).rounds.second_moment, norm=0.0, ridge=0.0
    )
    assert worst * random == pytest.approx(promise(plan), rel=1e-3)


def test_directions_of_length_zero_are_known() -> None:
    points = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    problem = sl.Problem(sl.Domain(points), goal=sl.FractionOfMax(0.5), noise=0.1, bound=2.0, ridge=0.01)
    method = sl.methods.make("milk", problem, confidence="rips")
    start = method.init()
    np.testing.assert_array_equal(np.argwhere(~start.undecided), [[0, 1]])  # x_0 = (1 - 0.5) x_1
    plan = method.ask(start)
    everything = replace(plan, undecided=np.ones((3, 3), dtype=np.bool_))
    estimate = rips(method).estimate(everything, np.ones(plan.total))
    assert estimate.values[0, 1] == pytest.approx(0.0, abs=1e-12)
