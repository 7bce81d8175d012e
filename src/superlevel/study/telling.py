"""How results become an entry of the log: each is checked against what is there, and then all are taken, or none.

- The same value again, for a ticket that has it, is a success; another value is a conflict that shows both.
- A result without a ticket is known already if its point has that very value, or had it until that was corrected or
  withdrawn, unless it is said to be a replicate; otherwise it belongs to an open ticket of its point; otherwise nobody
  planned it, and it gets a ticket of its own.
- Coordinates that are not those of a point are a place elsewhere (`superlevel.study.placing`), which nobody plans.
"""

from __future__ import annotations

import math
import reprlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from superlevel.arrays import Indices
from superlevel.errors import InputError
from superlevel.study.events import Payload, Placed, Told
from superlevel.study.ledger import Fate, Ledger
from superlevel.study.placing import placed
from superlevel.study.results import Mistake, Receipt, Result, ResultsError
from superlevel.study.storage.protocol import Lease

LARGEST = 1e100  # values and deviations: their squares are numbers too, and the methods take no larger ones

Key: TypeAlias = tuple[int, float, float]
"""Point, value and noise, -1 for the problem's."""


def as_list(results: Iterable[Result]) -> list[Result]:
    """Results, and nothing else."""
    remedy = "give a list of Results, or ask().measured()"
    if isinstance(results, Result) or not isinstance(results, Iterable):
        raise InputError("results", f"of type {type(results).__name__}", remedy)
    listed = list(results)
    for position, result in enumerate(listed):
        if not isinstance(result, Result):
            raise InputError(f"results[{position}]", f"of type {type(result).__name__}", remedy)
    return listed


def resolve(
    ledger: Ledger,
    listed: Sequence[Result],
    *,
    leases: Mapping[int, Lease | None],
    worker: str,
    now: float,
    replicates: bool,
) -> tuple[tuple[Payload, ...], Receipt]:
    """The entries that the results become, none where all of them are there already.

    All or nothing: one mistake and a ResultsError names all of them.
    """
    found = placed(ledger, listed)
    listed = found.results
    work = _Work(ledger=ledger, leases=leases, worker=worker, now=now, places=found.places)
    work.mistakes += found.mistakes
    work.wrong |= {mistake.position for mistake in found.mistakes}
    for position, result in enumerate(listed):
        if position not in work.wrong and work.sound(position, result) and result.ticket is not None:
            work.ticketed(position, result, int(result.ticket))
    if not replicates:
        work.known = _measured(ledger, listed) - Counter(_key(ledger, at) for at in work.matched)
    work.find_free(listed)
    for position, result in enumerate(listed):
        if result.ticket is None and result.point is not None and position not in work.wrong:
            work.placed(position, result.point, result)
    if work.mistakes:
        raise ResultsError(sorted(work.mistakes, key=lambda mistake: mistake.position))
    return work.entries()


def _key(ledger: Ledger, at: int) -> Key:
    return _as_key(int(ledger.point[at]), float(ledger.value[at]), float(ledger.noise[at]))


def _as_key(point: int, value: float, noise: float) -> Key:
    return point, value, -1.0 if math.isnan(noise) else noise


def _places(ledger: Ledger, listed: Sequence[Result], fate: Fate) -> Indices:
    """Positions of tickets with this fate, at the points that are named without a ticket."""
    points = {result.point for result in listed if result.ticket is None and _is_whole(result.point)}
    named = [point for point in points if 0 <= point < len(ledger.everywhere)]  # type: ignore[operator]
    return np.flatnonzero((ledger.fate == fate) & np.isin(ledger.point, np.array(named, dtype=np.int64)))


def _measured(ledger: Ledger, listed: Sequence[Result]) -> Counter[Key]:
    """What is known of the points that are named without a ticket, or was known until somebody corrected it."""
    at = _places(ledger, listed, Fate.MEASURED)
    return Counter(_key(ledger, int(place)) for place in at) + Counter(_as_key(*former) for former in ledger.former)


