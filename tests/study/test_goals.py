"""Bands, contour maps and points below a level in a study, from its creation to its end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.goals import ABOVE, BELOW
from superlevel.study import Result, Study
from superlevel.study.replay import as_labels
from superlevel.study.signs import as_text
from superlevel.study.status import Reading
from superlevel.study.storage import Memory
from superlevel.study.verification import against, verify
from tests.study.campaigns import NAME, NOISE, TRUTH, Kind, N, X, contradicted, each, forged, snapshot, storage_of

GOALS: dict[str, sl.Goal] = {
    "band": sl.Band(-0.35, 0.42),
    "levels": sl.Levels([-0.6, 0.11, 0.55]),
    "one-level": sl.Levels([0.23]),
    "below": sl.Threshold(0.23, side="below"),
}
CONFIDENCES: dict[str, dict[str, Any]] = {
    "posterior": {"confidence": "posterior"},
    "worst": {"confidence": "posterior", "rule": "worst"},
    "ridge": {"confidence": "ridge"},
}
KINDS = [
    Kind(name=f"{goal}-{confidence}", goal=GOALS[goal], options=options)
    for goal in GOALS
    for confidence, options in CONFIDENCES.items()
] + [
    Kind(name="band-lse", method="lse", goal=GOALS["band"]),
    Kind(name="levels-truvar", method="truvar", goal=GOALS["levels"]),
    Kind(name="band-fitted", goal=GOALS["band"], fit=("noise",)),
]
each_goal = pytest.mark.parametrize("goal", GOALS.values(), ids=GOALS)


def shape(goal: sl.Goal) -> tuple[int, ...]:
    return (N,) if len(goal.levels) == 1 else (len(goal.levels), N)


def groups(study: Study) -> dict[str, int]:
    """Points in each class, counted by hand."""
    goal, rows = study.ledger.goal, np.atleast_2d(study.labels)
    known = (rows != 0).all(axis=0)
    above = (rows == ABOVE).sum(axis=0)
    counts = {name: int((known & (above == k)).sum()) for k, name in enumerate(goal.groups)}
    return counts | {"undecided": int((~known).sum())}


@each(KINDS)
def test_a_campaign_from_its_beginning_to_its_end(kind: Kind) -> None:
    storage = Memory()
    study = kind.create(storage, batch=6)
    assert study.ledger.goal == kind.goal
    assert study.labels.shape == shape(kind.goal)
    assert not study.labels.any()
    for step in range(5):
        tickets = study.ask(12 if kind.fit and step == 0 else None)
        study.tell(kind.measure(tickets))
        assert study.labels.shape == shape(kind.goal)
        assert study.status().groups == groups(study)
        assert sum(study.status().groups.values()) == N
    assert (study.labels != 0).any()
    known = study.labels != 0
    np.testing.assert_array_equal(study.labels[known], kind.goal.signs(TRUTH)[known])
    status = study.status()
    assert list(status.groups) == [*kind.goal.groups[:0:-1], "undecided", kind.goal.groups[0]]
    highest, lowest = kind.goal.groups[-1], kind.goal.groups[0]
    assert (status.above, status.below) == (status.groups[highest], status.groups[lowest])
    assert status.question == kind.goal.question
    found = study.verify()
    assert not contradicted(found), str(found)
    assert found.claim.startswith(f"{kind.goal.question}: {status.groups[highest]} {highest}, ")
    study.close(reason="winter")
    again = Study.open(storage, NAME)
    np.testing.assert_array_equal(again.labels, study.labels)
    assert again.ledger.closed is not None
    assert again.ledger.closed.labels == as_text(study.labels)
    assert again.status().closed
    assert again.status(fresh=False).groups == status.groups
    assert snapshot(again) == snapshot(study)
    assert not contradicted(again.verify())


@each(KINDS[:3])
def test_forged_labels_of_a_second_level_are_found(kind: Kind) -> None:
    study = kind.run(kind.create(), 3)

    def flip(payload: dict[str, Any]) -> None:
        labels = payload["labels"]
        assert len(labels) == 2 * N
        payload["labels"] = labels[:N] + labels[N:].translate(str.maketrans("+-", "-+"))

    assert set(study.ledger.askings[-1].asked.labels[N:]) & set("+-")
    assert contradicted(verify(NAME, forged(study, "asked", flip))) == {"labels"}


@each_goal
def test_labels_are_the_same_text_there_and_back(goal: sl.Goal) -> None:
    study = Kind(name="", goal=goal).create()
    labels = goal.signs(TRUTH).copy()
    labels[..., ::3] = 0
    text = as_text(labels)
    assert len(text) == labels.size == study.ledger.labels
    np.testing.assert_array_equal(as_labels(text, study.ledger), labels)


def test_points_that_are_wanted_below_a_level_have_the_labels_of_above_it() -> None:
    below = Kind(name="", goal=sl.Threshold(0.23, side="below"), options={"confidence": "posterior"})
    above = Kind(name="", goal=sl.Threshold(0.23), options={"confidence": "posterior"})
    one, other = (kind.run(kind.create(), 4) for kind in (below, above))
    np.testing.assert_array_equal(one.ledger.point, other.ledger.point)
    np.testing.assert_array_equal(one.labels, other.labels)
    assert one.status().groups == other.status().groups
    assert (one.status().question, other.status().question) == ("below 0.23", "above 0.23")
    np.testing.assert_array_equal(one.ledger.goal.wanted(one.labels), -other.labels)


def test_a_contour_map_of_one_level_is_a_threshold() -> None:
    options = {"confidence": "posterior"}
    one, other = (
        kind.run(kind.create(), 4)
        for kind in (
            Kind(name="", goal=sl.Levels([0.23]), options=options),
            Kind(name="", goal=sl.Threshold(0.23), options=options),
        )
    )
    np.testing.assert_array_equal(one.ledger.point, other.ledger.point)
    np.testing.assert_array_equal(one.labels, other.labels)


def test_each_level_is_decided_as_a_threshold_of_its_own() -> None:
    """The same measurements: the intervals are the same, and each row compares them with its level."""
    goal = sl.Levels([-0.6, 0.11, 0.55])
    options = {"confidence": "posterior"}
    study = Kind(name="", goal=goal, options=options).create()
    rng = np.random.default_rng(4)
    results = [
        Result(point=k % N, value=float(TRUTH[k % N] + NOISE * rng.standard_normal())) for k in range(0, 3 * N, 2)
    ]
    study.tell(results)
    for row, level in zip(study.labels, goal.levels, strict=True):
        single = Kind(name="", goal=sl.Threshold(level), options=options).create()
        single.tell(results)
        np.testing.assert_array_equal(single.labels, row)
    assert study.knowledge.levels == study.campaign().levels == goal.levels


def test_a_decided_band_asks_for_nothing_more() -> None:
    goal = sl.Band(-0.35, 0.42)
    study = Kind(name="", goal=goal, options={"confidence": "posterior"}).create()
    study.tell([Result(point=k, value=float(TRUTH[k]), noise=1e-4) for k in range(N)])
    tickets = study.ask()
    assert (len(tickets), tickets.stop) == (0, "every point is decided")
    np.testing.assert_array_equal(study.labels, goal.signs(TRUTH))
    inside = (goal.low < TRUTH) & (goal.high > TRUTH)
    assert study.status().groups[goal.question] == int(inside.sum())
    np.testing.assert_array_equal(study.campaign().classes == 1, inside)


def test_a_point_with_one_open_level_is_undecided_in_every_count() -> None:
    study = Kind(name="", goal=sl.Band(-0.35, 0.42), options={"confidence": "posterior"}).create()
    study.tell([Result(point=5, value=float(TRUTH[5]))])
    rows = study.labels
    half = (rows != 0).any(axis=0) & (rows == 0).any(axis=0)
    assert half.any()
    undecided = int((rows == 0).any(axis=0).sum())
    shown = study.campaign()
    assert study.status().undecided == shown.progress[-1][1] == undecided
    assert (shown.classes[half] == -1).all()
    assert shown.stopping is not None
    assert (shown.stopping.decided[half] == -1).all()


def test_a_label_of_one_level_that_somebody_shows_wrongly_is_found() -> None:
    labels = sl.Band(-0.35, 0.42).signs(TRUTH)
    assert not against(labels, labels, what="page").verdict.bad
    other = labels.copy()
    other[1, [2, 5]] *= -1
    found = against(labels, other, what="page")
    assert found.verdict.bad
    assert found.sentence == f"2 of {N} differ: points 2, 5"


def test_a_quick_look_counts_the_classes_of_the_cached_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = Kind(name="", goal=sl.Levels([-0.6, 0.11, 0.55]), options={"confidence": "posterior"})
    study = kind.run(kind.create(), 3)
    fresh = study.status()
    noted = storage_of(study).noted(NAME)
    assert noted is not None
    assert Reading.model_validate_json(noted.text).labels == as_text(study.labels)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something was computed")

    monkeypatch.setattr("superlevel.study.replay.know", refuse)
    assert Study.open(storage_of(study), NAME).status(fresh=False) == fresh


@each_goal
def test_rounds_decide_every_goal_with_given_levels(goal: sl.Goal) -> None:
    points, theta = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]]), np.array([0.9, -0.8])
    problem = sl.Problem(sl.Domain(points), goal=goal, noise=NOISE, bound=1.0, delta=0.2, tolerance=0.5)
    study = Study.create(Memory(), NAME, problem, confidence=sl.Rips(schedule="tight"), worker="ada")
    rng = np.random.default_rng(0)
    while len(tickets := study.ask()):
        study.tell(tickets.measured(points[tickets.indices] @ theta + NOISE * rng.standard_normal(len(tickets))))
    labels, signs = study.labels, goal.signs(points @ theta)
    assert labels.shape == signs.shape
    assert (labels != 0).any()
    np.testing.assert_array_equal(labels[labels != 0], signs[labels != 0])
    assert not contradicted(study.verify())
    assert BELOW in labels


def test_a_kernel_is_fitted_for_a_band_too() -> None:
    problem = sl.Problem(sl.Domain(X, RBF(0.2)), goal=sl.Band(-0.35, 0.42), fit=("kernel", "mean"))
    study = Study.create(Memory(), NAME, problem, worker="ada")
    assert problem.fit == ("kernel", "noise", "mean")
    assert study.labels.shape == (2, N)
    rng = np.random.default_rng(1)
    for _ in range(6):
        tickets = study.ask()
        study.tell(tickets.measured(TRUTH[tickets.indices] + NOISE * rng.standard_normal(len(tickets))))
    assert study.knowledge.estimate is not None
    assert study.labels.any()
    assert contradicted(study.verify()) <= {"noise", "kernel"}
