"""One martingale a point: the recursion against weights written out, and the promise against adversaries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm
from sklearn.gaussian_process.kernels import RBF

from superlevel.arrays import Array, Indices
from superlevel.confidence import ellipsoids, martingales
from superlevel.confidence.martingales import KAPPA, LEAST, RHOS, Martingales
from superlevel.features import embed
from superlevel.goals import Bounds
from superlevel.sufficient_statistics import nothing, summed

Law = Callable[[np.random.Generator, int], Array]
LAWS: dict[str, Law] = {
    "gaussian": lambda rng, size: rng.standard_normal(size),
    "signs": lambda rng, size: rng.choice([-1.0, 1.0], size),
    "uniform": lambda rng, size: rng.uniform(-np.sqrt(3), np.sqrt(3), size),
}


@dataclass(kw_only=True)
class Explicit:
    """One point with the weight of every single measurement, found by least squares."""

    wanted: Array
    """(r,) v"""
    arms: list[Array] = field(default_factory=list)
    """(N, r) a batch"""
    values: list[Array] = field(default_factory=list)
    weights: list[Array] = field(default_factory=list)
    """(N,) u a batch"""
    scale: float = 0.0

    @property
    def estimate(self) -> float:
        return sum(float(u @ y) for u, y in zip(self.weights, self.values, strict=True))

    @property
    def mean(self) -> Array:
        return np.asarray(np.sum([arms.T @ u for arms, u in zip(self.arms, self.weights, strict=True)], axis=0))

    @property
    def variance(self) -> float:
        return sum(float(u @ u) for u in self.weights)

    def told(self, arms: Array, values: Array) -> None:
        """The best common factor of what was before, and the best weights of what is new."""
        size, rank = arms.shape
        kept = 0.0
        if self.weights:
            system = np.zeros((1 + size + rank, 1 + size))
            system[0, 0] = np.sqrt(self.variance)
            system[1:-rank, 1:] = np.eye(size)
            system[-rank:] = np.column_stack([self.mean, arms.T]) / KAPPA
            aim = np.concatenate([np.zeros(1 + size), self.wanted / KAPPA])
            kept = max(LEAST, float(np.linalg.lstsq(system, aim)[0][0]))
        rest = self.wanted - kept * (self.mean if self.weights else 0.0)
        system = np.vstack([np.eye(size), arms.T / KAPPA])
        fresh = np.linalg.lstsq(system, np.concatenate([np.zeros(size), rest / KAPPA]))[0]
        self.weights = [*(kept * u for u in self.weights), fresh]
        self.arms.append(arms)
        self.values.append(values)
        if self.scale:
            self.scale *= kept
        else:
            self.scale = self.variance * float(np.linalg.norm(self.wanted) / (self.mean @ self.wanted))


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Measurements with their places."""

    points: Indices
    values: Array
    deviations: Array

    def tell(self, before: Martingales, features: Array, missed: Array | None = None) -> Martingales:
        n, weights = len(features), self.deviations**-2
        information = summed(self.points, weights, n)
        sums = summed(self.points, weights * self.values, n)
        return before.told(features, information, sums, np.zeros(n) if missed is None else missed)

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


def half(kept: Martingales, features: Array, delta: float) -> Array:
    found = kept.bounds(features, delta)
    return np.asarray((found.upper - found.lower) / 2)


