"""Campaigns with a guarantee at every moment: who gets one, what it says, and what happens when data contradict it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.errors import InputError
from superlevel.findings import Verdict
from superlevel.methods.make import default_confidence
from superlevel.methods.table import ROWS
from superlevel.records import Stop
from superlevel.rules.gap_weighted import GapWeighted
from superlevel.study import Result, Study
from superlevel.study.status import WAY_OUT, Reading
from superlevel.study.storage import Memory, Note
from superlevel.study.verification import verify
from tests.study.campaigns import (
    ELLIPSOIDS,
    NAME,
    NOISE,
    PAIR_ELLIPSOIDS,
    PAIR_RIDGE,
    RIDGE,
    TRUTH,
    Kind,
    N,
    contradicted,
    each,
    forged,
    reopened,
    storage_of,
)

BOTH = [RIDGE, PAIR_RIDGE]
FRACTION = sl.FractionOfMax(0.3)


def problem(**changes: Any) -> sl.Problem:
    """Of the sine, without norm and bound unless they are given."""
    return RIDGE.problem(**{"norm": None, **changes})


def intervals(study: Study) -> tuple[bytes, bytes]:
    """Where f lies, to the last bit."""
    state = study.knowledge.state
    assert state is not None
    assert state.intervals is not None
    return state.intervals.lower.tobytes(), state.intervals.upper.tobytes()


# --- who gets it


@pytest.mark.parametrize(
    ("given", "options", "chosen"),
    [
        ({"norm": 3.0}, {}, "ridge"),
        ({"bound": 2.0, "misspecification": 0.01}, {}, "ridge"),
        ({"bound": 2.0}, {}, "posterior"),
        ({"norm": 3.0, "bound": 2.0}, {}, "ridge"),
        ({"norm": 3.0, "noise": np.full(N, 0.1)}, {}, "ridge"),
        ({"norm": 3.0, "fit": ()}, {"rule": None}, "ridge"),
        ({"norm": 3.0}, {"permanent": True, "rule": GapWeighted(rtol=0.1), "batch": 3}, "ridge"),
        ({"norm": 3.0}, {"confidence": sl.Ridge(growth=2.0)}, "ridge"),
        ({"norm": 3.0, "goal": sl.Band(0.1, 0.5)}, {}, "ridge"),
        ({"norm": 3.0, "goal": FRACTION}, {}, "ridge"),
        ({"norm": 3.0, "goal": FRACTION}, {"method": "milk"}, "ridge"),
        ({"bound": 2.0, "misspecification": 0.01, "goal": FRACTION}, {"method": "milk"}, "ridge"),
        ({}, {}, "posterior"),
        ({"goal": FRACTION}, {"method": "milk"}, "posterior"),
        ({"norm": 3.0, "fit": ("noise",)}, {}, "posterior"),
        ({"norm": 3.0, "noise": None}, {}, "posterior"),
        ({"norm": 3.0, "fit": ("kernel",)}, {}, "posterior"),
        ({"bound": 2.0, "fit": ("mean",)}, {}, "posterior"),
        ({"norm": 3.0}, {"confidence": sl.Posterior(beta=2.0)}, "posterior"),
        ({"norm": 3.0}, {"confidence": sl.Posterior(), "rule": "worst"}, "posterior"),
        ({"norm": 3.0}, {"confidence": "posterior"}, "posterior"),
        ({"bound": 2.0}, {"confidence": "rips"}, "rips"),
        ({"norm": 3.0}, {"method": "lse"}, "posterior"),
        ({"norm": 3.0}, {"method": "lse", "confidence": "rkhs"}, "rkhs"),
        ({"bound": 2.0}, {"method": "truvar"}, "posterior"),
    ],
)
def test_a_guarantee_is_given_where_all_that_it_rests_on_is_given(
    given: dict[str, Any], options: dict[str, Any], chosen: str
) -> None:
    study = Study.create(Memory(), NAME, problem(**given), **options)
    created = study.ledger.created
    assert created.confidence["name"] == chosen
    assert reopened(study).ledger.created == created
    assert study.knowledge.method is None or study.knowledge.method.confidence.name == chosen


def test_the_table_of_methods_says_who_has_it_by_default() -> None:
    has = {name for name, row in ROWS.items() if "ridge" in row.confidences}
    assert has == {"melk", "milk"}
    for name, row in ROWS.items():
        given = problem(norm=3.0, goal=sl.Threshold(0.23) if row.explicit else FRACTION)
        assert (default_confidence(name, given) == "ridge") == (name in has)


@pytest.mark.parametrize(
    ("given", "options", "sentence"),
    [
        ({}, {"rule": "worst"}, "rule is 'worst': melk on the ridge confidence has gap-weighted"),
        ({}, {"confidence": "ridge", "rule": "greedy"}, "rule is 'greedy': melk on the ridge confidence has"),
        ({"fit": ("noise",)}, {"confidence": "ridge"}, "a guarantee needs kernel, noise and mean to be given"),
        ({"noise": None}, {"confidence": sl.Ridge()}, "a guarantee needs kernel, noise and mean to be given"),
        ({}, {"confidence": "ridge", "method": "lse"}, "confidence is 'ridge': lse has posterior and rkhs"),
    ],
)
def test_what_it_does_not_take_is_refused(given: dict[str, Any], options: dict[str, Any], sentence: str) -> None:
    storage = Memory()
    with pytest.raises(InputError) as error:
        Study.create(storage, NAME, problem(norm=3.0, **given), **options)
    assert sentence in str(error.value)
    assert storage.names() == []


@pytest.mark.parametrize("option", ["schedule", "beta", "growth", "criterion", "intersected", "rtol", "fit"])
def test_parameters_of_a_confidence_are_given_with_it_and_not_beside_it(option: str) -> None:
    storage = Memory()
    with pytest.raises(TypeError, match=option):
        Study.create(storage, NAME, problem(norm=3.0), **{option: 2.0})  # type: ignore[arg-type]
    assert storage.names() == []


def test_without_norm_and_bound_it_says_what_is_missing() -> None:
    with pytest.raises(InputError, match=r"problem.norm is None: the ridge confidence needs S .*, or a bound B"):
        Study.create(Memory(), NAME, problem(), confidence="ridge")


def test_a_log_of_earlier_times_keeps_what_it_says() -> None:
    """The default is decided when a study is created, and never again."""
    study = Study.create(Memory(), NAME, problem(norm=3.0), worker="ada")
    assert study.ledger.created.confidence == {"name": "ridge", "growth": 1.2, "shares": None}
    older = forged(study, "created", lambda payload: payload.update(confidence={"name": "posterior"}))
    again = Study.open(older, NAME, worker="ada")
    assert again.knowledge.state is not None
    assert again.knowledge.state.belief.posterior is not None


# --- what it says


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"norm": 3.0}, "with probability 0.9, for sub-Gaussian noise and a norm as given"),
        ({"norm": 3.0, "bound": 2.0}, "with probability 0.9, for sub-Gaussian noise and a norm as given"),
        ({"norm": 3.0, "delta": 0.05}, "with probability 0.95, for sub-Gaussian noise and a norm as given"),
        (
            {"norm": 3.0, "tolerance": 0.1},
            "with probability 0.9, for sub-Gaussian noise and a norm as given, except within 0.1 of the level",
        ),
        (
            {"norm": 3.0, "misspecification": 0.02},
            "with probability 0.9, for sub-Gaussian noise and a norm and a misspecification as given",
        ),
        (
            {"bound": 2.0, "misspecification": 0.02, "tolerance": 0.1},
            "with probability 0.9, for sub-Gaussian noise and a bound and a misspecification as given, with f in the "
            "span of the kernel's features, except within 0.1 of the level",
        ),
    ],
)
def test_the_guarantee_says_what_it_rests_on(given: dict[str, Any], sentence: str) -> None:
    found = Study.create(Memory(), NAME, problem(**given)).verify()
    assert found.guarantee == f"all labels are right at every moment {sentence}"


def test_assumptions_say_which_of_them_are_used() -> None:
    limits = {"norm": 3.0, "bound": 2.0}
    rows = dict(Study.create(Memory(), NAME, problem(**limits)).verify().assumptions)
    assert rows["method"] == "melk, ridge confidence, seed 0"
    assert (rows["bound"], rows["norm"], rows["delta"]) == ("|f - mean| <= 2", "||theta|| <= 3", "0.1")
    rows = dict(Study.create(Memory(), NAME, problem(**limits), confidence="posterior").verify().assumptions)
    assert {name for name, text in rows.items() if "does not use" in text} == {"bound", "norm", "delta"}
    rows = dict(Study.create(Memory(), NAME, problem(bound=2.0), confidence="rips").verify().assumptions)
    assert rows["bound"] == "|f - mean| <= 2"


@each(BOTH)
def test_what_f_is_thought_to_be_is_shown_with_its_intervals(kind: Kind) -> None:
    study = kind.run(kind.create(), 6)
    known, shown = study.knowledge, study.campaign()
    assert known.state is not None
    assert known.estimate is not None
    assert shown.lower is not None
    assert shown.upper is not None
    assert (shown.lower <= known.estimate).all()
    assert (known.estimate <= shown.upper).all()
    assert (shown.lower <= TRUTH).all()
    assert (shown.upper >= TRUTH).all()
    assert known.levels == pytest.approx(kind.problem().goal.levels_at(TRUTH), abs=0.3)


@each(BOTH)
def test_every_label_of_a_campaign_is_right_whenever_one_looks(kind: Kind) -> None:
    """The noise is fixed by the tickets: this campaign is among the nine of ten."""
    above = kind.problem().goal.signs(TRUTH) > 0
    study = kind.create()
    for _ in range(12):
        study.tell(kind.measure(study.ask()))
        labels = study.labels
        assert not (above & (labels < 0)).any()
        assert not (~above & (labels > 0)).any()
    assert (study.labels != 0).sum() >= N // 2
    assert study.verify().ok


# --- order, portions, corrections


@each([ELLIPSOIDS, PAIR_ELLIPSOIDS])
def test_labels_are_those_of_all_measurements_at_once(kind: Kind) -> None:
    """The method itself is shown all of them in the order in which they came; the study sorts them."""
    study = kind.run(kind.create(), 4)
    ledger, method = study.ledger, sl.methods.make(kind.method, kind.problem(), **kind.options)
    state, _ = method.observe(method.init(), ledger.point, ledger.value)
    np.testing.assert_array_equal(state.labels, study.labels)
    known = study.knowledge.state
    assert known is not None
    assert known.intervals is not None
    assert state.intervals is not None
    np.testing.assert_allclose(known.intervals.lower, state.intervals.lower, atol=1e-9)
    np.testing.assert_allclose(known.intervals.upper, state.intervals.upper, atol=1e-9)


@pytest.mark.parametrize("kind", BOTH, ids=lambda kind: kind.name)
@settings(max_examples=8)
@given(data=st.data())
def test_neither_order_nor_portions_of_results_change_a_bit(kind: Kind, data: st.DataObject) -> None:
    results = [
        Result(point=k % N, value=float(TRUTH[k % N]) + 0.05 * (-1) ** k, noise=0.2 if k % 5 == 0 else None)
        for k in range(20)
    ]
    one = kind.create()
    one.tell(results, replicates=True)
    other = kind.create()
    mixed = data.draw(st.permutations(results))
    cut = data.draw(st.integers(0, len(mixed)))
    for portion in (mixed[:cut], mixed[cut:]):
        other.tell(portion, replicates=True)
        assert other.labels.shape == (N,)  # somebody looks in between
    assert intervals(one) == intervals(other)
    np.testing.assert_array_equal(one.labels, other.labels)


@each(BOTH)
def test_what_is_corrected_or_withdrawn_is_as_if_it_had_been_told_so(kind: Kind) -> None:
    study, plain = kind.create(), kind.create()
    tickets = study.ask(8)
    assert plain.ask(8).indices.tolist() == tickets.indices.tolist()
    results = kind.measure(tickets)
    assert results[3].value is not None
    wrong = [*results[:3], tickets[3].measured(results[3].value + 40.0), *results[4:]]
    study.tell(wrong)
    assert study.knowledge.stop is Stop.CONTRADICTED
    study.correct(4, results[3].value, reason="a digit too many")
    study.withdraw([6], reason="the anchor had slipped")
    plain.withdraw([6])
    plain.tell([*results[:5], *results[6:]])
    assert intervals(study) == intervals(plain)
    assert study.knowledge.stop is None
    assert study.verify().ok


@each(BOTH)
def test_a_measurement_of_half_the_noise_is_worth_four(kind: Kind) -> None:
    one, four = kind.create(), kind.create()
    values = [(k, float(TRUTH[k]) + 0.02) for k in range(0, N, 3)]
    one.tell([Result(point=k, value=y, noise=NOISE / 2) for k, y in values])
    four.tell([Result(point=k, value=y) for k, y in values for _ in range(4)])
    for lower, upper in zip(intervals(one), intervals(four), strict=True):
        np.testing.assert_allclose(np.frombuffer(lower), np.frombuffer(upper), atol=1e-9)
    np.testing.assert_array_equal(one.labels, four.labels)
    assert one.verify().ok


# --- plans


@each(BOTH)
def test_what_is_open_or_failed_is_counted_when_more_is_planned(kind: Kind) -> None:
    study, alone = kind.create(batch=1), kind.create(batch=1)
    first, second = study.ask(1), study.ask(2)
    assert second.indices[0] == first.indices[0]
    assert second.indices[1] != first.indices[0]
    (ticket,) = alone.ask()
    alone.tell([ticket.failed("ice")])
    assert alone.ask(1).indices.tolist() == second.indices[1:].tolist()
    for each_ in (study, alone):
        assert each_.verify().ok


@each(BOTH)
@pytest.mark.parametrize("batch", [1, 5])
def test_batches_grow_by_a_fifth_of_all_before_unless_people_say_how_many(kind: Kind, batch: int) -> None:
    """With so much noise that far more is missing than a batch takes."""
    study = kind.create(problem=kind.problem(noise=3.0), batch=batch)
    for _ in range(4):
        begun, tickets = study.ledger.samples, study.ask()
        assert len(tickets) == np.ceil(batch + 0.2 * begun)
        study.tell(kind.measure(tickets))
    tickets = study.ask(batch)
    assert len(tickets) == batch
    study.tell(kind.measure(tickets))
    assert len(study.ask(17)) == 17
    assert study.verify().ok


@each(BOTH)
def test_batches_are_smaller_where_less_is_missing(kind: Kind) -> None:
    study = kind.create(problem=kind.problem(tolerance=0.1), batch=50)
    full, asked = [], []
    for _ in range(20):
        full.append(50 + 0.2 * study.ledger.samples)
        tickets = study.ask()
        if not tickets:
            break
        asked.append(len(tickets))
        study.tell(kind.measure(tickets))
    assert (study.labels != 0).all()
    assert all(np.ceil(size / 10) <= count <= np.ceil(size) for count, size in zip(asked, full, strict=False))
    assert min(asked) < 50


@each(BOTH)
@pytest.mark.parametrize("batch", [1, 5])
def test_batches_that_do_not_grow_are_as_large_as_people_want(kind: Kind, batch: int) -> None:
    study = kind.create(batch=batch, confidence=sl.Ridge(growth=1.0))
    for _ in range(4):
        tickets = study.ask()
        assert len(tickets) == batch
        study.tell(kind.measure(tickets))
    assert len(study.ask(17)) == 17
    assert study.verify().ok


# --- verification


def mixed_campaign(kind: Kind, **given: Any) -> Study:
    """Batches of two workers, tickets that are open, failed and late, and measurements with a noise of their own."""
    study = kind.create(**given)
    bob = Study.open(storage_of(study), NAME, worker="bob")
    for step in range(3):
        mine, yours = study.ask(), bob.ask(3)
        results = kind.measure(mine)
        study.tell([*results[:-1], mine[-1].failed("ice")] if step == 1 else results)
        bob.tell(kind.measure(yours)[1:])
        study.tell([Result(point=step, value=float(TRUTH[step]) + 0.05, noise=0.15)])
    study.ask(9)
    return study


@each(BOTH)
def test_a_mixed_campaign_is_borne_out_by_its_log(kind: Kind) -> None:
    study = mixed_campaign(kind)
    found = study.verify()
    assert found.ok, str(found)
    verdicts = {check.assumption: check.verdict for check in found.checks}
    assert verdicts == dict.fromkeys(
        ["log", "labels", "cached labels", "tickets", "designs", "noise", "norm"], Verdict.HOLDS
    )
    assert "kernel" not in verdicts  # no Gaussian process is believed
    (norm,) = [check.sentence for check in found.checks if check.assumption == "norm"]
    assert norm == f"||theta|| <= 3 explains all {study.ledger.samples} measurements"


def test_unequal_noise_and_cost_are_borne_out_too() -> None:
    unequal = problem(norm=3.0, bound=2.0, noise=np.linspace(0.1, 0.3, N), cost=np.linspace(1.0, 4.0, N))
    found = mixed_campaign(RIDGE, problem=unequal).verify()
    assert found.ok, str(found)
    assert {"norm", "bound"} <= {check.assumption for check in found.checks}


@each(BOTH)
@pytest.mark.parametrize(("field", "value"), [("norm", 4.0), ("delta", 0.9), ("noise", 0.3)])
def test_other_assumptions_than_those_of_the_campaign_do_not_go_with_its_log(
    kind: Kind, field: str, value: float
) -> None:
    """Who writes a larger delta into the log afterwards, so that more is decided, is found by the plans in it."""
    storage = forged(mixed_campaign(kind), "created", lambda payload: payload["problem"].update({field: value}))
    assert contradicted(verify(NAME, storage)) & {"labels", "designs"}


# --- contradiction


@each(BOTH)
def test_a_limit_that_would_decide_everything_is_measured_against_first(kind: Kind) -> None:
    """Ten times too small, a norm leaves no room for the level: labels wait for a batch that may contradict it."""
    given: dict[str, Any] = {"norm": 0.02, "mean": -1.0} if kind is PAIR_RIDGE else {"norm": 0.2}
    study = kind.create(problem=kind.problem(**given))
    assert (study.labels == 0).all()
    assert len(study.ask()) > 0
    study.tell([Result(point=k, value=3.0) for k in range(N)])
    assert study.status().contradicted
    assert (study.labels == 0).all()


TOO_SMALL = [
    ({"norm": 0.3}, "norm", "norm is 0.3, but what was measured needs"),
    ({"bound": 0.25}, "bound", "bound is 0.25, but what was measured needs"),
    ({"norm": 3.0, "bound": 0.25}, "bound", "bound is 0.25, but f - mean at point"),
    ({"norm": 3.0, "noise": NOISE / 10}, "noise", "times"),
]


def twice(kind: Kind, changes: dict[str, Any]) -> Study:
    """Every point of the sine measured twice, by nobody's plan."""
    study = kind.create(problem=kind.problem(**{"norm": None, **changes}))
    rng = np.random.default_rng(3)
    points = np.tile(np.arange(N), 2)
    values = TRUTH[points] + NOISE * rng.standard_normal(2 * N)
    study.tell([Result(point=int(k), value=float(y)) for k, y in zip(points, values, strict=True)])
    return study


