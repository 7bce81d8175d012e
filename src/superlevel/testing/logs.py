"""Small logs: entries, studies, and workers that append or claim until they are done."""

from __future__ import annotations

from collections.abc import Sequence

from superlevel.study.storage.protocol import Entry, Moved, Storage

FAR = 2e9
"""A time in the future, in seconds since 1970."""


def entry(seq: int, payload: str = "{}") -> Entry:
    """Return an entry with this number. A storage does not interpret its text."""
    return Entry(seq=seq, kind="told", at="2024-05-01T12:00:00+00:00", payload=payload, digest=f"digest {seq}")


def append(storage: Storage, name: str, new: Entry, *, opened: Sequence[int] = (), closed: Sequence[int] = ()) -> None:
    """Append one entry in a turn of its own. Raise Moved if it is not the next one."""
    with storage.turn(name, after=new.seq - 1) as turn:
        turn.append(new, opened=opened, closed=closed)


def study(storage: Storage, *, tickets: int = 0, name: str = "sea") -> str:
    """Create a study with this many open tickets, numbered from 0, and return its name.

    Its log has one entry, or two if there are tickets.
    """
    storage.create(name, entry(1))
    if tickets:
        append(storage, name, entry(2), opened=range(tickets))
    return name


def append_some(storage: Storage, name: str, count: int) -> list[int]:
    """Append so many entries and return their numbers. If somebody else appends first, read on and try again."""
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
    """Claim three more tickets at a time until no ticket is free, and return all that the worker holds."""
    held: list[int] = []
    while True:
        now = storage.claim(name, len(held) + 3, worker=worker, now=FAR, until=FAR + 1)
        if now == held:
            return held
        assert set(held) <= set(now)
        held = now
