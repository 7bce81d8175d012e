"""The promises of `Storage` as tests, which the test class of a storage inherits."""

from __future__ import annotations

import itertools
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from superlevel.errors import InputError
from superlevel.study.storage.protocol import Beside, Entry, Lease, Moved, Note, ReplacedError, Storage, Turn
from superlevel.testing.logs import FAR, append, append_some, claim_all, entry, study
from superlevel.testing.model import COMMANDS, FRESH, Command, compare_with_model

# Several classes inherit one test, and its examples share one storage: each example has a study of its own.
# There is no deadline, because a storage may be on a slow disk or on a distant server.
EXAMPLES = settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)

CALLS: dict[str, Callable[[Storage, str], object]] = {
    "read": lambda storage, name: storage.read(name),
    "turn": lambda storage, name: append(storage, name, entry(2)),
    "claim": lambda storage, name: storage.claim(name, 1, worker="ada", now=0.0, until=1.0),
    "leases": lambda storage, name: storage.leases(name),
    "seat": lambda storage, name: storage.seat(name, "ada").__enter__(),
    "note": lambda storage, name: storage.note(name, Note(1, "x")),
    "noted": lambda storage, name: storage.noted(name),
    "keep_snapshot": lambda storage, name: storage.keep_snapshot(name, Note(1, "x")),
    "snapshot": lambda storage, name: storage.snapshot(name),
    "beside": lambda storage, name: storage.beside(name),
}
"""Calls with the name of a study, one for each method that refuses an unknown name."""


def _append_and_fail(turn: Turn) -> None:
    turn.append(entry(3), opened=[7], closed=[0])
    turn.append(entry(9))


def assert_refused(storage: Storage, name: str, *, after: int, head: str) -> None:
    """That whoever has read another log is refused by every call that takes a digest, and that nothing is stored."""
    before = storage.read(name), storage.leases(name), storage.noted(name)
    said = f"study is '{name}', whose log was restored or replaced after entry {after}"
    with pytest.raises(ReplacedError, match=said):
        storage.read(name, after=after, head=head)
    with pytest.raises(ReplacedError, match=said), storage.turn(name, after=after, head=head) as turn:
        turn.append(entry(3), opened=[7])
    with pytest.raises(ReplacedError, match=said):
        storage.note(name, Note(after, "x"), head=head)
    assert (storage.read(name), storage.leases(name), storage.noted(name)) == before


