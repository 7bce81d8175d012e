from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from superlevel.arrays import as_matrix, as_number, as_points, as_vector
from superlevel.errors import InputError

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2), elements=FINITE))
def test_a_matrix_keeps_its_numbers_and_becomes_row_major(values: np.ndarray) -> None:
    for given_as in (values, np.asfortranarray(values), values.tolist()):
        matrix = as_matrix("points", given_as)
        assert matrix.dtype == np.float64
        assert matrix.flags.c_contiguous
        np.testing.assert_array_equal(matrix, values)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([1.0, 2.0], "points is of shape (2,): give a 2-d array, one row for each point"),
        (np.ones((2, 2, 2)), "points is of shape (2, 2, 2): give a 2-d array, one row for each point"),
        (np.ones((0, 2)), "points is of shape (0, 2): give at least one row and one column"),
        (np.ones((2, 0)), "points is of shape (2, 0): give at least one row and one column"),
        ([[0.0, 1.0], [2.0, np.nan]], "points[1, 1] is nan: give finite numbers or leave that row out"),
        ([[np.inf, np.nan]], "points[0, 0] is inf: give finite numbers or leave that row out"),
        ([["a"]], "points is of type list and holds something other than numbers: give numbers (could not convert"),
        ([[1.0], [2.0, 3.0]], "points is of type list and holds something other than numbers: give numbers (setting"),
        ([[1j]], "points is of type list and holds something other than numbers: give numbers (complex"),
        (np.array([[1.0 + 0j]]), "points is of type ndarray and holds something other than numbers: give numbers (c"),
        ([[10**400]], "points is of type list and holds something other than numbers: give numbers (int too large"),
    ],
)
def test_what_is_no_matrix_is_named(values: Any, sentence: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        as_matrix("points", values)


@given(hnp.arrays(np.float64, st.integers(1, 9), elements=FINITE))
def test_a_vector_keeps_its_numbers(values: np.ndarray) -> None:
    np.testing.assert_array_equal(as_vector("values", values.tolist(), length=values.size), values)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([1.0, 2.0], "values is of shape (2,): give shape (3,)"),
        ([[1.0, 2.0, 3.0]], "values is of shape (1, 3): give shape (3,)"),
        ([1.0, np.nan, np.inf], "values[1] is nan: give finite numbers"),
        ([1.0, 2.0, -np.inf], "values[2] is -inf: give finite numbers"),
        (["a", "b", "c"], "values is of type list and holds something other than numbers: give numbers (could not"),
    ],
)
def test_what_is_no_vector_is_named(values: Any, sentence: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        as_vector("values", values, length=3)


@pytest.mark.parametrize("value", [1, 1.0, np.int8(1), np.float32(1.0), np.float64(1.0)])
def test_every_kind_of_number_becomes_a_float(value: object) -> None:
    number = as_number("delta", value, above=0.0, at_least=1.0, below=1.5)
    assert type(number) is float
    assert number == 1.0


@pytest.mark.parametrize("value", [None, "1", True, np.True_, 1j, [1.0], np.ones(1)])
def test_what_is_no_number_is_named(value: object) -> None:
    with pytest.raises(InputError, match=re.escape(f"delta is {value!r}: give a finite number")):
        as_number("delta", value)


def test_something_long_is_named_in_one_short_line() -> None:
    with pytest.raises(InputError) as caught:
        as_number("bound", np.arange(1e4).reshape(100, 100), above=0.0)
    assert len(str(caught.value)) < 100
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "limits", "remedy"),
    [
        (np.nan, {}, "give a finite number"),
        (np.inf, {}, "give a finite number"),
        (np.inf, {"above": 0.0}, "give a number > 0"),
        (0.0, {"above": 0.0}, "give a number > 0"),
        (-0.1, {"at_least": 0.0}, "give a number >= 0"),
        (1.0, {"below": 1.0}, "give a number < 1"),
        (1.0, {"above": 0.0, "below": 1.0}, "give a number > 0 and < 1"),
    ],
)
def test_a_number_outside_its_limits_is_named(value: float, limits: dict[str, float], remedy: str) -> None:
    with pytest.raises(InputError) as caught:
        as_number("delta", value, **limits)
    assert str(caught.value) == f"delta is {value}: {remedy}"


@pytest.mark.parametrize("values", [[4, 0, 0], (4, 0, 0), np.array([4, 0, 0], dtype=np.uint8), np.array([4, 0, 0])])
def test_numbers_of_points_may_repeat_and_come_in_any_order(values: Any) -> None:
    points = as_points("points", values, count=5)
    assert points.dtype == np.int64
    assert points.tolist() == [4, 0, 0]


@pytest.mark.parametrize("values", [[], np.empty(0), np.empty((0, 3))])
def test_there_may_be_no_points(values: Any) -> None:
    points = as_points("points", values, count=5)
    assert points.dtype == np.int64
    assert points.shape == (0,)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([0, 5], "points[1] is 5: give numbers of points, from 0 to 4"),
        ([0, 1, -1, 9], "points[2] is -1: give numbers of points, from 0 to 4"),
        ([2**64 - 1], "points[0] is 18446744073709551615: give numbers of points, from 0 to 4"),
        ([0.0, 1.0], "points is of type float64 and shape (2,): give a list of whole numbers, one for each"),
        ([True, False], "points is of type bool and shape (2,): give a list of whole numbers, one for each"),
        (["a"], "points is of type <U1 and shape (1,): give a list of whole numbers, one for each measurement"),
        (3, "points is of type int64 and shape (): give a list of whole numbers, one for each measurement"),
        ([[0, 1]], "points is of type int64 and shape (1, 2): give a list of whole numbers, one for each"),
    ],
)
def test_what_is_no_number_of_a_point_is_named(values: Any, sentence: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        as_points("points", values, count=5)
