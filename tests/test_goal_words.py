"""Goals as data and as phrases, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel.errors import InputError
from superlevel.goals import KINDS, Band, FractionByPoints, FractionOfMax, Goal, Levels, Threshold, parse, restore

FINITE = st.floats(allow_nan=False, allow_infinity=False)
PAIRS = st.tuples(FINITE, FINITE).filter(lambda pair: pair[0] < pair[1])
SETS = st.lists(FINITE, min_size=1, max_size=6, unique=True).map(sorted)
FRACTIONS = st.floats(0.0, 1.0, exclude_min=True, exclude_max=True)
GOALS: st.SearchStrategy[Goal] = st.one_of(
    st.builds(Threshold, FINITE, side=st.sampled_from(["above", "below"])),
    st.builds(lambda pair: Band(*pair), PAIRS),
    st.builds(Levels, SETS),
    st.builds(FractionOfMax, FRACTIONS),
)
# Numbers that six digits hold.
SHORT = st.integers(-99_999, 99_999).map(lambda whole: whole / 100)
PHRASED: st.SearchStrategy[Goal] = st.one_of(
    st.builds(Threshold, SHORT, side=st.sampled_from(["above", "below"])),
    st.builds(lambda low, more: Band(low, low + more), st.integers(-999, 999), st.integers(1, 999)),
    st.builds(Levels, st.lists(SHORT, min_size=1, max_size=6, unique=True).map(sorted)),
    st.builds(lambda percent: FractionOfMax(percent / 100), st.integers(1, 99)),
)


@given(GOALS)
def test_a_goal_comes_back_from_its_description(goal: Goal) -> None:
    assert restore(goal.describe()) == goal


@given(GOALS)
def test_json_holds_a_description_to_the_last_digit(goal: Goal) -> None:
    text = json.dumps(goal.describe(), allow_nan=False)
    assert restore(json.loads(text)) == goal
    assert repr(restore(json.loads(text))) == repr(goal)


@pytest.mark.parametrize(
    ("goal", "described"),
    [
        (Threshold(20.0), {"kind": "threshold", "value": 20.0, "side": "above"}),
        (Threshold(20.0, side="below"), {"kind": "threshold", "value": 20.0, "side": "below"}),
        (Band(10.0, 20.0), {"kind": "band", "low": 10.0, "high": 20.0}),
        (Levels([5, 10]), {"kind": "levels", "values": [5.0, 10.0]}),
        (FractionOfMax(0.1), {"kind": "fraction of max", "epsilon": 0.1}),
    ],
)
def test_descriptions_keep_their_form_because_logs_hold_them(goal: Goal, described: dict[str, Any]) -> None:
    assert goal.describe() == described


def test_a_threshold_of_a_log_that_names_no_side_is_above() -> None:
    assert restore({"kind": "threshold", "value": 20.0}) == Threshold(20.0)


@pytest.mark.parametrize("described", [{}, {"value": 20.0}, {"kind": "quantile", "value": 0.5}, {"kind": None}])
def test_a_kind_that_is_not_known_is_named(described: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        restore(described)
    kind = described.get("kind")
    assert str(caught.value) == f"goal is {kind!r}: this version knows band, fraction of max, levels, threshold"


def test_a_description_with_a_bad_number_is_refused_as_the_goal_itself_is() -> None:
    with pytest.raises(InputError, match=r"^Band\.high is 5\.0: give a number > 10$"):
        restore({"kind": "band", "low": 10.0, "high": 5.0})


def test_a_goal_for_reading_only_is_never_stored() -> None:
    assert FractionByPoints.kind == ""
    assert FractionByPoints not in KINDS.values()


# --- phrases


@given(PHRASED)
def test_a_question_is_a_phrase_for_its_goal(goal: Goal) -> None:
    assert parse(goal.question) == goal


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_form_of_every_kind_is_a_phrase_for_it(kind: type[Goal]) -> None:
    goal = parse(kind.form)
    assert type(goal) is kind
    assert goal.question == kind.form


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("  above   20 ", Threshold(20.0)),
        ("below -1.5e-3", Threshold(-0.0015, side="below")),
        ("above .5", Threshold(0.5)),
        ("above 5.", Threshold(5.0)),
        ("above +7", Threshold(7.0)),
        ("between -2 and 1e3", Band(-2.0, 1000.0)),
        ("levels 5,10 , 20", Levels([5, 10, 20])),
        ("levels 7", Levels([7])),
        ("within 10% of the max", FractionOfMax(0.1)),
        ("within 2.5 % of the maximum", FractionOfMax(0.025)),
    ],
)
def test_phrases_may_be_written_in_several_ways(text: str, goal: Goal) -> None:
    assert parse(text) == goal


@pytest.mark.parametrize(
    "text",
    ["", "20", "above", "above twenty", "above 1.2.3", "above .", "above 1e", "between 1 2", "levels", "levels 5 10"],
)
def test_a_phrase_for_no_goal_is_named_with_those_there_are(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    forms = '"above 20", "between 10 and 20", "levels 5, 10, 20", "within 10 % of the maximum"'
    assert str(caught.value) == f"goal is {text!r}: write one of {forms}"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("between 20 and 10", "Band.high is 10.0: give a number > 20"),
        ("levels 5, 5", "Levels.values is [5.0, 5.0]: give levels in ascending order, each once"),
        ("above 1e999", "Threshold.value is inf: give a finite number"),
        ("within 100 % of the maximum", "percentage is 100.0: give a number > 0 and < 100"),
    ],
)
def test_a_bad_number_in_a_phrase_is_named(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert str(caught.value) == sentence
