"""Snapshots: a study that is opened with one is the same as without, and one that does not fit is ignored."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from superlevel.errors import InputError, SuperlevelError
from superlevel.study import Study, snapshots
from superlevel.study.ledger import fold
from superlevel.study.results import Result
from superlevel.study.storage import Entry, Memory, Note, Storage, open_storage
from tests.study.campaigns import (
    FITTED,
    GREEDY,
    LSE,
    NAME,
    RIDGE,
    ROUNDS,
    Kind,
    contradicted,
    copied,
    each,
    entries_of,
    snapshot,
    storage_of,
)
from tests.study.test_rescue import eventful

FIXTURE = Path(__file__).parent / "fixtures" / "format1.db"
KINDS = [GREEDY, LSE, RIDGE, FITTED, ROUNDS]
VERBS = ("ask", "tell", "fail", "spare", "audit", "correct", "withdraw")
OPERATIONS = st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 10**6)), max_size=10)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a study makes a snapshot."""
    monkeypatch.setattr(snapshots, "SPACING", 1)


def plainly(storage: Storage) -> Study:
    """The study without its snapshot."""
    return Study(storage, NAME, fold(storage.read(NAME)), "ada")


def change(study: Study, kind: Kind, operation: str, number: int) -> None:
    """One thing that a person does."""
    open_tickets = study.ledger.open.tolist()
    measured = (study.ledger.measured + 1).tolist()
    if operation == "ask":
        study.ask(1 + number % 4)
    elif operation == "audit":
        study.audit(1 + number % 4)
    elif operation == "spare":
        study.tell([Result(point=number % study.ledger.n, value=number / 10**6)], replicates=True)
    elif operation in ("tell", "fail") and open_tickets:
        tickets = study.ask(1 + number % 3)
        study.tell([ticket.failed("ice") for ticket in tickets] if operation == "fail" else kind.measure(tickets))
    elif operation == "correct" and measured:
        study.correct(measured[number % len(measured)], number / 10**6, reason="typed wrongly" * (number % 2))
    elif operation == "withdraw" and measured:
        study.withdraw(measured[number % len(measured)], reason="a stone")


@each(KINDS)
@given(operations=OPERATIONS)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_study_is_the_same_with_and_without_its_snapshot(kind: Kind, operations: list[tuple[str, int]]) -> None:
    study = kind.create()
    storage = storage_of(study)
    for operation, number in operations:
        with suppress(SuperlevelError):
            change(study, kind, operation, number)
        quick, slow = Study.open(storage, NAME, worker="ada"), plainly(storage)
        assert snapshots.stored(quick.ledger) == snapshots.stored(slow.ledger)
        kept = storage.snapshot(NAME)
        assert kept is not None
        assert kept.seq == quick.ledger.length
    quick, slow = Study.open(storage, NAME, worker="ada"), plainly(storage)
    assert snapshot(quick) == snapshot(slow)
    assert quick.view() == slow.view()
    assert quick.verify().ok == slow.verify().ok


@each(KINDS)
def test_a_snapshot_is_the_ledger_to_the_last_bit(kind: Kind) -> None:
    ledger = eventful(kind).ledger
    again = snapshots.restored(snapshots.stored(ledger))
    assert again is not None
    for field in ("point", "asking", "fate", "value", "noise", "late", "told"):
        one, other = getattr(ledger, field), getattr(again, field)
        assert (one.dtype, one.tobytes()) == (other.dtype, other.tobytes())
        assert not other.flags.writeable
    for field in ("created", "length", "head", "times", "reasons", "changed", "revised", "program", "closed", "former"):
        assert getattr(ledger, field) == getattr(again, field)
    assert [item.asked for item in ledger.askings] == [item.asked for item in again.askings]
    assert [item.tickets for item in ledger.askings] == [item.tickets for item in again.askings]


class Counting(Memory):
    """Remembers from where the log was read."""

    def __init__(self) -> None:
        super().__init__()
        self.afters: list[int] = []

    def read(self, name: str, *, after: int = 0, head: str | None = None) -> list[Entry]:
        self.afters.append(after)
        return super().read(name, after=after, head=head)


def counted() -> tuple[Counting, Study]:
    """A study of five entries with a snapshot of all of them."""
    storage = Counting()
    copied(entries_of(eventful(GREEDY)), storage)
    study = Study.open(storage, NAME)
    storage.afters.clear()
    return storage, study


