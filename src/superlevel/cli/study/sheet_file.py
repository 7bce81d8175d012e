"""The sheet that `suggest` and `audit` write, to be filled in and told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import typer

from superlevel import formats, outputs
from superlevel.cli.study import common
from superlevel.errors import InputError, SuperlevelError
from superlevel.files import replacing

if TYPE_CHECKING:
    from superlevel.study.results import Tickets
    from superlevel.study.study import Study

FILLED = ("value", "noise", "status", "reason")

Csv: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--csv",
        metavar="FILE",
        help="Write a sheet with the places, to be filled in and told: .csv.",
        show_default=False,
    ),
]
AnySheet: TypeAlias = Annotated[
    Path | None,
    typer.Option("--sheet", metavar="FILE", help="The same in any format: .csv, .xlsx, .parquet.", show_default=False),
]


class SheetFile(NamedTuple):
    """Where a sheet is written."""

    path: Path
    option: str
    """The one that was typed, which errors name."""


def as_sheet(csv: Path | None, sheet: Path | None) -> SheetFile | None:
    """The file of --csv or --sheet, which can be written; None if neither is given."""
    if csv is not None and sheet is not None:
        raise InputError("--sheet", "given together with --csv", "give one of them")
    found = SheetFile(csv, "--csv") if csv is not None else SheetFile(sheet, "--sheet") if sheet is not None else None
    if found is not None:
        common.check_writable(found.option, found.path, force=True)
    return found


def check_overwriting(study: Study, sheet: SheetFile, *, force: bool) -> bool:
    """That nobody's work is lost by writing the file anew; whether it is overwritten whatever is in it."""
    may = force or (outputs.look(sheet.path) is outputs.Found.FILLED and _is_told(study, sheet.path))
    outputs.check(sheet.option, sheet.path, force=may)
    return may


def _filled(table: formats.Table) -> int:
    """How many lines somebody has filled in."""
    columns = [cells for name, cells in zip(table.header, table.columns, strict=True) if name.lower() in FILLED]
    return sum(any(cell != "" for cell in row) for row in zip(*columns, strict=True))


def _is_told(study: Study, sheet: Path) -> bool:
    """Whether everything in it is in the log: then it may go."""
    try:
        table = formats.read(sheet)
        found, results = common.read_results(study, table)
        return len(results) == _filled(table) and not found.ignored and study.check(results).stored == 0
    except SuperlevelError:
        return False


def write_sheet(sheet: SheetFile, tickets: Tickets, study: Study, *, force: bool) -> None:
    """A sheet to be filled in."""
    from superlevel.study.heads import headed  # noqa: PLC0415
    from superlevel.study.maps import on_map  # noqa: PLC0415
    from superlevel.study.sheets import blank_sheet  # noqa: PLC0415

    shown = study.ledger.coordinates
    table = blank_sheet(
        [ticket.number for ticket in tickets],
        tickets.points,
        shown.names,
        scales=shown.scales,
        ids=[ticket.id for ticket in tickets] if study.ledger.ids else (),
        id_name=study.ledger.created.id_name,
        study=study.name,
    )
    with replacing(sheet.option, sheet.path, force=check_overwriting(study, sheet, force=force)) as beside:
        formats.write(beside, headed(on_map(table, study.ledger), study.ledger))
