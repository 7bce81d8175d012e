"""The bound on a mean: two roads to each number, and the properties that its proof gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import beta, binomtest

import superlevel as sl
from superlevel.arrays import Array
from superlevel.audits import needed
from superlevel.audits.betting import ATOMS, LOG_WEIGHTS, SHARES, lower, upper

DELTA = 0.05
SAMPLES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30).map(np.array)


def capital(values: Array, mean: float, top: float = 1.0) -> float:
    """K as it is defined; 1e12 stands for more."""
    with np.errstate(divide="ignore"):
        logs = np.log(1 - SHARES[:, None] * (values - mean) / (top - mean)).sum(axis=1)
    return float(np.exp(LOG_WEIGHTS) @ np.exp(np.minimum(logs, np.log(1e12))))


def zeros_and_ones(ones: int, draws: int) -> Array:
    return np.repeat([1.0, 0.0], [ones, draws - ones])


# --- two roads


@pytest.mark.parametrize(("ones", "draws"), [(0, 60), (1, 60), (3, 60), (9, 60), (15, 200)])
def test_the_bound_is_the_first_of_a_fine_grid_that_the_capital_rejects(ones: int, draws: int) -> None:
    values = zeros_and_ones(ones, draws)
    grid = np.linspace(0.0, 0.5, 2001)
    first = int(np.argmax([capital(values, m) >= 1 / DELTA for m in grid]))
    assert grid[first - 1] < upper(values, top=1.0, delta=DELTA) <= grid[first]


def test_weighted_values_have_the_capital_one_over_delta_at_the_bound() -> None:
    values = np.random.default_rng(0).uniform(0, 1.25, 40) * (np.random.default_rng(1).random(40) < 0.2)
    bound = upper(values, top=1.25, delta=DELTA)
    assert capital(values, bound, top=1.25) == pytest.approx(1 / DELTA, rel=1e-6)


@pytest.mark.parametrize("draws", [1, 10, 60, 600])
def test_without_contradictions_there_is_a_closed_form_on_both_sides(draws: int) -> None:
    """A third of the capital on s = 1 gives 1 - (delta / 3)^1/N, all of it would give 1 - delta^1/N."""
    bound = upper(np.zeros(draws), top=1.0, delta=DELTA)
    assert 1 - DELTA ** (1 / draws) < bound < 1 - (DELTA / 3) ** (1 / draws)
    weights = np.exp(LOG_WEIGHTS)
    root = brentq(
        lambda m: weights @ (1 + SHARES * m / (1 - m)) ** draws - 1 / DELTA, 1e-9, 2 * bound / (1 + bound), xtol=1e-13
    )
    assert bound == pytest.approx(root, rel=1e-6)


def test_sixty_draws_without_a_contradiction_bound_the_mean_by_six_per_cent() -> None:
    assert 0.05 < upper(np.zeros(60), top=1.0, delta=DELTA) < 0.06


@pytest.mark.parametrize(("ones", "draws"), [(0, 60), (1, 60), (3, 60), (0, 200), (15, 200), (45, 600), (150, 2000)])
def test_all_times_cost_at_most_half_as_much_again_as_one(ones: int, draws: int) -> None:
    clopper_pearson = beta.ppf(1 - DELTA, ones + 1, draws - ones)
    assert clopper_pearson < upper(zeros_and_ones(ones, draws), top=1.0, delta=DELTA) < 1.5 * clopper_pearson


def test_the_shares_are_a_distribution() -> None:
    assert np.exp(LOG_WEIGHTS).sum() == pytest.approx(1.0)
    assert (SHARES > 0).all()
    assert (SHARES <= 1).all()
    assert len(SHARES) == ATOMS + 1


# --- properties


@given(SAMPLES)
def test_the_bound_is_never_below_the_mean_and_never_above_the_top(values: Array) -> None:
    assert values.mean() - 1e-12 <= upper(values, top=1.0, delta=DELTA) <= 1.0
    assert lower(values, bottom=0.0, delta=DELTA) <= values.mean() + 1e-12


@given(SAMPLES, st.randoms(use_true_random=False))
def test_the_order_does_not_matter(values: Array, random: st.DataObject) -> None:
    shuffled = values.tolist()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert upper(np.array(shuffled), top=1.0, delta=DELTA) == upper(values, top=1.0, delta=DELTA)


@given(SAMPLES)
def test_a_zero_lowers_the_bound_and_a_one_raises_it(values: Array) -> None:
    now = upper(values, top=1.0, delta=DELTA)
    assert upper(np.append(values, 0.0), top=1.0, delta=DELTA) <= now + 1e-12
    assert upper(np.append(values, 1.0), top=1.0, delta=DELTA) >= now - 1e-12


@given(SAMPLES, st.floats(0.1, 10.0), st.floats(-5.0, 5.0))
def test_the_bound_moves_with_the_units(values: Array, scale: float, shift: float) -> None:
    moved = upper(shift + scale * values, top=shift + scale, delta=DELTA)
    assert moved == pytest.approx(shift + scale * upper(values, top=1.0, delta=DELTA), abs=1e-8)


@given(SAMPLES)
def test_the_lower_bound_is_the_upper_one_mirrored(values: Array) -> None:
    assert lower(values, bottom=0.0, delta=DELTA) == pytest.approx(1.0 - upper(1.0 - values, top=1.0, delta=DELTA))


@given(SAMPLES, st.floats(0.01, 0.5), st.floats(0.01, 0.5))
def test_more_confidence_needs_a_larger_bound(values: Array, one: float, other: float) -> None:
    few, many = sorted((one, other))
    assert upper(values, top=1.0, delta=few) >= upper(values, top=1.0, delta=many)


def test_no_values_and_values_at_the_top_say_nothing() -> None:
    assert upper(np.empty(0), top=1.25, delta=DELTA) == 1.25
    assert upper(np.ones(100), top=1.0, delta=DELTA) == 1.0
    assert lower(np.empty(0), bottom=-0.5, delta=DELTA) == -0.5


def test_values_need_no_lower_limit() -> None:
    values = np.array([-1000.0, 0.0, 0.5])
    assert values.mean() <= upper(values, top=1.0, delta=DELTA) <= 1.0


def test_many_draws_come_close_to_the_mean() -> None:
    assert upper(zeros_and_ones(5_000, 100_000), top=1.0, delta=DELTA) < 1.06 * 0.05


# --- the promise


def test_the_bound_fails_about_as_often_as_it_may() -> None:
    """Bernoulli variables, and somebody who stops when the bound is smallest."""
    runs, draws, mean, delta = 400, 300, 0.2, 0.2
    values = (np.random.default_rng(2).random((runs, draws)) < mean).astype(float)
    ones = values.cumsum(axis=1)
    counts = np.arange(1, draws + 1)
    lost = np.log(np.maximum(1 - SHARES, 1e-300))[:, None, None]
    paths = ones * lost + (counts - ones) * np.log1p(SHARES * mean / (1 - mean))[:, None, None]
    failed = (np.logaddexp.reduce(paths + LOG_WEIGHTS[:, None, None], axis=0) >= -np.log(delta)).any(axis=1)
    assert binomtest(int(failed.sum()), runs, delta, alternative="greater").pvalue > 1e-3
    assert failed.mean() > delta / 3


# --- sizes


@pytest.mark.parametrize("bound", [0.3, 0.1, 0.02])
@pytest.mark.parametrize("kappa", [0.5, 0.9, 1.0])
@pytest.mark.parametrize("spread", [1.0, 1.25])
def test_the_needed_size_is_the_first_that_reaches_the_bound(bound: float, kappa: float, spread: float) -> None:
    size = needed(bound, kappa=kappa, spread=spread)
    assert upper(np.zeros(size), top=spread, delta=DELTA) / kappa <= bound + 1e-9
    assert upper(np.zeros(size - 1), top=spread, delta=DELTA) / kappa > bound


@pytest.mark.parametrize("rate", [0.01, 0.02, 0.04])
def test_the_needed_size_holds_for_contradictions_at_the_given_rate(rate: float) -> None:
    size = needed(0.15, kappa=0.5, rate=rate)
    assert upper(zeros_and_ones(int(rate * size), size), top=1.0, delta=DELTA) / 0.5 <= 0.15 + 1e-9
    assert upper(zeros_and_ones(int(rate * size) + 1, size - 1), top=1.0, delta=DELTA) / 0.5 > 0.15


def test_needed_grows_with_what_is_asked() -> None:
    assert needed(0.1, kappa=0.5) < needed(0.05, kappa=0.5) < needed(0.05, kappa=0.5, rate=0.005)
    assert needed(0.1, kappa=0.5) < needed(0.1, kappa=0.5, delta=0.01)
    assert needed(0.1, kappa=0.5, spread=1.25) > needed(0.1, kappa=0.5) > needed(0.1, kappa=1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kappa": 0.5, "rate": 0.05}, "rate is 0.05: give a bound well above 0.1"),
        ({"kappa": 0.5, "rate": 0.0499}, "rate is 0.0499: give a bound well above"),
        ({"kappa": 0.0}, "kappa is 0.0: give a number > 0"),
        ({"kappa": 1.5}, "kappa is 1.5: give a probability > 0 and <= 1"),
        ({"kappa": 0.5, "spread": 0.5}, "spread is 0.5: give a number >= 1"),
        ({"kappa": 0.5, "delta": 1.0}, "delta is 1.0: give a number > 0 and < 1"),
    ],
)
def test_sizes_that_do_not_exist_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(sl.InputError, match=message):
        needed(0.1, **options)
