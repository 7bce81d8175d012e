from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from superlevel.errors import InputError
from superlevel.study.matching import closest, locate, match, shown

GRID = np.stack(np.meshgrid(np.linspace(0, 1, 11), np.linspace(-500, 500, 5)), axis=-1).reshape(-1, 2)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
POINTS = hnp.arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 3)), elements=FINITE)


@given(POINTS)
def test_every_point_is_found_as_the_first_that_equals_it(points: np.ndarray) -> None:
    expected = [next(i for i, other in enumerate(points) if (other == each).all()) for each in points]
    assert match(points, points).tolist() == expected


def test_zero_has_no_sign() -> None:
    assert match(np.array([[1.0, 0.0], [-0.0, 0.0]]), np.array([[0.0, -0.0], [1.0, -0.0]])).tolist() == [1, 0]


@pytest.mark.parametrize("digits", [10, 12, 15])
def test_points_are_found_after_rounding(digits: int) -> None:
    points = np.random.default_rng(0).uniform(size=(500, 2)) * [1.0, 1e6]
    rounded = np.array([[float(f"{number:.{digits}g}") for number in point] for point in points])
    assert (rounded != points).any()
    assert match(points, rounded).tolist() == list(range(500))


@given(POINTS)
def test_fifteen_digits_find_a_point_that_has_them_whatever_its_size(points: np.ndarray) -> None:
    points = np.where(np.abs(points) < 1e-290, 0.0, points)  # smaller ones have fewer digits
    points = np.clip(points, -1e308, 1e308)
    rounded = np.array([[float(f"{number:.15g}") for number in point] for point in points])
    found = points[match(points, rounded)]
    size = np.abs(points).max(axis=0)
    assert (match(points, rounded) >= 0).all()
    assert (np.abs(found / 2 - rounded / 2) <= 0.5e-9 * 2.01 * size).all()


@pytest.mark.parametrize(("off", "index"), [(0.9e-9, 7), (1.1e-9, -1)])
@pytest.mark.parametrize("coordinate", [0, 1])
def test_the_tolerance_is_measured_by_the_extent_of_each_coordinate(off: float, index: int, coordinate: int) -> None:
    found = GRID[[7]].copy()
    found[0, coordinate] += off * (1.0, 1000.0)[coordinate]
    assert match(GRID, found).tolist() == [index]


def test_of_equal_points_the_first_is_found_after_rounding_too() -> None:
    points = np.array([[1.0], [1 / 3], [1 / 3], [1 / 3]])
    assert match(points, np.array([[0.333333333333]])).tolist() == [1]


def test_an_exact_match_goes_before_a_near_one() -> None:
    points = np.array([[0.0], [1e-12], [2e-12], [1.0]])
    assert match(points, points[::-1]).tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize("constant", [0.0, 0.1 + 0.2, 1e300])
def test_a_coordinate_that_is_always_the_same_may_be_rounded_but_not_changed(constant: float) -> None:
    points = np.array([[0.0, constant], [1.0, constant]])
    found = np.array([[1.0, float(f"{constant:.15g}")], [1.0, constant + max(1.0, constant / 2)]])
    assert match(points, found).tolist() == [1, -1]


def test_a_single_point_is_found_and_others_are_not() -> None:
    assert match(np.array([[0.3]]), np.array([[0.3], [0.30000000000000004], [0.31]])).tolist() == [0, 0, -1]


def test_the_closest_is_the_same_as_by_comparing_all_distances() -> None:
    found = np.random.default_rng(1).uniform([-1, -1500], [2, 1500], size=(50, 2))
    distances = np.linalg.norm((found[:, None] - GRID) / [1.0, 1000.0], axis=-1)
    assert closest(GRID, found).tolist() == distances.argmin(axis=1).tolist()


@given(hnp.arrays(np.float64, (3, 2), elements=FINITE), hnp.arrays(np.float64, (2, 2), elements=FINITE))
def test_any_finite_numbers_can_be_looked_for(points: np.ndarray, found: np.ndarray) -> None:
    near = closest(points, found)
    assert ((near >= 0) & (near < 3)).all()
    assert ((match(points, found) >= -1) & (match(points, found) < 3)).all()


def test_nothing_is_found_among_no_coordinates() -> None:
    assert match(GRID, np.empty((0, 2))).shape == closest(GRID, np.empty((0, 2))).shape == (0,)


def test_one_point_is_located_or_the_nearest_is_named() -> None:
    assert locate(GRID, [0.1, -500]) == 1
    with pytest.raises(InputError) as caught:
        locate(GRID, [0.12, -500])
    nearest = f"x0 = {GRID[1, 0]}, x1 = -500.0"
    expected = f"coordinates is x0 = 0.12, x1 = -500.0: give a point of the domain; the nearest is {nearest}"
    assert str(caught.value) == expected
    with pytest.raises(InputError, match=r"coordinates is of shape \(3,\): give shape \(2,\)"):
        locate(GRID, [1, 2, 3])


def test_many_coordinates_are_cut_short() -> None:
    assert shown(("a", "b"), [1.0, 0.1]) == "a = 1.0, b = 0.1"
    assert shown(tuple("abcde"), [0.0, 1.0, 2.0, 3.0, 4.0]) == "a = 0.0, b = 1.0, c = 2.0, d = 3.0, ..."


def test_only_coordinates_that_are_not_exact_need_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.spatial", None)
    assert match(GRID, GRID[::-1]).tolist() == list(range(len(GRID)))[::-1]
    with pytest.raises(ImportError):
        match(GRID, GRID + 0.01)
