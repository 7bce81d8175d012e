"""What is known is a function of (what was given, seed, entries), and of nothing else."""

from __future__ import annotations

import json
import warnings
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import superlevel as sl
from superlevel.arrays import Array
from superlevel.records import State
from superlevel.rules.chance import Chance
from superlevel.rules.covariances import AverageCase, SampledWorst
from superlevel.rules.design import OptimalDesign, WorstCase
from superlevel.rules.gap_weighted import GapWeighted
from superlevel.rules.sequential import Sequential
from superlevel.study import Result, Study
from superlevel.study.storage import Memory, open_storage
from superlevel.testing.logs import append
from tests.study.campaigns import (
    ALL,
    FITTED,
    GREEDY,
    LSE,
    MEMORYLESS,
    MILK,
    NAME,
    NOISE,
    PAIR_RIDGE,
    PAIR_ROUNDS,
    RIDGE,
    RKHS,
    ROUNDS,
    TRUTH,
    Kind,
    N,
    X,
    copied,
    each,
    entries_of,
    reopened,
    snapshot,
)


def eventful(kind: Kind) -> tuple[Study, dict[int, tuple[object, ...]]]:
    """A campaign in which everything happens, and what its study, which stays open, knew after each entry."""
    study = kind.create()
    known: dict[int, tuple[object, ...]] = {}

    def look() -> None:
        known[study.ledger.length] = snapshot(study)

    look()
    for step in range(3):
        tickets = study.ask(12 if kind is FITTED and step == 0 else None)  # the whole pilot
        look()
        results = kind.measure(tickets)
        if step == 1 and len(results) > 2:
            results[2] = tickets[2].failed("ice")
        for portion in (results[::2], results[1::2]):
            study.tell(portion)
            look()
    study.tell([Result(point=1, value=0.3, noise=0.2), Result(point=1, value=0.31)])
    look()
    if not kind.in_rounds:
        study.correct(2, 0.9)
        look()
        study.withdraw([3])
        look()
    study.tell(kind.measure(study.ask()))
    look()
    study.close(reason="winter")
    look()
    return study, known


@each(ALL)
def test_a_study_that_is_opened_again_knows_the_same_at_every_step(kind: Kind) -> None:
    study, known = eventful(kind)
    entries = entries_of(study)
    storage = Memory()
    follower: Study | None = None
    for seq, entry in enumerate(entries, start=1):
        if follower is None:
            storage.create(NAME, entry)
            follower = Study.open(storage, NAME)
        else:
            append(storage, NAME, entry)  # by somebody else
            follower.refresh()
        if seq in known:
            assert snapshot(follower) == known[seq]
            if seq % 2 or seq == len(entries):
                assert snapshot(reopened(study, seq)) == known[seq]


@each(ALL)
def test_a_study_that_is_opened_again_plans_the_same(kind: Kind) -> None:
    study, _ = eventful(kind)
    entries = entries_of(study)
    plans = [entry for entry in entries if entry.kind == "asked"]
    assert len(plans) >= 3
    for plan in plans if kind is not FITTED else plans[-2:]:
        again = reopened(study, plan.seq - 1)
        again.ask()
        made = entries_of(again)[plan.seq - 1]
        assert made.kind == "asked"
        assert made.payload == plan.payload
        assert json.loads(made.payload)["seen"] == plan.seq - 1


def refuse(*_: Any, **__: Any) -> Any:
    raise AssertionError("a solver was called")


@each(ALL)
def test_what_is_known_needs_no_solver(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    study, known = eventful(kind)
    for where in ("superlevel.design.solve", "superlevel.hyperparameters.fit", "superlevel.study.planning.next_plan"):
        monkeypatch.setattr(where, refuse)
    for rule in (GapWeighted, Chance, AverageCase, SampledWorst, OptimalDesign, WorstCase, Sequential):
        monkeypatch.setattr(rule, "choose", refuse)
    again = reopened(study)
    assert snapshot(again) == known[study.ledger.length]
    np.testing.assert_array_equal(again.labels, study.labels)
    assert again.status().closed
    assert again.status(fresh=False).fresh
    assert again.verify().labels is not None
    assert again.campaign().labels.tolist() == study.labels.tolist()
    with pytest.raises(AssertionError, match="a solver was called"):
        reopened(study, study.ledger.askings[-1].seq - 1).ask(99)


# --- neither order nor portions matter


@pytest.mark.parametrize("kind", MEMORYLESS, ids=lambda kind: kind.name)
@settings(max_examples=6)
@given(data=st.data())
def test_neither_order_nor_portions_nor_looks_in_between_matter(kind: Kind, data: st.DataObject) -> None:
    reference, study = kind.create(), kind.create()
    tickets = reference.ask(12)
    free = next(point for point in range(N) if point not in tickets.indices)  # no ticket waits there
    results = kind.measure(tickets)
    results += [
        Result(point=free, value=value, noise=noise) for value, noise in [(0.5, 0.3), (0.4, None), (-1.0, None)]
    ]
    reference.tell(results)
    study.ask(12)
    order = data.draw(st.permutations(range(len(results))))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(results) - 1), max_size=4)))
    for begin, end in zip([0, *cuts], [*cuts, len(results)], strict=True):
        study.tell([results[k] for k in order[begin:end]])
        if data.draw(st.booleans()):
            assert len(study.labels)
    assert snapshot(study) == snapshot(reference)


