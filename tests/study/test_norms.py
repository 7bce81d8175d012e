"""For how large a norm a study says that its labels are right."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import superlevel as sl
from superlevel.report.campaign import write_points
from superlevel.study import Study
from superlevel.study.norms import norms, rounded_down, sentence
from tests.study.campaigns import GREEDY, PAIR_RIDGE, RIDGE, TRUTH


@pytest.fixture(scope="module")
def decided() -> Study:
    """A campaign of which all points are decided."""
    made = RIDGE.create(problem=RIDGE.problem(tolerance=0.1))
    while tickets := made.ask():
        made.tell(RIDGE.measure(tickets))
    assert (made.labels != 0).all()
    return made


def given(study: Study) -> float:
    norm = study.knowledge.method.problem.norm
    assert norm is not None
    return norm


def test_every_label_holds_for_the_norm_as_given_at_least(decided: Study) -> None:
    found = norms(decided.knowledge)
    assert found is not None
    assert found.shape == (len(TRUTH),)
    assert (found >= given(decided)).all()
    assert found.max() > 2 * given(decided)


def test_a_label_is_given_by_a_study_of_any_norm_up_to_that(decided: Study) -> None:
    """The same measurements, told to a study of a larger norm as if nobody had planned them: ellipsoids decide."""
    points, values = decided.ledger.point[decided.ledger.measured], decided.ledger.value[decided.ledger.measured]

    def told(factor: float) -> Any:
        problem = RIDGE.problem(tolerance=0.1, norm=factor * given(decided))
        method = sl.methods.make("melk", problem, confidence=sl.Ridge(shares=(1.0, 0.0)))
        return method, method.observe(method.init(), points, values)[0]

    method, state = told(1.0)
    found = state.belief.norms(method.goal, state.labels)
    assert found is not None
    for factor in (1.5, 3.0, 10.0):
        _, larger = told(factor)
        stated = found >= factor * given(decided) * (1 + 1e-6)
        np.testing.assert_array_equal(larger.labels[stated], state.labels[stated])
        # And it is not said of many labels fewer than there are: it is one ellipsoid, and they are all of them.
        assert stated.sum() >= 0.7 * (larger.labels != 0).sum()


def test_verify_report_and_export_say_it(decided: Study, tmp_path: Path) -> None:
    said = sentence(decided.knowledge)
    found = norms(decided.knowledge)
    assert found is not None
    assert said.startswith(f"every label is right for a norm of up to {rounded_down(float(found.min())):g}")
    assert said in str(decided.verify())
    assert said in dict(decided.campaign().summary)["How sure"]
    write_points(decided.campaign(), tmp_path / "points.csv")
    with (tmp_path / "points.csv").open(newline="") as file:
        column = [float(row["right up to norm"]) for row in csv.DictReader(file)]
    np.testing.assert_allclose(column, found)


def test_undecided_points_have_none() -> None:
    study = RIDGE.create()
    study.tell(RIDGE.measure(study.ask(4)))
    found = norms(study.knowledge)
    assert found is not None
    np.testing.assert_array_equal(np.isnan(found), study.labels == 0)
    assert not sentence(study.knowledge) or (study.labels != 0).any()


@pytest.mark.parametrize("kind", [PAIR_RIDGE, GREEDY], ids=lambda kind: kind.name)
def test_nothing_is_said_where_it_is_not_known(kind: Any) -> None:
    study = kind.create()
    study.tell(kind.measure(study.ask()))
    assert norms(study.knowledge) is None
    assert sentence(study.knowledge) == ""


@pytest.mark.parametrize(
    ("value", "expected"), [(14.99, 14.0), (0.1299, 0.12), (3.0, 3.0), (0.3, 0.3), (999.9, 990.0), (10.0, 10.0)]
)
def test_numbers_are_rounded_down(value: float, expected: float) -> None:
    assert rounded_down(value) == pytest.approx(expected)
    assert rounded_down(value) <= value * (1 + 1e-9)
