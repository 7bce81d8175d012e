"""Results come in: all or none, the same again is nothing new, and another value is a conflict."""

from __future__ import annotations

import math
import pickle
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superlevel.errors import InputError
from superlevel.study import Result, ResultsError, Study
from superlevel.study.ledger import Fate
from superlevel.study.results import Mistake, Tickets
from superlevel.study.storage import Memory
from tests.study.campaigns import GREEDY, NAME, ROUNDS, N, entries_of, reopened, snapshot, storage_of


def asked(count: int = 6) -> tuple[Study, Tickets]:
    study = GREEDY.create()
    return study, study.ask(count)


def content(study: Study) -> Counter[tuple[int, float, float]]:
    """What counts, as a bag."""
    ledger, at = study.ledger, study.ledger.measured
    noise = np.where(np.isnan(ledger.noise[at]), -1.0, ledger.noise[at])
    return Counter(zip(ledger.point[at].tolist(), ledger.value[at].tolist(), noise.tolist(), strict=True))


# --- all or nothing


def test_results_become_one_entry() -> None:
    study, tickets = asked()
    receipt = study.tell(GREEDY.measure(tickets))
    assert (receipt.entry, receipt.stored, receipt.repeated, receipt.failed) == (3, 6, 0, 0)
    assert study.ledger.length == 3
    assert str(receipt) == "6 results stored"


@pytest.mark.parametrize(
    ("wrong", "field", "sentence"),
    [
        (Result(ticket=99, value=1.0), "ticket", "there are tickets 1 to 6"),
        (Result(ticket=0, value=1.0), "ticket", "0"),
        (Result(ticket=-1, value=1.0), "ticket", "-1"),
        (Result(ticket=True, value=1.0), "ticket", "True"),
        (Result(ticket="1", value=1.0), "ticket", "'1'"),  # type: ignore[arg-type]
        (Result(ticket=1.0, value=1.0), "ticket", "1.0"),  # type: ignore[arg-type]
        (Result(ticket=10**30, value=1.0), "ticket", "there are tickets 1 to 6"),
        (Result(value=1.0), "ticket", "missing"),
        (Result(point=N, value=1.0), "point", f"from 0 to {N - 1}"),
        (Result(point=-1, value=1.0), "point", "-1"),
        (Result(point=False, value=1.0), "point", "False"),
        (Result(point="x", value=1.0), "point", "'x'"),  # type: ignore[arg-type]
        (Result(point=0.0, value=1.0), "point", "0.0"),  # type: ignore[arg-type]
        (Result(point=10**30, value=1.0), "point", f"from 0 to {N - 1}"),
        (Result(point=0, value=None), "value", "leave it out"),
        (Result(ticket=1, value=math.nan), "value", "nan"),
        (Result(ticket=1, value=math.inf), "value", "inf"),
        (Result(ticket=1, value=-math.inf), "value", "-inf"),
        (Result(ticket=1, value=np.float32("nan")), "value", "nan"),  # type: ignore[arg-type]
        (Result(ticket=1, value=True), "value", "True"),
        (Result(ticket=1, value=np.True_), "value", "True"),  # type: ignore[arg-type]
        (Result(ticket=1, value="1.5"), "value", "'1.5'"),  # type: ignore[arg-type]
        (Result(ticket=1, value=1j), "value", "1j"),  # type: ignore[arg-type]
        (Result(ticket=1, value=10**400), "value", "give a finite number"),
        (Result(ticket=1, value=1e200), "value", "below 1e+100"),
        (Result(ticket=1, value=1.0, noise=-0.1), "noise", "-0.1"),
        (Result(ticket=1, value=1.0, noise=math.nan), "noise", "nan"),
        (Result(ticket=1, value=1.0, noise=1e200), "noise", "below 1e+100"),
        (Result(ticket=1, value=1.0, noise=10**400), "noise", "give a standard deviation"),
        (Result(ticket=1, value=1.0, noise="0.1"), "noise", "'0.1'"),  # type: ignore[arg-type]
        (Result(ticket=1, value=1.0, reason=b"ice"), "reason", "ice"),  # type: ignore[arg-type]
    ],
)
def test_one_mistake_and_nothing_is_stored(wrong: Result, field: str, sentence: str) -> None:
    study, tickets = asked()
    before, leases = entries_of(study), storage_of(study).leases(NAME)
    with pytest.raises(ResultsError, match=re.escape(sentence)) as caught:
        study.tell([*GREEDY.measure(tickets[1:4]), wrong, *GREEDY.measure(tickets[4:])])
    (mistake,) = caught.value.mistakes
    assert (mistake.position, mistake.field) == (3, field)
    assert str(mistake).startswith(f"results[3].{field} is ")
    assert entries_of(study) == before
    assert storage_of(study).leases(NAME) == leases
    assert not study.ledger.samples


