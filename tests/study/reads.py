"""A storage that counts how often it is read."""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager
from typing import Any

from superlevel.study.storage.protocol import Entry, Lease, Note, Storage, Turn


class Counting:
    """A storage that forwards every call to another one, and counts the calls that read from it.

    `calls` has a number for each of "read", "noted", "leases", "turn" and "claim". A call counts even if it is refused.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        """What only some storages have, such as `Sql.check`."""
        if name.startswith("_"):  # pickle asks for these before there is a storage
            raise AttributeError(name)
        return getattr(self._storage, name)

    @property
    def url(self) -> str:
        return self._storage.url

    def names(self) -> list[str]:
        return self._storage.names()

    def create(self, name: str, first: Entry) -> None:
        self._storage.create(name, first)

    def read(self, name: str, *, after: int = 0, head: str | None = None) -> list[Entry]:
        self.calls["read"] += 1
        return self._storage.read(name, after=after, head=head)

    def turn(self, name: str, *, after: int, head: str | None = None) -> AbstractContextManager[Turn]:
        self.calls["turn"] += 1
        return self._storage.turn(name, after=after, head=head)

    def claim(self, name: str, count: int, *, worker: str, now: float, until: float) -> list[int]:
        self.calls["claim"] += 1
        return self._storage.claim(name, count, worker=worker, now=now, until=until)

    def leases(self, name: str) -> dict[int, Lease | None]:
        self.calls["leases"] += 1
        return self._storage.leases(name)

    def note(self, name: str, note: Note, *, head: str | None = None) -> None:
        self._storage.note(name, note, head=head)

    def keep_snapshot(self, name: str, snapshot: Note) -> None:
        self._storage.keep_snapshot(name, snapshot)

    def snapshot(self, name: str) -> Note | None:
        return self._storage.snapshot(name)

    def noted(self, name: str) -> Note | None:
        self.calls["noted"] += 1
        return self._storage.noted(name)

    def close(self) -> None:
        self._storage.close()
