"""Files that were cut short or overwritten: they open with the right answer, or are refused with a way out."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import superlevel as sl
from superlevel.study.ledger import Ledger, fold
from superlevel.study.rescue import rescue
from superlevel.study.storage import Memory, StorageError, open_storage
from superlevel.study.storage.sql import Sql
from tests.study.stress import measure, problem


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of some pages, closed, so that everything is in one file."""
    path = tmp_path_factory.mktemp("damage") / "survey.db"
    study = sl.Study.create(f"sqlite:///{path}", "harbour", problem(), batch=5, worker="boat")
    for _ in range(30):
        tickets = study.ask()
        study.tell(tickets.measured([measure(ticket.number, ticket.point) for ticket in tickets]))
    study._storage.close()
    assert not list(path.parent.glob("*-wal"))
    return path


def is_beginning(part: Ledger, whole: Ledger) -> bool:
    """Whether one log is how the other began."""
    count = len(part.point)
    told = part.told > 0
    return bool(
        part.length <= whole.length
        and np.array_equal(part.point, whole.point[:count])
        and np.array_equal(part.value[told], whole.value[:count][told], equal_nan=True)
    )


def opened(path: Path) -> Ledger | None:
    """The log, or None where it is refused with a sentence that names a way out."""
    try:
        return sl.Study.open(f"sqlite:///{path}", "harbour").ledger
    except (StorageError, sl.InputError) as error:
        said = str(error)
    assert any(word in said for word in ("rescue", "copy", "create")), said
    return None


CUTS = [1, 7, 100, 511, 512, 1024, 4095, 4096, 4097, 8192, 12288, 20000, 40000]


@pytest.mark.parametrize("cut", [*CUTS, -1, -100, -4096, 0.5, 0.9])
def test_a_file_that_was_cut_short_is_refused_or_gives_what_was_written(
    intact: Path, tmp_path: Path, cut: float
) -> None:
    path = tmp_path / "survey.db"
    shutil.copy(intact, path)
    size = path.stat().st_size
    left = int(size * cut) if 0 < cut < 1 else size - int(cut) if cut > 0 else int(-cut)
    with path.open("r+b") as file:
        file.truncate(max(0, left))
    whole = sl.Study.open(f"sqlite:///{intact}", "harbour").ledger
    found = opened(path)
    assert found is None or is_beginning(found, whole)


@pytest.mark.parametrize("seed", range(25))
def test_a_file_with_bytes_overwritten_is_refused_or_gives_what_was_written(
    intact: Path, tmp_path: Path, seed: int
) -> None:
    path = tmp_path / "survey.db"
    rng = np.random.default_rng(seed)
    data = bytearray(intact.read_bytes())
    start = int(rng.integers(len(data)))
    length = int(rng.choice([1, 8, 64, 512, 4096]))
    data[start : start + length] = rng.bytes(len(data[start : start + length]))
    path.write_bytes(data)
    whole = sl.Study.open(f"sqlite:///{intact}", "harbour").ledger
    found = opened(path)
    assert found is None or is_beginning(found, whole)


def test_a_journal_that_was_cut_short_gives_an_earlier_moment(tmp_path: Path) -> None:
    path, copy = tmp_path / "survey.db", tmp_path / "copy.db"
    study = sl.Study.create(f"sqlite:///{path}", "harbour", problem(), batch=5, worker="boat")
    held = Sql(f"sqlite:///{path}")
    held.names()
    for _ in range(5):
        tickets = study.ask()
        study.tell(tickets.measured([measure(ticket.number, ticket.point) for ticket in tickets]))
    journal = path.with_name("survey.db-wal")
    whole = study.ledger
    for cut in (1, 100, 4096, 30000):
        shutil.copy(path, copy)
        if journal.exists():
            copy.with_name("copy.db-wal").write_bytes(journal.read_bytes()[:-cut])
        found = opened(copy)
        assert found is None or is_beginning(found, whole)
        for leftover in tmp_path.glob("copy.db*"):
            leftover.unlink()


def test_what_is_intact_of_a_damaged_file_can_be_rescued(intact: Path, tmp_path: Path) -> None:
    path = tmp_path / "survey.db"
    data = intact.read_bytes()
    path.write_bytes(data[:-5000])
    assert opened(path) is None
    new = Memory()
    (saved,) = rescue(Sql(f"sqlite:///{path}"), new)
    whole = sl.Study.open(f"sqlite:///{intact}", "harbour").ledger
    study = sl.Study.open(new, "harbour", worker="boat")
    assert 0 < saved.entries < whole.length
    assert is_beginning(study.ledger, whole)
    assert study.verify().ok
    assert set(new.leases("harbour")) == set(study.ledger.open.tolist())
    assert study.ask()  # and it goes on


def test_a_rescue_of_an_intact_store_copies_everything(intact: Path) -> None:
    old, new = open_storage(f"sqlite:///{intact}"), Memory()
    assert isinstance(old, Sql)
    (saved,) = rescue(old, new)
    assert saved.lost == ""
    assert new.read("harbour") == old.read("harbour")
    assert fold(new.read("harbour")).head == fold(old.read("harbour")).head
