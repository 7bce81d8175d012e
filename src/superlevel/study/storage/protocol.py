"""Where logs are kept: an append-only list of entries for each study, and who holds which open ticket.

A storage does not interpret entries. It makes four promises. When a turn has ended, its entries are stored for good.
Nobody else appends to a log during a turn. No two workers hold the same ticket. Whoever has read a log that was
restored or replaced since gets a ReplacedError, and stores nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from superlevel.errors import InputError, SuperlevelError


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of a log, as it is stored."""

    seq: int
    """Its place, from 1 and without gaps."""
    kind: str
    at: str
    """When it was written: UTC, ISO 8601."""
    payload: str
    """JSON text, kept to the byte: digests are of the text."""
    digest: str
    """Of this entry and all before it."""
    attached: bytes = field(default=b"", repr=False)
    """What is stored beside it; the payload names its digest."""


class Lease(NamedTuple):
    """Who is measuring, and until when the ticket is kept for them."""

    worker: str
    until: float
    """Seconds since 1970."""


class Note(NamedTuple):
    """What somebody computed from the first entries of a log; anyone can compute it again."""

    seq: int
    """From so many entries."""
    text: str
    """JSON."""


class Beside(NamedTuple):
    """What a store has of a study beside its entries, as it is there: nothing of it is checked."""

    length: object
    """How many entries there should be."""
    tickets: list[tuple[object, object, object]]
    """Number, worker and end of the lease of every ticket that is open."""
    note: tuple[object, object] | None
    """Number of entries and text of the note."""


class StorageError(SuperlevelError):
    """The store cannot be used; the sentence says why, and what to do."""


class ReplacedError(InputError):
    """The log is not the one that was read before: somebody restored a backup, or a server lost its last entries."""

    @classmethod
    def of(cls, name: str, seq: int) -> ReplacedError:
        """For a process that has read this study up to entry ``seq``."""
        got = f"{name!r}, whose log was restored or replaced after entry {seq:,} had been read from it"
        remedy = (
            "nothing was stored; open the study again (`study.reopen()` in Python), and tell your results since then "
            "again: those that it has already change nothing"
        )
        return cls("study", got, remedy)


class Turn(Protocol):
    """Alone with a log: nobody else appends before it ends."""

    @property
    def entries(self) -> list[Entry]:
        """What is new."""
        ...

    def append(self, entry: Entry, *, opened: Sequence[int] = (), closed: Sequence[int] = ()) -> None:
        """Add the next entry. Raise Moved if the log does not have exactly entry.seq - 1 entries.

        ``opened`` are the numbers of tickets that workers may claim from now on, ``closed`` of those that they may not
        claim any more. A ticket that is in both is open, and nobody holds it.
        """
        ...


class Moved(Exception):  # noqa: N818  not a failure: read what is new and try again
    """The entry is not the next one of the log: somebody else appended first."""


class Storage(Protocol):
    """The smallest interface that a campaign needs. All methods may be called from several processes at once."""

    @property
    def url(self) -> str:
        """What opens it again, without a password."""
        ...

    def names(self) -> list[str]:
        """Of all studies, sorted."""
        ...

    def create(self, name: str, first: Entry) -> None:
        """A new study, whose log begins with this entry. InputError if the name is taken."""
        ...

    def read(self, name: str, *, after: int = 0, head: str | None = None) -> list[Entry]:
        """Entries with seq > after, in order. InputError, with the names there are, if there is no such study.

        ``head`` is the digest of entry ``after`` as the caller knows it. ReplacedError if the log has no such entry, or
        one with another digest. None: the caller knows none.
        """
        ...

    def turn(self, name: str, *, after: int, head: str | None = None) -> AbstractContextManager[Turn]:
        """Read what is new since entry ``after``, decide, and append, without anybody in between.

        Everything is stored when it ends, or nothing if anything is raised. Others wait meanwhile: keep it short.
        ``head`` as for `read`: it is compared in the same transaction.
        """
        ...

    def claim(self, name: str, count: int, *, worker: str, now: float, until: float) -> list[int]:
        """At most ``count`` open tickets, for this worker and until then, by ascending number.

        First those that the worker holds already, which are renewed even if their lease has ended; then free ones, that
        nobody holds or whose lease ended before ``now``. No other worker gets them meanwhile, and nobody waits for
        another's claim longer than it takes.
        """
        ...

    def leases(self, name: str) -> dict[int, Lease | None]:
        """Every open ticket by its number, ascending, with its lease; None where nobody ever held it."""
        ...

    def seat(self, name: str, worker: str) -> AbstractContextManager[bool]:
        """Whether this caller alone is that worker of the study, until the context ends or the process does.

        False where another one is. Nobody waits. However a process ends, its seats are free then.
        """
        ...

    def note(self, name: str, note: Note, *, head: str | None = None) -> None:
        """Keep this beside the log, in place of what was noted before, unless that is from more entries.

        ``head`` as for `read`: the digest of entry ``note.seq``.
        """
        ...

    def noted(self, name: str) -> Note | None:
        """What was noted last."""
        ...

    def keep_snapshot(self, name: str, snapshot: Note) -> None:
        """Keep this beside the log, in place of the snapshot before. A storage may leave it out."""
        ...

    def snapshot(self, name: str) -> Note | None:
        """The snapshot that was kept last; None if there is none, or if it cannot be read."""
        ...

    def beside(self, name: str) -> Beside:
        """Length, tickets and note as they are stored, for whoever checks them."""
        ...

    def close(self) -> None:
        """Give back connections; the storage may still be used, and opens new ones then."""
        ...
