"""The fold of a log: every ticket with what became of it. Cheap, and needs no method, kernel or solver.

A ticket is one measurement. It is numbered when it is planned, or when it is told if nobody planned it, and keeps its
number for good: results, corrections and withdrawals name it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np

from superlevel.arrays import Array, Indices, Mask, frozen
from superlevel.coordinates import Coordinates
from superlevel.goals import Goal, restore
from superlevel.identifiers import continued
from superlevel.scales import Cell
from superlevel.study.events import (
    RESCUE,
    Asked,
    Closed,
    Corrected,
    Created,
    DamagedError,
    Fit,
    Placed,
    Programmed,
    Told,
    Withdrawn,
    read,
)
from superlevel.study.long import length_of
from superlevel.study.storage.protocol import Entry
from superlevel.transforms import Transform, as_transform

COLUMNS = ("point", "asking", "fate", "value", "noise", "late", "told", "ended", "first")  # of tickets
ARRAYS = ("askings", "former", "refined", "elsewhere")  # of a ledger, which are lists while it is written


class Fate(IntEnum):
    """What became of a ticket."""

    OPEN = 0
    MEASURED = 1
    FAILED = 2
    WITHDRAWN = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Asking:
    """One entry that planned measurements."""

    seq: int
    first: int
    """The number of its first ticket."""
    count: int
    """Of its tickets."""
    phase: int
    audits: bool
    """Whether it planned an audit."""
    fits: bool
    """Whether it has an estimate of an earlier version."""
    text: str
    """The payload."""
    read: Asked | None = None
    """The payload where it was read already; a snapshot has the text only, because few plans are looked at again."""

    @cached_property
    def asked(self) -> Asked:
        return Asked.model_validate_json(self.text) if self.read is None else self.read

    @property
    def tickets(self) -> range:
        return range(self.first, self.first + self.count)


@dataclass(frozen=True, kw_only=True, eq=False)
class Ledger:
    """Everything that a log says, ticket by ticket. Ticket k is at position k - 1 of the arrays."""

    created: Created
    length: int
    """Entries."""
    head: str
    """The digest of the last one."""
    times: tuple[str, str]
    """When the first and the last entry were written."""
    askings: tuple[Asking, ...]
    refined: Array
    """(r, d) points that were added since the study was created."""
    elsewhere: Array
    """(m, d) places of measurements that are not among the points."""
    point: Indices
    """(T,) the number of the point; from n on, those of the places elsewhere."""
    asking: Indices
    """(T,) position in `askings`, -1 for what nobody planned."""
    fate: Indices
    """(T,)"""
    value: Array
    """(T,) NaN where there is none."""
    noise: Array
    """(T,) the measurement's own deviation, NaN where it has none."""
    late: Mask
    """(T,)"""
    told: Indices
    """(T,) the entry that told the value, 0 where there is none."""
    ended: Indices
    """(T,) the first entry that told or withdrew the ticket, 0 while it is open: no later entry changes it."""
    first: Indices
    """(T,) its fate after that entry."""
    reasons: dict[int, str]
    """Remarks, by ticket."""
    former: tuple[tuple[int, float, float], ...]
    """Point, value and noise of what was measured once, and corrected or withdrawn since."""
    changed: int
    """The last entry after which labels may differ from those before."""
    revised: int
    """The last entry that corrected or withdrew something, or added points: earlier labels are not shown."""
    program: str
    """What `find` calls; empty where it has not called anything."""
    closed: Closed | None

    @cached_property
    def measured(self) -> Indices:
        """Positions of the tickets that count, in canonical order: by point, value and noise, whoever came first."""
        at = np.flatnonzero(self.fate == Fate.MEASURED)
        return frozen(at[np.lexsort((self.noise[at], self.value[at], self.point[at]))])

    @property
    def samples(self) -> int:
        """Measurements that count."""
        return int(np.count_nonzero(self.fate == Fate.MEASURED))

    @property
    def open(self) -> Indices:
        """Numbers of the tickets that wait for a result."""
        return np.flatnonzero(self.fate == Fate.OPEN) + 1

    @property
    def claimable(self) -> Indices:
        """Numbers of the open tickets that workers may ask for: those of audits are handed out with the audit."""
        audits = [place for place, item in enumerate(self.askings) if item.audits]
        return self.open[~np.isin(self.asking[self.open - 1], audits)]

    @cached_property
    def repeats(self) -> Mask:
        """(T,) the tickets at whose point an earlier one was measured, or waits for its result."""
        counting = np.flatnonzero((self.fate == Fate.MEASURED) | (self.fate == Fate.OPEN))
        points, first = np.unique(self.point[counting], return_index=True)
        earliest = np.full(len(self.everywhere), len(self.point), dtype=np.int64)
        earliest[points] = counting[first]
        return frozen(np.arange(len(self.point)) > earliest[self.point])

    def asked(self, ticket: int) -> Asked:
        """The plan of a ticket that somebody planned."""
        return self.askings[int(self.asking[ticket - 1])].asked

    @property
    def n(self) -> int:
        return len(self.created.points) + len(self.refined)

    @cached_property
    def places(self) -> Array:
        """(n, d) the points."""
        given = self.created.points.known
        return frozen(np.concatenate([given, self.refined])) if len(self.refined) else given

    @cached_property
    def coordinates(self) -> Coordinates:
        """What the coordinates are called, and what each may be."""
        return self.created.coordinates

    def cells(self, point: int) -> tuple[Cell, ...]:
        """(d,) a point, or a place elsewhere, as people see it."""
        return self.coordinates.cells(self.everywhere[point].tolist())

    @cached_property
    def everywhere(self) -> Array:
        """(n + m, d) the points, and after them the places elsewhere."""
        return frozen(np.concatenate([self.places, self.elsewhere])) if len(self.elsewhere) else self.places

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """(n,) what people call each point; empty where points have no names."""
        return continued(self.created.ids, len(self.refined))

    def id_of(self, point: int) -> str:
        """What people call a point; empty where points have no names, and for a place elsewhere."""
        return self.ids[point] if point < len(self.ids) else ""

    @cached_property
    def goal(self) -> Goal:
        """What is asked."""
        return restore(self.created.goal)

    @cached_property
    def scale(self) -> Transform:
        """The transform of the values."""
        return as_transform(self.created.transform)

    @cached_property
    def labels(self) -> int:
        """Labels of all points: one for each level."""
        return self.n * max(1, len(self.goal.levels))

    def has_been(self, text: str) -> bool:
        """Whether a text may have been the labels of some moment: points are added, and never removed."""
        each, labels = self.labels // self.n, length_of(text)
        return labels % each == 0 and len(self.created.points) <= labels // each <= self.n

    @property
    def counts(self) -> Indices:
        """(n,) measurements at each point."""
        return self._counted[0][: self.n]

    @property
    def averages(self) -> Array:
        """(n,) their means, NaN where there is none."""
        return self._counted[1][: self.n]

    @property
    def further(self) -> tuple[Indices, Array]:
        """Counts (m,) and means (m,) of the measurements at the places elsewhere."""
        counts, averages = self._counted
        return counts[self.n :], averages[self.n :]

    @cached_property
    def _counted(self) -> tuple[Indices, Array]:
        """Counts and means of the measurements at each of the n + m places."""
        at, everywhere = self.measured, self.n + len(self.elsewhere)
        counts = np.bincount(self.point[at], minlength=everywhere).astype(np.int64)
        sums = np.bincount(self.point[at], self.value[at], minlength=everywhere)
        return counts, np.asarray(np.divide(sums, counts, out=np.full(everywhere, np.nan), where=counts > 0))

    @property
    def fit(self) -> Fit | None:
        """The estimate that holds now, in logs of earlier versions; this version estimates when it replays the log."""
        return next((item.asked.fit for item in reversed(self.askings) if item.fits), None)


