"""What a person gives to say where a store is, and what may be shown of it.

A password may stand anywhere in an address that was typed in a hurry. Only what is known to be harmless is shown: the
scheme, the host, the port and the database, each from its own place in an address that is written by the rules. Of
any other address only a scheme that is in a list is shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, quote_plus, unquote

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from superlevel.errors import InputError

EXAMPLES = "'sqlite:///campaigns.db', 'postgresql://user:password@host/database' or 'memory:'"
HIDDEN = "***"
_ESCAPE = "in a user, a password or an option write @ as %40, / as %2F and ? as %3F"
_POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")
_SCHEMES = (*_POSTGRES, "sqlite", "postgresql+psycopg2", "postgresql+asyncpg", "mysql", "mariadb", "oracle", "mssql")
_SERVER = re.compile(
    r"(?P<scheme>[a-z+]+)://"
    r"(?:(?P<user>[^@/?]*)@)?"
    r"(?P<place>(?:\[[0-9A-Fa-f:.]+\]|[\w.,-]*)(?::[0-9]{1,5})?)"
    r"(?:/(?P<database>[^/?#@:=&\s]*))?"
    r"(?:\?(?P<options>[^@?]*))?"
)
_OPTION = re.compile(r"\w+")
_PLACE = re.compile(r"[\w./,-]+(?::[0-9]{1,5})?")
_SHOWN_OPTIONS = ("host", "port", "dbname")
_SHORT = 4  # letters, under which a secret is masked as a word only: a password "a" is in every sentence


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a SQL store is."""

    shown: str
    """The scheme, host, port and database, with *** for what opens it besides."""
    url: URL = field(repr=False)
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

    def masked(self, words: str) -> str:
        """The words, with *** for everything in them that is in the address and may not be shown."""
        for secret in self._hidden():
            found = re.escape(secret)
            words = re.sub(found if len(secret) >= _SHORT else rf"(?<!\w){found}(?!\w)", HIDDEN, words)
        return words

    def _hidden(self) -> list[str]:
        """Everything that may not be shown, as it is and as it is written in an address; the longest first."""
        if self.path is not None:
            return []
        given: list[str] = [str(part) for part in (self.url.username, self.url.password) if part]
        for name, value in self.url.query.items():
            if name not in _SHOWN_OPTIONS:
                given += [name, *([value] if isinstance(value, str) else value)]
        # A server may quote a part of what it was given, such as the value of a setting in options=-cname=value.
        given += [part for whole in given for part in re.split(r"\W+", whole) if len(part) >= _SHORT]
        written = {form(part) for part in given if part for form in (str, quote, quote_plus, unquote, _escaped)}
        return sorted(written, key=lambda part: (-len(part), part))


def parse(store: str) -> Address:
    """The address that a URL stands for."""
    url = _read(store)
    if url is None:
        raise InputError("store", repr(_scheme(store)), f"give a URL such as {EXAMPLES}")
    if url.drivername == "sqlite":
        return Address(shown=store, url=url, path=_path(store, url))
    found = _SERVER.fullmatch(store)
    if found is None or not all(_OPTION.fullmatch(name) for name in url.query):
        remedy = f"give a URL such as {EXAMPLES}; {_ESCAPE}"
        raise InputError("store", repr(_scheme(store)), remedy)
    shown = _shown(found, url)
    if not url.database:
        remedy = "name the database, as in 'postgresql://user:password@host/database'"
        raise InputError("store", repr(shown), remedy)
    if url.username == HIDDEN:
        remedy = f"{HIDDEN} stands for what is not shown: write the user there, and the password if it needs one"
        raise InputError("store", repr(shown), remedy)
    return Address(shown=shown, url=url.set(drivername="postgresql+psycopg"), path=None)


def _read(store: str) -> URL | None:
    """What SQLAlchemy reads of it; None where that is nothing, or of another kind of database."""
    try:
        url = make_url(store)
    except (ArgumentError, ValueError):  # their words may be the address itself, so that they are not passed on
        return None
    return url if url.drivername in ("sqlite", *_POSTGRES) else None


def _scheme(store: str) -> str:
    """What may be shown of an address that cannot be used."""
    scheme, colon, rest = store.partition(":")
    if not rest.strip("/") or (scheme == "sqlite" and rest.startswith("///") and not set(rest) & set("@?")):
        return store if not store or scheme in _SCHEMES else HIDDEN  # there is no more in it than a database
    return f"{scheme}:{HIDDEN}" if colon and scheme in _SCHEMES else HIDDEN


def _shown(found: re.Match[str], url: URL) -> str:
    """What may be shown of the address of a server. The password may also be in PGPASSWORD or in a .pgpass file."""
    secret = found["user"] is not None or any(
        option.partition("=")[0] not in _SHOWN_OPTIONS for option in (found["options"] or "").split("&") if option
    )
    options = [
        f"{name}={value}"
        for name, given in url.query.items()
        if name in _SHOWN_OPTIONS
        for value in ([given] if isinstance(given, str) else given)
        if _PLACE.fullmatch(value)
    ]
    whole = f"postgresql://{HIDDEN * secret}{'@' * secret}{found['place']}/{found['database'] or ''}"
    return f"{whole}?{'&'.join(options)}" if options else whole


def _escaped(text: str) -> str:
    """As Python quotes it."""
    return repr(text)[1:-1]


def _path(store: str, url: URL) -> Path:
    name = store.removeprefix("sqlite:///")  # as it is typed: SQLAlchemy would take %20 for a blank
    if url.database == ":memory:" or (not url.database and not url.host):
        remedy = "a SQLite store needs a file, as in 'sqlite:///campaigns.db'; for one in memory give 'memory:'"
        raise InputError("store", repr(_scheme(store)), remedy)
    if url.host or url.query or name == store or "\0" in name:
        remedy = "give three slashes and a file name, as in 'sqlite:///campaigns.db', or four for a whole path"
        raise InputError("store", repr(_scheme(store)), remedy)
    try:
        return Path(name).expanduser().absolute()
    except (RuntimeError, OSError, ValueError) as error:  # there is no such user, or no user here has a name
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
        path.touch(mode=0o600)  # SQLite gives its other files the same rights
    except OSError as error:
        remedy = f"make the folder {path.parent} writable, or give a file in another one ({error.strerror})"
        raise InputError("store", f"{address.shown!r}, which cannot be made", remedy) from error
    return True
