"""Where logs are kept: in memory, in a SQLite file, or on a PostgreSQL server."""

from __future__ import annotations

import reprlib

from superlevel.errors import InputError
from superlevel.study.storage.memory import Memory
from superlevel.study.storage.protocol import Entry, Lease, Moved, Note, ReplacedError, Storage, StorageError

__all__ = [
    "Entry",
    "Lease",
    "Memory",
    "Moved",
    "Note",
    "ReplacedError",
    "Storage",
    "StorageError",
    "open_storage",
    "upgrade",
]


def open_storage(store: str | Storage) -> Storage:
    """The storage that a URL stands for; a storage stands for itself.

    Args:
        store: 'memory:' for a new one that lives as long as this process, 'sqlite:///campaigns.db' for a file in the
            current folder, 'postgresql://user:password@host/database' for a server. Nothing is opened before it is
            needed, and nothing is made before a study is created.
    """
    if not isinstance(store, str):
        if isinstance(store, type) or not hasattr(store, "turn") or not hasattr(store, "claim"):
            raise InputError("store", reprlib.repr(store), "give a URL or a storage")
        return store
    if store == "memory:":
        return Memory()
    from superlevel.study.storage.sql import Sql  # noqa: PLC0415  SQLAlchemy is slow to import

    return Sql(store)


def upgrade(url: str) -> None:
    """Change the tables of a store that an older version made into those of this one; nothing if they are."""
    from superlevel.study.storage.sql import Sql  # noqa: PLC0415  SQLAlchemy is slow to import

    Sql(url).upgrade()
