"""Bytes beside entries: the points of large domains. The table is made with the first of them."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, delete, insert, inspect, select

from superlevel.study.storage.schema import ATTACHMENTS


def read(connection: Connection, study: int, *, after: int = 0) -> dict[int, bytes]:
    """By the number of the entry, of those after some; what is damaged is left out, as if it were not there."""
    if not inspect(connection).has_table(ATTACHMENTS.name):
        return {}
    chosen = select(ATTACHMENTS.c.seq, ATTACHMENTS.c.data)
    rows = connection.execute(chosen.where(ATTACHMENTS.c.study_id == study, ATTACHMENTS.c.seq > after))
    return {seq: data for seq, data in rows if isinstance(data, bytes)}


def write(connection: Connection, study: int, found: Mapping[int, bytes]) -> None:
    """Add some."""
    ATTACHMENTS.create(connection, checkfirst=True)
    connection.execute(
        insert(ATTACHMENTS), [{"study_id": study, "seq": seq, "data": data} for seq, data in found.items()]
    )


def replace(connection: Connection, study: int, found: Mapping[int, bytes]) -> None:
    """These in place of those that are there."""
    if inspect(connection).has_table(ATTACHMENTS.name):
        connection.execute(delete(ATTACHMENTS).where(ATTACHMENTS.c.study_id == study))
    if found:
        write(connection, study, found)
