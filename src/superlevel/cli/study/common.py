"""What the verbs of a study share: the store, who speaks where, files that are written whole, and what is decided."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, NoReturn

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from superlevel import formats, outputs
from superlevel.arrays import as_number
from superlevel.cli import commands, waiting
from superlevel.errors import InputError
from superlevel.files import file_name
from superlevel.formats.cells import comma_remedy

if TYPE_CHECKING:
    from superlevel.study.results import Result
    from superlevel.study.sheets import Sheet
    from superlevel.study.storage.protocol import Storage
    from superlevel.study.study import Study

DEFAULT_STORE = "sqlite:///superlevel.db"
VARIABLE = "SUPERLEVEL_STORE"
CLOSED_PIPE = commands.CLOSED_PIPE
MOST_HOURS = 8e5  # of a lease, ninety years: calendars end

Name = Annotated[str, typer.Argument(metavar="NAME", help="The study.", show_default=False)]
Store = Annotated[
    str,
    typer.Option(
        "--store",
        envvar=VARIABLE,
        metavar="URL",
        help="Where studies are kept: sqlite:///FILE, or postgresql://USER@HOST/DATABASE for many who write at once.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document; everything else goes to stderr.")]
Worker = Annotated[
    str | None,
    typer.Option(
        "--worker",
        help="Who measures, where several do so from one account at once. Default: you, on this machine.",
        show_default=False,
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Overwrite a file that superlevel did not write, or a sheet with values in it."),
]
Sign = Annotated[
    Path | None,
    typer.Option(
        "--sign",
        envvar="SUPERLEVEL_SIGN",
        metavar="KEY",
        help="Sign the entry with this file, which `superlevel study key` made. A signed study needs it.",
        show_default=False,
    ),
]
Unit = Annotated[
    str, typer.Option("--unit", metavar="TEXT", help="Unit of the measured values: m, mg/kg.", show_default=False)
]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; the log keeps it.", show_default=False)]


# ---------------------------------------------------------------------------------------- words


class Screen(Console):
    """A console that ends quietly when nobody reads on."""

    def on_broken_pipe(self) -> NoReturn:
        """`head` has seen enough."""
        self.quiet = True
        commands.let_go(self.file.fileno())


def screen(as_json: bool = False) -> Screen:
    """Where words go: to stdout, or beside it where it is for one JSON document."""
    return Screen(stderr=as_json)


def say(console: Console, sentence: str) -> None:
    """As it is: a name may hold anything, brackets too, and is copied in one piece."""
    console.print(waiting.printable(sentence), markup=False, highlight=False, soft_wrap=True)


answer = commands.answer


def say_lines(console: Console, lines: Iterable[str]) -> None:
    """One after the other."""
    for line in lines:
        say(console, line)


working = waiting.working


@contextmanager
def given_as(option: str, **others: str) -> Iterator[None]:
    """Mistakes in what an option gave speak of the option: of a path, and of other fields by their options."""
    try:
        yield
    except InputError as error:
        known = {"path": option} | {name.replace("_", "."): other for name, other in others.items()}
        if error.field not in known:
            raise
        got = "missing" if error.got is None else error.got
        raise InputError(known[error.field], got, error.remedy) from error


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None) -> Table:
    """Cells as they are: no markup in them is taken for such."""
    made = Table(title=title)
    for header in headers:
        made.add_column(Text(waiting.printable(header)))
    for row in rows:
        made.add_row(*(Text(waiting.printable(cell)) for cell in row))
    return made


def facts(rows: Iterable[Sequence[str]]) -> Table:
    """Names and values, without lines around them."""
    made = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, value in rows:
        made.add_row(Text(name, style="dim"), Text(waiting.printable(value)))
    return made


def plural(count: int, word: str) -> str:
    """'1 ticket', '2,000 tickets'."""
    return f"{count:,} {word}{'s' * (count != 1)}"


def when(moment: str) -> str:
    """An entry's time for people, to the minute."""
    return f"{datetime.fromisoformat(moment).astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def number(field: str, text: str) -> float:
    """A finite number that a person typed."""
    try:
        value = float("" if "_" in text else text)
    except ValueError as error:
        remedy = comma_remedy(text) or "give a number with a decimal point"
        raise InputError(field, repr(text), remedy) from error
    return as_number(field, value)


