"""Which plans feed the challenges of the ridge confidence, when a challenge begins, and how a study keeps it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import superlevel as sl
from superlevel.arrays import Array
from superlevel.challenge import Challenge
from superlevel.confidence.challenges import Challenges
from superlevel.study import Result, Study, challenged
from superlevel.study.events import Challenged, DamagedError
from tests.study.campaigns import (
    NAME,
    NOISE,
    PAIR_RIDGE,
    RIDGE,
    TRUTH,
    Change,
    Kind,
    N,
    bare,
    each,
    entries_of,
    forged,
    rechained,
    reopened,
    snapshot,
)

BOTH = [RIDGE, PAIR_RIDGE]
EARLY = sl.Ridge(shares=(0.3, 0.7))  # so that challenges begin early with pairs too
ARRAYS = ("directions", "unexplained", "estimates", "means", "variances", "scales", "misses")
MOST = 20  # plans within which a challenge begins in these campaigns


def belief(study: Study) -> Any:
    return study.knowledge.state.belief


def challenges(study: Study) -> Challenges:
    found = belief(study).challenges
    assert isinstance(found, Challenges)
    return found


def fed(study: Study) -> bool:
    """Whether any plan was."""
    return bool(challenges(study).information.any())


def shares(study: Study) -> tuple[float, float]:
    first, second = belief(study).shares
    return first, second


def equal(one: Study, other: Study) -> bool:
    """Whether the same was fed to the same challenges."""
    first, second = challenges(one), challenges(other)
    if len(first.tests) != len(second.tests) or not np.array_equal(first.information, second.information):
        return False
    pairs = [
        (getattr(mine, name), getattr(yours, name))
        for mine, yours in zip(first.tests, second.tests, strict=True)
        for name in ARRAYS
    ]
    return first.free == second.free and all(np.array_equal(mine, yours) for mine, yours in pairs)


def intervals(study: Study) -> list[Array]:
    """Of points and of the goal's pairs."""
    bounds = [belief(study).bounds(share) for share in (0.0, study.ledger.goal.share)]
    return [end for found in bounds for end in (found.lower, found.upper)]


def same(one: Study, other: Study) -> None:
    """The same state, intervals and labels, to the last bit."""
    assert equal(one, other)
    assert snapshot(one) == snapshot(other)
    for mine, yours in zip(intervals(one), intervals(other), strict=True):
        np.testing.assert_array_equal(mine, yours)


def stored(study: Study) -> list[Challenged | None]:
    """The challenge of each plan in the log."""
    return [item.asked.challenge for item in study.ledger.askings]


def challenging(kind: Kind, **given: Any) -> Study:
    """A study whose last plan began a challenge; none of its results is told."""
    study = kind.create(**{"confidence": EARLY, **given})
    for _ in range(MOST):
        tickets = study.ask()
        if stored(study)[-1] is not None:
            return study
        study.tell(kind.measure(tickets))
    raise AssertionError("no challenge began")


# --- which plans feed them


@each(BOTH)
def test_a_plan_that_is_told_in_two_goes_without_another_in_between_feeds_them(kind: Kind) -> None:
    whole, parts = kind.create(), kind.create()
    results = kind.measure(whole.ask(6))
    assert len(parts.ask(6)) == len(results) == 6
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
    first = kind.measure(study.ask(4))
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
    alone.ask(4)
    alone.tell(first[:2])
    alone.ask(len(first) + 2)
    alone.tell([result for result in kind.measure(second) if result.ticket in rest])
    assert equal(study, alone)
    assert challenges(study).information.sum() == pytest.approx(len(rest) / NOISE**2)
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
    tickets = study.ask(4)
    study.tell([tickets[0].failed("ice"), *kind.measure(tickets[1:])])
    assert fed(study)
    late = kind.create()
    again = late.ask(4)
    late.tell([again[0].failed("ice"), *kind.measure(again[1:])])
    assert fed(late)
    before = challenges(late)
    late.ask()
    late.tell(kind.measure(again[:1]))  # after another plan was made: one that nobody planned
    assert fed(late)
    np.testing.assert_array_equal(challenges(late).information, before.information)
    assert belief(late).statistics.count == 4


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
    rank = belief(study).setting.own.rank
    assert rank > 1
    challenged = min(0.8, rank**2 / (rank**2 + 256))
    assert shares(study) == pytest.approx((1.0 - challenged, challenged) if planned else (1.0, 0.0))
    assert shares(reopened(study)) == shares(study)