@dataclass(kw_only=True, eq=False)
class _Work:
    ledger: Ledger
    leases: Mapping[int, Lease | None]
    worker: str
    now: float
    places: list[list[float]]
    """Coordinates of new places, which are numbered on after those of the ledger."""
    new: dict[int, Result] = field(default_factory=dict)
    """By ticket."""
    unplanned: list[Result] = field(default_factory=list)
    matched: set[int] = field(default_factory=set)
    """Positions in the ledger of tickets that were told again."""
    repeated: int = 0
    mistakes: list[Mistake] = field(default_factory=list)
    wrong: set[int] = field(default_factory=set)
    known: Counter[Key] = field(default_factory=Counter)
    free: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Tickets that wait, by point; the one to take first is the last."""

    def refuse(self, position: int, name: str, got: object, remedy: str) -> bool:
        self.mistakes.append(Mistake(position=position, field=name, got=str(got), remedy=remedy))
        self.wrong.add(position)
        return False

    def sound(self, position: int, result: Result) -> bool:
        """Whether it makes sense by itself."""
        return self._has_place(position, result) and self._has_outcome(position, result)

    def _has_place(self, position: int, result: Result) -> bool:
        n, count = len(self.ledger.everywhere) + len(self.places), len(self.ledger.point)
        if result.ticket is None and result.point is None:
            return self.refuse(position, "ticket", "missing", "give a ticket, or a point of the domain")
        if result.point is not None and not (_is_whole(result.point) and 0 <= result.point < n):
            return self.refuse(position, "point", repr(result.point), f"give the number of a point, from 0 to {n - 1}")
        if result.ticket is not None and not (_is_whole(result.ticket) and 1 <= result.ticket <= count):
            remedy = f"there are tickets 1 to {count:,}" if count else "there is no ticket yet: ask first"
            return self.refuse(position, "ticket", repr(result.ticket), f"{remedy}, or give the point alone")
        return True

    def _has_outcome(self, position: int, result: Result) -> bool:
        if result.value is not None and not _is_finite(result.value):
            remedy = f"give a finite number, below {LARGEST:g} in size, or None if it could not be measured"
            return self.refuse(position, "value", reprlib.repr(result.value), remedy)
        if result.value is not None and not self.ledger.scale.takes(np.array(float(result.value))):
            return self.refuse(position, "value", repr(result.value), self.ledger.scale.refusal)
        if result.noise is not None and not (_is_finite(result.noise) and result.noise >= 0):
            remedy = f"give a standard deviation >= 0 and below {LARGEST:g}, or nothing"
            return self.refuse(position, "noise", reprlib.repr(result.noise), remedy)
        if not is_text(result.reason):
            return self.refuse(position, "reason", ascii(result.reason), "give text that can be written as UTF-8")
        return True

    def ticketed(self, position: int, result: Result, ticket: int) -> None:
        """A result that names its ticket."""
        at = ticket - 1
        fate, place = Fate(int(self.ledger.fate[at])), int(self.ledger.point[at])
        if result.point is not None and result.point != place:
            points = [*self.ledger.everywhere.tolist(), *self.places]
            got = f"{_place(points[result.point])}, but ticket {ticket} is for {_place(points[place])}"
            remedy = "check which row belongs to which ticket; if a backup was restored, tell it without the ticket"
            self.refuse(position, "point", got, remedy)
        elif ticket in self.new:
            self._twice(position, result, self.new[ticket], "in the same results")
        elif fate is Fate.WITHDRAWN:
            remedy = "give its point instead, as a replicate, and it counts as a measurement that nobody planned"
            self.refuse(position, "ticket", f"{ticket}, which was withdrawn", remedy)
        elif fate is Fate.OPEN or (fate is Fate.FAILED and result.value is not None):
            self.new[ticket] = result
        else:
            noise = float(self.ledger.noise[at])
            value = float(self.ledger.value[at]) if fate is Fate.MEASURED else None
            before = Result(ticket=ticket, value=value, noise=None if math.isnan(noise) else noise)
            if self._twice(position, result, before, f"in entry {int(self.ledger.told[at])}"):
                self.matched.add(at)

    def _twice(self, position: int, result: Result, before: Result, where: str) -> bool:
        if _same(result, before):
            self.repeated += 1
            return True
        got = f"{_shown(result)}, but ticket {result.ticket} has {_shown(before)} {where}"
        remedy = "keep the one, or `correct` the other; a second measurement is told by its point, without the ticket"
        return self.refuse(position, "value", got, remedy)

    def find_free(self, listed: Sequence[Result]) -> None:
        """Tickets that wait at these points: this worker's own come first, and what somebody else holds last."""
        waiting = (int(at) + 1 for at in _places(self.ledger, listed, Fate.OPEN))
        for ticket in sorted((ticket for ticket in waiting if ticket not in self.new), key=self._turn, reverse=True):
            self.free[int(self.ledger.point[ticket - 1])].append(ticket)

    def _turn(self, ticket: int) -> tuple[int, int]:
        lease = self.leases.get(ticket)
        if lease is not None and lease.worker == self.worker:
            return 0, ticket
        return 1 if lease is None or lease.until < self.now else 2, ticket

    def placed(self, position: int, point: int, result: Result) -> None:
        """A result that names its point only: known already, of an open ticket there, or one that nobody planned."""
        if result.value is None:
            self.refuse(
                position, "value", None, "without a ticket there is nothing that could have failed: leave it out"
            )
            return
        key = (point, float(result.value), -1.0 if result.noise is None else float(result.noise))
        if self.known[key] > 0:
            self.known[key] -= 1
            self.repeated += 1
        elif self.free.get(point):
            self.new[self.free[point].pop()] = result
        else:
            self.unplanned.append(result)

    def entries(self) -> tuple[tuple[Payload, ...], Receipt]:
        planned = sorted(self.new)
        first = len(self.ledger.point) + 1
        tickets = [*planned, *range(first, first + len(self.unplanned))]
        results = [*(self.new[ticket] for ticket in planned), *self.unplanned]
        late = tuple(ticket for ticket in planned if self._is_late(self.leases.get(ticket)))
        receipt = Receipt(
            entry=None,
            stored=len(results),
            repeated=self.repeated,
            failed=sum(result.value is None for result in results),
            unplanned=len(self.unplanned),
            elsewhere=sum(int(result.point or 0) >= self.ledger.n for result in self.unplanned),
            late=late,
        )
        if not results:
            return (), receipt
        noise = [_stored(result.noise) for result in results]
        told = Told(
            tickets=tickets,
            values=[_stored(result.value) for result in results],
            noise=None if all(deviation is None for deviation in noise) else noise,
            points=[int(result.point) for result in self.unplanned],  # type: ignore[arg-type]
            late=list(late),
            reasons={ticket: r.reason for ticket, r in zip(tickets, results, strict=True) if r.reason},
            worker=self.worker,
        )
        return ((Placed(points=self.places), told) if self.places else (told,)), receipt

    def _is_late(self, lease: Lease | None) -> bool:
        return lease is not None and (lease.until < self.now or lease.worker != self.worker)


def _is_whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _is_finite(number: object) -> bool:
    """A number that can be computed with; whole numbers may be too large for a float."""
    if isinstance(number, bool) or not isinstance(number, int | float | np.integer | np.floating):
        return False
    return abs(number if isinstance(number, int) else float(number)) < LARGEST


def is_text(text: object) -> bool:
    """What a log can hold: a terminal, or a file that is not UTF-8, may give halves of characters."""
    try:
        return isinstance(text, str) and text.encode() is not None
    except UnicodeEncodeError:
        return False


def _same(one: Result, other: Result) -> bool:
    """As they are stored."""
    first, second = ((_stored(result.value), _stored(result.noise)) for result in (one, other))
    return first == second or (one.value is None and other.value is None)


def _stored(number: float | None) -> float | None:
    return None if number is None else float(number)


def _place(point: list[float]) -> str:
    return f"({', '.join(f'{number:g}' for number in point)})"


def _shown(result: Result) -> str:
    if result.value is None:
        return "'could not be measured'"
    return f"{result.value!r}" + (f" with noise {result.noise!r}" if result.noise is not None else "")
