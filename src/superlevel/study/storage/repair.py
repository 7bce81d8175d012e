"""What is wrong with a store, in sentences."""

from __future__ import annotations

import reprlib
import shlex
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select, text

from superlevel.study.storage.protocol import Beside, StorageError
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


def is_whole(row: Any) -> bool:
    """Whether a row of `ENTRY` can be what was written: a damaged page holds anything, a missing one reads as zeros."""
    texts = (row["kind"], row["at"], row["payload"], row["digest"])
    return is_number(row["seq"]) and all(isinstance(value, str) and "\0" not in value for value in texts)


def is_number(value: object) -> bool:
    """SQLite keeps whatever it is given, in a column of integers too."""
    return isinstance(value, int)


def strange(url: str, name: object, what: str, value: object) -> str:
    """A sentence for a row that holds something else than it should."""
    command = f"superlevel doctor --store {shlex.quote(url)} --rescue NEW_URL"
    return (
        f"{url} is damaged ({what} of study {reprlib.repr(name)} is {reprlib.repr(value)}): restore a copy, or rescue "
        f"what can be read with `{command}`"
    )


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
        if not isinstance(name, str):
            found.append(strange(url, name, "the name", name))
        if not is_number(length):
            found.append(strange(url, name, "the length", length))
            continue
        seqs = connection.scalars(
            select(ENTRIES.c.seq).where(ENTRIES.c.study_id == study).order_by(ENTRIES.c.seq)
        ).all()
        gap = first_gap(seqs, after=0, length=length)
        if gap is not None:
            found.append(lost(url, name, gap))
        elif len(seqs) > length:
            found.append(f"{url} has {len(seqs)} entries of study {name!r}, but should have {length}: restore a copy")
    return found
