"""Places that are added during a campaign with the ridge confidence: what is promised still holds."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.gaussian_process.kernels import RBF, Matern

import superlevel as sl
from superlevel.arrays import Array, Indices
from superlevel.challenge import Challenge
from superlevel.confidence import unit_features
from superlevel.confidence.ellipsoids import GAMMAS, OMEGAS, spectrum
from superlevel.confidence.ridge import RidgeBelief
from superlevel.errors import InputError
from superlevel.features import embed
from superlevel.methods import Method
from superlevel.records import Plan, State
from superlevel.sufficient_statistics import nothing

N, NOISE, NORM, DELTA = 14, 0.4, 3.0, 0.2
POINTS = np.linspace(0, 1, N)[:, None]
KERNELS: dict[str, Any] = {"smooth": RBF(0.2), "rough": Matern(0.3, nu=0.5)}


def belief(state: State) -> RidgeBelief:
    assert isinstance(state.belief, RidgeBelief)
    return state.belief


def made(kernel: Any, elsewhere: Array | None, **options: Any) -> Method:
    given = {"noise": NOISE, "norm": NORM, "delta": DELTA, **options}
    problem = sl.Problem(sl.Domain(POINTS, kernel, elsewhere=elsewhere), goal=sl.Threshold(0.5), **given)
    return sl.methods.make("melk", problem, confidence=sl.Ridge(growth=1.0), batch=10)


# --- the argument


@given(seed=st.integers(0, 10**6), rank=st.integers(1, 8), gamma=st.sampled_from([1.0, 10.0, 1e4]))
@settings(max_examples=60, deadline=None)
def test_no_feature_map_says_more_of_the_noise_than_the_kernel_does(seed: int, rank: int, gamma: float) -> None:
    """z' K (K + gamma)^-1 z - log det(I + K / gamma): of features, less what they leave out, no more than of all."""
    rng = np.random.default_rng(seed)
    places, others = rng.uniform(size=(12, 1)), rng.uniform(size=(8, 1))
    kernel = KERNELS[str(rng.choice(list(KERNELS)))]
    features = embed(kernel, np.concatenate([others, places]), tol=0.0, max_rank=rank)
    weights, noise = 10.0 ** rng.uniform(-1, 3, 12), 2.0 * rng.standard_normal(12)
    phi = np.sqrt(weights)[:, None] * features.array[len(others) :]
    left = float(weights @ features.residuals[len(others) :])
    parts = (phi @ phi.T, np.sqrt(np.outer(weights, weights)) * kernel(places))
    ours, all_of_it = (_excess(matrix, noise, gamma) for matrix in parts)
    assert ours - left / gamma <= all_of_it + 1e-6 * (1 + left)


def _excess(matrix: Array, noise: Array, gamma: float) -> float:
    shifted = matrix + gamma * np.eye(len(noise))
    return float(noise @ matrix @ np.linalg.solve(shifted, noise) - np.linalg.slogdet(shifted / gamma)[1])


def test_radii_have_room_for_what_features_leave_out() -> None:
    rng = np.random.default_rng(0)
    features, residuals = rng.normal(size=(6, 2)), rng.uniform(size=6)
    seen = nothing(6).told(np.arange(6), rng.normal(size=6), np.full(6, 0.5))
    without = spectrum(features, seen, np.sqrt(residuals))
    found = spectrum(features, seen, np.sqrt(residuals), residuals)
    price = 2.0 * np.log(1.0 / DELTA)
    for each, left in ((found, 4.0 * residuals.sum()), (without, 0.0)):
        mixed = each.mixed(DELTA)
        gains = np.log1p(each.sizes / GAMMAS[:, None]).sum(axis=1) + left / GAMMAS
        expected = price + (mixed.pis * (2.0 * np.log(mixed.pis / OMEGAS) + gains)).sum(axis=1)
        np.testing.assert_allclose((mixed.radii - each.blur) ** 2, expected, rtol=1e-6)


