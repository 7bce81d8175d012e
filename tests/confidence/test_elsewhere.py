"""Measurements at places that are not among the points: they tell of the points, and nothing is said of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, WhiteKernel

import superlevel as sl
from superlevel import posterior
from superlevel.errors import InputError
from superlevel.methods import Method
from superlevel.posterior import covariance
from superlevel.records import State

RNG = np.random.default_rng(5)
N, M = 24, 9
POINTS, FURTHER = RNG.uniform(size=(N, 2)), RNG.uniform(-0.2, 1.2, size=(M, 2))
ALL = np.concatenate([POINTS, FURTHER])
TRUTH = np.sin(4 * ALL[:, 0]) + ALL[:, 1]
PLACES = np.concatenate([np.arange(N, N + M), [3, 3, 7]])
VALUES = TRUTH[PLACES] + 0.1 * RNG.standard_normal(len(PLACES))
GIVEN: dict[str, Any] = {"goal": sl.Threshold(0.8), "noise": 0.1}
FITTED = ("kernel", "noise", "mean")
KERNELS = {"rbf": 2.0 * RBF(0.5), "rough": ConstantKernel(1.5) * Matern(0.4, nu=1.5), "linear": None}
LINEAR = DotProduct(sigma_0=0.0, sigma_0_bounds="fixed")
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def told(method: Method, **given: Any) -> State:
    return method.observe(method.init(), PLACES, VALUES, **given)[0]


def two(kernel: Any, confidence: Any, **given: Any) -> tuple[Method, Method]:
    """With places elsewhere, and with these as further points."""
    here, there = sl.Domain(POINTS, kernel, elsewhere=FURTHER), sl.Domain(ALL, kernel)
    problems = [sl.Problem(domain, **GIVEN | given) for domain in (here, there)]
    one, other = (sl.methods.make("melk", problem, confidence=confidence) for problem in problems)
    return one, other


@each_kernel
def test_the_posterior_is_that_of_scikit_learn_conditioned_on_all_measurements(kernel: Any) -> None:
    method, _ = two(kernel, "posterior")
    state = told(method)
    theirs = GaussianProcessRegressor(LINEAR if kernel is None else kernel, alpha=0.1**2, optimizer=None).fit(
        ALL[PLACES], VALUES
    )
    mean, deviation = theirs.predict(POINTS, return_std=True)
    assert state.labels.shape == state.belief.counts.shape == (N,)
    np.testing.assert_allclose(state.estimate, mean, atol=1e-8)
    np.testing.assert_allclose(state.belief.posterior.deviation, deviation, atol=1e-6)
    assert state.samples == len(PLACES)
    assert state.belief.counts.sum() == 3


@each_kernel
@pytest.mark.parametrize("confidence", [sl.Posterior(beta=2.0), sl.Ridge(shares=(1.0, 0.0)), "ridge"])
def test_it_says_of_the_points_what_is_said_where_all_places_are_points(kernel: Any, confidence: Any) -> None:
    """A batch that nobody planned: the ellipsoids have all of delta."""
    one, other = (told(method) for method in two(kernel, confidence, norm=6.0, misspecification=0.01))
    np.testing.assert_allclose(one.estimate, other.estimate[:N], atol=1e-9)
    np.testing.assert_allclose(one.intervals.lower, other.intervals.lower[:N], atol=1e-9)
    np.testing.assert_allclose(one.intervals.upper, other.intervals.upper[:N], atol=1e-9)
    np.testing.assert_array_equal(one.labels, other.labels[:N])
    reliefs = [state.belief.relief(np.array([2, 5])) for state in (one, other)]
    np.testing.assert_allclose(reliefs[0], reliefs[1][:, :N], atol=1e-9)
    for mine, theirs in zip(one.belief.averages, other.belief.averages, strict=True):
        np.testing.assert_allclose(mine, theirs[:N])


@pytest.mark.parametrize("confidence", ["posterior", "ridge"])
def test_pairs_of_points_are_bounded_by_all_measurements(confidence: str) -> None:
    given = {"goal": sl.FractionOfMax(0.2), "norm": 6.0}
    one, other = (told(method) for method in two(2.0 * RBF(0.5), confidence, **given))
    assert one.undecided.shape == (N, N)
    share = one.goal.share
    for end in ("lower", "upper"):
        mine, theirs = (getattr(state.belief.bounds(share), end) for state in (one, other))
        # The ellipsoids that bound pairs are those that are tightest for most points, and there are fewer of them.
        np.testing.assert_allclose(mine, theirs[:N, :N], atol=1e-9 if confidence == "posterior" else 0.2)


def test_an_estimated_kernel_is_that_of_all_measurements() -> None:
    one, other = two(None, "posterior", noise=None, fit=FITTED)
    places = np.concatenate([np.arange(N, N + M), np.arange(0, N, 2)])
    values = TRUTH + 0.4 * np.random.default_rng(1).standard_normal(N + M)
    mine, theirs = (method.observe(method.init(), places, values[places])[0] for method in (one, other))
    assert mine.belief.pilot == theirs.belief.pilot == 0
    np.testing.assert_allclose(mine.estimate, theirs.estimate[:N], rtol=1e-9)
    one_chance, other_chance = (state.belief.probability(0.8) for state in (mine, theirs))
    assert one_chance is not None
    assert other_chance is not None
    np.testing.assert_allclose(one_chance, other_chance[:N], atol=1e-9)
    assert mine.belief.estimated == theirs.belief.estimated
    assert one.ask(mine).counts.shape == (N,)


def test_measurements_elsewhere_are_part_of_the_pilot() -> None:
    one, _ = two(None, "posterior", noise=None, fit=FITTED)
    before = one.init()
    after, _ = one.observe(before, np.arange(N, N + M), TRUTH[N:])
    assert after.belief.pilot == before.belief.pilot - M


@pytest.mark.parametrize("name", ["melk", "truvar", "straddle", "max-variance", "lse", "uniform"])
def test_no_plan_goes_elsewhere(name: str) -> None:
    problem = sl.Problem(sl.Domain(POINTS, RBF(0.5), elsewhere=FURTHER), **GIVEN)
    method = sl.methods.make(name, problem, batch=5)
    state = told(method)
    for _ in range(3):
        plan = method.ask(state)
        assert plan.counts.shape == (N,)
        assert plan.total == 5
        state, _ = method.tell(state, plan, TRUTH[plan.indices])
    np.testing.assert_array_equal(state.goal.signs(TRUTH[:N])[state.labels != 0], state.labels[state.labels != 0])


def test_plans_look_ahead_from_all_measurements() -> None:
    """The widest interval is not where something was measured next door."""
    domain = sl.Domain([0.0, 1.0, 2.0, 3.0], RBF(0.5), elsewhere=[0.05, 0.95, 3.05])
    method = sl.methods.make("max-variance", sl.Problem(domain, **GIVEN), batch=1)
    state, _ = method.observe(method.init(), [4, 5, 6], [0.0, 0.0, 0.0])
    assert method.ask(state).indices.tolist() == [2]


def test_noise_of_each_point_is_the_largest_elsewhere_unless_a_measurement_has_its_own() -> None:
    noise = np.linspace(0.1, 0.3, N)
    kernel = 2.0 * RBF(0.5)
    one, other = two(kernel, "posterior", noise=0.1)
    problem = sl.Problem(one.problem.domain, **GIVEN | {"noise": noise})
    method = sl.methods.make("melk", problem, confidence="posterior")
    np.testing.assert_allclose(problem.everywhere.deviations[N:], 0.3)
    state = told(method)
    expected = told(other, noise=np.where(PLACES < N, noise[np.minimum(PLACES, N - 1)], 0.3))
    np.testing.assert_allclose(state.estimate, expected.estimate[:N], atol=1e-9)
    own = np.full(len(PLACES), 0.2)
    np.testing.assert_allclose(told(method, noise=own).estimate, told(other, noise=own).estimate[:N], atol=1e-9)


def test_rounds_refuse_them() -> None:
    problem = sl.Problem(sl.Domain(POINTS, elsewhere=FURTHER), **GIVEN, bound=2.0)
    with pytest.raises(InputError, match="elsewhere is 9 places beside the points: rounds take only what they planned"):
        sl.methods.make("melk", problem, confidence="rips")


def test_contradictions_are_found_elsewhere_too() -> None:
    method, _ = two(2.0 * RBF(0.5), "ridge", norm=1.0)
    state, info = method.observe(method.init(), [N, N, N + 1], [50.0, 50.0, -50.0])
    assert state.stop is sl.records.Stop.CONTRADICTED
    assert info.findings


# --------------------------------------------------------------------------------------- the domain


def test_a_domain_keeps_points_and_places_apart() -> None:
    domain = sl.Domain(POINTS, RBF(0.3), elsewhere=FURTHER, names=["east", "north"])
    assert (domain.n, len(domain), domain.everywhere.n) == (N, N, N + M)
    np.testing.assert_array_equal(domain.everywhere.points, ALL)
    assert domain.everywhere.names == ("east", "north")
    assert "9 places elsewhere" in repr(domain)
    assert not domain.elsewhere.flags.writeable
    plain = sl.Domain(POINTS)
    assert plain.everywhere is plain
    assert plain.elsewhere.shape == sl.Domain(POINTS, elsewhere=[]).elsewhere.shape == (0, 2)
    again = domain.with_kernel(None)
    np.testing.assert_array_equal(again.elsewhere, FURTHER)
    assert again.kernel is None
    np.testing.assert_array_equal(sl.Domain([0.0, 1.0], elsewhere=[0.5]).everywhere.points, [[0.0], [1.0], [0.5]])


@pytest.mark.parametrize(
    ("further", "sentence"),
    [
        ([[1.0]], "elsewhere is with 1 coordinate: give 2, as the points have"),
        ([[1.0, np.nan]], r"elsewhere\[0, 1\] is nan: give finite numbers"),
    ],
)
def test_places_elsewhere_are_checked_like_points(further: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        sl.Domain(POINTS, elsewhere=further)


# ------------------------------------------------------------------------------------ the posterior

FORMS = {
    "features": (RBF(0.9), covariance.prior),
    "stored": (Matern(0.2, nu=0.5), covariance.prior),
    "computed": (Matern(0.2, nu=0.5) + WhiteKernel(0.1), posterior.by_rows),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_part_of_a_posterior_is_the_posterior_of_that_part(name: str) -> None:
    kernel, form = FORMS[name]
    places = np.random.default_rng(0).uniform(size=(80, 2))
    whole = posterior.begin(sl.Domain(places, kernel), noise=0.2, mean=0.5, form=form)
    part = posterior.begin(sl.Domain(places[:60], kernel, elsewhere=places[60:]), noise=0.2, mean=0.5, form=form)
    rng = np.random.default_rng(1)
    for _ in range(3):
        at = rng.integers(0, 80, size=30)
        values = rng.normal(size=30)
        whole, part = whole.told(at, values), part.told(at, values)
        agree(whole, part)
    agree(whole.planned([3, 8]).after, part.planned([3, 8]).after)
    agree(whole.afresh(), part.afresh())
    assert part.everywhere.mean.shape == (80,)
    assert (part.count, part.terms) == (whole.count, whole.terms)


def agree(whole: posterior.GaussianPosterior, part: posterior.GaussianPosterior) -> None:
    n = len(part.mean)
    chosen = np.array([0, n - 1, 7])
    np.testing.assert_allclose(part.mean, whole.mean[:n], atol=1e-9)
    np.testing.assert_allclose(part.variance, whole.variance[:n], atol=1e-9)
    np.testing.assert_allclose(part.columns(chosen), whole.columns(chosen)[:, :n], atol=1e-9)
    vector, weights = np.ones(n), np.linspace(0.0, 1.0, n)
    padded = [np.append(each, np.zeros(len(whole.mean) - n)) for each in (vector, weights)]
    np.testing.assert_allclose(part.covariance.times(vector), whole.covariance.times(padded[0])[:n], atol=1e-9)
    np.testing.assert_allclose(part.covariance.squares(weights), whole.covariance.squares(padded[1])[:n], atol=1e-9)
    np.testing.assert_allclose(part.covariance.diagonal(), whole.covariance.diagonal()[:n], atol=1e-9)
