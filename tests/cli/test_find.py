"""`superlevel find`: a program's settings, searched from the command line."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import superlevel as sl
from superlevel.cli import app
from superlevel.cli.find import as_box
from superlevel.study.ledger import Fate

BOX = ("--box", "x=-1:1", "--box", "dose=0.01:1:log", "--box", "passes=1:3:int", "--box", "metal=steel,copper")
GOAL = ("--threshold", "0.5", "--noise", "0", "--count", "64")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program that notes its calls, and fails where x is large."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SUPERLEVEL_STORE", raising=False)
    script = tmp_path / "simulate"
    script.write_text(
        f"""#!{sys.executable} -SE
import math, sys
x, dose, passes = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
with open("calls", "a") as file:
    print(*sys.argv[1:], file=file)
if x > 0.9:
    sys.exit("no convergence")
print("yield in g:", math.exp(-x * x) + math.log10(dose) / 10 + passes / 10 + 0.1 * (sys.argv[4] == "steel"))
"""
    )
    script.chmod(0o755)
    return tmp_path


def find(*arguments: str) -> Result:
    command = ["find", "--command", "./simulate {x} {dose} {passes} {metal}", *arguments]
    return CliRunner().invoke(app, command, catch_exceptions=False)


def yielded(x: float, dose: float, passes: int, metal: str) -> float:
    return math.exp(-x * x) + math.log10(dose) / 10 + passes / 10 + 0.1 * (metal == "steel")


def measurements(store: Path) -> list[tuple[int, int, float]]:
    ledger = sl.Study.open(f"sqlite:///{store}", "find").ledger
    values = [None if math.isnan(value) else value for value in ledger.value.tolist()]
    return list(zip(ledger.point.tolist(), ledger.fate.tolist(), values, strict=True))  # type: ignore[arg-type]


def test_a_program_is_searched_and_the_study_can_be_asked(work: Path) -> None:
    found = find(*BOX, *GOAL, "--budget", "30")
    assert found.exit_code == 0
    assert "which of 64 points are above 0.5" in found.output
    study = sl.Study.open(f"sqlite:///{work}/superlevel.db", "find")
    ledger = study.ledger
    lines = (work / "calls").read_text().splitlines()
    assert len(lines) == 30 == len(ledger.point)
    for line, point, fate, value in zip(lines, ledger.point, ledger.fate, ledger.value, strict=True):
        x, dose, passes, metal = line.split()
        assert ledger.cells(int(point)) == (float(x), float(dose), int(passes), metal)
        if fate == Fate.MEASURED:
            assert value == yielded(float(x), float(dose), int(passes), metal)
        else:
            assert float(x) > 0.9
    failed = [int(at) + 1 for at in (ledger.fate == Fate.FAILED).nonzero()[0]]
    assert all(ledger.reasons[ticket] == "exit code 1: no convergence" for ticket in failed)
    right = [yielded(*ledger.cells(k)) > 0.5 for k in range(64)]  # type: ignore[arg-type]
    guess = study.knowledge.method.guess(study.knowledge.state)
    assert sum(a == (b > 0) for a, b in zip(right, guess, strict=True)) >= 58
    sheet = CliRunner().invoke(app, ["study", "export", "find", "--what", "measurements", "--out", "m.csv"])
    assert sheet.exit_code == 0
    assert (work / "m.csv").read_text().splitlines()[1].split(",")[4] in {"steel", "copper"}


def test_killed_in_the_middle_it_goes_on_with_the_same_measurements(work: Path) -> None:
    arguments = [*BOX, *GOAL, "--budget", "27", "--store", "sqlite:///killed.db"]
    command = ["find", "--command", "./simulate {x} {dose} {passes} {metal}", *arguments]
    for calls in (12,):
        process = subprocess.Popen(
            [sys.executable, "-m", "superlevel", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + 60
        while time.monotonic() < until and process.poll() is None:
            if (work / "calls").exists() and len((work / "calls").read_text().splitlines()) >= calls:
                break
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert len(measurements(work / "killed.db")) < 27
    assert find(*arguments).exit_code == 0
    assert find(*BOX, *GOAL, "--budget", "27", "--store", "sqlite:///whole.db").exit_code == 0
    assert measurements(work / "killed.db") == measurements(work / "whole.db")
    assert sl.Study.open("sqlite:///killed.db", "find").verify().ok


def started(budget: int) -> subprocess.Popen[bytes]:
    """A search in a process of its own, of a program that takes a moment."""
    arguments = [*BOX, *GOAL, "--budget", str(budget), "--batch", "3", "--store", "sqlite:///shared.db"]
    command = [sys.executable, "-m", "superlevel", "find", "--command", "./simulate {x} {dose} {passes} {metal}"]
    return subprocess.Popen([*command, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def called(work: Path) -> list[str]:
    return (work / "calls").read_text().splitlines() if (work / "calls").exists() else []


def wait_for(work: Path, count: int) -> None:
    until = time.monotonic() + 120
    while len(called(work)) < count and time.monotonic() < until:
        time.sleep(0.01)


def ended(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        _, complaints = process.communicate(timeout=300)
        assert process.returncode == 0, complaints.decode()


def places(study: sl.Study) -> list[str]:
    """What the program got for each ticket that was called, in the order of their arguments."""
    ledger = study.ledger
    return [" ".join(map(str, ledger.cells(int(point)))) for point in ledger.point[ledger.fate != Fate.OPEN]]


@pytest.fixture
def slow(work: Path) -> Path:
    """The folder of a program that takes a tenth of a second."""
    script = work / "simulate"
    script.write_text(script.read_text().replace("import math, sys", "import math, sys, time; time.sleep(0.1)"))
    return work


def test_two_processes_share_the_budget_and_no_ticket(slow: Path) -> None:
    ended([started(30), started(30)])
    study = sl.Study.open("sqlite:///shared.db", "find")
    assert sorted(called(slow)) == sorted(places(study))
    assert len(called(slow)) == 30
    workers = {json.loads(entry.payload)["worker"] for entry in study.log() if entry.kind == "told"}
    assert workers == {"find", "find 2"}
    assert study.verify().ok
    assert not list(slow.glob("*-seat-*"))


@pytest.mark.parametrize("again", [True, False], ids=["started again", "not started again"])
def test_one_of_two_is_killed_and_the_budget_is_used_all_the_same(slow: Path, again: bool) -> None:
    """Its open tickets are not lost for the day of their leases. Only the call that was killed may be made twice."""
    processes = [started(30), started(30)]
    wait_for(slow, 8)
    victim = processes.pop(0)
    victim.kill()
    victim.communicate()
    ended([*processes, *([started(30)] if again else [])])
    study = sl.Study.open("sqlite:///shared.db", "find")
    assert len(places(study)) == 30
    assert set(called(slow)) == set(places(study))
    assert 30 <= len(called(slow)) <= 31
    assert study.verify().ok


def test_another_command_under_the_same_name_is_refused_unless_it_is_meant(work: Path) -> None:
    assert find(*BOX, *GOAL, "--budget", "3").exit_code == 0
    (work / "other").write_text((work / "simulate").read_text())
    (work / "other").chmod(0o755)
    command = ["find", "--command", "./other {x} {dose} {passes} {metal}", *BOX, *GOAL, "--budget", "5"]
    with pytest.raises(sl.InputError, match="--changed-command") as raised:
        CliRunner().invoke(app, command, catch_exceptions=False)
    assert str(raised.value).startswith("--name is 'find', ")
    for words in ("'./simulate {x} {dose} {passes} {metal}'", "'./other {x} {dose} {passes} {metal}'"):
        assert words in str(raised.value)
    assert len(called(work)) == 3
    assert CliRunner().invoke(app, [*command, "--changed-command"], catch_exceptions=False).exit_code == 0
    assert CliRunner().invoke(app, command, catch_exceptions=False).exit_code == 0
    study = sl.Study.open("sqlite:///superlevel.db", "find")
    assert [entry.kind for entry in study.log()].count("program") == 2
    assert study.ledger.program == "./other {x} {dose} {passes} {metal}"


def test_json_has_the_status(work: Path) -> None:  # noqa: ARG001
    shown = json.loads(find(*BOX, *GOAL, "--budget", "3", "--json").stdout)
    assert shown["ended"] == "the budget is used"


def test_several_jobs_find_what_one_finds(work: Path) -> None:
    for jobs in ("1", "3"):
        arguments = ("--budget", "15", "--batch", "5", "--jobs", jobs, "--store", f"sqlite:///{jobs}.db")
        assert find(*BOX, *GOAL, *arguments).exit_code == 0
    assert measurements(work / "1.db") == measurements(work / "3.db")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((*BOX[:6], "--box", "metal=steel", "--threshold", "1", "--box", "x=0:1"), "--box is 'x' again"),
        (("--box", "x=1:-1", "--threshold", "1"), "--box is 'x=1:-1': high is -1.0: give a number > 1"),
        (("--box", "x", "--threshold", "1"), "--box is 'x': give NAME=LOW:HIGH"),
        (("--box", "x=0:1:cubic", "--threshold", "1"), "what follows the limits is 'cubic'"),
        (("--box", "x=0,5:1", "--threshold", "1"), "low is '0,5'"),
        (("--box", "x=1.5:3:int", "--threshold", "1"), "low is 1.5: give a whole number"),
        (("--box", "x=0:3:log", "--threshold", "1"), "low is 0.0: give a number > 0"),
        (("--box", "x=a,,b", "--threshold", "1"), "give each choice a name"),
        (("--box", "x=0:1", "--threshold", "1"), "--command is one with {dose}"),
        ((*BOX, "--box", "ph=2:9", "--threshold", "1"), "--command is one without {ph}"),
        (BOX, "--threshold is missing"),
        ((*BOX, "--threshold", "1", "--budget", "0"), "--budget is 0"),
        ((*BOX, "--threshold", "1", "--count", "0"), "--count is 0"),
        ((*BOX, "--threshold", "1", "--timeout", "0"), "--timeout is 0"),
        ((*BOX, "--threshold", "1", "--noise", "much"), "--noise is 'much'"),
        ((*BOX, "--threshold", "1", "--noise", "-1"), "--noise is -1"),
    ],
)
def test_mistakes_name_the_option_and_nothing_is_stored(work: Path, arguments: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(sl.InputError) as raised:
        find(*arguments)
    assert sentence in str(raised.value)
    assert not (work / "superlevel.db").exists()
    assert not (work / "calls").exists()


def test_a_program_that_always_fails_is_named(work: Path) -> None:
    (work / "simulate").write_text("#!/bin/sh\nexit 4\n")
    with pytest.raises(sl.InputError, match=r"--command is one that failed in each of 10 calls, .*'exit code 4'"):
        find(*BOX, *GOAL)


def test_a_box_is_read_from_its_words() -> None:
    box: dict[str, Any] = as_box(["t = 20:80", "dose=1e-3:1:log", "n=1:8:int", "metal=steel, copper", "one=yes"])
    assert box == {
        "t": sl.Range(20, 80),
        "dose": sl.Log(1e-3, 1),
        "n": sl.Integers(1, 8),
        "metal": sl.Choice("steel", "copper"),
        "one": sl.Choice("yes"),
    }


def test_help_teaches() -> None:
    shown = CliRunner().invoke(app, ["find", "--help"], env={"COLUMNS": "200"}).output
    for word in ("Example: superlevel find --command", "temperature=20:80", "No shell is involved", "goes on"):
        assert word in " ".join(shown.split())
