from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from typer.testing import CliRunner, Result

from superlevel import Threshold, demo
from superlevel.cli import app
from superlevel.study import Study

FEW = ("--measurements", "100", "--batch", "20")
NAME = "hills-measurements100-batch20"


def superlevel(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "superlevel", *arguments], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every 28th row and column of the elevations."""
    small = demo.load(stride=28)
    monkeypatch.setattr(demo, "load", lambda: small)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty picture, which is much quicker."""
    monkeypatch.setattr(demo, "drawn", lambda *_: Figure(figsize=(1, 1)))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["demo", *arguments])


def test_help_teaches_and_imports_nothing_slow() -> None:
    code = "import sys, superlevel.cli; print(sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert not any(f"'{slow}'" in loaded for slow in ("scipy", "sklearn", "matplotlib", "pandas", "sqlalchemy"))
    shown = superlevel("demo", "--help").stdout
    assert "Example: superlevel demo" in shown
    assert "--measurements" in shown


def rows(text: str) -> list[list[int]]:
    """The numbers of the table."""
    cells = [line.split("│")[1:-1] for line in text.splitlines() if "│" in line]
    return [[int(cell.replace(",", "")) for cell in row] for row in cells]


@pytest.mark.usefixtures("coarse")
def test_demo_writes_a_picture_and_a_study_that_can_be_asked(tmp_path: Path) -> None:
    picture = tmp_path / "new folder" / "demo.png"
    ran = run("--out", str(picture), *FEW)
    assert ran.exit_code == 0, ran.output
    with Image.open(picture) as image:
        assert image.width > image.height > 300
        assert np.asarray(image.convert("L")).std() > 0
    store = f"sqlite:///{picture.with_suffix('.db')}"
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("Where is the ground above 600 m? 195 cells")
    commands = [f"  superlevel study {verb} {NAME} --store '{store}'" for verb in ("status", "verify", "report")]
    assert lines[-3:] == commands
    for verb in ("status", "verify"):
        shown = CliRunner().invoke(app, ["study", verb, NAME, "--store", store])
        assert shown.exit_code == 0, shown.output
    assert Study.open(store, NAME).ledger.samples == 200


@pytest.mark.usefixtures("coarse", "undrawn")
def test_the_words_are_those_of_the_study(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'kept.db'}"
    ran = run("--out", str(tmp_path / "demo.svg"), "--store", store, *FEW)
    hills, survey = demo.load(), demo.Survey(measurements=100, batch=20)
    record = demo.read(Study.open(store, NAME), hills, survey)
    assert rows(ran.stdout) == [
        [score.measurements, score.declared, score.wrong, score.mislabelled] for score in record.scores
    ]
    assert record.last.declared > 0
    for sentence in (*demo.said(hills, survey), *demo.found(record)):
        assert sentence in ran.stdout.splitlines()
    # The status beside it has the same counts, until somebody computes them with the measurements of the audit.
    status = CliRunner().invoke(app, ["study", "status", NAME, "--store", store]).stdout
    above, below = (record.labels > 0).sum(), (record.labels < 0).sum()
    assert f"{above} above, {195 - above - below} undecided, {below} below" in status


@pytest.mark.usefixtures("coarse", "undrawn")
def test_a_second_run_says_the_same_and_a_stopped_one_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = tmp_path / "demo.png"

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for part in ("run", "read"):
        with monkeypatch.context() as patched:
            patched.setattr(demo, part, stopped)
            ran = run("--out", str(picture), *FEW)
        assert ran.exit_code == 130
        assert ran.stdout.splitlines()[-1] == (
            f"stopped: every batch is kept in sqlite:///{tmp_path / 'demo.db'}, and the same command goes on from there"
        )
        assert not picture.exists()
    first = run("--out", str(picture), *FEW)
    head = Study.open(f"sqlite:///{tmp_path / 'demo.db'}", NAME).ledger.head
    second = run("--out", str(picture), *FEW)
    assert first.exit_code == second.exit_code == 0
    assert second.stdout == first.stdout
    assert picture.exists()
    assert Study.open(f"sqlite:///{tmp_path / 'demo.db'}", NAME).ledger.head == head


@pytest.mark.usefixtures("coarse", "undrawn")
def test_options_reach_the_study(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'kept.db'}"
    few = ("--measurements", "35", "--batch", "15", "--level", "500", "--noise", "20", "--seed", "2")
    ran = run("--out", str(tmp_path / "demo.pdf"), "--store", store, *few)
    assert ran.exit_code == 0, ran.output
    ledger = Study.open(store, "hills-level500-noise20-measurements35-batch15-seed2").ledger
    assert (ledger.samples, ledger.created.batch, ledger.created.seed) == (35, 15, 2)
    assert ledger.goal == Threshold(500.0)
    assert "Nothing is declared yet" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--noise", "-1"], "--noise is -1.0: give a number > 0"),
        (["--batch", "0"], "--batch is 0: give a whole number >= 1"),
        (["--seed", "-1"], "--seed is -1: give a whole number >= 0"),
        (["--level", "2000"], "--level is 2000.0: the ground is 251 to 1,028 m high here: give a number between"),
        (
            ["--measurements", "295"],
            "--measurements is 295: give the 20 of the pilot and a multiple of the batch, 10: 290 or 300",
        ),
        (["--store", "memory:"], "--store is 'memory:': it is gone when the command ends: give a file, as sqlite:///"),
        (["--store", "demo.db"], "--store is '***': give a URL such as 'sqlite:///"),
        (["--out", "picture.gif"], "--out is 'picture.gif': end it in .png or .pdf or .svg"),
        (
            ["--out", "/dev/null/picture.png"],
            "--out is '/dev/null/picture.png': its folder cannot be made (File exists)",
        ),
    ],
)
def test_a_mistake_is_one_sentence(arguments: list[str], sentence: str, tmp_path: Path) -> None:
    ran = run("--out", str(tmp_path / "demo.png"), *arguments)
    assert str(ran.exception).startswith(sentence)
    assert ran.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_mistake_has_exit_code_2() -> None:
    ran = superlevel("demo", "--out", "picture.gif")
    assert ran.returncode == 2
    assert ran.stderr == "superlevel: --out is 'picture.gif': end it in .png or .pdf or .svg\n"
    assert ran.stdout == ""