def test_all_mistakes_are_named_in_their_order() -> None:
    study, tickets = asked()
    wrong = [
        Result(point=0, value=None),
        Result(ticket=77, value=1.0),
        tickets[0].measured(math.nan),
        Result(value=1.0),
    ]
    with pytest.raises(ResultsError) as caught:
        study.check([wrong[0], tickets[1].measured(1.0), *wrong[1:]])
    assert [mistake.position for mistake in caught.value.mistakes] == [0, 2, 3, 4]
    assert str(caught.value).count("\n") == 3
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.mistakes == caught.value.mistakes


def test_of_very_many_mistakes_the_first_are_shown() -> None:
    mistakes = [Mistake(position=k, field="value", got="nan", remedy="measure it") for k in range(50)]
    lines = str(ResultsError(mistakes)).split("\n")
    assert len(lines) == 21
    assert lines[-1] == "and 30 more"


@pytest.mark.parametrize("given", [None, 5, Result(point=0, value=1.0), [{"point": 0}], ["x"], [None]])
def test_what_is_no_list_of_results_is_refused(given: Any) -> None:
    study, _ = asked()
    for act in (study.tell, study.check):
        with pytest.raises(InputError, match=r"results(\[0\])? is of type .*: give a list of Results"):
            act(given)


def test_numbers_of_numpy_are_numbers() -> None:
    study, _ = asked()
    study.tell(
        [
            Result(ticket=np.int64(1), value=np.float32(0.1), noise=np.float16(0.5)),  # type: ignore[arg-type]
            Result(ticket=np.uint8(2), value=np.int32(3)),  # type: ignore[arg-type]
            Result(point=np.int16(0), value=np.float64(-1.5)),  # type: ignore[arg-type]
            Result(ticket=4, value=2**53 + 1),
        ]
    )
    again = reopened(study).ledger
    assert again.value[[0, 1, 3]].tolist() == [float(np.float32(0.1)), 3.0, 2.0**53]
    assert again.noise[0] == 0.5
    same = [
        Result(ticket=1, value=np.float32(0.1), noise=0.5),  # type: ignore[arg-type]
        Result(ticket=4, value=2**53 + 1),
        Result(ticket=4, value=np.longdouble(2**53)),  # type: ignore[arg-type]
    ]
    assert study.tell(same).repeated == 3


def test_an_iterator_is_told_once_and_a_generator_as_well() -> None:
    study, tickets = asked()
    assert study.tell(result for result in GREEDY.measure(tickets)).stored == 6
    assert study.tell(iter(GREEDY.measure(tickets))).repeated == 6


def test_nothing_told_is_nothing_written() -> None:
    study, _ = asked()
    receipt = study.tell([])
    assert (receipt.entry, receipt.stored) == (None, 0)
    assert study.ledger.length == 2


