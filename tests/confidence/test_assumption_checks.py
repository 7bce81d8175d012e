"""Data against assumptions: silent where they hold, and soon heard where they do not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import binomtest, chi2

from superlevel import oracles
from superlevel.arrays import Array, Indices
from superlevel.confidence import assumption_checks
from superlevel.confidence.assumption_checks import apart, outliers, outside, smallest_norm, too_large, too_much_noise
from superlevel.confidence.ellipsoids import Spectrum, spectrum
from superlevel.findings import Finding, Verdict
from superlevel.goals import Bounds
from superlevel.sufficient_statistics import Statistics, nothing

SIGMA, DELTA, N, R = 0.3, 0.1, 12, 3
FEATURES = np.random.default_rng(0).standard_normal((N, R))
FEATURES /= np.linalg.norm(FEATURES, axis=1).max()
Law = Callable[[np.random.Generator, int], Array]
LAWS: dict[str, Law] = {
    "Gaussian": lambda rng, count: rng.standard_normal(count),
    "uniform": lambda rng, count: rng.uniform(-np.sqrt(3), np.sqrt(3), count),
    "Rademacher": lambda rng, count: rng.choice([-1.0, 1.0], count),
}


def on_the_sphere(rng: np.random.Generator, radius: float = 1.0) -> Array:
    """(N,) values of a theta of that norm."""
    theta = rng.standard_normal(R)
    return np.asarray(FEATURES @ theta * (radius / np.linalg.norm(theta)))


def seen(points: Indices, values: Array, sigma: float = SIGMA, *, misses: float = 0.0) -> tuple[Spectrum, Statistics]:
    found = nothing(N).told(points, values, np.full(len(points), sigma))
    return spectrum(FEATURES, found, np.full(N, misses)), found


def sentence(found: Finding | None, assumption: str) -> str:
    """What a finding says that contradicts this assumption."""
    assert found is not None
    assert (found.assumption, found.verdict) == (assumption, Verdict.CONTRADICTED)
    return found.sentence


def assert_at_most(count: int, runs: int, share: float) -> None:
    """A count that a probability of ``share`` makes plausible."""
    assert binomtest(count, runs, share, alternative="greater").pvalue > 1e-3, f"{count} of {runs}"


# --- the inequalities


@pytest.mark.parametrize("count", [1, 2, 10, 1000, 10**6])
@pytest.mark.parametrize("level", [0.1, 2.0, 10.0, 50.0])
def test_chi_squared_variables_have_the_tail_that_is_used(count: int, level: float) -> None:
    limit = count + 2 * np.sqrt(count * level) + 2 * level
    assert chi2.sf(limit, count) <= np.exp(-level)


@given(st.floats(0.001, 0.499), st.floats(0.01, 0.99))
def test_squares_of_sub_gaussian_noise_have_smaller_exponential_moments(rate: float, p: float) -> None:
    gaussian = (1 - 2 * rate) ** -0.5
    assert np.exp(rate) <= gaussian  # Rademacher
    uniform, _ = quad(lambda u: np.exp(3 * rate * u**2), 0, 1)
    assert uniform <= gaussian
    # Two values p and 1 - p apart from their mean, with the least deviation for which they are sub-Gaussian (Kearns and
    # Saul 1998): lopsided, so that no symmetry helps.
    squared = 0.25 if abs(p - 0.5) < 1e-6 else (1 - 2 * p) / (2 * np.log((1 - p) / p))
    lopsided = p * np.exp(rate * (1 - p) ** 2 / squared) + (1 - p) * np.exp(rate * p**2 / squared)
    assert lopsided <= gaussian * (1 + 1e-9)


def test_what_all_times_share_is_no_more_than_the_whole() -> None:
    count = np.arange(1.0, 1e6)
    allowed = np.sqrt(2 * np.log(2 * count * (count + 1) / 0.1))
    assert (2 * np.exp(-(allowed**2) / 2)).sum() == pytest.approx(0.1, rel=1e-5)


@given(st.integers(0, 10**6), st.integers(1, 200), st.sampled_from([0.0, 0.05]))
@settings(max_examples=60)
def test_noise_within_its_limit_is_never_too_much_however_it_lies(seed: int, count: int, h: float) -> None:
    """theta, what is missed and the noise all try; the noise is at its limit, along the features or against them."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, N, count)
    noise = rng.standard_normal(count) if seed % 2 else FEATURES[points] @ rng.standard_normal(R)
    level = np.log(count * (count + 1) / assumption_checks.ALARM)
    noise *= 0.999 * np.sqrt((count + 2 * np.sqrt(count * level) + 2 * level) / (noise @ noise))
    truth = on_the_sphere(rng, rng.uniform())
    wrong = h * np.sign(FEATURES @ rng.standard_normal(R))
    assert too_much_noise(*seen(points, (truth + wrong)[points] + SIGMA * noise, misses=h)) is None