@each(BOTH)
def test_a_correction_feeds_them_with_what_is_right(kind: Kind) -> None:
    study, plain = kind.create(), kind.create()
    results = kind.measure(plain.ask(4))
    tickets = study.ask(4)
    plain.tell(results)
    assert results[0].value is not None
    wrong = kind.create()
    wrong.ask(4)
    for each_ in (study, wrong):
        each_.tell([tickets[0].measured(results[0].value + 0.1), *results[1:]])
    study.ask()
    study.correct(1, results[0].value)
    assert fed(study)
    same(study, plain)
    assert snapshot(study) != snapshot(wrong)


@each(BOTH)
def test_a_correction_reaches_the_tests_of_a_challenge(kind: Kind) -> None:
    study = challenging(kind)
    tickets = study.ledger.askings[-1].tickets
    plain, results = reopened(study), kind.measure(study.ask())
    assert [result.ticket for result in results] == list(tickets)
    assert results[0].value is not None
    plain.tell(results)
    study.tell([Result(ticket=results[0].ticket, value=results[0].value + 0.1), *results[1:]])
    assert not equal(study, plain)
    assert results[0].ticket is not None
    study.correct(results[0].ticket, results[0].value)
    same(study, plain)


# --- a challenge in the log


@each(BOTH)
def test_a_challenge_is_in_the_log_before_anything_of_its_plan_is_measured(kind: Kind) -> None:
    study = challenging(kind)
    found, known = stored(study)[-1], challenges(study)
    assert found is not None
    assert known.tests == ()
    assert len(found.points) == len(found.signs) == len(found.gaps) == len(found.deltas) > 0
    assert bool(found.others) == (kind is PAIR_RIDGE)
    assert 0 < sum(found.deltas) <= known.free == known.delta == pytest.approx(0.1 * shares(study)[1])
    payload = json.loads([entry for entry in entries_of(study) if entry.kind == "asked"][-1].payload)
    assert Challenged(**payload["challenge"]) == found
    same(reopened(study), study)
    assert stored(reopened(study)) == stored(study)


@each(BOTH)
def test_a_challenge_begins_with_the_results_of_its_plan_as_the_log_has_it(kind: Kind) -> None:
    study = challenging(kind)
    study.tell(kind.measure(study.ask()))
    found = stored(study)[-1]
    assert found is not None
    (tests,) = challenges(study).tests
    assert challenged.stored(tests.challenge) == found
    assert (tests.variances > 0).all()
    assert challenges(study).free == pytest.approx(challenges(study).delta - sum(found.deltas))


@each(BOTH)
@pytest.mark.parametrize("more", [0, 1, 4])
def test_a_study_with_a_challenge_reopens_with_the_same_state_intervals_and_labels(kind: Kind, more: int) -> None:
    study = challenging(kind)
    kind.run(study, 1 + more)
    assert len(challenges(study).tests) >= 1
    again = reopened(study)
    same(again, study)
    study.ask()
    again.ask()
    assert stored(again) == stored(study)
    assert again.ledger.point.tolist() == study.ledger.point.tolist()


@each(BOTH)
def test_a_copy_of_the_log_says_the_same_at_every_moment(kind: Kind) -> None:
    """Each moment computed from the log alone is what the study said at that moment."""
    study = challenging(kind)
    moments = [(study.ledger.length, snapshot(study), intervals(study))]
    for _ in range(3):
        study.tell(kind.measure(study.ask()))
        moments.append((study.ledger.length, snapshot(study), intervals(study)))
    assert len({length for length, _, _ in moments}) > 1
    for length, said, ends in moments:
        copy = reopened(study, length)
        assert snapshot(copy) == said
        for one, other in zip(intervals(copy), ends, strict=True):
            np.testing.assert_array_equal(one, other)


@each(BOTH)
def test_without_its_challenge_a_log_says_something_else(kind: Kind) -> None:
    """The tests above would not see a challenge that is written down and never used."""
    study = kind.run(challenging(kind), 2)
    asked = [k for k, found in enumerate(stored(study)) if found is not None]
    without = Study.open(forged(study, "asked", lambda payload: payload.pop("challenge"), which=asked[0]), NAME)
    assert len(challenges(without).tests) == len(challenges(study).tests) - 1
    assert any((one != other).any() for one, other in zip(intervals(without), intervals(study), strict=True))


# --- when one begins


