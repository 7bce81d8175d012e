"""A domain that is computed block by block: on a cluster, with a bar, and stopped in the middle."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from superlevel import outputs, passes
from superlevel.cli import STOPPED, waiting
from superlevel.study.kept_blocks import KeptBlocks
from tests.cli.study.terminal import Terminal, read, write
from tests.workers import Started, started

SIDE = 142  # squared, more points than are computed at once
GIVEN = ("--threshold", 0.5, "--kernel", "Matern(15, nu=1.5)", "--noise", 0.05, "--mean", 0)
_FILES: dict[str, bytes] = {}


@pytest.fixture(autouse=True)
def awake() -> Iterator[None]:
    """A shell that starts the tests in the background has them ignore Ctrl-C, and so would every process they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def large(terminal: Terminal) -> Terminal:
    """A study with some measurements, a filled sheet, and nothing in its cache."""
    if not _FILES:
        _create(terminal, SIDE, 60)
        _FILES.update({path.name: path.read_bytes() for path in terminal.folder.iterdir()})
    for name, content in _FILES.items():
        (terminal.folder / name).write_bytes(content)
    return terminal


def _create(terminal: Terminal, side: int, count: int) -> None:
    rows, columns = np.mgrid[:side, :side] / side
    height = np.sin(9 * columns) + np.cos(7 * rows) + columns
    np.save(terminal.folder / "relief.npy", height)
    terminal.study("create", "bay", "--points", "relief.npy", *GIVEN)
    for told in (True, False):
        terminal.study("suggest", "bay", "-n", count, "--csv", "sheet.csv")
        lines = read(terminal.folder / "sheet.csv")
        for line in lines:
            line["value"] = repr(float(height[round(float(line["y"])), round(float(line["x"]))]))
        write(terminal.folder / "sheet.csv", lines)
        if told:
            terminal.study("tell", "bay", "sheet.csv")
    for cache in terminal.folder.glob("*.blocks"):
        cache.unlink()


# --- on a cluster


@pytest.fixture(scope="module")
def pair() -> Iterator[Started]:
    with started(2) as both:
        yield both


