from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel.errors import InputError
from superlevel.goals import (
    ABOVE,
    BELOW,
    UNDECIDED,
    Bounds,
    FractionByPoints,
    FractionOfMax,
    Goal,
    Threshold,
    apply_tolerance,
)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_threshold_is_any_finite_number(value: float) -> None:
    assert Threshold(value) == Threshold(value=value)
    assert Threshold(value).value == value


@given(st.floats(0.0, 1.0, exclude_min=True, exclude_max=True))
def test_a_fraction_is_between_0_and_1(epsilon: float) -> None:
    assert FractionOfMax(epsilon) == FractionOfMax(epsilon=epsilon)
    assert FractionOfMax(epsilon).epsilon == epsilon


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, "20", None, True, [20.0]])
def test_a_bad_threshold_is_named(value: Any) -> None:
    with pytest.raises(InputError) as caught:
        Threshold(value)
    assert str(caught.value) == f"Threshold.value is {value!r}: give a finite number"


@pytest.mark.parametrize("epsilon", [0.0, 1.0, -0.2, 20, np.nan, np.inf, "0.2", None, False])
def test_a_bad_fraction_is_named(epsilon: Any) -> None:
    with pytest.raises(InputError) as caught:
        FractionOfMax(epsilon)
    assert str(caught.value) == f"FractionOfMax.epsilon is {epsilon!r}: give a number > 0 and < 1"


@pytest.mark.parametrize(
    ("goal", "shown"),
    [(Threshold(20), "Threshold(value=20.0)"), (FractionOfMax(np.float64(0.25)), "FractionOfMax(epsilon=0.25)")],
)
def test_numbers_become_plain_floats(goal: Goal, shown: str) -> None:
    assert repr(goal) == shown


def test_goals_are_values_that_stay_as_they_are() -> None:
    assert len({Threshold(1.0), Threshold(1), FractionOfMax(0.5), FractionOfMax(0.5)}) == 2
    with pytest.raises(FrozenInstanceError):
        Threshold(1.0).value = 2.0  # type: ignore[misc]


@pytest.mark.parametrize(("goal", "level"), [(Threshold(3.0), 3.0), (FractionOfMax(0.25), 6.0)])
def test_goals_are_told_apart_by_matching(goal: Goal, level: float) -> None:
    match goal:
        case Threshold(value):
            assert value == level
        case FractionOfMax(epsilon):
            assert (1 - epsilon) * 8.0 == level


# --- reading bounds, against the algorithms as they are printed, with sets


def algorithm_1(
    active: set[int], above: set[int], below: set[int], centre: np.ndarray, width: float
) -> tuple[set[int], set[int], set[int]]:
    """The for-loop of MELK; the sets accumulate."""
    left, above, below = set(active), set(above), set(below)
    for x in active:
        if centre[x] < -width:
            below.add(x)
            left.discard(x)
        elif centre[x] > width:
            above.add(x)
            left.discard(x)
    return left, above, below


