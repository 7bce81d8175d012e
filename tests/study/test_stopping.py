"""When the points of a campaign were decided, against a replay of its measurements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import superlevel as sl
from superlevel.arrays import Labels
from superlevel.records import Stop
from superlevel.study import Result, Study
from superlevel.study.ledger import Fate
from superlevel.study.stopping import stopping
from tests.study.campaigns import (
    FITTED,
    GREEDY,
    LSE,
    MILK,
    PAIR_ROUNDS,
    RKHS,
    ROUNDS,
    THETA,
    TRUVAR,
    Kind,
    each,
    reopened,
)

PLACES = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6], [0.5, 0.1], [0.05, 0.05], [0.7, 0.5]])
VALUES = PLACES @ THETA
SIGMA = 0.1
LEVELS: list[sl.Goal] = [sl.Threshold(0.1), sl.FractionOfMax(0.6)]


UNORDERED = sl.Ridge(shares=(1.0, 0.0), growth=1.0)
"""Intervals that do not depend on the order of the measurements."""


def ridge(
    goal: sl.Goal, *, truth: np.ndarray | None = None, steps: int = 12, confidence: sl.Ridge = UNORDERED
) -> Study:
    """A campaign with a guarantee, some measurements of which nobody planned."""
    problem = sl.Problem(sl.Domain(PLACES), goal=goal, noise=SIGMA, norm=1.3)
    study = Study.create("memory:", "sea", problem, confidence=confidence, batch=7, worker="ada")
    rng, values = np.random.default_rng(3), VALUES if truth is None else truth
    for _ in range(steps):
        tickets = study.ask()
        if not tickets:
            break
        study.tell(tickets.measured(values[[t.point for t in tickets]] + SIGMA * rng.standard_normal(len(tickets))))
        study.tell([Result(point=2, value=float(values[2] + SIGMA * rng.standard_normal()))], replicates=True)
    return study


def replayed(study: Study) -> list[tuple[int, Labels]]:
    """Labels before the first measurement and after each, as they were told."""
    method, ledger = study.knowledge.method, study.ledger
    assert method is not None
    order = np.flatnonzero(ledger.fate == Fate.MEASURED)
    order = order[np.argsort(ledger.told[order], kind="stable")]
    state = method.init(seed=ledger.created.seed)
    found = [(0, state.labels)]
    for count, at in enumerate(order, start=1):
        state, _ = method.observe(state, ledger.point[[at]], ledger.value[[at]])
        found.append((count, state.labels))
    return found


@pytest.mark.parametrize("goal", LEVELS, ids=["threshold", "fraction"])
def test_points_are_decided_when_a_replay_decides_them(goal: sl.Goal) -> None:
    study = ridge(goal)
    found, history = stopping(study.knowledge), dict(replayed(study))
    moments = [item.asked.samples for item in study.ledger.askings] + [study.ledger.samples]
    assert len(set(found.decided.tolist())) >= 2
    for point, label in enumerate(study.labels.tolist()):
        kept = [at for k, at in enumerate(moments) if all(history[later][point] == label for later in moments[k:])]
        assert found.decided[point] == (kept[0] if label else -1)
    np.testing.assert_array_equal(found.labels, history[study.ledger.samples])


def test_the_log_knows_of_a_decision_with_the_plan_that_follows_it() -> None:
    study = ridge(LEVELS[0])
    found, history = stopping(study.knowledge), replayed(study)
    moments = np.array([item.asked.samples for item in study.ledger.askings] + [study.ledger.samples])
    labels = np.array([then for _, then in history])
    kept = np.flatnonzero(((labels[1:] != labels[:-1]).sum(axis=0) == 1) & (labels[0] == 0))  # and never taken back
    assert len(kept) >= 2
    for point in kept:
        first = int(np.flatnonzero(labels[:, point])[0])
        assert found.decided[point] == moments[np.searchsorted(moments, first)]


@pytest.mark.parametrize("confidence", [UNORDERED, sl.Ridge()], ids=["ellipsoids", "both"])
def test_the_efficiency_is_that_of_the_bound_at_the_estimate(confidence: sl.Ridge) -> None:
    study = ridge(LEVELS[0], steps=40, confidence=confidence)
    found, state = stopping(study.knowledge), study.knowledge.state
    assert state is not None
    assert state.estimate is not None
    assert state.intervals is not None
    assert (found.labels != 0).all()
    direct = sl.bounds.explicit(sl.Domain(PLACES), state.estimate, threshold=0.1, noise=SIGMA, delta=0.1)
    assert found.efficiency == pytest.approx(study.ledger.samples / direct.samples, rel=0.06)
    assert found.lower is not None
    np.testing.assert_array_equal(found.lower, state.intervals.lower)
    assert found.sources == state.belief.sources
    assert found.sources is not None
    assert set(found.sources) <= {"ellipsoids", *["challenges"] * (confidence is not UNORDERED)}
    assert found.ended == Stop.DECIDED.value
    assert "probability 0.9" in found.guarantee


def test_what_the_norm_would_decide_waits_for_the_first_measurements() -> None:
    problem = sl.Problem(sl.Domain(PLACES), goal=sl.Threshold(3.0), noise=SIGMA, norm=1.3)
    study = Study.create("memory:", "sea", problem, confidence="ridge", worker="ada")
    found = stopping(study.knowledge)
    assert found.decided.tolist() == [-1] * len(PLACES)
    assert found.reason == "nothing was measured"
    tickets = study.ask()
    study.tell(tickets.measured(np.zeros(len(tickets))))
    assert stopping(study.knowledge).decided.tolist() == [len(tickets)] * len(PLACES)


def test_a_contradicted_campaign_has_neither_labels_nor_limits() -> None:
    study = ridge(LEVELS[0], truth=40 * VALUES, steps=1)
    known = study.knowledge
    found = stopping(known)
    assert known.stop is Stop.CONTRADICTED
    assert (found.decided == -1).all()
    assert (found.lower, found.upper, found.guarantee) == (None, None, "")
    assert found.ended == Stop.CONTRADICTED.value
    shown = study.campaign()
    assert (shown.lower, shown.upper) == (None, None)


@each([GREEDY, MILK, LSE, RKHS, TRUVAR, FITTED, ROUNDS, PAIR_ROUNDS])
def test_every_kind_of_campaign_can_say_how_it_stopped(kind: Kind) -> None:
    study = kind.create()
    before = stopping(study.knowledge)
    assert (before.decided[before.labels == 0] == -1).all()
    assert before.samples == 0
    for step in range(4):
        study.tell(kind.measure(study.ask(14 if kind is FITTED and step == 0 else None)))
        found = stopping(study.knowledge)
        np.testing.assert_array_equal(found.decided >= 0, study.labels != 0)
        assert found.decided.max() <= study.ledger.samples
        assert len(found.table()) == study.ledger.n
        assert (found.lower is None) == (kind is PAIR_ROUNDS or np.isinf(study.knowledge.state.intervals.lower).all())
        assert str(found).startswith(f"{found.samples:,} measurement")
    again = stopping(reopened(study).knowledge)
    np.testing.assert_array_equal(again.decided, found.decided)
    assert str(again) == str(found)


def test_labels_at_the_end_count_and_late_results_come_after_it() -> None:
    study = ridge(LEVELS[0], steps=3)
    study.close()
    then = study.ledger.samples
    study.tell([Result(point=k, value=float(VALUES[k]), noise=0.001) for k in range(len(PLACES))])
    found = stopping(study.knowledge)
    late = found.decided > then
    assert late.any()
    assert (found.decided[late] == study.ledger.samples).all()
    assert study.ledger.closed is not None
    signs = np.array(list(study.ledger.closed.labels))
    assert (signs[late] == "?").all()
    assert found.ended is not None


def test_a_closed_campaign_has_ended() -> None:
    study = ROUNDS.create()
    assert stopping(study.knowledge).ended is None
    study.close()
    assert stopping(study.knowledge).ended == "the study is closed"


def test_what_is_withdrawn_does_not_change_when_a_point_was_decided() -> None:
    study = ridge(LEVELS[0], steps=8)
    before = stopping(study.knowledge)
    late = study.ledger.askings[-1].tickets
    study.withdraw(late[-1:], reason="rope")
    after = stopping(study.knowledge)
    assert after.samples == before.samples - 1
    same = (before.labels != 0) & (before.labels == after.labels) & (before.decided < before.samples)
    assert same.any()
    np.testing.assert_array_equal(after.decided[same], before.decided[same])


def test_reasons_of_the_ridge_confidence_are_shares_of_variance_that_a_measurement_takes_away() -> None:
    study = ridge(LEVELS[0], steps=2)
    study.ask()
    ledger, norm = study.ledger, 1.3
    arms = norm * PLACES

    def variances(points: list[int]) -> np.ndarray:
        information = np.eye(2) + sum(np.outer(arms[p], arms[p]) / SIGMA**2 for p in points)
        return np.asarray(np.einsum("nr,rs,ns->n", arms, np.linalg.inv(information), arms))

    told = ledger.point[ledger.fate == Fate.MEASURED].tolist()
    reasons = study.campaign().reasons
    assert len(reasons) == len(ledger.open)
    for reason in reasons:
        shares = 1 - variances([*told, reason.point]) / variances(told)
        assert reason.serves
        for place, share in reason.serves:
            assert study.labels[place] == 0
            assert share == pytest.approx(shares[place], rel=1e-6)


def test_the_page_of_a_campaign_says_how_it_stopped(tmp_path: Path) -> None:
    study = ridge(LEVELS[1])
    text = study.report(tmp_path / "sea.html").read_text(encoding="utf-8")
    assert "<h2>How it stopped</h2>" in text
    assert "the lower bound at the estimated function is" in text
