"""What several processes do to one store. Imports little, because each of them imports it."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

from superlevel.study.storage import Entry, Moved, Storage, open_storage

FAR = 2e9
"""A time in the future."""


def entry(seq: int, payload: str = "{}") -> Entry:
    return Entry(seq=seq, kind="told", at="2024-05-01T12:00:00+00:00", payload=payload, digest=f"digest {seq}")


def append(storage: Storage, name: str, new: Entry, *, opened: Sequence[int] = (), closed: Sequence[int] = ()) -> None:
    """Append one entry in a turn of its own. Raise Moved if it is not the next one."""
    with storage.turn(name, after=new.seq - 1) as turn:
        turn.append(new, opened=opened, closed=closed)


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


def append_some(storage: Storage, name: str, count: int) -> list[int]:
    """So many entries of ours, however often somebody else is first; their numbers."""
    done: list[int] = []
    length = 0
    while len(done) < count:
        length += len(storage.read(name, after=length))
        try:
            append(storage, name, entry(length + 1), opened=[length + 1])
        except Moved:
            continue
        length += 1
        done.append(length)
    return done


def claim_all(storage: Storage, name: str, worker: str) -> list[int]:
    """Tickets, three more at a time, until there are none."""
    held: list[int] = []
    while True:
        now = storage.claim(name, len(held) + 3, worker=worker, now=FAR, until=FAR + 1)
        if now == held:
            return held
        assert set(held) <= set(now)
        held = now


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
