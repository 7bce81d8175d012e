"""A model of one study in plain lists and dictionaries, and random calls to compare a storage with it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hypothesis import strategies as st

from superlevel.study.storage.protocol import Entry, Lease, Moved, Note, Storage
from superlevel.testing.logs import append, entry

FRESH = itertools.count()
"""Numbers for the names of studies: many examples share one storage."""


@dataclass
class Model:
    """One study, whose log begins with `entry(1)`."""

    entries: list[Entry] = field(default_factory=lambda: [entry(1)])
    open: set[int] = field(default_factory=set)
    """Numbers of the open tickets."""
    held: dict[int, Lease] = field(default_factory=dict)
    note: Note | None = None

    def leases(self) -> dict[int, Lease | None]:
        """See `Storage.leases`."""
        return {number: self.held.get(number) for number in sorted(self.open)}


class Command(Protocol):
    """A call that can be made to a storage and to a model."""

    def on_storage(self, storage: Storage, name: str, length: int, /) -> Any:
        """Make the call to a study whose log has so many entries, and return the result."""
        ...

    def on_model(self, model: Model, /) -> Any:
        """Make the call to a model, and return the result that a storage must give."""
        ...


@dataclass
class Append:
    """Append one entry."""

    late: int
    """The number of the entry minus the number of the next one: only 0 is right."""
    opened: list[int]
    closed: list[int]

    def on_storage(self, storage: Storage, name: str, length: int) -> Any:
        """See `Command.on_storage`."""
        try:
            append(storage, name, entry(length + 1 + self.late), opened=self.opened, closed=self.closed)
        except Moved:
            return "moved"
        return None

    def on_model(self, model: Model) -> Any:
        """See `Command.on_model`."""
        if self.late:
            return "moved"
        model.entries.append(entry(len(model.entries) + 1))
        for number in self.closed:
            model.open.discard(number)
            model.held.pop(number, None)
        model.open.update(self.opened)
        return None


@dataclass
class Claim:
    """Claim tickets."""

    count: int
    worker: str
    now: float
    until: float

    def on_storage(self, storage: Storage, name: str, _: int) -> Any:
        """See `Command.on_storage`."""
        return storage.claim(name, self.count, worker=self.worker, now=self.now, until=self.until)

    def on_model(self, model: Model) -> Any:
        """See `Command.on_model`."""
        got: list[int] = []
        while len(got) < self.count:
            left = [number for number in sorted(model.open) if number not in got]
            mine = [number for number in left if number in model.held and model.held[number].worker == self.worker]
            free = [number for number in left if number not in model.held or model.held[number].until < self.now]
            if not mine + free:
                break
            got.append((mine + free)[0])
        for number in got:
            model.held[number] = Lease(self.worker, self.until)
        return sorted(got)


@dataclass
class Remark:
    """Leave a note."""

    note: Note

    def on_storage(self, storage: Storage, name: str, _: int) -> Any:
        """See `Command.on_storage`."""
        return storage.note(name, self.note)

    def on_model(self, model: Model) -> Any:
        """See `Command.on_model`."""
        if model.note is None or self.note.seq >= model.note.seq:
            model.note = self.note


_NUMBERS = st.lists(st.integers(0, 8), max_size=6)
_TIMES = st.integers(0, 4).map(float)
COMMANDS = st.one_of(
    st.builds(Append, late=st.sampled_from([0, 0, 0, 0, -1, 1]), opened=_NUMBERS, closed=_NUMBERS.map(lambda n: n[:2])),
    st.builds(Claim, count=st.integers(0, 4), worker=st.sampled_from("abc"), now=_TIMES, until=_TIMES),
    st.builds(Remark, note=st.builds(Note, seq=st.integers(0, 5), text=st.sampled_from("xyz"))),
)
"""Random commands, with few tickets and few workers, so that they meet."""


def compare_with_model(storage: Storage, commands: Sequence[Command]) -> None:
    """Make the same calls to a new study and to its model, and assert that both give the same results."""
    name = f"study {next(FRESH)}"
    storage.create(name, entry(1))
    model = Model()
    for command in commands:
        assert command.on_storage(storage, name, len(model.entries)) == command.on_model(model)
    assert storage.read(name) == model.entries
    assert storage.leases(name) == model.leases()
    assert storage.noted(name) == model.note