def hours(field: str, given: float) -> float:
    """In seconds."""
    return 3600 * as_number(field, given, above=0, below=MOST_HOURS)


# ---------------------------------------------------------------------------------------- the store


def storage_of(store: str) -> Storage:
    """What the URL stands for; nothing is opened yet."""
    if store.strip() == "memory:":
        raise InputError("--store", repr(store), f"it is gone when the command ends: give a file, as {DEFAULT_STORE}")
    from superlevel.study.storage import open_storage  # noqa: PLC0415  slow to import, and --help needs none of it

    return open_storage(store)


def opened(store: str, name: str, *, worker: str | None = None, sign: Path | None = None) -> tuple[Storage, Study]:
    """A study that is there."""
    storage = storage_of(store)
    from superlevel.study.study import Study  # noqa: PLC0415

    with given_as("path", sign="--sign"):
        return storage, Study.open(storage, name, worker=me() if worker is None else worker, sign=sign)


def say_head(console: Console, study: Study) -> None:
    """Where the log stands now: whoever writes it down can find changes later."""
    from superlevel.study.heads import head_of  # noqa: PLC0415

    say(console, f"head: {head_of(study.ledger)}")


def me() -> str:
    """The same worker in every command of the same person."""
    from superlevel.study.checks import person  # noqa: PLC0415

    return person()


def command(store: str, storage: Storage, *words: object) -> str:
    """What to type next, with the store where it must be named; a password is never shown."""
    named = [] if store == os.environ.get(VARIABLE, DEFAULT_STORE) else ["--store", storage.url]
    return shlex.join(["superlevel", *map(str, words), *named])


def read_results(study: Study, table: formats.Table, *, elsewhere: bool = False) -> tuple[Sheet, list[Result]]:
    """A sheet, and its results in the order of its lines."""
    from superlevel.study.results import Result  # noqa: PLC0415
    from superlevel.study.sheets import read_sheet  # noqa: PLC0415

    ledger = study.ledger
    sheet = read_sheet(
        table,
        points=ledger.places,
        names=ledger.coordinates.names,
        scales=ledger.coordinates.scales,
        ids=ledger.ids,
        id_name=ledger.created.id_name,
        study=study.name,
        elsewhere=elsewhere,
    )
    return sheet, [
        Result(ticket=line.ticket, point=line.point, at=line.at, value=line.value, noise=line.noise, reason=line.reason)
        for line in sheet.lines
    ]


# ---------------------------------------------------------------------------------------- what is decided


@dataclass(frozen=True, kw_only=True)
class Decided:
    """What is known now, beside what was known before."""

    groups: dict[str, int]
    """Points that are decided to be in each class, and undecided ones."""
    newly: int | None
    """Points that were undecided before; None where that was never computed."""
    revised: int | None
    """Points that were on the other side of a level before."""
    withdrawn: int | None
    """Points that had a label before and are undecided now."""
    tested: str
    """What the measurements say of an estimated kernel; empty where it is given."""
    estimated: dict[str, str]
    """What was estimated anew, in words."""
    stop: str | None
    contradicted: bool
    """Whether that is because the measurements contradict what is assumed."""
    doubts: tuple[str, ...]

    def __str__(self) -> str:
        parts = [in_words(self.groups)]
        parts += [f"{self.newly:,} newly decided"] * (self.newly is not None)
        parts += [f"{self.revised:,} revised"] * bool(self.revised)
        parts += [f"{self.withdrawn:,} withdrawn"] * bool(self.withdrawn)
        parts += [str(self.stop)] * self.contradicted
        return "; ".join(parts)


