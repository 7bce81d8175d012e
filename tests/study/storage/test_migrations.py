"""The tables of a store: made by the migrations, the same as the schema, refused if another version's or another's."""

from __future__ import annotations

import importlib
import logging
import shutil
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect

from superlevel.study.storage import StorageError, open_storage, schema, upgrade, upgrades
from superlevel.study.storage.sql import Sql
from superlevel.testing.logs import append, entry, study

SECOND = """
import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade():
    op.add_column("studies", sa.Column("colour", sa.Text, server_default="blue"))
"""


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    address: str = request.getfixturevalue("postgres_url")
    return address


@pytest.fixture
def storage(url: str) -> Iterator[Sql]:
    opened = Sql(url)
    yield opened
    opened.close()


def shape(connection: Connection, table: str) -> Any:
    """All that can be known of a table, without what databases make up themselves."""
    seen = inspect(connection)
    columns = [(column["name"], str(column["type"]), column["nullable"]) for column in seen.get_columns(table)]
    keys = [(key["name"], key["constrained_columns"], key["referred_table"]) for key in seen.get_foreign_keys(table)]
    unique = [(each["name"], each["column_names"]) for each in seen.get_unique_constraints(table)]
    primary = seen.get_pk_constraint(table)
    return columns, keys, unique, primary["name"], primary["constrained_columns"]


# --- what the migrations make


def test_alembic_sees_no_difference_between_the_migrations_and_the_schema(storage: Sql) -> None:
    study(storage)
    with storage._store.reading() as connection:
        options = {"version_table": schema.VERSION_TABLE, "compare_server_default": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, schema.METADATA) == []


def test_the_migrations_make_what_the_schema_would_make(storage: Sql) -> None:
    study(storage)
    tables = [table.name for table in schema.METADATA.sorted_tables]
    with storage._store.writing() as connection:
        migrated = {table: shape(connection, table) for table in tables}
        schema.METADATA.drop_all(connection)
        schema.METADATA.create_all(connection)
        assert {table: shape(connection, table) for table in tables} == migrated


def test_the_revisions_are_all_named_in_their_order() -> None:
    script = ScriptDirectory(upgrades.FOLDER)
    assert tuple(each.revision for each in script.walk_revisions())[::-1] == schema.REVISIONS


def test_the_files_of_the_migrations_can_be_imported_and_do_nothing_then() -> None:
    package = "superlevel.study.storage.migrations"
    files = [path for path in upgrades.FOLDER.rglob("*.py") if path.stem != "__init__"]
    assert {path.stem for path in files} == {"env", "v0001_first"}
    for path in files:
        importlib.import_module(".".join([package, *path.relative_to(upgrades.FOLDER).with_suffix("").parts]))


