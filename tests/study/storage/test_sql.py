"""SQLite and PostgreSQL keep the contract, from several processes, over forks and through sudden ends."""

from __future__ import annotations

import itertools
import multiprocessing
import pickle
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from superlevel.errors import InputError
from superlevel.study.storage import Lease, Note, Storage, StorageError, open_storage
from superlevel.study.storage.sql import Sql
from superlevel.testing.logs import FAR, append, append_some, claim_all, entry, study
from superlevel.testing.storages import CALLS, StorageContract
from tests.study.storage import crowd

METHODS: dict[str, Callable[[Sql, str], object]] = {
    **CALLS,
    "names": lambda storage, _: storage.names(),
    "check": lambda storage, _: storage.check(),
}


class SqlContract(StorageContract):
    url: str
    """The address of a store that is not there yet. A fixture of the subclass sets it before each test."""

    def make(self, _: Path, /) -> Storage:
        return open_storage(self.url)

    def another(self, storage: Storage) -> Storage:
        second: Storage = pickle.loads(pickle.dumps(storage))
        return second

    def test_opening_it_again_shows_everything(self, storage: Storage) -> None:
        study(storage, tickets=3)
        storage.claim("sea", 1, worker="ada", now=0.0, until=5.0)
        storage.note("sea", Note(2, "seen"))
        storage.close()
        again = Sql(self.url)
        assert again.read("sea") == [entry(1), entry(2)]
        assert again.leases("sea") == {0: Lease("ada", 5.0), 1: None, 2: None}
        assert again.noted("sea") == Note(2, "seen")
        assert again.check() == []
        assert list(again.salvaged()) == ["sea"]
        assert again.salvaged()["sea"] == [entry(1), entry(2)]
        again.close()

    @pytest.mark.parametrize("method", METHODS)
    def test_a_store_that_is_not_there_is_refused_with_the_command_that_makes_one(
        self, storage: Storage, method: str
    ) -> None:
        assert isinstance(storage, Sql)
        for _ in range(2):
            with pytest.raises(InputError, match=r"nothing is stored yet: .*`superlevel study create --store"):
                METHODS[method](storage, "s")

    def test_processes_append_one_after_the_other(self, storage: Storage) -> None:
        study(storage)
        parts = crowd.in_processes(append_some, [(storage, "sea", 5)] * 4)
        assert sorted(itertools.chain(*parts)) == list(range(2, 22))
        assert [each.seq for each in storage.read("sea")] == list(range(1, 22))
        assert list(storage.leases("sea")) == list(range(2, 22))

    def test_processes_never_hold_the_same_ticket(self, storage: Storage) -> None:
        study(storage, tickets=60)
        parts = crowd.in_processes(claim_all, [(storage, "sea", worker) for worker in "abcd"])
        assert sorted(itertools.chain(*parts)) == list(range(60))
        held = storage.leases("sea")
        assert {number: lease.worker for number, lease in held.items() if lease} == {
            number: worker for worker, part in zip("abcd", parts, strict=True) for number in part
        }

    def test_processes_that_make_the_same_store_at_once_all_succeed(self) -> None:
        seen = crowd.in_processes(crowd.create, [(self.url, name) for name in "abcd"])
        assert all(name in names for name, names in zip("abcd", seen, strict=True))
        again = Sql(self.url)
        assert again.names() == ["a", "b", "c", "d"]
        assert again.check() == []
        again.close()

    def test_an_entry_is_there_for_good_once_its_turn_has_ended(self, storage: Storage) -> None:
        study(storage)
        listener, teller = multiprocessing.Pipe(duplex=False)
        process = crowd.context().Process(target=crowd.append_and_tell, args=(self.url, "sea", teller))
        process.start()
        teller.close()
        told = 0
        while told < 12:
            told = listener.recv()
        process.kill()
        process.join()
        while listener.poll():
            try:
                told = listener.recv()
            except EOFError:
                break
        entries = storage.read("sea")
        assert len(entries) >= told
        assert [each.seq for each in entries] == list(range(1, len(entries) + 1))
        last = len(entries)
        assert list(storage.leases("sea")) == [*range(4, 2 * last, 2), 2 * last, 2 * last + 1]
        assert isinstance(storage, Sql)
        assert storage.check() == []
        append(storage, "sea", entry(last + 1))

    def test_a_seat_is_free_after_its_process_was_killed(self, storage: Storage) -> None:
        study(storage)
        listener, teller = multiprocessing.Pipe(duplex=False)
        process = crowd.context().Process(target=crowd.sit, args=(self.url, "sea", "ada", teller))
        process.start()
        assert listener.recv()
        with storage.seat("sea", "ada") as free:
            assert not free
        process.kill()
        process.join()
        until = time.monotonic() + 20  # a server takes a moment to see that nobody is there
        while not free and time.monotonic() < until:
            with storage.seat("sea", "ada") as free:
                pass
        assert free

    def test_a_fork_opens_connections_of_its_own(self, storage: Storage) -> None:
        study(storage)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer Pythons warn of a fork wherever a test run has threads
            child = multiprocessing.get_context("fork").Process(target=append_some, args=(storage, "sea", 5))
            child.start()
        append_some(storage, "sea", 5)
        child.join()
        assert child.exitcode == 0
        assert len(storage.read("sea")) == 11
        append(storage, "sea", entry(12))

    def test_a_study_of_a_newer_format_is_refused(self, storage: Storage) -> None:
        study(storage, name="sea")
        study(storage, name="lake")
        self.execute(storage, "UPDATE studies SET format = 2 WHERE name = 'sea'")
        for attempt in (lambda: storage.read("sea"), lambda: append(storage, "sea", entry(2))):
            with pytest.raises(StorageError, match=r"study 'sea' .*newer version .*`pip install --upgrade superlevel`"):
                attempt()
        assert len(storage.read("lake")) == 1

    def test_a_lost_entry_is_noticed(self, storage: Storage) -> None:
        assert isinstance(storage, Sql)
        study(storage)
        for seq in range(2, 7):
            append(storage, "sea", entry(seq))
        self.execute(storage, "DELETE FROM entries WHERE seq = 4")
        sentence = "has lost entry 4 of study 'sea': .*`superlevel doctor --store .* --rescue NEW_URL`"
        for after in range(4):
            with pytest.raises(StorageError, match=sentence):
                storage.read("sea", after=after)
        assert len(storage.read("sea", after=4)) == 2
        (problem,) = storage.check()
        assert "has lost entry 4" in problem
        assert storage.salvaged()["sea"] == [entry(1), entry(2), entry(3)]
        self.execute(storage, "DELETE FROM entries WHERE seq >= 4")
        with pytest.raises(StorageError, match="has lost entry 4"):
            storage.read("sea")

    def test_entries_beyond_the_length_are_noticed(self, storage: Storage) -> None:
        assert isinstance(storage, Sql)
        study(storage, tickets=1)
        self.execute(storage, "UPDATE studies SET length = 1")
        (problem,) = storage.check()
        assert "has 2 entries of study 'sea', but should have 1" in problem
        with pytest.raises(StorageError, match="cannot be used"):
            append(storage, "sea", entry(2))

    def execute(self, storage: Storage, statement: str) -> None:
        assert isinstance(storage, Sql)
        with storage._store.writing() as connection:
            connection.exec_driver_sql(statement)


class TestSqlite(SqlContract):
    @pytest.fixture(autouse=True)
    def address(self, tmp_path: Path) -> None:
        self.url = f"sqlite:///{tmp_path / 'store.db'}"


class TestPostgres(SqlContract):
    @pytest.fixture(autouse=True)
    def address(self, postgres_url: str) -> None:
        self.url = postgres_url

    def test_a_claim_does_not_wait_for_an_append(self, storage: Storage) -> None:
        assert isinstance(storage, Sql)
        study(storage, tickets=4)
        with storage._store.writing() as connection:
            connection.exec_driver_sql("SELECT * FROM studies FOR UPDATE")
            connection.exec_driver_sql("SELECT * FROM tickets WHERE number < 2 FOR UPDATE")
            assert storage.claim("sea", 9, worker="ada", now=0.0, until=FAR) == [2, 3]
            assert len(storage.read("sea")) == 2
        assert storage.claim("sea", 9, worker="ada", now=0.0, until=FAR) == [0, 1, 2, 3]
