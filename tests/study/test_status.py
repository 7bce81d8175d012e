"""How a campaign stands: from everything, or at once from what was known earlier, which it then says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.study import Result, Study
from superlevel.study.status import LAYOUT, Reading, earlier
from superlevel.study.storage import Note
from tests.study.campaigns import FITTED, GREEDY, LSE, MILK, NAME, ROUNDS, TRUTH, N, X, reopened, storage_of


def refuse(*_: Any, **__: Any) -> Any:
    raise AssertionError("something was computed")


def test_the_numbers_are_those_of_the_log() -> None:
    study = GREEDY.create()
    tickets = study.ask(8)
    study.tell([*GREEDY.measure(tickets[:3]), tickets[3].failed(), Result(point=0, value=-0.2)])
    study.withdraw(5)
    status = study.status()
    fates = np.bincount(study.ledger.fate, minlength=4)
    assert [status.open, status.measurements, status.failed, status.withdrawn] == fates.tolist()
    assert (status.points, status.entries, status.read, status.batches, status.late) == (N, 4, 4, 1, 0)
    labels = study.labels
    assert [status.above, status.undecided, status.below] == [int((labels == k).sum()) for k in (1, 0, -1)]
    assert (status.name, status.question, status.method) == (NAME, "above 0.23", "melk")
    assert (status.kernel, status.noise) == ("RBF(0.2)", "0.1")
    assert status.fresh
    assert not status.closed
    assert status.began <= status.changed
    assert status.next == f"tell the results of {status.open} open tickets, or suggest more"


def test_what_to_do_next_is_said() -> None:
    study = GREEDY.create()
    assert study.status().next == "suggest the next batch"
    study.tell(GREEDY.measure(study.ask()[1:]))
    assert study.status().next == "tell the results of 1 open ticket, or suggest more"
    study.tell([Result(point=k, value=float(20 * np.sign(TRUTH[k] - 0.23)), noise=0.01) for k in range(N)])
    assert study.status().next == f"verify and report: {study.status().stop}"
    study.close()
    assert study.status().next == "nothing: the study is closed"
    assert study.status().closed


def test_what_is_to_be_estimated_is_not_shown_before_it_is() -> None:
    assert (FITTED.create().status().kernel, FITTED.create().status().noise) == ("not estimated yet",) * 2
    noise = np.linspace(0.1, 0.25, N)
    partly = GREEDY.create(problem=GREEDY.problem(noise=noise, fit=("mean",))).status()
    assert (partly.kernel, partly.noise) == ("RBF(0.2)", "0.1 to 0.25")
    partly = GREEDY.create(problem=GREEDY.problem(fit=("noise",))).status()
    assert (partly.kernel, partly.noise) == ("RBF(0.2)", "not estimated yet")
    study = FITTED.create()
    study.tell(FITTED.measure(study.ask(14)))
    estimated = study.knowledge.state.belief.estimated
    assert study.status().noise == estimated["noise"]
    assert study.status().kernel == estimated["kernel"]


def test_without_anything_earlier_it_is_computed() -> None:
    study = GREEDY.create()
    study.tell([Result(point=1, value=1.0)])
    status = study.status(fresh=False)
    assert (status.fresh, status.read) == (True, 2)


def test_labels_of_an_earlier_moment_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    study = GREEDY.run(GREEDY.create(), 2)
    labels = study.labels
    fresh = study.status()
    monkeypatch.setattr("superlevel.study.replay.know", refuse)
    again = reopened(study)
    with pytest.raises(AssertionError, match="something was computed"):
        again.status()
    assert again.status(fresh=False).read == 3  # a copy has the plans, which know the labels of before
    again = Study.open(storage_of(study), NAME)
    quick = again.status(fresh=False)
    assert quick == fresh
    again.tell([Result(point=3, value=9.0)])
    quick = again.status(fresh=False)
    assert (quick.fresh, quick.read, quick.entries, quick.measurements) == (False, 5, 6, 9)
    assert quick.above == (labels == 1).sum()


def test_a_plan_knows_the_labels_too(monkeypatch: pytest.MonkeyPatch) -> None:
    study = GREEDY.run(GREEDY.create(), 2)
    study.ask()
    expected = study.status()
    monkeypatch.setattr("superlevel.study.replay.know", refuse)
    quick = reopened(study).status(fresh=False)
    assert quick.fresh
    assert quick.read == 5
    assert (quick.above, quick.below) == (expected.above, expected.below)


@pytest.mark.parametrize("act", ["correct", "withdraw"])
def test_after_a_correction_earlier_labels_are_not_shown(act: str) -> None:
    study = GREEDY.run(GREEDY.create(), 2)
    study.ask()
    if act == "correct":
        study.correct(1, 5.0)
    else:
        study.withdraw(1)
    quick = Study.open(storage_of(study), NAME).status(fresh=False)
    assert quick.read == quick.entries == study.ledger.length
    assert quick == study.status()
    assert study.status(fresh=False).fresh


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "null",
        '{"entries":5}',
        '{"entries":5,"samples":8,"labels":"+"}',
        '{"entries":99,"samples":8,"labels":"%s"}',
    ],
)
def test_what_another_version_or_nobody_kept_is_ignored(text: str) -> None:
    study = GREEDY.run(GREEDY.create(), 2)
    storage_of(study).note(NAME, Note(5, text.replace("%s", "+" * N)))
    quick = study.status(fresh=False)
    assert quick.read == 3  # the last plan's
    assert quick.above == study.ledger.askings[-1].asked.labels.count("+")


def test_a_note_from_more_entries_than_there_are_is_ignored() -> None:
    study = GREEDY.run(GREEDY.create(), 1)
    storage_of(study).note(NAME, Note(77, Reading(entries=77, samples=4, labels="+" * N).model_dump_json()))
    assert study.status(fresh=False).above < N


def test_a_later_reading_is_preferred() -> None:
    study = GREEDY.run(GREEDY.create(), 1)
    ledger = study.ledger
    note = Note(3, Reading(layout=LAYOUT, entries=3, samples=4, labels="+" * N).model_dump_json())
    of_before = Note(3, Reading(layout=LAYOUT - 1, entries=3, samples=4, labels="+" * N).model_dump_json())
    found = earlier(ledger, note)
    assert found is not None
    assert found.entries == 3
    assert earlier(ledger, None) == earlier(ledger, of_before) == Reading(entries=1, samples=0, labels="?" * N)
    assert earlier(GREEDY.create().ledger, None) is None


def test_a_note_is_of_what_is_known() -> None:
    for kind in (GREEDY, MILK, LSE, ROUNDS):
        study = kind.run(kind.create(), 2)
        assert study.labels.shape == (study.ledger.n,)
        noted = storage_of(study).noted(NAME)
        assert noted is not None
        reading = Reading.model_validate_json(noted.text)
        assert reading.entries == noted.seq == study.ledger.length
        assert reading.head == study.ledger.head
        assert reading.samples == study.ledger.samples
        assert reading.labels == "".join({1: "+", 0: "?", -1: "-"}[int(label)] for label in study.labels)


def test_a_quick_look_imports_nothing_slow(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'sea.db'}"
    problem = sl.Problem(sl.Domain(X, 2.0 * RBF(0.2)), goal=sl.Threshold(0.23), noise=0.1)
    study = GREEDY.run(GREEDY.create(url, problem=problem), 2)
    assert study.status().fresh
    code = f"""
import sys
from superlevel.study import Study
status = Study.open({url!r}, {NAME!r}).status(fresh=False)
print(status.above, status.kernel, sorted({{"scipy", "sklearn", "matplotlib", "pandas"}} & sys.modules.keys()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{study.status().above} 2.0 * RBF(0.2) []"
