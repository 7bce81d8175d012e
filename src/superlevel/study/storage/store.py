"""The database of a SQL storage: there, of this version, and opened anew after a fork."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine

from superlevel.study.storage.address import Address, make_file
from superlevel.study.storage.engines import make_engine, make_forgiving_engine, use_write_ahead_log, writing
from superlevel.study.storage.failures import explained, missing
from superlevel.study.storage.upgrades import bring_up_to_date, check_current, find_revision

_INHERITED: list[Engine] = []
"""Of the process that this one was forked from. Kept for ever: to close them here would cut off the other process."""


class Store:
    """Transactions of one database. Nothing is opened before it is needed."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._current = False
        self._write_ahead = False
        self._open()

    def __reduce__(self) -> tuple[type[Store], tuple[Address]]:
        """Another process opens its own connections."""
        return type(self), (self.address,)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the store, if it is SQLite."""
        with explained(self.address), self._prepared().begin() as connection:
            yield connection

    @contextmanager
    def writing(self, *, make: bool = False) -> Iterator[Connection]:
        """A transaction that is stored as a whole at its end, or not at all if anything is raised."""
        with explained(self.address):
            engine = self._prepared(make=make)
            if self.address.path is not None and not self._write_ahead:
                use_write_ahead_log(engine)  # a copy that some other program made may be without it
                self._write_ahead = True
            with writing(engine).begin() as connection:
                yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A transaction that only reads, and sees one state of the store, on a server too."""
        with explained(self.address):
            engine = self._prepared()
            if self.address.path is None:
                engine = engine.execution_options(isolation_level="REPEATABLE READ")
            with engine.begin() as connection:
                yield connection

    @contextmanager
    def session(self) -> Iterator[Connection]:
        """A connection that nobody else uses, and that is closed at the end: what a server keeps for it ends then."""
        with explained(self.address):
            engine = self._prepared().execution_options(isolation_level="AUTOCOMMIT")
            with engine.connect() as connection:
                connection.detach()
                yield connection

    @property
    def engine(self) -> Engine:
        """Of this process."""
        return self._engine()

    @contextmanager
    def as_it_is(self) -> Iterator[Connection]:
        """A connection that reads whatever is there, which may be damaged."""
        engine = make_forgiving_engine(self.address)
        try:
            with explained(self.address), engine.connect() as connection:
                yield connection
        finally:
            engine.dispose()

    def upgrade(self) -> None:
        """Change the tables of an older version."""
        with explained(self.address):
            with self._engine().connect() as connection:
                if find_revision(connection, self.address) is None:
                    raise missing(self.address)
            bring_up_to_date(self._engine(), self.address)

    def close(self) -> None:
        """Give back connections."""
        self._engine().dispose()

    def _prepared(self, *, make: bool = False) -> Engine:
        """An engine for a store that is there and of this version."""
        engine = self._engine()
        if make and make_file(self.address):
            self._current = False
        if self._current:
            return engine
        with engine.connect() as connection:
            revision = find_revision(connection, self.address)
        if revision is not None:
            check_current(revision, self.address)
        elif make:
            bring_up_to_date(engine, self.address)
        else:
            raise missing(self.address)
        self._current = True
        return engine

    def _engine(self) -> Engine:
        if self._process != os.getpid():
            _INHERITED.append(self._opened)
            self._open()
        return self._opened

    def _open(self) -> None:
        self._process = os.getpid()
        self._opened = make_engine(self.address)
        weakref.finalize(self, _dispose, self._opened, self._process)


def _dispose(engine: Engine, process: int) -> None:
    if process == os.getpid():
        engine.dispose()
    else:
        _INHERITED.append(engine)
