"""What several processes do to one store. Imports little, because each of them imports it."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

from superlevel.study.storage import open_storage
from superlevel.testing.logs import append, entry


def in_processes(work: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The results of some calls, each in a process of its own and all at once."""
    with context().Pool(len(calls)) as pool:
        results: list[Any] = pool.starmap(work, calls, chunksize=1)
    return results


def context() -> Any:
    """Processes that come from one which has imported everything and has no threads."""
    server: Any = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload([__name__, "superlevel.study.storage.sql", "psycopg", "alembic.command"])
    return server


def create(url: str, name: str) -> list[str]:
    """A study in a store that may not be there; the names seen right after."""
    storage = open_storage(url)
    storage.create(name, entry(1))
    seen = storage.names()
    storage.close()
    return seen


def append_and_tell(url: str, name: str, teller: Connection) -> None:
    """Entries without end; says each number after it is stored."""
    storage = open_storage(url)
    seq = len(storage.read(name))
    while True:
        seq += 1
        append(storage, name, entry(seq, "x" * 1000), opened=[2 * seq, 2 * seq + 1], closed=[2 * seq - 1])
        teller.send(seq)


def sit(url: str, name: str, worker: str, teller: Connection) -> None:
    """Take a seat, say whether it was free, and keep it."""
    with open_storage(url).seat(name, worker) as free:
        teller.send(free)
        time.sleep(600)
