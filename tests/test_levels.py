"""Goals with given levels, the wanted points on either side, between two levels, or sorted into classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel.arrays import Array, Labels
from superlevel.errors import InputError
from superlevel.goals import (
    ABOVE,
    BELOW,
    UNDECIDED,
    Band,
    Bounds,
    Goal,
    Levels,
    Reading,
    Threshold,
    apply_tolerance,
    classes,
    decided,
    summary,
)

# Gaps between levels are far above rounding.
LEVELS = st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=5, unique=True).map(
    lambda drawn: Levels([number / 10**5 for number in sorted(drawn)])
)
SEEDS = st.integers(0, 2**32 - 1)
SIDES = [Threshold(0.25), Threshold(0.25, side="below")]


def rows(labels: Labels) -> Labels:
    """(k, n) a row for each level."""
    return np.atleast_2d(labels)


def read(goal: Goal, lower: Array, upper: Array, tolerance: float = 0.0, before: Reading | None = None) -> Reading:
    start = goal.unread(len(lower)) if before is None else before
    return goal.read(start, Bounds(lower=lower, upper=upper), tolerance=tolerance)


# --- reading


@given(LEVELS, st.integers(1, 8), st.floats(0, 3), SEEDS)
def test_every_row_is_the_labels_of_its_level_alone(goal: Levels, n: int, tolerance: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    lower = rng.uniform(-12, 12, n)
    upper = lower + rng.exponential(2.0, n)
    found = read(goal, lower, upper, tolerance)
    assert found.labels.shape == ((n,) if len(goal.levels) == 1 else (len(goal.levels), n))
    for row, level in zip(rows(found.labels), goal.levels, strict=True):
        np.testing.assert_array_equal(row, read(Threshold(level), lower, upper, tolerance).labels)
    np.testing.assert_array_equal(found.undecided, (rows(found.labels) == UNDECIDED).any(axis=0))
    np.testing.assert_array_equal(found.undecided, ~decided(found.labels))


@given(LEVELS, st.integers(1, 6), SEEDS)
def test_a_tolerance_is_applied_to_the_distance_from_each_level(goal: Levels, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    lower = rng.uniform(-12, 12, n)
    upper = lower + rng.exponential(2.0, n)
    labels = rows(read(goal, lower, upper, 0.5).labels)
    for row, level in zip(labels, goal.levels, strict=True):
        deciding = apply_tolerance(Bounds(lower=lower - level, upper=upper - level), 0.5)
        np.testing.assert_array_equal(row == ABOVE, deciding.lower > 0)
        np.testing.assert_array_equal(row == BELOW, deciding.upper < 0)


@given(LEVELS, st.floats(0, 3), SEEDS, st.booleans())
def test_no_point_is_above_a_level_and_not_above_a_lower_one(
    goal: Levels, tolerance: float, seed: int, valid: bool
) -> None:
    """Also where labels are kept, and where the intervals of different times contradict each other."""
    rng, n = np.random.default_rng(seed), 6
    truth, reading = rng.uniform(-12, 12, n), goal.unread(n)
    for width in (8.0, 2.0, 2 * tolerance, 0.1, 0.0):
        centre = truth if valid else rng.uniform(-12, 12, n)
        bounds = centre - width * rng.random(n), centre + width * rng.random(n)
        reading = read(goal, *bounds, tolerance, before=reading)
        for labels in (reading.labels, read(goal, *bounds, tolerance).labels):
            assert (np.diff(rows(labels).astype(int), axis=0) <= 0).all()
            lowest, highest = classes(labels)
            assert (lowest <= highest).all()
    assert decided(reading.labels).all()


@given(LEVELS, st.floats(0, 3), SEEDS)
def test_intervals_that_hold_the_truth_are_wrong_by_no_more_than_the_tolerance(
    goal: Levels, tolerance: float, seed: int
) -> None:
    rng, n = np.random.default_rng(seed), 6
    truth = rng.uniform(-12, 12, n)
    lower, upper = truth - rng.exponential(2.0, n), truth + rng.exponential(2.0, n)
    for row, level in zip(rows(read(goal, lower, upper, tolerance).labels), goal.levels, strict=True):
        assert (truth[row == ABOVE] > level - tolerance - 1e-9).all()
        assert (truth[row == BELOW] < level + tolerance + 1e-9).all()


@given(LEVELS, st.integers(1, 8), SEEDS)
def test_exact_bounds_decide_as_the_signs_of_the_truth(goal: Levels, n: int, seed: int) -> None:
    f = np.random.default_rng(seed).uniform(-12, 12, n)
    f[0] = goal.levels[0]  # which is not above it
    np.testing.assert_array_equal(read(goal, f, f).labels, goal.signs(f))
    assert rows(goal.signs(f))[0, 0] == BELOW
    for row, level in zip(rows(goal.signs(f)), goal.levels, strict=True):
        np.testing.assert_array_equal(row, np.where(f > level, ABOVE, BELOW))


@pytest.mark.parametrize("goal", [Band(0.0, 1.0), Levels([-1.0, 0.0, 1.0])])
def test_a_label_that_was_given_stays_and_nan_says_nothing(goal: Goal) -> None:
    first = read(goal, np.array([-0.5, 2.0, np.nan]), np.array([0.9, 3.0, np.nan]))
    later = read(goal, np.array([-9.0, -9.0, -9.0]), np.array([-8.0, -8.0, -8.0]), before=first)
    kept = first.labels != UNDECIDED
    np.testing.assert_array_equal(later.labels[kept], first.labels[kept])
    np.testing.assert_array_equal(first.undecided, [True, False, True])
    assert (first.labels[:, 2] == UNDECIDED).all()
    assert decided(later.labels).all()


def test_nothing_is_read_of_points_that_are_not_undecided() -> None:
    goal = Band(0.0, 1.0)
    start = Reading(labels=np.zeros((2, 2), dtype=np.int8), undecided=np.array([True, False]))
    found = read(goal, np.array([2.0, 2.0]), np.array([3.0, 3.0]), before=start)
    np.testing.assert_array_equal(found.labels, [[ABOVE, UNDECIDED], [ABOVE, UNDECIDED]])


# --- distances


@given(LEVELS, st.integers(1, 8), SEEDS)
def test_the_margin_is_the_distance_from_the_nearest_level(goal: Levels, n: int, seed: int) -> None:
    f = np.random.default_rng(seed).uniform(-12, 12, n)
    nearest = [min(abs(value - level) for level in goal.levels) for value in f]
    np.testing.assert_allclose(goal.margins(f), nearest)
    ((weight, distances),) = goal.critical(f)
    assert weight == 1.0
    np.testing.assert_allclose(distances, nearest)


@given(LEVELS, st.integers(1, 8), SEEDS)
def test_the_gap_is_the_distance_from_the_nearest_level_that_is_undecided(goal: Levels, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    f, half = rng.uniform(-12, 12, n), rng.exponential(3.0, n)
    labels = read(goal, f - half, f + half).labels
    for x, value in enumerate(f):
        still = [level for row, level in zip(rows(labels), goal.levels, strict=True) if row[x] == UNDECIDED]
        assert goal.gaps(f, labels)[x] == pytest.approx(min(abs(value - level) for level in still or goal.levels))


@given(st.integers(1, 6))
def test_the_directions_are_the_points_themselves(n: int) -> None:
    f = np.arange(float(n))
    for goal in (Band(0.0, 1.0), Levels([0.0, 1.0, 2.0]), *SIDES):
        assert (goal.share, goal.implicit) == (0.0, False)
        assert goal.by_points() is goal
        np.testing.assert_array_equal(goal.combine(f), f)
        assert goal.unread(n).undecided.all()
        assert (goal.unread(n).labels == UNDECIDED).all()
        assert rows(goal.unread(n).labels).shape == (len(goal.levels), n)
        undecided = np.arange(n) % 2 == 0
        np.testing.assert_array_equal(goal.needed(undecided, f), undecided)
        assert not goal.is_empty(np.full((len(goal.levels), n), BELOW, dtype=np.int8), -5.0, 0.0)


# --- sides


def test_labels_do_not_depend_on_the_side_and_what_is_wanted_does() -> None:
    lower, upper = np.array([-1.0, 0.5, 0.0]), np.array([0.0, 1.0, 1.0])
    above, below = (read(goal, lower, upper).labels for goal in SIDES)
    np.testing.assert_array_equal(above, [BELOW, ABOVE, UNDECIDED])
    np.testing.assert_array_equal(above, below)
    for goal in SIDES:
        np.testing.assert_array_equal(goal.signs(upper), [BELOW, ABOVE, ABOVE])
        assert goal.counts(above) == {"above": 1, "undecided": 1, "below": 1}
    np.testing.assert_array_equal(SIDES[0].wanted(above), [-1, 1, 0])
    np.testing.assert_array_equal(SIDES[1].wanted(above), [1, -1, 0])


def test_the_side_is_part_of_the_goal() -> None:
    assert Threshold(20.0, side="below") != Threshold(20.0)
    assert len({Threshold(20.0), Threshold(20.0, side="above"), Threshold(20.0, side="below")}) == 2
    assert repr(Threshold(20, side="below")) == "Threshold(value=20.0, side='below')"
    assert repr(Threshold(20, side="above")) == "Threshold(value=20.0)"
    assert Threshold(20.0, side="below").question == "below 20"


# --- what is wanted, and how many


@given(st.floats(-5, 5), st.floats(0.001, 5), st.integers(1, 8), SEEDS)
def test_the_points_of_a_band_are_above_the_lower_and_below_the_upper_level(
    low: float, width: float, n: int, seed: int
) -> None:
    goal, rng = Band(low, low + width), np.random.default_rng(seed)
    truth = rng.uniform(-6, 6, n)
    np.testing.assert_array_equal(goal.wanted(goal.signs(truth)) == 1, (truth > low) & (truth <= low + width))
    found = goal.wanted(read(goal, truth - rng.random(n), truth + rng.random(n)).labels)
    assert found.shape == (n,)
    assert ((truth > low) & (truth <= low + width))[found == 1].all()
    assert not ((truth > low) & (truth <= low + width))[found == -1].any()


def test_a_point_that_is_out_of_a_band_need_not_be_decided_at_both_levels() -> None:
    labels = np.array([[1, 1, 1, 0, 0, -1], [-1, 0, 1, 0, -1, -1]], dtype=np.int8)
    np.testing.assert_array_equal(Band(10.0, 20.0).wanted(labels), [1, 0, -1, 0, 0, -1])
    assert Band(10.0, 20.0).counts(labels) == {"above 20": 1, "between 10 and 20": 1, "undecided": 3, "below 10": 1}


@given(LEVELS, st.integers(1, 12), SEEDS)
def test_classes_count_the_levels_below_a_point(goal: Levels, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    f, half = rng.uniform(-12, 12, n), rng.exponential(2.0, n)
    exact = np.array([sum(value > level for level in goal.levels) for value in f])
    lowest, highest = classes(goal.signs(f))
    np.testing.assert_array_equal(lowest, exact)
    np.testing.assert_array_equal(highest, exact)
    labels = read(goal, f - half, f + half).labels
    lowest, highest = classes(labels)
    assert ((lowest <= exact) & (exact <= highest)).all()
    np.testing.assert_array_equal(lowest, [sum(value > level for level in goal.levels) for value in f - half])
    np.testing.assert_array_equal(lowest == highest, decided(labels))
    np.testing.assert_array_equal(goal.wanted(labels), np.where(decided(labels), 1, 0))


@given(LEVELS, st.integers(1, 12), SEEDS)
def test_every_point_is_counted_once(goal: Levels, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    f, half = rng.uniform(-12, 12, n), rng.exponential(2.0, n)
    labels = read(goal, f - half, f + half).labels
    counts, (lowest, _) = goal.counts(labels), classes(labels)
    assert len(goal.groups) == len(goal.levels) + 1
    assert list(counts) == [*goal.groups[:0:-1], "undecided", goal.groups[0]]
    assert sum(counts.values()) == n
    assert counts["undecided"] == np.count_nonzero(~decided(labels))
    for c, name in enumerate(goal.groups):
        assert counts[name] == np.count_nonzero(decided(labels) & (lowest == c))


def test_levels_that_six_digits_do_not_tell_apart_have_names_of_their_own() -> None:
    goal = Levels([1_000_001.25, 1_000_001.375, 1_000_003])
    between = "1000001.25 to 1000001.375"
    assert goal.groups == ("below 1000001.25", between, "1000001.375 to 1000003.0", "above 1000003.0")
    labels = goal.signs(np.array([1_000_001.5, 1_000_002.5]))
    assert sum(goal.counts(labels).values()) == 2
    assert Band(1_000_001, 1_000_002).question == "between 1000001 and 1000002"


def test_a_summary_is_the_counts_in_words() -> None:
    labels = np.array([[1] * 1200 + [0, -1, -1], [-1] * 1200 + [0, -1, -1]], dtype=np.int8)
    found = summary(Levels([5, 10]), labels)
    assert found == "0 above 10, 1,200 5 to 10, 1 undecided, 2 below 5"
    assert summary(Threshold(5.0, side="below"), labels[0]) == "1,200 above, 1 undecided, 2 below"


def test_one_level_is_a_threshold_in_other_words() -> None:
    goal = Levels([0.5])
    labels = read(goal, np.array([0.6, 0.0, -1.0]), np.array([0.7, 1.0, 0.0])).labels
    np.testing.assert_array_equal(labels, [ABOVE, UNDECIDED, BELOW])
    assert goal.counts(labels) == {"above 0.5": 1, "undecided": 1, "below 0.5": 1}
    np.testing.assert_array_equal(classes(labels)[0], [1, 0, 0])
    np.testing.assert_array_equal(classes(labels)[1], [1, 1, 0])


# --- bad input


@pytest.mark.parametrize("side", ["Above", "", None, 1, ["above"]])
def test_a_bad_side_is_named(side: Any) -> None:
    with pytest.raises(InputError) as caught:
        Threshold(20.0, side=side)
    assert str(caught.value) == f"Threshold.side is {side!r}: give 'above' or 'below'"


@pytest.mark.parametrize(
    ("low", "high", "sentence"),
    [
        (20.0, 10.0, "Band.high is 10.0: give a number > 20"),
        (10.0, 10.0, "Band.high is 10.0: give a number > 10"),
        (np.nan, 1.0, "Band.low is nan: give a finite number"),
        ("0", 1.0, "Band.low is '0': give a finite number"),
        (0.0, np.inf, "Band.high is inf: give a number > 0"),
        (0.0, None, "Band.high is None: give a number > 0"),
        (True, 2.0, "Band.low is True: give a finite number"),
    ],
)
def test_a_bad_band_is_named(low: Any, high: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        Band(low, high)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([], "Levels.values is empty: give at least one level"),
        ([1.0, 1.0], "Levels.values is [1.0, 1.0]: give levels in ascending order, each once"),
        ([5, 10, 7], "Levels.values is [5.0, 10.0, 7.0]: give levels in ascending order, each once"),
        ([0.0, -0.0], "Levels.values is [0.0, -0.0]: give levels in ascending order, each once"),
        ([1.0, np.nan], "Levels.values[1] is nan: give a finite number"),
        ([-np.inf, 1.0], "Levels.values[0] is -inf: give a finite number"),
        (["5", 10], "Levels.values[0] is '5': give a finite number"),
        ("5", "Levels.values[0] is '5': give a finite number"),
        (None, "Levels.values[0] is None: give a finite number"),
        (True, "Levels.values[0] is True: give a finite number"),
        ([[1.0, 2.0]], "Levels.values[0] is [1.0, 2.0]: give a finite number"),
    ],
)
def test_bad_levels_are_named(values: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        Levels(values)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("values", [(5, 10), np.array([5, 10]), range(5, 11, 5), iter([5.0, 10.0])])
def test_levels_become_plain_floats(values: Any) -> None:
    goal = Levels(values)
    assert repr(goal) == "Levels(values=(5.0, 10.0))"
    assert goal == Levels([5.0, 10.0])
    assert len({goal, Levels([5.0, 10.0]), Levels([5.0])}) == 2


@pytest.mark.parametrize("value", [5, 5.0, np.float32(5), np.int64(5)])
def test_a_number_is_one_level(value: Any) -> None:
    assert Levels(value) == Levels([5.0])