@pytest.mark.parametrize("count", [10, 1000])
def test_noise_beyond_its_limit_is_too_much_where_no_function_explains_it(count: int) -> None:
    level = np.log(2 * count * (2 * count + 1) / assumption_checks.ALARM)
    squared = (2 * count + 2 * np.sqrt(2 * count * level) + 2 * level) / (2 * count)
    noise = np.tile([1.0, -1.0], count) * np.sqrt(squared)  # at one point, with no effect on its mean
    points = np.zeros(2 * count, dtype=np.int64)
    assert too_much_noise(*seen(points, SIGMA * noise)) is None
    found = too_much_noise(*seen(points, 2 * SIGMA * noise))
    said = sentence(found, "noise")
    least = re.search(r"at least ([\d.]+) times", said)
    assert least is not None
    assert 1.99 < float(least[1]) <= 2.0  # a little less, by the 1 that ||theta|| may be
    assert found is not None
    assert found.number == pytest.approx(float(least[1]), rel=1e-3)
    assert f"{2 * count:,} measurements" in said


# --- silent where all is as given


def adaptive(law: str, runs: int, looks: int, *, h: float = 0.0) -> dict[str, int]:
    """How many runs are doubted at any look, where whoever chooses the points sees the noise."""
    doubted = {"noise": 0, "norm": 0}
    for run in range(runs):
        rng, size, found = np.random.default_rng([run, len(law)]), 1, nothing(N)
        truth = on_the_sphere(rng)
        heard, wrong = set[str](), h * np.sign(FEATURES @ rng.standard_normal(R))
        for look in range(looks):
            # Where what was seen is farthest off, or where little is known: both make the fit look bad.
            off = np.abs(found.means - truth) * np.sqrt(found.information)
            place = int(off.argmax() if look % 2 else found.information.argmin())
            points = np.full(size, place)
            values = (truth + wrong)[points] + SIGMA * LAWS[law](rng, size)
            found, size = found.told(points, values, np.full(len(points), SIGMA)), size + 1 + size // 5
            here = spectrum(FEATURES, found, np.full(N, h))
            heard |= {"noise"} if too_much_noise(here, found) else set()
            heard |= {"norm"} if too_large(here, "norm", 1.0) else set()
        for name in heard:
            doubted[name] += 1
    return doubted


@pytest.mark.parametrize("law", LAWS)
def test_what_is_as_given_is_doubted_no_more_often_than_said(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assumption_checks, "ALARM", 0.1)
    doubted = adaptive(law, 80, 30)
    assert_at_most(doubted["noise"], 80, 0.1)
    assert_at_most(doubted["norm"], 80, 0.1)


def test_a_misspecification_that_is_given_is_not_doubted() -> None:
    assert adaptive("Gaussian", 30, 30, h=0.2) == {"noise": 0, "norm": 0}


@pytest.mark.parametrize("law", LAWS)
def test_true_noise_has_an_outlier_no_more_often_than_said(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assumption_checks, "ALARM", 0.1)
    found = 0
    for run in range(200):
        rng = np.random.default_rng([run, len(law)])
        batches = [np.abs(LAWS[law](rng, 1 + k)) for k in range(25)]
        counts = np.cumsum([len(batch) for batch in batches])
        none = np.zeros(30, dtype=np.int64)
        found += any(outliers(none, batch, int(count)) for batch, count in zip(batches, counts, strict=True))
    assert_at_most(found, 200, 0.1)


