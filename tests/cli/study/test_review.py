"""What a sceptical person typed."""

from __future__ import annotations

import pytest

from tests.cli.study.terminal import GIVEN, Terminal, fill, read, write, write_points


@pytest.mark.parametrize("lease", ["1e6", "1e9", "1e300"])
def test_a_lease_beyond_the_calendar_is_refused_and_nothing_is_kept_for_anybody(terminal: Terminal, lease: str) -> None:
    terminal.measured(0)
    ran = terminal("study", "suggest", "harbour", "--lease", lease)
    assert ran.code == 2
    assert "< 800000" in ran.err
    assert terminal.data("study", "status", "harbour")["open"] == 0
    again = terminal("study", "create", "other", "--points", "points.csv", *GIVEN, "--lease", lease)
    assert (again.code, terminal.entries()) == (2, 1)
    assert terminal("study", "suggest", "harbour", "--lease", 700_000).code == 0  # eighty years


def test_a_sheet_without_tickets_does_not_bring_back_what_was_corrected_or_withdrawn(terminal: Terminal) -> None:
    terminal.measured(0)
    terminal.study("suggest", "harbour", "--csv", "sheet.csv")
    fill(terminal.folder / "sheet.csv")
    rows = read(terminal.folder / "sheet.csv")
    write(terminal.folder / "grown.csv", [{key: row[key] for key in ("east", "north", "value")} for row in rows])
    terminal.study("tell", "harbour", "grown.csv")
    terminal.study("correct", "harbour", 3, 21.5, "--reason", "a typing mistake")
    terminal.study("withdraw", "harbour", 4, "--reason", "the anchor had slipped")
    assert "0 results stored, 10 there already" in terminal.study("tell", "harbour", "grown.csv")
    assert terminal.data("study", "status", "harbour")["measurements"] == 9


def test_a_suggestion_changes_no_label(terminal: Terminal) -> None:
    terminal.created("harbour", "--threshold", 20, "--batch", 10)
    for _ in range(5):
        terminal.batch()
    before = terminal.data("study", "status", "harbour")
    terminal.study("suggest", "harbour")
    quick = terminal.data("study", "status", "harbour")
    fresh = terminal.data("study", "status", "harbour", "--fresh")
    assert quick["fresh"]
    assert {**quick, "read": 0} == {**fresh, "read": 0}
    assert quick["groups"] == before["groups"]
    assert quick["undecided"] < 36


def test_a_result_for_a_closed_study_does_not_lead_to_another_suggestion(terminal: Terminal) -> None:
    terminal.measured(0)
    terminal.study("suggest", "harbour", "--csv", "sheet.csv")
    terminal.study("close", "harbour")
    fill(terminal.folder / "sheet.csv")
    shown = terminal.study("tell", "harbour", "sheet.csv")
    assert "10 results stored" in shown
    assert "the study is closed; next: superlevel study report harbour" in shown
    assert "suggest" not in shown


def test_a_name_that_commands_would_take_for_an_option_is_refused(terminal: Terminal) -> None:
    write_points(terminal.folder / "points.csv")
    ran = terminal("study", "create", "--points", "points.csv", *GIVEN, "--", "-n")
    assert ran.code == 2
    assert "NAME is '-n': begin it with a letter" in ran.err


def test_a_method_that_there_is_not_is_named_as_the_option_that_it_is(terminal: Terminal) -> None:
    write_points(terminal.folder / "points.csv")
    ran = terminal("study", "create", "harbour", "--points", "points.csv", *GIVEN, "--method", "melt")
    assert ran.code == 2
    assert ran.err.startswith("superlevel: --method is 'melt': choose out of melk, ")