def test_a_map_that_is_chosen_by_the_noise_needs_that_room() -> None:
    """Of many crude maps the one that fits the noise best: without the room it is beyond its radius more often."""
    kernel, runs, rng = KERNELS["rough"], 150, np.random.default_rng(1)
    maps = []
    for _ in range(60):
        features = embed(kernel, np.concatenate([rng.uniform(size=(30, 1)), POINTS]), tol=0.0, max_rank=3)
        maps.append((features.array[30:], features.residuals[30:]))
    weights = np.full(N, 2.0 / NOISE**2)
    limit, beyond = 2.0 * np.log(1.0 / DELTA), np.zeros(2)
    for _ in range(runs):
        noise = rng.standard_normal(N)
        excess = np.array([(_excess(w2(phi, weights), noise, 1.0), weights @ left) for phi, left in maps])
        beyond += [(excess[:, 0] > limit).any(), (excess[:, 0] - excess[:, 1] > limit).any()]
    assert beyond[1] <= DELTA * runs
    assert beyond[0] > 2 * beyond[1]


def w2(phi: Array, weights: Array) -> Array:
    rows = np.sqrt(weights)[:, None] * phi
    return np.asarray(rows @ rows.T)


# --- the challenges


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_challenges_are_the_same_whatever_places_are_added(kernel: Any) -> None:
    """Their weights were fixed before the noise came, and stay as they were."""
    plain = made(kernel, None)
    plan = challenged(plain.ask(plain.init()))
    values = np.random.default_rng(0).normal(size=plan.total)
    alone = belief(plain.tell(plain.init(), plan, values)[0])
    beside = made(kernel, np.array([[0.031], [0.52], [1.4]]))
    again = challenged(beside.ask(beside.init()))
    counts, states = plan.counts, beside.init()
    batch = sl.records.Batch(points=plan.indices, values=values, plan=again, whole=True)
    other = belief(beside.update(states, batch)[0])
    assert counts.sum() == plan.total
    for name in ("estimates", "means", "variances", "scales", "misses"):
        (mine,), (theirs,) = alone.challenges.tests, other.challenges.tests
        np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))
        assert mine.variances.any()


def challenged(plan: Plan) -> Plan:
    """The plan with a challenge of two points."""
    numbers = {name: np.full(2, value) for name, value in {"signs": 1.0, "gaps": 0.3, "deltas": 0.01}.items()}
    return replace(plan, challenge=Challenge(points=np.array([1, 5]), others=np.full(2, -1), **numbers))


# --- the promise


def function(kernel: Any, rng: np.random.Generator) -> Any:
    """A function of exactly that norm, at any places."""
    centres, weights = rng.uniform(-0.2, 1.2, size=(5, 1)), rng.normal(size=5)
    weights *= NORM / np.sqrt(weights @ kernel(centres) @ weights)
    return lambda places: np.asarray(kernel(places, centres) @ weights)


def ever_left(kernel: Any, seed: int, *, part: float = 1.0) -> tuple[bool, float]:
    """Whether an interval of a point ever leaves f out, in a campaign that adds places by what it saw; and its width.

    After each batch the measurements so far say beside which point f is nearest to the level: a new place there is
    measured ten times. As in a study, the method with that place is then told everything again.
    ``part`` of each interval counts, around its middle.
    """
    rng = np.random.default_rng([seed, 17])
    f = function(kernel, rng)
    truth, places = f(POINTS), np.empty((0, 1))
    told: list[tuple[Indices, Array, Any]] = []
    left, width = False, np.inf
    for _ in range(5):
        method = made(kernel, places if len(places) else None)
        state = _replayed(method, told)
        if state.stop is not None:
            break
        plan = method.ask(state)
        told.append((plan.indices, f(POINTS[plan.indices]) + NOISE * rng.standard_normal(plan.total), plan.counts))
        state = _replayed(method, told)
        nearest = int(np.argmin(np.abs(state.estimate - 0.5)))
        places = np.concatenate([places, POINTS[[nearest]] + rng.uniform(-0.05, 0.05)])
        told.append((np.full(10, N + len(places) - 1), f(places[-1:]) + NOISE * rng.standard_normal(10), None))
        held = _replayed(made(kernel, places), told).belief.bounds()
        middle, half = 0.5 * (held.lower + held.upper), 0.5 * part * (held.upper - held.lower)
        left |= bool((np.abs(truth - middle) > half).any())
        width = float(np.median(held.upper - held.lower))
    return left, width