def test_a_method_that_remembers_reads_what_came_between_two_plans_at_once() -> None:
    for kind in (LSE, RKHS, RIDGE, PAIR_RIDGE):
        snapshots = []
        for order in (1, -1):
            study = kind.create()
            for _ in range(3):
                for result in kind.measure(study.ask())[::order]:
                    study.tell([result])
            snapshots.append(snapshot(study))
        assert snapshots[0] == snapshots[1]


@each([LSE, RKHS])
def test_a_plan_is_told_as_a_whole_then_the_rest_and_what_was_before_is_remembered(kind: Kind) -> None:
    study = kind.create()
    method = sl.methods.make(kind.method, kind.problem(), batch=4, **kind.options)
    state = method.init(seed=7)
    for step in range(3):
        plan, tickets = method.ask(state), study.ask()
        np.testing.assert_array_equal(plan.indices, tickets.indices)
        results, odd = kind.measure(tickets), 3.0 if step % 2 else -3.0  # what is remembered is soon wrong
        study.tell(results[:2])
        study.tell([*results[2:], Result(point=step, value=odd)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sl.AssumptionWarning)
            state, _ = method.tell(state, plan, [float(result.value or 0.0) for result in results])
        state, _ = method.observe(state, [step], [odd])
        np.testing.assert_array_equal(study.labels, state.labels)
        assert snapshot_of(study) == snapshot_of(state)
    at = study.ledger.measured
    at_once, _ = method.observe(method.init(seed=7), study.ledger.point[at], study.ledger.value[at])
    assert snapshot_of(at_once) != snapshot_of(state)


def snapshot_of(known: Study | State) -> tuple[bytes, bytes, bytes]:
    """Labels and intervals, to the last bit."""
    state = known.knowledge.state if isinstance(known, Study) else known
    assert state is not None
    assert state.intervals is not None
    return state.labels.tobytes(), state.intervals.lower.tobytes(), state.intervals.upper.tobytes()


# --- two roads to the labels


def by_scikit_learn(study: Study, kernel: Any, mean: float, *, level: float = 0.23) -> tuple[Array, Array]:
    """Labels and mean of a regression on every measurement that counts."""
    ledger, at = study.ledger, study.ledger.measured
    noise = np.where(np.isnan(ledger.noise[at]), NOISE, ledger.noise[at])
    process = GaussianProcessRegressor(kernel, alpha=noise**2, optimizer=None)
    process.fit(X[ledger.point[at], None], ledger.value[at] - mean)
    centre, deviation = process.predict(X[:, None], return_std=True)
    above, below = centre + mean - 3 * deviation > level, centre + mean + 3 * deviation < level
    return np.where(above, 1, np.where(below, -1, 0)), centre + mean


@pytest.mark.parametrize("kernel", [RBF(0.2), 2.0 * RBF(0.35), ConstantKernel(1.5)], ids=["rbf", "scaled", "constant"])
@pytest.mark.parametrize("mean", [0.0, 0.4])
def test_labels_are_those_of_scikit_learn(kernel: Any, mean: float) -> None:
    study = GREEDY.create(problem=GREEDY.problem(domain=sl.Domain(X, kernel), mean=mean))
    for step in range(4):
        study.tell(GREEDY.measure(study.ask()))
        study.tell([Result(point=step, value=float(TRUTH[step]), noise=0.3)])
        labels, centre = by_scikit_learn(study, kernel, mean)
        np.testing.assert_array_equal(study.labels, labels)
        assert study.knowledge.estimate == pytest.approx(centre, abs=1e-7)


@pytest.mark.parametrize("schedule", ["tight", "scaled"])
@each([ROUNDS, PAIR_ROUNDS])
def test_rounds_that_are_told_completely_end_as_a_simulation_does(
    kind: Kind, schedule: Literal["tight", "scaled"]
) -> None:
    problem = kind.problem(tolerance=1.0 if schedule == "scaled" else 0.5)
    confidence = sl.Rips(schedule=schedule)
    method = sl.methods.make(kind.method, problem, confidence=confidence)
    oracle = sl.oracles.Gaussian(kind.truth, noise=NOISE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.AssumptionWarning)
        run = sl.simulate(method, oracle, seed=11)
    study = kind.create(problem=problem, seed=11, confidence=confidence)
    phases = 0
    while len(tickets := study.ask()):
        phases += 1
        rng = np.random.default_rng([11, phases, 1])  # as simulate draws them
        study.tell(tickets.measured(oracle.measure(tickets.indices, rng))[::-1])
        np.testing.assert_array_equal(study.labels, run.trace[phases - 1].labels)
    assert phases == len(run.trace)
    assert tickets.stop == study.knowledge.stop == run.stop
    assert study.ledger.samples == run.samples


# --- corrections


@each([*MEMORYLESS, LSE, RKHS, RIDGE, PAIR_RIDGE])
def test_a_correction_is_as_if_the_wrong_value_had_never_been_told(kind: Kind) -> None:
    wrong, right = kind.create(), kind.create()
    tickets = wrong.ask(), right.ask()
    results = kind.measure(tickets[1])
    right.tell(results)
    wrong.tell([tickets[0][0].measured(50.0), *results[1:]])
    assert snapshot(wrong) != snapshot(right)
    assert results[0].value is not None
    wrong.correct(1, results[0].value, reason="a comma in the wrong place")
    assert snapshot(wrong) == snapshot(right)
    assert snapshot(reopened(wrong)) == snapshot(right)
    assert wrong.ledger.reasons[1] == "a comma in the wrong place"
    np.testing.assert_array_equal(wrong.ask().indices, right.ask().indices)


@each([*MEMORYLESS, LSE, RKHS])
def test_what_is_withdrawn_is_as_if_it_had_never_been_told(kind: Kind) -> None:
    wrong, right = kind.create(), kind.create()
    tickets = wrong.ask(), right.ask()
    results = kind.measure(tickets[1])
    right.tell(results[1:])
    wrong.tell([tickets[0][0].measured(50.0), *results[1:]])
    wrong.tell([Result(point=5, value=40.0)])
    wrong.withdraw([1, len(wrong.ledger.point)], reason="sensor 3 was broken")
    assert snapshot(wrong) == snapshot(right)
    assert wrong.ledger.value[0] == 50.0  # the log forgets nothing


@each([LSE, RKHS, RIDGE, PAIR_RIDGE])
def test_what_is_withdrawn_is_as_if_nobody_had_measured_it_where_the_order_matters(kind: Kind) -> None:
    """While a ticket is open its plan is not complete: it is withdrawn in both, before or after it was told."""
    wrong, right = kind.create(), kind.create()
    tickets = wrong.ask(), right.ask()
    results = kind.measure(tickets[1])
    right.withdraw([1])
    right.tell(results[1:])
    wrong.tell([tickets[0][0].measured(50.0), *results[1:]])
    wrong.tell([Result(point=5, value=40.0)])
    wrong.withdraw([1, len(wrong.ledger.point)], reason="sensor 3 was broken")
    assert snapshot(wrong) == snapshot(right)
    for study in (wrong, right):
        further = study.ask(4)
        study.tell(further.measured(kind.truth[further.indices]))
    assert snapshot(wrong) == snapshot(right)


def test_a_deviation_is_corrected_with_its_value_or_stays() -> None:
    study, other = GREEDY.create(), GREEDY.create()
    study.tell([Result(point=3, value=1.0, noise=0.5)])
    study.correct(1, 2.0)
    assert study.ledger.noise[0] == 0.5
    study.correct(1, 2.0, noise=0.25)
    other.tell([Result(point=3, value=2.0, noise=0.25)])
    assert snapshot(study) == snapshot(other)


def test_a_correction_in_an_earlier_round_counts_in_all_that_follow() -> None:
    studies = []
    for wrong in (True, False):
        study = ROUNDS.create()
        for step in range(2):
            results = ROUNDS.measure(study.ask())
            if wrong and step == 0:
                results[0] = Result(ticket=1, value=ROUNDS.value(1, int(study.ledger.point[0])) + 0.1)
            study.tell(results)
        studies.append(study)
    assert studies[0].ledger.askings[1].asked == studies[1].ledger.askings[1].asked
    estimates = [study.knowledge.infos[0].bounds.lower.tobytes() for study in studies]
    assert estimates[0] != estimates[1]
    studies[0].correct(1, ROUNDS.value(1, int(studies[0].ledger.point[0])))
    assert [info.bounds.lower.tobytes() for info in studies[0].knowledge.infos] == [
        info.bounds.lower.tobytes() for info in studies[1].knowledge.infos
    ]


def test_a_correction_that_decides_everything_leaves_nothing_to_the_rounds_after_it() -> None:
    study = ROUNDS.create()
    for _ in range(2):
        study.tell(ROUNDS.measure(study.ask()))
    for ticket in study.ledger.askings[0].tickets:
        point = int(study.ledger.point[ticket - 1])
        study.correct(ticket, float(30 * np.sign(ROUNDS.truth[point])))
    assert (study.labels != 0).all()
    assert study.knowledge.stop is not None
    assert study.ask().stop == study.knowledge.stop
    assert len(study.campaign().labels) == 3
    assert "labels" not in {check.assumption for check in study.verify().checks if check.verdict.bad}


def test_a_round_decides_nothing_that_it_was_not_planned_for() -> None:
    """An arm is measured with the wrong sign, decided, left out of later rounds, and then corrected.

    What those rounds say of it is next to nothing, and yet they give it the label that it must not have.
    """
    truth = np.array([0.9, 0.45, 0.2])
    problem = sl.Problem(sl.Domain(np.eye(3)), goal=sl.Threshold(0.35), noise=0.05, bound=1.0, delta=0.2, tolerance=0.1)
    study = ROUNDS.create(problem=problem, seed=3)  # with which none of the later measurements is at the arm
    for sign in (-1.0, 1.0, 1.0):
        tickets = study.ask()
        signs = np.where(tickets.indices == 0, sign, 1.0)
        study.tell(tickets.measured(signs * truth[tickets.indices]))
    assert study.labels[0] == -1
    for ticket in study.ledger.askings[0].tickets:
        if study.ledger.point[ticket - 1] == 0:
            study.correct(ticket, 0.9)
    assert study.labels[0] != -1


# --- what there is to say of it


def test_before_the_first_estimate_nothing_is_known() -> None:
    study = FITTED.create()
    study.tell(FITTED.measure(study.ask(3)))
    known = study.knowledge
    assert not study.labels.any()
    assert (known.estimate, known.stop, known.doubts) == (None, None, ())
    assert known.state.belief.pilot == N - 3
    assert known.levels == (0.23,)


def test_the_level_of_a_fraction_is_where_the_mean_says() -> None:
    study = MILK.create()
    study.tell([Result(point=k, value=float(TRUTH[k])) for k in range(len(X))])
    mean = study.knowledge.estimate
    assert mean is not None
    assert study.knowledge.levels == pytest.approx((0.7 * mean.max(),))
    assert PAIR_ROUNDS.create().knowledge.levels == MILK.create().knowledge.levels == ()


def test_doubts_are_said_once() -> None:
    study = LSE.create()
    for scale in (1, -1, 1, -1):
        study.ask(study.ledger.length + 10)
        study.tell([Result(point=k, value=30.0 * scale) for k in range(len(X))], replicates=True)
    doubts = study.knowledge.doubts
    assert doubts
    assert len(set(doubts)) == len(doubts)
    assert study.status().doubts == doubts


def test_what_another_study_wrote_is_seen_after_a_refresh_or_a_write() -> None:
    storage = Memory()
    one = GREEDY.create(storage)
    other = Study.open(storage, NAME, worker="bob")
    tickets = other.ask()
    other.tell(GREEDY.measure(tickets))
    before = snapshot(one)
    assert before != snapshot(other)
    assert one.ledger.samples == 0
    assert one.refresh() is one
    assert snapshot(one) == snapshot(other)
    assert one.ledger.samples == 4
    one.tell([Result(point=0, value=0.1)])
    other.tell([Result(point=0, value=0.2)])
    assert other.ledger.samples == 6
    assert one.ledger.samples == 5
    one.ask()
    assert snapshot(one) == snapshot(other)


def test_a_log_in_a_file_says_the_same_as_one_in_memory(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path / 'sea.db'}"
    study = GREEDY.run(GREEDY.create(url), 3)
    in_memory = Study.open(copied(entries_of(study)), NAME)
    assert snapshot(Study.open(url, NAME)) == snapshot(study) == snapshot(in_memory)
    assert open_storage(url).read(NAME) == entries_of(in_memory)