@pytest.mark.parametrize("sigma", [1e-8, 1e-4, 1e4])
@pytest.mark.parametrize("rank", [1, 3])
def test_no_scale_makes_rounding_a_contradiction(sigma: float, rank: int) -> None:
    """Information up to 1e19 along a line, and none across it."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        features = rng.standard_normal((N, rank)) @ rng.standard_normal((rank, 5))
        features /= np.linalg.norm(features, axis=1).max()
        theta = rng.standard_normal(5)
        theta /= np.linalg.norm(theta)
        points = np.repeat(rng.integers(0, N, 6), 200)
        values = (features @ theta)[points] + sigma * rng.standard_normal(len(points))
        found = nothing(N).told(points, values, np.full(len(points), sigma))
        here = spectrum(features, found, np.zeros(N))
        assert too_much_noise(here, found) is None
        assert too_large(here, "norm", 1.0) is None


def test_nothing_measured_contradicts_nothing() -> None:
    here, found = seen(np.empty(0, dtype=np.int64), np.empty(0))
    assert too_much_noise(here, found) is None
    assert too_large(here, "norm", 1.0) is None
    assert outliers(np.empty(0, dtype=np.int64), np.empty(0), 0) is None


# --- heard where something is not as given


class Heard(NamedTuple):
    """What was said first, and after how many measurements."""

    names: frozenset[str]
    after: int


def campaign(oracle: oracles.Oracle, seed: int, limit: int) -> Heard:
    """Batches that grow, everywhere, with sigma = SIGMA and norm = 1 taken for granted."""
    rng, found, size = np.random.default_rng([seed, 9]), nothing(N), 10
    while found.count < limit:
        points = rng.integers(0, N, size)
        size = size + 1 + size // 5
        values = oracle.measure(points, rng)
        found = found.told(points, values, np.full(len(points), SIGMA))
        here = spectrum(FEATURES, found, np.zeros(N))
        intervals = here.points(DELTA / 2)
        beyond = np.maximum(values - intervals.upper[points], intervals.lower[points] - values) / SIGMA
        said = {
            "outlier": outliers(points, beyond, found.count),
            "noise": too_much_noise(here, found),
            "norm": too_large(here, "norm", 1.0),
            "apart": apart(intervals, DELTA, limit="norm", farthest="7 at point 3"),
        }
        names = frozenset(name for name, finding in said.items() if finding)
        if names:
            return Heard(names, found.count)
    return Heard(frozenset(), found.count)


WRONG: dict[str, tuple[Callable[[Array], oracles.Oracle], frozenset[str], int]] = {
    "half the noise": (lambda f: oracles.Gaussian(f, noise=2 * SIGMA), frozenset({"noise"}), 200),
    "Student, 2.5": (lambda f: oracles.Student(f, noise=SIGMA, freedom=2.5), frozenset({"outlier", "noise"}), 5000),
    "Student, 3": (lambda f: oracles.Student(f, noise=SIGMA, freedom=3.0), frozenset({"outlier", "noise"}), 8000),
    "Pareto": (lambda f: oracles.Pareto(f, noise=SIGMA), frozenset({"outlier", "noise"}), 5000),
    "outliers": (lambda f: oracles.Outliers(f, noise=SIGMA), frozenset({"outlier", "noise"}), 8000),
    "frequent outliers": (lambda f: oracles.Outliers(f, noise=SIGMA, rate=0.01), frozenset({"outlier"}), 600),
}


@pytest.mark.parametrize("name", WRONG)
def test_noise_that_is_not_as_given_is_heard(name: str) -> None:
    make, causes, limit = WRONG[name]
    heard = [campaign(make(on_the_sphere(np.random.default_rng(seed))), seed, limit) for seed in range(10)]
    assert all(each.names for each in heard), heard
    assert sum(bool(each.names & causes) for each in heard) >= 8, heard


@pytest.mark.parametrize(("times", "limit"), [(2, 300), (5, 50), (10, 25)])
def test_a_norm_that_is_too_small_is_heard(times: float, limit: int) -> None:
    for seed in range(15):
        oracle = oracles.Gaussian(on_the_sphere(np.random.default_rng(seed), times), noise=SIGMA)
        heard = campaign(oracle, seed, limit)
        assert heard.names & {"norm", "apart"}, (seed, heard)


@pytest.mark.parametrize("law", [oracles.Gaussian, oracles.Bounded])
def test_noise_as_given_is_not_heard(law: type[oracles.Gaussian] | type[oracles.Bounded]) -> None:
    for seed in range(10):
        oracle = law(on_the_sphere(np.random.default_rng(seed), 0.9), noise=SIGMA)
        assert not campaign(oracle, seed, 2000).names


def test_a_misspecification_that_is_not_given_is_heard() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        error = 0.3 * rng.choice([-1.0, 1.0], N)
        oracle = oracles.Misspecified(oracles.Gaussian(on_the_sphere(rng, 0.5), noise=SIGMA), error)
        assert campaign(oracle, seed, 3000).names


# --- how large the norm must be


def least_in_sets(found: Spectrum) -> float:
    """The least ||theta|| in the set of the theorem, of the pi for which that is largest, by a cone solver."""
    least, mixed = [], found.mixed(assumption_checks.ALARM)
    for scales, radius in zip(mixed.scales, mixed.radii, strict=True):
        theta = cp.Variable(len(found.sizes))
        apart = found.moments - cp.multiply(found.sizes, theta)
        met = [cp.norm(cp.multiply(np.sqrt(scales), apart)) <= radius]
        least.append(float(cp.Problem(cp.Minimize(cp.norm(theta)), met).solve(solver=cp.CLARABEL)))
    return max(least)


def too_large_a_truth(seed: int) -> tuple[Spectrum, float]:
    rng = np.random.default_rng(seed)
    norm, count = float(rng.uniform(2, 30)), int(10 ** rng.uniform(1.5, 3.5))
    points = rng.integers(0, N, count)
    values = on_the_sphere(rng, norm)[points] + SIGMA * rng.standard_normal(count)
    return seen(points, values)[0], norm


@pytest.mark.parametrize("seed", range(6))
def test_the_smallest_norm_is_that_of_the_sets_but_for_a_tenth(seed: int) -> None:
    found, _ = too_large_a_truth(seed)
    least = smallest_norm(found)
    assert least > 1
    # The ellipsoids between ball and set are some of all there are, so that a little more than the least passes.
    assert 1.0 - 1e-3 <= least_in_sets(found.scaled(least)) <= 1.1


def test_the_norm_that_is_asked_for_is_never_more_than_the_true_one_and_not_much_less() -> None:
    parts = []
    for seed in range(60):
        found, norm = too_large_a_truth(seed)
        parts.append(smallest_norm(found) / norm)
    assert max(parts) <= 1.0
    assert np.median(parts) > 0.75


def test_a_norm_that_is_large_enough_is_not_asked_for() -> None:
    for seed in range(20):
        found, norm = too_large_a_truth(seed)
        assert too_large(found, "norm", norm) is not None  # in units in which it is the ball's radius, far too small
        assert too_large(found.scaled(norm), "norm", norm) is None


def test_no_norm_explains_what_no_function_does_and_the_search_ends() -> None:
    here = Spectrum(axes=np.eye(1), arms=np.ones((1, 1)), sizes=np.zeros(1), moments=np.full(1, 1e9), missed=0.0)
    assert smallest_norm(here) >= assumption_checks.LARGEST / 4
    assert too_large(here, "norm", 1.0) is not None


# --- sentences


def test_outliers_are_named_with_their_point_and_limit() -> None:
    found = outliers(np.array([4, 7]), np.array([1.0, 12.34]), 100)
    said = sentence(found, "noise")
    assert found is not None
    assert found.number == 12.34
    assert said.startswith("a measurement at point 7 is 12.3 times the noise away from f")
    assert "in 100:" in said
    limit = np.sqrt(2 * np.log(2 * 100 * 101 / assumption_checks.ALARM))
    assert outliers(np.array([7]), np.array([limit * (1 - 1e-12)]), 100) is None
    assert outliers(np.array([7]), np.array([limit * (1 + 1e-12)]), 100) is not None


def test_a_norm_is_named_with_what_is_needed_at_least() -> None:
    found, norm = too_large_a_truth(0)
    finding = too_large(found, "bound", 20.0)
    assert finding is not None
    assert finding.number == pytest.approx(20 * smallest_norm(found))
    assert sentence(finding, "bound") == (
        f"bound is 20, but what was measured needs {20 * smallest_norm(found):.4g} at least: give a larger one, or a "
        "larger noise"
    )
    assert norm > smallest_norm(found)


def test_a_bound_that_some_interval_is_beyond_is_named_with_that_interval() -> None:
    found = Bounds(lower=np.array([-1.0, 1.2, -3.0]), upper=np.array([1.0, 2.0, -1.5]))
    for bound in (1.0, 1.4):
        said = sentence(outside(found, bound), "bound")
        assert said == f"bound is {bound:g}, but f - mean at point 2 is between -3 and -1.5: give a larger one"
    assert outside(found, 1.5) is None
    above = outside(Bounds(lower=found.lower[:2].copy(), upper=found.upper[:2].copy()), 1.0)
    assert sentence(above, "bound") == "bound is 1, but f - mean at point 1 is between 1.2 and 2: give a larger one"
    assert above is not None
    assert above.number == pytest.approx(1.2)


def test_intervals_of_which_nothing_is_left_are_named() -> None:
    touching = Bounds(lower=np.array([0.0, 1.0]), upper=np.array([0.0, 2.0]))
    assert apart(touching, 0.1, limit="norm", farthest="") is None
    empty = Bounds(lower=np.array([0.0, 2.0]), upper=np.array([1.0, 1.9]))
    found = apart(empty, 0.1, limit="bound", farthest="7 at point 3")
    said = sentence(found, "bound")
    assert found is not None
    assert found.number == 1  # the point
    assert said.startswith("nothing is left of the interval of point 1, which happens with probability 0.1 ")
    assert "farthest from the fit is 7 at point 3" in said
