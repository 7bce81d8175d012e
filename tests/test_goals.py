from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel.errors import InputError
from superlevel.goals import FractionOfMax, Goal, Threshold


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
