"""The fold of a log, against a book-keeper who writes down every ticket by hand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superlevel.study import Result, Study
from superlevel.study.events import DamagedError
from superlevel.study.ledger import Fate, Ledger, fold
from tests.study.campaigns import FITTED, GREEDY, N, entries_of, reopened

FIELDS = ("point", "asking", "fate", "value", "noise", "late", "told")


def same(one: Ledger, other: Ledger) -> bool:
    """Field by field, bit by bit."""
    columns = all(getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in FIELDS)
    rest = ("created", "length", "head", "times", "reasons", "changed", "revised", "program", "closed")
    plans = [(item.seq, item.first, item.asked) for item in one.askings]
    others = [(item.seq, item.first, item.asked) for item in other.askings]
    return columns and plans == others and all(getattr(one, name) == getattr(other, name) for name in rest)


commands = st.one_of(
    st.just(("ask",)),
    st.tuples(st.just("tell"), st.integers(0, 30), st.floats(-9, 9), st.none() | st.floats(0, 1)),
    st.tuples(st.just("fail"), st.integers(0, 30)),
    st.tuples(st.just("point"), st.integers(0, N - 1), st.floats(-9, 9)),
    st.tuples(st.just("correct"), st.integers(0, 30), st.floats(-9, 9)),
    st.tuples(st.just("withdraw"), st.integers(0, 30)),
)


class Book:
    """What became of every ticket, one dictionary each."""

    def __init__(self) -> None:
        self.tickets: list[dict[str, Any]] = []

    def open(self, point: int) -> dict[str, Any]:
        self.tickets.append({"point": point, "fate": Fate.OPEN, "value": None, "noise": None})
        return self.tickets[-1]

    def pick(self, k: int, *fates: Fate) -> int | None:
        fitting = [number for number, ticket in enumerate(self.tickets, start=1) if ticket["fate"] in fates]
        return fitting[k % len(fitting)] if fitting else None


def act(study: Study, book: Book, command: tuple[Any, ...]) -> None:
    match command:
        case ("ask",):
            before = len(book.tickets)
            study.ask(len(book.tickets) + 4)
            for point in study.ledger.point[before:]:
                book.open(int(point))
        case ("tell", k, value, noise):
            if (number := book.pick(k, Fate.OPEN, Fate.FAILED)) is not None:
                study.tell([Result(ticket=number, value=value, noise=noise)])
                book.tickets[number - 1] |= {"fate": Fate.MEASURED, "value": value, "noise": noise}
        case ("fail", k):
            if (number := book.pick(k, Fate.OPEN)) is not None:
                study.tell([Result(ticket=number, value=None, reason="ice")])
                book.tickets[number - 1]["fate"] = Fate.FAILED
        case ("point", point, value):
            waiting = [ticket for ticket in book.tickets if ticket["point"] == point and ticket["fate"] is Fate.OPEN]
            study.tell([Result(point=point, value=value)], replicates=True)
            ticket = waiting[0] if waiting else book.open(point)
            ticket |= {"fate": Fate.MEASURED, "value": value, "noise": None}
        case ("correct", k, value):
            if (number := book.pick(k, Fate.MEASURED)) is not None:
                study.correct(number, value)
                book.tickets[number - 1]["value"] = value
        case ("withdraw", k):
            if (number := book.pick(k, Fate.OPEN, Fate.MEASURED, Fate.FAILED)) is not None:
                study.withdraw(number)
                book.tickets[number - 1]["fate"] = Fate.WITHDRAWN


@settings(max_examples=25)
@given(st.lists(commands, max_size=12))
def test_every_ticket_is_as_a_book_keeper_has_it(listed: list[tuple[Any, ...]]) -> None:
    study, book = GREEDY.create(), Book()
    act(study, book, ("ask",))
    for command in listed:
        act(study, book, command)
    ledger, tickets = study.ledger, book.tickets
    assert ledger.point.tolist() == [ticket["point"] for ticket in tickets]
    assert ledger.fate.tolist() == [int(ticket["fate"]) for ticket in tickets]
    assert (ledger.open - 1).tolist() == [k for k, ticket in enumerate(tickets) if ticket["fate"] is Fate.OPEN]
    counted = [ticket for ticket in tickets if ticket["fate"] is Fate.MEASURED]
    assert ledger.samples == len(counted) == len(ledger.measured) == ledger.counts.sum()
    at = ledger.measured
    found = Counter(zip(ledger.point[at].tolist(), ledger.value[at].tolist(), strict=True))
    assert found == Counter((ticket["point"], ticket["value"]) for ticket in counted)
    for ticket, noise in zip(tickets, ledger.noise, strict=True):
        if ticket["fate"] is Fate.MEASURED:
            assert np.isnan(noise) if ticket["noise"] is None else noise == ticket["noise"]
    entries = entries_of(study)
    for cut in range(1, len(entries) + 1):
        assert same(fold(entries[cut:], fold(entries[:cut])), ledger)


def test_measurements_count_in_an_order_of_their_own() -> None:
    values = [(3, 0.5, None), (1, 0.2, 0.3), (3, 0.1, None), (1, 0.2, None), (1, 0.2, 0.1)]
    orders = []
    for order in ([0, 1, 2, 3, 4], [4, 2, 0, 3, 1]):
        study = GREEDY.create()
        study.tell([Result(point=p, value=v, noise=s) for p, v, s in (values[k] for k in order)])
        ledger, at = study.ledger, study.ledger.measured
        orders.append([ledger.point[at].tolist(), ledger.value[at].tolist(), ledger.noise[at].tolist()])
    np.testing.assert_equal(orders[0], orders[1])
    np.testing.assert_equal(orders[0][0], [1, 1, 1, 3, 3])


def test_averages_are_of_what_counts_and_nan_where_nothing_does() -> None:
    study = GREEDY.create()
    study.tell([Result(point=2, value=1.0), Result(point=2, value=2.0), Result(point=5, value=4.0)])
    study.withdraw(3)
    expected = np.full(N, np.nan)
    expected[2] = 1.5
    np.testing.assert_array_equal(study.ledger.averages, expected)
    np.testing.assert_array_equal(study.ledger.counts, np.where(np.isnan(expected), 0, 2))


def test_a_reason_stays_until_there_is_another() -> None:
    study = GREEDY.create()
    tickets = study.ask()
    study.tell([tickets[0].failed("ice"), tickets[1].measured(1.0, reason="windy"), tickets[2].measured(2.0)])
    assert study.ledger.reasons == {1: "ice", 2: "windy"}
    study.correct(2, 3.0)
    study.withdraw([1, 3])
    assert study.ledger.reasons == {1: "ice", 2: "windy"}
    study.correct(2, 4.0, reason="typing error")
    assert study.ledger.reasons[2] == "typing error"
    study.withdraw([2], reason="sensor 3 was broken")
    assert reopened(study).ledger.reasons == {1: "ice", 2: "sensor 3 was broken"}


def test_it_is_known_when_labels_may_have_changed_and_when_something_was_revised() -> None:
    study = GREEDY.create()
    seen = []
    tickets = study.ask()
    seen.append((study.ledger.changed, study.ledger.revised))
    study.tell(GREEDY.measure(tickets))
    seen.append((study.ledger.changed, study.ledger.revised))
    study.correct(1, 0.5)
    seen.append((study.ledger.changed, study.ledger.revised))
    study.ask()
    seen.append((study.ledger.changed, study.ledger.revised))
    study.withdraw(2)
    seen.append((study.ledger.changed, study.ledger.revised))
    assert seen == [(1, 0), (3, 0), (4, 4), (4, 4), (6, 6)]


def test_a_plan_changes_no_label() -> None:
    """Estimates are made when results come, not when plans are."""
    study = FITTED.create()
    for _ in range(5):
        study.tell(FITTED.measure(study.ask()))
    before = study.ledger.changed
    study.ask()
    assert study.ledger.askings[-1].asked.forecast is not None
    assert study.ledger.changed == before < study.ledger.length


def test_nothing_new_is_nothing_new() -> None:
    ledger = GREEDY.create().ledger
    assert fold([], ledger) is ledger


def test_entries_of_another_log_do_not_follow() -> None:
    one, other = GREEDY.run(GREEDY.create(), 1), GREEDY.run(GREEDY.create(seed=8), 1)
    with pytest.raises(DamagedError, match="entry 2 is not as it was written"):
        fold(entries_of(other)[1:], fold(entries_of(one)[:1]))


def test_what_is_handed_out_cannot_be_changed() -> None:
    ledger = GREEDY.run(GREEDY.create(), 1).ledger
    for name in (*FIELDS, "measured"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(ledger, name)[0] = 1


def test_a_repeat_is_a_ticket_at_a_point_that_an_earlier_one_counts_for() -> None:
    study = GREEDY.create()
    study.tell([Result(point=0, value=1.0), Result(point=1, value=1.0)])
    study.tell([Result(point=0, value=2.0), Result(point=0, value=3.0)])
    assert study.ledger.repeats.tolist() == [False, False, True, True]
    study.withdraw(1)
    assert study.ledger.repeats.tolist() == [False, False, False, True]
