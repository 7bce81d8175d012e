"""`superlevel study tell`: what came of the measurements."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console

from superlevel import formats
from superlevel.cli.study import common
from superlevel.errors import InputError, SuperlevelError
from superlevel.formats import Table, text

if TYPE_CHECKING:
    from superlevel.study.results import Receipt, Result, ResultsError
    from superlevel.study.sheets import Line, Sheet, Trouble
    from superlevel.study.study import Study

SHOWN = 20  # mistakes
FATE, MEASURED = "fate", "measured"
ELSEWHERE = ("ticket", FATE, "late", "told")  # columns of `export` that speak of the study they are from
REFUSED = 2
PIPED = "what was piped in"


def run(
    name: common.Name,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The sheet, a CSV file; - for what is piped in.")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be stored.")] = False,
    replicates: Annotated[
        bool,
        typer.Option(
            "--replicates", help="Lines without a ticket are new measurements, even where their very value is known."
        ),
    ] = False,
    elsewhere: Annotated[
        bool,
        typer.Option(
            "--elsewhere",
            help="Lines with coordinates that are not those of a point are measurements beside the points: they tell "
            "of the points, and are drawn on the map.",
        ),
    ] = False,
    exported: Annotated[
        bool,
        typer.Option(
            "--exported",
            help="FILE is what `export --what measurements` wrote, of another study: what counts there is told by its "
            "place, whatever its tickets are.",
        ),
    ] = False,
    worker: common.Worker = None,
    sign: common.Sign = None,
    store: common.Store = common.DEFAULT_STORE,
    as_json: common.Json = False,
) -> None:
    """Store the results in a sheet, all or none of them, and say what they decide.

    A line says where by its ticket or its coordinates, and what came of it in the column value; status failed where it
    could not be measured. Lines without a value stay open. The same sheet again changes nothing. If anything is wrong
    with it, everything that is wrong is shown, and nothing is stored.

    Example: superlevel study tell harbour sheet.csv --dry-run
    """
    storage, study = common.opened(store, name, worker=worker, sign=sign)
    console = common.screen(as_json)
    sheet, results = _read(study, file, exported=exported, elsewhere=elsewhere, as_json=as_json)
    said = {"study": name, "dry_run": dry_run, "blank": sheet.blank, "ignored": list(sheet.ignored), "mistakes": []}
    if dry_run:
        with _refusing(study, sheet, as_json):
            receipt = study.check(results, replicates=replicates)
        common.say(console, f"dry run, nothing was stored; without --dry-run: {receipt}")
        _remark(console, sheet)
        return common.answer({**said, **asdict(receipt)}) if as_json else None
    before = common.known_before(study)
    with _refusing(study, sheet, as_json):
        receipt = study.tell(results, replicates=replicates)
    _acknowledge(console, receipt, study)  # before anything is computed, which may be interrupted
    _remark(console, sheet)
    decided = _decided(study, before, common.command(store, storage, "study", "status", name, "--fresh"))
    if as_json:
        return common.answer({**said, "head": _head(study), **asdict(receipt), **asdict(decided)})
    common.say(console, str(decided))
    common.say_lines(console, (f"estimated {field}: {value}" for field, value in decided.estimated.items()))
    if decided.tested:
        common.say(console, f"fit: {decided.tested}")
    if decided.contradicted:
        common.say_lines(console, (f"doubt: {doubt}" for doubt in decided.doubts))
        common.say_lines(console, common.way_out(store, storage, name))
    elif study.ledger.closed is not None:
        common.say(console, f"the study is closed; next: {common.command(store, storage, 'study', 'report', name)}")
    elif decided.stop is None:
        common.say(console, f"next: {common.command(store, storage, 'study', 'suggest', name)}")
    else:
        common.say(console, f"{decided.stop}; next: {common.command(store, storage, 'study', 'verify', name)}")
    return None


def _acknowledge(console: Console, receipt: Receipt, study: Study) -> None:
    where = "nothing is new" if receipt.entry is None else f"entry {receipt.entry:,} of the log"
    common.say(console, f"{receipt} ({where})")
    common.say_head(console, study)
    console.file.flush()


def _head(study: Study) -> str:
    from superlevel.study.heads import head_of  # noqa: PLC0415

    return str(head_of(study.ledger))


def _remark(console: Console, sheet: Sheet) -> None:
    if sheet.blank:
        common.say(console, f"{common.plural(sheet.blank, 'line')} without a value: left open")
    if sheet.ignored:
        common.say(console, f"columns that mean nothing here: {', '.join(map(repr, sheet.ignored))}")


def _decided(study: Study, before: common.Before, later: str) -> common.Decided:
    try:
        return common.decide(study, before)
    except KeyboardInterrupt:
        common.say(common.screen(True), f"stopped: the results are stored, and `{later}` computes what they decide")
        raise typer.Exit(130) from None
    except SuperlevelError:
        common.say(common.screen(True), "the results are stored, but what they decide cannot be computed:")
        raise


# ---------------------------------------------------------------------------------------- the sheet


def _read(study: Study, file: str, *, exported: bool, elsewhere: bool, as_json: bool) -> tuple[Sheet, list[Result]]:
    from superlevel.study.sheets import SheetError  # noqa: PLC0415

    with common.given_as("FILE"):
        table = text.parsed(sys.stdin.buffer.read(), name=PIPED) if file == "-" else formats.read(file)
    if exported:
        table = _as_sheet(table, study.ledger.created.names)
    try:
        return common.read_results(study, table, elsewhere=elsewhere)
    except SheetError as error:
        raise _refusal(study, error.troubles, as_json) from error


def _as_sheet(table: Table, names: Sequence[str]) -> Table:
    """What was exported, as a sheet of the measurements that count, by their places."""
    for line, fault in table.faults:
        raise table.error(line, fault)
    if not set(ELSEWHERE) <= set(table.header):
        remedy = "give what `superlevel study export --what measurements` writes, or leave --exported out"
        raise InputError("FILE", f"{table.name!r}, which has no columns {', '.join(ELSEWHERE)}", remedy)
    plain = {f"{name} (coordinate)": name for name in names}
    kept = [place for place, column in enumerate(table.header) if column not in ELSEWHERE]
    fates = table.texts(table.header.index(FATE))
    counted = table.chosen(np.array([fate == MEASURED for fate in fates], dtype=np.bool_))
    return replace(
        counted,
        header=tuple(plain.get(table.header[place], table.header[place]) for place in kept),
        columns=tuple(counted.columns[place] for place in kept),
    )


@contextmanager
def _refusing(study: Study, sheet: Sheet, as_json: bool) -> Iterator[None]:
    from superlevel.study.results import ResultsError  # noqa: PLC0415

    try:
        yield
    except ResultsError as error:
        hint = "lines of another study's measurements, as `export` writes them, are told with --exported"
        refusal = _refusal(study, _troubles(error, sheet.lines), as_json)
        if FATE in sheet.ignored:
            common.say(common.screen(True), hint)
        raise refusal from error


def _troubles(error: ResultsError, lines: tuple[Line, ...]) -> list[Trouble]:
    """Mistakes in results, by the line that each of them came from."""
    from superlevel.study.sheets import Trouble  # noqa: PLC0415

    return [
        Trouble(
            line=lines[mistake.position].line,
            column="" if mistake.field in {"point", "at"} else mistake.field,
            got=mistake.got,
            remedy=mistake.remedy,
        )
        for mistake in error.mistakes
    ]


def _refusal(study: Study, troubles: Iterable[Trouble], as_json: bool) -> typer.Exit:
    """Everything that is wrong is shown; nothing was stored."""
    listed = list(troubles)
    if as_json:
        mistakes: list[dict[str, Any]] = [asdict(trouble) for trouble in listed]
        common.answer({"study": study.name, "stored": 0, "entry": None, "mistakes": mistakes})
    console = common.screen(True)
    rows = [(str(trouble.line), trouble.column, trouble.got, trouble.remedy) for trouble in listed[:SHOWN]]
    console.print(common.table(["line", "column", "is", "remedy"], rows))
    if len(listed) > SHOWN:
        common.say(console, f"and {len(listed) - SHOWN:,} more")
    common.say(console, f"superlevel: nothing was stored: {common.plural(len(listed), 'mistake')}")
    return typer.Exit(REFUSED)