@each(BOTH)
def test_no_challenge_begins_while_results_of_another_plan_are_out(kind: Kind) -> None:
    study = challenging(kind)
    log = entries_of(study)
    assert log[-1].kind == "asked"
    before = reopened(study, len(log) - 1)  # as it was when the challenge was planned
    first = before.ask(2)
    assert stored(before)[-1] is not None
    second = before.ask(5)
    assert len(before.ledger.askings) == len(study.ledger.askings) + 1
    assert stored(before)[-1] is None
    before.tell(kind.measure(first))
    assert len(second) == 5
    third = before.ask(9)
    assert len(third) == 9
    assert stored(before)[-1] is None  # results of the second plan are out


@each(BOTH)
def test_a_failed_ticket_does_not_prevent_a_challenge(kind: Kind) -> None:
    study = kind.create()
    tickets = study.ask(4)
    study.tell([tickets[0].failed("ice"), *kind.measure(tickets[1:])])
    for _ in range(MOST):
        tickets = study.ask()
        if stored(study)[-1] is not None:
            break
        study.tell(kind.measure(tickets))
    assert stored(study)[-1] is not None
    failing, *rest = tickets
    assert rest
    study.tell([failing.failed("ice"), *kind.measure(rest)])  # nor does one of its own plan
    assert len(challenges(study).tests) == 1
    assert (challenges(study).tests[0].variances > 0).all()
    same(reopened(study), study)


@each(BOTH)
def test_a_challenge_whose_plan_is_told_in_two_goes_begins(kind: Kind) -> None:
    whole = challenging(kind)
    parts, results = reopened(whole), kind.measure(whole.ask())
    assert len(parts.ask()) == len(results) > 1
    whole.tell(results)
    parts.tell(results[1:])
    assert challenges(parts).tests == ()
    parts.tell(results[:1])
    assert len(challenges(parts).tests) == 1
    same(parts, whole)


@each(BOTH)
def test_two_plans_that_are_told_in_turns_both_feed_the_tests_of_a_challenge(kind: Kind) -> None:
    study = kind.run(challenging(kind), 1)
    begun = challenges(study).tests[0].information
    for count in (4, 8):
        assert len(study.ask(count)) == count
    assert [len(item.asked.points) for item in study.ledger.askings[-2:]] == [4, 4]
    plain = reopened(study)
    results = kind.measure(plain.ask(8))
    plain.tell(results[:4])
    once = challenges(plain).tests[0].information
    plain.tell(results[4:])
    for k in (0, 4, 1, 5, 2, 6, 3, 7):
        study.tell([results[k]])
    same(study, plain)
    assert (once > begun).any()
    assert (challenges(study).tests[0].information > once).any()


@each(BOTH)
def test_a_challenge_whose_plan_is_split_by_another_one_does_not_begin(kind: Kind) -> None:
    study = challenging(kind)
    tickets = study.ask()
    results = kind.measure(tickets)
    assert len(results) > 1
    study.tell(results[:1])
    study.ask(len(results) + 2)
    assert stored(study)[-1] is None
    study.tell(results[1:])
    assert challenges(study).tests == ()
    assert challenges(study).free == challenges(study).delta  # and spends nothing


@each(BOTH)
def test_challenges_never_spend_more_than_their_share_of_delta(kind: Kind) -> None:
    """Also where the log has the same challenge twice: the second does not fit."""
    study = kind.run(challenging(kind), 1)
    found = stored(study)[-1]
    assert found is not None
    study.tell(kind.measure(study.ask()))
    twice = Study.open(forged(study, "asked", lambda payload: payload.update(challenge=found.model_dump())), NAME)
    assert stored(twice)[-2:] == [found, found]
    assert len(challenges(twice).tests) == 1
    study = kind.run(study, 12)
    spent = sum(float(tests.challenge.deltas.sum()) for tests in challenges(study).tests)
    assert 0 < spent <= challenges(study).delta


def test_a_share_of_zero_leaves_challenges_out() -> None:
    study = RIDGE.run(RIDGE.create(confidence=sl.Ridge(shares=(1.0, 0.0))), MOST)
    assert set(stored(study)) == {None}
    assert not fed(study)
    assert study.ledger.samples > 0


# --- damage, and logs of before


def first(values: Any, value: Any) -> Any:
    """With another first value."""
    return [value, *values[1:]] if isinstance(values, list) else value + values[1:]


