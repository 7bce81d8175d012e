from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel.grids import LARGEST_OFF, distinct, even_steps, last_digit

grids = st.tuples(
    st.sampled_from([1.0, 10.0, 1 / 240, 1 / 3, 0.1, 2.5e4]),
    st.sampled_from([0.0, -179.98, 3.4e6]),
    st.lists(st.integers(0, 400), min_size=2, max_size=60),
)


@given(grids, st.integers(0, 2**32 - 1))
def test_values_with_holes_and_in_any_order_are_at_their_steps(
    given: tuple[float, float, list[int]], seed: int
) -> None:
    size, first, listed = given
    at = np.random.default_rng(seed).permutation(listed)
    values, index = distinct(first + size * at)
    found = even_steps(values, slack=1e-3, parts=400)
    assert found is not None
    off = np.abs(found.first + found.size * found.at[index] - (first + size * at))
    assert off.max() <= 1e-3 * size
    if 1 in np.diff(np.unique(at)):
        np.testing.assert_array_equal(found.at[index], at - at.min())


@given(
    st.integers(20, 300),
    st.sampled_from([(1 / 240, 4), (1 / 3, 2), (1 / 60, 3), (0.7, 1)]),
    st.floats(0.0, 0.5),
    st.integers(0, 2**32 - 1),
)
def test_values_with_few_digits_are_at_the_steps_that_they_were_rounded_from(
    count: int, step: tuple[float, int], missing: float, seed: int
) -> None:
    size, decimals = step
    at = np.flatnonzero(np.random.default_rng(seed).random(count) >= missing)
    neighbours = np.diff(at) == 1
    if len(at) < 3 or not neighbours.any():
        return
    values = np.round(7.0 + size * at, decimals)
    found = even_steps(distinct(values)[0], slack=1e-3)
    assert found is not None
    np.testing.assert_array_equal(found.at, at - at[0])
    assert found.size == pytest.approx(size, rel=0.15)


def test_scattered_values_are_at_no_steps() -> None:
    values, _ = distinct(np.random.default_rng(0).random(300))
    assert even_steps(values, slack=0.05, parts=12) is None
    rounded, _ = distinct(np.round(np.random.default_rng(0).random(100), 4))
    assert even_steps(rounded, slack=1e-3) is None
    assert LARGEST_OFF < 0.5


def test_one_value_is_a_grid_of_its_own() -> None:
    found = even_steps(np.array([3.5]), slack=0.05)
    assert found is not None
    assert (found.size, found.count, found.first) == (0.0, 1, 3.5)


@pytest.mark.parametrize("decimals", [0, 1, 4, 9])
def test_the_last_digit_is_that_of_rounding(decimals: int) -> None:
    values = np.round(500.0 * np.random.default_rng(decimals).random(2000), decimals)
    assert last_digit(values) == pytest.approx(10.0**-decimals)
    assert last_digit(values + 1 / 3) == 0.0 or last_digit(values + 1 / 3) < 1e-10