def fold(entries: Iterable[Entry], start: Ledger | None = None) -> Ledger:
    """What a log says: of its beginning, and of what came since."""
    said = read(entries, after=start.length if start else 0, head=start.head if start else "")
    if start is None:
        if not said:
            raise DamagedError("the log is empty: take the copy that you keep")
        (first, created), *said = said
        if not isinstance(created, Created):
            raise DamagedError(f"entry 1 is {first.kind!r} and not 'created': take the copy that you keep")
        work = _Work.begin(created, first)
    elif said:
        work = _Work.resume(start)
    else:
        return start
    for entry, payload in said:
        work.take(entry, payload)
    return work.finished()


def opened(before: Ledger, after: Ledger) -> list[int]:
    """Tickets that the entries between two moments opened."""
    return [int(ticket) for ticket in after.claimable if ticket > len(before.point)]


def shut(before: Ledger, after: Ledger) -> list[int]:
    """Tickets that were open before, and that nobody is to measure any more."""
    were = before.open
    gone = were if after.closed is not None else were[after.fate[were - 1] != Fate.OPEN]
    return [int(ticket) for ticket in gone]


def as_places(given: list[list[float]], dimension: int) -> Array:
    """(m, d) coordinates; a DamagedError where they are not as many as the points have."""
    if any(len(row) != dimension for row in given):
        raise DamagedError(f"a place elsewhere does not have {dimension} coordinates; {RESCUE}")
    return frozen(np.array(given, dtype=np.float64).reshape(-1, dimension))