def test_a_dry_run_says_what_would_be_done_and_does_nothing() -> None:
    study, tickets = asked()
    results = [*GREEDY.measure(tickets[:2]), tickets[2].failed("ice"), Result(point=0, value=1.0)]
    before = entries_of(study)
    dry = study.check(results)
    assert entries_of(study) == before
    assert dry.entry is None
    done = study.tell(results)
    assert (dry.stored, dry.failed, dry.unplanned) == (done.stored, done.failed, done.unplanned)


# --- the same again


@settings(max_examples=40)
@given(data=st.data())
def test_the_same_results_again_change_nothing(data: st.DataObject) -> None:
    study, tickets = asked()
    results = [
        *GREEDY.measure(tickets[:3]),
        tickets[3].failed("ice"),
        tickets[4].measured(0.25, noise=0.2),
        Result(point=0, value=0.25),
        Result(point=0, value=0.25),
        Result(point=0, value=-0.0),
        Result(point=1, value=0.5, noise=0.0),
        Result(point=tickets[5].point, value=2.0),
    ]
    doubled = data.draw(st.lists(st.sampled_from(range(5)), max_size=3))  # tickets may be named twice
    study.tell(data.draw(st.permutations([*results, *(results[k] for k in doubled)])))
    before, known = entries_of(study), snapshot(study)
    for _ in range(2):
        chosen = data.draw(st.lists(st.sampled_from(range(len(results))), unique=True))
        again = [results[k] for k in chosen]
        again += [results[k] for k in data.draw(st.lists(st.sampled_from(range(5)), max_size=3))]
        receipt = study.tell(data.draw(st.permutations(again)))
        assert (receipt.entry, receipt.stored, receipt.repeated) == (None, 0, len(again))
    assert entries_of(study) == before
    assert snapshot(study) == known


@settings(max_examples=40)
@given(
    rows=st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0.0, 0.5, 1.0])), max_size=12),
    cuts=st.lists(st.integers(0, 12), max_size=4),
    open_tickets=st.booleans(),
)
def test_a_list_that_grows_is_stored_row_by_row_once(
    rows: list[tuple[int, float]], cuts: list[int], open_tickets: bool
) -> None:
    study = GREEDY.create()
    if open_tickets:
        study.ask(9)
    results = [Result(point=point, value=value) for point, value in rows]
    for cut in [*sorted(cuts), len(rows)]:
        study.tell(results[:cut])
    assert content(study) == Counter((point, value, -1.0) for point, value in rows)


def test_a_replicate_has_to_be_called_one() -> None:
    study = GREEDY.create()
    row = [Result(point=3, value=0.5)]
    assert study.tell(row).stored == 1
    assert study.tell(row).repeated == 1
    receipt = study.tell(row, replicates=True)
    assert (receipt.stored, receipt.repeated) == (1, 0)
    assert study.ledger.counts[3] == 2
    assert study.tell(row * 2).repeated == 2
    assert study.tell(row * 3).stored == 1


def test_a_ticket_and_its_point_with_the_same_value_are_two_measurements() -> None:
    study, tickets = asked()
    first = tickets[0].measured(0.5)
    second = Result(point=first.point, value=0.5)
    study.tell([first])
    assert study.tell([first, second]).stored == 1
    for again in ([second], [first], [second, first], [first, second, first], [second, second]):
        assert study.tell(again).stored == 0
    assert study.tell([second, first, second]).stored == 1


def test_a_point_with_another_deviation_is_another_measurement() -> None:
    study = GREEDY.create()
    study.tell([Result(point=3, value=0.5), Result(point=3, value=0.5, noise=0.2)])
    assert study.tell([Result(point=3, value=0.5, noise=0.2)]).repeated == 1
    assert study.tell([Result(point=3, value=0.5, noise=0.3)]).stored == 1
    assert study.ledger.counts[3] == 3


# --- conflicts


