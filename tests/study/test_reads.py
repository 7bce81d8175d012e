"""How often a study reads its store: a wrapper counts the calls, and what a user does stays below a limit."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from superlevel.errors import InputError
from superlevel.study import Result, Study
from superlevel.study.storage import Memory, Note, Storage, open_storage
from superlevel.study.storage.sql import Sql
from superlevel.testing.logs import append, entry, study
from superlevel.testing.storages import StorageContract
from tests.study.campaigns import FITTED, GREEDY, NAME, RIDGE, ROUNDS, Kind, each
from tests.study.reads import Counting

READS = 4
"""Reads of the log that one call may make."""


# --- the wrapper


class TestCounting(StorageContract):
    def make(self, _: Path, /) -> Storage:
        return Counting(Memory())


def test_every_call_that_reads_is_counted_by_its_name() -> None:
    storage = Counting(Memory())
    study(storage, tickets=3)  # one turn
    for after in range(3):
        storage.read("sea", after=after)
    append(storage, "sea", entry(3))
    storage.claim("sea", 1, worker="ada", now=0.0, until=1.0)
    storage.leases("sea")
    storage.leases("sea")
    storage.note("sea", Note(3, "x"))
    storage.noted("sea")
    storage.names()
    assert storage.calls == {"read": 3, "turn": 2, "claim": 1, "leases": 2, "noted": 1}


def test_a_call_that_is_refused_is_counted() -> None:
    storage = Counting(Memory())
    with pytest.raises(InputError, match="name is 'sea'"):
        storage.read("sea")
    assert storage.calls == {"read": 1}


def test_a_counting_storage_is_a_storage_with_all_that_its_own_has(tmp_path: Path) -> None:
    storage = Counting(Sql(f"sqlite:///{tmp_path}/store.db"))
    assert open_storage(storage) is storage
    study(storage)
    assert storage.check() == []
    again = pickle.loads(pickle.dumps(storage))
    assert again.read("sea") == [entry(1)]
    with pytest.raises(AttributeError, match="reed"):
        storage.reed("sea")


# --- studies


def counted(kind: Kind) -> Counting:
    """The store of a study with two batches of results, from which nothing was read yet."""
    storage = Counting(Memory())
    kind.run(kind.create(storage), 2)
    storage.calls.clear()
    return storage


@each([GREEDY, RIDGE, ROUNDS])
def test_opening_a_study_reads_the_log_and_nothing_else(kind: Kind) -> None:
    storage = counted(kind)
    opened = Study.open(storage, NAME)
    assert repr(opened).startswith("Study('sea' in memory:")
    assert storage.calls == {"read": 1}


@each([GREEDY, RIDGE, ROUNDS])
def test_labels_are_of_what_was_read_and_read_nothing_themselves(kind: Kind) -> None:
    storage = counted(kind)
    opened = Study.open(storage, NAME)
    storage.calls.clear()
    labels = [opened.labels, opened.labels]
    np.testing.assert_array_equal(labels[0], labels[1])
    assert not storage.calls


ACTS: dict[str, Callable[[Study, Path], object]] = {
    "refresh": lambda study, _: study.refresh(),
    "ask": lambda study, _: study.ask(),
    "ask for many": lambda study, _: study.ask(50),
    "tell": lambda study, _: study.tell([Result(point=0, value=0.3), Result(point=1, value=0.2)]),
    "check": lambda study, _: study.check([Result(point=0, value=0.3)]),
    "correct": lambda study, _: study.correct(1, 0.4),
    "withdraw": lambda study, _: study.withdraw(1),
    "labels": lambda study, _: study.labels,
    "status": lambda study, _: study.status(),
    "quick status": lambda study, _: study.status(fresh=False),
    "reasons": lambda study, _: study.reasons(),
    "campaign": lambda study, _: study.campaign(),
    "view": lambda study, _: study.view(),
    "verify": lambda study, _: study.verify(),
    "report": lambda study, folder: study.report(folder / "sea.html"),
    "close": lambda study, _: study.close(),
}


@pytest.mark.parametrize("act", ACTS)
@each([GREEDY, FITTED, RIDGE, ROUNDS])
def test_no_call_reads_the_log_more_than_four_times(kind: Kind, act: str, tmp_path: Path) -> None:
    storage = counted(kind)
    opened = Study.open(storage, NAME, worker="ada")
    storage.calls.clear()
    ACTS[act](opened, tmp_path)
    assert storage.calls["read"] + storage.calls["turn"] <= READS, storage.calls
    writes = act in ("tell", "correct", "withdraw", "close")
    assert (storage.calls["turn"] == 1) if writes else (storage.calls["turn"] <= 1), storage.calls


@each([GREEDY, RIDGE])
def test_what_only_looks_reads_what_is_new_and_nothing_else(kind: Kind) -> None:
    storage = counted(kind)
    opened = Study.open(storage, NAME, worker="ada")
    storage.calls.clear()
    assert opened.status().fresh
    assert opened.status(fresh=False).fresh
    assert len(opened.campaign().labels) == opened.ledger.n
    assert opened.reasons() == ()
    assert (storage.calls["read"], storage.calls["turn"]) == (4, 0)  # each checks that the log is still the same one


def test_somebody_else_is_heard_of_with_one_read() -> None:
    storage = counted(GREEDY)
    ada, bob = (Study.open(storage, NAME, worker=name) for name in ("ada", "bob"))
    bob.tell([Result(point=0, value=0.3)])
    before = ada.ledger.length
    storage.calls.clear()
    assert ada.refresh().ledger.length == before + 1
    assert storage.calls == {"read": 1}
