"""What can happen to the file of a store: damages by a disk, a copy, another program or somebody with an editor.

Each damage takes the path of a sound store and a random generator, and leaves something else there.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from superlevel.study.storage.protocol import Entry
from tests.study.campaigns import rechained

Damage: TypeAlias = Callable[[Path, np.random.Generator], None]
TABLES = ("studies", "entries", "tickets", "superlevel_version")
TEXTS = ("kind", "at", "payload", "digest")


def chosen(rng: np.random.Generator, items: Any) -> Any:
    """One of them."""
    return items[int(rng.integers(len(items)))]


def execute(path: Path, *statements: tuple[str, tuple[object, ...]]) -> None:
    """Statements of somebody who ignores what the tables promise."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for statement, values in statements:
            connection.execute(statement, values)


# ----------------------------------------------------------------------------------------- bytes


def flipped_bits(path: Path, rng: np.random.Generator) -> None:
    data = bytearray(path.read_bytes())
    for place in rng.integers(len(data), size=int(chosen(rng, (1, 3, 30, 300)))):
        data[place] ^= 1 << int(rng.integers(8))
    path.write_bytes(data)


def flipped_bit_in_schema(path: Path, rng: np.random.Generator) -> None:
    data = bytearray(path.read_bytes())
    begins = [place for place in range(4096) if data[place : place + 6] == b"CREATE"]
    place = chosen(rng, begins) + int(rng.integers(60))
    data[place] ^= 1 << int(rng.integers(8))
    path.write_bytes(data)


def overwritten(path: Path, rng: np.random.Generator) -> None:
    data = bytearray(path.read_bytes())
    start, length = int(rng.integers(len(data))), int(chosen(rng, (8, 64, 512, 4096)))
    data[start : start + length] = rng.bytes(len(data[start : start + length]))
    path.write_bytes(data)


