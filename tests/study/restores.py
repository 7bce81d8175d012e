"""Stores that can be put back to an earlier moment behind the back of everybody who has them open."""

from __future__ import annotations

import copy
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from superlevel.study.storage import Memory, Storage, open_storage


class Site(Protocol):
    """A store, and copies of it that other tools than superlevel made."""

    url: str | None
    """What opens it; None for what is in memory."""

    def open(self) -> Storage:
        """The store as another process sees it."""
        ...

    def save(self) -> Any:
        """A copy of everything that is stored now."""
        ...

    def put_back(self, saved: Any, /) -> None:
        """Replace everything by a copy."""
        ...


class InMemory:
    """One storage, which all share."""

    url: str | None = None

    def __init__(self) -> None:
        self._storage = Memory()

    def open(self) -> Storage:
        return self._storage

    def save(self) -> Any:
        return copy.deepcopy(self._storage._studies)

    def put_back(self, saved: Any) -> None:
        self._storage._studies = copy.deepcopy(saved)


class OnSqlite:
    """A file, over which a copy of it is written."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "store.db"
        self.url: str | None = f"sqlite:///{self.path}"

    def open(self) -> Storage:
        return open_storage(str(self.url))

    def save(self) -> Any:
        with closing(sqlite3.connect(self.path)) as source, closing(sqlite3.connect(":memory:")) as target:
            source.backup(target)
            return target.serialize()

    def put_back(self, saved: Any) -> None:
        copied = self.path.with_name("copy.db")
        copied.write_bytes(saved)
        assert not list(self.path.parent.glob("*-wal"))  # nobody is within a transaction
        shutil.copyfile(copied, self.path)


class OnPostgres:
    """A server, whose rows are replaced."""

    TABLES = ("studies", "entries", "tickets")

    def __init__(self, url: str) -> None:
        self.url: str | None = url

    def open(self) -> Storage:
        return open_storage(str(self.url))

    def save(self) -> Any:
        with self._connected() as connection:
            return {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in self.TABLES}

    def put_back(self, saved: Any) -> None:
        with self._connected() as connection, connection.cursor() as cursor:
            for table in reversed(self.TABLES):
                cursor.execute(f"DELETE FROM {table}")
            for table, rows in saved.items():
                if rows:
                    places = ", ".join(["%s"] * len(rows[0]))
                    cursor.executemany(f"INSERT INTO {table} VALUES ({places})", rows)

    def _connected(self) -> Any:
        import psycopg

        return psycopg.connect(str(self.url))


SITES = ("memory", "sqlite", "postgresql")


def made(kind: str, folder: Path, server: Any) -> Site:
    """A new and empty store of this kind."""
    match kind:
        case "memory":
            return InMemory()
        case "sqlite":
            return OnSqlite(folder)
        case _:
            return OnPostgres(server.schema())
