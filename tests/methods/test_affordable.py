"""What a method on the ridge confidence is made of: coordinates, what they miss, noise, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, Matern

import superlevel as sl
from superlevel.arrays import Array
from superlevel.confidence.ridge import BUDGET, RidgeBelief
from superlevel.confidence.ridge_setting import Setting
from superlevel.confidence.unit_features import FEATURES
from superlevel.errors import InputError
from superlevel.methods.loop import Method
from superlevel.records import State
from superlevel.rules.gap_weighted import RADIUS, GapWeighted
from superlevel.sizes import Growing
from tests.methods.cases import at

N = 30
POINTS = np.linspace(0, 1, N)[:, None]
KERNELS = {
    "smooth": RBF(0.2),
    "rough": Matern(0.1, nu=0.5),
    "small": ConstantKernel(1e-6) * RBF(0.1),
    "large": ConstantKernel(1e6) * RBF(0.4),
}


def make(domain: sl.Domain, goal: sl.Goal | None = None, **options: Any) -> Method:
    given = {"noise": 0.5, **options}
    wanted = sl.Threshold(0.0) if goal is None else goal
    return sl.methods.make("melk", sl.Problem(domain, goal=wanted, **given), confidence="ridge")


def setting(method: Method) -> Setting:
    assert isinstance(method.prior, RidgeBelief)
    return method.prior.setting


def posed(method: Method) -> Any:
    """The first design problem of the method's rule."""
    assert isinstance(method.rule, GapWeighted)
    return method.rule._posed(method.view(method.init(), phase=1))


def theta(features: Array, values: Array) -> Array:
    """The shortest one that comes nearest to the values."""
    return np.asarray(np.linalg.lstsq(features, values)[0])


# --- coordinates in which ||theta|| is at most 1


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_function_of_that_norm_has_theta_in_the_ball(kernel: Kernel, seed: int) -> None:
    rng = np.random.default_rng(seed)
    gram, weights = kernel(POINTS), rng.normal(size=N) * (rng.random(N) < 0.2)
    values, norm = gram @ weights, float(np.sqrt(weights @ gram @ weights))
    found = setting(make(sl.Domain(POINTS, kernel), norm=norm))
    fitted = theta(found.features.array, values)
    assert np.linalg.norm(fitted) <= 1.0 + 1e-6
    missed = np.abs(values - found.features.array @ fitted)
    assert (missed <= found.misses + 1e-9 * norm * np.sqrt(gram.max())).all()


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_features_and_what_they_miss_are_in_units_of_the_norm(kernel: Kernel) -> None:
    domain, gram = sl.Domain(POINTS, kernel), kernel(POINTS)
    one, seven = (setting(make(domain, norm=norm, misspecification=0.25)) for norm in (1.0, 7.0))
    array = seven.features.array
    np.testing.assert_allclose(array, 7.0 * one.features.array)
    np.testing.assert_allclose(array @ array.T, 49.0 * gram, atol=1e-8 * 49 * gram.max())
    lengths = np.square(array).sum(axis=1)
    np.testing.assert_allclose(lengths + seven.features.residuals, 49.0 * np.diag(gram), rtol=1e-9)
    np.testing.assert_allclose(seven.misses, 0.25 + np.sqrt(seven.features.residuals))
    assert (seven.misses <= 0.25 + 7e-4 * np.sqrt(gram.max())).all()


def test_before_the_first_measurement_the_norm_is_all_that_is_known() -> None:
    state = make(sl.Domain(POINTS, ConstantKernel(4.0) * RBF(0.3)), norm=3.0, mean=10.0).init()
    np.testing.assert_allclose(state.intervals.upper, 16.0, atol=1e-3)
    np.testing.assert_allclose(state.intervals.lower, 4.0, atol=1e-3)
    np.testing.assert_allclose(state.estimate, 10.0)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 12), columns=st.integers(1, 6), h=st.sampled_from([0.0, 0.7]))
def test_a_bounded_function_of_the_span_has_theta_in_the_ball(seed: int, n: int, columns: int, h: float) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, columns))
    found = setting(make(sl.Domain(points), bound=2.0, misspecification=h))
    values = points @ rng.normal(size=columns)
    values *= (2.0 + h) / np.abs(values).max()
    fitted = theta(found.features.array, values)
    np.testing.assert_allclose(found.features.array @ fitted, values, atol=1e-9)
    assert np.linalg.norm(fitted) <= 1.0 + 1e-9
    np.testing.assert_array_equal(found.misses, h)


