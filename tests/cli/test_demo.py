from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from typer.testing import CliRunner, Result

from superlevel import demo
from superlevel.cli import app
from superlevel.study import Study

FEW = ("--pings", "80", "--batch", "10")


def superlevel(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "superlevel", *arguments], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sixth row and column of the map."""
    small = demo.load(stride=6)
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
    assert "--pings" in shown


@pytest.mark.usefixtures("coarse")
def test_demo_writes_a_picture_and_studies_that_can_be_asked(tmp_path: Path) -> None:
    picture = tmp_path / "new folder" / "demo.png"
    ran = run("--out", str(picture), *FEW)
    assert ran.exit_code == 0, ran.output
    assert "land is left out" in ran.stdout
    assert "mislabelled" in ran.stdout
    with Image.open(picture) as image:
        assert image.width > image.height > 300
        assert np.asarray(image.convert("L")).std() > 0
    store = f"sqlite:///{picture.with_suffix('.db')}"
    assert f"superlevel study verify sea-melk-batch10 --store '{store}'" in ran.stdout
    for method in ("melk", "lse", "uniform"):
        assert Study.open(store, f"sea-{method}-batch10").ledger.samples == 80


@pytest.mark.usefixtures("coarse", "undrawn")
def test_the_table_has_every_method_at_a_few_counts(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'kept.db'}"
    ran = run("--out", str(tmp_path / "demo.svg"), "--store", store, "--pings", "120", "--batch", "10")
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in ran.stdout.splitlines() if "│" in line]
    assert [(row[0], row[1]) for row in cells] == [
        (pings, label) for pings in ("60", "90", "120") for label in ("MELK", "LSE", "uniform")
    ]
    records = demo.run(demo.load(), demo.Survey(pings=120, batch=10), store)
    for row, record in zip(cells[-3:], records, strict=True):
        last = record.scores[-1]
        assert [int(cell) for cell in row[2:]] == [last.mislabelled, last.undecided, last.declared, last.wrong]


@pytest.mark.usefixtures("coarse", "undrawn")
def test_a_second_run_says_the_same_and_a_stopped_one_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = tmp_path / "demo.png"

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(demo, "run", stopped)
        ran = run("--out", str(picture), *FEW)
    assert ran.exit_code == 130
    assert ran.stdout.splitlines()[-1] == (
        f"stopped: every batch is kept in sqlite:///{tmp_path / 'demo.db'}, and the same command goes on from there"
    )
    assert not picture.exists()
    first = run("--out", str(picture), *FEW)
    second = run("--out", str(picture), *FEW)
    assert first.exit_code == second.exit_code == 0
    assert second.stdout == first.stdout
    assert picture.exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--noise", "-1"], "noise is -1.0: give a number > 0"),
        (["--batch", "0"], "batch is 0: give a whole number >= 1"),
        (["--depth", "2000"], "depth is 2000.0: the sea is 1 to 1,437 m deep here: give something between"),
        (["--pings", "390"], "pings is 390: give the 60 of the pilot and a multiple of the batch, 20: 380 or 400"),
        (["--store", "memory:"], "--store is 'memory:': it is gone when the command ends: give a file, as sqlite:///"),
        (["--store", "demo.db"], "store is 'demo.db': give a URL such as 'sqlite:///"),
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
