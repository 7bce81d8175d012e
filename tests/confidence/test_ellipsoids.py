"""Ellipsoids for theta: against direct formulas, against exact ranges, and against whoever wants them to fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.stats import binomtest

from superlevel.arrays import Array, Floats
from superlevel.confidence import ellipsoids
from superlevel.confidence.ellipsoids import AXES, GAMMAS, OMEGAS, TAUS, Spectrum, spectrum, spread
from superlevel.sufficient_statistics import Statistics, nothing

DELTA = 0.1


class World(NamedTuple):
    """Features of n points, a theta in the ball, and what was measured of <theta, phi> + misses."""

    features: Array
    theta: Array
    statistics: Statistics
    misses: Array

    @property
    def truth(self) -> Array:
        return self.features @ self.theta

    @property
    def spectrum(self) -> Spectrum:
        return spectrum(self.features, self.statistics, self.misses)


def world(seed: int, **options: float) -> World:
    """n = 10 points in up to 5 dimensions with anything from one to 10,000 measurements of unequal noise.

    ``rank``, ``count``, ``sigma``, ``radius`` and ``h`` are what they say; by default chance takes them.
    """
    rng = np.random.default_rng(seed)
    n, r = 10, int(rng.integers(1, 6))
    rank = int(options.get("rank", r))
    features = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, r)) * 10.0 ** rng.uniform(-1, 0, r)
    features /= np.linalg.norm(features, axis=1).max()
    theta = rng.standard_normal(r)
    theta *= options.get("radius", rng.uniform()) / np.linalg.norm(theta)
    count = int(options.get("count", 10 ** rng.uniform(0, 4)))
    points = rng.integers(0, n, count)
    deviations = options.get("sigma", 10 ** rng.uniform(-1, 0.5)) * rng.uniform(0.5, 2.0, count)
    misses = np.full(n, options.get("h", 0.0))
    wrong = misses * rng.choice([-1.0, 1.0], n)
    values = (features @ theta + wrong)[points] + deviations * rng.standard_normal(count)
    return World(features, theta, nothing(n).told(points, values, deviations), misses)


def matrices(found: World) -> tuple[Array, Array]:
    """Sigma and b, as they are written."""
    weighted = found.features.T * found.statistics.information
    return weighted @ found.features, weighted @ found.statistics.means


def each_by_itself(found: Spectrum, delta: float = DELTA) -> tuple[Array, Array]:
    """(n, pis, taus) lower and upper ends, one ellipsoid at a time."""
    sets = found.ellipsoids(delta)
    means, squares = found.arms @ sets.centres.T, found.arms**2 @ (1.0 / sets.weights).T
    half = np.sqrt(squares * np.maximum(sets.squared, 0.0))
    shape = (len(found.arms), AXES, len(TAUS))
    return (means - half).reshape(shape), (means + half).reshape(shape)


def metric(moment: Array, pi: Array) -> Array:
    """sum_k pi_k (Sigma + gamma_k)^-1"""
    eye = np.eye(len(moment))
    return np.asarray(sum(p * np.linalg.inv(moment + gamma * eye) for p, gamma in zip(pi, GAMMAS, strict=True)))


def exact_range(found: World, direction: Array, pis: list[int]) -> tuple[float, float]:
    """Of <theta, direction> over the ball and the sets of some pis, by a cone solver in the original coordinates."""
    moment, b = matrices(found)
    theta, mixed = cp.Variable(len(b)), found.spectrum.mixed(DELTA)
    met = [cp.norm(theta) <= 1]
    for k in pis:
        root = np.linalg.cholesky(metric(moment, mixed.pis[k])).T
        met.append(cp.norm(root @ b - (root @ moment) @ theta) <= float(mixed.radii[k]))
    ends = [goal(direction @ theta) for goal in (cp.Minimize, cp.Maximize)]
    low, high = (float(cp.Problem(end, met).solve(solver=cp.CLARABEL)) for end in ends)
    return low, high


# --- the formulas


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("h", [0.0, 0.3])
def test_radii_are_those_of_the_theorem(seed: int, h: float) -> None:
    found = world(seed, h=h)
    moment, _ = matrices(found)
    e = np.sqrt((found.statistics.information * h**2).sum())
    gains = np.array([np.linalg.slogdet(np.eye(len(moment)) + moment / gamma)[1] for gamma in GAMMAS])
    mixed = found.spectrum.mixed(DELTA)
    np.testing.assert_allclose(mixed.pis.sum(axis=1), 1.0)
    for pi, radius in zip(mixed.pis, mixed.radii, strict=True):
        some = pi > 0
        price = 2 * np.log(1 / DELTA) + pi[some] @ (2 * np.log(pi[some] / OMEGAS[some]) + gains[some])
        assert radius == pytest.approx(np.sqrt(price) + e, rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_a_pi_loses_nothing_where_the_noise_lies_along_its_axis(seed: int) -> None:
    """There the ellipsoid ends where the mixture of the theorem is 1 / delta; elsewhere it ends later."""
    found = world(seed, rank=1).spectrum
    largest, mixed = found.sizes.max(), found.mixed(DELTA)
    noise = np.where(found.sizes == largest, np.sqrt(mixed.radii[-1] - found.blur), 0.0)
    noise *= np.sqrt((mixed.radii[-1] - found.blur) / np.maximum(mixed.scales[-1], 1e-300))
    assert log_mixture(found.sizes, noise) == pytest.approx(np.log(1 / DELTA), abs=1e-5)


@given(st.integers(0, 10**6), st.integers(0, AXES - 1))
@settings(max_examples=50)
def test_no_ellipsoid_is_smaller_than_the_event(seed: int, k: int) -> None:
    """Noise of any direction on the rim of an ellipsoid makes the mixture at least 1 / delta."""
    found, rng = world(seed).spectrum, np.random.default_rng(seed)
    mixed = found.mixed(DELTA)
    noise = rng.standard_normal(len(found.sizes)) * np.sqrt(found.sizes + 1.0)
    noise *= (mixed.radii[k] - found.blur) / np.sqrt((mixed.scales[k] * noise**2).sum())
    assert log_mixture(found.sizes, noise) >= np.log(1 / DELTA) - 1e-9


def log_mixture(sizes: Array, noise: Array) -> float:
    """log sum_k omega_k M_k, for the summed noise in the axes of Sigma."""
    logs = 0.5 * ((noise**2 / (sizes + GAMMAS[:, None])).sum(axis=1) - np.log1p(sizes / GAMMAS[:, None]).sum(axis=1))
    return float(np.log((OMEGAS * np.exp(logs)).sum()))


def test_mixing_is_cheaper_than_a_union_over_the_gammas() -> None:
    """The half-width of two dimensions, each with the information of 1,000 measurements."""
    here = Spectrum(axes=np.eye(2), arms=np.eye(2), sizes=np.full(2, 1e3), moments=np.zeros(2), missed=0.0)
    union = (2 * np.log(len(GAMMAS) / DELTA) + 2 * np.log1p(1e3 / GAMMAS)) * (1e3 + GAMMAS) / 1e6
    half = here.points(DELTA).upper[0]
    assert half**2 < 0.9 * union.min()


@pytest.mark.parametrize("seed", range(8))
def test_a_point_is_in_an_ellipsoid_if_the_two_inequalities_together_say_so(seed: int) -> None:
    found, rng = world(seed), np.random.default_rng(seed)
    (moment, b), here = matrices(found), found.spectrum
    sets, mixed = here.ellipsoids(DELTA), here.mixed(DELTA)
    axes = np.linalg.lstsq(found.features, here.arms)[0]
    for _ in range(20):
        theta = rng.standard_normal(len(b))
        inside = np.square(axes.T @ theta - sets.centres)
        left = (sets.weights * inside).sum(axis=1) - sets.squared
        apart = b - moment @ theta
        norms = np.array([apart @ metric(moment, pi) @ apart for pi in mixed.pis])
        whole = (1 - TAUS) * (norms / mixed.radii**2)[:, None] + TAUS * (theta @ theta) - 1.0
        np.testing.assert_allclose(left, whole.ravel(), rtol=1e-6, atol=1e-6)


def test_the_ridge_estimate_is_that_of_ridge_regression() -> None:
    found = world(3)
    moment, b = matrices(found)
    theta = np.linalg.solve(moment + np.eye(len(b)), b)
    np.testing.assert_allclose(found.spectrum.estimate(), found.features @ theta, atol=1e-10)
    assert np.linalg.norm(found.spectrum.coefficients()) == pytest.approx(np.linalg.norm(theta), rel=1e-9)


@pytest.mark.parametrize("norm", [0.01, 3.0, 100.0])
def test_scaling_is_computing_with_scaled_features(norm: float) -> None:
    found = world(5, h=0.01)
    scaled = found.spectrum.scaled(norm)
    direct = spectrum(found.features * norm, found.statistics, found.misses, single=norm**2)
    np.testing.assert_allclose(scaled.mixed(DELTA).radii, direct.mixed(DELTA).radii, rtol=1e-9)
    np.testing.assert_allclose(scaled.points(DELTA).lower, direct.points(DELTA).lower, rtol=1e-8, atol=1e-8 * norm)
    np.testing.assert_allclose(scaled.pairs(DELTA, 0.7).upper, direct.pairs(DELTA, 0.7).upper, rtol=1e-7)
    np.testing.assert_allclose(scaled.estimate(), direct.estimate(), rtol=1e-8, atol=1e-8 * norm)


@given(st.integers(0, 10**6), st.floats(1e-3, 1e3))
@settings(max_examples=25)
def test_units_of_the_measurements_change_nothing(seed: int, unit: float) -> None:
    found = world(seed)
    given = found.statistics
    other = Statistics(
        counts=given.counts.copy(),
        information=given.information / unit**2,
        means=given.means * unit,
        scatter=given.scatter,
    )
    points = spectrum(found.features * unit, other, found.misses).points(DELTA)
    np.testing.assert_allclose(points.lower, unit * found.spectrum.points(DELTA).lower, rtol=1e-6, atol=1e-6 * unit)


def test_lengths_of_differences_are_those_of_rows_written_out() -> None:
    rows = np.random.default_rng(0).standard_normal((7, 3))
    expected = np.linalg.norm(rows[:, None] - 0.6 * rows, axis=2)
    np.testing.assert_allclose(spread(rows, 0.6), expected, rtol=1e-12)


# --- pairs


def written_out(found: Spectrum, share: float) -> Spectrum:
    """With every pair as a row."""
    n, r = found.arms.shape
    rows = (found.arms[:, None] - share * found.arms).reshape(n * n, r)
    return replace(found, arms=rows)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.2, 0.95])
def test_pairs_by_all_ellipsoids_are_points_of_pairs(seed: int, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ellipsoids, "PAIRED", AXES * len(TAUS))
    found = world(seed).spectrum
    pairs, expected = found.pairs(DELTA, share), written_out(found, share).points(DELTA)
    np.testing.assert_allclose(pairs.lower.ravel(), expected.lower, atol=1e-7)
    np.testing.assert_allclose(pairs.upper.ravel(), expected.upper, atol=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_a_few_ellipsoids_bound_pairs_nearly_as_well_as_all(seed: int) -> None:
    found = world(seed).spectrum
    pairs, best = found.pairs(DELTA, 0.8), written_out(found, 0.8).points(DELTA)
    width, least = (pairs.upper - pairs.lower).ravel(), best.upper - best.lower
    assert (width >= least - 1e-9).all()
    assert np.median(width / np.maximum(least, 1e-12)) < 1.25


# --- exact ranges over the ball and the sets of the theorem


@pytest.mark.parametrize("seed", range(12))
def test_every_ellipsoid_holds_the_exact_range_and_the_best_ones_are_near_it(seed: int) -> None:
    found, rng = world(seed), np.random.default_rng(seed)
    x, k = int(rng.integers(10)), int(rng.integers(AXES))
    low, high = exact_range(found, found.features[x], [k])
    lower, upper = each_by_itself(found.spectrum)
    assert lower[x, k].max() <= low + 1e-6
    assert upper[x, k].min() >= high - 1e-6
    assert upper[x, k].min() - lower[x, k].max() <= 1.05 * (high - low) + 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_intervals_hold_the_exact_range_over_all_sets_and_are_near_it(seed: int) -> None:
    found = world(seed, h=0.01)
    low, high = exact_range(found, found.features[0], list(range(AXES)))
    points = found.spectrum.points(DELTA)
    assert points.lower[0] <= low + 1e-6
    assert points.upper[0] >= high - 1e-6
    assert points.upper[0] - points.lower[0] <= 1.05 * (high - low) + 1e-6


def test_points_intersect_all_ellipsoids() -> None:
    found = world(1).spectrum
    lower, upper = each_by_itself(found)
    np.testing.assert_allclose(found.points(DELTA).lower, lower.max(axis=(1, 2)))
    np.testing.assert_allclose(found.points(DELTA).upper, upper.min(axis=(1, 2)))


# --- the theorem, against adversaries

Law = Callable[[np.random.Generator, int], Array]
LAWS: dict[str, Law] = {
    "Gaussian": lambda rng, runs: rng.standard_normal(runs),
    "uniform": lambda rng, runs: rng.uniform(-np.sqrt(3), np.sqrt(3), runs),
    "Rademacher": lambda rng, runs: rng.choice([-1.0, 1.0], runs),
}


class Paths(NamedTuple):
    """Where the summed noise was largest against its bound, in each of many runs."""

    excess: Array
    """(runs,) the largest log sum_k omega_k M_k over log 1 / delta."""
    information: Array
    """(runs, k) of each arm at that time."""
    sums: Array
    """(runs, k) summed noise / sigma^2 of each arm at that time."""


def evidence(arms: Array, information: Array, sums: Array, gammas: Floats, omegas: Floats) -> tuple[Array, Array]:
    """(runs,) log sum_k omega_k M_k, and (runs, r) the direction in which S is large."""
    moment = np.einsum("ka,nk,kb->nab", arms, information, arms)
    summed, eye = sums @ arms, np.eye(arms.shape[1])
    logs = []
    for gamma in gammas:
        turned = np.linalg.solve(moment + gamma * eye, summed[:, :, None])[:, :, 0]
        logs.append(0.5 * (np.vecdot(summed, turned) - np.linalg.slogdet(eye + moment / gamma)[1]))
    leaning = np.linalg.solve(moment + gammas[0] * eye, summed[:, :, None])[:, :, 0]
    return np.asarray(logsumexp(np.array(logs), b=np.asarray(omegas)[:, None], axis=0)), leaning


def paths(arms: Array, *, law: str, strategy: str, of: slice, delta: float, runs: int, steps: int) -> Paths:
    """Each measurement's place and sigma are chosen by someone who sees all the noise so far."""
    rng, each = np.random.default_rng([len(arms), len(law), len(strategy)]), np.arange(runs)
    gammas, omegas = GAMMAS[of], OMEGAS[of] / OMEGAS[of].sum()
    information, sums = np.zeros((runs, len(arms))), np.zeros((runs, len(arms)))
    found = Paths(np.zeros(runs), information.copy(), sums.copy())
    excess, leaning = evidence(arms, information, sums, gammas, omegas)
    for step in range(steps):
        pulls = np.abs(leaning @ arms.T)
        chosen = {
            "where the noise leans": pulls.argmax(axis=1),
            "away from it": pulls.argmin(axis=1),
            "by chance": rng.integers(0, len(arms), runs),
        }[strategy]
        # Precise measurements move much: small steps near the bound, bold ones far below it.
        weights = 1.05**step * np.where(excess > 0.6, 0.3, 3.0)
        information[each, chosen] += weights
        sums[each, chosen] += np.sqrt(weights) * LAWS[law](rng, runs)
        excess, leaning = evidence(arms, information, sums, gammas, omegas)
        excess = excess / np.log(1 / delta)
        better = excess > found.excess
        found.excess[better] = excess[better]
        found.information[better], found.sums[better] = information[better], sums[better]
    return found