def test_a_bound_leaves_room_for_what_the_features_miss() -> None:
    """f is 1 everywhere, and only <theta, phi> = 1.5 and 0.5 come within 0.5 of that: more than the bound of f."""
    points = np.ones((30, 1))
    points[0] = 1.0 / 3.0
    method = make(sl.Domain(points), sl.Threshold(0.9), bound=1.0, misspecification=0.5)
    state = method.init()
    assert (state.intervals.upper >= 1.0).all()
    assert (state.labels == 0).all()


def test_a_bound_of_ones_own_is_tight_for_a_constant() -> None:
    found = setting(make(sl.Domain(np.ones((5, 1))), bound=3.0))
    np.testing.assert_allclose(np.abs(found.features.array), 3.0)


def test_where_both_are_given_the_norm_makes_the_coordinates_and_the_bound_is_kept() -> None:
    domain = sl.Domain(POINTS, RBF(0.2))
    both, only = setting(make(domain, norm=2.0, bound=0.7)), setting(make(domain, norm=2.0))
    np.testing.assert_array_equal(both.features.array, only.features.array)
    assert (both.scale.name, both.scale.value, both.bound, only.bound) == ("norm", 2.0, 0.7, None)
    alone = setting(make(domain, bound=0.7, misspecification=0.01))
    assert (alone.scale.name, alone.scale.value, alone.bound) == ("bound", 0.7, 0.7)


@pytest.mark.parametrize("assumed", ["norm", "bound"])
def test_columns_that_say_the_same_are_left_out(assumed: str) -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(12, 2))
    wide = np.column_stack([points, points @ rng.normal(size=(2, 5)), np.zeros((12, 3))])
    found = setting(make(sl.Domain(wide), goal=None, **{assumed: 2.0}))
    assert found.features.rank == 2
    if assumed == "norm":
        np.testing.assert_allclose(found.features.array @ found.features.array.T, 4.0 * wide @ wide.T, atol=1e-9)


def test_more_features_are_taken_where_few_miss_too_much_and_no_more_than_the_cap() -> None:
    (fine, few), (_, many) = FEATURES
    places = np.linspace(0, 1, many + 50)[:, None]
    smooth = setting(make(sl.Domain(places, RBF(0.2)), norm=1.0))
    assert smooth.features.rank < few
    assert smooth.features.residual <= fine
    rough = setting(make(sl.Domain(places, Matern(0.001, nu=0.5)), norm=2.0))
    assert rough.features.rank == many
    assert rough.features.residual > 0.1
    np.testing.assert_array_equal(rough.misses, np.sqrt(rough.features.residuals))


# --- nothing to know


@pytest.mark.parametrize("assumed", ["norm", "bound"])
@pytest.mark.parametrize("noise", [0.5, 0.0])
@pytest.mark.parametrize("goal", [sl.Threshold(0.5), sl.FractionOfMax(0.5)], ids=["melk", "milk"])
def test_points_without_features_are_known_before_the_first_measurement(
    assumed: str, noise: float, goal: sl.Goal
) -> None:
    method = make(sl.Domain(np.zeros((3, 2))), goal, noise=noise, mean=0.25, **{assumed: 2.0})
    state = method.init()
    np.testing.assert_array_equal(state.labels, -1 if isinstance(goal, sl.Threshold) else 1)
    seen, _ = method.observe(state, [0, 1], [0.25, 0.25])
    np.testing.assert_array_equal(seen.labels, state.labels)


# --- noise and cost


def test_noise_that_is_too_small_to_compute_with_is_taken_for_a_little_more() -> None:
    domain = sl.Domain(POINTS, RBF(0.2))
    for noise in (0.0, 1e-300, 1e-9):
        np.testing.assert_allclose(setting(make(domain, norm=3.0, noise=noise)).deviations, 3e-5, rtol=1e-3)
    unequal = np.where(np.arange(N) % 2, 0.5, 0.0)
    found = setting(make(domain, norm=3.0, noise=unequal)).deviations
    np.testing.assert_array_equal(found[1::2], 0.5)
    np.testing.assert_allclose(found[::2], 3e-5, rtol=1e-3)
    np.testing.assert_array_equal(setting(make(domain, norm=3.0, noise=0.5)).deviations, 0.5)


