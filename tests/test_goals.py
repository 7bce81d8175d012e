from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel.errors import InputError
from superlevel.goals import ABOVE, BELOW, Bounds, FractionOfMax, Goal, Reading, Threshold


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
    reading = Reading(labels=np.zeros(n, dtype=np.int8), undecided=goal.directions(n))
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
    reading = Reading(labels=np.zeros(n, dtype=np.int8), undecided=goal.directions(n))
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
    start = Reading(labels=np.zeros(n, dtype=np.int8), undecided=np.ones((n, n), dtype=np.bool_))
    labels = FractionOfMax(epsilon).read(start, Bounds(lower=pairs, upper=pairs)).labels
    np.testing.assert_array_equal(labels == ABOVE, values > (1 - epsilon) * values.max())
    np.testing.assert_array_equal(labels == BELOW, values < (1 - epsilon) * values.max())


def test_reading_leaves_what_it_was_given_alone_and_says_nothing_of_nan() -> None:
    goal = Threshold(0.0)
    start = Reading(labels=np.zeros(3, dtype=np.int8), undecided=goal.directions(3))
    after = goal.read(start, Bounds(lower=np.array([np.nan, 1.0, -1.0]), upper=np.array([np.nan, 2.0, 1.0])))
    np.testing.assert_array_equal(after.labels, [0, 1, 0])
    np.testing.assert_array_equal(after.undecided, [True, False, True])
    np.testing.assert_array_equal(start.labels, [0, 0, 0])
    assert start.undecided.all()


@given(st.floats(-100, 100), st.floats(0.05, 0.95))
def test_the_offset_is_the_direction_s_value_at_the_mean(mean: float, epsilon: float) -> None:
    assert Threshold(20.0).offset(mean) == mean - 20.0
    assert FractionOfMax(epsilon).offset(mean) == pytest.approx(mean - (1 - epsilon) * mean, abs=1e-9)
