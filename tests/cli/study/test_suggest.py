"""`superlevel study suggest`: tickets, reasons, and sheets that nobody's work is lost with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.study.terminal import GIVEN, Terminal, fill, read


def test_every_ticket_has_its_place_and_the_undecided_points_it_serves(terminal: Terminal) -> None:
    terminal.measured()
    found = terminal.data("study", "suggest", "harbour")
    assert found["stop"] is None
    assert [ticket["ticket"] for ticket in found["tickets"]] == list(range(11, 21))
    undecided = terminal.data("study", "status", "harbour")["undecided"]
    assert 0 < undecided < 36
    terminal.study("export", "harbour", "--out", "labels.csv")
    labels = [row["label"] for row in read(terminal.folder / "labels.csv")]
    served = {why["point"] for ticket in found["tickets"] for why in ticket["why"]}
    assert served
    assert all(labels[point] == "undecided" for point in served)
    assert all(0 < why["share"] <= 1 for ticket in found["tickets"] for why in ticket["why"])
    shown = terminal.study("suggest", "harbour")
    assert re.search(r"itself \d+%, \(", shown)


def test_the_same_person_gets_the_same_tickets_until_they_ask_for_more(terminal: Terminal) -> None:
    terminal.measured(0)
    first = terminal.data("study", "suggest", "harbour")["tickets"]
    assert not any(ticket["again"] for ticket in first)
    again = terminal.data("study", "suggest", "harbour")["tickets"]
    assert [ticket["ticket"] for ticket in again] == [ticket["ticket"] for ticket in first]
    assert all(ticket["again"] for ticket in again)
    shown = terminal.study("suggest", "harbour")
    assert "all of these were suggested to you before and are still open; -n 20 asks for more" in shown
    more = terminal.data("study", "suggest", "harbour", "-n", 14)["tickets"]
    assert [ticket["again"] for ticket in more] == [True] * 10 + [False] * 4
    assert "14 of these were suggested to you before" in terminal.study("suggest", "harbour", "-n", 16)


def test_two_workers_never_get_the_same_ticket(terminal: Terminal) -> None:
    terminal.measured(0)
    mine = terminal.data("study", "suggest", "harbour", "--worker", "left", "-n", 4)
    yours = terminal.data("study", "suggest", "harbour", "--worker", "right", "-n", 8)
    numbers = [ticket["ticket"] for found in (mine, yours) for ticket in found["tickets"]]
    assert len(numbers) == len(set(numbers)) == 12
    assert (mine["worker"], yours["worker"]) == ("left", "right")


def test_a_sheet_has_exact_coordinates_and_blanks_to_fill_in(terminal: Terminal) -> None:
    terminal.measured(0)
    shown = terminal.study("suggest", "harbour", "--csv", "sheet.csv")
    assert "wrote sheet.csv" in shown
    assert "superlevel study tell harbour sheet.csv" in shown
    rows = read(terminal.folder / "sheet.csv")
    assert list(rows[0]) == ["ticket", "east", "north", "value", "noise", "status", "reason", "study", "log head"]
    tickets = terminal.data("study", "suggest", "harbour")["tickets"]
    assert [[float(row["east"]), float(row["north"])] for row in rows] == [item["coordinates"] for item in tickets]
    terminal.study("suggest", "harbour", "--csv", "sheet.csv")  # nothing is filled in: it may be written again


@pytest.mark.parametrize(
    "content", ["ticket,east,north,value\n1,0,0,3.5\n", "east,north\n0,0\n", "some notes\n", "\xff"]
)
def test_a_file_with_work_in_it_is_not_overwritten_and_nothing_is_asked_for(terminal: Terminal, content: str) -> None:
    terminal.measured(0)
    sheet = terminal.folder / "sheet.csv"
    sheet.write_bytes(content.encode("latin-1"))
    ran = terminal("study", "suggest", "harbour", "--csv", "sheet.csv")
    assert ran.code == 2
    assert "overwrite it with --force" in ran.err
    assert sheet.read_bytes() == content.encode("latin-1")
    assert terminal.entries() == 1
    terminal.study("suggest", "harbour", "--csv", "sheet.csv", "--force")
    assert len(read(sheet)) == 10


def test_a_sheet_may_go_once_all_of_it_is_told(terminal: Terminal) -> None:
    terminal.measured(0)
    sheet = terminal.folder / "sheet.csv"
    terminal.study("suggest", "harbour", "--csv", "sheet.csv")
    fill(sheet)
    assert terminal("study", "suggest", "harbour", "--csv", "sheet.csv").code == 2
    terminal.study("tell", "harbour", "sheet.csv")
    told = sheet.read_text()
    sheet.write_text(told.replace("reason", "reason,remark", 1).replace("\n", ",\n").replace("remark,", "remark"))
    assert terminal("study", "suggest", "harbour", "--csv", "sheet.csv").code == 2
    sheet.write_text(told)
    terminal.study("suggest", "harbour", "--csv", "sheet.csv")
    assert read(sheet)[0]["value"] == ""


@pytest.mark.parametrize("option", ["--csv", "--sheet"])
@pytest.mark.parametrize("where", ["no folder/sheet.csv", "folder", "/proc/sheet.csv", "/dev/null"])
def test_a_sheet_that_cannot_be_written_is_said_before_anything_is_asked_for(
    terminal: Terminal, where: str, option: str
) -> None:
    terminal.measured(0)
    (terminal.folder / "folder").mkdir()
    ran = terminal("study", "suggest", "harbour", option, where)
    assert ran.code == 2
    assert ran.err.startswith(f"superlevel: {option} is '{where}': it cannot be written")
    assert terminal.entries() == 1
    assert not list(terminal.folder.glob(".*"))


def test_a_disk_that_fills_up_leaves_the_sheet_as_it_was(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal.measured(0)
    terminal.study("suggest", "harbour", "--csv", "sheet.csv")
    before = (terminal.folder / "sheet.csv").read_text()

    def full(path: Path, *_: object) -> None:
        path.open("w").close()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("superlevel.formats.text.write", full)
    ran = terminal("study", "suggest", "harbour", "-n", 12, "--csv", "sheet.csv")
    assert ran.code == 2
    assert "No space left on device" in ran.err
    assert (terminal.folder / "sheet.csv").read_text() == before
    assert not list(terminal.folder.glob(".*"))


def test_when_everything_is_decided_it_says_so_and_writes_no_sheet(terminal: Terminal) -> None:
    terminal.created("harbour", "--threshold", -1000, "--noise", 0.3, "--kernel", "9 * RBF(0.7)", "--mean", 20)
    assert "every point is decided" in terminal.batch()
    ran = terminal("study", "suggest", "harbour", "--csv", "next.csv")
    assert ran.code == 0
    stop, doubt = ran.out.splitlines()
    assert stop == "nothing to measure now: every point is decided"
    assert doubt.startswith("doubt: the level is -1000, but everything measured is between")
    assert not (terminal.folder / "next.csv").exists()
    found = terminal.data("study", "suggest", "harbour", "--csv", "next.csv")
    assert found["tickets"] == []
    assert found["stop"] == "every point is decided"
    assert found["csv"] is None


def test_names_are_shown_as_they_are(terminal: Terminal) -> None:
    (terminal.folder / "points.csv").write_text("[bold]x[/],[/red]\n0,0\n0,1\n1,0\n1,1\n")
    terminal.study("create", "[red]", "--points", "points.csv", *GIVEN)
    shown = terminal.study("suggest", "[red]", "-n", 1, "--csv", "[a].csv")
    assert "[bold]x[/]" in shown
    assert "[/red]" in shown
    assert "wrote [a].csv" in shown


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("-n", 0), "-n is 0: give a whole number >= 1"),
        (("--lease", -1), "--lease is -1.0: give a number > 0"),
        (("--worker", " "), "--worker is ' ': give a name"),
    ],
)
def test_nonsense_is_a_sentence(terminal: Terminal, options: tuple[object, ...], sentence: str) -> None:
    terminal.measured(0)
    ran = terminal("study", "suggest", "harbour", *options)
    assert ran.code == 2
    assert sentence in ran.err
    assert terminal.entries() == 1


def test_a_round_is_shown_in_part_and_written_whole(terminal: Terminal) -> None:
    options = ("--threshold", 20, "--kernel", "linear", "--noise", 1, "--bound", 4, "--confidence", "rips")
    terminal.created("harbour", *options, "--tolerance", 2)
    shown = terminal.study("suggest", "harbour", "--csv", "sheet.csv")
    rows = read(terminal.folder / "sheet.csv")
    assert len(rows) > 50
    assert f"and {len(rows) - 50:,} more: --csv writes them all" in shown


def test_a_check_says_that_it_is_one(terminal: Terminal) -> None:
    terminal.created("harbour", "--threshold", 20, "--batch", 10)
    for _ in range(2):  # the pilot
        terminal.batch()
    found = terminal.data("study", "suggest", "harbour")["tickets"]
    (check,) = [ticket for ticket in found if ticket["check"]]
    shown = terminal.study("suggest", "harbour")
    (line,) = [line for line in shown.splitlines() if "check: a random place where the model is sure" in line]
    assert str(check["ticket"]) in line