LENGTHS = "a challenge has more or fewer numbers than directions"
ABSENT = "a challenge is of points that are not there"
SIGN = "a challenge has a gap that is no distance, or a sign that is none"
SHARE = "a challenge has a share of delta that is none"
DAMAGES: dict[str, tuple[Change, str]] = {
    "a point more": (lambda it: it["points"].append(0), LENGTHS),
    "a sign less": (lambda it: it.update(signs=it["signs"][1:]), LENGTHS),
    "a gap less": (lambda it: it["gaps"].pop(), LENGTHS),
    "a share of delta more": (lambda it: it["deltas"].append(1e-4), LENGTHS),
    "another point more": (lambda it: it.update(others=[0] * (len(it["points"]) + 1)), LENGTHS),
    "no direction": (lambda it: it.update(points=[], others=[], signs="", gaps=[], deltas=[]), ABSENT),
    "a point after the last": (lambda it: it.update(points=first(it["points"], N)), ABSENT),
    "a point far after the last": (lambda it: it.update(points=first(it["points"], 10**30)), ABSENT),
    "a negative point": (lambda it: it.update(points=first(it["points"], -1)), ABSENT),
    "another point after the last": (lambda it: it.update(others=[N] * len(it["points"])), ABSENT),
    "another point far before the first": (lambda it: it.update(others=[-100] * len(it["points"])), ABSENT),
    "a share of zero": (lambda it: it.update(deltas=first(it["deltas"], 0.0)), SHARE),
    "a share that is nearly zero": (lambda it: it.update(deltas=first(it["deltas"], 5e-324)), SHARE),
    "a negative share": (lambda it: it.update(deltas=first(it["deltas"], -0.01)), SHARE),
    "a gap of zero": (lambda it: it.update(gaps=first(it["gaps"], 0.0)), SIGN),
    "a gap without end": (lambda it: it.update(gaps=first(it["gaps"], 1e300)), SIGN),
    "a sign that is none": (lambda it: it.update(signs=first(it["signs"], "?")), SIGN),
}


@each(BOTH)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_challenge_is_refused_with_a_sentence(kind: Kind, damage: str) -> None:
    study = challenging(kind)
    study.tell(kind.measure(study.ask()))
    change, sentence = DAMAGES[damage]
    storage = forged(study, "asked", lambda payload: change(payload["challenge"]))
    with pytest.raises(DamagedError, match=sentence):
        Study.open(storage, NAME).status()


@pytest.mark.parametrize(
    ("field", "value"), [("points", [0.5]), ("signs", ["+"]), ("gaps", ["wide"]), ("deltas", None), ("colour", "red")]
)
def test_a_challenge_of_other_types_is_damage_too(field: str, value: Any) -> None:
    study = challenging(RIDGE)
    storage = forged(study, "asked", lambda payload: payload["challenge"].update({field: value}))
    with pytest.raises(DamagedError, match=rf"entry \d+, challenge.{field}"):
        Study.open(storage, NAME).status()


@pytest.mark.parametrize("others", [[-1, -1], [1, 0]])
def test_what_is_stored_is_restored(others: list[int]) -> None:
    given = Challenge(
        points=np.array([2, 3]),
        others=np.array(others),
        signs=np.array([1.0, -1.0]),
        gaps=np.array([0.1, 1 / 3]),
        deltas=np.array([0.01, 1e-90]),
    )
    text = challenged.stored(given).model_dump_json()
    found = challenged.restored(Challenged.model_validate_json(text), 4)
    for name in ("points", "others", "signs", "gaps", "deltas"):
        np.testing.assert_array_equal(getattr(found, name), getattr(given, name))


@each(BOTH)
def test_a_log_of_format_6_opens_with_its_shares_and_goes_on_with_challenges(kind: Kind) -> None:
    """It has no challenge, and a half of delta for each kind of interval."""
    made = kind.create(confidence=sl.Ridge(shares=(0.5, 0.5)))
    for _ in range(2):
        made.tell(kind.measure(made.ask()))
    assert set(stored(made)) == {None}
    log = [(entry.kind, entry.at, json.loads(entry.payload)) for entry in entries_of(made)]
    assert log[0][2]["confidence"] == {"name": "ridge", "growth": 1.2, "shares": [0.5, 0.5]}
    log[0][2]["format"] = 6
    assert not any("challenge" in payload for _, _, payload in log)
    study = Study.open(
        bare(rechained((name, at, json.dumps(payload)) for name, at, payload in log)), NAME, worker="ada"
    )
    assert study.ledger.created.format == 6
    same(study, made)
    assert shares(study) == (0.5, 0.5)
    assert challenges(study).delta == 0.05
    assert fed(study)
    kind.run(study, MOST)
    assert any(found is not None for found in stored(study))
    assert len(challenges(study).tests) >= 1
    same(reopened(study), study)
