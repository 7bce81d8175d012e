"""Studies of the version before open, say what they said then, and go on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from superlevel.errors import InputError
from superlevel.records import Stop
from superlevel.study import Study
from superlevel.study.events import DamagedError
from superlevel.study.format1 import from_format_1
from superlevel.study.signs import as_text
from superlevel.study.storage import Memory, open_storage
from tests.study.campaigns import NAME, bare, rechained

FIXTURES = Path(__file__).parent / "fixtures"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FIXTURES / "format1.json").read_text(encoding="utf-8"))
# The ridge confidence has other intervals since format 7: one point that was decided is not any more.
EXPECTED["ridge"] |= {"labels": EXPECTED["ridge"]["labels"].replace("-+", "-?", 1), "stop": None}
GOALS = {
    "threshold": {"auto", "greedy", "average", "worst", "permanent", "lse", "rkhs", "ridge", "rips", "straddle"},
    "fraction of max": {"truvar-max", "milk", "ridge-max"},
}
CONFIDENCES = {
    "ridge": {"name": "ridge", "growth": 1.0, "shares": [0.5, 0.0]},
    "ridge-max": {"name": "ridge", "growth": 1.0, "shares": [0.5, 0.0]},
    "rips": {"name": "rips", "schedule": "tight"},
    "lse": {"name": "posterior", "intersected": True},
    "rkhs": {"name": "rkhs", "intersected": True},
    "average": {"name": "posterior", "intersected": False, "beta": 2.5},
}
RULES = {
    **{name: {"name": "greedy"} for name in ("auto", "greedy", "permanent", "milk")},
    "average": {"name": "average"},
    "worst": {"name": "superlevel.rules.design:WorstCase", "rtol": 0.05},
}


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A copy of the store: opening one of an earlier version changes it."""
    shutil.copy(FIXTURES / "format1.db", tmp_path / "format1.db")
    return f"sqlite:///{tmp_path / 'format1.db'}"


def test_all_studies_are_there(store: str) -> None:
    assert sorted(open_storage(store).names()) == sorted(EXPECTED)
    for name in EXPECTED:
        assert json.loads(open_storage(store).read(name)[0].payload)["format"] == 1


@pytest.mark.parametrize("name", EXPECTED)
def test_a_study_of_the_version_before_says_what_it_said(name: str, store: str) -> None:
    study, said = Study.open(store, name), EXPECTED[name]
    assert as_text(study.labels) == said["labels"]
    assert study.ledger.samples == said["samples"]
    assert study.ledger.length == said["entries"]
    stop = study.knowledge.stop
    assert (None if stop is None else stop.name) == said["stop"]
    found = study.verify()
    assert found.ok == said["ok"], str(found)
    assert found.labels is not None
    np.testing.assert_array_equal(found.labels, study.labels)
    status = study.status()
    signs = {"above": "+", "undecided": "?", "below": "-"}
    assert status.groups == {word: said["labels"].count(sign) for word, sign in signs.items()}


@pytest.mark.parametrize("name", EXPECTED)
def test_what_was_given_is_read_in_the_words_of_this_version(name: str, store: str) -> None:
    study = Study.open(store, name)
    created, payload = study.ledger.created, json.loads(study.log()[0].payload)
    assert created.format == 1
    assert name in GOALS[created.goal["kind"]]
    assert created.goal.get("value", created.goal.get("epsilon")) == payload.get("threshold", payload.get("epsilon"))
    for field in ("noise", "mean", "norm", "bound", "tolerance", "cost", "delta"):
        if field in payload:
            assert created.problem[field] == payload[field]
    assert created.permanent is (True if name == "permanent" else None)
    assert created.confidence == CONFIDENCES.get(name, {"name": "posterior", "intersected": False})
    assert created.rule == RULES.get(name)
    assert created.fit == (["kernel", "noise", "mean"] if name == "auto" else [])


@pytest.mark.parametrize("name", [name for name in EXPECTED if EXPECTED[name]["stop"] is None])
def test_an_open_study_of_the_version_before_goes_on(name: str, store: str) -> None:
    study = Study.open(store, name, worker="somebody new")
    if study.ledger.closed is not None:
        assert study.ask().stop == "the study is closed"
        return
    before = study.ledger.samples
    wanted = len(study.ledger.open) + 3  # some tickets may be kept for others
    tickets = study.ask(wanted)
    assert len(tickets) >= 3
    assert len(study.ledger.askings) > 0
    estimate = study.knowledge.estimate
    assert estimate is not None
    study.tell(tickets.measured(estimate[tickets.indices]))
    status = study.status()
    assert status.measurements == study.ledger.samples == before + len(tickets)
    assert status.fresh
    assert status.stop in (None, *(stop.value for stop in Stop))
    again = Study.open(store, name)
    np.testing.assert_array_equal(again.labels, study.labels)
    found = again.verify()
    assert {check.assumption for check in found.checks if check.verdict.bad} <= {"noise", "kernel"}, str(found)
    assert "cached labels" in {check.assumption for check in found.checks}


@pytest.mark.parametrize("name", [name for name in EXPECTED if EXPECTED[name]["stop"] is not None])
def test_a_study_that_was_at_its_end_still_is(name: str, store: str) -> None:
    study = Study.open(store, name, worker="w")
    open_tickets = study.ledger.open.tolist()
    tickets = study.ask()
    assert [ticket.number for ticket in tickets] == open_tickets or tickets.stop == study.knowledge.stop
    assert study.ledger.length == EXPECTED[name]["entries"]


def test_batches_of_the_ridge_confidence_stay_as_large_as_they_were(store: str) -> None:
    method = Study.open(store, "ridge").knowledge.method
    assert method is not None
    assert not method.ordered  # only the ellipsoids, which know no order
    assert method.sizes == method.confidence.sizes(method.problem, 60)


def test_damage_is_refused_as_damage_in_the_format_before_too(store: str) -> None:
    entries = open_storage(store).read("greedy")
    for change, kind, sentence in (
        ({"options": 5}, DamagedError, "entry 1, goal"),
        ({"colour": "red"}, DamagedError, "entry 1, colour"),
        ({"noise": "loud"}, DamagedError, "entry 1, problem.noise"),
        ({"threshold": "high"}, InputError, "Threshold.value is 'high'"),
        ({"options": {"confidence": "faith"}}, InputError, "confidence is 'faith'"),
        ({"options": {"criterion": "best"}}, InputError, "rule is 'best'"),
        ({"options": {"beta": "wide"}}, InputError, "Posterior.beta is 'wide'"),
    ):
        payload = json.dumps(json.loads(entries[0].payload) | change)
        storage = bare(rechained([(entries[0].kind, entries[0].at, payload)]))
        with pytest.raises(kind, match=sentence):
            Study.open(storage, NAME).status()
    assert from_format_1({"options": 5}) == {"options": 5}


def test_a_study_of_the_version_before_is_copied_to_another_store(store: str) -> None:
    old, new = open_storage(store), Memory()
    first, *rest = old.read("lse")
    new.create("lse", first)
    with new.turn("lse", after=1) as turn:
        for entry in rest:
            turn.append(entry)
    assert as_text(Study.open(new, "lse").labels) == EXPECTED["lse"]["labels"]
