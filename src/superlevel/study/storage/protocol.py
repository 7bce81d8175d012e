"""Where logs are kept: an append-only list of entries for each study, and who holds which open ticket.

A storage does not interpret entries. It makes three promises. When a turn has ended, its entries are stored for good.
Nobody else appends to a log during a turn. No two workers hold the same ticket.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from superlevel.errors import SuperlevelError


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

    def read(self, name: str, *, after: int = 0) -> list[Entry]:
        """Entries with seq > after, in order. InputError, with the names there are, if there is no such study."""
        ...

    def turn(self, name: str, *, after: int) -> AbstractContextManager[Turn]:
        """Read what is new since entry ``after``, decide, and append, without anybody in between.

        Everything is stored when it ends, or nothing if anything is raised. Others wait meanwhile: keep it short.
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

    def note(self, name: str, note: Note) -> None:
        """Keep this beside the log, in place of what was noted before, unless that is from more entries."""
        ...

    def noted(self, name: str) -> Note | None:
        """What was noted last."""
        ...

    def beside(self, name: str) -> Beside:
        """Length, tickets and note as they are stored, for whoever checks them."""
        ...

    def close(self) -> None:
        """Give back connections; the storage may still be used, and opens new ones then."""
        ...
