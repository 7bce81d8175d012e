"""Goals in words, from `create --goal` to labels that are exported and verified."""

from __future__ import annotations

from pathlib import Path

import pytest

from superlevel.goals import KINDS
from tests.cli.study.terminal import GIVEN, Terminal, depth, fill, read, write, write_points
from tests.cli.study.test_create import first_entry

NOISE = 0.1
ASSUMED = ("--noise", NOISE, *GIVEN[4:])  # all but the threshold; the depth is between 17.7 and 23.7
GOALS: dict[str, dict[str, tuple[float, float]]] = {
    "between 19 and 22": {"above 22": (22, 99), "between 19 and 22": (19, 22), "below 19": (0, 19)},
    "levels 18.5, 20, 22": {
        "above 22": (22, 99),
        "20 to 22": (20, 22),
        "18.5 to 20": (18.5, 20),
        "below 18.5": (0, 18.5),
    },
    "below 20": {"above": (20, 99), "below": (0, 20)},
    "above 20": {"above": (20, 99), "below": (0, 20)},
}
"""The classes of each goal, the highest first, and the depths that they have."""
ASKED = {
    "between 19 and 22": "which of 36 points are between 19 and 22",
    "levels 18.5, 20, 22": "which class each of 36 points is in: levels 18.5, 20, 22",
    "below 20": "which of 36 points are below 20",
    "above 20": "which of 36 points are above 20",
}


def counted(rows: list[dict[str, str]], words: list[str]) -> dict[str, int]:
    return {word: sum(row["label"] == word for row in rows) for word in words}


@pytest.mark.parametrize("goal", GOALS)
def test_a_campaign_from_a_goal_in_words_to_labels_that_verify(terminal: Terminal, tmp_path: Path, goal: str) -> None:
    classes = GOALS[goal]
    *higher, lowest = classes
    words = [*higher, "undecided", lowest]
    write_points(tmp_path / "points.csv")
    created = terminal.study("create", "harbour", "--points", "points.csv", "--goal", goal, *ASSUMED)
    assert ASKED[goal] in created
    assert terminal.data("study", "status", "harbour")["groups"] == dict.fromkeys(words, 0) | {"undecided": 36}

    undecided = 36
    for _ in range(3):
        suggested = terminal.data("study", "suggest", "harbour")["tickets"]
        assert 1 <= len(suggested) <= 10
        terminal.study("suggest", "harbour", "--csv", "sheet.csv")
        fill(tmp_path / "sheet.csv", NOISE)
        told = terminal.data("study", "tell", "harbour", "sheet.csv")
        assert sum(told["groups"].values()) == 36
        lost = told["newly"] - (undecided - told["groups"]["undecided"])  # points that were decided before
        assert 0 <= lost <= told["withdrawn"]  # which also counts points that lost one of several labels
        undecided = told["groups"]["undecided"]
    assert undecided < 18

    status = terminal.data("study", "status", "harbour")
    assert list(status["groups"]) == words
    assert (status["above"], status["below"]) == (status["groups"][words[0]], status["groups"][lowest])
    shown = terminal.study("status", "harbour")
    assert ASKED[goal] in shown
    assert ", ".join(f"{count} {word}" for word, count in status["groups"].items()) in shown
    assert terminal.data("study", "list")["studies"][0]["question"] == goal

    assert "wrote 36 lines of labels" in terminal.study("export", "harbour", "--out", "labels.csv")
    rows = read(tmp_path / "labels.csv")
    assert counted(rows, words) == status["groups"]
    for row in rows:
        if row["label"] != "undecided":  # all right: 3 deviations
            low, high = classes[row["label"]]
            assert low < depth(float(row["east"]), float(row["north"])) < high

    verified = terminal.data("study", "verify", "harbour", "--labels", "labels.csv")
    assert verified["ok"]
    assert verified["claim"].startswith(f"{goal}: ")
    assert verified["checks"][-1]["sentence"] == "36 labels, all as the log has them"
    write(tmp_path / "some.csv", [row for row in rows if row["label"] == words[0]])
    assert terminal.data("study", "verify", "harbour", "--labels", "some.csv")["ok"]


@pytest.mark.parametrize("goal", GOALS)
def test_a_label_that_the_log_does_not_have_is_found(terminal: Terminal, tmp_path: Path, goal: str) -> None:
    write_points(tmp_path / "points.csv")
    terminal.study("create", "harbour", "--points", "points.csv", "--goal", goal, *ASSUMED)
    terminal.study("suggest", "harbour", "--csv", "sheet.csv")
    fill(tmp_path / "sheet.csv", NOISE)
    terminal.study("tell", "harbour", "sheet.csv")
    terminal.study("export", "harbour", "--out", "labels.csv")
    rows = read(tmp_path / "labels.csv")
    wrong = next(at for at, row in enumerate(rows) if row["label"] != "undecided")
    rows[wrong]["label"] = next(word for word in GOALS[goal] if word != rows[wrong]["label"])
    write(tmp_path / "wrong.csv", rows)
    verified = terminal.data("study", "verify", "harbour", "--labels", "wrong.csv", code=1)
    assert verified["checks"][-1]["verdict"] == "CONTRADICTED"
    assert verified["checks"][-1]["sentence"] == f"1 of 36 differ: points {wrong}"

    rows[wrong]["label"] = "in the middle"
    write(tmp_path / "wrong.csv", rows)
    ran = terminal("study", "verify", "harbour", "--labels", "wrong.csv")
    assert ran.code == 2
    *higher, lowest = GOALS[goal]
    known = ", ".join([*higher, "undecided", lowest])
    assert f"wrong.csv, line {wrong + 2}, column 'label' is 'in the middle': give {known}" in ran.err


