"""Points by their coordinates: as many digits as tell each from every other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from superlevel.coordinates import Coordinates
from superlevel.report.places import SHOWN, Places


def written(points: object) -> list[str]:
    array = np.asarray(points, dtype=np.float64)
    coordinates = Coordinates.plain([f"x{j}" for j in range(array.shape[1])])
    places = Places(points=array, coordinates=coordinates)
    return [places.of(k) for k in range(len(array))]


@pytest.mark.parametrize(
    ("points", "shown"),
    [
        ([[181200, 333100], [181240, 333100]], ["(181200, 333100)", "(181240, 333100)"]),
        ([[0.071, 0.0], [0.5, 1.0]], ["(0.071, 0)", "(0.5, 1)"]),
        ([[0.0, 0.0], [1000.0, 0.0], [1000.01, 0.0]], ["(0, 0)", "(1000, 0)", "(1000.01, 0)"]),
        ([[1e-9, 1.0], [2e-9, 1.0]], ["(1e-09, 1)", "(2e-09, 1)"]),
        ([[1e20], [1.00001e20], [-1e20]], ["(1e+20)", "(1.00001e+20)", "(-1e+20)"]),
        ([[3.25]], ["(3.25)"]),
        ([[2.0, 5.0], [2.0, 5.0]], ["(2, 5)", "(2, 5)"]),
    ],
)
def test_neighbours_are_told_apart_and_no_digit_is_wasted(points: list[list[float]], shown: list[str]) -> None:
    assert written(points) == shown


FINITE = st.floats(-1e300, 1e300, allow_nan=False, allow_subnormal=False)


@given(arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 3)), elements=FINITE))
def test_points_look_the_same_exactly_if_they_are_the_same(points: np.ndarray) -> None:
    with np.errstate(over="ignore"):
        if not np.isfinite(np.ptp(points, axis=0)).all():
            return
    points = points + 0.0  # -0.0 is 0.0
    shown = written(points)
    assert len(set(shown)) == len(np.unique(points, axis=0))


def test_of_many_coordinates_the_first_are_shown_and_a_sign_that_there_are_more() -> None:
    (shown,) = written([np.arange(9.0)])
    assert shown == f"({', '.join(map(str, range(SHOWN)))}, …)"