def algorithm_2(
    active: set[tuple[int, int]], above: set[int], below: set[int], centre: np.ndarray, width: float
) -> tuple[set[tuple[int, int]], set[int], set[int]]:
    """The for-loop of MILK, with x joining the set when no pair (x, .) is left in A_{t+1} and x is not out."""
    n = len(centre)
    left, above, below = set(active), set(above), set(below)
    for x, other in active:
        if centre[x, other] < -width:
            below.add(x)
            left -= {(x, y) for y in range(n)} | {(y, x) for y in range(n)}
        elif centre[x, other] > width:
            left.discard((x, other))
    for x in range(n):
        if x not in below and not any(pair[0] == x for pair in left):
            above.add(x)
    return left, above, below


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_melk_s_sets_are_those_of_the_printed_loop(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    goal = Threshold(0.0)
    reading = goal.unread(n)
    active, above, below = set(range(n)), set[int](), set[int]()
    for width in (1.0, 0.5, 0.1):
        centre = rng.normal(size=n)
        active, above, below = algorithm_1(active, above, below, centre, width)
        reading = goal.read(reading, Bounds(lower=centre - width, upper=centre + width))
        assert set(np.flatnonzero(reading.undecided)) == active
        assert set(np.flatnonzero(reading.labels == ABOVE)) == above
        assert set(np.flatnonzero(reading.labels == BELOW)) == below


@given(st.integers(1, 6), st.floats(0.1, 0.9), st.integers(0, 2**32 - 1))
def test_milk_s_sets_are_those_of_the_printed_loop(n: int, epsilon: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    goal = FractionOfMax(epsilon)
    reading = goal.unread(n)
    active = {(x, y) for x in range(n) for y in range(n)}
    above, below = set[int](), set[int]()
    values = rng.normal(size=n)
    for width in (1.0, 0.5, 0.1):
        centre = values[:, None] - (1 - epsilon) * values + 0.2 * width * rng.normal(size=(n, n))
        active, above, below = algorithm_2(active, above, below, centre, width)
        reading = goal.read(reading, Bounds(lower=centre - width, upper=centre + width))
        assert {(int(x), int(y)) for x, y in np.argwhere(reading.undecided)} == active
        assert set(np.flatnonzero(reading.labels == ABOVE)) == above
        assert set(np.flatnonzero(reading.labels == BELOW)) == below


@given(st.integers(1, 8), st.floats(0.05, 0.95), st.integers(0, 2**32 - 1))
def test_exact_bounds_decide_exactly(n: int, epsilon: float, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=n)
    pairs = values[:, None] - (1 - epsilon) * values
    goal = FractionOfMax(epsilon)
    labels = goal.read(goal.unread(n), Bounds(lower=pairs, upper=pairs)).labels
    np.testing.assert_array_equal(labels == ABOVE, values > (1 - epsilon) * values.max())
    np.testing.assert_array_equal(labels == BELOW, values < (1 - epsilon) * values.max())


def test_reading_leaves_what_it_was_given_alone_and_says_nothing_of_nan() -> None:
    goal = Threshold(0.0)
    start = goal.unread(3)
    after = goal.read(start, Bounds(lower=np.array([np.nan, 1.0, -1.0]), upper=np.array([np.nan, 2.0, 1.0])))
    np.testing.assert_array_equal(after.labels, [0, 1, 0])
    np.testing.assert_array_equal(after.undecided, [True, False, True])
    np.testing.assert_array_equal(start.labels, [0, 0, 0])
    assert start.undecided.all()


@given(st.floats(-100, 100), st.floats(0.05, 0.95))
def test_a_direction_is_a_point_or_a_pair_with_a_share_of_the_second(mean: float, epsilon: float) -> None:
    f = np.full(3, mean)
    np.testing.assert_array_equal(Threshold(20.0).combine(f), f)
    assert Threshold(20.0).share == 0.0
    np.testing.assert_allclose(
        FractionOfMax(epsilon).combine(f), np.full((3, 3), mean - (1 - epsilon) * mean), atol=1e-9
    )
    assert FractionOfMax(epsilon).share == 1 - epsilon
    assert FractionOfMax(epsilon).by_points() == FractionByPoints(epsilon)
    assert FractionByPoints(epsilon).share == 0.0


# --- one interval a point


def printed_lse_imp(labels: np.ndarray, bounds: Bounds, epsilon: float) -> np.ndarray:
    """LSE-imp as it is printed: both maxima run over the undecided points, and a label stays."""
    left = labels == UNDECIDED
    f_opt, f_pes = bounds.upper[left].max(), bounds.lower[left].max()
    above = left & (bounds.lower >= (1 - epsilon) * f_opt)
    below = left & ~above & (bounds.upper <= (1 - epsilon) * f_pes)
    return np.where(above, ABOVE, np.where(below, BELOW, labels))


def test_a_classified_maximum_misleads_the_printed_rule_and_not_this_one() -> None:
    """The level is 0.6 max f = 0.6, so that the last point, 0.5, is out."""
    truth, epsilon = np.array([1.0, 0.7, 0.5]), 0.4
    sequence = [
        Bounds(lower=np.array([0.95, 0.55, 0.4]), upper=np.array([1.05, 0.95, 0.6])),
        Bounds(lower=np.array([0.95, 0.65, 0.46]), upper=np.array([1.05, 0.75, 0.59])),
    ]
    printed, reading = np.zeros(3, dtype=np.int8), FractionByPoints(epsilon).unread(3)
    for bounds in sequence:
        assert (bounds.lower <= truth).all()
        assert (truth <= bounds.upper).all()
        printed = printed_lse_imp(printed, bounds, epsilon)
        reading = FractionByPoints(epsilon).read(reading, bounds)
    np.testing.assert_array_equal(printed, [ABOVE, ABOVE, ABOVE])
    np.testing.assert_array_equal(reading.labels, [ABOVE, ABOVE, UNDECIDED])
    exact = FractionByPoints(epsilon).read(reading, Bounds(lower=truth.copy(), upper=truth.copy()))
    np.testing.assert_array_equal(exact.labels, [ABOVE, ABOVE, BELOW])


@given(st.integers(1, 8), st.floats(0.05, 0.95), st.integers(0, 2**32 - 1))
def test_before_anything_is_classified_the_printed_rule_is_the_same(n: int, epsilon: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    centre, half = rng.normal(size=n), rng.uniform(0.01, 0.5, n)
    bounds = Bounds(lower=centre - half, upper=centre + half)
    found = FractionByPoints(epsilon).read(FractionByPoints(epsilon).unread(n), bounds).labels
    np.testing.assert_array_equal(found, printed_lse_imp(np.zeros(n, dtype=np.int8), bounds, epsilon))


@given(st.integers(1, 8), st.floats(0.05, 0.95), st.floats(0, 0.3), st.integers(0, 2**32 - 1))
def test_valid_intervals_declare_nothing_wrongly(n: int, epsilon: float, tolerance: float, seed: int) -> None:
    """Whatever was declared before, and whether or not it is kept."""
    rng = np.random.default_rng(seed)
    truth, goal = rng.normal(size=n), FractionByPoints(epsilon)
    level = (1 - epsilon) * truth.max()
    reading = goal.unread(n)
    for width in (2.0, 1.0, 0.5, 0.2, 0.05, 0.0):
        bounds = Bounds(lower=truth - width * rng.random(n), upper=truth + width * rng.random(n))
        reading = goal.read(reading, bounds, tolerance=tolerance)
        for labels in (reading.labels, goal.read(goal.unread(n), bounds, tolerance=tolerance).labels):
            assert (truth[labels == ABOVE] >= level - tolerance - 1e-12).all()
            assert (truth[labels == BELOW] <= level + tolerance + 1e-12).all()
    assert (reading.labels != UNDECIDED).all()
    assert not reading.undecided.any()


@given(st.integers(1, 8), st.floats(0.05, 0.95), st.integers(0, 2**32 - 1))
def test_exact_intervals_decide_exactly(n: int, epsilon: float, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=n)
    goal = FractionByPoints(epsilon)
    labels = goal.read(goal.unread(n), Bounds(lower=values, upper=values)).labels
    np.testing.assert_array_equal(labels == ABOVE, values > (1 - epsilon) * values.max())
    assert (labels != UNDECIDED).all()


def test_what_may_be_the_maximum_is_worth_measuring_while_anything_is_open() -> None:
    goal = FractionByPoints(0.5)
    bounds = Bounds(lower=np.array([0.9, 0.8, 0.4, 0.1]), upper=np.array([1.1, 1.0, 0.6, 0.2]))
    reading = goal.read(goal.unread(4), bounds)
    np.testing.assert_array_equal(reading.labels, [ABOVE, ABOVE, UNDECIDED, BELOW])
    np.testing.assert_array_equal(reading.undecided, [True, True, True, False])
    assert goal.level_bounds(bounds) == (0.45, 0.55)
    closed = Bounds(lower=np.array([0.9, 0.8, 0.58, 0.1]), upper=np.array([1.1, 1.0, 0.6, 0.2]))
    assert not goal.read(reading, closed).undecided.any()


def test_a_level_is_given_or_a_part_of_the_largest_value() -> None:
    values = np.array([1.0, 4.0, -2.0])
    assert Threshold(2.5).levels == (2.5,)
    assert not Threshold(2.5).implicit
    for goal in (FractionOfMax(0.25), FractionByPoints(0.25)):
        assert goal.level(values) == 3.0
        assert goal.levels == ()
        assert goal.implicit


def test_a_point_that_is_out_by_the_tolerance_alone_may_still_be_the_maximum() -> None:
    """f is (0.8, 0.5, 0.5), and the others are below 0.9 * 0.8 by more than the tolerance of 0.04."""
    lower, upper = np.array([-0.8, 0.5, 0.5]), np.array([0.81, 0.5, 0.5])
    share, tolerance = 0.9, 0.04
    upper_ends = upper[:, None] - share * lower
    upper_ends[0, 1] = tolerance - 1e-9  # the first seems out, but only because the tolerance allows it
    bounds = Bounds(lower=lower[:, None] - share * upper, upper=upper_ends)
    goal = FractionOfMax(1 - share)
    before = goal.unread(3)
    hasty = goal.read(before, apply_tolerance(bounds, tolerance))
    careful = goal.read(before, bounds, tolerance=tolerance)
    assert hasty.labels.tolist() == [-1, 1, 1]
    assert careful.labels.tolist() == [-1, 0, 0]
    assert careful.undecided[1:, 0].all()