@each(BOTH)
@pytest.mark.parametrize(("changes", "what", "sentence"), TOO_SMALL, ids=["norm", "bound", "both", "noise"])
def test_what_contradicts_an_assumption_is_said_and_nothing_more_is_asked(
    kind: Kind, changes: dict[str, Any], what: str, sentence: str
) -> None:
    study = twice(kind, changes)
    status = study.status()
    assert status.contradicted
    assert status.stop == Stop.CONTRADICTED.value
    assert (status.above, status.below, status.undecided) == (0, 0, N)
    assert any(sentence in doubt for doubt in status.doubts)
    assert status.next == WAY_OUT
    entries = study.ledger.length
    tickets = study.ask()
    assert (len(tickets), tickets.stop) == (0, Stop.CONTRADICTED.value)
    assert study.ledger.length == entries
    found = study.verify()
    assert not found.ok
    assert found.contradicted
    assert what in contradicted(found)
    assert contradicted(found) <= {"noise", "norm", "bound"}
    findings = [check.sentence for check in found.checks if check.assumption == what]
    assert sentence in findings[0]
    assert found.guarantee == f"none: {Stop.CONTRADICTED}"
    assert str(found).endswith(f"see above.\nNext: {WAY_OUT}.")


@pytest.mark.parametrize("limits", [{"norm": 3.0}, {"bound": 1.5}, {"norm": 3.0, "bound": 1.5}])
@each(BOTH)
def test_the_same_measurements_contradict_nothing_that_is_right(kind: Kind, limits: dict[str, Any]) -> None:
    study = twice(kind, limits)
    assert not study.status().contradicted
    assert study.verify().ok
    verdicts = {check.assumption: check.verdict for check in study.verify().checks if check.assumption in limits}
    assert verdicts == dict.fromkeys(limits, Verdict.HOLDS)


