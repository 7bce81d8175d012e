"""A rule from outside the package in a study: stored by its import path, and missed with a sentence."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import superlevel as sl
from superlevel.errors import InputError
from superlevel.records import Choice, View
from superlevel.rules.protocol import Rule
from superlevel.study import Result, Study
from superlevel.study.storage import Memory
from tests.study.campaigns import GREEDY, NAME, RIDGE, TRUTH, Kind, N, contradicted, each
from tests.study.outside import EveryOther, Holding

ROOT = Path(__file__).parents[2]
RULE = EveryOther(stride=3, label="zigzag", backwards=True)
PATH = "tests.study.outside:EveryOther"


def run(code: str, *, path: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Python code in another process, which finds modules in these folders."""
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=check, env=environment, timeout=120
    )


def paths(*more: Path) -> str:
    return os.pathsep.join(str(path) for path in (*more, Path(sl.__file__).parents[1], ROOT))


@each([GREEDY, RIDGE])
def test_a_rule_is_stored_by_its_import_path_and_its_parameters(kind: Kind) -> None:
    storage = Memory()
    study = kind.create(storage, rule=RULE)
    stored = json.loads(storage.read(NAME)[0].payload)["rule"]
    assert stored == {"name": PATH, "stride": 3, "label": "zigzag", "backwards": True}
    method = Study.open(storage, NAME).knowledge.method
    assert method is not None
    assert method.rule == RULE
    tickets = study.ask()
    assert sorted(tickets.indices) == sorted(N - 1 - 3 * k % N for k in range(4))
    study.tell(kind.measure(tickets))
    assert study.labels.shape == (N,)
    found = study.verify()
    assert not contradicted(found)
    assert dict(found.assumptions)["method"] == f"melk, rule {PATH}, {kind.options['confidence']} confidence, seed 7"


def test_it_is_opened_in_another_process_that_is_killed_in_between(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'sea.db'}"
    GREEDY.create(url, rule=RULE, worker="boat")
    begin = f"""
import os, signal
from superlevel.study import Study
study = Study.open({url!r}, {NAME!r}, worker="boat")
tickets = study.ask()
study.tell(tickets.measured([0.5] * len(tickets)))
print([ticket.point for ticket in study.ask()], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = run(begin, path=paths(), check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    asked = json.loads(killed.stdout)
    go_on = f"""
from superlevel.study import Study
study = Study.open({url!r}, {NAME!r}, worker="boat")
tickets = study.ask()
print([ticket.point for ticket in tickets])
study.tell(tickets.measured([0.4] * len(tickets)))
print(study.knowledge.method.rule)
print(study.labels.tolist(), study.verify().ok)
"""
    points, rule, outcome = run(go_on, path=paths()).stdout.splitlines()
    assert json.loads(points) == asked
    assert rule == repr(RULE)
    here = Study.open(url, NAME)
    assert outcome == f"{here.labels.tolist()} {here.verify().ok}"
    assert here.ledger.samples == 8
    calm = GREEDY.create(rule=RULE, worker="boat")
    for value in (0.5, 0.4):
        tickets = calm.ask()
        calm.tell(tickets.measured([value] * len(tickets)))
    np.testing.assert_array_equal(calm.ledger.point, here.ledger.point)
    np.testing.assert_array_equal(calm.labels, here.labels)


MODULE = """
from tests.study.outside import EveryOther

class Mine(EveryOther):
    pass
"""


@pytest.fixture
def orphan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The store of a study with two batches, whose rule's module is gone."""
    folder, url = tmp_path / "plugins", f"sqlite:///{tmp_path / 'sea.db'}"
    folder.mkdir()
    (folder / "my_rules.py").write_text(MODULE, encoding="utf-8")
    with monkeypatch.context() as there:
        there.syspath_prepend(str(folder))
        import my_rules  # type: ignore[import-not-found]

        GREEDY.run(GREEDY.create(url, rule=my_rules.Mine(stride=5)), 2)
    monkeypatch.delitem(sys.modules, "my_rules")
    (folder / "my_rules.py").unlink()
    return url


