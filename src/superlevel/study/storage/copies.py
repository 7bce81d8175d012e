"""Copies of studies between databases: a whole SQLite file, or the rows of some studies."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

from sqlalchemy import Connection, Table, delete, insert, select, update

from superlevel.study.storage import attachments
from superlevel.study.storage.engines import use_one_file
from superlevel.study.storage.refusals import unknown
from superlevel.study.storage.schema import ATTACHMENTS, ENTRIES, METADATA, STUDIES
from superlevel.study.storage.store import Store

Rows: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]
"""The rows of one study, by the name of the table. They have no number of the study, which each database gives anew."""


def copy_file(store: Store, path: Path) -> None:
    """Copy a SQLite file with SQLite's backup interface, which includes what is in the write-ahead log."""
    with store.reading() as connection, closing(sqlite3.connect(path)) as target:
        source: Any = connection.connection.driver_connection
        source.backup(target)


def copy_rows(source: Store, target: Store, name: str | None) -> None:
    """Copy one study, or all of them, as they are at one moment, to a store that has none of these studies."""
    with source.snapshot() as connection:
        studies = [read_rows(connection, each) for each in _chosen(connection, name)]
    with target.writing(make=True) as connection:
        for rows in studies:
            write_rows(connection, rows)


def as_one_file(store: Store) -> None:
    """Put what is in the write-ahead log of a new SQLite file into the file itself, and end the use of that log."""
    use_one_file(store.engine)


def read_rows(connection: Connection, name: str) -> Rows:
    """Everything that a database has of one study."""
    study = connection.execute(select(STUDIES.c.id).where(STUDIES.c.name == name)).scalar_one()
    found: dict[str, Sequence[Mapping[str, Any]]] = {}
    for table in METADATA.sorted_tables:
        key = _key(table)
        chosen = select(*(column for column in table.columns if column is not key)).where(key == study)
        found[table.name] = [dict(row) for row in connection.execute(chosen).mappings()]
    beside = attachments.read(connection, study)
    found[ATTACHMENTS.name] = [{"seq": seq, "data": data} for seq, data in beside.items()]
    return found


def locked_digests(connection: Connection, name: str) -> list[str]:
    """Of all entries of a study, in order; empty if there is none. Nobody else appends until the transaction ends."""
    study = connection.scalar(select(STUDIES.c.id).where(STUDIES.c.name == name).with_for_update())
    chosen = select(ENTRIES.c.digest).where(ENTRIES.c.study_id == study).order_by(ENTRIES.c.seq)
    return list(connection.scalars(chosen))


def write_rows(connection: Connection, rows: Rows) -> None:
    """Put a study into a database, in place of the one of that name if there is one."""
    (row,) = rows[STUDIES.name]
    study = connection.scalar(select(STUDIES.c.id).where(STUDIES.c.name == row["name"]).with_for_update())
    if study is None:
        study = connection.scalar(insert(STUDIES).values(row).returning(STUDIES.c.id))
    else:
        connection.execute(update(STUDIES).where(STUDIES.c.id == study).values(row))
    for table in reversed([table for table in METADATA.sorted_tables if table is not STUDIES]):
        connection.execute(delete(table).where(table.c.study_id == study))
        if rows[table.name]:
            connection.execute(insert(table), [{**each, "study_id": study} for each in rows[table.name]])
    attachments.replace(connection, study, {row["seq"]: row["data"] for row in rows[ATTACHMENTS.name]})


def _key(table: Table) -> Any:
    return table.c.id if table is STUDIES else table.c.study_id


def _chosen(connection: Connection, name: str | None) -> list[str]:
    names = sorted(connection.scalars(select(STUDIES.c.name)))
    if name is not None and name not in names:
        raise unknown(name, names)
    return names if name is None else [name]
