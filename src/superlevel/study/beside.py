"""What a store has beside a log, held against the log: its length, the open tickets, and the cached labels.

None of it decides a label. But a ticket that is not in the log would be suggested, and a note that knows more entries
than the log has means that entries were removed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from superlevel.study.events import DamagedError
from superlevel.study.ledger import Fate, Ledger
from superlevel.study.long import length_of
from superlevel.study.status import Reading
from superlevel.study.storage.protocol import Beside, Entry, Lease, Storage

SHOWN = 5  # tickets that a sentence names
REMEDY = "rebuild the table with `superlevel doctor --store URL --rescue NEW_URL`"


class Faults(NamedTuple):
    """What is wrong, a sentence each."""

    length: list[str]
    tickets: list[str]
    note: list[str]

    @property
    def all(self) -> list[str]:
        return [*self.length, *self.tickets, *self.note]


def read_all(storage: Storage, name: str) -> tuple[list[Entry], Beside]:
    """The entries of a study and what is beside them, as of one moment, whoever writes meanwhile."""
    entries = storage.read(name)
    while True:
        beside = storage.beside(name)
        if beside.length == len(entries):
            return entries, beside
        more = storage.read(name, after=len(entries))
        if not more:
            return entries, beside
        entries += more


def faults(ledger: Ledger, entries: Sequence[Entry], beside: Beside) -> Faults:
    """What of it does not follow from the log."""
    return Faults(_length(entries, beside), list(_tickets(ledger, beside)), list(_note(ledger, entries, beside)))


def _length(entries: Sequence[Entry], beside: Beside) -> list[str]:
    if beside.length == len(entries):
        return []
    return [f"the store has {len(entries):,} entries, and should have {beside.length!r}: restore a copy"]


def _tickets(ledger: Ledger, beside: Beside) -> Iterator[str]:
    numbers = [number for number, _, _ in beside.tickets]
    count = len(ledger.point)
    absent = [number for number in numbers if not isinstance(number, int) or not 1 <= number <= count]
    if absent:
        known = f"tickets 1 to {count:,}" if count else "no ticket"
        yield f"{_named(absent)} said to be open, and the log has {known}; {REMEDY}"
    there = {number for number in numbers if isinstance(number, int) and 1 <= number <= count}
    claimable: set[int] = set() if ledger.closed is not None else set(ledger.claimable.tolist())
    again = sorted(number for number in there if number not in claimable)
    if again:
        yield f"{_named(again)} said to be open, and the log says {_fates(ledger, again)}; {REMEDY}"
    missing = sorted(claimable - there)
    if missing:
        yield f"{_named(missing)} open in the log, and nobody can ask for it; {REMEDY}"
    strange = [number for number, worker, until in beside.tickets if not is_lease(worker, until)]
    if strange:
        yield f"{_named(strange)} reserved for somebody or until a time that cannot be read; {REMEDY}"


def is_lease(worker: object, until: object) -> bool:
    """Whether a worker and the end of a lease can be what was written."""
    if worker is None or until is None:
        return worker is None and until is None
    return isinstance(worker, str) and isinstance(until, int | float) and math.isfinite(until)


def _named(numbers: Sequence[object]) -> str:
    shown = ", ".join(repr(number) for number in numbers[:SHOWN])
    more = f" and {len(numbers) - SHOWN:,} more" if len(numbers) > SHOWN else ""
    return f"ticket {shown} is" if len(numbers) == 1 else f"tickets {shown}{more} are"


def _fates(ledger: Ledger, numbers: Sequence[int]) -> str:
    """What became of tickets that are not to be handed out."""
    fates = {Fate(int(ledger.fate[number - 1])) for number in numbers}
    words = {fate.name.lower() for fate in fates - {Fate.OPEN}}
    if Fate.OPEN in fates:  # they are not handed out one by one
        words.add("that the study is closed" if ledger.closed is not None else "that an audit holds it")
    return " or ".join(sorted(words))


def _note(ledger: Ledger, entries: Sequence[Entry], beside: Beside) -> Iterator[str]:
    if beside.note is None:
        return
    seq, text = beside.note
    if type(seq) is not int or not isinstance(text, str) or seq < 1:
        yield f"the cached labels cannot be read: they are said to be of {seq!r} entries"
        return
    if seq > len(entries):
        yield f"the cached labels are of {seq:,} entries, and the log has {len(entries):,}: the last ones were removed"
        return
    reading, spoilt = _reading(text)
    if spoilt:
        yield "the cached labels cannot be read: they are no JSON document"
    elif reading is None:  # of another version: nobody is shown it
        return
    elif reading.entries != seq:
        yield f"the cached labels are of {reading.entries:,} entries, and the store says of {seq:,}"
    elif reading.head and reading.head != entries[seq - 1].digest:
        yield f"the cached labels are of another log: their entry {seq:,} is not the one that is there"
    elif not ledger.has_been(reading.labels):
        yield f"the cached labels are {length_of(reading.labels):,}, of {ledger.labels:,} points"


def _reading(text: str) -> tuple[Reading | None, bool]:
    """What a note says, and whether it is no document at all."""
    try:
        return Reading.model_validate_json(text), False
    except ValidationError:
        pass
    try:
        return None, not isinstance(json.loads(text), dict)
    except ValueError:
        return None, True


def check_claimed(known: Ledger, now: Ledger, numbers: Sequence[int]) -> None:
    """That tickets which a store handed out are in the log, and were open when it was last read.

    Once a ticket has a result it is never open again, so that results of others in the meantime do no harm.
    """
    count, before = len(now.point), len(known.point)
    wrong = [k for k in numbers if not 1 <= k <= count or (k <= before and known.fate[k - 1] != Fate.OPEN)]
    if wrong:
        raise DamagedError(f"the table of open tickets is damaged: {_named(wrong)} not open in the log; {REMEDY}")


def sound(leases: Mapping[int, Lease | None]) -> dict[int, Lease | None]:
    """The open tickets with their leases; one that cannot be read counts as none, and `verify` names it."""
    return {k: lease if lease is None or is_lease(*lease) else None for k, lease in leases.items()}
