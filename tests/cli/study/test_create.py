"""`superlevel study create`: what is asked and assumed, and what is refused before anything is stored."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.study.terminal import GIVEN, Terminal, write_points

KNOWN = ("--kernel", "RBF(1)", "--noise", 1)


def first_entry(path: Path, name: str = "harbour") -> dict[str, Any]:
    with closing(sqlite3.connect(path)) as connection:
        asked = "SELECT payload FROM entries JOIN studies ON study_id = id WHERE seq = 1 AND name = ?"
        (payload,) = connection.execute(asked, (name,)).fetchone()
    found: dict[str, Any] = json.loads(payload)
    return found


def test_it_says_what_was_created_and_what_to_type_next(terminal: Terminal) -> None:
    write_points(terminal.folder / "points.csv")
    shown = terminal.study("create", "the harbour", "--points", "points.csv", *GIVEN)
    assert "created study 'the harbour' in sqlite:///superlevel.db" in shown
    assert "which of 36 points are above 20" in shown
    assert "9.0 * RBF(0.7)" in shown
    assert "3 posterior deviations from the level" in shown
    assert "next: superlevel study suggest 'the harbour' --csv the-harbour-655b903d-sheet.csv" in shown


@pytest.mark.parametrize(
    ("options", "fitted", "mean"),
    [
        ((), ["kernel", "noise", "mean"], 0.0),
        (("--noise", "0.3"), ["kernel", "mean"], 0.0),
        (("--noise", "0.3", "--mean", "5"), ["kernel"], 5.0),
        (("--kernel", "RBF(1)"), ["noise"], 0.0),
        (("--kernel", "RBF(1)", "--noise", "0.3", "--mean", "AUTO"), ["mean"], 0.0),
        (("--kernel", "linear", "--noise", "0.3"), None, 0.0),
    ],
)
def test_what_is_auto_is_estimated_and_the_rest_is_as_given(
    terminal: Terminal, options: tuple[str, ...], fitted: list[str] | None, mean: float
) -> None:
    terminal.created("harbour", "--threshold", 20, *options)
    given = first_entry(terminal.folder / "superlevel.db")
    assert given.get("fit") == fitted
    assert given["problem"]["mean"] == mean
    assert given["problem"]["noise"] == (0.3 if "--noise" in options else None)


def test_a_fraction_of_the_maximum_is_found_by_milk_unless_another_method_is_given(terminal: Terminal) -> None:
    write_points(terminal.folder / "points.csv")
    common = ("--points", "points.csv", "--fraction-of-max", 0.1, "--kernel", "RBF(1)", "--noise", 1, "--json")
    assert json.loads(terminal.study("create", "one", *common))["method"] == "milk"
    assert json.loads(terminal.study("create", "three", "--method", "melk", *common))["method"] == "milk"
    status = json.loads(terminal.study("create", "two", "--method", "truvar", *common))
    assert status["method"] == "truvar"
    assert status["question"] == "within 10 % of the maximum"
    assert status["undecided"] == 36


def test_options_reach_the_log(terminal: Terminal) -> None:
    options = ("--threshold", 20, "--kernel", "linear", "--noise", 1, "--bound", 9, "--delta", 0.2, "--norm", 4)
    more = ("--confidence", "rips", "--misspecification", 0.1, "--tolerance", 0.5, "--ridge", 0.3, "--seed", 7)
    terminal.created("harbour", *options, *more, "--lease", 2)
    given = first_entry(terminal.folder / "superlevel.db")
    wanted = {"bound": 9, "delta": 0.2, "norm": 4, "misspecification": 0.1, "tolerance": 0.5, "ridge": 0.3}
    assert {key: given["problem"][key] for key in wanted} == wanted
    assert given["lease"] == 7200
    assert given["seed"] == 7
    assert given["confidence"]["name"] == "rips"
    terminal.created("other", *GIVEN, "--batch", 3, "--rule", "worst")
    assert first_entry(terminal.folder / "superlevel.db", "other")["rule"] == {"name": "worst"}
    assert len(terminal.data("study", "suggest", "other")["tickets"]) == 3


def test_some_columns_may_be_chosen(terminal: Terminal) -> None:
    (terminal.folder / "wide.csv").write_text("id,north,remark,east\n1,0,a,0\n2,1,b,0\n3,0,c,1\n")
    columns = ("--column", "east", "--column", "north")
    terminal.study("create", "harbour", "--points", "wide.csv", *columns, *GIVEN)
    given = first_entry(terminal.folder / "superlevel.db")
    assert given["names"] == ["east", "north"]
    assert given["points"] == [[0, 0], [0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "--threshold is missing: give one of --threshold, --fraction-of-max and --goal"),
        (("--threshold", 1, "--fraction-of-max", 0.1), "together with --fraction-of-max"),
        (("--threshold", "nan"), "--threshold is nan: give a finite number"),
        (("--fraction-of-max", 1.5), "--fraction-of-max is 1.5: give a number > 0 and < 1"),
        (("--threshold", 1, "--noise", "0,3"), "--noise is '0,3': write 0.3 with a decimal point"),
        (("--threshold", 1, "--noise", "-1"), "--noise is -1.0: give a number >= 0"),
        (("--threshold", 1, "--delta", 1), "--delta is 1.0: give a number > 0 and < 1"),
        (("--threshold", 1, "--tolerance", -1), "--tolerance is -1.0: give a number >= 0"),
        (("--threshold", 1, "--mean", "inf"), "--mean is inf: give a finite number"),
        (("--threshold", 1, "--kernel", "RFB(1)"), "did you mean RBF?"),
        (("--threshold", 1, "--lease", 0), "--lease is 0.0: give a number > 0"),
        (("--threshold", 1, "--batch", 0), "--batch is 0: give a whole number >= 1"),
        (("--threshold", 1, "--seed", -1), "--seed is -1"),
        (("--threshold", 1, "--method", "melkk"), "choose out of melk"),
        (("--threshold", 1, "--method", "milk"), "--method is 'milk': milk is not for this goal: take melk, lse,"),
        ((*GIVEN, "--confidence", "rkhs"), "--confidence is 'rkhs': melk has posterior and ridge and rips"),
        (("--threshold", 1, "--confidence", "rkhs"), "--kernel is auto: a guarantee needs kernel, noise and mean"),
        (("--threshold", 1, "--error-rate", 0.5), "--error-rate is 0.5"),
        (
            (*GIVEN, "--error-rate", 0.01, "--confidence", "ridge"),
            "--error-rate is 0.01: the ridge confidence has none",
        ),
        (  # a rate does not turn a guarantee into a belief
            (*GIVEN, "--norm", 3, "--error-rate", 0.01),
            "--error-rate is 0.01: the ridge confidence has none",
        ),
        (
            ("--threshold", 1, *KNOWN, "--objective", "win"),
            "--objective is 'win': melk on the posterior confidence has",
        ),
        (("--threshold", 1, *KNOWN, "--rule", "best"), "--rule is 'best': melk on the posterior confidence has label"),
        (("--threshold", 1, "--confidence", "rips"), "--kernel is auto: a guarantee needs"),
        (("--threshold", 1, "--column", "west"), "column 'west' is missing: choose out of 'east', 'north'"),
        (("--threshold", 1, "--store", "memory:"), "it is gone when the command ends"),
        (("--threshold", 1, "--store", "mysql://x/y"), "give a URL such as"),
    ],
)
def test_nonsense_is_one_sentence_and_nothing_is_made(
    terminal: Terminal, options: tuple[object, ...], sentence: str
) -> None:
    write_points(terminal.folder / "points.csv")
    ran = terminal("study", "create", "harbour", "--points", "points.csv", *options)
    assert ran.code == 2
    assert ran.err.strip().startswith("superlevel: ")
    assert sentence in ran.err
    assert ran.out == ""
    assert [path.name for path in terminal.folder.iterdir()] == ["points.csv"]


def test_rounds_take_no_batch(terminal: Terminal) -> None:
    write_points(terminal.folder / "points.csv")
    options = ("--kernel", "linear", "--noise", 1, "--bound", 9, "--confidence", "rips", "--batch", 5)
    ran = terminal("study", "create", "harbour", "--points", "points.csv", "--threshold", 1, *options)
    assert ran.code == 2
    assert "--batch is 5: rounds are as long as their guarantee needs" in ran.err


def test_a_coordinate_cannot_be_called_like_a_column_of_results(terminal: Terminal) -> None:
    (terminal.folder / "points.csv").write_text("east,Value\n0,0\n1,0\n")
    ran = terminal("study", "create", "harbour", "--points", "points.csv", "--column", "Value", *GIVEN)
    assert ran.code == 2
    assert "'Value'" in ran.err
    assert "results" in ran.err
    assert not (terminal.folder / "superlevel.db").exists()


def test_a_name_is_taken_once(terminal: Terminal) -> None:
    terminal.created()
    ran = terminal("study", "create", "harbour", "--points", "points.csv", *GIVEN)
    assert ran.code == 2
    assert "NAME is 'harbour', which is taken" in ran.err
    assert terminal.entries() == 1


def test_an_error_is_a_document_too_where_json_is_asked_for(terminal: Terminal) -> None:
    write_points(terminal.folder / "points.csv")
    found = terminal.data("study", "create", "harbour", "--points", "points.csv", code=2)
    assert found == {"error": "--threshold is missing: give one of --threshold, --fraction-of-max and --goal"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--points", "nowhere.csv", *GIVEN), "--points is 'nowhere.csv': give a file that can be read"),
        (("--points", "points.csv", *GIVEN, "--confidence", "rips"), "--bound is missing: the rips confidence needs B"),
        (
            ("--points", "points.csv", *GIVEN, "--method", "lse", "--confidence", "rkhs"),
            "--norm is missing: the rkhs confidence needs S",
        ),
    ],
)
def test_a_mistake_speaks_of_the_option_and_not_of_python(
    terminal: Terminal, arguments: tuple[object, ...], sentence: str
) -> None:
    write_points(terminal.folder / "points.csv")
    ran = terminal("study", "create", "harbour", *arguments)
    assert ran.code == 2
    assert sentence in ran.err
