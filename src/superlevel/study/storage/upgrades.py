"""The revision of a store's tables: what is there, and how it becomes what this version needs.

A look at the revision is plain SQL. Alembic takes longer to import than all the rest, and is needed only to make a
store or to change its tables.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, Engine, func, inspect, select, text

from superlevel.study.storage import schema
from superlevel.study.storage.address import Address
from superlevel.study.storage.engines import use_write_ahead_log, writing
from superlevel.study.storage.protocol import StorageError

FOLDER = Path(__file__).parent / "migrations"
_ONE_AT_A_TIME = Lock()  # Alembic keeps what it is working on in modules
_KEY = 7_375_706_572  # of the advisory lock, any number that others are unlikely to use


def find_revision(connection: Connection, address: Address) -> str | None:
    """That of the store, or None where there is nothing at all."""
    seen = inspect(connection)
    tables = seen.get_table_names()
    if not tables and not seen.get_view_names():
        return None
    found = None
    if schema.VERSION_TABLE in tables:
        found = connection.scalar(text(f"SELECT version_num FROM {schema.VERSION_TABLE}"))
    if found is None:
        raise StorageError(f"{address.shown} has tables of some other program: {_elsewhere(address)}")
    if found not in schema.REVISIONS:
        remedy = "get that version with `pip install --upgrade superlevel`"
        raise StorageError(f"{address.shown} was written by a newer version of superlevel: {remedy}")
    return str(found)


def check_current(revision: str, address: Address) -> None:
    """Refuse a store whose tables are older than this version."""
    if revision != schema.REVISIONS[-1]:
        command = f"superlevel doctor --upgrade --store {shlex.quote(address.shown)}"
        raise StorageError(
            f"{address.shown} was written by an older version of superlevel: upgrade it with `{command}`"
        )


def bring_up_to_date(engine: Engine, address: Address) -> None:
    """Make the tables, or change those of an older version; once, however many processes try it at the same time."""
    if address.path is not None:
        use_write_ahead_log(engine)
    with writing(engine).begin() as connection:
        if address.path is None:
            connection.execute(select(func.pg_advisory_xact_lock(_KEY)))
        if find_revision(connection, address) != schema.REVISIONS[-1]:
            _migrate(connection)


def _migrate(connection: Connection) -> None:
    from alembic import command  # noqa: PLC0415  slow
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    with _ONE_AT_A_TIME, _quiet(logging.getLogger("alembic")):
        command.upgrade(config, "head")


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Alembic tells the log of every step."""
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _elsewhere(address: Address) -> str:
    if address.path is not None:
        return "give another file"
    return "give an empty database, or a schema of its own by adding ?options=-csearch_path=NAME"