def test_open_tickets_may_still_be_told_and_a_correction_ends_the_contradiction() -> None:
    study = RIDGE.create()
    tickets = study.ask(8)
    results = RIDGE.measure(tickets)
    study.tell([tickets[0].measured(30.0), *results[1:4]])
    assert study.status().contradicted
    assert [ticket.number for ticket in study.ask(8)] == [5, 6, 7, 8]  # those that are open, and no new ones
    assert len(study.ledger.askings) == 1
    study.tell(results[4:])
    assert study.status().contradicted
    assert study.ledger.samples == 8
    assert results[0].value is not None
    study.correct(1, results[0].value, reason="the probe was in the air")
    assert not study.status().contradicted
    assert len(study.ask()) == np.ceil(4 + 0.2 * 8)
    found = study.verify()
    assert found.ok, str(found)


def test_a_closed_study_that_is_contradicted_says_so_too() -> None:
    study = twice(RIDGE, {"norm": 0.3})
    study.close()
    status = study.status()
    assert (status.closed, status.contradicted, status.next) == (True, True, WAY_OUT)
    assert "labels" not in contradicted(study.verify())


def test_labels_that_stay_are_taken_back_by_a_contradiction_all_the_same() -> None:
    study = RIDGE.run(RIDGE.create(permanent=True), 5)
    assert (study.labels != 0).any()
    study.tell([Result(point=3, value=40.0)])
    assert study.status().contradicted
    assert not study.labels.any()
    study.tell([Result(point=3, value=float(TRUTH[3]))])
    assert not study.labels.any()
    assert "noise" in contradicted(study.verify())


