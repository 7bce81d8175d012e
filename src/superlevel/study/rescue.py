"""What is intact of a damaged store, copied to a new one."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from superlevel.errors import InputError, SuperlevelError
from superlevel.study.events import DamagedError
from superlevel.study.ledger import Ledger, fold
from superlevel.study.storage.protocol import Entry, Storage


class Readable(Storage, Protocol):
    """A storage that reads as far as it can."""

    def salvaged(self) -> dict[str, list[Entry]]:
        """The longest beginning of every log that can be read, by the names of the studies that can still be found."""
        ...


class Rescued(NamedTuple):
    """What could be copied of one study."""

    name: str
    entries: int
    measurements: int
    lost: str
    """Why no more, in words; empty where all of it was copied."""


def rescue(damaged: Readable, new: Storage) -> list[Rescued]:
    """Copy the intact beginning of every log; the damaged store is not changed."""
    return [_copied(name, found, damaged, new) for name, found in damaged.salvaged().items()]


def _copied(name: str, found: list[Entry], damaged: Readable, new: Storage) -> Rescued:
    entries, wrong = _intact(found)
    lost = wrong or _missing(name, damaged)
    if not entries:
        return Rescued(name, 0, 0, lost or "nothing of it can be read")
    ledger = fold(entries)
    first, *others = entries
    new.create(name, first)
    with new.turn(name, after=1) as turn:
        for entry in others:  # tickets are opened with the last one, when it is known which of them still are
            turn.append(entry, opened=_open(ledger) if entry is others[-1] else ())
    return Rescued(name, ledger.length, ledger.samples, lost)


def _intact(entries: list[Entry]) -> tuple[list[Entry], str]:
    """The longest beginning that makes sense, and what is wrong with what follows: a log is as good as its worst."""
    good, beyond, wrong = 0, len(entries) + 1, ""
    while beyond - good > 1:
        middle = beyond - 1 if beyond > len(entries) else (good + beyond) // 2  # most logs are sound
        try:
            fold(entries[:middle])
            good = middle
        except (DamagedError, InputError) as error:  # an InputError is of a newer version
            beyond, wrong = middle, str(error)
    return entries[:good], wrong


def _open(ledger: Ledger) -> list[int]:
    return [] if ledger.closed is not None else ledger.claimable.tolist()


def _missing(name: str, damaged: Readable) -> str:
    """Why the log cannot be read as a whole; empty where it can."""
    try:
        damaged.read(name)
    except SuperlevelError as error:
        return str(error)
    return ""


def check_new(storage: Storage) -> None:
    """That nothing is there yet that could be mixed up with what is rescued."""
    try:
        names = storage.names()
    except InputError:  # there is no store yet
        return
    if names:
        raise InputError("--rescue", f"a store with {len(names)} studies", "name a new one")
