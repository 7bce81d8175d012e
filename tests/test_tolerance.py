"""Bounds and a tolerance: what they decide, and that it is never wrong by more than that."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel.arrays import Array
from superlevel.goals import ABOVE, BELOW, UNDECIDED, Bounds, FractionOfMax, Threshold, apply_tolerance

NUMBERS = st.floats(-10, 10, allow_subnormal=False)


def bounds(lower: Array | list[float], upper: Array | list[float]) -> Bounds:
    return Bounds(lower=np.array(lower, dtype=np.float64), upper=np.array(upper, dtype=np.float64))


def labels(found: Bounds) -> list[int]:
    goal = Threshold(0.0)
    return [int(label) for label in goal.read(goal.unread(len(found.lower)), found).labels]


def test_without_a_tolerance_bounds_are_what_they_were() -> None:
    given = bounds([-1.0, 0.5, -3.0], [1.0, 0.7, -0.1])
    found = apply_tolerance(given, 0.0)
    np.testing.assert_array_equal(found.lower, given.lower)
    np.testing.assert_array_equal(found.upper, given.upper)
    assert labels(found) == [UNDECIDED, ABOVE, BELOW]


def test_a_tolerance_moves_both_ends_inwards() -> None:
    found = apply_tolerance(bounds([-1.0, -0.2], [1.0, 3.0]), 0.25)
    np.testing.assert_allclose(found.lower, [-0.75, 0.05])
    np.testing.assert_allclose(found.upper, [0.75, 2.75])
    assert labels(found) == [UNDECIDED, ABOVE]


@pytest.mark.parametrize(
    ("lower", "upper", "label"),
    [(-0.1, 0.2, ABOVE), (-0.2, 0.1, BELOW), (-0.1, 0.1, BELOW), (0.0, 0.0, BELOW), (1e-9, 1e-9, ABOVE)],
)
def test_where_the_tolerance_rules_out_both_sides_the_middle_decides(lower: float, upper: float, label: int) -> None:
    assert labels(apply_tolerance(bounds([lower], [upper]), 0.25)) == [label]


def test_a_value_that_is_known_to_be_the_level_is_not_above_it() -> None:
    found = apply_tolerance(bounds([0.0, -1.0, 2.0, -2.0], [0.0, 1.0, 2.0, -2.0]), 0.0)
    assert labels(found) == [BELOW, UNDECIDED, ABOVE, BELOW]


def test_an_end_at_the_level_decides_nothing() -> None:
    assert labels(apply_tolerance(bounds([0.0, -1.0], [1.0, 0.0]), 0.0)) == [UNDECIDED, UNDECIDED]


@given(NUMBERS, st.floats(0, 10), st.floats(0, 2), st.floats(0, 1))
def test_no_label_is_wrong_by_more_than_the_tolerance(lower: float, width: float, tolerance: float, at: float) -> None:
    upper = lower + width
    value = min(max(lower + at * width, lower), upper)
    (label,) = labels(apply_tolerance(bounds([lower], [upper]), tolerance))
    slack = 1e-12
    if label == ABOVE:
        assert value > -tolerance - slack
    if label == BELOW:
        assert value <= tolerance + slack
    if width < 2 * tolerance - slack:
        assert label != UNDECIDED
    if tolerance == 0 and width > 0:
        assert (label == UNDECIDED) == (lower <= 0 <= upper)


@given(NUMBERS, st.floats(0, 10), st.floats(0, 2), st.floats(0, 2))
def test_a_larger_tolerance_never_leaves_more_undecided(lower: float, width: float, small: float, more: float) -> None:
    given = bounds([lower], [lower + width])
    (before,), (after,) = labels(apply_tolerance(given, small)), labels(apply_tolerance(given, small + more))
    assert before == UNDECIDED or after != UNDECIDED


@pytest.mark.parametrize("tolerance", [0.0, 0.5])
def test_what_nothing_is_known_of_stays_undecided(tolerance: float) -> None:
    nothing = bounds([-np.inf, -np.inf], [np.inf, np.inf])
    assert labels(apply_tolerance(nothing, tolerance)) == [UNDECIDED, UNDECIDED]
    unsaid = bounds([np.nan, 1.0, 0.0], [np.nan, 2.0, 0.0])
    assert labels(apply_tolerance(unsaid, tolerance))[:2] == [UNDECIDED, ABOVE]


@pytest.mark.parametrize("tolerance", [0.0, 0.5])
def test_known_directions_beside_those_that_nothing_is_known_of_are_decided(tolerance: float) -> None:
    found = apply_tolerance(bounds([-np.inf, 1.0, -2.0], [np.inf, 1.0, -2.0]), tolerance)
    assert labels(found) == [UNDECIDED, ABOVE, BELOW]


def test_pairs_are_narrowed_like_points() -> None:
    values = np.array([1.0, 0.9, 0.2])
    differences = values[:, None] - 0.5 * values
    found = apply_tolerance(bounds(differences - 0.06, differences + 0.06), 0.05)
    start = FractionOfMax(0.5).unread(3)
    assert FractionOfMax(0.5).read(start, found).labels.tolist() == [ABOVE, ABOVE, BELOW]
    known = apply_tolerance(bounds(differences, differences), 0.0)
    assert FractionOfMax(0.5).read(start, known).labels.tolist() == [ABOVE, ABOVE, BELOW]


def test_what_was_given_is_not_changed() -> None:
    given = bounds([-1.0, 0.0], [1.0, 0.0])
    apply_tolerance(given, 0.3)
    assert given.lower.tolist() == [-1.0, 0.0]
    assert given.upper.tolist() == [1.0, 0.0]
