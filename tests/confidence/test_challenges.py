"""Challenges: the recursion against weights written out, the root against integrals, the promise against who cheats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import binomtest, truncnorm
from sklearn.gaussian_process.kernels import RBF

from superlevel.arrays import Array, Indices
from superlevel.challenge import Challenge
from superlevel.confidence import challenges
from superlevel.confidence.challenges import KAPPA, LEAST, SPREAD, Challenges, OneSided, log_evidence, needed, reach
from superlevel.features import embed
from superlevel.goals import Bounds
from superlevel.sufficient_statistics import summed

DELTA = 0.1
Law = Callable[[np.random.Generator, int], Array]
LAWS: dict[str, Law] = {
    "gaussian": lambda rng, size: rng.standard_normal(size),
    "signs": lambda rng, size: rng.choice([-1.0, 1.0], size),
    "uniform": lambda rng, size: rng.uniform(-np.sqrt(3), np.sqrt(3), size),
}


def challenge(
    points: list[int], *, gap: float = 0.3, delta: float = DELTA, others: list[int] | None = None
) -> Challenge:
    """Of these points, whose sides alternate, with equal shares of delta."""
    m = len(points)
    return Challenge(
        points=np.array(points),
        others=np.full(m, -1) if others is None else np.array(others),
        signs=np.where(np.arange(m) % 2, -1.0, 1.0),
        gaps=np.full(m, gap),
        deltas=np.full(m, delta / m),
    )


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Measurements with their places."""

    points: Indices
    values: Array
    deviations: Array

    def tell(self, before: Challenges, features: Array, misses: Array | None = None) -> Challenges:
        n, weights = len(features), self.deviations**-2
        information = summed(self.points, weights, n)
        sums = summed(self.points, weights * self.values, n)
        return before.told(features, information, sums, np.zeros(n) if misses is None else misses)

    def scaled(self, features: Array) -> tuple[Array, Array]:
        """Arms and values over their sigma."""
        return features[self.points] / self.deviations[:, None], self.values / self.deviations


def batches(rng: np.random.Generator, n: int, sizes: list[int]) -> list[Batch]:
    return [
        Batch(
            points=rng.integers(n, size=size),
            values=rng.normal(size=size),
            deviations=rng.uniform(0.05, 2.0, size),
        )
        for size in sizes
    ]


def begun(features: Array, announced: Challenge, misses: Array | None = None, share: float = 0.0) -> Challenges:
    """With this challenge, before anything is measured."""
    missed = np.zeros(len(features)) if misses is None else misses
    return challenges.none(DELTA, len(features)).begun(challenges.begin(announced, features, missed, share))


def only(known: Challenges) -> OneSided:
    (tests,) = known.tests
    return tests


# --- the recursion


