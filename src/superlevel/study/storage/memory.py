"""Logs in this process only, for tests and notebooks: gone when it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from superlevel.study.storage.protocol import Beside, Entry, Lease, Moved, Note
from superlevel.study.storage.refusals import check_entry, check_first, check_same, check_text, taken, unknown


@dataclass
class _Study:
    entries: list[Entry]
    tickets: dict[int, Lease | None] = field(default_factory=dict)
    note: Note | None = None
    snapshot: Note | None = None


@dataclass
class _Turn:
    entries: list[Entry]
    length: int
    additions: list[Callable[[_Study], None]] = field(default_factory=list)

    def append(self, entry: Entry, *, opened: Sequence[int] = (), closed: Sequence[int] = ()) -> None:
        """See `Turn.append`."""
        check_entry(entry)
        if entry.seq != self.length + 1:
            raise Moved(f"there are {self.length} entries")
        self.length += 1
        gone, new = [int(number) for number in closed], [int(number) for number in opened]

        def add(study: _Study) -> None:
            study.entries.append(entry)
            for number in gone:
                study.tickets.pop(number, None)
            for number in new:
                study.tickets.setdefault(number, None)

        self.additions.append(add)


class Memory:
    """A storage that several threads may share.

    >>> storage = Memory()
    >>> storage.create("sea", Entry(seq=1, kind="created", at="2024-05-01T12:00:00Z", payload="{}", digest="d"))
    >>> storage.names()
    ['sea']
    """

    def __init__(self) -> None:
        self._studies: dict[str, _Study] = {}
        self._seats: set[tuple[str, str]] = set()
        self._lock = Lock()

    @property
    def url(self) -> str:
        """Opens a new one: what is in memory cannot be opened again."""
        return "memory:"

    def names(self) -> list[str]:
        """See `Storage.names`."""
        with self._lock:
            return sorted(self._studies)

    def create(self, name: str, first: Entry) -> None:
        """See `Storage.create`."""
        check_first(name, first)
        with self._lock:
            if name in self._studies:
                raise taken(name)
            self._studies[name] = _Study([first])

    def read(self, name: str, *, after: int = 0, head: str | None = None) -> list[Entry]:
        """See `Storage.read`."""
        with self._lock:
            return self._study(name, after, head).entries[max(after, 0) :]

    @contextmanager
    def turn(self, name: str, *, after: int, head: str | None = None) -> Iterator[_Turn]:
        """See `Storage.turn`."""
        with self._lock:
            study = self._study(name, after, head)
            turn = _Turn(entries=study.entries[max(after, 0) :], length=len(study.entries))
            yield turn
            for addition in turn.additions:  # only now, because anything may have been raised
                addition(study)

    def claim(self, name: str, count: int, *, worker: str, now: float, until: float) -> list[int]:
        """See `Storage.claim`."""
        check_text("worker", worker)
        with self._lock:
            tickets = self._study(name).tickets
            own = sorted(number for number, lease in tickets.items() if lease and lease.worker == worker)
            free = sorted(
                number
                for number, lease in tickets.items()
                if lease is None or (lease.worker != worker and lease.until < now)
            )
            chosen = sorted([*own, *free][: max(count, 0)])
            tickets.update(dict.fromkeys(chosen, Lease(worker, float(until))))
            return chosen

    def leases(self, name: str) -> dict[int, Lease | None]:
        """See `Storage.leases`."""
        with self._lock:
            return dict(sorted(self._study(name).tickets.items()))

    @contextmanager
    def seat(self, name: str, worker: str) -> Iterator[bool]:
        """See `Storage.seat`."""
        check_text("worker", worker)
        with self._lock:
            self._study(name)
            free = (name, worker) not in self._seats
            self._seats.add((name, worker))
        try:
            yield free
        finally:
            if free:
                self._seats.discard((name, worker))

    def note(self, name: str, note: Note, *, head: str | None = None) -> None:
        """See `Storage.note`."""
        check_text("note.text", note.text)
        with self._lock:
            study = self._study(name, note.seq, head)
            if study.note is None or study.note.seq <= note.seq:
                study.note = note

    def noted(self, name: str) -> Note | None:
        """See `Storage.noted`."""
        with self._lock:
            return self._study(name).note

    def keep_snapshot(self, name: str, snapshot: Note) -> None:
        """See `Storage.keep_snapshot`."""
        check_text("snapshot.text", snapshot.text)
        with self._lock:
            self._study(name).snapshot = snapshot

    def snapshot(self, name: str) -> Note | None:
        """See `Storage.snapshot`."""
        with self._lock:
            return self._study(name).snapshot

    def beside(self, name: str) -> Beside:
        """See `Storage.beside`."""
        with self._lock:
            study = self._study(name)
            rows = sorted(study.tickets.items())
            tickets = [(number, *(lease or (None, None))) for number, lease in rows]
            return Beside(len(study.entries), tickets, study.note)

    def close(self) -> None:
        """Nothing to give back."""

    def _study(self, name: str, seq: int = 0, head: str | None = None) -> _Study:
        """A study by its name, whose entry ``seq`` has the digest ``head`` where one is given."""
        if name not in self._studies:
            raise unknown(name, sorted(self._studies))
        study = self._studies[name]
        digest = study.entries[seq - 1].digest if 0 < seq <= len(study.entries) else None
        check_same(name, seq, known=head, found=digest)
        return study