# --- the recursion


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
    kept, explicit = martingales.begin(features), [Explicit(wanted=v) for v in features]
    for batch in batches(rng, n, sizes):
        kept = batch.tell(kept, features)
        for point in explicit:
            point.told(*batch.scaled(features))
    np.testing.assert_allclose(kept.estimates, [point.estimate for point in explicit], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(kept.means, [point.mean for point in explicit], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(kept.variances, [point.variance for point in explicit], rtol=1e-6, atol=1e-14)
    np.testing.assert_allclose(kept.scales, [point.scale for point in explicit], rtol=1e-5, atol=1e-14)


def test_no_other_weights_of_the_last_batch_do_better() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(5, 3))
    first, second = batches(rng, 5, [6, 9])
    before = first.tell(martingales.begin(features), features)
    after = second.tell(before, features)
    arms, _ = second.scaled(features)
    for x, wanted in enumerate(features):
        reached = after.variances[x] + np.sum((wanted - after.means[x]) ** 2) / KAPPA**2
        kept = after.scales[x] / before.scales[x]
        for _ in range(50):
            factor = kept * np.exp(0.3 * rng.normal())
            fresh = 0.3 * rng.normal(size=len(arms))
            fresh += np.linalg.lstsq(arms.T, after.means[x] - kept * before.means[x])[0]
            bias = wanted - factor * before.means[x] - arms.T @ fresh
            assert factor**2 * before.variances[x] + fresh @ fresh + bias @ bias / KAPPA**2 >= reached * (1 - 1e-9)


@pytest.mark.parametrize("splits", [1, 2, 10])
def test_measurements_at_one_place_add_up_however_they_are_split(splits: int) -> None:
    """In one dimension the best weights of all batches are those of one batch."""
    features = np.array([[2.0]])
    values = np.random.default_rng(1).normal(size=40)
    kept = martingales.begin(features)
    for part in np.split(values, splits):
        size = len(part)
        kept = Batch(points=np.zeros(size, dtype=np.int64), values=part, deviations=np.ones(size)).tell(kept, features)
    information = 4 * 40.0
    assert kept.means[0, 0] == pytest.approx(2 * information / (information + KAPPA**2))
    assert kept.variances[0] == pytest.approx(4 * information / (information + KAPPA**2) ** 2)
    assert kept.estimates[0] == pytest.approx(4 * values.sum() / (information + KAPPA**2))
    assert kept.variances[0] / kept.scales[0] ** 2 == pytest.approx(information)


def test_the_information_of_a_first_batch_is_that_of_the_batch() -> None:
    """A batch that hardly reaches a point begins with hardly any, and not with the much that 1 / q would be."""
    angle = 1e-4
    features = np.array([[1.0, 0.0], [np.sin(angle), np.cos(angle)]])
    kept = martingales.begin(features).told(features, np.array([50.0, 0.0]), np.zeros(2), np.zeros(2))
    information = kept.variances / kept.scales**2
    np.testing.assert_allclose(information, [50.0, 50.0 * np.sin(angle) ** 2], rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_units_of_f_change_nothing(unit: float) -> None:
    rng = np.random.default_rng(2)
    features = embed(RBF(0.2), np.linspace(0, 1, 12)[:, None], tol=1e-9).array
    one, other = martingales.begin(features), martingales.begin(unit * features)
    for batch in batches(rng, 12, [5, 10, 20]):
        one = batch.tell(one, features)
        same = Batch(points=batch.points, values=unit * batch.values, deviations=unit * batch.deviations)
        other = same.tell(other, unit * features)
    np.testing.assert_allclose(half(other, unit * features, 0.1), unit * half(one, features, 0.1), rtol=1e-9)


def test_what_features_miss_moves_an_estimate_by_its_weights() -> None:
    rng = np.random.default_rng(3)
    features, missed = rng.normal(size=(4, 2)), rng.uniform(0.0, 0.5, 4)
    kept, explicit = martingales.begin(features), [Explicit(wanted=v) for v in features]
    told = batches(rng, 4, [5, 8, 3])
    for batch in told:
        kept = batch.tell(kept, features, missed)
        for point in explicit:
            point.told(*batch.scaled(features))
    for x, point in enumerate(explicit):
        errors = [missed[batch.points] / batch.deviations for batch in told]
        allowed = sum(float(np.linalg.norm(u) * np.linalg.norm(e)) for u, e in zip(point.weights, errors, strict=True))
        worst = sum(float(np.abs(u) @ e) for u, e in zip(point.weights, errors, strict=True))
        assert kept.misses[x] == pytest.approx(allowed)
        assert kept.misses[x] >= worst


# --- the intervals


def test_a_half_width_is_the_boundary_and_the_bias() -> None:
    rng = np.random.default_rng(4)
    features = rng.normal(size=(5, 3))
    kept = batches(rng, 5, [30])[0].tell(martingales.begin(features), features)
    variation = kept.variances / kept.scales**2
    price = 2 * np.log(5 * 3 / 0.05)
    squares = [(variation + rho) * (price + np.log1p(variation / rho)) for rho in RHOS]
    expected = kept.scales * np.sqrt(np.min(squares, axis=0)) + np.linalg.norm(features - kept.means, axis=1)
    np.testing.assert_allclose(half(kept, features, 0.05), expected, rtol=1e-9)


@pytest.mark.parametrize("information", [1e2, 1e4, 1e6])
def test_all_times_cost_little_more_than_one(information: float) -> None:
    """At a fixed time a normal mean has its quantile; for all times it may have two and a half times that."""
    features = np.array([[1.0]])
    kept = martingales.begin(features).told(features, np.array([information]), np.zeros(1), np.zeros(1))
    fixed = norm.isf(0.05 / 2) / np.sqrt(information)
    assert fixed < half(kept, features, 0.05)[0] < 2.5 * fixed


def test_before_a_point_is_reached_nothing_is_said_of_it() -> None:
    features = np.eye(3)
    start = martingales.begin(features)
    assert np.isinf(half(start, features, 0.1)).all()
    kept = start.told(features, np.array([0.0, 9.0, 0.0]), np.array([0.0, 4.5, 0.0]), np.zeros(3))
    np.testing.assert_array_equal(np.isfinite(half(kept, features, 0.1)), [False, True, False])
    later = kept.told(features, np.array([9.0, 0.0, 0.0]), np.array([-4.5, 0.0, 0.0]), np.zeros(3))
    np.testing.assert_array_equal(np.isfinite(half(later, features, 0.1)), [True, True, False])
    assert later.estimates[0] == pytest.approx(-kept.estimates[1])
    np.testing.assert_allclose(half(later, features, 0.1)[:2], half(kept, features, 0.1)[1])


def test_a_point_without_features_is_left_to_others() -> None:
    features = np.array([[0.0, 0.0], [1.0, 0.0]])
    kept = martingales.begin(features).told(features, np.array([5.0, 5.0]), np.array([1.0, 1.0]), np.zeros(2))
    assert np.isinf(half(kept, features, 0.1)[0])
    assert np.isfinite(half(kept, features, 0.1)[1])


def test_telling_nothing_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    features = rng.normal(size=(6, 4))
    kept = batches(rng, 6, [3, 20])[1].tell(martingales.begin(features), features)
    same = kept.told(features, np.zeros(6), np.zeros(6), np.full(6, 0.3))
    for name in ("estimates", "means", "variances", "scales", "misses"):
        np.testing.assert_allclose(getattr(same, name), getattr(kept, name), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(half(same, features, 0.1), half(kept, features, 0.1), rtol=1e-9)


def test_what_was_learned_first_is_kept_where_it_speaks_against_what_comes() -> None:
    """A point between two others: the first batch's part in it turns negative, and c is at its floor."""
    features = embed(RBF(0.1), np.array([[0.0], [0.25], [0.5]]), tol=1e-12).array
    first = martingales.begin(features).told(features, np.array([4.0, 0, 0]), np.zeros(3), np.zeros(3))
    second = first.told(features, np.array([0, 1e4, 0]), np.zeros(3), np.zeros(3))
    assert second.scales[2] == pytest.approx(LEAST * first.scales[2])
    assert np.isfinite(half(second, features, 0.1)).all()
    third = second.told(features, np.array([0, 0, 100.0]), np.array([0, 0, 50.0]), np.zeros(3))
    found = third.bounds(features, 0.1)
    assert found.lower[2] < 0.5 < found.upper[2]


def test_what_rounding_hides_is_not_claimed() -> None:
    """With hardly any noise at two places G is off by more than what is known of a third."""
    points = np.linspace(0, 1, 20)[:, None]
    features, gram = embed(RBF(0.2), points, tol=1e-10).array, RBF(0.2)(points)
    for far in (3, 10, 19):
        weights = np.zeros(20)
        weights[[0, far]] = -gram[0, far], 1.0
        truth = gram @ weights / np.sqrt(weights @ gram @ weights)
        information = np.where(np.arange(20) < 2, 1e20, 0.0)
        found = (
            martingales.begin(features)
            .told(features, information, information * truth, np.zeros(20))
            .bounds(features, 0.1)
        )
        assert ((found.lower - 1e-5 <= truth) & (truth <= found.upper + 1e-5)).all()


@pytest.mark.parametrize("place", ["walking", "at random", "one"])
def test_two_hundred_batches_of_one_measurement(place: str) -> None:
    n, rng = 40, np.random.default_rng(6)
    features = embed(RBF(0.1), np.linspace(0, 1, n)[:, None], tol=1e-10).array
    theta = rng.normal(size=features.shape[1])
    truth = features @ (theta / np.linalg.norm(theta))
    kept = martingales.begin(features)
    for k in range(200):
        x = {"walking": k % n, "at random": int(rng.integers(n)), "one": 7}[place]
        value = truth[[x]] + 0.3 * rng.normal(size=1)
        kept = Batch(points=np.array([x]), values=value, deviations=np.array([0.3])).tell(kept, features)
        found = kept.bounds(features, 0.01)
        assert (found.lower <= truth).all()
        assert (truth <= found.upper).all()
    assert np.isfinite(half(kept, features, 0.01)[7])


# --- the promise


def violated(rng: np.random.Generator, law: Law, *, missed: float, delta: float, phases: int) -> bool:
    """Whether any interval after any batch misses <theta, phi>, where places follow the noise so far."""
    n, rank = 5, 2
    features = rng.normal(size=(n, rank))
    features /= np.linalg.norm(features, axis=1).max()
    theta = rng.normal(size=rank)
    theta /= np.linalg.norm(theta)
    truth = features @ theta
    errors = missed * np.sign(rng.normal(size=rank) @ features.T)  # of one sign along a direction
    deviations = rng.uniform(0.2, 1.0, n)
    kept, noise = martingales.begin(features), np.zeros(n)
    for phase in range(phases):
        # More of what was too high, less of what was too low: the sample mean of an arm is biased then.
        size = 3 + 2 * phase
        points = np.concatenate([rng.integers(n, size=2), np.full(size, int(np.argmax(noise)))])
        drawn = deviations[points] * law(rng, len(points))
        np.add.at(noise, points, drawn)
        values = truth[points] + errors[points] + drawn
        batch = Batch(points=points, values=values, deviations=deviations[points])
        kept = batch.tell(kept, features, np.full(n, missed))
        found = kept.bounds(features, delta)
        if ((truth < found.lower) | (truth > found.upper)).any():
            return True
    return False


@pytest.mark.parametrize("missed", [0.0, 0.2])
@pytest.mark.parametrize("law", LAWS)
def test_no_interval_fails_at_any_time_however_places_are_chosen(law: str, missed: float) -> None:
    runs, delta = 40, 0.3
    seeds = np.random.SeedSequence(7).spawn(runs)
    failures = sum(
        violated(np.random.default_rng(seed), LAWS[law], missed=missed, delta=delta, phases=12) for seed in seeds
    )
    assert binomtest(failures, runs, delta, alternative="greater").pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("missed", [0.0, 0.2])
@pytest.mark.parametrize("law", LAWS)
def test_no_interval_fails_in_many_runs(law: str, missed: float) -> None:
    runs, delta = 400, 0.3
    seeds = np.random.SeedSequence(8).spawn(runs)
    failures = sum(
        violated(np.random.default_rng(seed), LAWS[law], missed=missed, delta=delta, phases=25) for seed in seeds
    )
    assert binomtest(failures, runs, delta, alternative="greater").pvalue > 1e-3


def test_the_boundary_is_crossed_about_as_often_as_it_may_be() -> None:
    """One point for a long time, and a bias that is always against us: Ville's inequality is not far from equality."""
    features, delta, runs = np.array([[1.0]]), 0.3, 400
    steps = 1.5 ** np.arange(-5, 35)
    noise = np.cumsum(np.random.default_rng(9).normal(size=(runs, len(steps))) * np.sqrt(steps), axis=1)
    kept, crossed = martingales.begin(features), np.zeros(runs, dtype=bool)
    for k, step in enumerate(steps):
        kept = kept.told(features, np.array([step]), np.zeros(1), np.zeros(1))
        weight = 1.0 / (steps[: k + 1].sum() + KAPPA**2)  # of every measurement, in one dimension
        assert kept.variances[0] == pytest.approx(weight**2 * steps[: k + 1].sum())
        crossed |= np.abs(weight * noise[:, k]) > half(kept, features, delta)[0] - (1.0 - kept.means[0, 0])
    assert binomtest(int(crossed.sum()), runs, delta, alternative="greater").pvalue > 1e-3
    assert crossed.mean() > delta / 20


# --- against the ellipsoids


def both(features: Array, measurements: float, delta: float = 0.1) -> tuple[Array, Array]:
    """Half-widths of both kinds after a batch that measures everything alike."""
    n = len(features)
    information = np.full(n, measurements)
    kept = martingales.begin(features).told(features, information, np.zeros(n), np.zeros(n))
    none = nothing(n)
    points = np.repeat(np.arange(n), int(measurements))
    found: Bounds = ellipsoids.spectrum(
        features, none.told(points, np.zeros(len(points)), np.ones(len(points))), np.zeros(n)
    ).points(delta)
    return half(kept, features, delta), np.asarray((found.upper - found.lower) / 2)


def test_where_the_rank_is_high_it_is_the_tighter_one() -> None:
    ours, theirs = both(np.eye(60), 100.0)
    assert (ours < 0.6 * theirs).all()


def test_where_the_rank_is_low_it_is_the_looser_one() -> None:
    angles = np.linspace(0, np.pi, 60)
    ours, theirs = both(np.column_stack([np.cos(angles), np.sin(angles)]), 100.0)
    assert (ours > 1.1 * theirs).all()
