"""`superlevel study tell`: what is taken, what is refused, and that nothing is stored of what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from superlevel.cli.study import common
from superlevel.errors import SuperlevelError
from tests.cli.study.terminal import GIVEN, SIDE, Terminal, fill, read, write

HEADER = "ticket,east,north,value,noise,status,reason\n"


@pytest.fixture
def asked(terminal: Terminal) -> Terminal:
    """A study with ten open tickets, and a sheet for them."""
    terminal.measured(0)
    terminal.study("suggest", "harbour", "--csv", "sheet.csv")
    return terminal


def sheet(terminal: Terminal, **changes: str) -> list[dict[str, str]]:
    """The sheet filled in, with other things in its first line."""
    fill(terminal.folder / "sheet.csv")
    rows = read(terminal.folder / "sheet.csv")
    rows[0] |= changes
    write(terminal.folder / "sheet.csv", rows)
    return rows


@pytest.mark.parametrize(
    ("changes", "column", "remedy"),
    [
        ({"value": "NaN"}, "value", "leave it empty if it is not measured yet"),
        ({"value": "inf"}, "value", "give a finite number"),
        ({"value": "3,5"}, "value", "write 3.5 with a decimal point"),
        ({"value": "deep"}, "value", "give a finite number"),
        ({"noise": "-1"}, "noise", "give a standard deviation >= 0"),
        ({"status": "lost"}, "status", "write measured, failed or nothing"),
        ({"east": "0.1234"}, "", "give a point of the domain"),
        ({"east": "2.0", "north": "2.0"}, "", "check which row belongs to which ticket"),
        ({"ticket": "77"}, "ticket", "there are tickets 1 to 10"),
        ({"ticket": "2"}, "", "check which row belongs to which ticket"),
        ({"ticket": "2", "east": "", "north": ""}, "value", "keep the one, or `correct` the other"),
    ],
)
def test_one_bad_cell_and_nothing_is_stored(asked: Terminal, changes: dict[str, str], column: str, remedy: str) -> None:
    sheet(asked, **changes)
    before = asked.entries()
    ran = asked("study", "tell", "harbour", "sheet.csv")
    assert ran.code == 2
    assert ran.out == ""
    assert remedy in ran.err
    assert "nothing was stored: 1 mistake" in ran.err
    assert asked.entries() == before
    found = asked.data("study", "tell", "harbour", "sheet.csv", code=2)
    assert found["stored"] == 0
    assert [mistake["column"] for mistake in found["mistakes"]] == [column]
    assert found["mistakes"][0]["line"] in (2, 3)  # of two lines with the same ticket, the second
    assert asked.entries() == before


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "give a header and further lines"),
        (b"\n\n", "give a header and further lines"),
        (HEADER.encode(), "add a line for each result"),
        (b"ticket,east,north\n1,0,0\n", "give the column of what was measured that name"),
        (b"east,value\n0,3.5\n", "add that coordinate, or a column ticket"),
        ("ticket,value,reason\n1,3.5,caf\xe9\n".encode("latin-1"), "save the file as CSV in UTF-8"),
        ("ticket,value\n1,3.5\n".encode("utf-16-le"), "save the file as CSV in UTF-8"),
        (b"ticket;value\n1;3,5;\n", "give 2 cells, as in the header"),
        (b'ticket,value\n1,"3.5\n', "check its quotes"),
        (b"ticket,value\n1,3.5,4.5\n", "give 2 cells, as in the header"),
    ],
)
def test_a_file_that_is_no_sheet_is_refused(asked: Terminal, content: bytes, sentence: str) -> None:
    (asked.folder / "bad.csv").write_bytes(content)
    before = asked.entries()
    ran = asked("study", "tell", "harbour", "bad.csv")
    assert ran.code == 2
    assert sentence in " ".join(ran.err.split())
    assert asked.entries() == before
    assert asked.data("study", "tell", "harbour", "bad.csv", code=2)["mistakes"]


def test_a_value_that_contradicts_the_log_is_refused_with_both(asked: Terminal) -> None:
    rows = sheet(asked)
    asked.study("tell", "harbour", "sheet.csv")
    before = asked.entries()
    sheet(asked, value="1.25")
    ran = asked("study", "tell", "harbour", "sheet.csv")
    assert ran.code == 2
    assert "1.25, but ticket 1 has" in " ".join(ran.err.split())
    assert rows[0]["value"] in ran.err
    assert asked.entries() == before


def test_the_same_sheet_again_changes_nothing(asked: Terminal) -> None:
    sheet(asked)
    first = asked.study("tell", "harbour", "sheet.csv")
    assert "10 results stored (entry 3 of the log)" in first
    before = asked.entries()
    again = asked.study("tell", "harbour", "sheet.csv")
    assert "0 results stored, 10 there already (nothing is new)" in again
    assert "0 newly decided" in again
    assert asked.entries() == before


def test_a_line_twice_is_one_result(asked: Terminal) -> None:
    rows = sheet(asked)
    write(asked.folder / "sheet.csv", [*rows, rows[0]])
    found = asked.data("study", "tell", "harbour", "sheet.csv")
    assert (found["stored"], found["repeated"]) == (10, 1)


def test_without_a_ticket_a_known_value_is_the_same_unless_it_is_a_replicate(asked: Terminal) -> None:
    rows = sheet(asked)
    asked.study("tell", "harbour", "sheet.csv")
    plain = [{key: row[key] for key in ("east", "north", "value")} for row in rows]
    write(asked.folder / "plain.csv", plain)
    assert asked.data("study", "tell", "harbour", "plain.csv")["repeated"] == 10
    found = asked.data("study", "tell", "harbour", "plain.csv", "--replicates")
    assert (found["stored"], found["unplanned"], found["repeated"]) == (10, 10, 0)
    assert asked.data("study", "status", "harbour")["measurements"] == 20


def test_a_hundred_thousand_rows_are_taken_once_or_refused_for_one_of_them(asked: Terminal) -> None:
    """Open tickets get the first value of their place, and one wrong cell at the end keeps all of them out."""
    rng = np.random.default_rng(0)
    places = rng.choice(SIDE, size=(100_000, 2)).tolist()
    values = rng.normal(20.0, 0.3, 100_000).tolist()
    lines = [f"{east!r},{north!r},{value!r}" for (east, north), value in zip(places, values, strict=True)]
    large = asked.folder / "large.csv"
    large.write_text("\n".join(["east,north,value", *lines[:-1], "0.0,0.0,nan"]))
    before = asked.entries()
    ran = asked("study", "tell", "harbour", "large.csv")
    assert (ran.code, asked.entries()) == (2, before)
    assert "100001" in ran.err
    large.write_text("\n".join(["east,north,value", *lines]))
    found = asked.data("study", "tell", "harbour", "large.csv")
    assert (found["stored"], found["unplanned"], found["repeated"]) == (100_000, 99_990, 0)
    assert asked.data("study", "tell", "harbour", "large.csv")["repeated"] == 100_000
    assert asked.data("study", "status", "harbour")["measurements"] == 100_000


def test_lines_without_a_value_stay_open_and_strange_columns_are_named(asked: Terminal) -> None:
    rows = sheet(asked)
    for row in rows[4:]:
        row["value"] = ""
    rows[1] |= {"value": "", "status": "failed", "reason": "ice, two metres thick"}
    write(asked.folder / "sheet.csv", [row | {"crew": "Ada"} for row in rows])
    shown = asked.study("tell", "harbour", "sheet.csv")
    assert "4 results stored, 1 could not be measured" in shown
    assert "6 lines without a value: left open" in shown
    assert "columns that mean nothing here: 'crew'" in shown
    status = asked.data("study", "status", "harbour")
    assert (status["measurements"], status["failed"], status["open"]) == (3, 1, 6)
    again = asked.data("study", "suggest", "harbour")["tickets"]
    assert [ticket["ticket"] for ticket in again] == [5, 6, 7, 8, 9, 10]


def test_a_sheet_of_blanks_stores_nothing_and_is_no_mistake(asked: Terminal) -> None:
    before = asked.entries()
    shown = asked.study("tell", "harbour", "sheet.csv")
    assert "0 results stored" in shown
    assert "10 lines without a value: left open" in shown
    assert asked.entries() == before


def test_a_dry_run_stores_nothing(asked: Terminal) -> None:
    sheet(asked)
    before = asked.entries()
    shown = asked.study("tell", "harbour", "sheet.csv", "--dry-run")
    assert "dry run, nothing was stored; without --dry-run: 10 results stored" in shown
    found = asked.data("study", "tell", "harbour", "sheet.csv", "--dry-run")
    assert (found["dry_run"], found["stored"], found["entry"]) == (True, 10, None)
    assert asked.entries() == before


def test_results_may_be_piped_in(asked: Terminal) -> None:
    sheet(asked)
    content = (asked.folder / "sheet.csv").read_bytes()
    assert "10 results stored" in asked.study("tell", "harbour", "-", given=content)
    ran = asked("study", "tell", "harbour", "-", given=b"")
    assert ran.code == 2
    assert "give a header" in ran.err


def test_a_byte_order_mark_and_windows_line_ends_are_taken(asked: Terminal) -> None:
    sheet(asked)
    text = (asked.folder / "sheet.csv").read_text()
    (asked.folder / "windows.csv").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert "10 results stored" in asked.study("tell", "harbour", "windows.csv")


def test_results_of_somebody_else_s_tickets_are_late_and_taken(asked: Terminal) -> None:
    sheet(asked)
    assert "10 late" in asked.study("tell", "harbour", "sheet.csv", "--worker", "somebody else")
    assert asked.data("study", "status", "harbour")["late"] == 10


def test_many_mistakes_are_shown_in_part_and_listed_in_full(asked: Terminal) -> None:
    lines = "".join(f"{number},x,,,\n" for number in range(1, 31))
    (asked.folder / "bad.csv").write_text("ticket,value,noise,status,reason\n" + lines)
    ran = asked("study", "tell", "harbour", "bad.csv")
    assert "and 10 more" in ran.err
    assert "nothing was stored: 30 mistakes" in ran.err
    found = asked.data("study", "tell", "harbour", "bad.csv", code=2)
    assert [mistake["line"] for mistake in found["mistakes"]] == list(range(2, 32))


def test_newly_decided_are_those_that_were_undecided(asked: Terminal) -> None:
    sheet(asked)
    before = asked.data("study", "status", "harbour")
    found = asked.data("study", "tell", "harbour", "sheet.csv")
    after = asked.data("study", "status", "harbour")
    assert found["newly"] - found["revised"] <= before["undecided"] - after["undecided"]
    assert found["newly"] > 0
    assert found["groups"] == {key: after[key] for key in ("above", "undecided", "below")} == after["groups"]


def test_stored_results_are_acknowledged_before_anything_is_computed(
    asked: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet(asked)
    seen: list[str] = []

    def stopped(*_: object) -> common.Decided:
        seen.extend(asked.shown())
        raise KeyboardInterrupt

    monkeypatch.setattr(common, "decide", stopped)
    ran = asked("study", "tell", "harbour", "sheet.csv")
    assert "10 results stored (entry 3 of the log)" in seen[0]
    assert ran.code == 130
    assert "the results are stored, and `superlevel study status harbour --fresh` computes" in ran.err
    assert asked.entries() == 3


def test_results_are_stored_even_if_what_they_decide_cannot_be_computed(
    asked: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet(asked)

    def failing(*_: object) -> common.Decided:
        raise SuperlevelError("no")

    monkeypatch.setattr(common, "decide", failing)
    ran = asked("study", "tell", "harbour", "sheet.csv")
    assert ran.code == 2
    assert "10 results stored" in ran.out
    assert "the results are stored, but what they decide cannot be computed" in ran.err
    assert asked.data("study", "status", "harbour")["measurements"] == 10


def test_a_file_that_is_not_there_is_a_sentence(asked: Terminal) -> None:
    ran = asked("study", "tell", "harbour", "nothing.csv")
    assert ran.code == 2
    assert "FILE is 'nothing.csv': give a file that can be read (No such file or directory)" in ran.err
    assert json.loads(asked("study", "tell", "harbour", "nothing.csv", "--json").out)["error"].startswith("FILE is")


def test_a_sheet_of_another_study_is_refused_even_if_every_ticket_fits(asked: Terminal) -> None:
    asked.study("create", "quay", "--points", "points.csv", *GIVEN)
    asked.study("suggest", "quay", "--csv", "quay.csv")
    fill(asked.folder / "quay.csv")
    assert {row["study"] for row in read(asked.folder / "quay.csv")} == {"quay"}
    before = asked.entries()
    ran = asked("study", "tell", "harbour", "quay.csv")
    assert (ran.code, asked.entries()) == (2, before)
    assert "it is of another study" in ran.err
    assert asked.data("study", "tell", "quay", "quay.csv")["stored"] == 10
