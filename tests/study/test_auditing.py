"""Audits of a study: frozen labels, random places, and what the results prove."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import superlevel as sl
from superlevel import audits
from superlevel.errors import InputError
from superlevel.study import Result, Study
from superlevel.study.audit_summary import summary
from superlevel.study.auditing import audits_of, drawn
from tests.study.campaigns import (
    FITTED,
    GREEDY,
    MILK,
    NAME,
    NOISE,
    RIDGE,
    ROUNDS,
    TRUTH,
    Kind,
    N,
    contradicted,
    each,
    entries_of,
    forged,
    reopened,
    snapshot,
)

MAPPED = [GREEDY, RIDGE, FITTED]


def mapped(kind: Kind, **options: Any) -> Study:
    """A study with a map."""
    return kind.run(kind.create(**options), 6)


def audited(study: Study, size: int = 40, **options: Any) -> Study:
    """With an audit whose measurements are all there."""
    tickets = study.audit(size, **options)
    rng = np.random.default_rng(3)
    study.tell(tickets.measured(TRUTH[tickets.indices] + NOISE * rng.standard_normal(len(tickets))))
    return study


@each(MAPPED)
def test_an_audit_is_what_the_statistics_say_of_the_frozen_map(kind: Kind) -> None:
    study = mapped(kind)
    guess = study.knowledge.method.guess(study.knowledge.state)
    tickets = study.audit(40, tolerance=0.2)
    values = TRUTH[tickets.indices] + NOISE * np.random.default_rng(0).standard_normal(40)
    study.tell(tickets.measured(values))
    (found,) = study.accuracy()
    plan = study.ledger.askings[-1].asked.audit
    assert plan is not None
    letters = np.array([int(letter, 36) for letter in plan.doubt]) / 72.0
    noise: Any = audits.MedianZero() if kind is FITTED else audits.SubGaussian(NOISE, median_zero=True)
    by_hand = audits.Audit(
        labels=guess, chances=audits.chances(letters), level=0.23, tolerance=0.2, delta=0.05, noise=noise
    ).judge(tickets.indices, values)
    assert found.result.bound == by_hand.bound
    assert found.result.contradictions == by_hand.contradictions
    assert (found.audit, found.level, found.declared) == (1, 0.23, False)


@each(MAPPED)
def test_places_come_from_the_seed_and_a_study_that_is_opened_again_says_the_same(kind: Kind) -> None:
    study = audited(mapped(kind))
    (asking,) = audits_of(study.ledger)
    plan = asking.asked.audit
    assert plan is not None
    assert drawn(study.ledger, plan, number=1, size=40).tolist() == asking.asked.points
    again = reopened(study)
    assert snapshot(again) == snapshot(study)
    assert [str(one) for one in again.accuracy()] == [str(one) for one in study.accuracy()]
    assert not contradicted(study.verify()) - {"kernel", "noise"}
    assert study.accuracy()[0].result.sentence() in str(study.verify())
    assert study.view().audits[0].bound == study.accuracy()[0].result.bound
    json.dumps(study.view().model_dump(mode="json"))


@each(MAPPED)
def test_strata_are_the_points_by_their_frozen_doubt(kind: Kind) -> None:
    study = mapped(kind)
    tickets = study.audit(40, tolerance=0.2)
    doubt = chance_of_error(study)
    study.tell(tickets.measured(0.46 - TRUTH[tickets.indices]))  # many are on the other side
    (found,) = study.accuracy()
    assert found.result.contradictions > 0
    groups = np.digitize(doubt, [1 / 72, 1 / 8, 1 / 4])
    edges = [0.0, 1 / 72, 1 / 8, 1 / 4, 1 / 2]
    assert [(one.low, one.high) for one in found.strata] == [(edges[k], edges[k + 1]) for k in np.unique(groups)]
    assert [one.points for one in found.strata] == [(groups == k).sum() for k in np.unique(groups)]
    assert [one.draws for one in found.strata] == [(groups[tickets.indices] == k).sum() for k in np.unique(groups)]
    assert sum(one.contradictions for one in found.strata) == found.result.contradictions
    assert study.view().audits[0].strata == found.strata


def chance_of_error(study: Study) -> Any:
    """(n,) how likely the likelier label is wrong; zeros where there is no model."""
    chance = study.knowledge.state.belief.probability(0.23)
    return np.zeros(N) if chance is None else np.minimum(chance, 1.0 - chance)


def test_a_summary_has_the_numbers_of_the_audit() -> None:
    study = audited(GREEDY.run(GREEDY.create(), 1), tolerance=0.1)
    (found,) = study.accuracy()
    told, result = summary(found), found.result
    assert told.heading == f"Audit 1, level 0.23, map of {found.samples} measurements"
    assert told.sentences[0] == str(found)
    area = [f"{round(100 * share, 1):g}" for share in (result.area.estimate, result.area.low, result.area.high)]
    assert (
        f"put {area[0]} % of the {N} audited points above the level (95 % interval: {area[1]} to {area[2]} %)"
        in (told.sentences[1])
    )
    confusion, by_doubt = told.tables
    counts = [[int(cell) for cell in row[1:3]] for row in confusion.rows[:2]]
    assert counts == result.confusion.counts.tolist()
    parts = (*result.confusion.users, *result.confusion.producers, result.confusion.overall)
    cells = [confusion.rows[0][3], confusion.rows[1][3], *confusion.rows[2][1:]]
    for part, cell in zip(parts, cells, strict=True):
        low, high = round(100 * part.low, 1), round(100 * part.high, 1)
        assert cell.endswith(f"{round(100 * part.estimate, 1):g} % ({low:g} to {high:g} %)")
    assert by_doubt.names == ("doubt of the label", "points", "draws", "contradictions")
    assert [[int(cell) for cell in row[1:]] for row in by_doubt.rows] == [
        [one.points, one.draws, one.contradictions] for one in found.strata
    ]
    assert by_doubt.rows[0][0] == "below 1.4 %"
    assert by_doubt.rows[-1][0] == "25 to 50 %"


def test_a_summary_has_no_table_before_the_first_draw_and_no_strata_where_all_labels_are_alike() -> None:
    study = mapped(RIDGE)
    study.audit(10)
    (empty,) = map(summary, study.accuracy())
    assert empty.tables == ()
    assert len(empty.sentences) == 1
    (alike,) = map(summary, audited(mapped(RIDGE)).accuracy())
    assert [shown.names[0] for shown in alike.tables] == ["draws"]


def test_accuracies_that_no_draw_says_anything_of_are_unknown() -> None:
    study = audited(GREEDY.run(GREEDY.create(problem=GREEDY.problem(goal=sl.Threshold(-9.0))), 1))
    (found,) = map(summary, study.accuracy())
    assert found.tables[0].rows[1][1:] == ("0", "0", "unknown")


def test_the_report_shows_every_audit_level_by_level() -> None:
    goal = sl.Levels([-0.5, 0.6])
    study = audited(audited(mapped(GREEDY, problem=GREEDY.problem(goal=goal))), 25)
    shown = study.campaign().audits
    assert shown == tuple(map(summary, study.accuracy()))
    assert [one.heading.split(", map")[0] for one in shown] == [
        *("Audit 1, level -0.5", "Audit 1, level 0.6", "Audit 2, level -0.5", "Audit 2, level 0.6")
    ]
    assert GREEDY.create().campaign().audits == ()


def test_the_statement_is_about_the_frozen_map_and_the_measurements_join_the_others() -> None:
    study = audited(mapped(GREEDY))
    before = str(study.accuracy()[0])
    assert study.ledger.counts.sum() == study.ledger.samples > 40
    study.tell([Result(point=3, value=-5.0, noise=0.01)])  # the map is another one now
    assert study.labels[3] == -1 != TRUTH[3]
    assert str(study.accuracy()[0]) == before


def test_tickets_of_an_audit_are_not_handed_out_by_ask() -> None:
    study = mapped(GREEDY)
    tickets = study.audit(30)
    numbers = {ticket.number for ticket in tickets}
    assert numbers == set(study.ledger.open.tolist())
    assert not len(study.ledger.claimable)
    asked = Study.open(study._storage, NAME, worker="bob").ask(5)
    assert not numbers & {ticket.number for ticket in asked}


def test_results_count_up_to_the_first_that_is_missing_and_failures_contradict() -> None:
    study = mapped(GREEDY)
    tickets = study.audit(20, tolerance=0.5)
    results = tickets.measured(TRUTH[tickets.indices])
    assert study.accuracy()[0].result.bound == 1.0
    study.tell([*results[:5], *results[6:]])
    first = study.accuracy()[0].result
    assert (first.draws, first.waiting, first.contradictions) == (5, 15, 0)
    study.tell([tickets[5].failed("fog")])
    second = study.accuracy()[0].result
    assert (second.draws, second.waiting, second.contradictions) == (20, 0, 1)
    study.withdraw(tickets[2].number)
    assert study.accuracy()[0].result.draws == 2


def test_a_wrong_map_is_found_out() -> None:
    study = mapped(GREEDY)
    tickets = study.audit(60)
    study.tell(tickets.measured(-TRUTH[tickets.indices] + 0.46))  # the other side of the level everywhere
    found = study.accuracy()[0].result
    assert found.contradictions == 60
    assert found.bound == 1.0


def test_several_levels_share_delta() -> None:
    study = mapped(GREEDY, problem=GREEDY.problem(goal=sl.Levels([-0.5, 0.1, 0.6])))
    study = audited(study)
    found = study.accuracy()
    assert [one.level for one in found] == [-0.5, 0.1, 0.6]
    assert all(one.result.delta == pytest.approx(0.05 / 3) for one in found)


def test_the_declared_points_can_be_audited_alone() -> None:
    study = GREEDY.run(GREEDY.create(), 1)
    known = study.labels != 0
    assert 0 < known.sum() < N
    tickets = study.audit(25, declared=True)
    assert known[tickets.indices].all()
    assert study.accuracy()[0].result.points == known.sum()


def test_without_a_size_it_is_as_large_as_the_bound_needs() -> None:
    study = mapped(GREEDY)
    tickets = study.audit(bound=0.2, tolerance=0.3)
    study.tell(tickets.measured(TRUTH[tickets.indices]))
    assert study.accuracy()[0].result.bound <= 0.2


def test_several_audits_are_told_apart() -> None:
    study = audited(audited(mapped(GREEDY)), 25)
    assert [one.audit for one in study.accuracy()] == [1, 2]
    assert [len(item.asked.points) for item in audits_of(study.ledger)] == [40, 25]


@pytest.mark.parametrize(
    ("kind", "steps", "options", "sentence"),
    [
        (MILK, 2, {}, "it needs a goal with given levels"),
        (FITTED, 1, {}, "audit is asked for before there is a map: 10 measurements come first"),
        (GREEDY, 0, {"declared": True}, "no point is declared yet"),
        (GREEDY, 1, {"delta": 2.0}, "delta is 2.0"),
        (GREEDY, 1, {"size": 0}, "size is 0"),
    ],
)
def test_what_cannot_be_audited_is_one_sentence(kind: Kind, steps: int, options: Any, sentence: str) -> None:
    study = kind.run(kind.create(), steps)
    length = study.ledger.length
    with pytest.raises(InputError, match=sentence):
        study.audit(**options)
    assert study.refresh().ledger.length == length


def test_rounds_can_be_audited_too() -> None:
    study = ROUNDS.run(ROUNDS.create(), 1)
    labels = study.labels
    tickets = study.audit(30, tolerance=0.5)
    study.tell(tickets.measured(ROUNDS.truth[tickets.indices]))
    np.testing.assert_array_equal(study.labels, labels)  # an audit is no part of a round
    assert study.accuracy()[0].result.draws == 30


@pytest.mark.parametrize("change", ["points", "guess"])
def test_places_that_somebody_chose_and_a_map_that_somebody_changed_are_found(change: str) -> None:
    study = audited(mapped(GREEDY))

    def forge(payload: dict[str, Any]) -> None:
        if payload.get("audit") is None:
            return
        if change == "points":
            payload["points"] = sorted(payload["points"])
        else:
            payload["audit"]["guess"] = payload["audit"]["guess"].replace("+", "-")

    found = forged(study, "asked", forge)
    assert len(found.read(NAME)) == len(entries_of(study))
    assert "labels" in contradicted(Study.open(found, NAME).verify())
