"""How often a study reads its store: a wrapper counts the calls, and what a user does stays below a limit."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from superlevel.errors import InputError
from superlevel.study import Study
from superlevel.study.storage import Memory, Note, Storage, open_storage
from superlevel.study.storage.sql import Sql
from superlevel.testing.logs import append, entry, study
from superlevel.testing.storages import StorageContract
from tests.study.campaigns import GREEDY, NAME, RIDGE, ROUNDS, Kind, each
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
    assert 1 <= storage.calls["read"] <= READS
    assert set(storage.calls) == {"read"}


@each([GREEDY, RIDGE, ROUNDS])
def test_labels_read_the_log_and_nothing_else_the_first_time_and_again(kind: Kind) -> None:
    storage = counted(kind)
    opened = Study.open(storage, NAME)
    seen: list[Counter[str]] = []
    labels = []
    for _ in range(2):
        storage.calls.clear()
        labels.append(opened.labels)
        seen.append(Counter(storage.calls))
    np.testing.assert_array_equal(labels[0], labels[1])
    for calls in seen:
        assert 1 <= calls["read"] <= READS  # at least once: somebody else may have told results
        assert set(calls) == {"read"}