def test_a_note_says_it_at_once_and_one_of_earlier_times_says_nothing_of_it() -> None:
    study = twice(RIDGE, {"norm": 0.3})
    assert study.status().contradicted
    quick = study.status(fresh=False)
    assert (quick.contradicted, quick.next, quick.doubts) == (True, WAY_OUT, study.status().doubts)
    noted = storage_of(study).noted(NAME)
    assert noted is not None
    older = json.loads(noted.text)
    assert older.pop("contradicted")
    storage_of(study).note(NAME, Note(noted.seq, json.dumps(older)))
    assert not Reading.model_validate_json(json.dumps(older)).contradicted
    assert study.status(fresh=False).fresh
    assert study.status().contradicted


def test_everything_that_was_measured_can_be_told_to_another_study() -> None:
    study = twice(RIDGE, {"norm": 0.3})
    ledger = study.ledger
    other = Study.create(Memory(), "right", problem(norm=3.0), worker="ada")
    other.tell([Result(point=int(ledger.point[at]), value=float(ledger.value[at])) for at in ledger.measured])
    assert other.ledger.samples == ledger.samples
    assert not other.status().contradicted
    assert (other.labels != 0).any()
    assert other.verify().ok


def test_a_point_that_cannot_be_measured_is_given_up_while_there_are_others() -> None:
    apart = sl.Problem(sl.Domain(np.arange(6.0), RBF(0.1)), goal=sl.Threshold(0.5), noise=0.3, norm=5.0)
    study = sl.Study.create("memory:", "failing", apart, batch=1, confidence=sl.Ridge(growth=1.0))
    truth = np.array([2.0, -2.0, 0.5, 2.0, 0.0, 1.0])
    rng = np.random.default_rng(0)
    asked = []
    for _ in range(40):
        (ticket,) = study.ask()
        asked.append(ticket.point)
        value = truth[ticket.point] + 0.3 * rng.standard_normal()
        study.tell([ticket.failed("rock") if ticket.point == 2 else ticket.measured(value)])
    assert 1 < asked.count(2) <= 3  # as often as it takes to believe it
    assert set(asked) == set(range(6))
    assert study.verify().ok


def test_where_everything_fails_nothing_is_given_up() -> None:
    apart = sl.Problem(sl.Domain(np.arange(3.0), RBF(0.1)), goal=sl.Threshold(0.5), noise=0.3, norm=5.0)
    study = sl.Study.create("memory:", "storm", apart, batch=1, confidence=sl.Ridge(growth=1.0))
    for _ in range(15):
        (ticket,) = study.ask()
        study.tell([ticket.failed("storm")])
    assert len(study.ask()) == 1
