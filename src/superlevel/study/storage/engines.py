"""Connections to SQLite files and PostgreSQL servers, and how their transactions begin.

SQLite connections are opened for each operation and closed after it. That costs a few milliseconds, but nothing is
carried over a fork, and between operations everything is in the one file: whoever copies it has all of it.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import NullPool

from superlevel.errors import InputError
from superlevel.study.storage.address import Address
from superlevel.study.storage.protocol import StorageError

LOCK_TIMEOUT = 60.0
"""Seconds to wait for another's transaction."""
_CONNECT_TIMEOUT = 10
_OLDEST_SQLITE = (3, 35)  # has RETURNING
_WRITES = "writes"


def make_engine(address: Address) -> Engine:
    """An engine that has connected to nothing yet."""
    return _postgres(address) if address.path is None else _sqlite(address.path)


def make_forgiving_engine(address: Address) -> Engine:
    """One that only reads, and reads a file even if it is shorter than it says or its tables contradict it."""
    if address.path is None:
        return _postgres(address)
    engine = _sqlite(address.path, pragmas=("writable_schema = ON", "query_only = ON"))
    event.listen(engine, "connect", _take_any_text)
    return engine


def writing(engine: Engine) -> Engine:
    """The same engine, for transactions that write."""
    return engine.execution_options(**{_WRITES: True})


def _sqlite(path: Path, *, pragmas: Sequence[str] = ("synchronous = FULL", "foreign_keys = ON")) -> Engine:
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise StorageError(f"SQLite is {sqlite3.sqlite_version}: use a Python whose sqlite3 has version 3.35 or newer")
    engine = create_engine("sqlite://", creator=_opener(path, pragmas), poolclass=NullPool, hide_parameters=True)
    event.listen(engine, "begin", _begin)
    return engine


def _opener(path: Path, pragmas: Sequence[str]) -> Callable[[], sqlite3.Connection]:
    address = f"{path.as_uri()}?mode=rw"  # never makes a file

    def connect() -> sqlite3.Connection:
        # Without an isolation level the driver begins no transactions of its own.
        connection = sqlite3.connect(
            address, uri=True, timeout=LOCK_TIMEOUT, isolation_level=None, check_same_thread=False
        )
        try:
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}")
        except sqlite3.Error:  # the first look at the file
            connection.close()
            raise
        return connection

    return connect


def _take_any_text(connection: Any, _: object) -> None:
    """Bytes in place of text that is not UTF-8, so that one such row does not hide the others."""
    connection.text_factory = _as_text


def _as_text(raw: bytes) -> str | bytes:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _begin(connection: Connection) -> None:
    # A transaction that reads and then wants to write fails at once if somebody wrote in between; one that is going to
    # write from its beginning waits its turn.
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def use_write_ahead_log(engine: Engine) -> None:
    """So that those who read and the one who writes never wait for each other. The file remembers it."""
    deadline = time.monotonic() + LOCK_TIMEOUT
    with closing(engine.raw_connection()) as connection:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode")
        while cursor.fetchone() != ("wal",):
            try:
                cursor.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:  # SQLite does not wait here by itself
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.005)
            cursor.execute("PRAGMA journal_mode")


def use_one_file(engine: Engine) -> None:
    """Turn the write-ahead log off: all of it goes into the file, which then needs no other file beside it."""
    with closing(engine.raw_connection()) as connection:
        connection.cursor().execute("PRAGMA journal_mode = DELETE")


def _postgres(address: Address) -> Engine:
    try:
        import psycopg  # noqa: F401, PLC0415
    except ImportError as error:
        remedy = f"PostgreSQL needs a driver: pip install 'superlevel[postgres]' ({error})"
        raise InputError("store", repr(address.shown), remedy) from error
    _, options = address.url.get_dialect()().create_connect_args(address.url)
    engine = create_engine(
        address.url.drivername + "://",  # the address is not in it, because an engine shows its own
        connect_args={"connect_timeout": _CONNECT_TIMEOUT, **options},
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,
        pool_timeout=LOCK_TIMEOUT,
        hide_parameters=True,
    )
    event.listen(engine, "connect", _limit_waiting)
    return engine


def _limit_waiting(connection: Any, _: object) -> None:
    connection.execute(f"SET lock_timeout = '{LOCK_TIMEOUT:g}s'")
    connection.commit()