def test_another_value_is_a_conflict_that_shows_both() -> None:
    study, tickets = asked()
    study.tell([tickets[0].measured(1.25), tickets[1].measured(2.0, noise=0.5), tickets[2].failed()])
    before = entries_of(study)
    for result, sentence in (
        (tickets[0].measured(1.5), "is 1.5, but ticket 1 has 1.25 in entry 3"),
        (tickets[1].measured(2.0), "is 2.0, but ticket 2 has 2.0 with noise 0.5 in entry 3"),
        (tickets[0].failed(), "is 'could not be measured', but ticket 1 has 1.25 in entry 3"),
    ):
        with pytest.raises(ResultsError, match=re.escape(sentence)):
            study.tell([tickets[3].measured(0.0), result])
    assert entries_of(study) == before


@pytest.mark.parametrize("failed_before", [False, True])
def test_two_values_for_a_ticket_in_one_list_are_a_conflict(failed_before: bool) -> None:
    study, tickets = asked()
    if failed_before:
        study.tell([tickets[0].failed()])
    with pytest.raises(ResultsError, match=re.escape("is 2.0, but ticket 1 has 1.0 in the same results")):
        study.tell([tickets[0].measured(1.0), tickets[0].measured(2.0)])
    with pytest.raises(ResultsError, match="in the same results"):
        study.tell([tickets[0].measured(1.0), tickets[0].failed()])
    assert study.tell([tickets[0].measured(1.0)] * 3).repeated == 2


def test_a_point_that_is_not_the_tickets_is_a_mistake() -> None:
    study, tickets = asked()
    other = (tickets[0].point + 1) % N
    with pytest.raises(ResultsError, match="but ticket 1 is for"):
        study.tell([Result(ticket=1, point=other, value=1.0)])


# --- what became of tickets


def test_what_failed_may_be_measured_after_all() -> None:
    study, tickets = asked()
    receipt = study.tell([tickets[0].failed("ice")])
    assert (receipt.stored, receipt.failed) == (1, 1)
    assert study.ledger.fate[0] == Fate.FAILED
    assert study.tell([tickets[0].failed("ice again")]).repeated == 1
    assert study.tell([tickets[0].measured(0.5)]).stored == 1
    assert study.ledger.fate[0] == Fate.MEASURED
    fresh, again = asked()
    fresh.tell([again[0].measured(0.5)])
    assert snapshot(study) == snapshot(fresh)


def test_what_was_withdrawn_is_told_by_its_point() -> None:
    study, tickets = asked()
    study.withdraw(1)
    with pytest.raises(ResultsError, match="1, which was withdrawn: give its point instead"):
        study.tell([Result(ticket=1, value=0.5)])
    receipt = study.tell([Result(point=tickets[0].point, value=0.5)])
    assert receipt.stored == 1
    assert study.ledger.fate[0] == Fate.WITHDRAWN


def test_results_by_point_fill_open_tickets_first() -> None:
    study, tickets = asked()
    point = tickets[2].point
    waiting = [ticket.number for ticket in tickets if ticket.point == point]
    results = [Result(point=point, value=0.1 * k) for k in range(len(waiting) + 2)]
    receipt = study.tell(results)
    assert (receipt.stored, receipt.unplanned) == (len(results), 2)
    assert [number for number in waiting if study.ledger.fate[number - 1] == Fate.MEASURED] == waiting
    assert study.ledger.point[-2:].tolist() == [point, point]
    assert study.ledger.asking[-2:].tolist() == [-1, -1]
    assert len(study.ledger.point) == 8


def test_a_ticket_that_is_named_is_not_filled_by_a_point() -> None:
    study, tickets = asked()
    point = tickets[2].point
    named = [ticket for ticket in tickets if ticket.point == point]
    results = [Result(point=point, value=9.0), *(ticket.measured(1.0) for ticket in named)]
    assert study.tell(results).unplanned == 1
    assert study.ledger.value[named[0].number - 1] == 1.0


