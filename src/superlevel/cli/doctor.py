"""`superlevel doctor`: whether everything is there, and whether a store is whole."""

from __future__ import annotations

import platform
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from superlevel import __version__
from superlevel.cli.study import common
from superlevel.errors import InputError, SuperlevelError

if TYPE_CHECKING:
    from superlevel.study.ledger import Ledger
    from superlevel.study.rescue import Rescued
    from superlevel.study.storage.protocol import Entry
    from superlevel.study.storage.sql import Sql

PACKAGES = ("numpy", "scipy", "scikit-learn", "SQLAlchemy", "alembic", "pydantic", "matplotlib")
OPTIONAL = {"psycopg": "only PostgreSQL needs it", "cryptography": "only signatures need it"}
PROBLEMS = 1
SHOWN = 5  # entries that are not signed


@dataclass(kw_only=True)
class Study:
    """What was found of one study."""

    name: str
    entries: int = 0
    measurements: int = 0
    problem: str | None = None
    beside: list[str] = field(default_factory=list)
    """What else is wrong: tickets, cached labels, signatures, or entries that superlevel does not write."""


@dataclass(kw_only=True)
class Health:
    """What was found of a store."""

    url: str
    there: bool = False
    revision: str | None = None
    current: bool | None = None
    """Whether that revision is the one of this version."""
    write_ahead: bool | None = None
    """Whether a SQLite file lets people read while somebody writes; None for a server."""
    studies: list[Study] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def run(
    *,
    store: common.Store = common.DEFAULT_STORE,
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Change the tables of an older version into those of this one.")
    ] = False,
    rescue: Annotated[
        str | None,
        typer.Option(metavar="NEW_URL", help="Copy what is intact to a new store; this one is not changed."),
    ] = None,
    as_json: common.Json = False,
) -> None:
    """Say which versions are installed, whether the store can be used, and whether every log is as it was written.

    The exit code is 0 if all is well, and 1 if something was found.

    Example: superlevel doctor --store sqlite:///survey.db --rescue sqlite:///rescued.db
    """
    console = common.screen(as_json)
    storage = _sql(store)
    if rescue is not None:
        _check_new(rescue)
    if upgrade:
        with common.working("changing the tables"):
            storage.upgrade()
        common.say(console, f"{storage.url} has the tables of this version now")
    with common.working("reading every log"):
        found, health = versions(), examine(store, storage)
    if not as_json:
        _show(console, found, health)
    saved = [] if rescue is None else _rescued(storage, rescue, health)
    if as_json:
        copied = [item._asdict() for item in saved]
        common.answer({"versions": found, "store": asdict(health), "rescued": copied, "problems": _problems(health)})
    elif rescue is not None:
        _show_rescued(console, saved, rescue)
    if _problems(health):
        raise typer.Exit(PROBLEMS)


def versions() -> dict[str, str]:
    """Of everything that matters."""
    from importlib import metadata  # noqa: PLC0415  slow to import, and --help needs none of it

    found = {"superlevel": __version__, "Python": platform.python_version()}
    for package in (*PACKAGES, *OPTIONAL):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = f"not installed ({OPTIONAL.get(package, 'pip install --upgrade superlevel')})"
    return found


# ---------------------------------------------------------------------------------------- the store


def examine(store: str, storage: Sql) -> Health:
    """Everything that can be found out without changing anything."""
    health = Health(url=storage.url)
    try:
        _look(store, health)
    except SuperlevelError as error:  # a file that is not there, or a server that does not answer
        health.problems.append(str(error))
        return health
    if not health.there:
        return health
    health.problems += storage.check()
    with suppress(SuperlevelError):  # `check` has said it
        health.studies += [_study(storage, name) for name in storage.names()]
    return health


def _look(store: str, health: Health) -> None:
    """What kind of store is there, if any."""
    from superlevel.study.storage.address import parse  # noqa: PLC0415
    from superlevel.study.storage.failures import missing  # noqa: PLC0415
    from superlevel.study.storage.schema import REVISIONS  # noqa: PLC0415
    from superlevel.study.storage.store import Store  # noqa: PLC0415
    from superlevel.study.storage.upgrades import find_revision  # noqa: PLC0415

    address = parse(store)
    if store == common.DEFAULT_STORE and address.path is not None and not address.path.exists():
        return  # nobody asked for it
    with Store(address).as_it_is() as connection:
        health.revision = find_revision(connection, address)
        if health.revision is None:
            raise missing(address)
        if address.path is not None:
            mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
            health.write_ahead = mode == "wal"
    health.there = True
    health.current = health.revision == REVISIONS[-1]


