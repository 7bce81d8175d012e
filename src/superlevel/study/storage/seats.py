"""Who alone is a worker of a study: a lock that ends with the process which has it, however that ends.

Beside a SQLite file it is the lock of another file, which is there only while somebody has the seat, or was killed with
it. On a PostgreSQL server it is an advisory lock of a connection.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from sqlalchemy import func, select

from superlevel.study.storage.protocol import StorageError
from superlevel.study.storage.store import Store

try:
    import fcntl
except ImportError:  # where files cannot be locked like this, everybody gets the seat
    fcntl = None  # type: ignore[assignment]


@contextmanager
def on_server(store: Store, study: int, worker: str) -> Iterator[bool]:
    """The seat of a worker of the study with that number."""
    key = func.hashtext(f"seat of {worker}")  # claims lock the worker itself
    with store.session() as connection:
        yield bool(connection.scalar(select(func.pg_try_advisory_lock(study, key))))


@contextmanager
def beside(database: Path, name: str, worker: str) -> Iterator[bool]:
    """The seat of a worker of the study with that name, by a file beside the database."""
    seat = blake2b(f"{name}\n{worker}".encode(), digest_size=8).hexdigest()
    path = database.with_name(f"{database.name}-seat-{seat}")
    if fcntl is None:
        yield True
        return
    file = _locked(path)
    try:
        yield file is not None
    finally:
        if file is not None:
            path.unlink(missing_ok=True)  # while it is locked: whoever has opened it sees that it is gone
            os.close(file)


def _locked(path: Path) -> int | None:
    """The file with this name, open and locked; None where another one has locked it."""
    while True:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise _unusable(path, error) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(path, file):
                return file
        except BlockingIOError:
            os.close(file)
            return None
        except OSError as error:
            os.close(file)
            raise _unusable(path, error) from error
        os.close(file)


def _is_at(path: Path, file: int) -> bool:
    """Whether the open file still has this name."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _unusable(path: Path, error: OSError) -> StorageError:
    return StorageError(f"{str(path)!r} cannot be locked ({error.strerror}): make the folder of the store writable")