def _replayed(method: Method, told: list[tuple[Indices, Array, Any]]) -> State:
    state = method.init()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.AssumptionWarning)
        for points, values, counts in told:
            if counts is None:
                state, _ = method.observe(state, points, values)
            else:
                choice = sl.records.Choice(weights=counts / counts.sum(), counts=counts)
                state, _ = method.tell(state, method.planned(state, choice), values)
    return state


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_intervals_hold_when_places_are_added_by_what_was_seen(kernel: Any) -> None:
    runs = 25
    found = [ever_left(kernel, seed) for seed in range(runs)]
    assert binomtest(sum(left for left, _ in found), runs, DELTA, alternative="greater").pvalue > 0.01
    assert np.median([width for _, width in found]) < 2 * NORM  # they say more than the norm does
    short = [ever_left(kernel, seed, part=0.25)[0] for seed in range(10)]
    assert binomtest(sum(short), 10, DELTA, alternative="greater").pvalue < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("crude", [False, True])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_intervals_hold_in_many_runs(kernel: Any, crude: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if crude:  # so few features that the places that are added change all of them
        monkeypatch.setattr(unit_features, "FEATURES", ((1e-10, 4), (1e-8, 6)))
    runs = 200
    left = sum(ever_left(kernel, seed)[0] for seed in range(1000, 1000 + runs))
    assert binomtest(left, runs, DELTA, alternative="greater").pvalue > 0.01


# --- a bound alone, and small noise


def test_a_bound_is_of_the_points_whatever_was_measured_elsewhere() -> None:
    rng = np.random.default_rng(0)
    points, beside = rng.normal(size=(10, 3)), 5.0 * rng.normal(size=(4, 3))
    own, everywhere = (
        belief(sl.methods.make("melk", problem, confidence="ridge").init()).setting
        for problem in (
            sl.Problem(sl.Domain(points, elsewhere=more), goal=sl.Threshold(0.0), noise=0.5, bound=2.0)
            for more in (None, beside)
        )
    )
    np.testing.assert_array_equal(everywhere.own.array, own.features.array)
    np.testing.assert_array_equal(everywhere.features.array[:10], own.features.array)
    theta = np.linalg.lstsq(own.features.array, points @ [1.0, -2.0, 0.5])[0]
    np.testing.assert_allclose(everywhere.features.array[10:] @ theta, beside @ [1.0, -2.0, 0.5])


@pytest.mark.parametrize(
    ("points", "beside", "kernel", "more"),
    [
        ([[1.0, 0.0], [2.0, 0.0]], [[1.0, 1.0]], None, {}),
        ([[0.0], [1.0]], [[0.5]], RBF(0.5), {"misspecification": 0.1}),
    ],
    ids=["linear", "a kernel"],
)
def test_a_bound_alone_says_nothing_of_what_the_points_do_not_span(
    points: Any, beside: Any, kernel: Any, more: Any
) -> None:
    domain = sl.Domain(points, kernel, elsewhere=beside)
    problem = sl.Problem(domain, goal=sl.Threshold(0.0), noise=0.5, bound=2.0, **more)
    sentence = "elsewhere is with places that the features of the points do not span: give a norm"
    with pytest.raises(InputError, match=sentence):
        sl.methods.make("melk", problem, confidence="ridge").init()


def test_a_far_place_does_not_change_the_noise_at_others() -> None:
    """Of a linear kernel: its features are large, and what rounding hides there is no matter elsewhere."""
    points = np.array([[1.0], [0.5]])
    for noise, expected in ((1e-3, 1e-3), (1e-9, 1e-5)):
        problem = sl.Problem(sl.Domain(points, elsewhere=[[1e4]]), goal=sl.Threshold(0.0), noise=noise, norm=1.0)
        found = belief(sl.methods.make("melk", problem, confidence="ridge").init()).setting
        np.testing.assert_allclose(found.deviations, [expected, expected, 0.1])
