"""Heads are printed wherever a study is shown, and every such place is a witness later on."""

from __future__ import annotations

import re
import sqlite3
import stat
from contextlib import closing

import pytest

from superlevel.study.heads import heads_in
from superlevel.study.storage import open_storage
from tests.cli.study.terminal import Terminal, fill

HEAD = re.compile(r"\d+ [0-9a-f]{8} \([0-9a-f]{32}\)")


@pytest.fixture
def measured(terminal: Terminal) -> Terminal:
    return terminal.measured(batches=2)


def drop(terminal: Terminal, left: int) -> None:
    """What somebody does who wants the last results gone, and knows the tables."""
    with closing(sqlite3.connect(terminal.folder / "superlevel.db")) as connection, connection:
        connection.execute("DELETE FROM entries WHERE seq > ?", (left,))
        connection.execute("DELETE FROM tickets")
        connection.execute("UPDATE studies SET length = ?, noted = NULL, noted_seq = NULL", (left,))


def test_everything_that_is_shown_has_the_head_and_is_a_witness(measured: Terminal) -> None:
    (last,) = [entry for entry in open_storage("sqlite:///superlevel.db").read("harbour") if entry.seq == 5]
    head = f"5 {last.digest[:8]} ({last.digest})"
    made = {
        "tell.txt": measured.study("tell", "harbour", "sheet.csv"),
        "status.txt": measured.study("status", "harbour"),
        "verify.txt": measured.study("verify", "harbour"),
        "status.json": measured("study", "status", "harbour", "--json").out,
        "tell.json": measured("study", "tell", "harbour", "sheet.csv", "--json").out,
        "verify.json": measured("study", "verify", "harbour", "--json").out,
    }
    for name, text in made.items():
        (measured.folder / name).write_text(text)
        assert head in text, name
    measured.study("report", "harbour", "--out", "report.html")
    for what in ("labels", "stopping", "measurements", "log"):
        measured.study("export", "harbour", "--what", what, "--out", f"{what}.csv")
    files = [*made, "report.html", "labels.csv", "stopping.csv", "measurements.csv", "log.csv", "sheet.csv"]
    options = [word for name in files for word in ("--witness", name)]
    shown = measured.study("verify", "harbour", *options, "--witness", head, "--labels", "labels.csv")
    assert shown.count("so nothing up to it changed; it is the last") == len(files)
    assert shown.count("1 entry was added after it") == 1  # the sheet is from before it was told
    drop(measured, 3)
    assert measured("study", "verify", "harbour").code == 0
    for name in (*files, head, head[:10]):
        ran = measured("study", "verify", "harbour", "--witness", name)
        assert ran.code == 1, name
        assert "later entries were removed" in ran.out


def test_sheets_and_exports_with_a_head_are_told_as_before(measured: Terminal) -> None:
    measured.study("suggest", "harbour", "--csv", "sheet.csv")
    assert heads_in((measured.folder / "sheet.csv").read_text())
    fill(measured.folder / "sheet.csv")
    assert "mean nothing here" not in measured.study("tell", "harbour", "sheet.csv")
    measured.study("export", "harbour", "--what", "measurements", "--out", "m.csv")
    measured.created("other")
    told = measured.study("tell", "other", "m.csv", "--exported")
    assert "30 results stored" in told
    assert "mean nothing here" not in told


def test_whatever_writes_an_entry_prints_the_new_head(measured: Terminal) -> None:
    for words in (("correct", "harbour", 1, 20.5, "--reason", "slip"), ("withdraw", "harbour", 2, "--reason", "ice")):
        assert HEAD.search(measured.study(*words))
    assert HEAD.search(measured.study("close", "harbour"))


@pytest.mark.parametrize("given", ["none.txt", "points.csv"])
def test_a_witness_without_a_head_is_a_sentence(measured: Terminal, given: str) -> None:
    ran = measured("study", "verify", "harbour", "--witness", given)
    assert ran.code == 2
    assert f"--witness is {given!r}, which has no head in it" in ran.err


def test_a_signed_study_from_the_first_entry_to_the_check(terminal: Terminal) -> None:
    made = terminal.study("key", "own.key")
    assert stat.S_IMODE((terminal.folder / "own.key").stat().st_mode) == 0o600
    public = made.split()[-1]
    sign = ("--sign", "own.key")
    terminal.created("harbour", "--threshold", 20, "--noise", 0.3, "--kernel", "9 * RBF(0.7)", "--mean", 20, *sign)
    terminal.batch(options=sign)
    assert "each signed with the given key" in terminal.study("verify", "harbour", "--key", public)
    refused = terminal("study", "correct", "harbour", 1, 20.5, "--reason", "slip")
    assert refused.code == 2
    assert "every entry of this study is signed: give its key with --sign FILE" in refused.err
    terminal.study("correct", "harbour", 1, 20.5, "--reason", "slip", *sign)
    terminal.study("key", "other.key")
    other = terminal("study", "withdraw", "harbour", 1, "--reason", "slip", "--sign", "other.key")
    assert "--sign is the key ed25519:" in other.err
    again = terminal("study", "key", "own.key")
    assert again.code == 2
    assert "FILE is 'own.key': a file of that name is there already" in again.err
    assert terminal("doctor").code == 0
    with closing(sqlite3.connect("superlevel.db")) as connection, connection:
        connection.execute("UPDATE entries SET payload = replace(payload, ',\"signature\":', ',\"signature\": ')")
    assert terminal("doctor").code == 1


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("INSERT INTO tickets (study_id, number) VALUES (1, 99)", "ticket 99 is said to be open"),
        (
            "INSERT INTO tickets (study_id, number) VALUES (1, 1)",
            "ticket 1 is said to be open, and the log says measured",
        ),
        ("UPDATE studies SET noted_seq = 99", "the cached labels are of 99 entries, and the log has 5"),
        ("UPDATE studies SET length = 'many'", "the length of study 'harbour' is 'many'"),
        ("UPDATE studies SET length = 4", "has 5 entries of study 'harbour', but should have 4"),
        ("UPDATE studies SET name = 'lake'", "its log is of a study 'harbour': names were swapped"),
    ],
)
def test_the_doctor_names_what_does_not_follow_from_the_log(measured: Terminal, statement: str, words: str) -> None:
    assert measured("doctor").code == 0
    with closing(sqlite3.connect("superlevel.db")) as connection, connection:
        connection.execute(statement)
    ran = measured("doctor")
    assert ran.code == 1
    assert words in ran.out