def test_map_page_and_stopping_have_the_classes(terminal: Terminal, tmp_path: Path) -> None:
    goal = "levels 18.5, 20, 22"
    write_points(tmp_path / "points.csv")
    terminal.study("create", "harbour", "--points", "points.csv", "--goal", goal, *ASSUMED)
    for _ in range(2):
        terminal.study("suggest", "harbour", "--csv", "sheet.csv")
        fill(tmp_path / "sheet.csv", NOISE)
        terminal.study("tell", "harbour", "sheet.csv")
    terminal.study("plot", "harbour", "--out", "harbour.svg")
    terminal.study("report", "harbour")
    picture, page = (tmp_path / "harbour.svg").read_text(), (tmp_path / "harbour.html").read_text()
    assert picture.count("<svg") == 1
    assert goal in page
    for word in (*GOALS[goal], "undecided"):
        assert word in page
    terminal.study("export", "harbour", "--what", "stopping", "--out", "stopping.csv")
    terminal.study("export", "harbour", "--out", "labels.csv")
    stopping, labels = read(tmp_path / "stopping.csv"), read(tmp_path / "labels.csv")
    assert [row["label"] for row in stopping] == [row["label"] for row in labels]
    assert all((row["decided"] == "") == (row["label"] == "undecided") for row in stopping)


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("between 10 and 20", {"kind": "band", "low": 10.0, "high": 20.0}),
        ("levels 5, 10, 20", {"kind": "levels", "values": [5.0, 10.0, 20.0]}),
        ("below 20", {"kind": "threshold", "value": 20.0, "side": "below"}),
        ("above -1.5e1", {"kind": "threshold", "value": -15.0, "side": "above"}),
        ("within 10 % of the maximum", {"kind": "fraction of max", "epsilon": 0.1}),
    ],
)
def test_the_log_holds_the_goal_as_data(terminal: Terminal, text: str, stored: dict[str, object]) -> None:
    terminal.created("harbour", "--goal", text, *ASSUMED)
    assert first_entry(terminal.folder / "superlevel.db")["goal"] == stored


@pytest.mark.parametrize("text", ["", "20", "over 20", "between 20", "levels", "levels 5; 10", "within 10 of the best"])
def test_a_goal_that_is_none_is_one_sentence_with_the_forms(terminal: Terminal, text: str) -> None:
    write_points(terminal.folder / "points.csv")
    ran = terminal("study", "create", "harbour", "--points", "points.csv", "--goal", text, *ASSUMED)
    assert ran.code == 2
    assert len(ran.err.strip().splitlines()) == 1
    assert ran.err.startswith(f"superlevel: --goal is {text!r}: ")
    for kind in KINDS.values():
        assert f'"{kind.form}"' in ran.err
    assert not (terminal.folder / "superlevel.db").exists()


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("between 20 and 10", "give a number > 20"),
        ("levels 3, 2", "give levels in ascending order, each once"),
        ("within 0 % of the maximum", "give a number > 0"),
    ],
)
def test_numbers_that_make_no_goal_are_one_sentence(terminal: Terminal, text: str, remedy: str) -> None:
    write_points(terminal.folder / "points.csv")
    ran = terminal("study", "create", "harbour", "--points", "points.csv", "--goal", text, *ASSUMED)
    assert ran.code == 2
    assert ran.err.startswith(f"superlevel: --goal is {text!r}: {remedy}")
    assert not (terminal.folder / "superlevel.db").exists()


def test_the_help_lists_the_forms(terminal: Terminal) -> None:
    shown = " ".join(terminal("study", "create", "--help").out.replace("│", " ").split())
    for kind in KINDS.values():
        assert f'"{kind.form}"' in shown


def test_a_goal_is_given_once(terminal: Terminal) -> None:
    write_points(terminal.folder / "points.csv")
    options = ("--threshold", 20, "--goal", "above 20")
    ran = terminal("study", "create", "harbour", "--points", "points.csv", *options)
    assert ran.code == 2
    assert "--threshold is there together with --goal: give one of" in ran.err


def test_a_method_that_takes_one_level_says_so(terminal: Terminal) -> None:
    write_points(terminal.folder / "points.csv")
    options = ("--goal", "between 19 and 22", "--method", "rmile", *ASSUMED)
    ran = terminal("study", "create", "harbour", "--points", "points.csv", *options)
    assert ran.code == 2
    assert "--method is 'rmile': rmile is not for this goal: take melk, lse, truvar" in ran.err
