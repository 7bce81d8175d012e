"""Logs in a database: a SQLite file, or a PostgreSQL server where many write at once."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    func,
    insert,
    inspect,
    literal,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from superlevel.study.storage import attachments, repair, salvage, seats
from superlevel.study.storage.address import parse
from superlevel.study.storage.protocol import Beside, Entry, Lease, Moved, Note, StorageError
from superlevel.study.storage.refusals import check_entry, check_first, check_same, check_text, taken, unknown
from superlevel.study.storage.schema import ENTRIES, FORMAT, SNAPSHOTS, STUDIES, TICKETS
from superlevel.study.storage.store import Store


class _Study(NamedTuple):
    id: int
    length: int


@dataclass
class _Turn:
    connection: Connection
    study: _Study
    entries: list[Entry]

    def append(self, entry: Entry, *, opened: Sequence[int] = (), closed: Sequence[int] = ()) -> None:
        """See `Turn.append`."""
        check_entry(entry)
        study, connection = self.study, self.connection
        if entry.seq != study.length + 1:
            raise Moved(f"there are {study.length} entries")
        _insert_entry(connection, study.id, entry)
        connection.execute(update(STUDIES).where(STUDIES.c.id == study.id).values(length=entry.seq))
        if len(closed):
            numbers = _numbers(connection, closed)
            connection.execute(delete(TICKETS).where(TICKETS.c.study_id == study.id, TICKETS.c.number.in_(numbers)))
        if len(opened):
            number = _numbers(connection, opened).subquery().c.number
            # SQLite cannot tell ON CONFLICT from a join's ON unless there is a WHERE between.
            rows = select(literal(study.id), number).where(true())
            connection.execute(_insert_new(connection, TICKETS).from_select(["study_id", "number"], rows))
        self.study = study._replace(length=entry.seq)


class Sql:
    """A storage in a SQL database. Nothing is opened before it is needed, and only `create` makes a store."""

    def __init__(self, url: str) -> None:
        self._store = Store(parse(url))

    @property
    def store(self) -> Store:
        """The database."""
        return self._store

    @property
    def url(self) -> str:
        """See `Storage.url`."""
        return self._store.address.shown

    # ------------------------------------------------------------------------------------------- entries

    def names(self) -> list[str]:
        """See `Storage.names`."""
        with self._store.reading() as connection:
            return _names(connection)

    def create(self, name: str, first: Entry) -> None:
        """See `Storage.create`. Makes the store if there is none."""
        check_first(name, first)
        row = {"name": name, "length": 1, "format": FORMAT, "created_at": first.at}
        with self._store.writing(make=True) as connection:
            study = connection.scalar(_insert_new(connection, STUDIES).returning(STUDIES.c.id), row)
            if study is None:
                raise taken(name)
            _insert_entry(connection, study, first)

    def read(self, name: str, *, after: int = 0, head: str | None = None) -> list[Entry]:
        """See `Storage.read`."""
        with self._store.reading() as connection:
            return self._entries(connection, name, self._find(connection, name), after, head)

    def _entries(
        self, connection: Connection, name: str, study: _Study, after: int, head: str | None = None
    ) -> list[Entry]:
        # The entry that is known comes with the new ones: one statement sees one state, on a server too.
        chosen = repair.ENTRY.where(ENTRIES.c.study_id == study.id, ENTRIES.c.seq > after - (head is not None))
        rows = connection.execute(chosen.order_by(ENTRIES.c.seq)).mappings().all()
        for row in rows:
            if not repair.is_whole(row):
                raise StorageError(
                    repair.strange(self.url, name, f"entry {reprlib.repr(row['seq'])}", tuple(row.values()))
                )
        attached = attachments.read(connection, study.id, after=after)
        entries = [Entry(**row, attached=attached.get(row["seq"], b"")) for row in rows]
        known = [entry.digest for entry in entries if entry.seq == after]
        check_same(name, after, known=head, found=known[0] if known else None)
        entries = entries[len(known) :]
        # Somebody may have appended since the length was read; but there is never less than it says.
        lost = repair.first_gap([entry.seq for entry in entries], after=max(after, 0), length=study.length)
        if lost is not None:
            raise StorageError(repair.lost(self.url, name, lost))
        return entries

    @contextmanager
    def turn(self, name: str, *, after: int, head: str | None = None) -> Iterator[_Turn]:
        """See `Storage.turn`."""
        with self._store.writing() as connection:
            study = self._find(connection, name, lock=True)
            entries = self._entries(connection, name, study, after, head)
            yield _Turn(connection=connection, study=study, entries=entries)

    # ------------------------------------------------------------------------------------------- tickets

    def claim(self, name: str, count: int, *, worker: str, now: float, until: float) -> list[int]:
        """See `Storage.claim`."""
        check_text("worker", worker)
        lease = Lease(worker, float(until))
        with self._store.writing() as connection:
            study = self._find(connection, name)
            if connection.dialect.name == "postgresql":
                # Two claims of one worker at once: the second gets what the first got, instead of stepping over it.
                connection.execute(select(func.pg_advisory_xact_lock(study.id, func.hashtext(worker))))
            ended = and_(TICKETS.c.worker != worker, TICKETS.c.until < now)
            mine = and_(TICKETS.c.study_id == study.id, TICKETS.c.worker == worker)
            free = and_(TICKETS.c.study_id == study.id, or_(TICKETS.c.worker.is_(None), ended))
            # Whoever looks for free tickets may hold a lock on one that has just become ours: wait for it. Nobody waits
            # for anything after that, so that there is no circle.
            kept = _take(connection, mine, count=count, lease=lease, patient=True)
            new = _take(connection, free, count=count - len(kept), lease=lease)
        return sorted(kept + new)

    def leases(self, name: str) -> dict[int, Lease | None]:
        """See `Storage.leases`."""
        with self._store.reading() as connection:
            study = self._find(connection, name)
            chosen = select(TICKETS.c.number, TICKETS.c.worker, TICKETS.c.until)
            rows = connection.execute(chosen.where(TICKETS.c.study_id == study.id).order_by(TICKETS.c.number))
            return {number: None if worker is None else Lease(worker, until) for number, worker, until in rows}

    @contextmanager
    def seat(self, name: str, worker: str) -> Iterator[bool]:
        """See `Storage.seat`."""
        check_text("worker", worker)
        with self._store.reading() as connection:
            study = self._find(connection, name)
        path = self._store.address.path
        with seats.beside(path, name, worker) if path else seats.on_server(self._store, study.id, worker) as free:
            yield free

    # ------------------------------------------------------------------------------------------- notes

    def note(self, name: str, note: Note, *, head: str | None = None) -> None:
        """See `Storage.note`."""
        check_text("note.text", note.text)
        with self._store.writing() as connection:
            study = self._find(connection, name, lock=True)
            digest = select(ENTRIES.c.digest).where(ENTRIES.c.study_id == study.id, ENTRIES.c.seq == note.seq)
            check_same(name, note.seq, known=head, found=connection.scalar(digest))
            older = or_(STUDIES.c.noted_seq.is_(None), STUDIES.c.noted_seq <= note.seq)
            replaced = update(STUDIES).where(STUDIES.c.id == study.id, older)
            connection.execute(replaced.values(noted_seq=note.seq, noted=note.text))

    def noted(self, name: str) -> Note | None:
        """See `Storage.noted`."""
        with self._store.reading() as connection:
            study = self._find(connection, name)
            chosen = select(STUDIES.c.noted_seq, STUDIES.c.noted).where(STUDIES.c.id == study.id)
            seq, text = connection.execute(chosen).one()
            return None if seq is None else Note(seq, text)

    def keep_snapshot(self, name: str, snapshot: Note) -> None:
        """See `Storage.keep_snapshot`. Makes the table of snapshots if there is none."""
        check_text("snapshot.text", snapshot.text)
        with self._store.writing() as connection:
            study = self._find(connection, name)
            SNAPSHOTS.create(connection, checkfirst=True)
            connection.execute(delete(SNAPSHOTS).where(SNAPSHOTS.c.study_id == study.id))
            connection.execute(insert(SNAPSHOTS), {"study_id": study.id, "seq": snapshot.seq, "text": snapshot.text})

    def snapshot(self, name: str) -> Note | None:
        """See `Storage.snapshot`."""
        with self._store.reading() as connection:
            study = self._find(connection, name)
            if not inspect(connection).has_table(SNAPSHOTS.name):
                return None
            chosen = select(SNAPSHOTS.c.seq, SNAPSHOTS.c.text).where(SNAPSHOTS.c.study_id == study.id)
            row = connection.execute(chosen).first()
            return Note(*row) if row and repair.is_number(row.seq) and isinstance(row.text, str) else None

    def beside(self, name: str) -> Beside:
        """See `Storage.beside`."""
        with self._store.reading() as connection:
            study = self._find(connection, name)
            return repair.beside(connection, study.id)

    # ------------------------------------------------------------------------------------------- the store itself

    def close(self) -> None:
        """See `Storage.close`."""
        self._store.close()

    def check(self) -> list[str]:
        """What is wrong with the store, a sentence each; empty if nothing is."""
        return repair.problems(self._store)

    def salvaged(self) -> dict[str, list[Entry]]:
        """What can still be read of a damaged store: the first entries of every study, as far as there is no gap."""
        return salvage.salvaged(self._store)

    def upgrade(self) -> None:
        """Change the tables that an older version made into those of this one."""
        self._store.upgrade()

    def _find(self, connection: Connection, name: str, *, lock: bool = False) -> _Study:
        """A study by its name; with a lock, nobody else appends until the transaction ends."""
        check_text("name", name)
        chosen = select(STUDIES.c.id, STUDIES.c.length, STUDIES.c.format).where(STUDIES.c.name == name)
        row = connection.execute(chosen.with_for_update(key_share=True) if lock else chosen).one_or_none()
        if row is None:
            raise unknown(name, _names(connection))
        for column, value in (("number", row.id), ("length", row.length), ("format", row.format)):
            if not repair.is_number(value):
                raise StorageError(repair.strange(self.url, name, f"the {column}", value))
        if row.format > FORMAT:
            remedy = "get that version with `pip install --upgrade superlevel`"
            raise StorageError(f"study {name!r} of {self.url} was written by a newer version of superlevel: {remedy}")
        return _Study(row.id, row.length)


def _names(connection: Connection) -> list[str]:
    found = connection.scalars(select(STUDIES.c.name))
    return sorted(name for name in found if isinstance(name, str))  # databases have alphabets of their own


def _insert_entry(connection: Connection, study: int, entry: Entry) -> None:
    row = {"seq": entry.seq, "kind": entry.kind, "at": entry.at, "payload": entry.payload, "digest": entry.digest}
    connection.execute(insert(ENTRIES), {"study_id": study, **row})
    if entry.attached:
        attachments.write(connection, study, {entry.seq: entry.attached})


def _insert_new(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """Adds rows that are not there yet, and leaves those that are as they are."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()


def _numbers(connection: Connection, numbers: Sequence[int]) -> Select[int]:
    """The numbers as a column of a query: one parameter, however many they are."""
    plain = [int(number) for number in numbers]  # drivers do not know numpy's
    if connection.dialect.name == "postgresql":
        return select(func.unnest(bindparam(None, plain, postgresql.ARRAY(BigInteger))).label("number"))
    items = func.json_each(json.dumps(plain)).table_valued("value")
    return select(items.c.value.label("number"))


def _take(
    connection: Connection, which: ColumnElement[bool], *, count: int, lease: Lease, patient: bool = False
) -> list[int]:
    """The first of these tickets, given to somebody; without those that others hold just now, unless one is patient."""
    if count < 1:
        return []
    chosen = select(TICKETS.c.study_id, TICKETS.c.number).where(which).order_by(TICKETS.c.number).limit(count)
    # A table expression is computed once; a plain subquery with a limit may be computed again for every row.
    first = chosen.with_for_update(skip_locked=not patient).cte()
    given = update(TICKETS).where(TICKETS.c.study_id == first.c.study_id, TICKETS.c.number == first.c.number)
    given = given.values(worker=lease.worker, until=lease.until)
    return list(connection.scalars(given.returning(TICKETS.c.number)))
