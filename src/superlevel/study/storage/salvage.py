"""What can still be read of a damaged store: by its tables, and page by page where these are damaged.

Nothing that is found here is believed: whoever uses it checks the chain of digests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.exc import DatabaseError

from superlevel.errors import SuperlevelError
from superlevel.study.storage import attachments, pages
from superlevel.study.storage.protocol import Entry
from superlevel.study.storage.repair import ENTRY, is_whole
from superlevel.study.storage.schema import ENTRIES
from superlevel.study.storage.store import Store

_EVERY = ENTRY.add_columns(ENTRIES.c.study_id)
_ENTRY_COLUMNS = ("study_id", "seq", "kind", "at", "payload", "digest")


@dataclass(kw_only=True, eq=False)
class _Found:
    """Studies by their number in the store, and what is known of each."""

    names: dict[int, object] = field(default_factory=dict)
    lengths: dict[int, object] = field(default_factory=dict)
    entries: dict[int, dict[int, Entry]] = field(default_factory=dict)
    attached: dict[tuple[int, int], bytes] = field(default_factory=dict)
    """What is beside an entry, by the numbers of the study and of the entry."""
    failed: bool = False
    """Whether something could not be read."""

    def add(self, rows: Iterable[Any]) -> None:
        """Entries that are not there yet, by their columns, as far as they can be what was written."""
        for row in rows:
            study = row["study_id"]
            if isinstance(study, int) and is_whole(row):
                entry = Entry(**{key: value for key, value in row.items() if key != "study_id"})
                self.entries.setdefault(study, {}).setdefault(entry.seq, entry)

    def beginning(self, study: int) -> list[Entry]:
        """The entries of a study, as far as there is no gap."""
        known = self.entries.get(study, {})
        return [
            replace(known[seq], attached=self.attached.get((study, seq), b""))
            for seq in takewhile(known.__contains__, count(1))
        ]

    @property
    def is_whole(self) -> bool:
        """Whether every study has a name, and all entries that it should have."""
        named = self.names.keys() == self.lengths.keys() >= self.entries.keys()
        return not self.failed and named and all(len(self.beginning(k)) == n for k, n in self.lengths.items())

    def named(self) -> dict[str, list[Entry]]:
        """By names, each once; a study whose name is lost is called after its number."""
        found: dict[str, list[Entry]] = {}
        for study in sorted(self.names.keys() | self.entries.keys()):
            name = _as_name(self.names.get(study)) or f"recovered-{study}"
            name = next(each for each in _variants(name) if each not in found)
            found[name] = self.beginning(study)
        return dict(sorted(found.items()))


def salvaged(store: Store) -> dict[str, list[Entry]]:
    """The longest beginning of every log that can be read, by the names of the studies, sorted.

    Raises only if there is no file, or if a server does not answer.
    """
    found, path = _Found(), store.address.path
    try:
        with store.as_it_is() as connection:
            _by_tables(connection, found)
    except SuperlevelError:
        if path is None or not path.exists():
            raise
        found.failed = True
    if path is not None and path.is_file() and not found.is_whole:
        _by_pages(path, found)
    return found.named()


def _by_tables(connection: Connection, found: _Found) -> None:
    """What the database reads by itself, as far as it comes."""
    sqlite = connection.dialect.name == "sqlite"
    whole = " NOT INDEXED" if sqlite else ""  # the index on names may be what is damaged
    try:
        for study, name, length in connection.execute(text(f"SELECT id, name, length FROM studies{whole}")):
            if isinstance(study, int):
                found.names[study], found.lengths[study] = name, length
        found.add(connection.execute(_EVERY).mappings())
        for study in found.entries:
            found.attached |= {(study, seq): data for seq, data in attachments.read(connection, study).items()}
    except DatabaseError:
        if not sqlite:
            raise
        found.failed = True


def _by_pages(path: Path, found: _Found) -> None:
    """What the tables did not show."""
    for rowid, columns in pages.rows(path):
        match columns:
            case (int(), int(), str(), str(), str(), str()):
                found.add([dict(zip(_ENTRY_COLUMNS, columns, strict=True))])
            case (int() as study, int() as seq, bytes() as data):
                found.attached.setdefault((study, seq), data)
            case (None, name, int(), int(), str(), _, _):
                found.names.setdefault(rowid, name)


def _as_name(given: object) -> str:
    """A name that a store can have; empty where there is none."""
    name = given.decode(errors="ignore") if isinstance(given, bytes) else "" if given is None else str(given)
    return name.replace("\0", "") if name.strip("\0 ") else ""


def _variants(name: str) -> Iterator[str]:
    """The name, and others like it."""
    yield name
    yield from (f"{name}-{k}" for k in count(2))