def assert_at_most(count: int, runs: int, share: float) -> None:
    """A count that a probability of ``share`` makes plausible."""
    assert binomtest(count, runs, share, alternative="greater").pvalue > 1e-3, f"{count} of {runs}"


def some_arms(r: int) -> Array:
    arms = np.random.default_rng(r).standard_normal((2 * r + 1, r))
    return np.asarray(arms / np.linalg.norm(arms, axis=1).max())


@pytest.mark.parametrize("strategy", ["where the noise leans", "away from it", "by chance"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("r", [1, 4])
def test_adversaries_leave_a_single_ellipsoid_no_more_often_than_delta(r: int, law: str, strategy: str) -> None:
    one = slice(0, 1)
    found = paths(some_arms(r), law=law, strategy=strategy, of=one, delta=0.2, runs=400, steps=100)
    assert_at_most(int((found.excess > 1).sum()), 400, 0.2)


def test_an_adversary_does_reach_delta_with_gaussian_noise() -> None:
    """The bound is an equality but for overshoot, so that the test above would see one that is too small."""
    one = slice(0, 1)
    found = paths(some_arms(2), law="Gaussian", strategy="by chance", of=one, delta=0.2, runs=1000, steps=300)
    assert 0.1 < (found.excess > 1).mean() < 0.25


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("r", [1, 3])
def test_all_ellipsoids_and_intervals_hold_at_the_worst_moment_of_a_path(r: int, law: str) -> None:
    runs, delta, arms = 150, 0.2, some_arms(r)
    found = paths(arms, law=law, strategy="where the noise leans", of=slice(None), delta=delta, runs=runs, steps=80)
    theta = np.random.default_rng(r).standard_normal(r)
    theta /= np.linalg.norm(theta)
    left = outside = 0
    for excess, information, sums in zip(*found, strict=True):
        noise = np.divide(sums, information, out=np.zeros_like(sums), where=information > 0)
        seen = Statistics(
            counts=(information > 0).astype(np.int64),
            information=information.copy(),
            means=np.where(information > 0, arms @ theta + noise, 0.0),
            scatter=0.0,
        )
        here = spectrum(arms, seen, np.zeros(len(arms)))
        turned = here.moments - here.sizes * (np.linalg.lstsq(arms, here.arms)[0].T @ theta)
        assert log_mixture(here.sizes, turned) == pytest.approx(excess * np.log(1 / delta), rel=1e-6, abs=1e-9)
        mixed = here.mixed(delta)
        assert excess > 1 or (np.sqrt(mixed.scales @ turned**2) <= mixed.radii).all()
        points = here.points(delta)
        left += int(excess > 1)
        outside += bool(((points.lower > arms @ theta + 1e-12) | (points.upper < arms @ theta - 1e-12)).any())
    assert_at_most(left, runs, delta)
    assert outside <= left


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("strategy", ["where the noise leans", "away from it", "by chance"])
def test_no_strategy_exceeds_delta_in_thousands_of_long_runs(law: str, strategy: str) -> None:
    for r in (1, 3, 5):
        for some in (slice(0, 1), slice(3, 4), slice(None)):
            found = paths(some_arms(r), law=law, strategy=strategy, of=some, delta=0.1, runs=2000, steps=200)
            assert_at_most(int((found.excess > 1).sum()), 2000, 0.1)


# --- misspecification


@pytest.mark.parametrize("h", [0.02, 0.2])
def test_the_worst_misspecification_is_allowed_for_and_has_to_be(h: float) -> None:
    honest, careless = 0, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        features = rng.standard_normal((12, 3))
        features /= np.linalg.norm(features, axis=1).max()
        theta, aim = rng.standard_normal(3), rng.standard_normal(3)
        theta *= 0.9 / np.linalg.norm(theta)
        wrong = h * np.sign(features @ aim)
        points = np.repeat(np.arange(12), 200)
        values = (features @ theta + wrong)[points] + 0.1 * rng.standard_normal(len(points))
        seen = nothing(12).told(points, values, np.full(len(points), 0.1))
        truth = features @ theta
        for misses in (np.full(12, h), np.zeros(12)):
            bounds = spectrum(features, seen, misses).points(DELTA)
            missed = bool(((truth < bounds.lower) | (truth > bounds.upper)).any())
            honest, careless = honest + int(missed and misses.any()), careless + int(missed and not misses.any())
    assert_at_most(honest, 40, DELTA)
    assert careless > 20


def test_what_is_missed_moves_the_sums_by_no_more_than_its_norm() -> None:
    rng = np.random.default_rng(0)
    for seed in range(30):
        found = world(seed)
        moment, _ = matrices(found)
        wrong = rng.uniform(-1, 1, 10)
        information = found.statistics.information
        moved = found.features.T @ (information * wrong)
        for gamma in GAMMAS:
            norm = moved @ np.linalg.solve(moment + gamma * np.eye(len(moved)), moved)
            assert norm <= (information * wrong**2).sum() * (1 + 1e-9)


# --- nothing, little and too much


@pytest.mark.parametrize("seed", range(5))
def test_before_any_measurement_there_is_the_ball_alone(seed: int) -> None:
    features = np.random.default_rng(seed).standard_normal((6, 3))
    begun = spectrum(features, nothing(6), np.full(6, 0.5))
    np.testing.assert_allclose(begun.points(DELTA).upper, np.linalg.norm(features, axis=1), rtol=1e-14)
    np.testing.assert_allclose(begun.points(DELTA).lower, -np.linalg.norm(features, axis=1), rtol=1e-14)
    expected = np.linalg.norm(features[:, None] - 0.3 * features, axis=2)
    np.testing.assert_allclose(begun.pairs(DELTA, 0.3).upper, expected, rtol=1e-12)
    assert not begun.estimate().any()


@pytest.mark.parametrize("noise", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("rank", [1, 3])
def test_any_scale_gives_finite_ordered_intervals_that_hold_the_truth(noise: float, scale: float, rank: int) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        features = scale * rng.standard_normal((8, rank)) @ rng.standard_normal((rank, 4))
        features[2], features[3], features[5] = 0.0, features[4], 1e-6 * features[5]
        theta = rng.standard_normal(4)
        theta /= np.linalg.norm(theta)
        truth, points = features @ theta, rng.integers(0, 8, 500)
        values = truth[points] + noise * rng.standard_normal(500)
        found = spectrum(features, nothing(8).told(points, values, np.full(500, noise)), np.zeros(8))
        bounds, pairs = found.points(1e-6), found.pairs(1e-6, 0.7)
        rounding = 1e-12 * np.abs(features).max()
        for low, high, value in (
            (bounds.lower, bounds.upper, truth),
            (pairs.lower, pairs.upper, truth[:, None] - 0.7 * truth),
        ):
            assert np.isfinite(low).all()
            assert np.isfinite(high).all()
            assert (low <= value + rounding).all()
            assert (value <= high + rounding).all()


def test_a_precision_beyond_that_of_floats_widens_intervals_instead_of_emptying_them() -> None:
    """Information of 1e18 in directions of a matrix that has none: eigenvalues are known to 1e2 there."""
    for seed in range(20):
        found = world(seed, rank=1, count=1000, sigma=1e-8, radius=1.0)
        points = found.spectrum.points(DELTA)
        assert (points.lower <= found.truth).all()
        assert (found.truth <= points.upper).all()
        assert (points.upper - points.lower).max() < 1e-4


def test_what_rounding_adds_is_nothing_in_ordinary_campaigns() -> None:
    found = world(0, count=10_000, sigma=0.1).spectrum
    assert found.missed == 0
    assert 0 < found.blur < 1e-8


@pytest.mark.parametrize("n", [1, 5])
def test_one_point_and_equal_points_are_a_mean_with_its_interval(n: int) -> None:
    points = np.random.default_rng(0).integers(0, n, 400)
    values = 0.3 + np.random.default_rng(1).standard_normal(400)
    found = spectrum(np.ones((n, 1)), nothing(n).told(points, values, np.ones(400)), np.zeros(n)).points(DELTA)
    # One dimension: the interval ends where the mixture is 1 / delta.
    rim = brentq(lambda far: log_mixture(np.array([400.0]), np.array([400.0 * far])) - np.log(1 / DELTA), 0.0, 1.0)
    np.testing.assert_allclose((found.upper - found.lower) / 2, rim, rtol=1e-3)
    np.testing.assert_allclose((found.upper + found.lower) / 2, values.mean(), atol=1e-3)


def test_points_without_features_are_known_to_be_zero() -> None:
    features = np.zeros((4, 2))
    features[0] = 1.0, 0.5
    points = np.array([0, 1, 2])
    found = spectrum(features, nothing(4).told(points, np.array([0.2, 5.0, -3.0]), np.ones(3)), np.zeros(4))
    assert found.points(DELTA).upper[1:].tolist() == [0.0, 0.0, 0.0]
    assert found.points(DELTA).upper[0] > 0
    nowhere = spectrum(np.zeros((4, 2)), nothing(4).told(points, np.ones(3), np.ones(3)), np.zeros(4))
    assert not nowhere.points(DELTA).upper.any()
    assert not nowhere.pairs(DELTA, 0.5).lower.any()


@pytest.mark.parametrize("seed", range(4))
def test_intervals_shrink_to_the_truth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((6, 3))
    theta = rng.standard_normal(3)
    theta /= 2 * np.linalg.norm(theta)
    seen, truth, widths = nothing(6), features @ theta, []
    for count in (10, 1000, 100_000):
        points = np.repeat(np.arange(6), count)
        values = truth[points] + 0.5 * rng.standard_normal(len(points))
        seen = seen.told(points, values, np.full(len(points), 0.5))
        found = spectrum(features, seen, np.zeros(6)).points(1e-3)
        assert (found.lower < truth).all()
        assert (truth < found.upper).all()
        widths.append(float((found.upper - found.lower).max()))
    assert widths[1] < widths[0] / 4
    assert widths[2] < widths[1] / 7
    assert widths[2] < 0.05


def test_more_confidence_costs_width() -> None:
    found = world(2, count=5000).spectrum
    widths = [float((found.points(delta).upper - found.points(delta).lower).sum()) for delta in (0.5, 0.1, 1e-6)]
    assert widths[0] < widths[1] < widths[2]


# --- ellipsoids that miss the ball


def beyond_the_ball(seed: int) -> World:
    return world(seed, radius=1.0 + 2.0 * np.random.default_rng(seed).uniform(), count=200, sigma=0.3)


def test_of_an_ellipsoid_that_misses_the_ball_nothing_is_left() -> None:
    """However the centres of the others lie: an interval of no width would decide everything."""
    empty = 0
    for seed in range(300):
        found = beyond_the_ball(seed).spectrum
        points = found.points(DELTA)
        if found.ellipsoids(DELTA).squared.min() < 0:
            empty += 1
            assert (points.lower > points.upper).all()
    assert 50 < empty < 300


# --- for how large a norm


def exact_norm(found: World, direction: Array, sign: float, beyond: float, missed: float) -> float:
    """The largest c for which the sign holds over the ball of radius c and each set of a pi by itself, by bisection."""
    moment, b = matrices(found)
    mixed, here, best = found.spectrum.mixed(DELTA), found.spectrum, 0.0
    for k in range(AXES):
        root = np.linalg.cholesky(metric(moment, mixed.pis[k])).T
        theta, size, radius = cp.Variable(len(b)), cp.Parameter(nonneg=True), cp.Parameter(nonneg=True)
        met = [cp.norm(theta) <= size, cp.norm(root @ b - (root @ moment) @ theta) <= radius]
        problem = cp.Problem(cp.Minimize(sign * direction @ theta), met)

        def holds(c: float) -> bool:
            size.value, radius.value = c, float(mixed.radii[k]) + (c - 1.0) * here.missed  # noqa: B023
            return float(problem.solve(solver=cp.CLARABEL)) + beyond > c * missed  # noqa: B023

        low, high = (1.0, 60.0) if holds(1.0) else (0.0, 0.0)
        for _ in range(12):
            middle = (low + high) / 2
            low, high = (middle, high) if high and holds(middle) else (low, middle)
        best = max(best, low)
    return best


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("h", [0.0, 0.02])
def test_the_largest_norm_is_nearly_the_exact_one_and_never_more(seed: int, h: float) -> None:
    found, rng = world(seed, count=3000, sigma=0.2, radius=0.4, h=h), np.random.default_rng(seed)
    x = int(rng.integers(10))
    sign = 1.0 if rng.random() < 0.5 else -1.0
    beyond = float(-sign * found.truth[x] + rng.uniform(0.05, 0.4))  # the level is as far from f
    row = found.features[[x]]
    here = found.spectrum.of(row).largest(np.array([sign]), np.array([beyond]), np.array([h]), DELTA)[0]
    exact = exact_norm(found, row[0], sign, beyond, h)
    here, exact = min(here, 50.0), min(exact, 50.0)  # the search ends at 60
    assert here <= exact * (1 + 1e-3) + 1e-2
    assert exact <= 1.1 or here >= 0.9 * exact - 0.1


def test_what_holds_for_the_ball_holds_for_a_largest_norm_of_at_least_one() -> None:
    for seed in range(20):
        found = world(seed, count=1000)
        points = found.spectrum.points(DELTA)
        level = float(np.median(found.truth))
        signs = np.where(points.lower > level, 1.0, np.where(points.upper < level, -1.0, 0.0))
        largest = found.spectrum.largest(np.ones(10), np.full(10, -level), np.zeros(10), DELTA)
        np.testing.assert_array_equal(largest >= 1.0, signs > 0)
        below = found.spectrum.largest(-np.ones(10), np.full(10, level), np.zeros(10), DELTA)
        np.testing.assert_array_equal(below >= 1.0, signs < 0)