def in_words(groups: Mapping[str, int]) -> str:
    """How many points are in each class."""
    return ", ".join(f"{count:,} {name}" for name, count in groups.items())


class Before(NamedTuple):
    """What was last computed."""

    labels: str | None
    """A sign for each label; None where none was computed."""
    estimated: Mapping[str, str]


def known_before(study: Study) -> Before:
    """What was known when labels were last computed."""
    ledger, reading = study.ledger, study.cached()
    if reading is not None:
        return Before(reading.labels, reading.estimated)
    return Before("?" * ledger.labels if ledger.samples == 0 else None, {})


def decide(study: Study, before: Before) -> Decided:
    """Compute what is known now."""
    with working("computing what that decides"):
        from superlevel.study.status import counts, reading  # noqa: PLC0415

        known = reading(study.knowledge)
    changes = None if before.labels is None else _changes(before.labels, known.labels, study.ledger.n)
    return Decided(
        groups=counts(known.labels, study.ledger),
        newly=None if changes is None else changes.newly,
        revised=None if changes is None else changes.revised,
        withdrawn=None if changes is None else changes.withdrawn,
        tested=known.tested,
        estimated=_changed(before.estimated, known.estimated),
        stop=known.stop,
        contradicted=known.contradicted,
        doubts=known.doubts,
    )


class _Changes(NamedTuple):
    """How many points got all of their labels, changed sides at any level, or lost a label at any level."""

    newly: int
    revised: int
    withdrawn: int


def _changes(before: str, now: str, n: int) -> _Changes:
    from superlevel.study.signs import as_rows  # noqa: PLC0415

    old, new = as_rows(before, n), as_rows(now, n)
    newly = (old == 0).any(axis=0) & (new != 0).all(axis=0)
    revised, withdrawn = (old * new < 0).any(axis=0), ((old != 0) & (new == 0)).any(axis=0)
    return _Changes(*(int(changed.sum()) for changed in (newly, revised, withdrawn)))


def _changed(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """What was estimated anew: the value of now, and that of before where there was one."""
    return {
        name: value if name not in before else f"{value} (before: {before[name]})"
        for name, value in now.items()
        if before.get(name) != value
    }


def way_out(store: str, storage: Storage, name: str) -> list[str]:
    """What to do where the measurements contradict what is assumed, and the commands for it."""
    from superlevel.study.status import WAY_OUT  # noqa: PLC0415

    other, file = f"{name}-2", f"{file_name(name)}-measurements.csv"
    typed = [
        ("correct", name, "TICKET", "VALUE", "--reason", "WHY"),
        ("export", name, "--what", "measurements", "--out", file),
        ("create", other, "--points", "POINTS.csv"),
        ("tell", other, file, "--exported"),
    ]
    remarks = ["", "", f"  # with the norm, bound or noise that is right, and all else as for {name!r}", ""]
    commands = [command(store, storage, "study", *words) for words in typed]
    return [f"next: {WAY_OUT}", *(f"  {line}{remark}" for line, remark in zip(commands, remarks, strict=True))]


# ---------------------------------------------------------------------------------------- files


def check_writable(field: str, path: Path, *, suffixes: Sequence[str] = (), force: bool = False) -> None:
    """Before anything is computed."""
    if suffixes and path.suffix.lower() not in suffixes:
        raise InputError(field, repr(str(path)), f"end it in {' or '.join(suffixes)}")
    with given_as(field):
        formats.check_installed(path)
    target = outputs.check(field, path, force=True)
    if target.exists() and not (target.is_file() and os.access(target, os.W_OK)):
        raise InputError(field, repr(str(path)), "it cannot be written: name a file of yours")
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        remedy = f"it cannot be written ({error.strerror}): name a file in a folder of yours"
        raise InputError(field, repr(str(path)), remedy) from error
    outputs.check(field, path, force=force)