def test_labels_from_a_cluster_are_those_from_threads(
    large: Terminal, pair: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = large.study("tell", "bay", "sheet.csv")
    large.study("export", "bay", "--out", "here.csv")
    for name, content in _FILES.items():
        (large.folder / name).write_bytes(content)
    (large.folder / "superlevel.db.bay.blocks").unlink()
    monkeypatch.setattr(passes, "alone", None)  # nobody computes here
    decided = large.study("tell", "bay", "sheet.csv", "--dask", pair.address)
    assert _decided(decided) == _decided(told)
    (large.folder / "superlevel.db.bay.blocks").unlink()
    monkeypatch.setenv("SUPERLEVEL_DASK", pair.address)
    large.study("export", "bay", "--out", "there.csv")
    for one, other in zip(read(large.folder / "here.csv"), read(large.folder / "there.csv"), strict=True):
        assert {**one, "log head": ""} == {**other, "log head": ""}


def _decided(said: str) -> list[str]:
    return [line for line in said.splitlines() if "above" in line]


@pytest.mark.parametrize("verb", ["status", "suggest", "verify"])
def test_an_address_where_nobody_answers_is_a_sentence_with_what_was_typed(
    terminal: Terminal, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal.measured(1)
    ran = terminal("study", verb, "harbour", "--dask", "tcp://127.0.0.1:9")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("superlevel: --dask is 'tcp://127.0.0.1:9': no scheduler answers there within 5 s")
    monkeypatch.setenv("SUPERLEVEL_DASK", "tcp://127.0.0.1:9")
    ran = terminal("study", verb, "harbour")
    assert ran.err.startswith("superlevel: SUPERLEVEL_DASK is 'tcp://127.0.0.1:9': no scheduler answers there")
    assert "no scheduler answers there" in terminal.data("study", verb, "harbour", code=2)["error"]


def test_commands_that_compute_no_labels_have_no_cluster(terminal: Terminal) -> None:
    assert "--dask" not in terminal("study", "create", "--help").out
    assert "--dask" in terminal("study", "report", "--help").out
    terminal.measured(1)
    assert "No such option: --dask" in terminal("study", "list", "--dask", "tcp://127.0.0.1:9").err


# --- a bar


def test_a_pass_that_takes_long_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([0.0, 1.0, 2.5, 3.0, 4.0, 10.0, 10.1])
    monkeypatch.setattr(time, "monotonic", lambda: next(moments))
    progress = Progress(TextColumn("{task.description}"), BarColumn(), console=Console(file=io.StringIO()))
    bar = waiting.PassBar(progress, "blocks")
    seen = []
    for done, total in [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4), (0, 2), (1, 2)]:
        bar(done, total)
        (task,) = progress.tasks
        seen.append((task.visible, task.completed, task.total))
    assert seen == [
        (False, 0, 4),
        (False, 1, 4),
        (True, 2, 4),
        (True, 3, 4),
        (False, 4, 4),
        (False, 0, 2),
        (False, 1, 2),
    ]


def test_nothing_is_shown_where_there_is_no_terminal(large: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "SOON", 0.0)
    ran = large("study", "status", "bay", "--fresh", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert "left:" not in ran.out


# --- a cache that cannot be used


@pytest.mark.filterwarnings("always::superlevel.errors.CacheWarning")
def test_a_cut_cache_is_a_sentence_and_changes_nothing(large: Terminal) -> None:
    before = large("study", "status", "bay", "--fresh")
    path = large.folder / "superlevel.db.bay.blocks"
    path.write_bytes(path.read_bytes()[:1000])
    after = large("study", "status", "bay", "--fresh")
    assert (after.code, after.out) == (0, before.out)
    (said,) = after.err.splitlines()
    assert said.startswith("superlevel: ")
    assert said.endswith("it is a cache, and everything is computed again")


# --- Ctrl-C

COMMANDS: dict[str, tuple[object, ...]] = {
    "suggest": ("suggest", "bay", "-n", 70, "--csv", "out.csv"),
    "tell": ("tell", "bay", "sheet.csv"),
    "plot": ("plot", "bay", "--out", "out.png"),
    "report": ("report", "bay", "--out", "out.html"),
    "export": ("export", "bay", "--out", "out.csv"),
    "certificate": ("certificate", "bay", "--out", "out.json"),
    "close": ("close", "bay"),
}
BLOCK, CACHE, FILE = "a block", "the cache", "the file"


@pytest.mark.parametrize(
    ("verb", "moment"),
    [*((verb, BLOCK) for verb in COMMANDS), ("close", CACHE), ("export", CACHE), ("suggest", FILE), ("report", FILE)],
)
def test_ctrl_c_leaves_nothing_half_written(
    large: Terminal, verb: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _stop_at(moment, monkeypatch)
    before = set(large.folder.iterdir())
    ran = large("study", *COMMANDS[verb])
    monkeypatch.undo()
    monkeypatch.chdir(large.folder)
    assert ran.code == STOPPED
    assert len(ran.err.splitlines()) == 1
    assert "stopped: " in ran.err
    left = {path.name for path in set(large.folder.iterdir()) - before}
    assert left <= {"superlevel.db.bay.blocks"}
    assert large("study", "verify", "bay").code == 0
    assert large("study", *COMMANDS[verb]).code == 0


def _stop_at(moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Press Ctrl-C in the middle of a pass, before its results are cached, or when an output takes its place."""
    if moment == BLOCK:
        monkeypatch.setattr(waiting, "PassBar", lambda *_: _pressing)
    elif moment == CACHE:
        monkeypatch.setattr(KeptBlocks, "_write", lambda *_: _press())
    else:
        check = outputs.check

        def checked(*given: Any, new: Path | None = None, **more: Any) -> Path:
            if new is not None:
                _press()
            return check(*given, new=new, **more)

        monkeypatch.setattr(outputs, "check", checked)


def _pressing(done: int, total: int) -> None:
    """As a bar that is told how far a pass is."""
    if done == total // 2:
        _press()


def _press() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["suggest", "tell", "report", "export"])
def test_ctrl_c_at_many_moments_ends_a_process_at_once(terminal: Terminal, verb: str) -> None:
    _create(terminal, 224, 400)
    files = {path: path.read_bytes() for path in terminal.folder.iterdir()}
    for moment in np.linspace(0.1, 4.0, 8):
        for path in terminal.folder.iterdir():
            path.unlink()
        for path, content in files.items():
            path.write_bytes(content)
        child = _started("study", *COMMANDS[verb])
        try:
            child.wait(timeout=moment)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=10)
        assert "Traceback" not in said
        if child.returncode == STOPPED:
            assert "stopped: " in said
            left = {path.name for path in set(terminal.folder.iterdir()) - set(files)}
            assert left <= {"superlevel.db.bay.blocks"}
        assert terminal("study", "verify", "bay").code == 0


def _started(*arguments: object) -> subprocess.Popen[str]:
    """A command in a process of its own, which has imported what it needs to understand Ctrl-C."""
    code = "from superlevel.cli import main\nprint('here', flush=True)\nmain()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "here\n"
    return child


@pytest.mark.slow
def test_a_worker_that_is_killed_while_a_study_computes_changes_nothing(terminal: Terminal) -> None:
    _create(terminal, 300, 300)
    (terminal.folder / "superlevel.db-copy").write_bytes((terminal.folder / "superlevel.db").read_bytes())
    told = terminal.study("tell", "bay", "sheet.csv")
    terminal.study("export", "bay", "--out", "here.csv")
    for seconds in (1.0, 2.0, 3.0):
        (terminal.folder / "superlevel.db.bay.blocks").unlink()
        (terminal.folder / "superlevel.db").write_bytes((terminal.folder / "superlevel.db-copy").read_bytes())
        with started(2) as both:
            child = _started("study", "tell", "bay", "sheet.csv", "--dask", both.address)
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(timeout=seconds)
            both.workers[0].kill()
            said, _ = child.communicate(timeout=120)
        assert child.returncode == 0
        assert _decided(said) == _decided(told)
        terminal.study("export", "bay", "--out", "there.csv")
        for one, other in zip(read(terminal.folder / "here.csv"), read(terminal.folder / "there.csv"), strict=True):
            assert {**one, "log head": ""} == {**other, "log head": ""}