class StorageContract(ABC):
    """Every promise of `Storage`. A subclass overrides `make`, and `another` if a store can be opened twice.

    The suite expects the error messages of `superlevel.study.storage.refusals`: call its functions.
    """

    @abstractmethod
    def make(self, folder: Path, /) -> Storage:
        """Return an empty storage. The folder is empty, and only the running test uses it."""

    def another(self, storage: Storage) -> Storage:
        """Return a second storage on the same store, or the first if there cannot be a second."""
        return storage

    @pytest.fixture
    def storage(self, tmp_path: Path) -> Iterator[Storage]:
        """An empty storage, which is closed after the test."""
        made = self.make(tmp_path)
        yield made
        made.close()

    # --------------------------------------------------------------------------------------- entries

    def test_entries_come_back_as_they_were_given(self, storage: Storage) -> None:
        written = [entry(k, payload) for k, payload in enumerate(["{}", '{"b": 1, "a": [1e400, -0.0]}', ""], start=1)]
        storage.create("sea", written[0])
        for each in written[1:]:
            append(storage, "sea", each)
        assert storage.read("sea") == written

    @given(kind=TEXT, payload=TEXT, digest=TEXT, name=TEXT)
    @EXAMPLES
    def test_any_text_is_kept_to_the_byte(
        self, storage: Storage, kind: str, payload: str, digest: str, name: str
    ) -> None:
        first = Entry(seq=1, kind=kind, at="now", payload=payload, digest=digest)
        named = f"{name} {next(FRESH)}"
        storage.create(named, first)
        assert storage.read(named) == [first]
        assert named in storage.names()

    def test_what_is_beside_an_entry_comes_back_with_it(self, storage: Storage) -> None:
        written = [replace(entry(k), attached=data) for k, data in enumerate([b"\0\xff" * 10**6, b"", b"abc"], start=1)]
        storage.create("sea", written[0])
        for each in written[1:]:
            append(storage, "sea", each)
        study(storage, name="other")
        assert storage.read("sea") == written
        assert storage.read("sea", after=2) == written[2:]
        assert storage.read("other") == [entry(1)]
        with storage.turn("sea", after=1) as turn:
            assert turn.entries == written[1:]

    def test_a_payload_of_a_megabyte_is_kept(self, storage: Storage) -> None:
        long = "".join(map(chr, range(0x4E00, 0x4E00 + 500))) * 700
        assert len(long.encode()) > 1_000_000
        storage.create("sea", entry(1, long))
        storage.note("sea", Note(1, long))
        assert storage.read("sea")[0].payload == long
        assert storage.noted("sea") == Note(1, long)

    @pytest.mark.parametrize(("text", "reason"), [("a\0b", "number 0"), ("\ud800", "UTF-8")])
    def test_text_that_some_database_cannot_keep_is_refused_by_all(
        self, storage: Storage, text: str, reason: str
    ) -> None:
        study(storage)
        with pytest.raises(InputError, match=f"name is .*{reason}"):
            storage.create(text, entry(1))
        with pytest.raises(InputError, match=f"payload is .*{reason}"):
            append(storage, "sea", entry(2, text))
        with pytest.raises(InputError, match=f"note.text is .*{reason}"):
            storage.note("sea", Note(1, text))
        with pytest.raises(InputError, match=f"worker is .*{reason}"):
            storage.claim("sea", 1, worker=text, now=0.0, until=1.0)
        with pytest.raises(InputError, match="name is"):
            storage.read(text)
        assert storage.names() == ["sea"]
        assert storage.read("sea") == [entry(1)]

    def test_reading_goes_on_where_one_left_off(self, storage: Storage) -> None:
        study(storage)
        for seq in range(2, 6):
            append(storage, "sea", entry(seq))
        everything = storage.read("sea")
        assert [each.seq for each in everything] == [1, 2, 3, 4, 5]
        for after in range(7):
            assert storage.read("sea", after=after) == everything[after:]

    def test_what_was_read_is_not_the_log_itself(self, storage: Storage) -> None:
        study(storage, tickets=1)
        storage.read("sea").clear()
        storage.leases("sea").clear()
        assert len(storage.read("sea")) == 2
        assert len(storage.leases("sea")) == 1

    def test_names_are_sorted_and_told_apart_by_case(self, storage: Storage) -> None:
        for name in ["sea", "Sea", "äther", "a b", "10", "9", ""]:
            storage.create(name, entry(1))
        assert storage.names() == ["", "10", "9", "Sea", "a b", "sea", "äther"]

    def test_studies_do_not_see_each_other(self, storage: Storage) -> None:
        study(storage, tickets=3, name="sea")
        study(storage, tickets=2, name="lake")
        append(storage, "sea", entry(3), closed=[0])
        storage.note("sea", Note(3, "wet"))
        assert storage.claim("lake", 9, worker="ada", now=0.0, until=FAR) == [0, 1]
        assert storage.claim("sea", 9, worker="bob", now=0.0, until=FAR) == [1, 2]
        assert len(storage.read("lake")) == 2
        assert storage.noted("lake") is None

    # --------------------------------------------------------------------------------------- refusals

    def test_a_taken_name_is_refused_and_its_log_stays(self, storage: Storage) -> None:
        study(storage, tickets=1)
        with pytest.raises(InputError, match="name is 'sea', which is taken"):
            storage.create("sea", entry(1, "other"))
        assert [each.payload for each in storage.read("sea")] == ["{}", "{}"]

    def test_a_log_begins_with_entry_one(self, storage: Storage) -> None:
        study(storage)
        with pytest.raises(InputError, match=r"first\.seq is 2"):
            storage.create("lake", entry(2))
        assert storage.names() == ["sea"]

    @pytest.mark.parametrize("method", CALLS)
    def test_an_unknown_name_is_refused_with_the_names_there_are(self, storage: Storage, method: str) -> None:
        study(storage, name="sea")
        study(storage, name="lake")
        with pytest.raises(InputError, match=r"name is 'see': .* 'lake', 'sea'"):
            CALLS[method](storage, "see")

    def test_many_names_are_not_all_listed(self, storage: Storage) -> None:
        for k in range(23):
            storage.create(f"s{k:02}", entry(1))
        with pytest.raises(InputError, match="'s18', 's19' or one of 3 more"):
            storage.read("sea")

    @pytest.mark.parametrize("seq", [-1, 0, 1, 2, 4, 5])
    def test_an_entry_out_of_turn_has_moved_and_leaves_nothing(self, storage: Storage, seq: int) -> None:
        study(storage, tickets=2)
        before = storage.read("sea"), storage.leases("sea")
        with pytest.raises(Moved):
            append(storage, "sea", entry(seq), opened=[7], closed=[0])
        assert (storage.read("sea"), storage.leases("sea")) == before
        append(storage, "sea", entry(3), opened=[7], closed=[0])
        assert list(storage.leases("sea")) == [1, 7]

    # ------------------------------------------------------------------------------------------ turns

    def test_a_turn_shows_what_is_new_and_appends_after_it(self, storage: Storage) -> None:
        name = study(storage, tickets=2)
        with storage.turn(name, after=1) as turn:
            assert turn.entries == [entry(2)]
            turn.append(entry(3), opened=[5], closed=[0])
            turn.append(entry(4))
        assert storage.read(name) == [entry(1), entry(2), entry(3), entry(4)]
        assert storage.leases(name) == {1: None, 5: None}

    def test_a_turn_that_fails_leaves_nothing(self, storage: Storage) -> None:
        name = study(storage, tickets=2)
        with pytest.raises(Moved), storage.turn(name, after=2) as turn:
            _append_and_fail(turn)
        assert storage.read(name, after=2) == []
        assert storage.leases(name) == {0: None, 1: None}

    @pytest.mark.parametrize("seq", [1, 2, 4])
    def test_a_turn_takes_the_next_entry_only(self, storage: Storage, seq: int) -> None:
        name = study(storage, tickets=1)
        with pytest.raises(Moved), storage.turn(name, after=0) as turn:
            turn.append(entry(seq))
        assert len(storage.read(name)) == 2

    def test_a_turn_of_an_unknown_study_is_refused(self, storage: Storage) -> None:
        study(storage)
        with pytest.raises(InputError, match="name is 'sky'"), storage.turn("sky", after=0):
            pass

    def test_nobody_comes_between_in_a_turn(self, storage: Storage) -> None:
        name = study(storage)

        def count_up(which: Storage) -> None:
            for _ in range(10):
                with which.turn(name, after=0) as turn:
                    turn.append(entry(len(turn.entries) + 1))

        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(count_up, self.another(storage)) for _ in range(4)]:
                done.result()
        assert [each.seq for each in storage.read(name)] == list(range(1, 42))

    # --------------------------------------------------------------------------------------- restored logs

    def test_whoever_knows_the_digest_of_an_entry_goes_on_after_it(self, storage: Storage) -> None:
        name = study(storage, tickets=1)
        for after in (1, 2):
            assert storage.read(name, after=after, head=entry(after).digest) == [entry(2)][: 2 - after]
        with storage.turn(name, after=1, head=entry(1).digest) as turn:
            assert turn.entries == [entry(2)]
            turn.append(entry(3))
        storage.note(name, Note(2, "x"), head=entry(2).digest)
        assert storage.noted(name) == Note(2, "x")
        assert storage.read(name, after=3, head=entry(3).digest) == []

    def test_whoever_knows_another_log_gets_nothing_and_changes_nothing(self, storage: Storage) -> None:
        assert_refused(storage, study(storage, tickets=2), after=2, head="digest of another log")

    def test_whoever_has_read_more_than_there_is_gets_nothing_and_changes_nothing(self, storage: Storage) -> None:
        assert_refused(storage, study(storage, tickets=2), after=3, head=entry(3).digest)

    # --------------------------------------------------------------------------------------- tickets

    def test_a_worker_keeps_what_it_holds_and_gets_more(self, storage: Storage) -> None:
        study(storage, tickets=5)
        assert storage.claim("sea", 2, worker="ada", now=0.0, until=10.0) == [0, 1]
        assert storage.claim("sea", 2, worker="ada", now=1.0, until=11.0) == [0, 1]
        assert storage.claim("sea", 3, worker="ada", now=2.0, until=12.0) == [0, 1, 2]
        assert storage.leases("sea") == {**dict.fromkeys(range(3), Lease("ada", 12.0)), 3: None, 4: None}

    def test_one_s_own_come_before_free_ones_with_smaller_numbers(self, storage: Storage) -> None:
        study(storage, tickets=4)
        storage.claim("sea", 2, worker="bob", now=0.0, until=5.0)
        storage.claim("sea", 1, worker="ada", now=0.0, until=5.0)
        assert storage.claim("sea", 1, worker="ada", now=9.0, until=20.0) == [2]
        assert storage.claim("sea", 2, worker="ada", now=9.0, until=20.0) == [0, 2]
        assert storage.leases("sea")[1] == Lease("bob", 5.0)

    def test_a_lease_that_ended_is_renewed_unless_somebody_else_was_quicker(self, storage: Storage) -> None:
        study(storage, tickets=2)
        assert storage.claim("sea", 2, worker="ada", now=0.0, until=5.0) == [0, 1]
        assert storage.claim("sea", 1, worker="bob", now=6.0, until=20.0) == [0]
        assert storage.claim("sea", 2, worker="ada", now=6.0, until=20.0) == [1]
        assert storage.leases("sea") == {0: Lease("bob", 20.0), 1: Lease("ada", 20.0)}

    def test_a_lease_ends_after_its_time_and_not_at_it(self, storage: Storage) -> None:
        study(storage, tickets=1)
        storage.claim("sea", 1, worker="ada", now=0.0, until=5.25)
        assert storage.claim("sea", 1, worker="bob", now=5.25, until=9.0) == []
        assert storage.claim("sea", 1, worker="bob", now=np.nextafter(5.25, 6.0), until=9.0) == [0]

    def test_times_are_kept_to_the_last_digit(self, storage: Storage) -> None:
        study(storage, tickets=1)
        until = 1_700_000_000.123456789
        storage.claim("sea", 1, worker="ada", now=0.0, until=until)
        assert storage.leases("sea") == {0: Lease("ada", until)}

    def test_a_lease_that_is_over_when_it_begins_is_still_given_once(self, storage: Storage) -> None:
        study(storage, tickets=3)
        assert storage.claim("sea", 2, worker="ada", now=9.0, until=1.0) == [0, 1]
        assert storage.claim("sea", 5, worker="ada", now=9.0, until=1.0) == [0, 1, 2]

    @pytest.mark.parametrize(("count", "got"), [(-1, []), (0, []), (1, [0]), (3, [0, 1, 2]), (100, [0, 1, 2])])
    def test_nobody_gets_more_than_there_is_or_than_they_wanted(
        self, storage: Storage, count: int, got: list[int]
    ) -> None:
        study(storage, tickets=3)
        assert storage.claim("sea", count, worker="ada", now=0.0, until=1.0) == got

    def test_tickets_come_by_ascending_number_whenever_they_were_opened(self, storage: Storage) -> None:
        study(storage)
        append(storage, "sea", entry(2), opened=[30, 4, 100])
        append(storage, "sea", entry(3), opened=[7, 2**40])
        assert list(storage.leases("sea")) == [4, 7, 30, 100, 2**40]
        assert storage.claim("sea", 3, worker="ada", now=0.0, until=1.0) == [4, 7, 30]

    def test_closed_tickets_are_never_claimed_again(self, storage: Storage) -> None:
        study(storage, tickets=4)
        storage.claim("sea", 2, worker="ada", now=0.0, until=5.0)
        append(storage, "sea", entry(3), closed=[0, 3])
        assert storage.claim("sea", 9, worker="ada", now=9.0, until=20.0) == [1, 2]
        assert list(storage.leases("sea")) == [1, 2]

    def test_closing_what_is_not_open_and_opening_what_is_changes_nothing(self, storage: Storage) -> None:
        study(storage, tickets=2)
        storage.claim("sea", 1, worker="ada", now=0.0, until=5.0)
        append(storage, "sea", entry(3), opened=[0, 0, 1], closed=[77, 77])
        assert storage.leases("sea") == {0: Lease("ada", 5.0), 1: None}

    def test_what_is_closed_and_opened_at_once_is_open_and_free(self, storage: Storage) -> None:
        study(storage, tickets=1)
        storage.claim("sea", 1, worker="ada", now=0.0, until=5.0)
        append(storage, "sea", entry(3), opened=[0, 1], closed=[0, 1])
        assert storage.leases("sea") == {0: None, 1: None}

    def test_numbers_may_be_numpy_s(self, storage: Storage) -> None:
        study(storage)
        three: Any = np.arange(3)
        append(storage, "sea", entry(2), opened=three, closed=three[:1])
        got = storage.claim("sea", 2, worker="ada", now=np.float64(0.0), until=np.float64(1.0))
        assert got == [0, 1]
        assert {type(number) for number in (*got, *storage.leases("sea"))} == {int}
        append(storage, "sea", entry(3), closed=three[:1])
        assert storage.leases("sea") == {1: Lease("ada", 1.0), 2: None}

    def test_more_tickets_than_a_statement_has_parameters_go_with_one_entry(self, storage: Storage) -> None:
        study(storage, tickets=40_000)
        assert len(storage.claim("sea", 35_000, worker="ada", now=0.0, until=1.0)) == 35_000
        append(storage, "sea", entry(3), closed=range(1, 40_000))
        assert storage.leases("sea") == {0: Lease("ada", 1.0)}

    # --------------------------------------------------------------------------------------- notes

    # ----------------------------------------------------------------------------------------- seats

    def test_a_seat_is_for_one_at_a_time_and_free_afterwards(self, storage: Storage) -> None:
        study(storage)
        other = self.another(storage)
        for first, second in ((storage, other), (other, storage), (storage, storage)):
            with first.seat("sea", "ada") as mine, second.seat("sea", "ada") as theirs:
                assert (mine, theirs) == (True, False)
                with second.seat("sea", "ada") as again:  # whoever did not get it does not free it
                    assert not again
        with pytest.raises(RuntimeError), storage.seat("sea", "ada"):
            raise RuntimeError
        with other.seat("sea", "ada") as free:
            assert free

    def test_every_worker_of_every_study_has_a_seat_and_claims_beside_it(self, storage: Storage) -> None:
        study(storage, tickets=3)
        study(storage, name="lake")
        with storage.seat("sea", "ada") as one, storage.seat("sea", "bob") as two, storage.seat("lake", "ada") as three:
            assert (one, two, three) == (True, True, True)
            assert storage.claim("sea", 2, worker="ada", now=0.0, until=9.0) == [0, 1]
            append(self.another(storage), "sea", entry(3))

    def test_threads_never_have_the_same_seat(self, storage: Storage) -> None:
        study(storage)
        sitting, most = [0], [0]

        def sit(each: Storage) -> int:
            taken = 0
            while taken < 5:
                with each.seat("sea", "ada") as free:
                    if free:
                        sitting[0] += 1
                        most[0] = max(most[0], sitting[0])
                        time.sleep(1e-4)
                        sitting[0] -= 1
                        taken += 1
            return taken

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(sit, [storage, self.another(storage)] * 2)) == [5] * 4
        assert most == [1]

    def test_a_note_from_fewer_entries_does_not_replace_one_from_more(self, storage: Storage) -> None:
        study(storage)
        assert storage.noted("sea") is None
        for note, kept in [((2, "b"), "b"), ((1, "a"), "b"), ((2, "c"), "c"), ((9, "d"), "d"), ((8, "e"), "d")]:
            storage.note("sea", Note(*note))
            found = storage.noted("sea")
            assert found is not None
            assert found.text == kept

    def test_a_note_is_no_entry(self, storage: Storage) -> None:
        study(storage, tickets=1)
        storage.note("sea", Note(2, "{}"))
        assert len(storage.read("sea")) == 2
        append(storage, "sea", entry(3))
        assert storage.noted("sea") == Note(2, "{}")

    def test_a_snapshot_is_the_last_one_or_none_and_no_entry(self, storage: Storage) -> None:
        study(storage, tickets=1)
        assert storage.snapshot("sea") is None
        for kept in (Note(2, "b"), Note(1, "a"), Note(9, "x" * 100_000)):
            storage.keep_snapshot("sea", kept)
            assert self.another(storage).snapshot("sea") in (kept, None)  # a storage may leave it out
        append(storage, "sea", entry(3))
        assert len(storage.read("sea")) == 3
        assert storage.noted("sea") is None

    def test_what_is_beside_a_log_is_shown_as_it_is_stored(self, storage: Storage) -> None:
        study(storage, tickets=2)
        assert storage.beside("sea") == Beside(2, [(0, None, None), (1, None, None)], None)
        storage.claim("sea", 1, worker="ada", now=0.0, until=5.0)
        storage.note("sea", Note(2, "{}"))
        assert storage.beside("sea") == Beside(2, [(0, "ada", 5.0), (1, None, None)], (2, "{}"))

    # --------------------------------------------------------------------------------------- everything together

    @given(commands=st.lists(COMMANDS, max_size=15))
    @EXAMPLES
    def test_any_order_of_calls_does_what_plain_lists_and_dictionaries_do(
        self, storage: Storage, commands: list[Command]
    ) -> None:
        compare_with_model(storage, commands)

    def test_a_closed_storage_may_be_used_again(self, storage: Storage) -> None:
        study(storage)
        storage.close()
        storage.close()
        append(storage, "sea", entry(2))
        assert len(storage.read("sea")) == 2

    def test_the_url_has_no_secret_and_is_the_same_again(self, storage: Storage) -> None:
        assert storage.url == self.another(storage).url

    # --------------------------------------------------------------------------------------- several at once

    def test_threads_append_one_after_the_other(self, storage: Storage) -> None:
        study(storage)
        mine, other = storage, self.another(storage)
        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(append_some, [mine, other] * 2, ["sea"] * 4, [5] * 4))
        assert sorted(itertools.chain(*parts)) == list(range(2, 22))
        assert [each.seq for each in storage.read("sea")] == list(range(1, 22))
        assert list(storage.leases("sea")) == list(range(2, 22))

    def test_threads_never_hold_the_same_ticket(self, storage: Storage) -> None:
        study(storage, tickets=50)
        mine, other = storage, self.another(storage)
        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(claim_all, [mine, other] * 2, ["sea"] * 4, "abcd"))
        assert sorted(itertools.chain(*parts)) == list(range(50))

    def test_only_one_of_many_gets_a_name(self, storage: Storage) -> None:
        study(storage, name="other")

        def attempt(each: Storage) -> int:
            try:
                each.create("sea", entry(1))
            except InputError:
                return 0
            return 1

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(attempt, [storage, self.another(storage)] * 2)) == 1
        assert storage.read("sea") == [entry(1)]

    def test_one_worker_in_two_places_gets_the_same_tickets(self, storage: Storage) -> None:
        study(storage, tickets=20)
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            with ThreadPoolExecutor(4) as pool:
                calls = [
                    pool.submit(each.claim, "sea", 3, worker="ada", now=0.0, until=9.0)
                    for each in [storage, self.another(storage)] * 4
                ]
            assert [call.result() for call in calls] == [[0, 1, 2]] * 8
        finally:
            sys.setswitchinterval(interval)