def test_only_entries_since_the_snapshot_are_read() -> None:
    storage, _ = counted()
    Study.open(storage, NAME)
    assert storage.afters == [4]


DAMAGES: dict[str, Callable[[Note], Note]] = {
    "a letter": lambda note: note._replace(text=note.text.replace("boat", "goat").replace("ice", "ace")),
    "cut": lambda note: note._replace(text=note.text[:-10]),
    "empty": lambda note: note._replace(text=""),
    "no JSON": lambda note: signed(note, "nothing"),
    "a field": lambda note: signed(note, '{"layout":1}'),
    "number": lambda note: note._replace(seq=note.seq - 1),
    "layout": lambda note: edited(note, layout=snapshots.LAYOUT + 1),
    "version": lambda note: edited(note, version="0.0.1"),
    "head": lambda note: edited(note, head="0" * 32),
    "columns": lambda note: edited(note, columns={}),
    "no base64": lambda note: edited(note, columns={"point": "?"}),
    "too long": lambda note: edited(note._replace(seq=99), length=99),
}


def signed(note: Note, text: str) -> Note:
    return note._replace(text=snapshots._digest(text) + "\n" + text)


def edited(note: Note, **fields: object) -> Note:
    return signed(note, json.dumps(json.loads(note.text.split("\n", 1)[1]) | fields))


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_snapshot_that_does_not_fit_is_ignored_and_made_anew(damage: str) -> None:
    storage, study = counted()
    kept = storage.snapshot(NAME)
    assert kept is not None
    storage.keep_snapshot(NAME, DAMAGES[damage](kept))
    again = Study.open(storage, NAME)
    assert storage.afters[-1] == 0
    assert snapshots.stored(again.ledger) == snapshots.stored(study.ledger)
    assert storage.snapshot(NAME) == kept
    assert again.verify().ok


def test_a_snapshot_of_another_log_is_ignored() -> None:
    storage, _ = counted()
    other = eventful(GREEDY)
    storage.keep_snapshot(NAME, snapshots.stored(other.ledger))
    assert Study.open(storage, NAME).ledger.head != other.ledger.head


def test_verify_and_doctor_find_a_forged_snapshot() -> None:
    storage, _ = counted()
    kept = storage.snapshot(NAME)
    assert kept is not None
    storage.keep_snapshot(NAME, edited(kept, reasons={"1": "snow"}))
    study = Study.open(storage, NAME)
    assert study.ledger.reasons == {1: "snow"}  # its digest is right: only the log can say
    found = study.verify()
    assert contradicted(found) == {"snapshot"}
    assert "the snapshot of 5 entries is not what these say: copy the log without it" in str(found)


def test_a_short_log_has_no_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SPACING", 6)
    storage = storage_of(eventful(GREEDY))
    Study.open(storage, NAME)
    assert storage.snapshot(NAME) is None


@pytest.mark.parametrize("change", ["text = x'00ff'", "text = 7", "seq = 'many'", "seq = 2.5", "seq = -1"])
def test_a_row_that_is_no_snapshot_is_ignored(tmp_path: Path, change: str) -> None:
    path = tmp_path / "sea.db"
    storage = copied(entries_of(eventful(GREEDY)), open_storage(f"sqlite:///{path}"))
    ledger = Study.open(storage, NAME).ledger
    assert storage.snapshot(NAME) == snapshots.stored(ledger)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE aside (study_id, seq, text)")
        connection.execute("INSERT INTO aside SELECT * FROM snapshots")
        connection.execute("DROP TABLE snapshots")
        connection.execute("ALTER TABLE aside RENAME TO snapshots")
        connection.execute(f"UPDATE snapshots SET {change}")
    assert snapshots.stored(Study.open(storage, NAME).ledger) == snapshots.stored(ledger)


def test_a_log_of_the_format_before_has_the_same_ledger_with_a_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    shutil.copy(FIXTURE, path)
    storage = open_storage(f"sqlite:///{path}")
    for name in storage.names():
        first = Study.open(storage, name)
        again = Study.open(storage, name)
        assert storage.snapshot(name) is not None
        assert snapshots.stored(first.ledger) == snapshots.stored(again.ledger)
        assert snapshot(first) == snapshot(again)


def test_an_unknown_name_is_refused_as_before() -> None:
    with pytest.raises(InputError, match="name is 'lake'"):
        Study.open(storage_of(GREEDY.create()), "lake")
