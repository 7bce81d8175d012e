"""Backups of studies that are in use, and their return into a store."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from superlevel.errors import InputError
from superlevel.study import ReplacedError, Result, Study, backup, restore
from superlevel.study.backups import Outcome
from superlevel.study.storage import StorageError, open_storage
from superlevel.study.storage.sql import Sql
from tests.study.campaigns import GREEDY, NAME


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of each kind that lasts."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    found: str = request.getfixturevalue("postgres_url")
    return found


def content(url: str, name: str = NAME) -> tuple[object, ...]:
    storage = open_storage(url)
    return storage.read(name), storage.leases(name), storage.noted(name)


def campaign(url: str, name: str = NAME) -> Study:
    """A study with one batch told and another open."""
    study = Study.create(url, name, GREEDY.problem(), seed=7, batch=4, worker="ada", confidence="posterior")
    GREEDY.run(study, 1).ask()
    assert study.labels is not None  # they are noted
    return study


def test_a_copy_of_the_file_misses_acknowledged_results_and_looks_intact_and_a_backup_has_them(tmp_path: Path) -> None:
    path, copy = tmp_path / "store.db", tmp_path / "copy.db"
    study = campaign(f"sqlite:///{path}")
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entries").fetchone()
        receipt = study.tell(GREEDY.measure(study.ask()))
        assert receipt.entry == 5
        shutil.copy(path, copy)
        (saved,) = backup(f"sqlite:///{path}", tmp_path / "backup.db")
    assert Sql(f"sqlite:///{copy}").check() == []
    assert Study.open(f"sqlite:///{copy}", NAME).verify().ok
    assert Study.open(f"sqlite:///{copy}", NAME).ledger.length < 5
    assert (saved.entries, saved.measurements, saved.head) == (5, 8, study.ledger.head)
    assert Study.open(f"sqlite:///{tmp_path}/backup.db", NAME).ledger.samples == 8


@pytest.mark.parametrize("name", [None, NAME])
def test_a_backup_is_one_private_file_with_everything_and_comes_back(
    url: str, tmp_path: Path, name: str | None
) -> None:
    study, file = campaign(url), tmp_path / "backup.db"
    other = campaign(url, "lake")
    saved = backup(url, file, name=name)
    assert [item.name for item in saved] == (["lake", NAME] if name is None else [NAME])
    assert {item.outcome for item in saved} == {Outcome.SAVED}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.glob("*backup*")] == ["backup.db"]
    assert content(f"sqlite:///{file}") == content(url)

    before = content(url), content(url, "lake")
    study.tell(GREEDY.measure(study.ask()))
    other.tell([Result(point=0, value=0.1)])
    with pytest.raises(InputError, match=r"has 1 entries in the store that the backup does not have: nothing was"):
        restore(file, url)
    assert study.refresh().ledger.length == 5
    done = restore(file, url, force=True)
    assert {(item.outcome, item.dropped) for item in done} == {(Outcome.REPLACED, 1)}
    assert content(url) == before[0]
    assert content(url, "lake") == before[1] or name == NAME
    with pytest.raises(ReplacedError, match="after entry 5"):
        study.tell([Result(point=1, value=0.1)])
    assert GREEDY.run(study.reopen(), 1).verify().ok


def test_a_restore_to_a_new_store_or_an_earlier_one_loses_nothing_and_needs_no_force(url: str, tmp_path: Path) -> None:
    study, early, late = campaign(url), tmp_path / "early.db", tmp_path / "late.db"
    backup(url, early)
    study.tell(GREEDY.measure(study.ask()))
    backup(url, late)
    new = f"sqlite:///{tmp_path}/new.db"
    assert [item.outcome for item in restore(early, new)] == [Outcome.RESTORED]
    reader = Study.open(new, NAME)
    assert [item.outcome for item in restore(early, new)] == [Outcome.UNCHANGED]
    assert [item.outcome for item in restore(late, new)] == [Outcome.EXTENDED]
    assert reader.refresh().ledger.length == 5  # whoever had read the beginning goes on
    assert content(new) == content(url)
    assert [item.outcome for item in restore(late, url)] == [Outcome.UNCHANGED]


def test_a_log_that_went_another_way_is_not_replaced_without_force(url: str, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    campaign(f"sqlite:///{tmp_path}/elsewhere.db")
    backup(f"sqlite:///{tmp_path}/elsewhere.db", file)
    campaign(url)
    before = content(url)
    with pytest.raises(InputError, match="has 4 entries in the store"):
        restore(file, url)
    assert content(url) == before
    (done,) = restore(file, url, force=True)
    assert (done.outcome, done.dropped) == (Outcome.REPLACED, 4)
    assert content(url) == content(f"sqlite:///{file}")


def test_a_backup_replaces_no_file_without_force_and_never_the_store_itself(tmp_path: Path) -> None:
    path, file = tmp_path / "store.db", tmp_path / "backup.db"
    url = f"sqlite:///{path}"
    campaign(url)
    file.write_text("mine")
    with pytest.raises(InputError, match=r"backup\.db', which is there already"):
        backup(url, file)
    assert file.read_text() == "mine"
    for force in (False, True):
        with pytest.raises(InputError, match="which is the store itself"):
            backup(url, path, force=force)
    with pytest.raises(InputError, match="which is a folder"):
        backup(url, tmp_path)
    backup(url, file, force=True)
    assert Study.open(f"sqlite:///{file}", NAME).ledger.length == 4


def test_a_damaged_log_is_neither_saved_nor_restored(url: str, tmp_path: Path) -> None:
    campaign(url)
    backup(url, tmp_path / "good.db")
    shutil.copy(tmp_path / "good.db", tmp_path / "bad.db")
    with closing(sqlite3.connect(tmp_path / "bad.db")) as connection, connection:
        connection.execute("UPDATE entries SET payload = replace(payload, '0.', '1.') WHERE seq = 3")
    with pytest.raises(StorageError, match=f"study {NAME!r} of .*: entry 3 is not as it was written"):
        backup(f"sqlite:///{tmp_path}/bad.db", tmp_path / "worse.db")
    assert not (tmp_path / "worse.db").exists()
    before = content(url)
    with pytest.raises(StorageError, match="entry 3 is not as it was written"):
        restore(tmp_path / "bad.db", url, force=True)
    assert content(url) == before


@pytest.mark.parametrize("name", ["sky", "all of them"])
def test_a_study_that_is_not_there_is_refused_with_the_names_there_are(url: str, tmp_path: Path, name: str) -> None:
    campaign(url)
    with pytest.raises(InputError, match=f"name is {name!r}: .*'sea'"):
        backup(url, tmp_path / "backup.db", name=name)
    assert not (tmp_path / "backup.db").exists()
    backup(url, tmp_path / "backup.db")
    with pytest.raises(InputError, match=f"name is {name!r}: .*'sea'"):
        restore(tmp_path / "backup.db", url, name=name)


def test_what_is_in_memory_and_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="store is 'memory:'"):
        backup("memory:", tmp_path / "backup.db")
    with pytest.raises(InputError, match=r"path is .*backup\.db', which is no file"):
        restore(tmp_path / "backup.db", f"sqlite:///{tmp_path}/store.db")
    (tmp_path / "sheet.csv").write_text("ticket,value\n" * 100)
    with pytest.raises(StorageError, match="is not a SQLite database"):
        restore(tmp_path / "sheet.csv", f"sqlite:///{tmp_path}/store.db")
    assert not (tmp_path / "store.db").exists()
