"""`superlevel doctor` on damaged stores: it says what is wrong, saves what can be read, and never raises."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import superlevel as sl
from superlevel.study import Study
from tests.cli.study.terminal import Terminal, terminal  # noqa: F401
from tests.study.damages import ALL, damaged
from tests.study.stress import measure, problem

FEW, MANY = 2 * len(ALL), 500


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two studies in one file."""
    path = tmp_path_factory.mktemp("sound") / "sound.db"
    for name in ("harbour", "quay"):
        study = sl.Study.create(f"sqlite:///{path}", name, problem(), batch=5, worker="boat")
        for _ in range(4):
            tickets = study.ask()
            study.tell(tickets.measured([measure(ticket.number, ticket.point) for ticket in tickets]))
        study.ask()
        study._storage.close()
    return path


def examined(terminal: Terminal, sound: Path, seed: int) -> None:  # noqa: F811
    """Send one damaged store through everything, and look at what was saved."""
    path, new = terminal.folder / "survey.db", terminal.folder / f"new-{seed}.db"
    damage = damaged(sound, path, seed)
    said = terminal("doctor", "--store", f"sqlite:///{path}")
    assert said.code in (0, 1), (seed, damage, said)
    ran = terminal("doctor", "--store", f"sqlite:///{path}", "--rescue", f"sqlite:///{new}")
    assert ran.code == said.code, (seed, damage, ran)
    assert "rescue" in ran.out, (seed, damage, ran)
    if not new.exists():
        return
    for name in saved(new):
        study = Study.open(f"sqlite:///{new}", name)
        assert study.ledger.length >= 1
        assert isinstance(study.verify().ok, bool)
    new.unlink()


def saved(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [name for (name,) in connection.execute("SELECT name FROM studies")]


def test_doctor_says_what_is_wrong_with_a_damaged_store_and_saves_what_can_be_read(
    terminal: Terminal,  # noqa: F811
    sound: Path,
) -> None:
    for seed in range(FEW):
        examined(terminal, sound, seed)


@pytest.mark.slow
def test_doctor_says_what_is_wrong_with_500_damaged_stores(terminal: Terminal, sound: Path) -> None:  # noqa: F811
    for seed in range(MANY):
        examined(terminal, sound, seed)
