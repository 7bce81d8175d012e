"""Tables as people keep them: comma-separated UTF-8, names in the first line, one thing in each further line."""

from __future__ import annotations

import csv
import math
import os
import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TextIO

from superlevel.errors import InputError

NUMBER = "give a finite number with a decimal point, or choose other columns with columns=[...]"
NUMBER_OR_BLANK = "give a finite number with a decimal point, or leave it empty"
UTF8 = "save the file as CSV in UTF-8"

# What spreadsheets take for the beginning of a formula, behind quotes that were put there before it.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_SEPARATORS = {";": "';'", "\t": "tabs"}
_LONGEST_NUMBER = 30
_DECIMAL_COMMA = re.compile(r"([+-]?[0-9]*),([0-9]+(?:[eE][+-]?[0-9]+)?)")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")


class Row(NamedTuple):
    """One line of a table, or more where a cell in quotes has line ends in it."""

    line: int
    """The line of the file in which it ends, as a text editor counts. It begins after the row before it."""
    cells: list[str]
    """Cells without the blanks around them."""


class Fault(NamedTuple):
    """What is wrong with a row."""

    column: str | None
    """None where it is the whole row."""
    got: str
    remedy: str


@dataclass(frozen=True, kw_only=True)
class Table:
    """A header, and at least one further row."""

    name: str
    """Of the file, as errors say it."""
    header: Row
    rows: list[Row]

    def error(self, row: Row, fault: Fault) -> InputError:
        """The error that says where the fault is."""
        column = "" if fault.column is None else f", column {fault.column!r}"
        return InputError(f"{self.name}, line {row.line}{column}", fault.got, fault.remedy)

    def places(self, columns: Sequence[str] | None) -> list[int]:
        """Positions of the wanted columns in the header."""
        header = self.header.cells
        if columns is None:
            if "" in header:
                place = f"{self.name}, line {self.header.line}, column {header.index('') + 1}"
                raise InputError(place, "without a name", "name it, or choose the others with columns=[...]")
            return list(range(len(header)))
        known = ", ".join(repr(name) for name in header if name)
        wanted = as_names("columns", columns, remedy=f"give a list of names out of {known}")
        if not wanted:
            raise InputError("columns", "empty", f"give a list of names out of {known}")
        places = {name: place for place, name in enumerate(header) if name}
        for name in wanted:
            if name not in places:
                remedy = separator_remedy(header) or f"choose out of {known}"
                raise self.error(self.header, Fault(name, "missing", remedy))
        return [places[name] for name in wanted]

    def spelled(self, place: int, numeral: Callable[[str], str]) -> Table:
        """The same table with a numeral in place of each cell of one column, which are names."""
        rows = [Row(row.line, [numeral(c) if k == place else c for k, c in enumerate(row.cells)]) for row in self.rows]
        return Table(name=self.name, header=self.header, rows=rows)

    def numbers(self, places: Sequence[int]) -> list[list[float]]:
        """The cells of some columns as finite numbers, row by row."""
        return [self._numbers(row, places, remedy=NUMBER) for row in self.rows]

    def numbers_or_blanks(self, place: int) -> list[float]:
        """One column as finite numbers; NaN where a cell is empty."""
        width = len(self.header.cells)
        return [
            math.nan
            if len(row.cells) == width and not row.cells[place]
            else self._numbers(row, [place], remedy=NUMBER_OR_BLANK)[0]
            for row in self.rows
        ]

    def _numbers(self, row: Row, places: Sequence[int], *, remedy: str) -> list[float]:
        header = self.header.cells
        fault = length_fault(row.cells, header)
        if fault is not None:
            raise self.error(row, fault)
        for place in places:
            cell = row.cells[place]
            if not _is_number(cell) or not math.isfinite(float(cell)):
                got = reprlib.repr(cell) if cell else "empty"
                raise self.error(row, Fault(header[place], got, _cell_remedy(cell, header, remedy)))
        return [float(row.cells[place]) for place in places]


