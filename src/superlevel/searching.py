"""The loop of `find`: claim tickets, call the function at their places, and tell every value before the next call.

Several processes may search one study. Each is a worker with a seat of its own, which the storage takes back when the
process ends, however it ends. A process that was killed is the same worker when it comes again, and gets its open
tickets back; a worker who is not there any more leaves its tickets to the others.

    budget      calls of all processes together
    callable    open tickets that are free, or held by a worker of this kind; people may hold others
    allowed     the first of them, as many as the budget leaves. Tickets are numbered in one order for everybody, so
                that whoever calls no others keeps to the budget, without asking what the others call just now.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from itertools import count, islice
from typing import Any, TypeAlias

import numpy as np

from superlevel.errors import InputError, SuperlevelError
from superlevel.scales import Cell
from superlevel.study import Result, Study
from superlevel.study.ledger import Fate, Ledger
from superlevel.study.results import Ticket
from superlevel.study.storage import Storage
from superlevel.study.telling import LARGEST
from superlevel.worker_setup import end_with

WORKER = "find"  # in the first seat; "find 2" in the second
_SEATED = re.compile(rf"{WORKER}( \d+)?")
LEASE = 30 * 86400.0  # longer than any batch of calls: what a worker leaves is taken over without waiting for its end
PATIENCE = 1.0  # seconds, after which it is looked again whether others have told what the next plan waits for
HOPELESS = 10  # calls, all of which failed
LONGEST = 300  # letters of a reason
USED = "the budget is used"
SHARED = "other processes make the calls that are left of the budget"

Function: TypeAlias = Callable[..., Any]
"""Called with the coordinates of a point as keyword arguments; returns a number."""
Watch: TypeAlias = Callable[[Ledger], None]
"""Called after each result."""


def calls(ledger: Ledger) -> int:
    """How often the function was called: tickets that have a value or failed."""
    return int(np.isin(ledger.fate, (Fate.MEASURED, Fate.FAILED)).sum())


@dataclass(frozen=True)
class Search:
    """One process that searches a study."""

    storage: Storage
    name: str
    function: Function
    _: KW_ONLY
    budget: int
    jobs: int
    watch: Watch

    def run(self) -> tuple[Study, str]:
        """Call until nothing is left for this process: the study as it is then, and why it ended."""
        with self._seat() as worker:
            study = Study.open(self.storage, self.name, worker=worker)
            self.watch(study.ledger)
            while True:
                stop = self._step(study)
                if stop is not None:
                    self._give_back(worker)
                    return study, stop

    def _step(self, study: Study) -> str | None:
        """Make the calls of one batch, or wait for those of others; why nothing is left, if so."""
        left = self.budget - calls(study.refresh().ledger)
        if left <= 0:
            return USED
        allowed = self._allowed(study)
        others = {worker for worker in allowed.values() if worker not in ("", study.worker)}
        if len(allowed) < left or not set(allowed.values()) <= others:
            tickets = study.ask(lease=LEASE)
            if self._call(study, tickets):
                return None
            if tickets.stop is not None and (not others or _has_ended(study)):
                return tickets.stop
        if self._take_over(others):
            return None
        if len(allowed) >= left:
            return SHARED
        time.sleep(PATIENCE)
        return None

    def _allowed(self, study: Study) -> dict[int, str]:
        """The tickets that may be called now, each with the worker who holds it, "" if nobody does."""
        ledger, now = study.ledger, time.time()
        waiting = set(ledger.claimable.tolist())
        held = {
            number: "" if lease is None or lease.until < now else lease.worker
            for number, lease in self.storage.leases(self.name).items()
            if number in waiting
        }
        ours = ((number, worker) for number, worker in held.items() if not worker or _SEATED.fullmatch(worker))
        return dict(islice(ours, max(self.budget - calls(ledger), 0)))

    def _call(self, study: Study, tickets: Iterable[Ticket]) -> bool:
        """Call the function for those of the tickets that are allowed, and tell each value; whether there were any."""
        from joblib import Parallel, delayed  # noqa: PLC0415  slow to import

        allowed, coordinates, call = self._allowed(study), study.ledger.coordinates, delayed(_called)
        chosen = {each.number: coordinates.named(each.coordinates) for each in tickets if each.number in allowed}
        made = (call(self.function, number, place, os.getpid()) for number, place in chosen.items())
        for result in Parallel(n_jobs=self.jobs, return_as="generator_unordered")(made):
            study.tell([result])
            self.watch(study.ledger)
            _check_hope(study.ledger)
        return bool(chosen)

    @contextmanager
    def _seat(self) -> Iterator[str]:
        """The worker of the first seat that is free."""
        for number in count(1):
            worker = WORKER if number == 1 else f"{WORKER} {number}"
            with self.storage.seat(self.name, worker) as free:
                if free:
                    yield worker
                    return

    def _take_over(self, others: Iterable[str]) -> bool:
        """Make the calls of a worker who is not there any more; whether there is one."""
        for worker in sorted(others):
            with self.storage.seat(self.name, worker) as free:
                if free and self._stand_in(worker):
                    return True
        return False

    def _stand_in(self, worker: str) -> bool:
        """Make the calls that a worker left; whether there were any."""
        study = Study.open(self.storage, self.name, worker=worker)
        theirs = sum(holder == worker for holder in self._allowed(study).values())
        return theirs > 0 and self._call(study, study.ask(theirs, lease=LEASE))

    def _give_back(self, worker: str) -> None:
        """End the leases of tickets that were claimed with a batch and are beyond the budget: anybody may have them."""
        held = sum(lease is not None and lease.worker == worker for lease in self.storage.leases(self.name).values())
        now = time.time()
        self.storage.claim(self.name, held, worker=worker, now=now, until=now)


def _has_ended(study: Study) -> bool:
    """Whether no further plan is wanted, whatever others are still calling."""
    return study.ledger.closed is not None or study.knowledge.stop is not None


def _called(function: Function, ticket: int, place: Mapping[str, Cell], parent: int) -> Result:
    """What the function says of a place, or why it says nothing."""
    if os.getpid() != parent:
        end_with(parent)
    try:
        value = function(**place)
    except SuperlevelError as error:
        return Result(ticket=ticket, value=None, reason=_sentence(str(error)))
    except Exception as error:  # a function is anybody's code and may raise anything
        return Result(ticket=ticket, value=None, reason=_sentence(f"{type(error).__name__}: {error}"))
    number = _as_number(value)
    if number is None:
        return Result(ticket=ticket, value=None, reason=_sentence(f"the function returned {value!r}: no finite number"))
    return Result(ticket=ticket, value=number)


def _as_number(value: Any) -> float | None:
    """A finite number, or None."""
    try:
        number = float(np.asarray(value, dtype=np.float64).item()) if not isinstance(value, str | bytes) else np.nan
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) < LARGEST else None  # also false for NaN


def _sentence(text: str) -> str:
    """One line that can be stored."""
    line = " ".join(text.encode(errors="replace").decode().split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _check_hope(ledger: Ledger) -> None:
    failed = int((ledger.fate == Fate.FAILED).sum())
    if failed >= HOPELESS and not ledger.samples:
        got = f"one that failed in each of {failed:,} calls, the last time with {list(ledger.reasons.values())[-1]!r}"
        raise InputError("function", got, "mend it and call again: the study goes on at other points")
