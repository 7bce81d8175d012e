"""`superlevel doctor`: versions, a store that is whole or is not, and what can be rescued."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import numpy
import pytest

from superlevel import __version__
from superlevel.study import Study
from tests.cli.study.terminal import Terminal, tampered, terminal  # noqa: F401
from tests.study.damages import replace_log

URL = "sqlite:///superlevel.db"


@pytest.fixture
def measured(terminal: Terminal) -> Terminal:  # noqa: F811
    return terminal.measured()


def sql(there: Terminal, statement: str) -> None:
    with closing(sqlite3.connect(there.folder / "superlevel.db")) as connection, connection:
        connection.execute(statement)


def test_without_a_store_it_says_what_is_installed_and_makes_none(terminal: Terminal) -> None:  # noqa: F811
    ran = terminal("doctor")
    assert ran.code == 0
    assert "nothing is stored there yet" in ran.out
    assert "all is well" in ran.out
    found = terminal.data("doctor")
    assert found["versions"]["superlevel"] == __version__
    assert found["versions"]["numpy"] == numpy.__version__
    assert set(found["versions"]) >= {"Python", "scipy", "scikit-learn", "SQLAlchemy"}
    assert found["problems"] == []
    assert not list(terminal.folder.iterdir())


def test_a_store_that_was_named_and_is_not_there_is_a_problem(terminal: Terminal) -> None:  # noqa: F811
    ran = terminal("doctor", "--store", "sqlite:///none.db")
    assert ran.code == 1
    assert "where nothing is stored yet" in ran.out
    assert not list(terminal.folder.iterdir())


def test_a_sound_store_is_well(measured: Terminal) -> None:
    ran = measured("doctor")
    assert ran.code == 0
    assert "revision 0001" in ran.out
    assert "as written" in ran.out
    found = measured.data("doctor")["store"]
    assert (found["there"], found["current"], found["write_ahead"]) == (True, True, True)
    assert found["studies"] == [{"name": "harbour", "entries": 3, "measurements": 10, "problem": None, "beside": []}]


def test_a_server_is_looked_at_too(terminal: Terminal, postgres_url: str) -> None:  # noqa: F811
    empty = terminal.data("doctor", "--store", postgres_url, code=1)
    assert "where nothing is stored yet" in empty["problems"][0]
    terminal.created("harbour", "--threshold", 20, "--store", postgres_url)
    found = terminal.data("doctor", "--store", postgres_url)["store"]
    assert (found["there"], found["write_ahead"]) == (True, None)
    assert found["studies"][0]["entries"] == 1


def test_a_server_that_does_not_answer_is_a_problem(terminal: Terminal) -> None:  # noqa: F811
    ran = terminal("doctor", "--store", f"postgresql://somebody@/base?host={terminal.folder}")
    assert ran.code == 1
    assert "cannot be reached" in ran.out


def test_a_file_that_is_no_store_is_a_problem(terminal: Terminal) -> None:  # noqa: F811
    (terminal.folder / "superlevel.db").write_text("nothing of the kind" * 100)
    ran = terminal("doctor")
    assert ran.code == 1
    assert "is not a SQLite database" in ran.out


def test_a_url_that_is_none_is_wrong_input(terminal: Terminal) -> None:  # noqa: F811
    for option in ("--store", "--rescue"):
        assert terminal("doctor", option, "mysql://x/y").code == 2
        assert terminal("doctor", option, "memory:").code == 2


def test_an_entry_that_was_changed_is_found_and_what_is_before_it_is_rescued(measured: Terminal) -> None:
    measured.study("suggest", "harbour")
    tampered(measured.folder / "superlevel.db", "told", lambda payload: payload.replace('"values":[', '"values":[9', 1))
    before = (measured.folder / "superlevel.db").read_bytes()
    ran = measured("doctor", "--rescue", "sqlite:///rescued.db")
    assert ran.code == 1
    assert "problem: study 'harbour': entry 3 is not as it was written" in ran.out
    assert "rescued study 'harbour': 2 entries, 0 measurements; lost is what comes after: entry 3" in ran.out
    assert (measured.folder / "superlevel.db").read_bytes() == before
    assert len(Study.open("sqlite:///rescued.db", "harbour").ledger.open) == 10
    assert measured("doctor", "--store", "sqlite:///rescued.db").code == 0


def test_a_log_that_nobody_can_have_written_is_found_although_its_digests_are_right(measured: Terminal) -> None:
    def enlarged(log: list[tuple[str, str, str]]) -> None:
        kind, at, text = log[2]
        payload = json.loads(text)
        payload["values"][0] = 1e308
        log[2] = (kind, at, json.dumps(payload))

    replace_log(measured.folder / "superlevel.db", enlarged)
    ran = measured("doctor", "--rescue", "sqlite:///rescued.db")
    assert ran.code == 1
    assert "problem: study 'harbour': entry 3 has a value of 1e+308 for ticket 1" in ran.out
    assert "restore a backup" in ran.out
    assert "rescued study 'harbour': 3 entries, 10 measurements; nothing is lost" in ran.out


def test_an_entry_that_is_gone_is_found_once_and_what_is_lost_is_said(measured: Terminal) -> None:
    measured.batch()
    sql(measured, "DELETE FROM entries WHERE seq = 4")
    found = measured.data("doctor", "--rescue", "sqlite:///rescued.db", code=1)
    assert len(found["problems"]) == 1
    assert "has lost entry 4 of study 'harbour'" in found["problems"][0]
    (rescued,) = found["rescued"]
    assert (rescued["entries"], rescued["measurements"]) == (3, 10)
    assert "has lost entry 4" in rescued["lost"]
    assert measured.data("study", "status", "harbour", "--store", "sqlite:///rescued.db")["measurements"] == 10


def test_a_sound_store_is_rescued_whole(measured: Terminal) -> None:
    ran = measured("doctor", "--rescue", "sqlite:///copy.db")
    assert ran.code == 0
    assert "rescued study 'harbour': 3 entries, 10 measurements; nothing is lost" in ran.out
    assert Study.open("sqlite:///copy.db", "harbour").ledger.head == Study.open(URL, "harbour").ledger.head


def test_nothing_is_rescued_into_a_store_with_studies_or_into_no_folder(measured: Terminal) -> None:
    ran = measured("doctor", "--rescue", URL)
    assert ran.code == 2
    assert "name a new one" in ran.err
    ran = measured("doctor", "--rescue", "sqlite:///none/new.db")
    assert ran.code == 2
    assert "make the folder" in ran.err


def test_an_upgrade_of_what_is_up_to_date_changes_nothing(measured: Terminal) -> None:
    ran = measured("doctor", "--upgrade")
    assert ran.code == 0
    assert f"{URL} has the tables of this version now" in ran.out
    assert measured("doctor", "--upgrade", "--store", "sqlite:///none.db").code == 2


def test_a_store_of_a_newer_version_is_a_problem_that_says_what_to_do(measured: Terminal) -> None:
    sql(measured, "UPDATE superlevel_version SET version_num = '9999'")
    ran = measured("doctor")
    assert ran.code == 1
    assert "pip install --upgrade superlevel" in ran.out
    assert measured("study", "status", "harbour").code == 3


def test_a_password_is_never_shown(terminal: Terminal) -> None:  # noqa: F811
    ran = terminal("doctor", "--store", f"postgresql://somebody:s3cret@/base?host={terminal.folder}")
    assert ran.code == 1
    assert "s3cret" not in ran.out + ran.err