def test_a_worker_who_names_the_point_fills_his_own_ticket() -> None:
    storage = Memory()
    ada = ROUNDS.create(storage)
    first = ada.ask(5)
    bob = Study.open(storage, NAME, worker="bob")
    second = bob.ask(5)
    assert first[0].point == second[0].point
    receipt = bob.tell([Result(point=second[0].point, value=0.5)])
    assert receipt.late == ()
    assert bob.ledger.fate[second[0].number - 1] == Fate.MEASURED
    assert ada.tell(ROUNDS.measure(first)).late == ()
    receipt = bob.tell([Result(point=second[0].point, value=0.01 * k) for k in range(5)])
    assert receipt.late == ()  # four of his own, then what nobody holds
    assert receipt.unplanned == 0


def test_late_results_are_welcome_and_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = Memory()
    ada = GREEDY.create(storage, lease=60.0)
    tickets = ada.ask(6)
    bob = Study.open(storage, NAME, worker="bob")
    assert bob.tell(GREEDY.measure(tickets[:1])).late == (1,)
    until = tickets[0].until
    assert ada.tell(GREEDY.measure(tickets[1:2])).late == ()
    monkeypatch.setattr("superlevel.study.study.time.time", lambda: until + 1)
    receipt = ada.tell(GREEDY.measure(tickets[2:4]))
    assert receipt.late == (3, 4)
    assert "2 late" in str(receipt)
    assert ada.ledger.late.tolist() == [True, False, True, True, False, False]
    assert ada.tell(GREEDY.measure(tickets[:4])).late == ()  # nothing new is late
    assert (ada.status().late, ada.ledger.samples) == (3, 4)


def test_ten_thousand_results_at_once() -> None:
    study = GREEDY.create()
    study.ask(40)
    rng = np.random.default_rng(0)
    points, values = rng.integers(N, size=10_000), rng.normal(size=10_000)
    results = [Result(point=int(p), value=float(y)) for p, y in zip(points, values, strict=True)]
    assert study.tell(results).stored == 10_000
    assert study.tell(results[::-1]).repeated == 10_000
    ledger = study.ledger
    assert ledger.counts.sum() == 10_000
    sums = np.bincount(points, values)
    at = ledger.counts > 0
    np.testing.assert_allclose(ledger.averages[at], (sums / np.bincount(points, minlength=N))[at], rtol=1e-9)


# --- tickets


def test_tickets_are_a_sequence() -> None:
    _, tickets = asked()
    assert tickets[np.int64(1)] is tickets[1]  # type: ignore[call-overload]
    assert tickets[-1].number == 6
    assert isinstance(tickets[1:3], Tickets)
    assert [ticket.number for ticket in tickets[1:3]] == [2, 3]
    assert tickets[0] in tickets
    assert tickets.points.shape == (6, 1)
    assert tickets.points[:, 0].tolist() == [ticket.coordinates[0] for ticket in tickets]
    assert tickets.stop is None


@pytest.mark.parametrize(
    ("values", "noise", "sentence"),
    [
        ([1.0] * 5, None, "values is of shape (5,): give shape (6,)"),
        ([[1.0] * 6], None, "values is of shape (1, 6)"),
        (["a"] * 6, None, "values is of type list and holds something other than numbers"),
        ([1.0] * 6, [0.1] * 5, "noise is of shape (5,): give one, or shape (6,)"),
        ([1.0] * 6, "x", "noise is of type str"),
    ],
)
def test_values_have_a_ticket_each(values: Any, noise: Any, sentence: str) -> None:
    _, tickets = asked()
    with pytest.raises(InputError, match=re.escape(sentence)):
        tickets.measured(values, noise=noise)


def test_values_may_have_deviations_of_their_own() -> None:
    study, tickets = asked()
    study.tell(tickets[:3].measured([1, 2, 3], noise=0.25))
    study.tell(tickets[3:].measured(np.arange(3.0), noise=[0.0, 0.5, 1.0]))
    assert study.ledger.noise.tolist() == [0.25, 0.25, 0.25, 0.0, 0.5, 1.0]