@dataclass(kw_only=True)
class Explicit:
    """One direction with the weight of every single measurement, found by least squares."""

    wanted: Array
    """(r,) v"""
    arms: list[Array] = field(default_factory=list)
    """(N, r) a batch"""
    values: list[Array] = field(default_factory=list)
    weights: list[Array] = field(default_factory=list)
    """(N,) u a batch"""
    scale: float = 0.0
    squared: float = 2.0 * float(np.log(1.0 / DELTA))
    """R^2"""

    @property
    def estimate(self) -> float:
        return sum(float(u @ y) for u, y in zip(self.weights, self.values, strict=True))

    @property
    def mean(self) -> Array:
        return np.asarray(np.sum([arms.T @ u for arms, u in zip(self.arms, self.weights, strict=True)], axis=0))

    @property
    def variance(self) -> float:
        return sum(float(u @ u) for u in self.weights)

    @property
    def metric(self) -> Array:
        """H"""
        rank = len(self.wanted)
        return np.eye(rank) + sum((arms.T @ arms for arms in self.arms), np.zeros((rank, rank))) / self.squared

    def told(self, arms: Array, values: Array) -> None:
        """The best common factor of what was before, and the best weights of what is new."""
        size, rank = arms.shape
        whole = self.metric
        whiten = np.linalg.inv(np.linalg.cholesky(whole))
        mean = self.mean if self.weights else np.zeros(rank)
        kept = 0.0
        if self.weights:
            system = np.zeros((1 + size + rank, 1 + size))
            system[0, 0] = np.sqrt(self.variance)
            system[1:-rank, 1:] = np.eye(size)
            system[-rank:] = whiten @ np.column_stack([mean, arms.T]) / KAPPA
            aim = np.concatenate([np.zeros(1 + size), whiten @ self.wanted / KAPPA])
            kept = max(LEAST, float(np.linalg.lstsq(system, aim)[0][0]))
        system = np.vstack([np.eye(size), whiten @ arms.T / KAPPA])
        aim = np.concatenate([np.zeros(size), whiten @ (self.wanted - kept * mean) / KAPPA])
        fresh = np.linalg.lstsq(system, aim)[0]
        self.weights = [*(kept * u for u in self.weights), fresh]
        self.arms.append(arms)
        self.values.append(values)
        v = whiten @ self.wanted
        explained = (whiten @ self.mean) @ v
        self.scale = self.scale * kept if self.scale else self.variance * float(v @ v) / float(explained)
        self.squared = 2.0 * float(np.log(1.0 / DELTA)) + float(np.linalg.slogdet(whole)[1])


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 6),
    rank=st.integers(1, 4),
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=6),
)
def test_the_recursion_is_a_sum_over_all_measurements(seed: int, n: int, rank: int, sizes: list[int]) -> None:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, rank))
    known, explicit = begun(features, challenge(list(range(n)))), [Explicit(wanted=v) for v in features]
    for batch in batches(rng, n, sizes):
        known = batch.tell(known, features)
        for point in explicit:
            point.told(*batch.scaled(features))
    tests = only(known)
    np.testing.assert_allclose(tests.estimates, [point.estimate for point in explicit], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(tests.means, [point.mean for point in explicit], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(tests.variances, [point.variance for point in explicit], rtol=1e-6, atol=1e-14)
    np.testing.assert_allclose(tests.scales, [point.scale for point in explicit], rtol=1e-5, atol=1e-14)
    assert known.squared == pytest.approx(explicit[0].squared)


def test_a_pair_is_a_direction_like_any_other() -> None:
    rng = np.random.default_rng(7)
    features, misses = rng.normal(size=(5, 3)), rng.uniform(size=5)
    pairs = challenge([0, 3], others=[4, 1])
    known = begun(features, pairs, misses, share=0.6)
    rows = np.vstack([features[[0, 3]] - 0.6 * features[[4, 1]], features])
    same = challenges.none(DELTA, 7).begun(challenges.begin(challenge([0, 1]), rows, np.zeros(7), 0.0))
    told = batches(rng, 5, [8, 20])
    for batch in told:
        known = batch.tell(known, features)
        same = replace(batch, points=batch.points + 2).tell(same, rows)
    np.testing.assert_allclose(only(known).estimates, only(same).estimates)
    np.testing.assert_allclose(only(known).scales, only(same).scales)
    np.testing.assert_allclose(only(known).unexplained, misses[[0, 3]] + 0.6 * misses[[4, 1]])


@pytest.mark.parametrize("splits", [1, 2, 10])
def test_measurements_at_one_place_add_up_however_they_are_split(splits: int) -> None:
    features = np.array([[2.0]])
    values = np.random.default_rng(1).normal(size=40)
    known = begun(features, challenge([0]))
    for part in np.split(values, splits):
        size = len(part)
        known = Batch(points=np.zeros(size, dtype=np.int64), values=part, deviations=np.ones(size)).tell(
            known, features
        )
    tests = only(known)
    assert tests.information[0] == pytest.approx(40.0)
    assert tests.estimates[0] / tests.means[0, 0] == pytest.approx(values.mean() / 2)


def test_the_information_of_a_first_batch_is_that_of_the_batch() -> None:
    """A batch that hardly reaches a point begins with hardly any, and not with the much that 1 / q would be."""
    angle = 1e-4
    features = np.array([[1.0, 0.0], [np.sin(angle), np.cos(angle)]])
    tests = only(begun(features, challenge([0, 1])).told(features, np.array([50.0, 0.0]), np.zeros(2), np.zeros(2)))
    np.testing.assert_allclose(tests.information, [50.0, 50.0 * np.sin(angle) ** 2], rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_units_of_f_change_nothing(unit: float) -> None:
    """If norm, values, noise and gaps are in other units, the coordinates with a ball of radius 1 are in them too."""
    rng = np.random.default_rng(2)
    features = embed(RBF(0.2), np.linspace(0, 1, 12)[:, None], tol=1e-9).array
    one = begun(features, challenge([0, 4, 9]))
    other = begun(unit * features, challenge([0, 4, 9], gap=0.3 * unit))
    for batch in batches(rng, 12, [5, 10, 20]):
        one = batch.tell(one, features)
        same = Batch(points=batch.points, values=unit * batch.values, deviations=unit * batch.deviations)
        other = same.tell(other, unit * features)
    none = Bounds(lower=np.zeros(3), upper=np.zeros(3))
    np.testing.assert_allclose(only(other).ends(none), unit * only(one).ends(none), rtol=1e-7)


def test_what_features_miss_moves_an_estimate_by_its_weights() -> None:
    rng = np.random.default_rng(3)
    features, missed = rng.normal(size=(4, 2)), rng.uniform(0.0, 0.5, 4)
    known, explicit = begun(features, challenge([0, 1, 2, 3]), missed), [Explicit(wanted=v) for v in features]
    told = batches(rng, 4, [5, 8, 3])
    for batch in told:
        known = batch.tell(known, features, missed)
        for point in explicit:
            point.told(*batch.scaled(features))
    for x, point in enumerate(explicit):
        errors = [missed[batch.points] / batch.deviations for batch in told]
        allowed = sum(float(np.linalg.norm(u) * np.linalg.norm(e)) for u, e in zip(point.weights, errors, strict=True))
        worst = sum(float(np.abs(u) @ e) for u, e in zip(point.weights, errors, strict=True))
        assert only(known).misses[x] == pytest.approx(allowed)
        assert only(known).misses[x] >= worst


# --- the root


@settings(max_examples=60, deadline=None)
@given(st.floats(-30, 60), st.floats(0, 1e4), st.floats(1e-2, 5))
def test_the_evidence_is_the_mean_over_the_slopes(x: float, information: float, gap: float) -> None:
    slopes = truncnorm(-1 / SPREAD, np.inf, loc=gap, scale=SPREAD * gap)
    middle = (x + 1 / (SPREAD**2 * gap)) / (information + 1 / (SPREAD * gap) ** 2)
    width = (information + 1 / (SPREAD * gap) ** 2) ** -0.5
    found, derivative = (float(each[0]) for each in log_evidence(*(np.array([z]) for z in (x, information, gap))))

    def integrand(mu: float) -> float:
        return float(np.exp(mu * x - 0.5 * mu**2 * information - found + slopes.logpdf(mu)))

    peak = max(0.0, middle)
    ends = max(0.0, peak - 12 * width), peak + 12 * width
    inside = [point for point in (peak,) if ends[0] < point < ends[1]] or None
    assert quad(integrand, *ends, points=inside, limit=200)[0] == pytest.approx(1.0, rel=1e-6)
    ahead = float(log_evidence(np.array([x + 1e-5]), np.array([information]), np.array([gap]))[0][0])
    assert derivative == pytest.approx((ahead - found) / 1e-5, rel=1e-2, abs=1e-6)


@settings(max_examples=200, deadline=None)
@given(
    information=st.floats(0, 1e12) | st.just(0.0),
    gap=st.floats(1e-6, 1e6),
    delta=st.floats(1e-250, 0.999),
)
def test_the_root_is_one(information: float, gap: float, delta: float) -> None:
    information /= gap**2
    found = reach(*(np.array([z]) for z in (information, gap, delta)))
    log = float(log_evidence(found, np.array([information]), np.array([gap]))[0][0])
    assert log == pytest.approx(np.log(1 / delta), rel=1e-6, abs=1e-6)


def test_a_direction_that_is_its_gap_from_the_level_is_decided_where_it_is_forecast() -> None:
    deltas = np.array([1e-4, 1e-2, 0.1])
    gaps = np.array([0.1, 1.0, 10.0])
    information = needed(deltas) / gaps**2
    ratio = reach(information, gaps, deltas) / (gaps * information)
    assert (ratio > 0.9).all()
    assert (ratio < 1.1).all()


def test_the_gap_that_was_thought_of_makes_the_closest_end() -> None:
    """Of all g the one that is right for the information is the best: a wrong one costs, and breaks nothing."""
    information, deltas = np.full(9, 400.0), np.full(9, 0.05)
    found = reach(information, np.geomspace(0.01, 3.0, 9), deltas)
    assert 0 < found.argmin() < 8
    assert (np.diff(found[: found.argmin() + 1]) < 0).all()
    assert (np.diff(found[found.argmin() :]) > 0).all()


# --- the ends


def test_before_a_direction_is_reached_nothing_is_said_of_it() -> None:
    features = np.eye(3)
    start = begun(features, challenge([0, 1, 2]))
    ball = Bounds(lower=-np.ones(3), upper=np.ones(3))
    np.testing.assert_array_equal(only(start).ends(ball), [-np.inf, np.inf, -np.inf])
    known = start.told(features, np.array([0.0, 9.0, 0.0]), np.array([0.0, 4.5, 0.0]), np.zeros(3))
    np.testing.assert_array_equal(np.isfinite(only(known).ends(ball)), [False, True, False])


def test_a_direction_without_features_is_left_to_others() -> None:
    features = np.array([[0.0, 0.0], [1.0, 0.0]])
    known = begun(features, challenge([0, 1])).told(features, np.array([5.0, 5.0]), np.ones(2), np.zeros(2))
    ends = only(known).ends(Bounds(lower=np.zeros(2), upper=np.zeros(2)))
    np.testing.assert_array_equal(np.isfinite(ends), [False, True])


def test_an_end_is_the_estimate_less_the_boundary_and_all_that_is_not_known() -> None:
    rng = np.random.default_rng(4)
    features, missed = rng.normal(size=(5, 3)), np.full(5, 0.1)
    known = batches(rng, 5, [30])[0].tell(begun(features, challenge([0, 1, 2, 3]), missed), features, missed)
    tests = only(known)
    left = Bounds(lower=np.full(4, -0.2), upper=np.full(4, 0.3))
    ends = tests.ends(left)
    far = tests.scales * reach(tests.information, np.full(4, 0.3), np.full(4, DELTA / 4)) + tests.misses + 0.1
    np.testing.assert_allclose(ends[[0, 2]], (tests.estimates - far - 0.2)[[0, 2]])
    np.testing.assert_allclose(ends[[1, 3]], (tests.estimates + far + 0.3)[[1, 3]])


def test_telling_nothing_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    features = rng.normal(size=(6, 4))
    known = batches(rng, 6, [20])[0].tell(begun(features, challenge([0, 5])), features)
    assert known.told(features, np.zeros(6), np.zeros(6), np.full(6, 0.3)) is known


def test_what_was_learned_first_is_kept_where_it_speaks_against_what_comes() -> None:
    """A point between two others: the first batch's part in it turns negative, and c is at its floor."""
    features = embed(RBF(0.1), np.array([[0.0], [0.25], [0.5]]), tol=1e-12).array
    first = begun(features, challenge([2])).told(features, np.array([4.0, 0, 0]), np.zeros(3), np.zeros(3))
    second = first.told(features, np.array([0, 1e4, 0]), np.zeros(3), np.zeros(3))
    assert only(second).scales[0] == pytest.approx(LEAST * only(first).scales[0])
    third = second.told(features, np.array([0, 0, 1000.0]), np.array([0, 0, 500.0]), np.zeros(3))
    ball = Bounds(lower=np.array([-0.2]), upper=np.array([0.2]))
    end = float(only(third).ends(ball)[0])
    assert np.isfinite(end)
    assert end < 0.5


# --- shares of delta


def test_a_challenge_that_does_not_fit_into_delta_does_not_begin() -> None:
    features = np.eye(4)
    one, two, three = (
        challenges.begin(challenge([k], delta=d), features, np.zeros(4), 0.0)
        for k, d in ((0, 0.06), (1, 0.05), (2, 0.04))
    )
    known = challenges.none(DELTA, 4).begun(one)
    assert known.begun(two) is known
    assert known.begun(three).tests == (one, three)
    assert known.begun(three).free == pytest.approx(0.0, abs=1e-12)
    assert known.free == pytest.approx(0.04)


# --- the theorem, against adversaries


def assert_at_most(count: int, runs: int, share: float) -> None:
    assert binomtest(count, runs, share, alternative="greater").pvalue > 1e-3, f"{count} of {runs}"


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("gap", [0.03, 0.3])
def test_the_noise_crosses_the_boundary_as_often_as_delta_allows(law: str, gap: float) -> None:
    """By steps that become larger when the noise is near: at most delta, and with Gaussian noise not much less."""
    runs, delta, rng = 2000, 0.2, np.random.default_rng(8)
    x, information, crossed = np.zeros(runs), np.zeros(runs), np.zeros(runs, dtype=bool)
    gaps, deltas = np.full(runs, gap), np.full(runs, delta)
    for _ in range(400):
        near = log_evidence(x, information, gaps)[0] > 0.5 * np.log(1 / delta)
        weights = np.where(near, 0.05, 0.5) * (1.0 + 0.1 * information)
        x += np.sqrt(weights) * LAWS[law](rng, runs)
        information += weights
        crossed |= x >= reach(information, gaps, deltas)
    assert_at_most(int(crossed.sum()), runs, delta)
    assert crossed.mean() > 0.6 * delta


def chosen_by_the_noise(
    seed: int, features: Array, sums: Array, information: Array, *, left: float
) -> Challenge | None:
    """What somebody challenges who knows all the noise so far: where it looks most like the wrong side."""
    if left < 0.01:
        return None
    rng = np.random.default_rng(seed)
    matrix = (features.T * information) @ features + np.eye(features.shape[1])
    errors = features @ np.linalg.solve(matrix, features.T @ sums)
    points = np.argsort(-np.abs(errors))[:3]
    shares = rng.dirichlet(np.ones(3)) + 1e-3
    return Challenge(
        points=points,
        others=np.full(3, -1),
        signs=np.where(errors[points] >= 0, 1.0, -1.0),
        gaps=rng.uniform(0.05, 0.5, 3),
        deltas=0.5 * left * shares / shares.sum(),
    )


@pytest.mark.parametrize("law", LAWS)
def test_who_sees_all_noise_and_challenges_at_will_errs_no_more_often_than_delta(law: str) -> None:
    """Places, batch sizes, directions, sides, gaps and shares all depend on the noise before."""
    runs, delta, wrong, at_once = 300, 0.3, 0, 0
    features = embed(RBF(0.3), np.linspace(0, 1, 8)[:, None], tol=1e-10).array
    for run in range(runs):
        rng = np.random.default_rng([run, len(law)])
        direction = rng.standard_normal(features.shape[1])
        theta = np.asarray(direction / np.linalg.norm(direction))
        truth, known = features @ theta, challenges.none(delta, 8)
        information, noise, erred = np.zeros(8), np.zeros(8), False
        for step in range(12):
            announced = chosen_by_the_noise(step, features, noise, information, left=known.free)
            if announced is not None:
                known = known.begun(challenges.begin(announced, features, np.zeros(8), 0.0))
            leaning = np.abs(features @ (features.T @ noise)) + 1e-9
            points = rng.choice(8, size=int(rng.integers(5, 60)), p=leaning / leaning.sum())
            heard = np.bincount(points, minlength=8).astype(np.float64)
            fresh = np.bincount(points, LAWS[law](rng, len(points)), minlength=8)
            known = known.told(features, heard, heard * truth + fresh, np.zeros(8))
            information, noise = information + heard, noise + fresh
            for tests in known.tests:
                left = (tests.directions - tests.means) @ theta  # known exactly: nothing but the noise can err
                ends = tests.ends(Bounds(lower=left, upper=left))
                beyond = tests.challenge.signs * (ends - truth[tests.challenge.points])
                erred |= bool((beyond > 1e-9).any())
        wrong += int(erred)
        at_once = max(at_once, len(known.tests))
    assert at_once > 3
    assert_at_most(wrong, runs, delta)
    assert wrong > 0.05 * delta * runs