@dataclass(kw_only=True, eq=False)
class _Work:
    """A ledger that is being written: lists grow, arrays would be copied for every entry."""

    fields: dict[str, Any]
    point: list[int]
    asking: list[int]
    fate: list[int]
    value: list[float]
    noise: list[float]
    late: list[bool]
    told: list[int]
    ended: list[int]
    first: list[int]

    @classmethod
    def begin(cls, created: Created, entry: Entry) -> _Work:
        fields = {
            "created": created,
            "times": (entry.at, entry.at),
            "askings": [],
            "refined": [],
            "elsewhere": [],
            "reasons": {},
            "former": [],
            "changed": 1,
            "revised": 0,
            "program": "",
            "closed": None,
            "length": 1,
            "head": entry.digest,
        }
        return cls(fields=fields, **{name: [] for name in COLUMNS})

    @classmethod
    def resume(cls, ledger: Ledger) -> _Work:
        kept = ("created", "times", "changed", "revised", "program", "closed", "length", "head")
        fields = {name: getattr(ledger, name) for name in kept}
        fields |= {"askings": list(ledger.askings)}
        fields |= {"refined": ledger.refined.tolist(), "elsewhere": ledger.elsewhere.tolist()}
        fields |= {"reasons": dict(ledger.reasons), "former": list(ledger.former)}
        return cls(fields=fields, **{name: getattr(ledger, name).tolist() for name in COLUMNS})

    def take(self, entry: Entry, payload: Any) -> None:
        try:
            self._apply(entry, payload)
        except (IndexError, ValueError) as error:
            raise DamagedError(f"entry {entry.seq} speaks of a ticket that is not there: {error}") from error
        fields = self.fields
        fields["length"], fields["head"] = entry.seq, entry.digest
        fields["times"] = (fields["times"][0], entry.at)
        if not (isinstance(payload, Programmed) or (isinstance(payload, Asked) and payload.fit is None)):
            fields["changed"] = entry.seq
        if isinstance(payload, Corrected | Withdrawn) or (isinstance(payload, Placed) and payload.targets):
            fields["revised"] = entry.seq

    def _apply(self, entry: Entry, payload: Any) -> None:
        match payload:
            case Asked():
                self._asked(entry, payload)
            case Placed():
                self._placed(payload)
            case Told():
                self._told(entry.seq, payload)
            case Corrected():
                at = self._position(payload.ticket)
                self._replaced(at)
                self.value[at] = payload.value
                if payload.noise is not None:
                    self.noise[at] = payload.noise
                self._remark([payload.ticket], payload.reason)
            case Withdrawn():
                for ticket in payload.tickets:
                    self._replaced(self._position(ticket))
                    self._ends(self._position(ticket), entry.seq, Fate.WITHDRAWN)
                self._remark(payload.tickets, payload.reason)
            case Programmed():
                self.fields["program"] = payload.program
            case Closed():
                self.fields["closed"] = payload
            case _:
                raise DamagedError(f"entry {entry.seq} is {entry.kind!r}, which can only come first")

    def _asked(self, entry: Entry, payload: Asked) -> None:
        position = len(self.fields["askings"])
        asking = Asking(
            seq=entry.seq,
            first=len(self.point) + 1,
            count=len(payload.points),
            phase=payload.phase,
            audits=payload.audit is not None,
            fits=payload.fit is not None,
            text=entry.payload,
            read=payload,
        )
        self.fields["askings"].append(asking)
        self._open(payload.points, position)

    def _placed(self, payload: Placed) -> None:
        if not payload.targets:
            self.fields["elsewhere"] += payload.points
            return
        n, more = len(self.fields["created"].points) + len(self.fields["refined"]), len(payload.points)
        self.fields["refined"] += payload.points
        self.point = [point if point < n else point + more for point in self.point]
        former = self.fields["former"]
        self.fields["former"] = [(point if point < n else point + more, *rest) for point, *rest in former]

    def _told(self, seq: int, payload: Told) -> None:
        self._open(payload.points, -1)
        deviations = payload.noise or [None] * len(payload.tickets)
        for ticket, value, noise in zip(payload.tickets, payload.values, deviations, strict=True):
            at = self._position(ticket)
            self._ends(at, seq, Fate.FAILED if value is None else Fate.MEASURED)
            self.value[at] = np.nan if value is None else value
            self.noise[at] = np.nan if noise is None else noise
            self.told[at] = seq
        for ticket in payload.late:
            self.late[self._position(ticket)] = True
        self.fields["reasons"].update(payload.reasons)

    def _ends(self, at: int, seq: int, fate: Fate) -> None:
        self.fate[at] = fate
        if not self.ended[at]:
            self.ended[at], self.first[at] = seq, fate

    def _replaced(self, at: int) -> None:
        """So that who tells the old value again is not taken for one who measured anew."""
        if self.fate[at] == Fate.MEASURED:
            self.fields["former"].append((self.point[at], self.value[at], self.noise[at]))

    def _remark(self, tickets: list[int], reason: str) -> None:
        """Without a new reason, the earlier one stays."""
        if reason:
            self.fields["reasons"].update(dict.fromkeys(tickets, reason))

    def _open(self, points: list[int], asking: int) -> None:
        count = len(points)
        everywhere = sum(len(rows) for rows in (self.fields["created"].points, self.fields["refined"]))
        everywhere += len(self.fields["elsewhere"])
        if points and not 0 <= min(points) <= max(points) < everywhere:
            raise ValueError(f"points are from 0 to {everywhere - 1}")
        self.point += points
        self.asking += [asking] * count
        self.fate += [int(Fate.OPEN)] * count
        self.value += [np.nan] * count
        self.noise += [np.nan] * count
        self.late += [False] * count
        self.told += [0] * count
        self.ended += [0] * count
        self.first += [int(Fate.OPEN)] * count

    def _position(self, ticket: int) -> int:
        if not 1 <= ticket <= len(self.point):
            raise IndexError(f"tickets are from 1 to {len(self.point)}")
        return ticket - 1

    def finished(self) -> Ledger:
        fields = self.fields
        dimension = len(fields["created"].names)
        return Ledger(
            **{name: value for name, value in fields.items() if name not in ARRAYS},
            refined=as_places(fields["refined"], dimension),
            elsewhere=as_places(fields["elsewhere"], dimension),
            askings=tuple(fields["askings"]),
            former=tuple(fields["former"]),
            point=frozen(np.array(self.point, dtype=np.int64)),
            asking=frozen(np.array(self.asking, dtype=np.int64)),
            fate=frozen(np.array(self.fate, dtype=np.int64)),
            value=frozen(np.array(self.value, dtype=np.float64)),
            noise=frozen(np.array(self.noise, dtype=np.float64)),
            late=frozen(np.array(self.late, dtype=np.bool_)),
            told=frozen(np.array(self.told, dtype=np.int64)),
            ended=frozen(np.array(self.ended, dtype=np.int64)),
            first=frozen(np.array(self.first, dtype=np.int64)),
        )
