"""A study that three workers have open, beside a model of it in plain lists and dictionaries.

Hypothesis makes random calls: results come in, are corrected and withdrawn, processes die before or after their results
are stored, and the store is put back to an earlier moment while everybody has it open.
"""

from __future__ import annotations

import copy
import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import superlevel as sl
from superlevel.study import ReplacedError, Result, ResultsError, Study, backup, restore
from superlevel.study.ledger import Fate
from superlevel.study.turns import CLOSED
from tests.study.campaigns import NAME
from tests.study.restores import Site

POINTS, BATCH = 5, 2
WORKERS = st.sampled_from(["ada", "bob", "cyd"])
OVER = 1e-6  # seconds that a lease lasts which is over at the next call


class Crashed(Exception):  # noqa: N818  what ends a process here
    """The process is gone."""


@dataclass
class Ticket:
    """One measurement."""

    point: int
    fate: Fate = Fate.OPEN
    value: float | None = None


@dataclass
class Model:
    """What a store must hold."""

    log: list[int] = field(default_factory=list)
    """A number for each entry that was ever written."""
    tickets: dict[int, Ticket] = field(default_factory=dict)
    held: dict[int, tuple[str, bool] | None] = field(default_factory=dict)
    """Of each ticket that can be claimed: the worker, and whether the lease is over."""
    closed: bool = False

    def of(self, fate: Fate) -> list[int]:
        return [number for number, ticket in self.tickets.items() if ticket.fate is fate]

    def free(self, worker: str) -> list[int]:
        """Tickets that this worker can claim, in the order in which they are given."""
        own = [number for number, lease in self.held.items() if lease is not None and lease[0] == worker]
        others = [n for n, lease in self.held.items() if lease is None or (lease[0] != worker and lease[1])]
        return sorted(own) + sorted(others)

    def waiting(self, worker: str, point: int) -> list[int]:
        """Open tickets of a point, in the order in which results without a ticket go to them."""

        def order(number: int) -> tuple[int, int]:
            lease = self.held.get(number)
            if lease is not None and lease[0] == worker:
                return 0, number
            return (1 if lease is None or lease[1] else 2), number

        return sorted((n for n in self.of(Fate.OPEN) if self.tickets[n].point == point), key=order)


@dataclass
class Process:
    """A study that somebody has open, and the entries that it has read."""

    study: Study
    seen: list[int]


