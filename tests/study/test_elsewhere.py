"""Measurements at places that are not among the points of a study: told, stored, replayed, verified and shown."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.challenge import Challenge
from superlevel.errors import InputError
from superlevel.report.drawing import draw
from superlevel.study import Result, ResultsError, Study, challenged, snapshots
from superlevel.study.events import Asked
from superlevel.study.ledger import fold
from superlevel.study.storage import Memory

X = np.linspace(0, 1, 14) ** 1.1
FURTHER = np.array([0.11, 0.47, 0.47, 0.83, 1.2])
NOISE = 0.1
FITTED = ("kernel", "noise", "mean")
KINDS: dict[str, dict[str, Any]] = {
    "posterior": {"noise": NOISE},
    "permanent": {"noise": NOISE},
    "ridge": {"noise": NOISE, "mean": 2.0, "norm": 12.0},
    "noise": {},
    "estimated": {"fit": FITTED},
    "log": {"noise": NOISE, "mean": 1.0, "transform": "log"},
}
OPTIONS: dict[str, dict[str, Any]] = {"permanent": {"permanent": True}, "ridge": {"batch": 8}}


def truth(x: Any) -> Any:
    return 2.0 + np.sin(6 * np.asarray(x))


def problem(name: str, elsewhere: Any = None) -> sl.Problem:
    kernel = None if name == "estimated" else RBF(0.2)
    return sl.Problem(sl.Domain(X, kernel, elsewhere=elsewhere), goal=sl.Threshold(2.2), **KINDS[name])


def created(name: str = "posterior") -> Study:
    return Study.create(Memory(), "sea", problem(name), seed=3, **{"batch": 4, **OPTIONS.get(name, {})})


def run(study: Study, steps: int) -> Study:
    for _ in range(steps):
        tickets = study.ask()
        study.tell(tickets.measured(truth(X[tickets.indices])))
    return study


# ------------------------------------------------------------------------------------- what is known


def _challenge(study: Study) -> Challenge | None:
    """That of the last plan."""
    found = study.ledger.askings[-1].asked.challenge
    return None if found is None else challenged.restored(found, len(X))


@pytest.mark.parametrize("name", KINDS)
def test_a_study_says_what_a_method_says_that_is_told_the_same(name: str) -> None:
    """Plan, results, results elsewhere, plan, results: through the log, and through the method itself."""
    study = created(name)
    places, distinct = FURTHER, np.unique(FURTHER)
    method = sl.methods.make("melk", problem(name, distinct), **{"batch": 4, **OPTIONS.get(name, {})})
    at = len(X) + np.searchsorted(distinct, places)
    values = truth(places) + 0.05 * np.arange(5)
    state = method.init(seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.AssumptionWarning)
        for step in range(4):
            tickets = study.ask()
            measured = truth(X[tickets.indices])
            study.tell(tickets.measured(measured))
            if method.ordered:
                plan = method.ask(state)
                if name == "ridge":  # a study starts the solver from its last design, which `observe` forgets
                    plan = replace(
                        plan,
                        counts=np.bincount(tickets.indices, minlength=len(X)),
                        certificate=None,
                        challenge=_challenge(study),
                    )
                np.testing.assert_array_equal(tickets.indices, plan.indices)
                state, _ = method.tell(state, plan, measured)
            else:  # a study takes all measurements as one batch, and plans by what that shows of the kernel
                state, _ = method.observe(state, tickets.indices, measured)
            if step == 1:
                study.tell(at=np.sort(places), values=values)
                state, _ = method.observe(state, at, values)
            if step >= 1:  # before that, features of the kernel are those of fewer places
                assert_same(study, state)
                assert_same(Study.open(study._storage, "sea"), state)
    assert study.ledger.samples == state.samples
    found = study.verify()
    assert not {check.assumption for check in found.checks if check.verdict.bad} - {"noise", "kernel"}, str(found)


def assert_same(study: Study, state: Any) -> None:
    known = study.knowledge.state
    np.testing.assert_array_equal(study.labels, state.labels)
    assert study.labels.shape == (len(X),)
    for end in ("lower", "upper"):
        one, other = (getattr(each.belief.bounds(), end) for each in (known, state))
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-7)


def test_the_posterior_is_that_of_scikit_learn() -> None:
    study = run(created(), 2)
    study.tell(at=FURTHER[:, None], values=truth(FURTHER), noise=[0.1, 0.2, 0.3, 0.1, 0.1])
    ledger = study.ledger
    own = np.where(np.isnan(ledger.noise), NOISE, ledger.noise)
    theirs = GaussianProcessRegressor(RBF(0.2), alpha=own**2, optimizer=None)
    theirs.fit(ledger.everywhere[ledger.point], ledger.value)
    mean, deviation = theirs.predict(X[:, None], return_std=True)
    points = study.view().points
    np.testing.assert_allclose(np.array(points.estimate, dtype=float), mean, atol=1e-8)
    np.testing.assert_allclose(np.array(points.upper, dtype=float), mean + 3 * deviation, atol=1e-6)


def test_a_campaign_may_begin_with_what_was_measured_elsewhere() -> None:
    study = created("estimated")
    study.tell(at=np.linspace(-0.05, 1.05, 30), values=truth(np.linspace(-0.05, 1.05, 30)))
    assert study.knowledge.state.belief.pilot == 0
    assert (study.labels != 0).any()
    signs = np.where(truth(X) > 2.2, 1, -1)
    np.testing.assert_array_equal(study.labels[study.labels != 0], signs[study.labels != 0])
    assert study.ask().stop is not None or len(study.ask()) > 0


# ------------------------------------------------------------------------------------------- telling


def test_the_log_names_the_places_once_and_results_by_their_numbers() -> None:
    study = created()
    receipt = study.tell(at=[*FURTHER, X[3]], values=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert (receipt.stored, receipt.elsewhere, receipt.unplanned) == (6, 5, 6)
    _, placed, told = study.log()
    assert json.loads(placed.payload) == {"points": [[0.11], [0.47], [0.83], [1.2]]}
    assert json.loads(told.payload)["points"] == [14, 15, 15, 16, 17, 3]
    counts, averages = study.ledger.further
    assert counts.tolist() == [1, 2, 1, 1]
    np.testing.assert_allclose(averages, [1.0, 2.5, 4.0, 5.0])
    assert study.ledger.counts.tolist() == [0, 0, 0, 1, *[0] * 10]


def test_the_same_again_changes_nothing_and_a_replicate_is_new() -> None:
    study = created()
    study.tell(at=FURTHER, values=truth(FURTHER))
    length = study.ledger.length
    again = study.tell(at=FURTHER, values=truth(FURTHER))
    assert (again.stored, again.repeated, again.entry) == (0, 5, None)
    assert study.refresh().ledger.length == length
    more = study.tell(at=FURTHER[:1], values=truth(FURTHER[:1]), replicates=True)
    assert (more.stored, more.elsewhere) == (1, 1)
    assert [entry.kind for entry in study.log()] == ["created", "placed", "told", "told"]


def test_coordinates_of_a_point_are_that_point_and_take_its_ticket() -> None:
    study = created()
    ticket = study.ask()[0]
    receipt = study.tell([Result(at=ticket.coordinates, value=2.0)])
    assert (receipt.unplanned, receipt.elsewhere) == (0, 0)
    assert study.ledger.value[ticket.number - 1] == 2.0
    assert "placed" not in {entry.kind for entry in study.log()}


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (Result(at=(0.1, 0.2), value=1.0), r"results\[0\].at is \(0.1, 0.2\): give 1 finite number"),
        (Result(at=(np.nan,), value=1.0), r"results\[0\].at is \(nan,\): give 1 finite number"),
        (Result(at=("here",), value=1.0), r"results\[0\].at is \('here',\): give 1 finite number"),  # type: ignore[arg-type]
        (Result(at=(0.1,), point=3, value=1.0), "give the number of a point or coordinates, not both"),
        (Result(at=(0.1,), value=None), "without a ticket there is nothing that could have failed"),
        (Result(at=(0.1,), value=np.inf), r"results\[0\].value is inf"),
        (Result(at=(0.1,), ticket=1, value=1.0), "but ticket 1 is for"),
    ],
)
def test_bad_places_get_a_sentence_and_nothing_is_stored(result: Result, sentence: str) -> None:
    study = created()
    study.ask()
    length = study.ledger.length
    with pytest.raises(ResultsError, match=sentence):
        study.tell([result])
    assert study.refresh().ledger.length == length
    with pytest.raises(InputError, match=r"give places \(N, d\) and values \(N,\)"):
        study.tell(at=[0.1, 0.2], values=[1.0])


def test_rounds_refuse_them_before_anything_is_stored() -> None:
    arms = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
    given: dict[str, Any] = {"goal": sl.Threshold(0.0), "noise": 0.1, "bound": 1.0, "tolerance": 0.5}
    study = Study.create(Memory(), "sea", sl.Problem(sl.Domain(arms), **given), confidence=sl.Rips(schedule="tight"))
    for act in (study.tell, study.check):
        with pytest.raises(InputError, match="rounds take only what they planned"):
            act([Result(at=(0.5, 0.5), value=1.0)])
    assert study.refresh().ledger.length == 1


def test_values_elsewhere_must_have_a_transform_too() -> None:
    study = created("log")
    with pytest.raises(ResultsError, match="the logarithm needs a value above 0"):
        study.tell(at=[0.11], values=[-1.0])


def test_a_correction_and_a_withdrawal_reach_them() -> None:
    study = created()
    study.tell(at=FURTHER, values=truth(FURTHER))
    before = study.labels
    study.correct(1, 5.0)
    assert study.ledger.further[1][0] == 5.0
    study.withdraw(range(1, 6))
    assert not study.labels.any()
    assert before.any()
    assert study.campaign().elsewhere is None
    assert study.verify().ok


# ---------------------------------------------------------------------------------- old and new logs


def test_a_snapshot_has_them() -> None:
    study = run(created(), 1)
    study.tell(at=FURTHER, values=truth(FURTHER))
    ledger = fold(study.log())
    restored = snapshots.restored(snapshots.stored(ledger))
    assert restored is not None
    np.testing.assert_array_equal(restored.elsewhere, ledger.elsewhere)
    assert snapshots.stored(restored) == snapshots.stored(ledger)


def test_plans_and_audits_are_of_the_points_only() -> None:
    study = created()
    study.tell(at=FURTHER, values=truth(FURTHER))
    run(study, 2)
    tickets = study.audit(10)
    assert tickets.indices.max() < len(X)
    study.tell(tickets.measured(truth(X[tickets.indices])))
    (found,) = study.accuracy()
    assert found.result.draws == 10
    asked = [Asked.model_validate_json(entry.payload) for entry in study.log() if entry.kind == "asked"]
    assert all(max(each.points) < len(X) and len(each.labels) == len(X) for each in asked)
    assert study.verify().ok


# ------------------------------------------------------------------------------------------- showing


def test_the_view_the_report_and_the_picture_show_them(tmp_path: Path) -> None:
    study = run(created(), 1)
    study.tell(at=FURTHER, values=[1.0, 2.0, 3.0, 4.0, 5.0])
    view = study.view()
    assert view.elsewhere.coordinates == [[0.11], [0.47], [0.83], [1.2]]
    assert view.elsewhere.measurements == [1, 2, 1, 1]
    assert view.elsewhere.average == [1.0, 2.5, 4.0, 5.0]
    assert len(view.points.label) == len(study.to_frame()) == len(X)
    assert (view.status.measurements, view.status.elsewhere) == (9, 5)
    campaign = study.campaign()
    facts = dict(campaign.facts)
    assert facts["measurements"] == "4 at 4 points, 5 at 4 places that are not among the points"
    axes = draw(campaign).axes[0]
    (drawn,) = [each for each in axes.collections if each.get_label() == "measured elsewhere"]
    offsets = np.asarray(drawn.get_offsets())
    np.testing.assert_allclose(offsets, [[0.11, 1.0], [0.47, 2.5], [0.83, 4.0], [1.2, 5.0]])
    text = study.report(tmp_path / "sea.html").read_text(encoding="utf-8")
    assert "Measured elsewhere" in text
    assert "5 measurements elsewhere" in text


def test_a_map_has_squares_where_they_are() -> None:
    grid = np.stack(np.meshgrid(np.arange(4.0), np.arange(3.0)), axis=-1).reshape(-1, 2)
    given: dict[str, Any] = {"goal": sl.Threshold(0.5), "noise": NOISE}
    study = Study.create(Memory(), "sea", sl.Problem(sl.Domain(grid, RBF(2.0)), **given))
    assert not [each for each in draw(study.campaign()).axes[0].collections if "elsewhere" in str(each.get_label())]
    places = [[0.4, 0.6], [2.5, 1.5]]
    study.tell(at=places, values=[0.0, 1.0])
    (drawn,) = [each for each in draw(study.campaign()).axes[0].collections if "elsewhere" in str(each.get_label())]
    np.testing.assert_allclose(np.asarray(drawn.get_offsets()), places)
