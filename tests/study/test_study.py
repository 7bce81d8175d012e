"""A campaign as people run it: tickets and leases, several workers, closing, and everything at the wrong moment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import superlevel as sl
from superlevel.errors import InputError, SuperlevelError
from superlevel.records import Stop
from superlevel.study import Result, Study
from superlevel.study import planning as module
from superlevel.study.ledger import Fate
from superlevel.study.storage import Memory
from superlevel.study.turns import CLOSED
from tests.study.campaigns import (
    AVERAGE,
    FITTED,
    GREEDY,
    LSE,
    NAME,
    PAIR_RIDGE,
    PAIR_ROUNDS,
    RIDGE,
    RKHS,
    ROUNDS,
    TRUTH,
    WORST,
    Kind,
    X,
    contradicted,
    each,
    entries_of,
    reopened,
    snapshot,
    storage_of,
)


def numbers(tickets: Any) -> list[int]:
    return [ticket.number for ticket in tickets]


def crew(*names: str) -> list[Study]:
    """Workers on the same study."""
    storage = Memory()
    GREEDY.create(storage)
    return [Study.open(storage, NAME, worker=name) for name in names]


# --- tickets and leases


def test_workers_get_different_tickets_and_each_the_same_again() -> None:
    ada, bob, eve = crew("ada", "bob", "eve")
    held = [numbers(worker.ask()) for worker in (ada, bob, eve)]
    assert sorted([*held[0], *held[1], *held[2]]) == list(range(1, 13))
    assert [numbers(worker.ask()) for worker in (ada, bob, eve)] == held
    assert numbers(ada.ask(2)) == held[0][:2]
    assert numbers(ada.ask(7)) == [*held[0], 13, 14, 15]


def test_tickets_say_where_and_until_when(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("superlevel.study.study.time.time", lambda: 1000.0)
    study = GREEDY.create(lease=60.0)
    for ticket in study.ask():
        assert ticket.coordinates == (X[ticket.point],)
        assert ticket.until == 1060.0
        assert study.locate(ticket.coordinates) == ticket.point
    assert {ticket.until for ticket in study.ask(lease=5.0)} == {1005.0}


def test_a_lease_that_has_ended_returns_the_ticket(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    monkeypatch.setattr("superlevel.study.study.time.time", lambda: clock[0])
    ada, bob = crew("ada", "bob")
    first = numbers(ada.ask(lease=60.0))
    clock[0] = 1059.0
    second = numbers(bob.ask(lease=600.0))
    assert not set(first) & set(second)
    clock[0] = 1061.0
    assert numbers(bob.ask(8)) == sorted([*first, *second])
    assert not set(numbers(ada.ask())) & set(first)
    status = ada.status()
    assert (status.open, status.leased) == (12, 12)


def test_who_comes_back_in_time_keeps_the_tickets(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    monkeypatch.setattr("superlevel.study.study.time.time", lambda: clock[0])
    ada, bob = crew("ada", "bob")
    first = numbers(ada.ask(lease=60.0))
    clock[0] = 1061.0
    assert numbers(ada.ask(lease=60.0)) == first  # renewed, nobody had taken them
    assert not set(numbers(bob.ask())) & set(first)


@pytest.mark.parametrize("count", [1, 3, 4, 5, 11])
def test_as_many_tickets_as_are_wanted(count: int) -> None:
    study = GREEDY.create()
    assert len(study.ask(count)) == count
    assert len(study.ledger.point) == max(4, count)
    study.tell(GREEDY.measure(study.ask(count)))
    assert len(study.ask(count)) == count


def test_without_a_number_it_is_a_batch() -> None:
    study = GREEDY.create(batch=3)
    assert len(study.ask()) == 3
    assert len(study.ask()) == 3
    assert study.ledger.length == 2


def test_what_was_told_is_not_handed_out_again() -> None:
    study = GREEDY.create()
    tickets = study.ask()
    study.tell([tickets[0].measured(0.1), tickets[1].failed()])
    study.withdraw(3)
    assert numbers(study.ask(1)) == [4]
    assert storage_of(study).leases(NAME).keys() == {4}


@pytest.mark.parametrize("given", [{"n": 0}, {"n": -1}, {"n": 2.5}, {"n": True}, {"lease": 0}, {"lease": np.nan}])
def test_bad_wishes_are_named(given: dict[str, Any]) -> None:
    study = GREEDY.create()
    (field,) = given
    with pytest.raises(InputError, match=f"^{field} is"):
        study.ask(**given)
    assert study.ledger.length == 1


# --- nothing to ask for


def test_a_closed_study_suggests_nothing_and_takes_what_is_late() -> None:
    study = GREEDY.create()
    tickets = study.ask()
    study.tell(GREEDY.measure(tickets[:2]))
    labels = study.labels
    study.close(reason="winter")
    assert study.ask().stop == study.ask(5).stop == CLOSED
    assert len(study.ask()) == 0
    assert storage_of(study).leases(NAME) == {}
    closed = study.ledger.closed
    assert closed is not None
    assert (closed.samples, closed.reason) == (2, "winter")
    with pytest.raises(SuperlevelError, match="the study is closed already"):
        study.close()
    study.tell(GREEDY.measure(tickets[2:]))
    assert study.ledger.samples == 4
    assert study.verify().ok
    assert labels.tolist() == [{"+": 1, "-": -1, "?": 0}[sign] for sign in closed.labels]


def test_a_decided_study_says_so() -> None:
    study = GREEDY.create()
    study.tell([Result(point=k, value=float(10 * np.sign(TRUTH[k] - 0.23)), noise=0.01) for k in range(len(X))])
    tickets = study.ask()
    assert (len(tickets), tickets.stop) == (0, Stop.DECIDED.value)
    assert study.ledger.length == 2


def test_a_study_that_waits_says_for_what() -> None:
    for kind, sentence in ((FITTED, "results of the pilot are out"), (ROUNDS, "round 1 waits for")):
        study = kind.create()
        study.ask(500)
        waiting = Study.open(storage_of(study), NAME, worker="bob").ask()
        assert len(waiting) == 0
        assert waiting.stop is not None
        assert sentence in waiting.stop


# --- corrections and withdrawals


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda study: study.correct(1, 1.0), "ticket is 1, which is open: correct one that has a value"),
        (lambda study: study.correct(3, 1.0), "ticket is 3, which is failed"),
        (lambda study: study.correct(99, 1.0), "ticket is 99: there are tickets 1 to 4"),
        (lambda study: study.correct(0, 1.0), "ticket is 0"),
        (lambda study: study.correct(True, 1.0), "ticket is True"),
        (lambda study: study.correct("2", 1.0), "ticket is '2'"),
        (lambda study: study.correct(2, np.nan), "value is nan"),
        (lambda study: study.correct(2, np.inf), "value is inf"),
        (lambda study: study.correct(2, 1e200), "value is 1e+200"),
        (lambda study: study.correct(2, None), "value is None"),
        (lambda study: study.correct(2, 1.0, noise=-1.0), "noise is -1.0"),
        (lambda study: study.correct(2, 1.0, noise=1e200), "noise is 1e+200"),
        (lambda study: study.withdraw([]), "tickets is empty"),
        (lambda study: study.withdraw([4]), "tickets is 4, which is withdrawn already"),
        (lambda study: study.withdraw([1, 99]), "ticket is 99"),
        (lambda study: study.withdraw([1, "a"]), "ticket is 'a'"),
        (lambda study: study.withdraw("12"), "ticket is '1'"),
        (lambda study: study.withdraw(1.5), "ticket is 1.5"),
        (lambda study: study.withdraw(None), "ticket is None"),
        (lambda study: study.withdraw(True), "ticket is True"),
    ],
)
def test_what_cannot_be_corrected_is_refused_and_nothing_is_stored(act: Any, sentence: str) -> None:
    study = GREEDY.create()
    tickets = study.ask()
    study.tell([tickets[1].measured(0.5), tickets[2].failed()])
    study.withdraw(4)
    before = entries_of(study)
    with pytest.raises(InputError, match=re.escape(sentence)):
        act(study)
    assert entries_of(study) == before


def test_tickets_are_withdrawn_by_any_list_of_whole_numbers() -> None:
    study = GREEDY.create()
    study.ask()
    study.withdraw(np.array([2, 2]))
    study.withdraw(np.int64(1))  # type: ignore[arg-type]
    study.withdraw(range(3, 5))
    assert (study.ledger.fate == Fate.WITHDRAWN).all()
    study.tell([Result(point=0, value=1.0)])
    study.correct(np.int64(5), np.float32(2.5))  # type: ignore[arg-type]
    assert study.ledger.value[4] == 2.5
    assert snapshot(reopened(study)) == snapshot(study)


# --- several at once


def test_a_plan_that_was_made_while_results_came_in_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    ada, bob = crew("ada", "bob")
    first = bob.ask(8)
    planned = module.next_plan

    def meanwhile(*given: Any) -> Any:
        plan = planned(*given)
        if bob.ledger.samples < 8:
            done = bob.ledger.samples
            bob.tell(GREEDY.measure(first[done : done + 2]))
            bob.correct(1, 0.75)
        return plan

    monkeypatch.setattr(module, "next_plan", meanwhile)
    tickets = [ada.ask(4), ada.ask(8)]
    monkeypatch.undo()
    assert numbers(tickets[1]) == list(range(9, 17))
    for asking in ada.ledger.askings[1:]:
        assert asking.asked.seen == asking.seq - 3  # results and a correction came in between
    bob.tell(GREEDY.measure(first[4:]))
    ada.tell(GREEDY.measure(tickets[1][::-1]))
    found = ada.verify()
    assert found.ok, str(found)
    assert snapshot(reopened(ada)) == snapshot(ada) == snapshot(bob.refresh())


def test_two_who_plan_at_once_share_one_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    ada, bob = crew("ada", "bob")
    planned = module.next_plan
    inside: list[bool] = []

    def meanwhile(*given: Any) -> Any:
        plan = planned(*given)
        if not inside:
            inside.append(True)
            bob.ask(1)
        return plan

    monkeypatch.setattr(module, "next_plan", meanwhile)
    tickets = ada.ask(2)
    assert len(ada.ledger.askings) == 1
    assert numbers(tickets) == [2, 3]
    assert numbers(bob.ask(1)) == [1]


def test_a_study_that_was_closed_while_somebody_planned_gets_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    ada, bob = crew("ada", "bob")
    planned = module.next_plan

    def meanwhile(*given: Any) -> Any:
        plan = planned(*given)
        bob.close()
        return plan

    monkeypatch.setattr(module, "next_plan", meanwhile)
    assert ada.ask().stop == CLOSED
    assert not ada.ledger.askings


def test_results_told_by_two_at_once_are_both_there(monkeypatch: pytest.MonkeyPatch) -> None:
    ada, bob = crew("ada", "bob")
    mine, yours = ada.ask(), bob.ask()
    turn = ada._storage.turn
    beaten: list[bool] = []

    @contextmanager
    def later(*given: Any, **more: Any) -> Iterator[Any]:
        if not beaten:
            beaten.append(True)
            bob.tell([*GREEDY.measure(yours), *GREEDY.measure(mine[:1])])
        with turn(*given, **more) as alone:
            yield alone

    monkeypatch.setattr(ada._storage, "turn", later)
    receipt = ada.tell(GREEDY.measure(mine))
    assert (receipt.stored, receipt.repeated) == (3, 1)
    assert ada.ledger.samples == 8
    assert receipt.entry == ada.ledger.length
    assert ada.ledger.late.sum() == 1


def test_a_correction_that_was_overtaken_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    ada, bob = crew("ada", "bob")
    ada.tell(GREEDY.measure(ada.ask()))
    turn = ada._storage.turn
    beaten: list[bool] = []

    @contextmanager
    def later(*given: Any, **more: Any) -> Iterator[Any]:
        if not beaten:
            beaten.append(True)
            bob.withdraw(1)
        with turn(*given, **more) as alone:
            yield alone

    monkeypatch.setattr(ada._storage, "turn", later)
    with pytest.raises(InputError, match="ticket is 1, which is withdrawn"):
        ada.correct(1, 3.0)
    assert ada.refresh().ledger.fate[0] == Fate.WITHDRAWN


class Crew:
    """Three workers who do whatever comes to their minds."""

    def __init__(self, kind: Kind, seed: int) -> None:
        self.kind = kind
        self.rng = np.random.default_rng(seed)
        self.clock = 1000.0
        ada = kind.create(lease=50.0)
        self.workers = [ada, *(Study.open(storage_of(ada), NAME, worker=name) for name in ("bob", "eve"))]

    def act(self) -> None:
        worker = self.workers[self.rng.integers(3)].refresh()
        acts = [
            self.ask,
            self.ask,
            self.tell,
            self.tell,
            self.fail,
            self.visit,
            self.correct,
            self.withdraw,
            self.again,
        ]
        acts[self.rng.integers(len(acts))](worker)
        self.clock += float(self.rng.choice([1.0, 60.0]))

    def some(self, numbers: Any, most: int) -> list[int]:
        return [int(k) for k in self.rng.permutation(numbers)[:most]]

    def ask(self, worker: Study) -> None:
        worker.ask(None if self.rng.random() < 0.7 else int(self.rng.integers(1, 9)))

    def tell(self, worker: Study) -> None:
        point, numbers = worker.ledger.point, self.some(worker.ledger.open, int(self.rng.choice([3, 10**6])))
        worker.tell([Result(ticket=k, value=self.kind.value(k, int(point[k - 1]))) for k in numbers])

    def fail(self, worker: Study) -> None:
        worker.tell([Result(ticket=k, value=None, reason="ice") for k in self.some(worker.ledger.open, 1)])

    def visit(self, worker: Study) -> None:
        point = int(self.rng.integers(worker.ledger.n))
        worker.tell([Result(point=point, value=float(self.kind.truth[point] + 0.1 * self.rng.standard_normal()))])

    def correct(self, worker: Study) -> None:
        for k in self.some(np.flatnonzero(worker.ledger.fate == Fate.MEASURED) + 1, 1):
            worker.correct(k, float(self.rng.choice([0.5, 3.0]) * self.rng.standard_normal()))

    def withdraw(self, worker: Study) -> None:
        for k in self.some(np.flatnonzero(worker.ledger.fate != Fate.WITHDRAWN) + 1, 2):
            worker.withdraw(k)

    def again(self, worker: Study) -> None:
        ledger = worker.ledger
        places = self.some(np.flatnonzero(ledger.fate == Fate.MEASURED), 10**6)
        known = [(k + 1, int(ledger.point[k]), float(ledger.value[k])) for k in places]
        named = self.rng.random(len(known)) < 0.5
        results = [
            Result(ticket=k if own else None, point=p, value=y) for (k, p, y), own in zip(known, named, strict=True)
        ]
        assert worker.tell(results).stored == 0


@pytest.mark.parametrize("seed", range(4))
@each([GREEDY, AVERAGE, WORST, LSE, RKHS, RIDGE, PAIR_RIDGE, ROUNDS, PAIR_ROUNDS])
def test_whatever_happens_all_agree_and_the_log_bears_it_out(
    kind: Kind, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    crew = Crew(kind, seed)
    monkeypatch.setattr("superlevel.study.study.time.time", lambda: crew.clock)
    for _ in range(18):
        crew.act()
        study = crew.workers[0].refresh()
        assert storage_of(study).leases(NAME).keys() == set(study.ledger.open.tolist())
        assert len(study.campaign().labels) == study.ledger.n
    assert len({snapshot(worker.refresh()) for worker in (*crew.workers, reopened(study))}) == 1
    found = study.verify()
    assert contradicted(found) <= {"noise", "kernel", "bound", "norm"}, str(found)


# --- what a study says of itself


def test_a_study_says_what_it_is_in_a_line() -> None:
    study = GREEDY.create()
    study.tell(GREEDY.measure(study.ask(6)[:2]))
    assert repr(study) == "Study('sea' in memory:: 2 measurements, 4 tickets open)"
    assert (study.name, study.url) == (NAME, "memory:")


def test_a_point_is_found_by_its_coordinates() -> None:
    study = GREEDY.create()
    assert [study.locate([x]) for x in X] == list(range(len(X)))
    with pytest.raises(InputError, match=r"coordinates is x0 = 0\.5"):
        study.locate([0.5])


def test_a_study_that_is_not_there_is_named() -> None:
    storage = Memory()
    GREEDY.create(storage)
    with pytest.raises(InputError, match=r"name is 'see'.*'sea'"):
        Study.open(storage, "see")


def test_the_worker_is_this_process_unless_somebody_says_so() -> None:
    storage = Memory()
    GREEDY.create(storage)
    one, other = Study.open(storage, NAME), Study.open(storage, NAME)
    assert numbers(one.ask()) == numbers(other.ask())
    with pytest.raises(InputError, match="worker is ''"):
        Study.open(storage, NAME, worker="")


def test_a_campaign_from_its_beginning_to_its_end(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path / 'sea.db'}"
    GREEDY.create(url)
    for day in range(30):
        study = sl.Study.open(url, NAME, worker=f"worker {day % 2}")
        tickets = study.ask()
        if not len(tickets):
            break
        study.tell(GREEDY.measure(tickets))
    study = sl.Study.open(url, NAME)
    known = study.labels != 0
    assert known.mean() > 0.8
    np.testing.assert_array_equal(study.labels[known], np.where(TRUTH > 0.23, 1, -1)[known])
    assert not contradicted(study.verify())