def test_nothing_is_printed_or_logged(
    storage: Sql, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    alembic = logging.getLogger("alembic")
    before = alembic.level
    with caplog.at_level(logging.INFO):
        study(storage)
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")
    assert alembic.level == before


def test_a_new_file_uses_the_write_ahead_log(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    study(Sql(f"sqlite:///{path}"))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        connection.execute("PRAGMA journal_mode = DELETE")
    Sql(f"sqlite:///{path}").read("sea")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    append(Sql(f"sqlite:///{path}"), "sea", entry(2))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_threads_that_make_stores_at_once_all_succeed(url: str, tmp_path: Path) -> None:
    urls = [url, url, f"sqlite:///{tmp_path}/other.db", f"sqlite:///{tmp_path}/third.db"]
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(open_storage, urls))
        list(pool.map(lambda each, name: each.create(name, entry(1)), opened, "abcd"))
    assert [each.names() for each in opened] == [["a", "b"], ["a", "b"], ["c"], ["d"]]
    for each in opened:
        each.close()


# --- other versions


@pytest.fixture
def second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This version, had it one more revision."""
    folder = tmp_path / "100% newer"
    shutil.copytree(upgrades.FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions").chmod(0o700)  # copytree copies the mode too, and the project may be read-only
    (folder / "versions" / "v0002_second.py").write_text(SECOND)
    monkeypatch.setattr(upgrades, "FOLDER", folder)
    monkeypatch.setattr(schema, "REVISIONS", ("0001", "0002"))


def colours(storage: Sql) -> list[tuple[str, str]]:
    with storage._store.reading() as connection:
        return [(row.name, row.colour) for row in connection.exec_driver_sql("SELECT name, colour FROM studies")]


def test_an_older_store_is_refused_with_the_command_that_upgrades_it(
    storage: Sql, url: str, request: pytest.FixtureRequest
) -> None:
    study(storage, tickets=2)
    request.getfixturevalue("second")
    later = Sql(url)
    for attempt in (later.names, lambda: later.create("lake", entry(1)), lambda: append(later, "sea", entry(3))):
        with pytest.raises(StorageError, match=r"older version .* `superlevel doctor --upgrade --store") as refused:
            attempt()
        assert later.url in str(refused.value).rpartition("--store")[2]
    (problem,) = later.check()
    assert "older version" in problem
    upgrade(url)
    upgrade(url)
    assert colours(later) == [("sea", "blue")]
    assert later.read("sea") == storage.read("sea")
    assert list(later.leases("sea")) == [0, 1]
    append(later, "sea", entry(3))
    later.close()


@pytest.mark.usefixtures("second")
def test_a_new_store_has_the_newest_tables(storage: Sql) -> None:
    study(storage)
    assert colours(storage) == [("sea", "blue")]


def test_an_upgrade_that_fails_leaves_the_store_as_it_was(
    storage: Sql, url: str, request: pytest.FixtureRequest
) -> None:
    study(storage)
    request.getfixturevalue("second")
    script = upgrades.FOLDER / "versions" / "v0002_second.py"
    script.write_text(SECOND + '    op.execute("INSERT INTO nowhere VALUES (1)")\n')
    with pytest.raises(StorageError, match="cannot be used"):
        upgrade(url)
    with storage._store.reading() as connection:
        assert connection.exec_driver_sql("SELECT version_num FROM superlevel_version").all() == [("0001",)]
        assert "colour" not in [column["name"] for column in inspect(connection).get_columns("studies")]
    script.write_text(SECOND)
    upgrade(url)
    assert colours(Sql(url)) == [("sea", "blue")]


def test_a_newer_store_is_refused_with_the_command_that_gets_that_version(storage: Sql, url: str) -> None:
    study(storage)
    with storage._store.writing() as connection:
        connection.exec_driver_sql("UPDATE superlevel_version SET version_num = '0999'")
    older = Sql(url)
    for attempt in (older.names, lambda: older.create("lake", entry(1)), older.upgrade, lambda: upgrade(url)):
        with pytest.raises(StorageError, match=r"newer version of superlevel: .* `pip install --upgrade superlevel`"):
            attempt()
    older.close()


# --- other databases


@pytest.mark.parametrize("what", ["TABLE studies (name TEXT, length INTEGER)", "VIEW studies AS SELECT 'mine' AS name"])
def test_tables_of_another_program_are_refused_and_left_alone(tmp_path: Path, what: str) -> None:
    path = tmp_path / "photos.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE {what}")
        connection.commit()
    before = path.read_bytes()
    theirs = Sql(f"sqlite:///{path}")
    for attempt in (theirs.names, lambda: theirs.create("sea", entry(1)), theirs.upgrade):
        with pytest.raises(StorageError, match="has tables of some other program: give another file"):
            attempt()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_tables_of_another_program_on_a_server_are_refused(postgres_url: str) -> None:
    storage = Sql(postgres_url)
    with storage._store.as_it_is() as connection:
        connection.exec_driver_sql("CREATE TABLE photos (name TEXT)")
        connection.commit()
    with pytest.raises(StorageError, match=r"tables of some other program: .*\?options=-csearch_path=NAME"):
        storage.create("sea", entry(1))
    with storage._store.as_it_is() as connection:
        assert inspect(connection).get_table_names() == ["photos"]
    storage.close()


@pytest.mark.parametrize("content", [b"x,y\n1,2\n" * 1000, b"short", b"SQLite format 3\0" + b"\1" * 5000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "survey.csv"
    path.write_bytes(content)
    theirs = Sql(f"sqlite:///{path}")
    for attempt in (theirs.names, lambda: theirs.create("sea", entry(1)), theirs.upgrade):
        with pytest.raises(StorageError, match="is not a SQLite database, or damaged from its beginning"):
            attempt()
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]