def zeroed_page(path: Path, rng: np.random.Generator) -> None:
    data = bytearray(path.read_bytes())
    start = 4096 * int(rng.integers(len(data) // 4096))
    data[start : start + 4096] = bytes(4096)
    path.write_bytes(data)


def truncated(path: Path, rng: np.random.Generator) -> None:
    with path.open("r+b") as file:
        file.truncate(int(rng.integers(path.stat().st_size)))


def empty(path: Path, _: np.random.Generator) -> None:
    path.write_bytes(b"")


def folder(path: Path, _: np.random.Generator) -> None:
    path.unlink()
    path.mkdir()


def random_bytes(path: Path, rng: np.random.Generator) -> None:
    head = chosen(rng, (b"", path.read_bytes()[:16], path.read_bytes()[:100]))
    path.write_bytes(head + rng.bytes(int(rng.integers(1, 20_000))))


def write_ahead(path: Path, rng: np.random.Generator) -> None:
    """The journal of changes that were not moved to the file yet, damaged, cut or of another file."""
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("PRAGMA journal_mode = WAL")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entries").fetchone()
        execute(path, ("UPDATE studies SET length = length", ()), ("UPDATE tickets SET worker = 'ada'", ()))
        kept = {end: Path(f"{path}{end}").read_bytes() for end in ("", "-wal")}
    journal = bytearray(kept["-wal"])
    for place in rng.integers(len(journal), size=int(rng.integers(0, 5))):
        journal[place] ^= 1 << int(rng.integers(8))
    path.write_bytes(kept[""][: None if rng.random() < 0.7 else int(rng.integers(len(kept[""])))])
    Path(f"{path}-wal").write_bytes(journal[: int(rng.integers(len(journal) + 1))])


# ----------------------------------------------------------------------------------------- rows


def blob_for_text(path: Path, rng: np.random.Generator) -> None:
    column, blob = chosen(rng, TEXTS), chosen(rng, (b"", b"\xff\xfe\0", rng.bytes(40)))
    where = int(rng.integers(1, 6))
    execute(path, (f"UPDATE entries SET {column} = ? WHERE seq = ?", (blob, where)))


def broken_text(path: Path, rng: np.random.Generator) -> None:
    """Text that is not UTF-8."""
    table, column = chosen(rng, [("entries", each) for each in TEXTS] + [("studies", "name"), ("tickets", "worker")])
    where = "id = 1" if table == "studies" else "study_id = 1"
    execute(path, (f"UPDATE {table} SET {column} = CAST(x'fffe41' AS TEXT) WHERE {where}", ()))


def odd_length(path: Path, rng: np.random.Generator) -> None:
    value = chosen(rng, ("many", 2.5, b"\x01", -1, 0, 10**9, 2**62, "3", 1e300, "NaN"))
    execute(path, ("UPDATE studies SET length = ? WHERE id = 1", (value,)))


def odd_name(path: Path, rng: np.random.Generator) -> None:
    """SQLite keeps a blob as it is in a column of text; in a table without types it keeps integers too."""
    value = chosen(rng, (17, 2.5, b"harbour", b"\xff", "", "\x1b[31mred", "a" * 10_000, None))
    rebuilt(path, "studies", [("UPDATE studies SET name = ? WHERE id = 1", (value,))])


def odd_format(path: Path, rng: np.random.Generator) -> None:
    column = chosen(rng, ("format", "id", "created_at", "noted_seq", "noted"))
    value = chosen(rng, ("new", 2.5, b"\x01", -1, 10**12, None))
    rebuilt(path, "studies", [(f"UPDATE studies SET {column} = ? WHERE name = 'harbour'", (value,))])


def odd_number(path: Path, rng: np.random.Generator) -> None:
    column = chosen(rng, ("seq", "study_id"))
    value = chosen(rng, ("first", 2.5, b"\x01", -1, 10**12, None, 2**62))
    rebuilt(path, "entries", [(f"UPDATE entries SET {column} = ? WHERE seq = 2", (value,))])


def odd_ticket(path: Path, rng: np.random.Generator) -> None:
    column = chosen(rng, ("number", "until", "worker"))
    value = chosen(rng, ("soon", b"\x01", -1, 10**12, None))
    rebuilt(path, "tickets", [(f"UPDATE tickets SET {column} = ?", (value,))])


def odd_revision(path: Path, rng: np.random.Generator) -> None:
    value = chosen(rng, ("", "9999", b"\x01", 1, None))
    rebuilt(path, "superlevel_version", [("UPDATE superlevel_version SET version_num = ?", (value,))])


def rebuilt(path: Path, table: str, changes: list[tuple[str, tuple[object, ...]]]) -> None:
    """A table without types and keys, as a careless import makes it, with some values changed."""
    aside = [(f"CREATE TABLE aside AS SELECT * FROM {table}", ()), (f"DROP TABLE {table}", ())]
    execute(path, *aside, ("DROP TABLE IF EXISTS unused", ()), (f"CREATE TABLE {table} AS SELECT * FROM aside", ()))
    with closing(sqlite3.connect(path)) as connection, connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        connection.execute(f"DROP TABLE {table}")
        connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        connection.execute(f"INSERT INTO {table} SELECT * FROM aside")
        connection.execute("DROP TABLE aside")
    execute(path, *changes)


def missing_table(path: Path, rng: np.random.Generator) -> None:
    execute(path, (f"DROP TABLE {chosen(rng, TABLES)}", ()))


def missing_column(path: Path, rng: np.random.Generator) -> None:
    table, column = chosen(rng, (("entries", "at"), ("studies", "noted"), ("studies", "format"), ("tickets", "until")))
    execute(path, (f"ALTER TABLE {table} DROP COLUMN {column}", ()))


def view_for_table(path: Path, rng: np.random.Generator) -> None:
    table = chosen(rng, TABLES[:2])
    execute(path, (f"ALTER TABLE {table} RENAME TO other", ()), (f"CREATE VIEW {table} AS SELECT * FROM nowhere", ()))


DELETED = (
    *(("studies", where) for where in ("1", "id = 1")),
    *(("entries", where) for where in ("1", "seq = 1", "seq = 3", "seq > 2")),
    ("tickets", "1"),
    ("superlevel_version", "1"),
)


def deleted_rows(path: Path, rng: np.random.Generator) -> None:
    table, where = chosen(rng, DELETED)
    execute(path, (f"DELETE FROM {table} WHERE {where}", ()))


# ----------------------------------------------------------------------------------------- nonsense


def _put(payload: dict[str, Any], rng: np.random.Generator) -> None:
    """Something else in place of a value, however deep."""
    here: Any = payload
    while True:
        keys = list(here) if isinstance(here, dict) else range(len(here))
        key = chosen(rng, keys)
        if not isinstance(here[key], dict | list) or not here[key] or rng.random() < 0.3:
            break
        here = here[key]
    here[key] = chosen(
        rng,
        ({}, [], None, "x", -1, 0, 1e308, -1e308, 10**12, 10**30, 2.5, True, [[1.0], [1.0, 2.0]], {"name": {}}, "\0"),
    )


NONSENSE: dict[str, Callable[[dict[str, Any]], object]] = {
    "options": lambda given: given.update(confidence={}),
    "ragged": lambda given: given["points"][0].append(1.0),
    "no points": lambda given: given.update(points=[]),
    "no coordinates": lambda given: given.update(points=[[] for _ in given["points"]]),
    "no goal": lambda given: given.update(goal={}),
    "huge points": lambda given: given.update(points=[[1e308] * len(row) for row in given["points"]]),
    "huge noise": lambda given: given["problem"].update(noise=1e308),
    "negative noise": lambda given: given["problem"].update(noise=-1.0),
    "no problem": lambda given: given.update(problem={}),
    "unknown field": lambda given: given["problem"].update(colour=1.0),
    "kernel": lambda given: given.update(kernel={"name": "Nothing"}),
    "method": lambda given: given.update(method="guess"),
    "rule": lambda given: given.update(rule={"name": "os:system"}),
    "huge batch": lambda given: given.update(batch=10**12),
    "batch": lambda given: given.update(batch=-1),
    "seed": lambda given: given.update(seed=-1),
    "names": lambda given: given.update(names=["a", "a"]),
    "format 1": lambda given: given.update(format=1, options={}),
    "format": lambda given: given.update(format=10**12),
}
"""What a first entry may say that no version would write."""


def logged(path: Path, study: int) -> list[Entry]:
    """The entries of a study."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT seq, kind, at, payload, digest FROM entries WHERE study_id = ? ORDER BY seq", (study,)
        )
        return [Entry(**dict(zip(("seq", *TEXTS), row, strict=True))) for row in rows]


def replace_log(path: Path, change: Callable[[list[tuple[str, str, str]]], None], study: int = 1) -> None:
    """Change a log, and compute its digests anew."""
    log = [(entry.kind, entry.at, entry.payload) for entry in logged(path, study)]
    change(log)
    rows = [(study, entry.seq, entry.kind, entry.at, entry.payload, entry.digest) for entry in rechained(log)]
    insert = "INSERT INTO entries (study_id, seq, kind, at, payload, digest) VALUES (?, ?, ?, ?, ?, ?)"
    length = ("UPDATE studies SET length = ? WHERE id = ?", (len(rows), study))
    execute(path, ("DELETE FROM entries WHERE study_id = ?", (study,)), *((insert, row) for row in rows), length)


def created_nonsense(path: Path, rng: np.random.Generator) -> None:
    change = NONSENSE[chosen(rng, list(NONSENSE))]

    def changed(log: list[tuple[str, str, str]]) -> None:
        kind, at, text = log[0]
        payload = json.loads(text)
        change(payload)
        log[0] = (kind, at, json.dumps(payload))

    replace_log(path, changed)


def any_nonsense(path: Path, rng: np.random.Generator) -> None:
    def changed(log: list[tuple[str, str, str]]) -> None:
        place = int(rng.integers(len(log)))
        kind, at, text = log[place]
        payload = json.loads(text)
        _put(payload, rng)
        log[place] = (
            chosen(rng, (kind,) * 8 + ("told", "created")),
            chosen(rng, (at,) * 8 + ("",)),
            json.dumps(payload),
        )

    replace_log(path, changed)


def no_json(path: Path, rng: np.random.Generator) -> None:
    def changed(log: list[tuple[str, str, str]]) -> None:
        place = int(rng.integers(len(log)))
        kind, at, text = log[place]
        odd = ("", "[]", "null", "[" * 100_000, "1" * 5_000, '{"a":' * 5_000, text[: len(text) // 2], "\ufeff" + text)
        log[place] = (kind, at, chosen(rng, odd))

    replace_log(path, changed)


def shuffled(path: Path, rng: np.random.Generator) -> None:
    def changed(log: list[tuple[str, str, str]]) -> None:
        log[:] = [log[place] for place in rng.permutation(len(log))]

    replace_log(path, changed)


BYTES: list[Damage] = [
    flipped_bits,
    flipped_bit_in_schema,
    overwritten,
    zeroed_page,
    truncated,
    random_bytes,
    write_ahead,
]
WHOLE: list[Damage] = [empty, folder]
ROWS: list[Damage] = [
    blob_for_text,
    broken_text,
    odd_length,
    odd_name,
    odd_format,
    odd_number,
    odd_ticket,
    odd_revision,
    missing_table,
    missing_column,
    view_for_table,
    deleted_rows,
]
MEANINGS: list[Damage] = [created_nonsense, any_nonsense, no_json, shuffled]
ALL: list[Damage] = [*BYTES, *ROWS, *MEANINGS, *WHOLE]


def damaged(sound: Path, path: Path, seed: int) -> Damage:
    """A copy of a sound store with the damage of this number; returns which it was."""
    for left in path.parent.glob(f"{path.name}*"):
        with suppress(IsADirectoryError, PermissionError):
            left.unlink()
        if left.is_dir():
            left.rmdir()
    shutil.copy(sound, path)
    damage = ALL[seed % len(ALL)]
    damage(path, np.random.default_rng([18, seed]))
    return damage
