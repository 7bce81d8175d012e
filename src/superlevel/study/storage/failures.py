"""A database's errors as sentences: what is wrong with which store, and what to do. No SQL, no password."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from superlevel.errors import InputError, SuperlevelError
from superlevel.study.storage import engines
from superlevel.study.storage.address import Address
from superlevel.study.storage.protocol import StorageError

_FREE_IT = "has been locked by somebody else for {wait:g} s: end the process that holds it, and try again"
_FULL = "has no room left ({why}): free some of its disk and try again; what was being stored is not"
_RESCUE = (
    "is damaged ({why}): restore a copy, or rescue what can be read with "
    "`superlevel doctor --store {url} --rescue NEW_URL`"
)
_OTHER = "cannot be used ({why}): look for the reason with `superlevel doctor --store {url}`"

_SQLITE = {
    sqlite3.SQLITE_BUSY: _FREE_IT,
    sqlite3.SQLITE_LOCKED: _FREE_IT,
    sqlite3.SQLITE_CORRUPT: _RESCUE,
    sqlite3.SQLITE_NOTADB: "is not a SQLite database, or damaged from its beginning ({why}): give another file, or "
    "restore a copy",
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: "cannot be written to ({why}): make the file and its folder writable",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened ({why}): make the file and its folder readable and writable",
    sqlite3.SQLITE_PERM: "cannot be opened ({why}): make the file and its folder readable and writable",
    sqlite3.SQLITE_IOERR: "cannot be read or written ({why}): check the disk that it is on",
}
_UNREACHED = "cannot be reached ({why}): check that the server runs, and the host, port, user, password and database"
# The longest beginning of PostgreSQL's code that is listed.
_POSTGRES = {
    "08": _UNREACHED,
    "25006": "is only for reading: give the address of a server that takes changes",
    "28": _UNREACHED,
    "3D": _UNREACHED,
    "3F": "cannot be used ({why}): make the schema first, with `CREATE SCHEMA`",
    "40": "was changed by others at the same time ({why}): try again",
    "42501": "does not allow that ({why}): ask its owner to grant this user the right to it",
    "53100": _FULL,
    "53300": "has no connection left ({why}): end other processes that use it, and try again",
    "55P03": _FREE_IT,
    "57P": _UNREACHED,
    "XX": "is damaged ({why}): restore a backup of the database",
}


@contextmanager
def explained(address: Address) -> Iterator[None]:
    """Turns what a database raises into one sentence."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        # Chained to the driver's error rather than to SQLAlchemy's, whose text is the whole statement.
        cause = getattr(error, "orig", None) or error
        # A cause that has a secret in it is left out, because whoever prints a traceback prints it too.
        raise sentence(address, cause) from (cause if address.masked(str(cause)) == str(cause) else None)


def sentence(address: Address, cause: BaseException) -> SuperlevelError:
    """What a person reads instead of this error."""
    if address.is_absent:
        return missing(address)
    if address.is_folder:
        return InputError("store", f"{address.shown!r}, which is a folder", "give the name of a file in it")
    template = _postgres_template(cause) if address.path is None else _sqlite_template(cause)
    words = template.format(why=_why(address, cause), url=shlex.quote(address.shown), wait=engines.LOCK_TIMEOUT)
    return StorageError(f"{address.shown} {words}")


def missing(address: Address) -> InputError:
    """There is no store here yet."""
    remedy = f"make a store with its first study by `superlevel study create --store {shlex.quote(address.shown)}`"
    return InputError("store", f"{address.shown!r}, where nothing is stored yet", remedy)


def _sqlite_template(cause: BaseException) -> str:
    if _is_no_text(cause):
        return _RESCUE
    code: int = getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return _SQLITE.get(code & 0xFF, _OTHER)  # the other bits are detail


def _is_no_text(cause: BaseException) -> bool:
    """Whether Python's driver found bytes where there should be text; it shows them all, and has no code for it."""
    return str(cause).startswith("Could not decode to UTF-8")


def _postgres_template(cause: BaseException) -> str:
    state: str | None = getattr(cause, "sqlstate", None)
    if state is None:  # the server did not answer: only those that do have a code
        return _UNREACHED if any(base.__name__ == "OperationalError" for base in type(cause).__mro__) else _OTHER
    found = [start for start in _POSTGRES if state.startswith(start)]
    return _POSTGRES[max(found, key=len)] if found else _OTHER


def _why(address: Address, cause: BaseException) -> str:
    """The driver's words in one line, without the statement, which PostgreSQL shows below its first line."""
    if _is_no_text(cause):
        return "text that is not UTF-8"
    diagnosis: Any = getattr(cause, "diag", None)
    words = getattr(diagnosis, "message_primary", None) or str(cause.args[0] if cause.args else type(cause).__name__)
    return address.masked(" ".join(words.split()))
