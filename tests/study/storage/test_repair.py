"""Damaged files: that it is noticed, what is said, and what can still be read."""

from __future__ import annotations

import re
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from superlevel.study.storage import Entry, StorageError
from superlevel.study.storage.repair import first_gap
from superlevel.study.storage.sql import Sql
from superlevel.testing.logs import append, entry

LENGTH = 60
LOG = [entry(seq, f"marker {seq:05} " + "x" * 400) for seq in range(1, LENGTH + 1)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def storage(path: Path) -> Sql:
    """Two studies whose entries lie between each other's."""
    opened = Sql(f"sqlite:///{path}")
    for name in ("lake", "sea"):
        opened.create(name, LOG[0])
    with opened._store.writing() as connection:
        columns = "INSERT INTO entries (study_id, seq, kind, at, payload, digest) VALUES (?, ?, ?, ?, ?, ?)"
        for each in LOG[1:]:
            for number in (1, 2):
                row = (number, each.seq, each.kind, each.at, each.payload, each.digest)
                connection.exec_driver_sql(columns, row)
        connection.exec_driver_sql(f"UPDATE studies SET length = {LENGTH}")
    assert opened.read("sea") == LOG
    return opened


@contextmanager
def edited(path: Path) -> Iterator[bytearray]:
    content = bytearray(path.read_bytes())
    yield content
    path.write_bytes(content)


def wipe(content: bytearray, page: int) -> None:
    content[page * 4096 : (page + 1) * 4096] = b"\xff" * 4096


def root(path: Path, name: str) -> int:
    """The first page of a table or an index."""
    with closing(sqlite3.connect(path)) as connection:
        (found,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [name]).fetchone()
    return int(found) - 1


def test_a_damaged_page_is_explained_and_everything_before_it_can_be_read(path: Path, storage: Sql) -> None:
    with edited(path) as content:
        place = content.index(LOG[39].payload.encode())
        wipe(content, place // 4096)
    sentence = (
        "is damaged (database disk image is malformed): restore a copy, or rescue what can be read with "
        f"`superlevel doctor --store {shlex.quote(f'sqlite:///{path}')} --rescue NEW_URL`"
    )
    with pytest.raises(StorageError, match=re.escape(sentence)):
        storage.read("sea")
    assert any("is damaged" in problem for problem in storage.check())
    found = storage.salvaged()["sea"]
    assert found == LOG[: len(found)]
    assert 30 < len(found) < 40


def test_a_damaged_index_loses_nothing(path: Path, storage: Sql) -> None:
    page = root(path, "sqlite_autoindex_entries_1")
    with edited(path) as content:
        wipe(content, page)
    with pytest.raises(StorageError, match="is damaged"):
        storage.read("sea")
    assert storage.check() != []
    assert storage.salvaged()["sea"] == LOG
    assert storage.salvaged()["lake"] == LOG


def test_a_damaged_index_of_names_loses_nothing(path: Path, storage: Sql) -> None:
    page = root(path, "sqlite_autoindex_studies_1")
    with edited(path) as content:
        wipe(content, page)
    with pytest.raises(StorageError, match="is damaged"):
        storage.read("sea")
    assert list(storage.salvaged()) == ["lake", "sea"]
    assert storage.salvaged()["sea"] == LOG


def test_the_version_need_not_be_readable_to_rescue_the_rest(path: Path, storage: Sql) -> None:
    pages = [root(path, "superlevel_version"), root(path, "sqlite_autoindex_superlevel_version_1")]
    with edited(path) as content:
        for page in pages:
            wipe(content, page)
    later = Sql(storage.url)
    with pytest.raises(StorageError, match="is damaged"):
        later.names()
    assert any("is damaged" in problem for problem in later.check())
    assert list(later.salvaged()) == ["lake", "sea"]
    assert later.salvaged()["sea"] == LOG


def test_text_that_is_no_text_any_more_is_damage(path: Path, storage: Sql) -> None:
    with edited(path) as content:
        content[:] = content.replace(b"marker 00020", b"\xff" * 12)
    with pytest.raises(StorageError, match=r"is damaged \(text that is not UTF-8\): restore a copy"):
        storage.read("lake")
    assert storage.salvaged()["lake"] == LOG[:19]


def test_what_is_not_even_text_is_left_out(storage: Sql) -> None:
    with storage._store.writing() as connection:
        connection.exec_driver_sql("UPDATE entries SET payload = X'00ff' WHERE study_id = 1 AND seq = 5")
    assert storage.salvaged()["lake"] == LOG[:4]


@pytest.mark.parametrize("pages", [0.5, 1.5, 4, 5.5, -3, -2.25, -1.5, -0.25])
def test_a_file_that_was_cut_off_is_damaged(path: Path, storage: Sql, pages: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(pages * 4096)])
    with pytest.raises(StorageError, match=r"is damaged|not a SQLite database"):
        storage.read("sea")
    assert storage.check() != []
    found = storage.salvaged().get("sea", [])
    assert found == LOG[: len(found)]
    assert len(found) < LENGTH
    assert pages > 0 or len(found) > 40


@pytest.mark.parametrize("length", range(0, 101, 4))
def test_a_file_that_ends_within_its_own_header_has_nothing_to_salvage(path: Path, storage: Sql, length: int) -> None:
    path.write_bytes(path.read_bytes()[:length])
    assert storage.salvaged() == {}


def test_whatever_page_is_damaged_what_can_be_read_is_right(path: Path, storage: Sql) -> None:
    whole = path.read_bytes()
    lengths = []
    for page in range(1, len(whole) // 4096, 3):
        with edited(path) as content:
            wipe(content, page)
        found = storage.salvaged().get("sea", [])
        assert found == LOG[: len(found)]
        lengths.append(len(found))
        path.write_bytes(whole)
    assert max(lengths) == LENGTH
    assert len(set(lengths)) > 3


def test_without_the_table_of_studies_logs_are_called_after_their_numbers(path: Path, storage: Sql) -> None:
    page = root(path, "studies")
    with edited(path) as content:
        wipe(content, page)
    assert storage.salvaged() == {"recovered-1": LOG, "recovered-2": LOG}


@pytest.mark.parametrize("bit", range(8))
@pytest.mark.parametrize("word", [b"CREATE TABLE entries", b"entries (", b"payload TEXT", b"CREATE TABLE studies"])
def test_a_flipped_bit_in_the_schema_loses_nothing(path: Path, storage: Sql, word: bytes, bit: int) -> None:
    with edited(path) as content:
        content[content.index(word) + 3] ^= 1 << bit
    found = storage.salvaged()
    assert list(found.values()) == [LOG, LOG]
    assert list(found) == ["lake", "sea"]


def test_a_damaged_header_of_the_file_loses_nothing(path: Path, storage: Sql) -> None:
    with edited(path) as content:
        content[:100] = bytes(100)
    assert storage.check() != []
    assert storage.salvaged() == {"lake": LOG, "sea": LOG}


@pytest.mark.parametrize(("given", "name"), [(b"sea", "sea"), (17, "17"), (2.5, "2.5"), (b"\xff", "recovered-2")])
def test_a_name_that_is_no_text_is_read_as_well_as_can_be(path: Path, storage: Sql, given: object, name: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE aside AS SELECT * FROM studies")
        connection.execute("DROP TABLE studies")
        connection.execute("CREATE TABLE studies (id, name, length, format, created_at, noted_seq, noted)")
        connection.execute("INSERT INTO studies SELECT * FROM aside")
        connection.execute("UPDATE studies SET name = ? WHERE id = 2", (given,))
    assert any("is damaged (the name of study" in problem for problem in storage.check())
    assert storage.names() == ["lake"]
    assert storage.salvaged() == dict(sorted({"lake": LOG, name: LOG}.items()))


def test_two_studies_of_one_name_are_both_saved(path: Path, storage: Sql) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE aside AS SELECT * FROM studies")
        connection.execute("DROP TABLE studies")
        connection.execute("ALTER TABLE aside RENAME TO studies")
        connection.execute("UPDATE studies SET name = 'sea'")
    assert storage.salvaged() == {"sea": LOG, "sea-2": LOG}


def test_a_length_that_is_no_number_is_said_and_loses_nothing(path: Path, storage: Sql) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE studies SET length = 'many' WHERE name = 'sea'")
    sentence = "is damaged (the length of study 'sea' is 'many'): restore a copy, or rescue what can be read"
    with pytest.raises(StorageError, match=re.escape(sentence)):
        storage.read("sea")
    assert any(sentence in problem for problem in storage.check())
    assert storage.salvaged() == {"lake": LOG, "sea": LOG}


def test_names_before_and_after_the_damage_are_found(path: Path, tmp_path: Path) -> None:
    storage = Sql(f"sqlite:///{path}")
    names = [f"{k:03} " + "long name " * 30 for k in range(40)]
    for name in names:
        storage.create(name, LOG[0])
    with edited(path) as content:
        # The name is in an index too; 13 is the first byte of a page at the end of a table.
        pages = [page for page in range(1, len(content) // 4096) if content[page * 4096] == 13]
        wipe(content, next(page for page in pages if names[25].encode() in content[page * 4096 : (page + 1) * 4096]))
    found = storage.salvaged()
    lost = {name for name in names if name not in found}
    assert names[25] in lost
    assert len(lost) < 15
    assert set(found) == {f"recovered-{k + 1}" if name in lost else name for k, name in enumerate(names)}
    assert all(entries == [LOG[0]] for entries in found.values())
    assert list(tmp_path.iterdir()) == [path]


def test_gaps_are_found_wherever_they_are() -> None:
    assert first_gap([], after=0, length=0) is None
    assert first_gap([], after=3, length=3) is None
    assert first_gap([], after=9, length=3) is None
    assert first_gap([1, 2, 3], after=0, length=2) is None
    assert first_gap([2, 3], after=0, length=3) == 1
    assert first_gap([4, 6], after=3, length=6) == 5
    assert first_gap([4, 5], after=3, length=6) == 6


def test_a_rescued_log_goes_into_a_new_store(path: Path, storage: Sql, tmp_path: Path) -> None:
    with edited(path) as content:
        wipe(content, content.index(LOG[50].payload.encode()) // 4096)
    rescued: list[Entry] = storage.salvaged()["sea"]
    new = Sql(f"sqlite:///{tmp_path}/new.db")
    new.create("sea", rescued[0])
    for each in rescued[1:]:
        append(new, "sea", each)
    assert new.read("sea") == rescued
    assert new.check() == []
