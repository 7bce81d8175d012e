"""A table as any format reads and writes it: a header, and columns of cells.

m           rows
"""

from __future__ import annotations

import reprlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from superlevel.arrays import Array, Mask, as_names
from superlevel.errors import InputError
from superlevel.formats.cells import (
    POINT,
    Cell,
    as_cell,
    as_texts,
    comma_remedy,
    decimal_mark,
    is_number,
    numbers,
    taken,
)

NUMBER = "give a finite number with a decimal point, or choose other columns with columns=[...]"
NUMBER_OR_BLANK = "give a finite number with a decimal point, or leave it empty"
NAME_THEM = "put the names of the columns there"


class Fault(NamedTuple):
    """What is wrong with a line."""

    column: str | None
    """None where it is the whole line."""
    got: str
    remedy: str


@dataclass(frozen=True, kw_only=True)
class Table:
    """A header, and the rows below it as columns."""

    name: str
    """Of the file, as errors say it."""
    header: tuple[str, ...]
    """Names of the columns without blanks around them; "" for a column without a name."""
    columns: tuple[Sequence[Cell], ...]
    """For each name, the cells (m,). Rows with nothing in them are left out."""
    lines: Sequence[int]
    """(m,) the line of the file in which each row begins, as a text editor or a spreadsheet counts."""
    header_line: int = 1
    faults: tuple[tuple[int, Fault], ...] = ()
    """Lines that are not among the rows because they cannot be read, and what is wrong with each."""
    commas: bool = False
    """Whether texts may have decimal commas: not in a file whose cells are parted by commas."""
    reference: str = ""
    """The reference system of the coordinates, where the format carries one: "EPSG:25832", for example, or WKT."""

    coordinates: tuple[str, ...] = ()
    """The columns that say where a row is, east and north, where the format or whoever made the table knows them."""

    def __len__(self) -> int:
        return len(self.lines)

    def error(self, line: int, fault: Fault) -> InputError:
        """The error that says where the fault is."""
        column = "" if fault.column is None else f", column {fault.column!r}"
        return InputError(f"{self.name}, line {line}{column}", fault.got, fault.remedy)

    def checked(self) -> Table:
        """This table, if every line could be read, each name is there once, and there is a row."""
        for line, fault in self.faults:
            raise self.error(line, fault)
        for fault in header_faults(self.header):
            raise self.error(self.header_line, fault)
        if not len(self):
            raise InputError("path", f"{self.name!r}, which has a header only", "add one line for each point")
        return self

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """The cells row by row."""
        return zip(*self.columns, strict=True) if self.columns else iter([()] * len(self))

    def chosen(self, mask: Mask) -> Table:
        """The table with some of its rows (m,) only."""
        if mask.all():
            return self
        at = np.flatnonzero(mask)
        lines = array("q", np.asarray(self.lines, dtype=np.int64)[at].tobytes())
        return replace(self, columns=tuple(taken(column, at) for column in self.columns), lines=lines)

    def with_column(self, name: str, cells: Sequence[Cell]) -> Table:
        """The table with a column (m,) more, which is the last one."""
        return replace(self, header=(*self.header, name), columns=(*self.columns, cells))

    def spelled(self, place: int, numeral: Callable[[str], str]) -> Table:
        """The table with a numeral in place of each cell of one column, which are names."""
        columns = list(self.columns)
        columns[place] = [numeral(cell) for cell in self.texts(place)]
        return replace(self, columns=tuple(columns))

    # --- columns

    def places(self, columns: Sequence[str] | None) -> list[int]:
        """Positions of the wanted columns in the header; of all columns by default."""
        header = self.header
        if columns is None:
            if "" in header:
                place = f"{self.name}, line {self.header_line}, column {header.index('') + 1}"
                raise InputError(place, "without a name", "name it, or choose the others with columns=[...]")
            return list(range(len(header)))
        known = ", ".join(repr(name) for name in header if name)
        wanted = as_names("columns", columns, remedy=f"give a list of names out of {known}")
        if not wanted:
            raise InputError("columns", "empty", f"give a list of names out of {known}")
        places = {name: place for place, name in enumerate(header) if name}
        for name in wanted:
            if name not in places:
                raise self.error(self.header_line, Fault(name, "missing", f"choose out of {known}"))
        return [places[name] for name in wanted]

    def texts(self, place: int) -> list[str]:
        """The cells (m,) of a column as people write them."""
        return as_texts(self.columns[place])

    def numbers_or_blanks(self, place: int) -> tuple[Array, Mask]:
        """Numbers (m,) of a column, NaN where it is empty, and where it has something else than a finite number."""
        return numbers(self.columns[place], self.mark(place))

    def numbers(self, places: Sequence[int]) -> Array:
        """The cells of some columns as finite numbers (m, d); the first cell that is none is an error."""
        found = [self.numbers_or_blanks(place) for place in places]
        wrong = np.stack([np.isnan(values) | bad for values, bad in found], axis=1)
        for row, j in np.argwhere(wrong).tolist():
            raise self.cell_error(row, places[j], NUMBER)
        return np.stack([values for values, _ in found], axis=1)

    def cell_error(self, row: int, place: int, remedy: str) -> InputError:
        """The error about a cell that is not a number."""
        cell = self.columns[place][row]
        got = "empty" if cell == "" else reprlib.repr(cell)
        return self.error(self.lines[row], Fault(self.header[place], got, comma_remedy(cell) or remedy))

    def mark(self, place: int) -> str:
        """What divides the digits of the numbers in a column, a point or a comma."""
        return decimal_mark(self.columns[place], chain(*self.columns)) if self.commas else POINT


def table_of(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A table to be written: cells are texts, numbers, or None for nothing."""
    columns: list[list[Cell]] = [[] for _ in header]
    count = 0
    for row in rows:
        count += 1
        for column, value in zip(columns, row, strict=True):
            column.append(as_cell(value))
    return Table(name="", header=tuple(header), columns=tuple(columns), lines=range(2, count + 2))


def with_columns(columns: Mapping[str, Sequence[Cell]]) -> Table:
    """A table to be written, by the names of its columns, which have cells (m,)."""
    count = len(next(iter(columns.values()), ()))
    return Table(name="", header=tuple(columns), columns=tuple(columns.values()), lines=range(2, count + 2))


def header_faults(header: Sequence[str]) -> Iterator[Fault]:
    """What is wrong with the names of the columns; columns may be without one."""
    filled = [cell for cell in header if cell]
    if not filled:
        yield Fault(None, "blank", NAME_THEM)
    elif all(is_number(cell) for cell in filled):
        yield Fault(None, reprlib.repr(",".join(header)), NAME_THEM)
    seen: set[str] = set()
    for name in filled:
        if name in seen:
            yield Fault(name, "there more than once", "give every column its own name")
        seen.add(name)
