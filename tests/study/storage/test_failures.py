"""A database's errors, raised by real databases, as sentences."""

from __future__ import annotations

import shlex
import sqlite3
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from superlevel.study.storage import Note, Storage, StorageError, engines
from superlevel.study.storage.address import parse
from superlevel.study.storage.failures import explained, missing, sentence
from superlevel.study.storage.repair import lost
from superlevel.study.storage.sql import Sql
from superlevel.study.storage.upgrades import check_current
from superlevel.testing.logs import append, entry, study


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def storage(path: Path) -> Storage:
    opened = Sql(f"sqlite:///{path}")
    study(opened, tickets=2)
    return opened


@contextmanager
def refused() -> Iterator[list[str]]:
    """The one sentence, once it was raised."""
    said: list[str] = []
    with pytest.raises(StorageError) as caught:
        yield said
    said.append(str(caught.value))
    shown = "".join(traceback.format_exception(caught.value))
    assert "\n" not in said[0]
    assert "INSERT" not in said[0]
    assert "SELECT" not in said[0]
    assert "[SQL" not in shown


def test_readers_do_not_wait_for_a_writer_and_writers_wait_their_time(
    path: Path, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "LOCK_TIMEOUT", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert len(storage.read("sea")) == 2
        with refused() as said:
            append(storage, "sea", entry(3))
        assert said[0].startswith(f"sqlite:///{path} has been locked by somebody else for 0.05 s: end the process")
        other.execute("COMMIT")
    append(storage, "sea", entry(3))


def test_writers_do_not_wait_for_readers(path: Path, storage: Storage) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        assert other.execute("SELECT count(*) FROM entries").fetchone() == (2,)
        append(storage, "sea", entry(3))
        assert other.execute("SELECT count(*) FROM entries").fetchone() == (2,)
        other.execute("COMMIT")
        assert other.execute("SELECT count(*) FROM entries").fetchone() == (3,)


def test_a_store_that_cannot_be_written_to_says_so(path: Path) -> None:
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE t (x)")
    with (
        closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as other,
        pytest.raises(sqlite3.OperationalError) as caught,
    ):
        other.execute("INSERT INTO t VALUES (1)")
    said = str(sentence(parse(f"sqlite:///{path}"), caught.value))
    assert said == (
        f"sqlite:///{path} cannot be written to (attempt to write a readonly database): "
        "make the file and its folder writable"
    )


def test_a_full_disk_says_that_nothing_was_stored(
    path: Path, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(storage, Sql)
    connect = sqlite3.connect

    def small(*arguments: object, **options: object) -> sqlite3.Connection:
        connection = connect(*arguments, **options)  # type: ignore[call-overload]
        connection.execute("PRAGMA max_page_count = 20")
        assert isinstance(connection, sqlite3.Connection)
        return connection

    monkeypatch.setattr(sqlite3, "connect", small)
    with refused() as said:
        append(storage, "sea", entry(3, "x" * 100_000), opened=[9])
    assert said[0].startswith(f"sqlite:///{path} has no room left (database or disk is full): free some")
    monkeypatch.undo()
    assert len(storage.read("sea")) == 2
    assert list(storage.leases("sea")) == [0, 1]


def test_whatever_else_a_database_says_becomes_one_sentence(path: Path, storage: Storage) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("DROP TABLE tickets")
    with refused() as said:
        storage.leases("sea")
    assert said[0] == (
        f"sqlite:///{path} cannot be used (no such table: tickets): "
        f"look for the reason with `superlevel doctor --store {shlex.quote(f'sqlite:///{path}')}`"
    )


@pytest.mark.parametrize("store", ["sqlite:///my survey (1).db", "postgresql://ada@host/lab?host=h&port=7"])
def test_a_shell_takes_the_store_of_a_command_for_one_word(store: str) -> None:
    address = parse(store)
    said = [str(missing(address)), str(sentence(address, RuntimeError("odd"))), lost(address.shown, "sea", 4)]
    with pytest.raises(StorageError) as older:
        check_current("0000", address)
    for each in (*said, str(older.value)):
        words = shlex.split(each.split("`")[1])
        assert words[words.index("--store") + 1] == address.shown


def test_an_error_of_the_driver_itself_is_explained_too(path: Path) -> None:
    path.touch()
    with refused(), explained(parse(f"sqlite:///{path}")):
        raise sqlite3.ProgrammingError


# --- PostgreSQL


@pytest.fixture
def server(postgres_url: str) -> Iterator[Sql]:
    opened = Sql(postgres_url)
    study(opened, tickets=1)
    yield opened
    opened.close()


def test_a_lock_that_postgresql_does_not_get_is_explained(
    server: Sql, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "LOCK_TIMEOUT", 0.05)
    hurried = Sql(postgres_url)
    with server._store.writing() as connection:
        connection.exec_driver_sql("SELECT * FROM studies FOR UPDATE")
        with refused() as said:
            append(hurried, "sea", entry(3))
    assert "has been locked by somebody else for 0.05 s" in said[0]
    append(hurried, "sea", entry(3))
    hurried.close()


def test_what_postgresql_does_not_allow_is_explained(server: Sql, postgres_url: str) -> None:
    schema = postgres_url.rpartition("%3D")[2]
    with server._store.writing() as connection:
        connection.exec_driver_sql("CREATE ROLE reader LOGIN")
        connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA {schema} TO reader")
        connection.exec_driver_sql(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader")
    reader = Sql(postgres_url.replace("postgres@", "reader@"))
    assert len(reader.read("sea")) == 2
    with refused() as said:
        reader.note("sea", Note(2, "x"))
    assert "does not allow that (permission denied for table studies): ask its owner" in said[0]
    reader.close()


@pytest.mark.usefixtures("server")
def test_a_read_only_server_is_explained(postgres_url: str) -> None:
    standby = Sql(postgres_url.replace("options=", "options=-cdefault_transaction_read_only%3Don%20"))
    assert len(standby.read("sea")) == 2
    with refused() as said:
        append(standby, "sea", entry(3))
    assert said[0].endswith("is only for reading: give the address of a server that takes changes")
    standby.close()


def test_a_database_that_is_not_there_is_explained(postgres_url: str) -> None:
    with refused() as said:
        Sql(postgres_url.replace("/postgres?", "/nowhere?")).names()
    assert "cannot be reached" in said[0]
    assert 'database "nowhere" does not exist' in said[0]


def test_a_schema_that_is_not_there_is_explained(postgres_url: str) -> None:
    with refused() as said:
        study(Sql(postgres_url + "x"))
    assert "make the schema first, with `CREATE SCHEMA`" in said[0]


def test_a_lost_table_is_explained_without_the_statement(server: Sql) -> None:
    with server._store.writing() as connection:
        connection.exec_driver_sql("DROP TABLE tickets")
    with refused() as said:
        server.leases("sea")
    assert 'cannot be used (relation "tickets" does not exist): look for the reason' in said[0]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            psycopg.errors.ConnectionTimeout("connection timeout expired"),
            "cannot be reached (connection timeout expired)",
        ),
        (psycopg.errors.DiskFull("no space"), "has no room left (no space)"),
        (psycopg.errors.DeadlockDetected("deadlock detected"), "was changed by others at the same time"),
        (psycopg.errors.DataCorrupted("bad page"), "is damaged (bad page): restore a backup"),
        (psycopg.errors.TooManyConnections("too many"), "has no connection left"),
        (psycopg.errors.AdminShutdown("terminating"), "cannot be reached (terminating)"),
        (psycopg.errors.DivisionByZero("by zero"), "cannot be used (by zero)"),
        (psycopg.OperationalError("wrong: s3cret\n\tis wrong"), "cannot be reached (wrong: *** is wrong)"),
    ],
)
def test_what_a_server_rarely_says_is_explained(error: Exception, words: str) -> None:
    said = str(sentence(parse("postgresql://ada:s3cret@host/lab"), error))
    assert said.startswith(f"postgresql://***@host/lab {words}")


def test_connections_that_the_server_ended_are_opened_again(server: Sql, postgres_url: str) -> None:
    other = Sql(postgres_url)
    assert len(other.read("sea")) == 2
    with server._store.reading() as connection:
        others = "pid <> pg_backend_pid() AND query NOT LIKE '%%autovacuum%%' AND backend_type = 'client backend'"
        connection.exec_driver_sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
    assert len(other.read("sea")) == 2
    other.close()
