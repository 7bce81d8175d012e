"""What a person gives to say where a store is, and what may be shown of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from superlevel.errors import InputError

EXAMPLES = "'sqlite:///campaigns.db', 'postgresql://user:password@host/database' or 'memory:'"
_SECRETS = ("password", "sslpassword")
_POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a SQL store is."""

    shown: str
    """What opens it again, without the password."""
    url: URL
    """As SQLAlchemy wants it, with the password."""
    path: Path | None
    """Of the file, absolute, so that it stays the same where a program changes its folder; None for a server."""

    @property
    def is_absent(self) -> bool:
        """Whether there is certainly no file, rather than one that cannot be looked at."""
        try:
            return self.path is not None and not self.path.exists()
        except OSError:
            return False

    @property
    def is_folder(self) -> bool:
        """Whether a folder is where the file should be."""
        try:
            return self.path is not None and self.path.is_dir()
        except OSError:
            return False

    @property
    def password(self) -> str | None:
        """What must never be shown."""
        secret = self.url.password or self.url.query.get("password")
        return str(secret) if secret else None


def parse(store: str) -> Address:
    """The address that a URL stands for."""
    try:
        url = make_url(store)
    except (ArgumentError, ValueError) as error:
        raise _unusable(store) from error
    if url.drivername == "sqlite":
        return Address(shown=store, url=url, path=_path(store, url))
    if url.drivername not in _POSTGRES:
        raise _unusable(store)
    shown = _without_password(url)
    if not url.database:
        remedy = "name the database, as in 'postgresql://user:password@host/database'"
        raise InputError("store", repr(shown), remedy)
    return Address(shown=shown, url=url.set(drivername="postgresql+psycopg"), path=None)


def _unusable(store: str) -> InputError:
    # Up to the last @, because a password may have one that should have been written as %40.
    shown = re.sub(r"(://[^:/@]*):.*@", r"\1@", store)
    return InputError("store", repr(shown), f"give a URL such as {EXAMPLES}")


def _without_password(url: URL) -> str:
    """What may be shown. It still opens the store where the password is in PGPASSWORD or a .pgpass file."""
    bare = URL.create("postgresql", url.username, None, url.host, url.port, url.database, url.query)
    return bare.difference_update_query(_SECRETS).render_as_string()


def _path(store: str, url: URL) -> Path:
    name = store.removeprefix("sqlite:///")  # as it is typed: SQLAlchemy would take %20 for a blank
    if url.database == ":memory:" or (not url.database and not url.host):
        remedy = "a SQLite store needs a file, as in 'sqlite:///campaigns.db'; for one in memory give 'memory:'"
        raise InputError("store", repr(store), remedy)
    if url.host or url.query or name == store or "\0" in name:
        remedy = "give three slashes and a file name, as in 'sqlite:///campaigns.db', or four for a whole path"
        raise InputError("store", repr(store), remedy)
    try:
        return Path(name).expanduser().absolute()
    except RuntimeError as error:  # there is no such user, or no user here has a name
        raise InputError("store", repr(store), "its ~ stands for no folder: give the whole path") from error


def make_file(address: Address) -> bool:
    """Whether a file was missing, which is then there and empty: SQLite takes that for a new database."""
    path = address.path
    if path is None or not address.is_absent:
        return False
    if not path.parent.is_dir():
        remedy = f"make the folder {path.parent} first, or give a file in another one"
        raise InputError("store", f"{address.shown!r}, whose folder is not there", remedy)
    try:
        path.touch()
    except OSError as error:
        remedy = f"make the folder {path.parent} writable, or give a file in another one ({error.strerror})"
        raise InputError("store", f"{address.shown!r}, which cannot be made", remedy) from error
    return True
