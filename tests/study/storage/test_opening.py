"""From a URL to a storage: what is taken, what is refused, and that nothing is opened or imported too early."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from superlevel.errors import InputError
from superlevel.study.storage import Memory, StorageError, open_storage, upgrade
from superlevel.study.storage.sql import Sql
from superlevel.testing.logs import append, entry, study


def test_a_storage_stands_for_itself() -> None:
    storage = Memory()
    assert open_storage(storage) is storage


@pytest.mark.parametrize(
    ("store", "remedy"),
    [
        ("", "give a URL such as 'sqlite:///campaigns.db', 'postgresql://user:password@host/database' or 'memory:'"),
        ("campaigns.db", "give a URL such as"),
        ("memory", "give a URL such as"),
        ("mysql://ada@host/lab", "give a URL such as"),
        ("postgresql+psycopg2://ada@host/lab", "give a URL such as"),
        ("postgresql://ada@host:port/lab", "give a URL such as"),
        ("postgresql://ada@host", "name the database, as in"),
        ("sqlite://", "for one in memory give 'memory:'"),
        ("sqlite:///", "for one in memory give 'memory:'"),
        ("sqlite:///:memory:", "for one in memory give 'memory:'"),
        ("sqlite:///file:x?mode=memory&uri=true", "give three slashes and a file name"),
        ("sqlite://campaigns.db", "give three slashes and a file name"),
        ("sqlite:///camp\0aigns.db", "give three slashes and a file name"),
        ("sqlite://folder/campaigns.db", "give three slashes and a file name"),
        ("sqlite:///~no such user/campaigns.db", "its ~ stands for no folder: give the whole path"),
    ],
)
def test_other_urls_are_refused_with_examples(store: str, remedy: str) -> None:
    with pytest.raises(InputError) as refused:
        open_storage(store)
    assert str(refused.value).startswith("store is '")
    assert remedy in str(refused.value)


@pytest.mark.parametrize("store", [None, 3, Path("campaigns.db"), Memory])
def test_other_things_than_urls_are_refused(store: object) -> None:
    with pytest.raises(InputError, match=r"store is .*give a URL or a storage"):
        open_storage(store)  # type: ignore[arg-type]


def test_a_server_that_does_not_answer_is_named_without_the_password() -> None:
    storage = Sql("postgresql://ada:s3cret@127.0.0.1:1/lab")
    sentence = r"postgresql://\*\*\*@127\.0\.0\.1:1/lab cannot be reached .*refused.*: check that the server runs"
    with pytest.raises(StorageError, match=sentence) as one:
        storage.names()
    assert "s3cret" not in "".join(traceback.format_exception(one.value))
    assert "\n" not in str(one.value)


def test_a_missing_driver_gets_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InputError, match=r"pip install 'superlevel\[postgres\]'"):
        open_storage("postgresql://ada@host/lab")


def test_a_sqlite_that_is_too_old_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(StorageError, match=r"SQLite is .*: use a Python whose sqlite3 has version 3.35 or newer"):
        open_storage("sqlite:///campaigns.db")


# --- files


def test_only_creating_a_study_makes_a_file(tmp_path: Path) -> None:
    storage = Sql(f"sqlite:///{tmp_path}/store.db")
    for attempt in (storage.names, storage.check, storage.upgrade, lambda: storage.salvaged()["sea"]):
        with pytest.raises(InputError, match="nothing is stored yet"):
            attempt()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match=r"first\.seq"):
        storage.create("sea", entry(2))
    assert list(tmp_path.iterdir()) == []
    study(storage)
    assert list(tmp_path.iterdir()) == [tmp_path / "store.db"]


def test_between_operations_everything_is_in_one_file(tmp_path: Path) -> None:
    storage = Sql(f"sqlite:///{tmp_path}/store.db")
    study(storage, tickets=3)
    storage.claim("sea", 1, worker="ada", now=0.0, until=1.0)
    (tmp_path / "copy.db").write_bytes((tmp_path / "store.db").read_bytes())
    copy = Sql(f"sqlite:///{tmp_path}/copy.db")
    assert copy.read("sea") == storage.read("sea")
    assert copy.leases("sea") == storage.leases("sea")


def test_a_file_stays_the_same_when_the_folder_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    storage = Sql("sqlite:///store.db")
    study(storage)
    monkeypatch.chdir("elsewhere")
    append(storage, "sea", entry(2))
    assert storage.url == "sqlite:///store.db"
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("name", ["with space.db", "per%20cent.db", "hash#mark.db", "ünï.db", "colon:at@x.db"])
def test_a_file_may_have_any_name(tmp_path: Path, name: str) -> None:
    study(Sql(f"sqlite:///{tmp_path}/{name}"))
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_that_was_removed_is_missed_and_made_again(tmp_path: Path) -> None:
    storage = Sql(f"sqlite:///{tmp_path}/store.db")
    study(storage)
    (tmp_path / "store.db").unlink()
    with pytest.raises(InputError, match="nothing is stored yet"):
        append(storage, "sea", entry(2))
    study(storage)
    assert storage.names() == ["sea"]


def test_an_empty_file_is_a_store_that_is_not_there_yet(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    storage = Sql(f"sqlite:///{path}")
    with pytest.raises(InputError, match="nothing is stored yet"):
        storage.names()
    assert path.read_bytes() == b""
    study(storage)
    assert storage.names() == ["sea"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    sentence = f"whose folder is not there: make the folder {tmp_path}/deep first"
    with pytest.raises(InputError, match=re.escape(sentence)):
        study(Sql(f"sqlite:///{tmp_path}/deep/store.db"))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    storage = Sql(f"sqlite:///{tmp_path}")
    for attempt in (storage.names, lambda: study(storage)):
        with pytest.raises(InputError, match="which is a folder: give the name of a file in it"):
            attempt()


def test_a_file_that_cannot_even_be_looked_at_is_refused(tmp_path: Path) -> None:
    storage = Sql(f"sqlite:///{tmp_path}/{'long' * 100}.db")
    for attempt in (storage.names, lambda: study(storage)):
        with pytest.raises(StorageError, match=r"cannot be opened .*: make the file and its folder readable"):
            attempt()


def test_a_folder_that_may_not_be_written_to_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", refuse)  # the rights of a folder do not stop root
    with pytest.raises(InputError, match=r"cannot be made: make the folder .* writable, .* \(Permission denied\)"):
        study(Sql(f"sqlite:///{tmp_path}/store.db"))


# --- imports


def run(code: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    return done.stdout.strip()


def test_nothing_slow_is_imported_before_it_is_needed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    study(Sql(url))
    code = f"""
import sys
from superlevel.study.storage import open_storage
open_storage("memory:")
print("sqlalchemy" in sys.modules, end=" ")
open_storage({url!r}).read("sea")
print("sqlalchemy" in sys.modules, "alembic" in sys.modules, "psycopg" in sys.modules)
"""
    assert run(code) == "False True False False"


def test_upgrading_a_store_of_this_version_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    study(Sql(f"sqlite:///{path}"))
    before = path.read_bytes()
    upgrade(f"sqlite:///{path}")
    assert path.read_bytes() == before