class Machine(RuleBasedStateMachine):
    """Everything that happens to one study. Subclasses say where it is."""

    make: Callable[[], Site]
    folder: Path

    @initialize()
    def create(self) -> None:
        self.site, self.model, self.numbers = type(self).make(), Model(), itertools.count(1)
        self.saved: list[tuple[Any, Model]] = []
        self.files: list[tuple[Path, Model]] = []
        self.watcher = self.site.open()
        problem = sl.Problem(sl.Domain([[k / POINTS] for k in range(POINTS)]), goal=sl.Threshold(0.0), noise=10.0)
        options: dict[str, Any] = {"method": "uniform", "batch": BATCH, "seed": 1}
        Study.create(self.watcher, NAME, problem, **options)
        self.wrote()
        self.processes = {worker: self.started(worker) for worker in ("ada", "bob", "cyd")}

    def teardown(self) -> None:
        if hasattr(self, "watcher"):
            for storage in (self.watcher, *(process.study._storage for process in self.processes.values())):
                storage.close()

    def started(self, worker: str) -> Process:
        study = Study.open(self.site.open(), NAME, worker=worker)
        return Process(study, list(self.model.log))

    def wrote(self) -> None:
        self.model.log.append(next(self.numbers))

    def value(self) -> float:
        """One that was never told before."""
        return next(self.numbers) / 1000

    def can(self, worker: str, act: Callable[[Study], object]) -> bool:
        """Whether the process has read the log that is there; otherwise it is refused, and opens the study again."""
        process = self.processes[worker]
        if process.seen == self.model.log[: len(process.seen)]:
            process.seen = list(self.model.log)
            return True
        with pytest.raises(ReplacedError):
            act(process.study)
        process.study.reopen()
        process.seen = list(self.model.log)
        return False

    def write(self, worker: str, act: Callable[[Study], Any]) -> tuple[bool, Any]:
        """Whether a process was allowed to do something that appends one entry, and what it returned."""
        if not self.can(worker, act):
            return False, None
        done = act(self.processes[worker].study)
        self.wrote()
        self.processes[worker].seen = list(self.model.log)
        return True, done

    def measured(self, number: int, value: float | None) -> None:
        ticket = self.model.tickets[number]
        ticket.fate, ticket.value = (Fate.FAILED if value is None else Fate.MEASURED), value
        self.model.held.pop(number, None)

    def planned(self, *, claimable: bool) -> int:
        """How many tickets the last entry opened. Where they are is for the method to say."""
        points = Study.open(self.watcher, NAME).ledger.point.tolist()
        count = len(self.model.tickets)
        for number, point in enumerate(points[count:], start=count + 1):
            self.model.tickets[number] = Ticket(point)
            if claimable:
                self.model.held[number] = None
        return len(points) - count

    # ------------------------------------------------------------------------------- ask and tell

    @rule(worker=WORKERS, count=st.integers(1, 3), over=st.booleans())
    def ask(self, worker: str, count: int, over: bool) -> None:
        lease = OVER if over else 3600.0
        if not self.can(worker, lambda study: study.ask(count, lease=lease)):
            return
        got = self.processes[worker].study.ask(count, lease=lease)
        time.sleep(2 * OVER)
        if self.model.closed:
            assert (len(got), got.stop) == (0, CLOSED)
            return
        claimed = self.model.free(worker)[:count]
        self.model.held.update(dict.fromkeys(claimed, (worker, over)))
        if len(claimed) < count:
            self.wrote()
            assert self.planned(claimable=True) == max(count - len(claimed), BATCH)
            claimed = self.model.free(worker)[:count]
            self.model.held.update(dict.fromkeys(claimed, (worker, over)))
        self.processes[worker].seen = list(self.model.log)
        assert [(ticket.number, ticket.point) for ticket in got] == [
            (number, self.model.tickets[number].point) for number in sorted(claimed)
        ]

    @precondition(lambda self: self.model.of(Fate.OPEN))
    @rule(worker=WORKERS, data=st.data())
    def tell(self, worker: str, data: st.DataObject) -> None:
        self.told(worker, data, self.value())

    @precondition(lambda self: self.model.of(Fate.OPEN))
    @rule(worker=WORKERS, data=st.data())
    def fail(self, worker: str, data: st.DataObject) -> None:
        self.told(worker, data, None)

    def told(self, worker: str, data: st.DataObject, value: float | None) -> None:
        number = data.draw(st.sampled_from(self.model.of(Fate.OPEN)))
        done, receipt = self.write(worker, lambda study: study.tell([Result(ticket=number, value=value)]))
        if done:
            assert (receipt.stored, receipt.failed, receipt.entry) == (1, int(value is None), len(self.model.log))
            self.measured(number, value)

    @rule(worker=WORKERS, point=st.integers(0, POINTS - 1))
    def tell_a_point(self, worker: str, point: int) -> None:
        value = self.value()
        done, receipt = self.write(worker, lambda study: study.tell([Result(point=point, value=value)]))
        if done:
            self.placed(worker, point, value, receipt.unplanned)

    def placed(self, worker: str, point: int, value: float, unplanned: int) -> None:
        waiting = self.model.waiting(worker, point)
        assert unplanned == (not waiting)
        number = waiting[0] if waiting else len(self.model.tickets) + 1
        self.model.tickets.setdefault(number, Ticket(point))
        self.measured(number, value)

    @precondition(lambda self: self.model.of(Fate.MEASURED))
    @rule(worker=WORKERS, data=st.data())
    def tell_again(self, worker: str, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(self.model.of(Fate.MEASURED)))
        results = [Result(ticket=number, value=self.model.tickets[number].value)]
        if self.can(worker, lambda study: study.tell(results)):
            receipt = self.processes[worker].study.tell(results)
            assert (receipt.stored, receipt.repeated, receipt.entry) == (0, 1, None)

    @precondition(lambda self: self.model.of(Fate.MEASURED))
    @rule(worker=WORKERS, data=st.data())
    def tell_something_else(self, worker: str, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(self.model.of(Fate.MEASURED)))
        results = [Result(point=0, value=self.value()), Result(ticket=number, value=self.value())]
        if self.can(worker, lambda study: study.tell(results)):
            with pytest.raises(ResultsError):
                self.processes[worker].study.tell(results)
            self.processes[worker].study.refresh()

    @precondition(lambda self: self.model.of(Fate.MEASURED))
    @rule(worker=WORKERS, data=st.data())
    def correct(self, worker: str, data: st.DataObject) -> None:
        number, value = data.draw(st.sampled_from(self.model.of(Fate.MEASURED))), self.value()
        if self.write(worker, lambda study: study.correct(number, value))[0]:
            self.measured(number, value)

    @precondition(lambda self: len(self.model.tickets) > len(self.model.of(Fate.WITHDRAWN)))
    @rule(worker=WORKERS, data=st.data())
    def withdraw(self, worker: str, data: st.DataObject) -> None:
        left = set(self.model.tickets) - set(self.model.of(Fate.WITHDRAWN))
        number = data.draw(st.sampled_from(sorted(left)))
        if self.write(worker, lambda study: study.withdraw(number, reason="wet"))[0]:
            self.model.tickets[number].fate = Fate.WITHDRAWN
            self.model.held.pop(number, None)

    @precondition(lambda self: not self.model.closed)
    @rule(worker=WORKERS)
    def audit(self, worker: str) -> None:
        done, tickets = self.write(worker, lambda study: study.audit(2))
        if done:
            assert self.planned(claimable=False) == len(tickets) == 2

    @precondition(lambda self: not self.model.closed and len(self.model.log) > 4)
    @rule(worker=WORKERS)
    def close(self, worker: str) -> None:
        if self.write(worker, lambda study: study.close(reason="dark"))[0]:
            self.model.closed = True
            self.model.held.clear()

    # ------------------------------------------------------------------------------- look

    @rule(worker=WORKERS, fresh=st.booleans())
    def look(self, worker: str, fresh: bool) -> None:
        if self.can(worker, lambda study: study.status(fresh=fresh)):
            status = self.processes[worker].study.refresh().status(fresh=fresh)
            assert status.measurements == len(self.model.of(Fate.MEASURED))
            assert (status.open, status.closed) == (len(self.model.of(Fate.OPEN)), self.model.closed)
            assert status.entries == len(self.model.log)

    @rule(worker=WORKERS)
    def verify(self, worker: str) -> None:
        if self.can(worker, lambda study: study.verify()):
            assert self.processes[worker].study.verify().ok

    @rule(worker=WORKERS)
    def start_again(self, worker: str) -> None:
        self.die(worker)

    def die(self, worker: str) -> None:
        self.processes[worker].study._storage.close()
        self.processes[worker] = self.started(worker)

    # ------------------------------------------------------------------------------- crash

    @rule(worker=WORKERS, point=st.integers(0, POINTS - 1), stored=st.booleans())
    def crash(self, worker: str, point: int, stored: bool) -> None:
        """A process dies while it tells, before or after the end of its turn; another one tells the same again."""
        results = [Result(point=point, value=self.value())]
        if not self.can(worker, lambda study: study.tell(results)):
            return
        storage: Any = self.processes[worker].study._storage
        turn = storage.turn

        @contextmanager
        def dying(*given: Any, **more: Any) -> Iterator[Any]:
            with turn(*given, **more) as alone:
                yield alone
                if not stored:
                    raise Crashed
            raise Crashed

        storage.turn = dying
        with pytest.raises(Crashed):
            self.processes[worker].study.tell(results)
        del storage.turn
        if stored:
            self.wrote()
            self.placed(worker, point, results[0].value or 0.0, not self.model.waiting(worker, point))
        self.die(worker)
        receipt = self.processes[worker].study.tell(results)
        assert (receipt.stored, receipt.repeated) == ((0, 1) if stored else (1, 0))
        if not stored:
            self.wrote()
            self.placed(worker, point, results[0].value or 0.0, receipt.unplanned)
            self.processes[worker].seen = list(self.model.log)

    # ------------------------------------------------------------------------------- save and restore

    @rule()
    def save(self) -> None:
        self.saved.append((self.site.save(), copy.deepcopy(self.model)))

    @precondition(lambda self: self.saved)
    @rule(data=st.data())
    def put_back(self, data: st.DataObject) -> None:
        saved, self.model = copy.deepcopy(data.draw(st.sampled_from(self.saved)))
        self.site.put_back(saved)

    @precondition(lambda self: self.site.url is not None)
    @rule()
    def back_up(self) -> None:
        file = self.folder / f"{time.monotonic_ns()}.db"
        (copied,) = backup(str(self.site.url), file)
        assert copied.entries == len(self.model.log)
        self.files.append((file, copy.deepcopy(self.model)))

    @precondition(lambda self: self.files)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        file, model = data.draw(st.sampled_from(self.files))
        now, then = self.model.log, model.log
        kept = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(now, then, strict=False)))
        (done,) = restore(file, str(self.site.url), force=True)
        assert done.dropped == len(now) - kept
        if done.outcome != "unchanged":  # leases may be later than the backup
            self.model = copy.deepcopy(model)

    @invariant()
    def the_store_holds_what_the_model_holds(self) -> None:
        if not hasattr(self, "processes"):
            return
        ledger = Study.open(self.watcher, NAME).ledger  # checks every digest
        assert ledger.length == len(self.model.log)
        found = zip(ledger.point.tolist(), ledger.fate.tolist(), ledger.value.tolist(), strict=True)
        for (point, fate, value), ticket in zip(found, self.model.tickets.values(), strict=True):
            assert (point, Fate(fate)) == (ticket.point, ticket.fate)
            assert ticket.fate is not Fate.MEASURED or value == ticket.value
        leases = self.watcher.leases(NAME)
        held = {number: lease and lease.worker for number, lease in leases.items()}
        assert held == {number: lease and lease[0] for number, lease in sorted(self.model.held.items())}
        assert (ledger.closed is not None) == self.model.closed