def test_points_that_are_alike_have_no_worth_of_their_own() -> None:
    domain = sl.Domain(POINTS, RBF(0.2))
    cost = np.linspace(1.0, 2.0, N)
    assert posed(make(domain, norm=1.0)).worth is None
    assert posed(make(domain, norm=1.0, cost=3.0)).worth is None
    differing = posed(make(domain, norm=1.0, cost=cost))
    assert differing.worth is not None
    np.testing.assert_array_equal(differing.worth.cost, cost)
    # R^2 sigma^2 c / (what ten measurements cost), where that is least
    assert differing.ridge == pytest.approx(RADIUS**2 * 0.25 / (10 * cost.mean()))
    pairs = posed(make(domain, sl.FractionOfMax(0.3), norm=1.0, cost=cost))
    assert pairs.worth is None
    assert pairs.ridge == pytest.approx(RADIUS**2 * 0.25 / 10)


@pytest.mark.parametrize("goal", [sl.Threshold(0.23), sl.FractionOfMax(0.4)], ids=["melk", "milk"])
@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_units_change_nothing(goal: sl.Goal, unit: float) -> None:
    def after(scale: float) -> State:
        level = sl.Threshold(goal.value * scale) if isinstance(goal, sl.Threshold) else goal
        units = {"noise": 0.5 * scale, "norm": 3.0 * scale, "tolerance": 0.01 * scale}
        method = make(sl.Domain(POINTS, RBF(0.2)), level, **units)
        state, rng = method.init(), np.random.default_rng(0)
        for phase in range(5):
            points = rng.integers(N, size=20 * 2**phase)
            plan = at(method.ask(state), points.tolist(), f"plan {phase}")
            values = 1.2 * np.sin(6 * POINTS[plan.indices, 0]) + 0.5 * rng.standard_normal(plan.total)
            state, _ = method.tell(state, plan, scale * values)
        return state

    one, other = after(1.0), after(unit)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_allclose(other.intervals.lower / unit, one.intervals.lower, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(other.intervals.upper / unit, one.intervals.upper, rtol=1e-6, atol=1e-9)


# --- the rest of the composition


def test_options_arrive_where_they_belong() -> None:
    """With so much noise that no batch takes less than its size because little is missing."""
    problem = sl.Problem(sl.Domain(POINTS, RBF(0.2)), goal=sl.Threshold(0.0), noise=5.0, norm=1.0, tolerance=0.1)
    confidence = sl.Ridge(growth=1.5, shares=(1.0, 0.0))
    method = sl.methods.make(
        "melk", problem, confidence=confidence, batch=7, permanent=True, rule=GapWeighted(rtol=0.2)
    )
    assert method.confidence is confidence
    assert isinstance(method.sizes, Growing)
    assert (method.sizes.first, method.sizes.growth) == (7, 1.5)
    assert (method.permanent, method.ordered, method.budget) == (True, True, BUDGET)
    assert (method.rule, method.prior.tolerance) == (GapWeighted(rtol=0.2), 0.1)
    assert isinstance(method.prior, RidgeBelief)
    assert method.prior.shares == (1.0, 0.0)
    assert not sl.methods.make("melk", problem, confidence=confidence).ordered
    sizes = []
    state = method.init()
    for _ in range(4):
        plan = method.ask(state)
        sizes.append(plan.total)
        state, _ = method.tell(state, plan, np.zeros(plan.total))
    assert sizes == [7, 11, 16, 24]


@pytest.mark.parametrize("name", ["melk", "milk"])
def test_without_a_norm_and_a_bound_nothing_can_be_promised(name: str) -> None:
    goal = sl.Threshold(0.0) if name == "melk" else sl.FractionOfMax(0.3)
    with pytest.raises(InputError, match=r"problem\.norm is None: the ridge confidence needs S with .* or a bound B"):
        make(sl.Domain(POINTS, RBF(0.2)), goal)


def test_pairs_of_too_many_points_are_refused() -> None:
    domain = sl.Domain(np.linspace(0, 1, 6001)[:, None], RBF(0.2))
    with pytest.raises(InputError, match=r"problem\.domain is of 6,001 points: milk looks at all pairs"):
        make(domain, sl.FractionOfMax(0.3), norm=1.0)
    assert make(domain, sl.Threshold(0.3), norm=1.0).init().stop is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"growth": 0.9}, r"Ridge.growth is 0.9: give a number >= 1"),
        ({"growth": 10.0}, r"Ridge.growth is 10.0: give a number .* < 10"),
        ({"shares": (0.0, 0.0)}, r"Ridge.shares is \(0.0, 0.0\): give two shares of delta whose sum is at most 1"),
        ({"shares": (1.0, -0.1)}, "Ridge.shares is -0.1: give a number >= 0"),
        ({"shares": (0.6, 0.6)}, r"Ridge.shares is \(0.6, 0.6\): give two shares of delta whose sum is at most 1"),
    ],
)
def test_wrong_parameters_are_one_sentence(options: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        sl.Ridge(**options)


# --- odd but allowed


ODD: dict[str, dict[str, Any]] = {
    "one point": {"domain": sl.Domain([[0.5]], RBF(0.2))},
    "one arm": {"domain": sl.Domain([[-3.0]])},
    "two points": {"domain": sl.Domain([[0.1], [0.9]], RBF(0.2))},
    "equal points": {"domain": sl.Domain(np.full((5, 1), 0.4), RBF(0.2))},
    "some without features": {"domain": sl.Domain([[0.0, 0.0], [1.0, 0.0], [0.5, 0.5]])},
    "a constant kernel": {"domain": sl.Domain(POINTS, ConstantKernel(2.0))},
    "a tolerance beyond everything": {"tolerance": 1e3},
    "delta of a half": {"delta": 0.5},
    "delta of nearly one": {"delta": 1 - 1e-9},
    "delta of a millionth": {"delta": 1e-6},
    "a huge norm": {"norm": 1e9},
    "no noise": {"noise": 0.0},
    "hardly any noise": {"noise": 1e-200},
    "much noise": {"noise": 1e8},
    "noise of all sizes": {"noise": np.logspace(-12, 12, N)},
    "costs of all sizes": {"cost": np.logspace(-12, 12, N)},
    "a large misspecification": {"misspecification": 50.0},
    "a small bound besides": {"bound": 1.3},
    "no growth": {"confidence": sl.Ridge(growth=1.0)},
    "much growth": {"confidence": sl.Ridge(growth=9.9)},
    "ellipsoids only": {"confidence": sl.Ridge(shares=(1.0, 0.0))},
    "single measurements": {"batch": 1, "confidence": sl.Ridge(growth=1.0)},
    "ten thousand at once": {"batch": 10_000},
    "a careless design": {"rule": GapWeighted(rtol=10.0)},
    "a careful design": {"rule": GapWeighted(rtol=1e-8)},
}


@pytest.mark.parametrize("goal", [sl.Threshold(0.23), sl.FractionOfMax(0.3)], ids=["melk", "milk"])
@pytest.mark.parametrize("odd", ODD)
def test_odd_campaigns_go_on_without_a_word(odd: str, goal: sl.Goal) -> None:
    options = dict(ODD[odd])
    chosen: dict[str, Any] = {"confidence": "ridge"}
    chosen |= {name: options.pop(name) for name in ("batch", "confidence", "rule") if name in options}
    domain = options.pop("domain", sl.Domain(POINTS, RBF(0.2)))
    problem = sl.Problem(domain, goal=goal, **{"noise": 0.3, "norm": 6.0, "tolerance": 0.2, **options})
    method = sl.methods.make("melk", problem, **chosen)
    truth = (domain.points if domain.kernel is None else np.sin(4 * domain.points)) @ np.ones(domain.points.shape[1])
    truth = np.full(domain.n, 0.9) if isinstance(domain.kernel, ConstantKernel) else truth
    state = method.init()
    for _ in range(4):
        if state.stop is not None:
            break
        plan = method.ask(state)
        noise = problem.deviations[plan.indices]
        drawn = noise * np.random.default_rng(state.phase).standard_normal(plan.total)
        state, info = method.tell(state, plan, truth[plan.indices] + drawn)
        assert not np.isnan(info.bounds.lower).any()
        assert not np.isnan(info.bounds.upper).any()
        assert np.isfinite(state.belief.values(goal)).all()
        assert np.isfinite(state.estimate).all()
    level = 0.23 if isinstance(goal, sl.Threshold) else 0.7 * truth.max()
    assert not (truth[state.labels < 0] > level + problem.tolerance).any()
    assert not (truth[state.labels > 0] < level - problem.tolerance).any()