def _study(storage: Sql, name: str) -> Study:
    """Whether its log is a chain from the first entry to the last, and what is beside it follows from it."""
    from superlevel.study.beside import faults, read_all  # noqa: PLC0415
    from superlevel.study.ledger import fold  # noqa: PLC0415
    from superlevel.study.snapshots import wrong  # noqa: PLC0415

    try:
        entries, beside = read_all(storage, name)
        ledger = fold(entries)
    except SuperlevelError as error:
        return Study(name=name, problem=str(error))
    strange = faults(ledger, entries, beside)
    stale = wrong(storage, name, entries)
    found = [*_senseless(ledger), *strange.tickets, *strange.note]  # `check` looks at lengths
    found += _unsigned(entries, ledger)
    called = ledger.created.study
    if called and called != name:
        found.append(f"its log is of a study {called!r}: names were swapped")
    return Study(name=name, entries=ledger.length, measurements=ledger.samples, problem=stale or None, beside=found)


def _senseless(ledger: Ledger) -> list[str]:
    """What superlevel cannot have written, although the digests are right. A rescue copies it with all the rest."""
    from superlevel.study.sense import check_sense  # noqa: PLC0415

    try:
        check_sense(ledger)
    except SuperlevelError as error:
        return [str(error)]
    return []


def _unsigned(entries: list[Entry], ledger: Ledger) -> list[str]:
    """Entries of a signed study whose signature is not right; none where signatures cannot be checked."""
    from superlevel.study import signatures  # noqa: PLC0415

    key = ledger.created.key
    return signatures.faults(entries, key)[:SHOWN] if key and signatures.is_installed() else []


def _problems(health: Health) -> list[str]:
    """Each once: a study that has lost an entry is found by the store and by its log."""
    found = [*health.problems, *(f"study {item.name!r}: {item.problem}" for item in health.studies if item.problem)]
    found += [f"study {item.name!r}: {sentence}" for item in health.studies for sentence in item.beside]
    return [text for at, text in enumerate(found) if not any(other in text for other in found[:at])]


def _show(console: Console, found: dict[str, str], health: Health) -> None:
    rows = [*found.items(), ("store", health.url)]
    if health.there:
        rows.append(("tables", f"revision {health.revision}" + ("" if health.current else ", of an older version")))
    elif not health.problems:
        rows.append(("", "nothing is stored there yet"))
    if health.write_ahead is not None:
        written = "in use" if health.write_ahead else "not in use; the next change turns it on"
        rows.append(("write-ahead log", written))
    console.print(common.facts(rows))
    if health.studies:
        rows_of = [
            (item.name, f"{item.entries:,}", f"{item.measurements:,}", "damaged" if item.problem else "as written")
            for item in health.studies
        ]
        console.print(common.table(["study", "entries", "measurements", "log"], rows_of))
    for problem in _problems(health):
        common.say(console, f"problem: {problem}")
    if not _problems(health):
        common.say(console, "all is well")


# ---------------------------------------------------------------------------------------- rescue


def _sql(store: str) -> Sql:
    common.storage_of(store)  # refuses what is no store
    from superlevel.study.storage.sql import Sql  # noqa: PLC0415

    return Sql(store)


def _check_new(url: str) -> None:
    """That the new store is new, before anything is read."""
    from superlevel.study.rescue import check_new  # noqa: PLC0415
    from superlevel.study.storage.address import parse  # noqa: PLC0415
    from superlevel.study.storage.store import Store  # noqa: PLC0415
    from superlevel.study.storage.upgrades import find_revision  # noqa: PLC0415

    new = _sql(url)
    address = parse(url)
    if address.path is not None and not address.path.exists():
        if not address.path.parent.is_dir():
            remedy = f"make the folder {address.path.parent} first, or give a file in another one"
            raise InputError("--rescue", repr(url), remedy)
        return
    with Store(address).as_it_is() as connection:
        if find_revision(connection, address) is None:
            return
    check_new(new)


def _rescued(storage: Sql, url: str, health: Health) -> list[Rescued]:
    """What was copied. A log with a gap is read up to it without complaint: what is missing then, the doctor knows."""
    from superlevel.study.rescue import rescue  # noqa: PLC0415

    with common.working("copying what is intact"):
        copied = rescue(storage, _sql(url))
    known = {item.name: item.problem or "" for item in health.studies}
    return [item._replace(lost=item.lost or known.get(item.name, "")) for item in copied]


def _show_rescued(console: Console, saved: list[Rescued], url: str) -> None:
    for item in saved:
        entries = "1 entry" if item.entries == 1 else f"{item.entries:,} entries"
        lost = f"; lost is what comes after: {item.lost}" if item.lost else "; nothing is lost"
        measured = common.plural(item.measurements, "measurement")
        common.say(console, f"rescued study {item.name!r}: {entries}, {measured}{lost}")
    common.say(console, f"what is intact is in {_sql(url).url} now" if saved else "there was no study to rescue")