def test_without_its_module_the_log_can_be_read_and_results_can_be_told(orphan: str) -> None:
    study = Study.open(orphan, NAME, worker="ada")
    assert study.ledger.samples == 8
    assert len(study.log()) == 5
    assert study.ledger.created.rule == {"name": "my_rules:Mine", "stride": 5, "label": "plain", "backwards": False}
    quick = study.status(fresh=False)
    assert (quick.measurements, quick.fresh, quick.read) == (8, False, 3)
    receipt = study.tell([Result(point=0, value=float(TRUTH[0]))])
    assert receipt.stored == 1
    assert Study.open(orphan, NAME).ledger.samples == 9


@pytest.mark.parametrize("act", ["labels", "ask", "status", "verify", "campaign", "close"])
def test_without_its_module_the_first_use_of_the_method_names_the_rule_and_what_to_do(orphan: str, act: str) -> None:
    study = Study.open(orphan, NAME, worker="ada")
    before = study.ledger.length
    with pytest.raises(InputError) as caught:
        getattr(study, act) if act == "labels" else getattr(study, act)()
    said = str(caught.value)
    assert said == (
        "rule is my_rules:Mine: this study's rule cannot be loaded (No module named 'my_rules'): install the package "
        "that has it, or put it on PYTHONPATH"
    )
    assert Study.open(orphan, NAME).ledger.length == before


def test_with_its_module_on_the_path_again_the_study_goes_on(orphan: str, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    code = f"""
from superlevel.study import Study
study = Study.open({orphan!r}, {NAME!r}, worker="ada")
print(len(study.labels), len(study.ask()), study.verify().ok)
"""
    failed = run(code, path=paths(folder), check=False)
    assert failed.returncode == 1
    assert "put it on PYTHONPATH" in failed.stderr
    (folder / "my_rules.py").write_text(MODULE, encoding="utf-8")
    assert run(code, path=paths(folder)).stdout.split() == [str(N), "4", "True"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Mine = 5", "it is not a class that derives from superlevel.rules.Rule"),
        ("", "has no attribute 'Mine'"),
        ("class Mine:\n    def __init__(self, **_): pass", "it is not a class that derives from superlevel.rules.Rule"),
        ("def Mine(**_):\n    raise AssertionError", "it is not a class that derives from superlevel.rules.Rule"),
        (
            "from superlevel.rules.chance import Chance\nclass Mine(Chance): pass",
            "unexpected keyword argument 'stride'",
        ),
    ],
)
def test_another_thing_of_that_name_is_not_taken_for_the_rule(
    orphan: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, reason: str
) -> None:
    (tmp_path / "my_rules.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_rules", raising=False)
    try:
        with pytest.raises(InputError, match=re.escape(reason)) as caught:
            Study.open(orphan, NAME).labels.any()
    finally:
        sys.modules.pop("my_rules", None)
    assert str(caught.value).startswith("rule is my_rules:Mine: ")


def test_what_cannot_be_found_again_is_refused_before_anything_is_stored() -> None:
    @dataclass(frozen=True)
    class Local(Rule):
        """Nobody else can import it."""

        def choose(self, view: View) -> Choice:
            raise AssertionError(view)

    storage = Memory()
    for rule, sentence in (
        (Local(), "define the class at the top of a module that can be imported"),
        (Holding(), "rule.places is of type tuple: give text, a number, or True or False"),
        (EveryOther(stride=np.inf), "rule.stride is inf: give a finite number"),  # type: ignore[arg-type]
        ("zigzag", "rule is 'zigzag': melk on the posterior confidence has label"),
        (EveryOther, "rule is of type ABCMeta"),
    ):
        with pytest.raises(InputError, match=re.escape(sentence)):
            GREEDY.create(storage, rule=rule)
    assert storage.names() == []


def test_a_rule_of_a_script_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "survey.py"
    script.write_text(
        "from tests.study.outside import EveryOther\n"
        "from tests.study.campaigns import GREEDY\n"
        "class Mine(EveryOther):\n"
        "    pass\n"
        "GREEDY.create(rule=Mine())\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths()},
        timeout=120,
    )
    assert done.returncode == 1
    assert "rule is __main__:Mine: define the class at the top of a module that can be imported" in done.stderr
