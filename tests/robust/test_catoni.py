"""Catoni's mean: against Brent's method, its invariances, and its promise."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superlevel.arrays import Array
from superlevel.robust import (
    Grouped,
    Products,
    catoni,
    catoni_deviation,
    catoni_reach,
    catoni_scale,
    influence,
    mean,
)

from .laws import FINITE, LAWS, SAMPLES, STUDENT, Law, by_bisection, dense, products, two_point

# ------------------------------------------------------------------------------------ one sample


@given(SAMPLES, st.floats(1e-8, 1e8), st.sampled_from([0.05, 0.3, 0.9]))
@settings(max_examples=200)
def test_the_root_is_where_brent_finds_it(samples: Array, variance: float, delta: float) -> None:
    found = catoni(samples, variance=variance, delta=delta)
    deviation = catoni_deviation(len(samples), variance=variance, delta=delta)
    assert found == pytest.approx(by_bisection(samples, variance=variance, delta=delta), abs=2e-8 * deviation + 1e-11)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("count", [10, 300, 5000])
def test_columns_are_samples_by_themselves(law: Law, count: int) -> None:
    samples = law.draw(np.random.default_rng(1), (count, 7))
    variance = law.variance * np.array([1e-12, 1e-3, 0.5, 1, 1, 10, 1e6])
    found = catoni(samples, variance=variance, delta=0.1)
    deviation = catoni_deviation(count, variance=variance, delta=0.1)
    assert isinstance(found, np.ndarray)
    for column in range(7):
        one = catoni(samples[:, column], variance=variance[column], delta=0.1)
        brent = by_bisection(samples[:, column], variance=variance[column], delta=0.1)
        assert isinstance(one, float)
        assert found[column] == pytest.approx(one, abs=1e-9 * deviation[column] + 1e-12)
        assert found[column] == pytest.approx(brent, abs=1e-9 * deviation[column] + 1e-11)


@given(SAMPLES, st.floats(0.1, 10), st.integers(0, 2**32))
def test_the_order_of_samples_does_not_matter(samples: Array, variance: float, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(samples))
    once, again = (catoni(some, variance=variance, delta=0.2) for some in (samples, samples[order]))
    assert once == pytest.approx(again, rel=1e-9, abs=1e-9)


@given(SAMPLES, FINITE, st.floats(1e-3, 1e3), st.floats(0.1, 100))
def test_moving_and_stretching_samples_moves_and_stretches_the_mean(
    samples: Array, shift: float, factor: float, variance: float
) -> None:
    plain = catoni(samples, variance=variance, delta=0.2)
    moved = catoni(samples + shift, variance=variance, delta=0.2)
    stretched = catoni(-factor * samples, variance=factor**2 * variance, delta=0.2)
    assert moved == pytest.approx(plain + shift, rel=1e-9, abs=1e-8)
    assert stretched == pytest.approx(-factor * plain, rel=1e-9, abs=1e-9 * factor)


@given(SAMPLES, st.sampled_from([0.0, 5e-324, 1e-300, 1e-40, 1e-6, 1.0, 1e6, 1e300]))
def test_the_mean_is_among_the_samples(samples: Array, variance: float) -> None:
    found = catoni(samples, variance=variance, delta=0.2)
    slack = 1e-12 * np.abs(samples).max()
    assert samples.min() - slack <= found <= samples.max() + slack


def test_a_wide_variance_gives_the_plain_mean_and_a_narrow_one_a_median() -> None:
    samples = np.array([0.0] * 5 + [1.0] * 7 + [50.0] * 3)
    assert catoni(samples, variance=1e14, delta=0.1) == pytest.approx(samples.mean(), rel=1e-6)
    assert catoni(samples, variance=1e-14, delta=0.1) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("value", [0.0, 0.1, -3e80, 1e-200])
@pytest.mark.parametrize("variance", [0.0, 1e-30, 1.0])
def test_equal_samples_have_their_value_as_mean(value: float, variance: float) -> None:
    assert catoni(np.full(9, value), variance=variance, delta=0.5) == pytest.approx(value, rel=1e-14)
    assert catoni(np.full((9, 2), value), variance=variance, delta=0.5) == pytest.approx([value, value], rel=1e-14)


def test_directions_of_variance_zero_have_the_plain_mean_among_others() -> None:
    samples = np.random.default_rng(0).standard_t(2.5, size=(50, 3))
    samples[:, 1] = 0.1 + 1e-17
    found = catoni(samples, variance=np.array([5.0, 0.0, 5.0]), delta=0.1)
    assert found[1] == pytest.approx(0.1, rel=1e-14)  # type: ignore[index]
    assert found == pytest.approx([catoni(column, variance=5.0, delta=0.1) for column in samples.T], abs=1e-8)


@pytest.mark.parametrize("spike", [1e3, 1e9, -1e30, 1e100])
def test_no_sample_moves_the_mean_far(spike: float) -> None:
    """One of 100 samples, however large, counts as its logarithm."""
    samples = np.random.default_rng(2).normal(size=100)
    far = catoni(np.append(samples[1:], spike), variance=1.0, delta=0.05)
    assert far == pytest.approx(by_bisection(np.append(samples[1:], spike), variance=1.0, delta=0.05), abs=1e-9)
    assert np.abs(far) <= 60


# ---------------------------------------------------------------------------- scale and deviation


@given(st.integers(8, 10**7), st.floats(1e-6, 1e6), st.floats(0.05, 0.99))
def test_the_scale_makes_the_bounding_parabola_touch_zero_at_the_deviation(
    count: int, variance: float, delta: float
) -> None:
    """-a y + a^2 (v + y^2) / 2 + log(2 / delta) / N has its smaller root y at the deviation."""
    alpha = catoni_scale(count, variance=variance, delta=delta)
    y = catoni_deviation(count, variance=variance, delta=delta)
    logarithm = np.log(2 / delta)
    assert alpha**2 * (variance + y**2) == pytest.approx(2 * logarithm / count)
    assert alpha * y == pytest.approx(2 * logarithm / count)
    roots = np.roots([alpha**2 / 2, -alpha, alpha**2 * variance / 2 + logarithm / count])
    assert min(roots.real) == pytest.approx(y, rel=1e-5)


def test_the_influence_function_has_the_constants_that_the_code_relies_on() -> None:
    """psi' as written; |psi''| <= 1/4 (when Newton has arrived); psi''' with Lipschitz constant 3 (compression)."""
    u = np.linspace(-6, 6, 240_001)
    h = u[1] - u[0]
    psi, slope = influence._psi(u, *np.empty((3, len(u))))
    np.testing.assert_allclose(np.gradient(psi, h)[1:-1], slope[1:-1], atol=1e-8)
    second = np.gradient(slope, h)[1:-1]
    assert 0.2499 < np.abs(second).max() <= 0.25
    third = np.gradient(second, h)[1:-1]
    fourth = np.gradient(third, h)[1:-1]
    assert np.abs(fourth).max() <= 3.001
    assert fourth.max() > 2.9  # to the right of zero; -3 to the left
    assert np.sign(fourth[np.abs(u[3:-3]) < 0.1]).tolist().count(0) <= 3


def test_numbers_give_numbers_and_arrays_arrays() -> None:
    many = np.array([1.0, 4.0, 0.0])
    for function in (catoni_scale, catoni_deviation):
        assert isinstance(function(20, variance=1.0, delta=0.1), float)
        several = function(20, variance=many, delta=0.1)
        np.testing.assert_allclose(several, [function(20, variance=v, delta=0.1) for v in many])
    assert catoni_scale(20, variance=0.0, delta=0.1) == np.inf
    assert catoni_deviation(20, variance=0.0, delta=0.1) == 0
    assert catoni_deviation(5, variance=1.0, delta=0.1) == np.inf
    assert (catoni_deviation(5, variance=many, delta=0.1) == np.inf).all()


# -------------------------------------------------------------------------------------- products


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize(("count", "groups"), [(20, 3), (500, 40), (4000, 1), (4000, 6)])
@pytest.mark.parametrize("tile", [64, 2**16])
def test_products_are_their_matrix_written_out(
    law: Law, count: int, groups: int, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(influence, "TILE", tile)
    given_, variance = products(law, count=count, groups=groups, directions=9)
    plain = catoni(dense(given_), variance=variance, delta=0.05)
    exact = catoni(given_, variance=variance, delta=0.05, exact=True)
    short = catoni(given_, variance=variance, delta=0.05)
    deviation = catoni_deviation(count, variance=variance, delta=0.05)
    assert exact.shape == short.shape == (9,)
    assert (np.abs(exact - plain) <= 1e-9 * deviation).all()
    assert (np.abs(short - plain) <= 1e-6 * deviation).all()


def test_more_directions_than_a_tile_holds() -> None:
    given_, variance = products(STUDENT, count=3000, groups=5, directions=700)
    whole = catoni(given_, variance=variance, delta=0.01)
    for some in (slice(0, 3), slice(600, 700)):
        part = Products(factors=given_.factors[:, some], sample=given_.sample)
        assert whole[some] == pytest.approx(catoni(part, variance=variance[some], delta=0.01), abs=1e-6)


def test_weighted_samples_count_as_often_as_they_say() -> None:
    rng = np.random.default_rng(3)
    values, times, groups = rng.normal(size=30), rng.integers(1, 5, 30), rng.integers(0, 4, 30)
    factors, variance = rng.normal(size=(4, 6)), np.full(6, 2.0)
    short = Products(factors=factors, sample=Grouped(values=values, groups=groups, weights=times.astype(float)))
    long = Products(factors=factors, sample=Grouped(values=values.repeat(times), groups=groups.repeat(times)))
    assert short.count == long.count == times.sum()
    np.testing.assert_allclose(
        catoni(short, variance=variance, delta=0.1), catoni(long, variance=variance, delta=0.1, exact=True), atol=1e-9
    )
    np.testing.assert_allclose(mean(short), mean(long))


def test_a_direction_of_zeros_and_one_of_variance_zero_may_be_among_products() -> None:
    given_, variance = products(STUDENT, count=5000, groups=4, directions=3)
    factors = given_.factors.copy()
    factors[:, 1] = 0
    mixed = catoni(Products(factors=factors, sample=given_.sample), variance=variance * [1, 1, 0], delta=0.1)
    assert mixed[0] == pytest.approx(catoni(given_, variance=variance, delta=0.1)[0], abs=1e-7)
    assert mixed[1] == 0
    assert mixed[2] == pytest.approx(mean(given_)[2], rel=1e-12)
    none = catoni(Products(factors=factors, sample=given_.sample), variance=0.0, delta=0.1)
    np.testing.assert_allclose(none, mean(Products(factors=factors, sample=given_.sample)))


def test_the_reach_is_the_largest_scaled_factor() -> None:
    factors = np.random.default_rng(4).normal(size=(5, 40))
    variance = np.random.default_rng(5).uniform(0.1, 2, 40)
    variance[7] = 0
    alphas = catoni_scale(100, variance=variance, delta=0.1) * np.ones(40)
    alphas[7] = 0
    reach = catoni_reach(factors, count=100, variance=variance, delta=0.1)
    np.testing.assert_allclose(reach, (np.abs(factors) * alphas).max(axis=1))
    parts = [
        catoni_reach(factors[:, some], count=100, variance=variance[some], delta=0.1)
        for some in (slice(0, 9), slice(9, 40))
    ]
    np.testing.assert_array_equal(reach, np.maximum(*parts))


@pytest.mark.parametrize("exact", [False, True])
def test_a_million_samples_of_twenty_directions_are_never_written_out(exact: bool) -> None:
    given_, variance = products(STUDENT, count=10**6, groups=50, directions=20)
    tracemalloc.start()
    catoni(given_, variance=variance, delta=0.05, exact=exact)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.1 * 8 * 20 * 10**6


# --------------------------------------------------------------------------------------- promise


def test_the_plain_mean_fails_where_catoni_s_holds() -> None:
    """Rare heights at which the plain mean is as bad as Chebyshev's inequality allows (Catoni 2012, chapter 6).

    A height of 2 sqrt(N v L) is seen once in a sample with probability about 1 / (4 L), and takes the plain mean
    farther than Catoni's deviation sqrt(2 v L / N) each time.
    """
    count, delta, draws = 1000, 0.01, 4000
    height = 2 * np.sqrt(count * np.log(2 / delta))
    law = two_point(1 / height**2, height)  # of variance 1, almost
    samples = law.draw(np.random.default_rng(6), (count, draws))
    deviation = catoni_deviation(count, variance=law.variance, delta=delta)
    robust_misses = np.abs(catoni(samples, variance=law.variance, delta=delta) - law.mean) > deviation
    plain_misses = np.abs(mean(samples) - law.mean) > deviation
    assert robust_misses.mean() <= delta
    assert plain_misses.mean() >= 3 * delta
