"""Scales: what people see and what the kernel sees are the same places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel import Choice, InputError, Integers, Log, Range
from superlevel.coordinates import Coordinates
from superlevel.scales import Number, Scale, restore

SHARES = st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=20).map(np.array)
ENDS = st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)).map(lambda pair: (pair[0], pair[0] + pair[1]))
WHOLE = st.tuples(st.integers(-1000, 1000), st.integers(0, 1000)).map(lambda pair: (pair[0], pair[0] + pair[1]))
POSITIVE = st.tuples(st.floats(1e-9, 1e6), st.floats(1.01, 1e6)).map(lambda pair: (pair[0], pair[0] * pair[1]))
NAMES = st.lists(st.text("abcdef=1,;", min_size=1, max_size=4), min_size=1, max_size=5, unique=True)
SCALES: st.SearchStrategy[Any] = st.one_of(
    ENDS.map(lambda ends: Range(*ends)),
    WHOLE.map(lambda ends: Integers(*ends)),
    POSITIVE.map(lambda ends: Log(*ends)),
    NAMES.map(lambda names: Choice(*names)),
)


@given(SCALES, SHARES)
def test_the_inverse_takes_back_what_the_kernel_sees(scale: Scale, shares: Any) -> None:
    values = scale.sample(shares)
    seen = scale.forward(values)
    assert seen.shape == (len(values), len(scale.columns("x")))
    np.testing.assert_allclose(scale.inverse(seen), values, rtol=1e-12)
    assert scale.fault(values) is None


@given(SCALES, SHARES)
def test_values_are_of_the_scale_and_grow_with_their_shares(scale: Scale, shares: Any) -> None:
    values = scale.sample(np.sort(shares))
    assert (np.diff(values) >= 0).all()
    assert scale.size is None or set(values) <= set(scale.grid(scale.size))


@given(WHOLE, SHARES, st.integers(1, 50))
def test_integers_stay_integers(ends: tuple[int, int], shares: Any, count: int) -> None:
    scale = Integers(*ends)
    for values in (scale.sample(shares), scale.grid(count)):
        assert (values == np.rint(values)).all()
        assert ends[0] <= values.min() <= values.max() <= ends[1]
        assert all(type(scale.cell(value)) is int for value in values)


@given(SCALES, st.integers(2, 20))
def test_a_grid_begins_at_one_end_and_has_no_value_twice(scale: Scale, count: int) -> None:
    values = scale.grid(count)
    assert (np.diff(values) > 0).all()
    assert scale.fault(values) is None
    first, last = (scale.sample(np.array([share]))[0] for share in (0.0, 1.0))
    assert (values[0], values[-1]) == pytest.approx((first, last)) or len(values) == 1


@given(SCALES)
def test_a_scale_is_read_back_from_its_description(scale: Scale) -> None:
    assert restore(scale.describe()) == scale


@given(NAMES, st.data())
def test_a_choice_is_read_back_from_what_people_see(names: list[str], data: Any) -> None:
    scale, at = Choice(*names), data.draw(st.integers(0, len(names) - 1))
    assert scale.numeral(str(scale.cell(at))) == str(at)
    assert scale.numeral("none of them") == "unknown"


def test_two_choices_are_equally_far_apart() -> None:
    seen = Choice("a", "b", "c").forward(np.arange(3.0))
    np.testing.assert_array_equal(np.square(seen[:, None] - seen).sum(axis=-1), 2 * (1 - np.eye(3)))


@given(st.lists(SCALES, min_size=1, max_size=4), st.data())
def test_coordinates_together_do_what_each_does(scales: list[Scale], data: Any) -> None:
    coordinates = Coordinates(names=tuple(f"x{j}" for j in range(len(scales))), scales=tuple(scales))
    shares = np.array(data.draw(st.lists(st.tuples(*[st.floats(0, 0.999)] * len(scales)), min_size=1, max_size=5)))
    places = coordinates.sample(shares)
    points = coordinates.forward(places)
    assert points.shape[1] == len(coordinates.columns) == len(set(coordinates.columns))
    np.testing.assert_allclose(coordinates.inverse(points), places, rtol=1e-12)
    np.testing.assert_array_equal(places[:, 0], scales[0].sample(shares[:, 0]))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Range(80, 20), "high is 20: give a number > 80"),
        (lambda: Range(20, 20), "high is 20: give a number > 20"),
        (lambda: Range(float("nan"), 20), "low is nan"),
        (lambda: Log(0, 1), "low is 0: give a number > 0"),
        (lambda: Integers(1, 2.5), "high is 2.5: give a whole number"),  # type: ignore[arg-type]
        (lambda: Integers(3, 2), "high is 2: give a whole number >= 3"),
        (Choice, "give at least one name"),
        (lambda: Choice("a", "a"), "every name once"),
        (lambda: Choice("a", " "), "without blanks around it"),
        (lambda: Choice("a", 2), "give each choice a name"),  # type: ignore[arg-type]
        (lambda: Number().sample(np.zeros(2)), "give a box"),
        (lambda: restore({"kind": "cubic"}), "give one of number, range"),
    ],
)
def test_a_bad_scale_gets_a_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence.replace("(", r"\(").replace(".", r"\.")):
        make()
