"""The command line as a person has it, in this process: what is typed, what is printed where, and the exit code."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from superlevel.cli import main

SIDE = np.linspace(0.0, 2.0, 6)
GIVEN = ("--threshold", 20, "--noise", 0.3, "--kernel", "9 * RBF(0.7)", "--mean", 20)
"""What is assumed of `depth`, and true of it."""


_MADE: dict[int, dict[str, bytes]] = {}
"""Files of a folder after some batches."""


class Ran(NamedTuple):
    """What came of a command."""

    code: int
    out: str
    err: str


class Terminal:
    """Runs commands in a folder of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        monkeypatch.chdir(folder)
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.delenv("SUPERLEVEL_STORE", raising=False)

    def __call__(self, *arguments: object, given: bytes = b"") -> Ran:
        self._monkeypatch.setattr(sys, "argv", ["superlevel", *map(str, arguments)])
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        self.shown()
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        assert code is None or isinstance(code, int)
        return Ran(code or 0, *self.shown())

    def shown(self) -> tuple[str, str]:
        """What was printed since the last time: stdout and stderr."""
        out, err = self._capsys.readouterr()
        return out, err

    def study(self, *arguments: object, given: bytes = b"") -> str:
        """What a verb prints, when all goes well."""
        ran = self("study", *arguments, given=given)
        assert ran.code == 0, ran.err
        return ran.out

    def data(self, *arguments: object, code: int = 0) -> Any:
        """The one JSON document on stdout."""
        ran = self(*arguments, "--json")
        assert ran.code == code, ran.err
        return json.loads(ran.out)

    def created(self, name: str = "harbour", *options: object) -> str:
        """A study of the harbour, and its name."""
        write_points(self.folder / "points.csv")
        self.study("create", name, "--points", "points.csv", *(options or GIVEN))
        return name

    def measured(self, batches: int = 1) -> Terminal:
        """With the study of the harbour after some batches: made once for a number of them, and then copied."""
        if batches not in _MADE:
            self.created()
            for _ in range(batches):
                self.batch()
            _MADE[batches] = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        for name, content in _MADE[batches].items():
            (self.folder / name).write_bytes(content)
        return self

    def entries(self, store: str = "superlevel.db") -> int:
        """How many there are in the logs of a store."""
        with closing(sqlite3.connect(self.folder / store)) as connection:
            (count,) = connection.execute("SELECT count(*) FROM entries").fetchone()
            return int(count)

    def batch(self, name: str = "harbour", *, options: tuple[object, ...] = ()) -> str:
        """Suggest, measure and tell; what `tell` prints."""
        self.study("suggest", name, "--csv", "sheet.csv", *options)
        fill(self.folder / "sheet.csv")
        return self.study("tell", name, "sheet.csv", *options)


def depth(east: float, north: float) -> float:
    """What there is to be found out."""
    return float(20.7 + 3 * np.sin(2 * east + 0.5) * np.cos(1.5 * north))


def write_points(path: Path) -> None:
    rows = [f"{float(east)!r},{float(north)!r}\n" for east in SIDE for north in SIDE]
    path.write_text("east,north\n" + "".join(rows))


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def fill(path: Path, noise: float = 0.3) -> None:
    """Measure what a sheet asks for."""
    rows = read(path)
    errors = np.random.default_rng(int(rows[0]["ticket"])).normal(scale=noise, size=len(rows))
    for row, error in zip(rows, errors.tolist(), strict=True):
        row["value"] = repr(depth(float(row["east"]), float(row["north"])) + error)
    write(path, rows)


def tampered(path: Path, kind: str, change: Callable[[str], str]) -> None:
    """Change the first entry of some kind behind the back of the library."""
    with closing(sqlite3.connect(path)) as connection, connection:
        found = connection.execute("SELECT rowid, payload FROM entries WHERE kind = ? ORDER BY rowid", (kind,))
        row, payload = found.fetchone()
        assert change(payload) != payload
        connection.execute("UPDATE entries SET payload = ? WHERE rowid = ?", (change(payload), row))


def start(*arguments: object) -> subprocess.Popen[str]:
    """A command in a process of its own, which at its end says on stderr what was imported."""
    code = (
        "import sys\nfrom superlevel.cli import main\n"
        "try:\n    main()\nfinally:\n    print(sorted({m.split('.')[0] for m in sys.modules}), file=sys.stderr)"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},  # absolute: this folder is not that of the project
    )


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(tmp_path, monkeypatch, capsys)
