"""Studies with a transform: values are stored as they were told, and everything that is shown is in their units."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.errors import InputError
from superlevel.study import Result, ResultsError, Study
from superlevel.study.storage import Memory

X = np.linspace(0, 1, 14) ** 1.1
TRUTH = np.sin(6 * X)  # of the logarithm
LEVEL = 1.26
GIVEN: dict[str, Any] = {"noise": 0.1, "mean": 0.0}


def pair(**given: Any) -> tuple[Study, Study]:
    """A study with a transform, and that of a user who takes logarithms by hand."""
    given = {**GIVEN, **given}
    domain, goal = sl.Domain(X, RBF(0.2)), sl.Threshold(LEVEL)
    one = sl.Problem(domain, goal=goal, transform="log", **given)
    other = sl.Problem(domain, goal=sl.Threshold(float(np.log(LEVEL))), **given)
    return tuple(Study.create(Memory(), "sea", each, batch=4, seed=3) for each in (one, other))  # type: ignore[return-value]


@pytest.mark.parametrize("given", [{}, {"norm": 3.0}, {"noise": None}, {"noise": None, "fit": ("kernel", "mean")}])
def test_labels_are_those_of_a_user_who_takes_logarithms_by_hand(given: dict[str, Any]) -> None:
    ours, theirs = pair(**given)
    for step in range(6):
        tickets, twins = ours.ask(), theirs.ask()
        np.testing.assert_array_equal(tickets.indices, twins.indices)
        if not len(tickets):
            break
        errors = 0.1 * np.random.default_rng(step).standard_normal(len(tickets))
        values = np.exp(TRUTH[tickets.indices] + errors)
        own = 0.1 * values if step == 1 else None
        ours.tell(tickets.measured(values, noise=own))
        theirs.tell(twins.measured(np.log(values), noise=None if own is None else own / values))
        np.testing.assert_array_equal(ours.labels, theirs.labels)
    assert ours.ledger.samples == theirs.ledger.samples >= 12
    shown, plain = ours.view(), theirs.view()
    for name in ("estimate", "lower", "upper"):
        mine, yours = (np.array(getattr(each.points, name), dtype=float) for each in (shown, plain))
        known = ~np.isnan(yours)
        np.testing.assert_allclose(np.log(mine[known]), yours[known], atol=1e-7)
    assert shown.levels == (LEVEL,)
    assert shown.points.label == plain.points.label
    assert (shown.points.probability is None) == (plain.points.probability is None)
    if shown.points.probability is not None and plain.points.probability is not None:
        np.testing.assert_allclose(shown.points.probability, plain.points.probability, atol=1e-7)
    bins = [[(each.measurements, each.above) for each in found.bins] for found in shown.reliability]
    assert bins == [[(each.measurements, each.above) for each in found.bins] for found in plain.reliability]
    assert {check.assumption: check.verdict for check in ours.verify().checks} == {
        check.assumption: check.verdict for check in theirs.verify().checks
    }


def test_the_log_has_the_values_as_they_were_told_and_the_name_of_the_transform() -> None:
    study, _ = pair()
    tickets = study.ask()
    study.tell(tickets.measured(np.full(4, 2.5)))
    created, _, told = (json.loads(entry.payload) for entry in study.log())
    assert created["transform"] == "log"
    assert told["values"] == [2.5] * 4
    assert study.ledger.averages[tickets.indices[0]] == 2.5
    again = Study.open(study._storage, "sea")
    np.testing.assert_array_equal(again.labels, study.labels)
    assert again.knowledge.method.problem.scale.name == "log"


def test_a_study_without_a_transform_says_nothing_of_one() -> None:
    _, study = pair()
    assert "transform" not in json.loads(study.log()[0].payload)
    assert "transform" not in {row.name for row in study.view().assumptions}


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_what_has_no_logarithm_is_refused_before_anything_is_stored(value: float) -> None:
    study, _ = pair()
    tickets = study.ask()
    length = study.ledger.length
    with pytest.raises(ResultsError, match=r"results\[1\].value is .*: the logarithm needs a value above 0"):
        study.tell([tickets[0].measured(1.0), tickets[1].measured(value), Result(point=0, value=2.0)])
    assert study.refresh().ledger.length == length
    study.tell([tickets[0].measured(1.0)])
    with pytest.raises(InputError, match=r"value is .*: the logarithm needs a value above 0"):
        study.correct(tickets[0].number, value)
    assert study.refresh().ledger.length == length + 1


def test_what_is_assumed_is_said_to_be_of_the_logarithm() -> None:
    study, _ = pair(norm=3.0)
    study.tell(study.ask(4).measured([1.0, 2.0, 1.5, 1.2]))
    rows = {row.name: row.value for row in study.view().assumptions}
    assert rows["transform"] == "log: labels are computed from the logarithm of every value"
    assert rows["noise"] == "0.1 of the logarithm, given"
    assert rows["norm"] == "||theta|| <= 3 of the logarithm"
    assert "logarithm" not in rows["tolerance"]
    assert "assumed of the logarithm of the values" in study.view().guarantee
    assert study.status().noise == "0.1 of the logarithm"


def test_an_audit_compares_values_in_their_own_units() -> None:
    study, _ = pair()
    for _ in range(3):
        tickets = study.ask()
        study.tell(tickets.measured(np.exp(TRUTH[tickets.indices])))
    tickets = study.audit(20, tolerance=0.2)
    study.tell(tickets.measured(np.exp(TRUTH[tickets.indices])))
    (found,) = study.accuracy()
    assert found.result.draws == 20
    assert found.result.contradictions == 0
    assert study.verify().ok


def test_an_estimated_parameter_is_stored_and_holds_whatever_is_measured_later() -> None:
    pilot = np.square(3 + TRUTH)
    fitted = sl.transforms.fitted_box_cox(pilot)
    problem = sl.Problem(sl.Domain(X, RBF(0.2)), goal=sl.Threshold(9.0), transform=fitted, noise=0.2, mean=5.0)
    study = Study.create(Memory(), "sea", problem, batch=7)
    assert json.loads(study.log()[0].payload)["transform"] == fitted.name == study.ledger.scale.name
    for factor in (1.0, 1.01):
        tickets = study.ask()
        study.tell(tickets.measured(factor * pilot[tickets.indices]))
    again = Study.open(study._storage, "sea")
    assert again.ledger.scale is fitted
    assert again.knowledge.method.problem.scale is fitted
    np.testing.assert_array_equal(again.labels, study.labels)
    rows = {row.name: row.value for row in study.view().assumptions}
    assert rows["transform"] == f"{fitted.name}: labels are computed from the Box-Cox transform of every value"
    assert rows["noise"] == "0.2 of the Box-Cox transform, given"
    assert study.verify().ok
