"""Which plans feed the martingales of the ridge confidence: those whose results no later plan could split."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from superlevel.confidence.martingales import Martingales
from superlevel.study import Result, Study
from tests.study.campaigns import PAIR_RIDGE, RIDGE, TRUTH, Kind, each, reopened, snapshot

BOTH = [RIDGE, PAIR_RIDGE]


def martingales(study: Study) -> Martingales:
    state: Any = study.knowledge.state
    found = state.belief.martingales
    assert isinstance(found, Martingales)
    return found


def fed(study: Study) -> bool:
    """Whether any plan was."""
    return bool(martingales(study).variances.any())


def shares(study: Study) -> tuple[float, float]:
    state: Any = study.knowledge.state
    first, second = state.belief.shares
    return first, second


def equal(one: Study, other: Study) -> bool:
    names = ("estimates", "means", "variances", "scales", "misses")
    pairs = [(getattr(martingales(one), name), getattr(martingales(other), name)) for name in names]
    return all(np.array_equal(first, second) for first, second in pairs)


@each(BOTH)
def test_a_plan_that_is_told_in_two_goes_without_another_in_between_feeds_them(kind: Kind) -> None:
    whole, parts = kind.create(), kind.create()
    results = kind.measure(whole.ask())
    assert len(parts.ask()) == len(results) > 2
    whole.tell(results)
    parts.tell(results[:2])
    assert not fed(parts)  # half of a plan does not
    parts.tell(results[2:])
    assert fed(parts)
    assert equal(whole, parts)
    assert snapshot(whole) == snapshot(parts) == snapshot(reopened(parts))


@each(BOTH)
def test_a_plan_that_is_told_in_two_goes_with_another_in_between_does_not_feed_them(kind: Kind) -> None:
    study = kind.create()
    first = kind.measure(study.ask())
    study.tell(first[:2])
    second = study.ask(len(first) + 2)[len(first) - 2 :]  # of another plan, chosen by half of this one
    assert len(study.ledger.askings) == 2
    study.tell(first[2:])
    assert not fed(study)
    assert study.knowledge.state is not None
    assert study.knowledge.state.samples == len(first)  # the ellipsoids have all of it
    rest = study.ledger.askings[1].tickets
    assert [ticket.number for ticket in second] == list(rest)
    study.tell(kind.measure(second))
    assert fed(study)  # by the second plan, and by nothing else
    alone = kind.create()
    alone.ask()
    alone.tell(first[:2])
    alone.ask(len(first) + 2)
    alone.tell([result for result in kind.measure(second) if result.ticket in rest])
    assert equal(study, alone)
    assert shares(study) == (0.5, 0.5)
    assert study.verify().ok


@each(BOTH)
def test_two_plans_that_are_told_in_turns_both_feed_them(kind: Kind) -> None:
    """Both were made before any result came: no result chose a place."""
    study, plain = kind.create(), kind.create()
    for each_ in (study, plain):
        each_.ask(4)
        each_.ask(8)
        assert len(each_.ledger.askings) == 2
    results = kind.measure(plain.ask(8))
    plain.tell(results[:4])
    plain.tell(results[4:])
    for k in (0, 4, 1, 5, 2, 6, 3, 7):
        study.tell([results[k]])
    assert fed(study)
    assert equal(study, plain)
    np.testing.assert_array_equal(study.labels, plain.labels)


@each(BOTH)
def test_a_plan_of_which_some_failed_feeds_them_with_the_rest(kind: Kind) -> None:
    study = kind.create()
    tickets = study.ask()
    study.tell([tickets[0].failed("ice"), *kind.measure(tickets[1:])])
    assert fed(study)
    late = kind.create()
    again = late.ask()
    late.tell([again[0].failed("ice"), *kind.measure(again[1:])])
    late.ask()
    late.tell(kind.measure(again[:1]))  # after another plan was made
    assert not fed(late)


@each(BOTH)
@pytest.mark.parametrize("planned", [True, False])
def test_a_first_batch_that_nobody_planned_leaves_them_out(kind: Kind, planned: bool) -> None:
    study = kind.create()
    if not planned:
        study.tell([Result(point=k, value=float(TRUTH[k])) for k in (0, 5)])
    for _ in range(2):
        study.tell(kind.measure(study.ask()))
    if planned:
        study.tell([Result(point=k, value=float(TRUTH[k])) for k in (0, 5)])
    assert fed(study) == planned
    assert shares(study) == ((0.5, 0.5) if planned else (1.0, 0.0))
    assert shares(reopened(study)) == shares(study)


@each(BOTH)
def test_a_correction_feeds_them_with_what_is_right(kind: Kind) -> None:
    study, plain = kind.create(), kind.create()
    results = kind.measure(plain.ask())
    tickets = study.ask()
    plain.tell(results)
    assert results[0].value is not None
    study.tell([tickets[0].measured(results[0].value + 0.1), *results[1:]])
    assert not equal(study, plain)
    study.ask()
    study.correct(1, results[0].value)
    assert equal(study, plain)
