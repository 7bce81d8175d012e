"""Tickets, cached labels and lengths are held against the log."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from superlevel.study import Study
from superlevel.study.events import DamagedError
from superlevel.study.status import reading
from superlevel.study.storage import Memory, StorageError
from superlevel.study.storage.protocol import Beside
from tests.study.campaigns import GREEDY, NAME, contradicted

STATEMENTS = {
    "INSERT INTO tickets (study_id, number) VALUES (1, 99)": "ticket 99 is said to be open, and the log has tickets 1 ",
    "INSERT INTO tickets (study_id, number) VALUES (1, -1)": "ticket -1 is said to be open",
    "INSERT INTO tickets (study_id, number) VALUES (1, 2)": "ticket 2 is said to be open, and the log says measured",
    "DELETE FROM tickets WHERE number = 6": "ticket 6 is open in the log, and nobody can ask for it",
    "UPDATE tickets SET until = 'soon' WHERE number = 6": "ticket 6 is reserved for somebody or until a time",
    "UPDATE tickets SET worker = NULL WHERE number = 6": "ticket 6 is reserved for somebody or until a time",
    "UPDATE studies SET noted_seq = 99": "the cached labels are of 99 entries, and the log has 4",
    "UPDATE studies SET noted_seq = 'many'": "they are said to be of 'many' entries",
    "UPDATE studies SET noted_seq = 2": "the cached labels are of 4 entries, and the store says of 2",
    "UPDATE studies SET noted = 'x'": "the cached labels cannot be read: they are no JSON document",
    'UPDATE studies SET noted = replace(noted, \'"head":"\', \'"head":"0\')': "the cached labels are of another log",
    'UPDATE studies SET noted = replace(noted, \'"labels":"\', \'"labels":"+\')': "the cached labels are 15, of 14",
    "UPDATE studies SET length = 3": "the store has 4 entries, and should have 3",
}
"""What somebody does to the tables, and the sentence that `verify` and `doctor` have for it."""


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A study with four tickets measured, four open, and cached labels."""
    url = f"sqlite:///{tmp_path / 'sea.db'}"
    study = GREEDY.run(GREEDY.create(url), 1)
    study.ask()
    study._note(reading(study.knowledge))
    return url


def do(url: str, statement: str) -> None:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
        assert connection.execute(statement).rowcount == 1


@pytest.mark.parametrize("statement", STATEMENTS)
def test_verify_names_what_does_not_follow_from_the_log(url: str, statement: str) -> None:
    assert Study.open(url, NAME).verify().ok
    do(url, statement)
    found = Study.open(url, NAME).verify()
    assert len(contradicted(found)) == 1
    assert STATEMENTS[statement] in str(found)


@pytest.mark.parametrize(("number", "word"), [(99, "99 is"), (-1, "-1 is"), (2, "2 is")])
def test_a_ticket_that_is_not_open_is_not_handed_out(url: str, number: int, word: str) -> None:
    do(url, f"INSERT INTO tickets (study_id, number) VALUES (1, {number})")
    with pytest.raises(DamagedError, match=f"the table of open tickets is damaged: ticket {word} not open in the log"):
        Study.open(url, NAME, worker="eve").ask(9)


def test_a_lease_that_cannot_be_read_counts_as_none(url: str) -> None:
    do(url, "UPDATE tickets SET until = 'soon' WHERE number = 6")
    study = Study.open(url, NAME, worker="ada")
    assert (study.status().open, study.status().leased) == (4, 3)
    assert study.view().tickets[1].until is None
    receipt = study.tell(GREEDY.measure(study.ask()))
    assert receipt.stored == 4
    assert study.verify().ok


@pytest.mark.parametrize("column", ["length", "format"])
def test_a_length_that_is_no_number_is_a_sentence(url: str, column: str) -> None:
    do(url, f"UPDATE studies SET {column} = 'four'")
    with pytest.raises(StorageError, match=f"the {column} of study 'sea' is 'four'"):
        Study.open(url, NAME)


class Moving(Memory):
    """A store in which somebody tells a result just before the tickets are read."""

    busy: Study | None = None

    def beside(self, name: str) -> Beside:
        if self.busy is not None:
            study, self.busy = self.busy, None
            study.tell(GREEDY.measure(study.ask())[:1])
        return super().beside(name)


def test_what_others_write_meanwhile_is_no_fault() -> None:
    storage = Moving()
    study = GREEDY.create(storage)
    study.ask()
    storage.busy = Study.open(storage, NAME, worker="ada")
    found = study.verify()
    assert found.ok, str(found)
    assert "3 tickets are open" in str(found)
