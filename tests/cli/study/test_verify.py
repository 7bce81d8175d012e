"""`superlevel study verify`: exit code 0 for what is sound, and 1 for what is not."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from tests.cli.study.terminal import GIVEN, Terminal, depth, read, tampered, write


@pytest.fixture
def measured(terminal: Terminal) -> Terminal:
    terminal.measured(batches=2).study("export", "harbour", "--out", "labels.csv")
    return terminal


def checks(found: dict[str, Any]) -> dict[str, Any]:
    return {check["assumption"]: check["verdict"] for check in found["checks"]}


def test_what_is_sound_is_one_page_and_exit_code_0(measured: Terminal) -> None:
    shown = measured.study("verify", "harbour", "--labels", "labels.csv")
    for words in ("claim", "guarantee", "9.0 * RBF(0.7), given", "each as it was written", "36 labels, all as the log"):
        assert words in shown
    assert "Nothing in the log speaks against this." in shown
    found = measured.data("study", "verify", "harbour", "--labels", "labels.csv")
    assert found["ok"]
    assert checks(found)["labels in labels.csv"] == "holds"
    assert found["assumptions"]["noise"] == "0.3, given"


def test_one_label_that_somebody_changed_is_found(measured: Terminal) -> None:
    rows = read(measured.folder / "labels.csv")
    rows[7]["label"] = "below" if rows[7]["label"] == "above" else "above"
    write(measured.folder / "labels.csv", rows)
    ran = measured("study", "verify", "harbour", "--labels", "labels.csv")
    assert ran.code == 1
    assert "1 of 36 differ: points 7" in ran.out
    assert "CONTRADICTED" in ran.out
    assert checks(measured.data("study", "verify", "harbour", "--labels", "labels.csv", code=1)) == {
        **checks(measured.data("study", "verify", "harbour")),
        "labels in labels.csv": "CONTRADICTED",
    }


def test_labels_may_come_in_any_order_and_be_only_some(measured: Terminal) -> None:
    rows = read(measured.folder / "labels.csv")
    write(
        measured.folder / "some.csv", [{key: row[key] for key in ("label", "north", "east")} for row in rows[20:3:-1]]
    )
    assert "17 of 36 points" in measured.study("verify", "harbour", "--labels", "some.csv")
    rows[5]["label"] = "below" if rows[5]["label"] == "above" else "above"
    write(measured.folder / "some.csv", rows[20:3:-1])
    ran = measured("study", "verify", "harbour", "--labels", "some.csv")
    assert ran.code == 1
    assert "points 5" in ran.out


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("east,north\n0,0\n", "column 'label' is missing"),
        ("east,label\n0,above\n", "column 'north' is missing"),
        ("east,north,label\n0,0,high\n", "line 2, column 'label' is 'high': give above, undecided, below"),
        ("east,north,label\n0,0.1,above\n", "line 2 is at no point of the study"),
        ("east,north,label\n0,0,above\n0,0,above\n", "line 3 is at a point that an earlier line has"),
        ("", "line 1 is empty"),
    ],
)
def test_labels_that_cannot_be_read_are_a_sentence(measured: Terminal, content: str, sentence: str) -> None:
    (measured.folder / "bad.csv").write_text(content)
    ran = measured("study", "verify", "harbour", "--labels", "bad.csv")
    assert ran.code == 2
    assert sentence in ran.err


def test_a_value_that_was_changed_in_the_store_is_found(measured: Terminal) -> None:
    def change(payload: str) -> str:
        at = payload.index('"values":[') + len('"values":[')
        return payload[:at] + "9" + payload[at:]

    tampered(measured.folder / "superlevel.db", "told", change)
    ran = measured("study", "verify", "harbour")
    assert ran.code == 1
    assert "entry 3 is not as it was written" in ran.out
    found = measured.data("study", "verify", "harbour", "--labels", "labels.csv", code=1)
    assert not found["ok"]
    assert checks(found) == {"log": "CONTRADICTED"}


def test_labels_that_were_changed_in_the_store_are_found(measured: Terminal) -> None:
    tampered(measured.folder / "superlevel.db", "asked", lambda payload: payload.replace("??", "++", 1))
    assert measured("study", "verify", "harbour").code == 1


def test_a_note_that_was_changed_is_found(measured: Terminal) -> None:
    with closing(sqlite3.connect(measured.folder / "superlevel.db")) as connection, connection:
        (noted,) = connection.execute("SELECT noted FROM studies").fetchone()
        connection.execute("UPDATE studies SET noted = ?", (noted.replace("?", "-", 1),))
    ran = measured("study", "verify", "harbour")
    assert ran.code == 1
    assert "cached labels" in ran.out


@pytest.mark.parametrize(("noise", "code"), [(0.3, 0), (0.03, 1)])
def test_a_noise_ten_times_too_small_is_contradicted(terminal: Terminal, noise: float, code: int) -> None:
    terminal.created("harbour", "--threshold", 20, "--noise", noise, *GIVEN[4:])
    terminal.batch()
    rows = read(terminal.folder / "sheet.csv")
    places = [(float(row["east"]), float(row["north"])) for row in rows]
    errors = (0.3, -0.3, 0.2, -0.4, 0.1, -0.2, 0.3, -0.3, 0.4, -0.1)
    again = [
        {"east": str(east), "north": str(north), "value": str(depth(east, north) + error)}
        for (east, north), error in zip(places, errors, strict=True)
    ]
    write(terminal.folder / "again.csv", again)
    terminal.study("tell", "harbour", "again.csv")
    found = terminal.data("study", "verify", "harbour", code=code)
    assert found["ok"] == (code == 0)
    assert checks(found)["noise"] == ("holds" if code == 0 else "CONTRADICTED")
