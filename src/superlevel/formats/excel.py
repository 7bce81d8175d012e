"""Tables in Excel workbooks: the first worksheet that has something in it. Needs the extra `excel` (openpyxl).

Numbers are numbers and keep all digits; numbers that somebody typed as text may have decimal commas. Texts that begin
like a formula are written as texts. Of a formula, the value that the spreadsheet stored is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from superlevel.errors import InputError
from superlevel.formats.cells import Cell, as_text, read_cell
from superlevel.formats.extras import needed
from superlevel.formats.table import Fault, Table

endings = (".xlsx", ".xlsm")

MOST_ROWS = 1_048_576  # of a worksheet, the header included
_LONGEST = 32_767  # characters in a cell
_WORKBOOK = "give an Excel workbook that a spreadsheet can open"


def header(path: Path) -> tuple[str, ...]:
    """The names of the columns."""
    with _rows(path) as rows:
        first = next(rows, (1, ()))[1]
    return tuple(as_text(cell).strip() for cell in _without_end(first))


def read(path: Path) -> Table:
    """The table in a workbook."""
    with _rows(path) as rows:
        found = next(rows, None)
        if found is None:
            empty = (1, Fault(None, "empty", "give a header and further lines"))
            return Table(name=str(path), header=(), columns=(), lines=(), faults=(empty,))
        line, names = found[0], _without_end(found[1])
        columns: tuple[list[Cell], ...] = tuple([] for _ in names)
        lines, faults = list[int](), list[tuple[int, Fault]]()
        for at, cells in rows:
            if any(cell != "" for cell in cells[len(names) :]):
                faults.append((at, Fault(None, f"{len(cells)} cells long", f"give {len(names)}, as in the header")))
                continue
            lines.append(at)
            for column, cell in zip(columns, (*cells, *[""] * len(names)), strict=False):
                column.append(cell)
    return Table(
        name=str(path),
        header=tuple(as_text(cell).strip() for cell in names),
        columns=columns,
        lines=lines,
        header_line=line,
        faults=tuple(faults),
        commas=True,
    )


def write(path: Path, table: Table) -> None:
    """The table as the only worksheet of a workbook."""
    openpyxl = needed("openpyxl", extra="excel", path=path)
    if len(table) >= MOST_ROWS:
        got = f"{str(path)!r}, where a worksheet has at most {MOST_ROWS:,} rows"
        raise InputError("path", got, f"take a .csv or .parquet file for {len(table):,} rows")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("table")
    sheet.freeze_panes = "A2"
    last = openpyxl.utils.get_column_letter(max(1, len(table.header)))
    sheet.calculate_dimension = lambda: f"A1:{last}{len(table) + 1}"  # else openpyxl reads all rows to open it
    sheet.append([_as_value(openpyxl, sheet, name) for name in table.header])
    for row in table.rows():
        sheet.append([_as_value(openpyxl, sheet, cell) for cell in row])
    with path.open("wb") as file:
        book.save(file)


def _as_value(openpyxl: Any, sheet: Any, cell: Cell) -> Any:
    """As openpyxl takes it: a text that looks like a formula stays a text, and a number keeps all its digits."""
    if cell == "":
        return None
    if not isinstance(cell, str):  # openpyxl writes 16 digits, and some numbers need 17
        return cell if float(f"{cell:.16g}") == cell else _typed(openpyxl, sheet, repr(cell), "n")
    plain = openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE.sub("\ufffd", cell)[:_LONGEST]
    return _typed(openpyxl, sheet, plain, "s") if plain[0] in "=#" else plain


def _typed(openpyxl: Any, sheet: Any, text: str, kind: str) -> Any:
    value = openpyxl.cell.WriteOnlyCell(sheet, value="")
    value.value = text
    value.data_type = kind
    return value


@contextmanager
def _rows(path: Path) -> Iterator[Iterator[tuple[int, tuple[Cell, ...]]]]:
    """The rows with something in them, of the first worksheet that has any, each with its number."""
    openpyxl = needed("openpyxl", extra="excel", path=path)
    with path.open("rb") as file:
        try:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        except (BadZipFile, KeyError, ValueError, openpyxl.utils.exceptions.InvalidFileException) as error:
            raise InputError("path", f"{str(path)!r}, which is no Excel workbook", _WORKBOOK) from error
        try:
            filled = (sheet for sheet in book.worksheets if next(_filled(sheet), None) is not None)
            sheet = next(filled, None)
            yield iter(()) if sheet is None else _filled(sheet)
        finally:
            book.close()


def _filled(sheet: Any) -> Iterator[tuple[int, tuple[Cell, ...]]]:
    sheet.reset_dimensions()  # some programs write a wrong extent
    for at, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        cells = tuple(read_cell(value) for value in values)
        if any(cell != "" for cell in cells):
            yield at, cells


def _without_end(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Without empty cells at the end."""
    return cells[: max((at for at, cell in enumerate(cells, start=1) if cell != ""), default=0)]
