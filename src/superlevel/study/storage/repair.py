"""What is wrong with a store, and what of it can still be read."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import count, takewhile

from sqlalchemy import Connection, RowMapping, select, text
from sqlalchemy.exc import DatabaseError

from superlevel.study.storage.protocol import Beside, Entry, StorageError
from superlevel.study.storage.refusals import unknown
from superlevel.study.storage.schema import ENTRIES, STUDIES, TICKETS
from superlevel.study.storage.store import Store

ENTRY = select(ENTRIES.c.seq, ENTRIES.c.kind, ENTRIES.c.at, ENTRIES.c.payload, ENTRIES.c.digest)


def first_gap(seqs: Sequence[int], *, after: int, length: int) -> int | None:
    """The first number of an entry that should be there and is not."""
    for wanted, seq in enumerate(seqs, start=after + 1):
        if seq != wanted:
            return wanted
    end = after + len(seqs)
    return end + 1 if end < length else None


def lost(url: str, name: str, seq: int) -> str:
    """A sentence for an entry that is not there."""
    command = f"superlevel doctor --store {shlex.quote(url)} --rescue NEW_URL"
    return f"{url} has lost entry {seq} of study {name!r}: restore a copy, or rescue what is before it with `{command}`"


def no_length(url: str, name: str, length: object) -> str:
    """A sentence for a length or a format that is no number."""
    command = f"superlevel doctor --store {shlex.quote(url)} --rescue NEW_URL"
    said = f"{url} does not say how many entries study {name!r} has (its length is {length!r})"
    return f"{said}: restore a copy, or rescue what is intact with `{command}`"


def beside(connection: Connection, study: int) -> Beside:
    """What is stored of a study beside its entries."""
    noted = select(STUDIES.c.length, STUDIES.c.noted_seq, STUDIES.c.noted).where(STUDIES.c.id == study)
    length, seq, note = connection.execute(noted).one()
    held = select(TICKETS.c.number, TICKETS.c.worker, TICKETS.c.until).where(TICKETS.c.study_id == study)
    rows = connection.execute(held.order_by(TICKETS.c.number))
    return Beside(
        length,
        [(number, worker, until) for number, worker, until in rows],
        None if seq is None and note is None else (seq, note),
    )


def problems(store: Store) -> list[str]:
    """What is wrong, a sentence each. InputError if there is no store."""
    found: list[str] = []
    try:
        with store.reading() as connection:
            if connection.dialect.name == "sqlite":
                found += _damages(connection, store.address.shown)
            found += _miscounted(connection, store.address.shown)
    except StorageError as error:
        found.append(str(error))
    return found


def _damages(connection: Connection, url: str) -> list[str]:
    """What SQLite itself finds."""
    rows = connection.scalars(text("PRAGMA integrity_check"))
    return [f"{url} is damaged ({line})" for row in rows for line in str(row).splitlines() if line != "ok"]


def _miscounted(connection: Connection, url: str) -> list[str]:
    """Studies that do not have the entries that they should."""
    found = []
    for study, name, length in connection.execute(select(STUDIES.c.id, STUDIES.c.name, STUDIES.c.length)).all():
        seqs = connection.scalars(
            select(ENTRIES.c.seq).where(ENTRIES.c.study_id == study).order_by(ENTRIES.c.seq)
        ).all()
        if not isinstance(length, int):
            found.append(no_length(url, name, length))
            continue
        gap = first_gap(seqs, after=0, length=length)
        if gap is not None:
            found.append(lost(url, name, gap))
        elif len(seqs) > length:
            found.append(f"{url} has {len(seqs)} entries of study {name!r}, but should have {length}: restore a copy")
    return found


def readable(store: Store, name: str) -> list[Entry]:
    """The longest beginning of a study's log that can be read."""
    with store.as_it_is() as connection:
        studies = _studies(connection)
        if name not in studies:
            raise unknown(name, sorted(studies))
        study = studies[name]
        try:
            entries = [*connection.execute(ENTRY.where(ENTRIES.c.study_id == study)).mappings()]
        except DatabaseError:
            if connection.dialect.name != "sqlite":
                raise
            entries = _one_by_one(connection, study)
    known = {row["seq"]: Entry(**row) for row in entries if _is_whole(row)}
    return [known[seq] for seq in takewhile(known.__contains__, count(1))]


def readable_names(store: Store) -> list[str]:
    """The studies that can still be found, sorted."""
    with store.as_it_is() as connection:
        return sorted(_studies(connection))


def _studies(connection: Connection) -> dict[str, int]:
    """Names and numbers as far as they can be read, without the index on names, which may be what is damaged."""
    found: list[tuple[object, int]] = []
    whole = " NOT INDEXED" if connection.dialect.name == "sqlite" else ""
    try:
        for name, study in connection.execute(text(f"SELECT name, id FROM studies{whole}")):
            found.append((name, study))
    except DatabaseError:
        if not found:
            raise
    return {name: study for name, study in found if isinstance(name, str)}  # a missing page reads as zeros


def _one_by_one(connection: Connection, study: int) -> list[RowMapping]:
    """Every entry that can be read by itself, in the place where SQLite put it, and so without any index."""
    wanted = ENTRY.where(ENTRIES.c.study_id == study, text("entries.rowid = :place"))
    direct = wanted.with_hint(ENTRIES, "NOT INDEXED", "sqlite")
    found: list[RowMapping] = []
    for place in range(1, _places(connection) + 1):
        try:
            found += connection.execute(direct, {"place": place}).mappings()
        except DatabaseError:
            continue
    return found


def _places(connection: Connection) -> int:
    """How many entries there are at most."""
    bounds = [0]
    for question in ("SELECT max(rowid) FROM entries NOT INDEXED", "SELECT sum(length) FROM studies NOT INDEXED"):
        try:
            bounds.append(connection.scalar(text(question)) or 0)
        except DatabaseError:
            continue
    return max(bounds)


def _is_whole(row: RowMapping) -> bool:
    """Whether it can be what was written: a damaged page may hold anything, and a missing one reads as zeros."""
    texts = (row["kind"], row["at"], row["payload"], row["digest"])
    return isinstance(row["seq"], int) and all(isinstance(value, str) and "\0" not in value for value in texts)
