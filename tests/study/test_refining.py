"""Further points where the boundary is: the study goes on with them, and its log is checked as before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.study import snapshots
from superlevel.study.events import Placed
from superlevel.study.ledger import fold

BOX = {"x": (0, 1), "dose": sl.Log(0.01, 1), "metal": sl.Choice("steel", "copper")}


def ring(x: Any, dose: Any, metal: Any) -> float:
    return float((x - 0.5) ** 2 + (np.log10(dose) + 1) ** 2 / 4 + 0.05 * (metal == "steel"))


def searched(store: str = "memory:", *, count: int = 128, budget: int = 40, **options: Any) -> sl.Found:
    domain = sl.Domain.box(BOX, count=count, seed=1, kernel=RBF([0.4, 0.8, 2.0, 2.0]))
    return sl.find(ring, domain, sl.Threshold(0.15), budget=budget, store=store, noise=0.001, batch=10, **options)


def apart(places: Any) -> Any:
    """How far the function is from the level."""
    coordinates = sl.Domain.box(BOX, count=4).coordinates
    return np.array([abs(ring(**coordinates.named(place)) - 0.15) for place in places])


def test_new_points_are_near_the_boundary_and_the_search_goes_on(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/s.db"
    found = searched(store)
    study = found.study
    before, labels = study.ledger, study.labels
    assert study.refine(100) == 100
    ledger = study.ledger
    assert ledger.n == 228
    assert len(np.unique(ledger.places, axis=0)) == 228
    np.testing.assert_array_equal(ledger.places[:128], before.places)
    np.testing.assert_array_equal(ledger.point, before.point)
    assert apart(ledger.refined).mean() < 0.5 * apart(before.places).mean()
    assert study.labels.shape == (228,)
    agree = study.labels[:128] == labels
    assert agree.mean() > 0.9
    after = searched(store, budget=60)
    assert after.labels.shape == (228,)
    assert after.study.ledger.point.max() >= 128  # new points are asked for
    truth = np.array([ring(**ledger.coordinates.named(place)) > 0.15 for place in ledger.places])
    assert (truth == (after.guess > 0)).mean() > 0.95
    again = sl.Study.open(store, "find")
    np.testing.assert_array_equal(again.labels, after.labels)
    assert again.verify().ok
    assert len(again.to_frame()) == 228
    again.report(tmp_path / "page.html")
    assert json.loads(again.log()[before.length].payload)["targets"] is True


def test_the_numbers_of_places_elsewhere_follow_the_points() -> None:
    study = searched().study
    study.tell([sl.Result(at=(0.25, 0.5, 1.0), value=ring(0.25, 0.5, "copper"))])
    assert study.ledger.point[-1] == 128
    values = dict(zip(study.ledger.point.tolist(), study.ledger.value.tolist(), strict=True))
    study.refine(7)
    assert study.ledger.point[-1] == 135
    assert study.ledger.cells(135) == (0.25, 0.5, "copper")
    assert study.ledger.value[-1] == values[128]
    study.tell([sl.Result(at=(0.75, 0.5, 0.0), value=ring(0.75, 0.5, "steel"))])
    assert study.ledger.point[-1] == 136
    assert study.verify().ok
    assert snapshots.restored(snapshots.stored(study.ledger)).point.tolist() == study.ledger.point.tolist()  # type: ignore[union-attr]


def test_the_labels_of_a_refined_study_are_those_of_one_that_began_with_all_points() -> None:
    study = searched().study
    study.refine(50)
    ledger = study.ledger
    domain = sl.Domain(ledger.places, RBF([0.4, 0.8, 2.0, 2.0]), names=list(BOX), scales=ledger.coordinates.scales)
    problem = sl.Problem(domain, goal=sl.Threshold(0.15), noise=0.001)
    whole = sl.Study.create("memory:", "whole", problem, batch=10)
    whole.tell(
        [sl.Result(point=int(p), value=float(v)) for p, v in zip(ledger.point, ledger.value, strict=True)],
        replicates=True,
    )
    np.testing.assert_array_equal(study.labels, whole.labels)


def test_an_audit_stays_about_the_points_that_it_was_drawn_from() -> None:
    study = searched().study
    tickets = study.audit(10)
    study.tell(ticket.measured(ring(**study.ledger.coordinates.named(ticket.coordinates))) for ticket in tickets)
    before = study.accuracy()
    study.refine(20)
    assert [str(each) for each in study.accuracy()] == [str(each) for each in before]
    assert study.verify().ok


def test_it_is_refined_again_at_other_places() -> None:
    study = searched().study
    study.refine(20)
    study.refine(20)
    assert len(np.unique(study.ledger.places, axis=0)) == 168


def test_designs_of_before_are_still_checked() -> None:
    study = searched(rule="average").study
    study.refine(20)
    study.ask()
    assert study.verify().ok


def test_an_entry_without_targets_adds_no_points() -> None:
    study = searched(budget=10).study
    entries = study.log()
    placed = Placed(points=[[0.5, 0.5, 0.0]]).entry(seq=len(entries) + 1, before=entries[-1].digest)
    assert "targets" not in placed.payload
    assert fold([*entries, placed]).n == 128


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: searched().study.refine(0), "count is 0"),
        (lambda: _closed().refine(5), "the study is closed"),
        (lambda: _plain().refine(5), "give a box"),
        (lambda: _unmeasured().refine(5), "without an estimate yet"),
        (lambda: _discrete().refine(5), "every place of its box"),
        (lambda: _unequal().refine(5), "give one number for all points"),
        (lambda: _guaranteed((0.5, 0.5)).refine(5), "its challenges are of the features that they began with"),
    ],
)
def test_a_study_that_cannot_be_refined_gets_a_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(sl.InputError, match=sentence):
        make()


def _measured(domain: sl.Domain, noise: Any = 0.1) -> sl.Study:
    study = sl.Study.create("memory:", "s", sl.Problem(domain, goal=sl.Threshold(0.5), noise=noise), batch=2)
    study.tell(study.ask().measured([0.2, 0.9]))
    return study


def _guaranteed(shares: tuple[float, float]) -> sl.Study:
    domain = sl.Domain.box({"x": (0.0, 1.0)}, count=16, kernel=RBF(0.3))
    problem = sl.Problem(domain, goal=sl.Threshold(0.5), noise=0.1, norm=3.0)
    study = sl.Study.create("memory:", "s", problem, batch=4, confidence=sl.Ridge(shares=shares))
    study.tell(study.ask(4).measured([0.2, 0.9, 0.4, 0.1]))
    return study


def test_ellipsoids_hold_at_points_that_are_added() -> None:
    study = _guaranteed((1.0, 0.0))
    assert study.refine(5) == 5
    assert study.labels.shape == (21,)


def _closed() -> sl.Study:
    study = searched(budget=10).study
    study.close()
    return study


def _plain() -> sl.Study:
    return _measured(sl.Domain(np.linspace(0, 1, 9), RBF(0.3)))


def _unmeasured() -> sl.Study:
    problem = sl.Problem(sl.Domain.box(BOX, count=8, kernel=RBF(1.0)), goal=sl.Threshold(0.5), noise=0.1)
    return sl.Study.create("memory:", "s", problem)


def _discrete() -> sl.Study:
    return _measured(sl.Domain.box({"n": sl.Integers(1, 5)}, count=9, kernel=RBF(1.0)))


def _unequal() -> sl.Study:
    return _measured(sl.Domain.box({"x": (0, 1)}, count=4, kernel=RBF(0.3)), noise=[0.1, 0.2, 0.1, 0.2])
