"""A study as plain lists and dictionaries, and calls that can be made to it and to a storage alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from superlevel.study.storage import Entry, Lease, Moved, Note, Storage
from tests.study.storage.crowd import append, entry


@dataclass
class Model:
    """The same promises in the shortest words."""

    entries: list[Entry] = field(default_factory=lambda: [entry(1)])
    open: set[int] = field(default_factory=set)
    held: dict[int, Lease] = field(default_factory=dict)
    note: Note | None = None

    def leases(self) -> dict[int, Lease | None]:
        return {number: self.held.get(number) for number in sorted(self.open)}


@dataclass
class Append:
    late: int
    """How far its number is from the one whose turn it is."""
    opened: list[int]
    closed: list[int]

    def on_storage(self, storage: Storage, name: str, length: int) -> Any:
        try:
            append(storage, name, entry(length + 1 + self.late), opened=self.opened, closed=self.closed)
        except Moved:
            return "moved"
        return None

    def on_model(self, model: Model) -> Any:
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
    count: int
    worker: str
    now: float
    until: float

    def on_storage(self, storage: Storage, name: str, _: int) -> Any:
        return storage.claim(name, self.count, worker=self.worker, now=self.now, until=self.until)

    def on_model(self, model: Model) -> Any:
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
    note: Note

    def on_storage(self, storage: Storage, name: str, _: int) -> Any:
        return storage.note(name, self.note)

    def on_model(self, model: Model) -> Any:
        if model.note is None or self.note.seq >= model.note.seq:
            model.note = self.note


_NUMBERS = st.lists(st.integers(0, 8), max_size=6)
_TIMES = st.integers(0, 4).map(float)
COMMANDS = st.one_of(
    st.builds(Append, late=st.sampled_from([0, 0, 0, 0, -1, 1]), opened=_NUMBERS, closed=_NUMBERS.map(lambda n: n[:2])),
    st.builds(Claim, count=st.integers(0, 4), worker=st.sampled_from("abc"), now=_TIMES, until=_TIMES),
    st.builds(Remark, note=st.builds(Note, seq=st.integers(0, 5), text=st.sampled_from("xyz"))),
)
