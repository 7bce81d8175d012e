"""The (epsilon, delta) criterion: its risk by counting draws of f, and what a campaign that stops by it gets wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.arrays import Array
from superlevel.errors import InputError
from superlevel.methods.stopping import Accurate, margin
from superlevel.records import State, Stop
from superlevel.rules.accurate import LeastAccurate
from superlevel.rules.sequential import Sequential

X = np.linspace(0, 1, 30) ** 1.1
NOISE = 0.2
KERNEL = RBF(0.2)


def problem(goal: sl.goals.Goal | None = None, **changes: Any) -> sl.Problem:
    return sl.Problem(sl.Domain(X, KERNEL), goal=goal or sl.Threshold(0.2), **{"noise": NOISE, **changes})


def draws(rng: np.random.Generator, count: int) -> Array:
    covariance = KERNEL(X[:, None]) + 1e-9 * np.eye(len(X))
    return np.asarray(rng.multivariate_normal(np.zeros(len(X)), covariance, size=count))


def told(goal: sl.goals.Goal | None = None, count: int = 25) -> State:
    method = sl.methods.make("lse", problem(goal), confidence=sl.Posterior(beta=2.0))
    rng = np.random.default_rng(0)
    places = rng.integers(len(X), size=count)
    (f,) = draws(rng, 1)
    return method.observe(method.init(), places, f[places] + NOISE * rng.standard_normal(count))[0]


def misplaced(labels: Array, f: Array, levels: tuple[float, ...], epsilon: float) -> Array:
    """(m, k, n) which points of which draws f (m, n) are not where the labels (k, n) say."""
    gaps = f[:, None, :] - np.array(levels)[:, None]
    right = np.where(labels == 1, gaps > 0, np.where(labels == -1, gaps < 0, np.abs(gaps) < epsilon))
    return np.asarray(~right)


@pytest.mark.parametrize("epsilon", [0.05, 0.3])
@pytest.mark.parametrize("goal", [sl.Threshold(0.2), sl.Levels([-0.3, 0.2])], ids=["threshold", "levels"])
def test_the_risk_is_the_expected_number_of_points_in_the_wrong_place(goal: sl.goals.Goal, epsilon: float) -> None:
    """And so at least the probability of any: appendix C.1 of the paper, by 20,000 draws of f from its posterior."""
    state = told(goal)
    criterion = Accurate(epsilon=epsilon)
    posterior: Any = state.belief.posterior
    covariance = posterior.columns(np.arange(len(X)))
    f = np.random.default_rng(1).multivariate_normal(posterior.mean, covariance, size=20_000, method="eigh")
    wrong = misplaced(np.atleast_2d(criterion.labels(state)), f, goal.levels, epsilon)
    numbers = wrong.sum(axis=(1, 2))
    assert criterion.risk(state) == pytest.approx(numbers.mean(), abs=4 * numbers.std() / np.sqrt(len(numbers)) + 1e-9)
    assert (numbers > 0).mean() <= criterion.risk(state) + 0.01
    assert criterion.labels(state).shape == state.labels.shape


def test_points_are_put_where_they_most_likely_are() -> None:
    state = told()
    posterior: Any = state.belief.posterior
    above, low, high = (norm.sf(level, posterior.mean, posterior.deviation) for level in (0.2, 0.1, 0.3))
    likeliest = np.argmax([low - high, above, 1 - above], axis=0)
    np.testing.assert_array_equal(Accurate(epsilon=0.1).labels(state), np.array([0, 1, -1])[likeliest])


def test_a_campaign_that_stops_is_right_as_often_as_it_says() -> None:
    """60 functions from the prior: with a chance of a tenth each, more than 13 are wrong two times in a thousand."""
    delta, level, wrong, stopped = 0.1, 0.2, 0, 0
    fields = draws(np.random.default_rng(5), 60)
    given = problem()
    epsilon = margin(given, delta=delta)
    criterion = Accurate(epsilon=epsilon, delta=delta)
    method = sl.methods.make("truvar", given, batch=5, confidence=sl.Posterior(beta=6.0))  # it decides late
    for seed, f in enumerate(fields):
        states: list[State] = []

        class Kept:
            def reached(self, state: State, /, states: list[State] = states) -> bool:
                states.append(state)
                return criterion.reached(state)

        run = sl.simulate(method, sl.oracles.Gaussian(f, noise=NOISE), max_samples=300, seed=seed, until=Kept())
        assert run.stop in {Stop.CRITERION, Stop.DECIDED}
        if run.stop is Stop.CRITERION:
            labels = criterion.labels(states[-1])
            wrong += bool(misplaced(np.atleast_2d(labels), f[None], (level,), epsilon).any())
            assert criterion.risk(states[-1]) <= delta
            assert not any(criterion.reached(state) for state in states[:-1])
            stopped += 1
    assert wrong <= 13
    assert stopped > 50


def test_the_rule_that_goes_with_it_measures_where_the_risk_is_largest() -> None:
    """By the criterion itself, one point at a time."""
    for goal in (sl.Threshold(0.2), sl.Levels([-0.3, 0.2])):
        state = told(goal)
        chances = Accurate(epsilon=0.1)._chances(state)
        rule = Sequential(score=LeastAccurate(epsilon=0.1))
        method = sl.methods.make("lse", problem(goal), confidence=sl.Posterior(beta=2.0), rule=rule)
        view = method.view(state, phase=2)
        found = rule.score.begin(view).scores(view.posterior)
        np.testing.assert_allclose(found, (1 - chances.max(axis=0)).max(axis=0), atol=1e-12)
        assert method.rule.choose(view).counts[np.argmax(found)] == 1


def test_the_rule_that_goes_with_it_leaves_alone_what_is_known() -> None:
    posterior = sl.posterior.begin(sl.Domain(np.array([[0.0], [1.0]])), noise=0.1)
    lonely = sl.Problem(sl.Domain(np.array([[0.0], [1.0]])), goal=sl.Threshold(0.0), noise=0.1)
    view = sl.methods.make("lse", lonely).view(sl.methods.make("lse", lonely).init(), phase=1)
    assert LeastAccurate(epsilon=0.0).begin(view).scores(posterior).tolist() == [0.0, 0.5]


def test_a_run_says_why_it_stopped_and_comes_back_from_its_file(tmp_path: Any) -> None:
    method = sl.methods.make("straddle", problem())
    oracle = sl.oracles.Gaussian(np.sin(6 * X), noise=NOISE)
    run = sl.simulate(method, oracle, max_samples=300, until=Accurate(epsilon=0.5, delta=0.2))
    assert run.stop is Stop.CRITERION
    assert "the stopping criterion is met" in repr(run)
    run.save(tmp_path / "run.npz")
    assert sl.Run.load(tmp_path / "run.npz").stop is Stop.CRITERION


def test_the_margin_is_what_repeats_of_one_point_leave_open() -> None:
    """The posterior of a domain of single points, each measured five times."""
    lonely = sl.Problem(sl.Domain(np.eye(7)), goal=sl.Threshold(0.0), noise=0.4)
    posterior = sl.posterior.begin(lonely.domain, noise=0.4).told(np.repeat(np.arange(7), 5), np.zeros(35))
    found = margin(lonely, delta=0.1, repeats=5)
    outside = 2 * norm.sf(found, scale=posterior.deviation)
    np.testing.assert_allclose(outside, 0.1 / 7)


def test_without_noise_there_is_no_margin() -> None:
    assert margin(problem(noise=0.0)) == 0.0


def test_a_point_at_the_level_itself_is_within_any_margin() -> None:
    """f(0) = 0 for certain with a linear kernel."""
    method = sl.methods.make("lse", sl.Problem(sl.Domain(np.array([[0.0], [1.0]])), goal=sl.Threshold(0.0), noise=0.1))
    state, _ = method.observe(method.init(), [1] * 50, [0.5] * 50)
    assert Accurate(epsilon=0.01).risk(state) < 1e-6
    assert Accurate(epsilon=0.01).labels(state).tolist() == [0, 1]
    assert Accurate(epsilon=0.0).risk(state) == pytest.approx(0.5)


def test_before_the_pilot_is_complete_nothing_stops() -> None:
    open_ = sl.Problem(sl.Domain(X), goal=sl.Threshold(0.2), fit=("kernel", "noise", "mean"))
    method = sl.methods.make("melk", open_)
    assert not Accurate(epsilon=1e9, delta=0.5).reached(method.init())


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Accurate(epsilon=-1.0), "epsilon is -1.0: give a number >= 0"),
        (lambda: Accurate(epsilon=1.0, delta=0.0), "delta is 0.0: give a number > 0 and < 1"),
        (lambda: margin(problem(), repeats=0), "repeats is 0: give a whole number >= 1"),
        (lambda: margin(problem(noise=None, fit=("noise",))), "problem is without kernel or noise: give both"),
        (lambda: Accurate(epsilon=0.1).risk(told(sl.FractionOfMax(0.2))), "the criterion needs a given level"),
    ],
)
def test_bad_input_gets_one_sentence(make: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()


def test_a_confidence_without_a_model_has_no_risk() -> None:
    method = sl.methods.make("melk", problem(norm=3.0), confidence="ridge")
    with pytest.raises(InputError, match="confidence is without a model of f: give confidence='posterior'"):
        Accurate(epsilon=0.1).risk(method.init())


def test_what_is_no_criterion_is_refused() -> None:
    method = sl.methods.make("straddle", problem())
    with pytest.raises(InputError, match="until is of type float: give a criterion"):
        sl.simulate(method, sl.oracles.Gaussian(X, noise=NOISE), until=0.1)  # type: ignore[arg-type]
