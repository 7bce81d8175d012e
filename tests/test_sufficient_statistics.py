"""Sufficient statistics: against the sums they stand for, in whatever portions the measurements came."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel.arrays import Array, Indices
from superlevel.sufficient_statistics import Statistics, nothing, summed


class Measured(NamedTuple):
    """Measurements of n points."""

    n: int
    points: Indices
    values: Array
    deviations: Array


def all_at_once(given: Measured) -> Statistics:
    return nothing(given.n).told(given.points, given.values, given.deviations)


def directly(given: Measured) -> tuple[Array, Array, float]:
    """Information, means and scatter, point by point."""
    information, means, scatter = np.zeros(given.n), np.zeros(given.n), 0.0
    for x in range(given.n):
        here = given.points == x
        if here.any():
            weights = 1.0 / np.square(given.deviations[here])
            information[x] = weights.sum()
            means[x] = np.average(given.values[here], weights=weights)
            scatter += float((weights * np.square(given.values[here] - means[x])).sum())
    return information, means, scatter


def some(seed: int, *, n: int = 6, count: int = 50, offset: float = 0.0) -> Measured:
    rng = np.random.default_rng(seed)
    values = offset + rng.standard_normal(count)
    return Measured(n, rng.integers(0, n, count), values, 10.0 ** rng.uniform(-2, 1, count))


@st.composite
def measured(draw: st.DrawFn) -> Measured:
    n = draw(st.integers(1, 5))
    count = draw(st.integers(0, 12))
    points = draw(st.lists(st.integers(0, n - 1), min_size=count, max_size=count))
    values = draw(st.lists(st.floats(-1e3, 1e3), min_size=count, max_size=count))
    deviations = draw(st.lists(st.floats(1e-2, 1e2), min_size=count, max_size=count))
    return Measured(n, np.array(points, dtype=np.int64), np.array(values), np.array(deviations))


def assert_same(found: Statistics, expected: Statistics) -> None:
    np.testing.assert_array_equal(found.counts, expected.counts)
    np.testing.assert_allclose(found.information, expected.information, rtol=1e-12)
    np.testing.assert_allclose(found.means, expected.means, rtol=1e-10, atol=1e-10)
    # Numbers up to 1e3 in deviations of 1e-2: squares of 1e10 cancel here.
    assert found.scatter == pytest.approx(expected.scatter, rel=1e-9, abs=1e-9)


# --- what they stand for


@given(measured())
def test_statistics_are_the_sums_they_are_named_after(given: Measured) -> None:
    found = all_at_once(given)
    information, means, scatter = directly(given)
    np.testing.assert_array_equal(found.counts, np.bincount(given.points, minlength=given.n))
    assert found.count == len(given.points)
    np.testing.assert_allclose(found.information, information, rtol=1e-12)
    np.testing.assert_allclose(found.means, means, rtol=1e-10, atol=1e-10)
    assert found.scatter == pytest.approx(scatter, rel=1e-9, abs=1e-9)
    assert found.scatter >= 0


@given(measured(), st.data())
def test_portions_and_their_order_do_not_matter(given: Measured, data: st.DataObject) -> None:
    count = len(given.points)
    order = np.array(data.draw(st.permutations(range(count))), dtype=np.int64)
    cuts = sorted(data.draw(st.lists(st.integers(0, count), max_size=4)))
    found = nothing(given.n)
    for portion in np.split(order, cuts):
        found = found.told(given.points[portion], given.values[portion], given.deviations[portion])
    assert_same(found, all_at_once(given))


def test_one_by_one_is_as_good_as_all_at_once() -> None:
    given = some(0, count=300)
    found = nothing(given.n)
    for k in range(300):
        one = slice(k, k + 1)
        found = found.told(given.points[one], given.values[one], given.deviations[one])
    assert_same(found, all_at_once(given))


def test_they_give_the_sum_of_squares_about_any_function() -> None:
    given = some(1)
    found, about = all_at_once(given), np.linspace(-1, 2, given.n)
    squares = (np.square(given.values - about[given.points]) / given.deviations**2).sum()
    split = found.scatter + (found.information * np.square(found.means - about)).sum()
    assert split == pytest.approx(squares, rel=1e-12)


# --- numbers that floats find hard


@pytest.mark.parametrize("portions", [1, 7])
def test_small_noise_on_a_large_offset_keeps_its_scatter(portions: int) -> None:
    offset, given = 1e8, some(2, count=2000, offset=1e8)
    given = given._replace(deviations=np.ones(2000))
    found = nothing(given.n)
    for part in np.array_split(np.arange(2000), portions):
        found = found.told(given.points[part], given.values[part], given.deviations[part])
    _, means, scatter = directly(given._replace(values=given.values - offset))  # exact: 1e8 and what is near it
    assert found.scatter == pytest.approx(scatter, rel=1e-7)
    np.testing.assert_allclose(found.means - offset, means, atol=1e-7)


def test_scatter_is_that_of_exact_arithmetic() -> None:
    values, deviations = [1e8, 1e8 + 0.125, 1e8 - 0.25, 3.0], [0.5, 2.0, 0.25, 1.0]
    weights = [1 / Fraction(sigma) ** 2 for sigma in deviations]
    mean = sum(w * Fraction(y) for w, y in zip(weights, values, strict=True)) / sum(weights)
    exact = sum(w * (Fraction(y) - mean) ** 2 for w, y in zip(weights, values, strict=True))
    found = nothing(1).told(np.zeros(4, dtype=np.int64), np.array(values), np.array(deviations))
    assert found.means[0] == pytest.approx(float(mean), rel=1e-15)
    assert found.scatter == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.parametrize("value", [0.1, 1e8 + 0.1, -1e-300])
@pytest.mark.parametrize("portions", [1, 10])
def test_equal_values_have_no_scatter_and_themselves_as_mean(value: float, portions: int) -> None:
    points, deviations = np.zeros(30, dtype=np.int64), np.random.default_rng(0).uniform(0.1, 3.0, 30)
    found = nothing(1)
    for part in np.array_split(np.arange(30), portions):
        found = found.told(points[part], np.full(len(part), value), deviations[part])
    assert found.means[0] == value
    assert found.scatter == 0.0


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_change_nothing(scale: float) -> None:
    given = some(3)
    found, other = (
        all_at_once(given),
        all_at_once(given._replace(values=given.values * scale, deviations=given.deviations * scale)),
    )
    np.testing.assert_allclose(other.information * scale**2, found.information, rtol=1e-12)
    np.testing.assert_allclose(other.means, found.means * scale, rtol=1e-12)
    assert other.scatter == pytest.approx(found.scatter, rel=1e-12)


# --- little or nothing


def test_nothing_is_nothing() -> None:
    none = nothing(3)
    assert none.count == 0
    assert none.scatter == 0
    assert not none.information.any()
    assert not none.means.any()


def test_no_measurement_changes_nothing() -> None:
    before = all_at_once(some(4))
    after = before.told(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))
    assert_same(after, before)
    assert after.scatter == before.scatter


def test_one_measurement_is_its_own_mean() -> None:
    found = nothing(2).told(np.array([1]), np.array([3.5]), np.array([0.5]))
    assert found.means.tolist() == [0.0, 3.5]
    assert found.information.tolist() == [0.0, 4.0]
    assert found.counts.tolist() == [0, 1]
    assert found.scatter == 0


def test_two_measurements_have_the_scatter_of_their_difference() -> None:
    found = nothing(1).told(np.array([0]), np.array([1.0]), np.array([3.0]))
    found = found.told(np.array([0]), np.array([6.0]), np.array([4.0]))
    assert found.scatter == pytest.approx(1.0)  # (6 - 1)^2 / (3^2 + 4^2)


def test_what_was_known_is_not_changed_and_cannot_be() -> None:
    before = all_at_once(some(5))
    information, scatter = before.information.copy(), before.scatter
    before.told(np.array([0]), np.array([9.0]), np.array([1.0]))
    np.testing.assert_array_equal(before.information, information)
    assert before.scatter == scatter
    for array in (before.counts, before.information, before.means):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_sums_are_zero_where_nothing_is() -> None:
    assert summed(np.array([2, 2]), np.array([1.0, 0.5]), 4).tolist() == [0.0, 0.0, 1.5, 0.0]
    assert summed(np.empty(0, dtype=np.int64), np.empty(0), 2).tolist() == [0.0, 0.0]