def read_table(path: str | os.PathLike[str]) -> Table:
    """The table in a file, without blank lines at the end."""
    try:
        file = Path(path)
    except TypeError as error:
        raise InputError("path", reprlib.repr(path), "give the name of a CSV file") from error
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:  # spreadsheets write a byte order mark
            rows = list(scan(str(file), lines))
    except OSError as error:
        remedy = f"give a CSV file that can be read ({error.strerror})"
        raise InputError("path", repr(str(file)), remedy) from error
    except UnicodeDecodeError as error:
        raise InputError("path", f"{str(file)!r}, which is not UTF-8 text", UTF8) from error
    while rows and not any(rows[-1].cells):
        rows.pop()
    if not rows:
        raise InputError("path", f"{str(file)!r}, which is empty", "give a header and one line for each point")
    table = Table(name=str(file), header=rows[0], rows=rows[1:])
    for fault in header_faults(table.header.cells):
        raise table.error(table.header, fault)
    if not table.rows:
        raise InputError("path", f"{str(file)!r}, which has a header only", "add one line for each point")
    return table


def scan(name: str, lines: Iterable[str]) -> Iterator[Row]:
    """The rows of a text, which comes line by line with its line ends; errors call it by the name."""
    # strict, because a quote that is never closed would otherwise swallow the rest of the file
    reader = csv.reader(lines, skipinitialspace=True, strict=True)
    try:
        for cells in reader:
            yield Row(reader.line_num, [_as_written(cell.strip()) for cell in cells])
    except csv.Error as error:
        raise InputError(f"{name}, line {reader.line_num}", "not CSV", f"check its quotes ({error})") from error


def write_table(file: TextIO, rows: Iterable[Iterable[object]]) -> None:
    """The rows as CSV, in which no text is a formula to a spreadsheet: `scan` reads the same text again."""
    csv.writer(file, lineterminator="\n").writerows(map(neutral, row) for row in rows)


def neutral(cell: object) -> object:
    """The cell, with a quote before a text that spreadsheets would run; numbers stay as they are."""
    text = cell if isinstance(cell, str) else ""
    return f"'{text}" if _FORMULA.match(text) and not _is_number(text) else cell


def _as_written(cell: str) -> str:
    """The text that `neutral` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def header_faults(header: Sequence[str]) -> Iterator[Fault]:
    """What is wrong with the names of the columns; columns may be without one."""
    filled = [cell for cell in header if cell]
    if not filled:
        yield Fault(None, "blank", "put the names of the columns there")
    elif all(_is_number(cell) for cell in filled):
        yield Fault(None, reprlib.repr(",".join(header)), "put the names of the columns there")
    seen: set[str] = set()
    for name in filled:
        if name in seen:
            yield Fault(name, "there more than once", "give every column its own name")
        seen.add(name)


def length_fault(cells: Sequence[str], header: Sequence[str]) -> Fault | None:
    """What is wrong with the number of cells in a row."""
    if len(cells) == len(header):
        return None
    remedy = separator_remedy(header) or f"give {len(header)} cells, as in the header"
    if len(cells) > len(header):
        return Fault(None, f"{len(cells)} cells long", remedy)
    return Fault(header[len(cells)], "missing", remedy)


def separator_remedy(header: Sequence[str]) -> str:
    """What to do about a header that is separated by something else than commas; empty for any other header."""
    for separator, shown in _SEPARATORS.items():
        if len(header) == 1 and separator in header[0] and "," not in header[0]:
            return f"save it with commas instead of {shown}"
    return ""


def comma_remedy(cell: str) -> str:
    """What to do about a number with a comma in it; empty for anything else."""
    if len(cell) > _LONGEST_NUMBER:
        return ""
    found = _DECIMAL_COMMA.fullmatch(cell)
    if found is None:
        return ""
    point = f"{found[1]}.{found[2]}"
    if _THOUSANDS.fullmatch(cell):  # 1,234 is one number in London and another in Berlin
        return f"write {point} or {found[1]}{found[2]}, without a comma"
    return f"write {point} with a decimal point"


def as_names(field: str, names: Sequence[str], *, remedy: str) -> tuple[str, ...]:
    """The names of a list, all different; a single string is not taken for the list of its letters."""
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise InputError(field, repr(names), remedy)
    listed = tuple(names)
    seen: set[str] = set()
    for j, name in enumerate(listed):
        if str(name) in seen:
            raise InputError(f"{field}[{j}]", f"{name!r} again", "give every name once")
        seen.add(str(name))
    return listed


def _cell_remedy(cell: str, header: Sequence[str], remedy: str) -> str:
    apart = separator_remedy(header) if "\t" in cell or ";" in cell else ""
    return apart or comma_remedy(cell) or remedy


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
