"""Sheets of results, as people bring them back from the field: CSV files with one line for each measurement.

    ticket,east,north,value,noise,status,reason
    7,0.5,1.25,3.5,,,
    8,0.5,1.5,,,failed,"ice, two metres thick"

A line says where by its ticket, by its coordinates or by both, and what came of it by a value or by the status failed.
A line with neither was not measured yet and is left open. All that is wrong with a sheet is said at once.

m           lines with something in them
n           points of the domain, d coordinates each
"""

from __future__ import annotations

import io
import math
import operator
import re
import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from superlevel.arrays import Array, Mask
from superlevel.coordinates import Coordinates
from superlevel.errors import InputError, SuperlevelError
from superlevel.scales import Scale
from superlevel.study.heads import COLUMN
from superlevel.study.matching import closest, match, shown
from superlevel.tables import UTF8, Row, comma_remedy, header_faults, length_fault, scan, separator_remedy, write_table

TICKET, VALUE, NOISE, STATUS, REASON, STUDY = COLUMNS = ("ticket", "value", "noise", "status", "reason", "study")
MEASURED, FAILED = "measured", "failed"

_SHOWN_TROUBLES = 20
_WHOLE = re.compile(r"\+?0*([0-9]{1,18})(?:\.0*)?")
_ABSENT = frozenset(("nan", "+nan", "-nan", "n/a", "#n/a", "na", "none", "null", "-", "--", "?"))
_LEAVE_EMPTY = "leave it empty if it is not measured yet, or write failed in the column status"
_ELSEWHERE = "it is of another study: tell it there, or leave that column out if it belongs here"
_BESIDE = "or tell the sheet with --elsewhere"
_FINITE = "give a finite number with a decimal point"


@dataclass(frozen=True, kw_only=True)
class Line:
    """One result."""

    line: int
    """Where it begins in the file, as a text editor counts."""
    ticket: int | None
    """Number of what was asked for; None where only coordinates are given."""
    point: int | None
    """Index of the point in the domain, from the coordinates; None where only a ticket is given."""
    at: tuple[float, ...] | None = None
    """Coordinates of a place that is not among the points; None where it is one of them."""
    value: float | None
    """None where it could not be measured."""
    noise: float | None
    """Its own standard deviation; None where the sheet says nothing about it."""
    reason: str = ""
    """Of a failure, or a remark on a value."""


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """What is wrong with one cell, or with one line.

    >>> print(Trouble(line=7, column="value", got="'3,5'", remedy="write 3.5 with a decimal point"))
    line 7, column 'value' is '3,5': write 3.5 with a decimal point
    """

    line: int
    """Where it is in the file, as a text editor counts."""
    column: str
    """Empty where it is the whole line."""
    got: str
    """What is there, as the sentence says it: a cell in quotes, or a word such as empty."""
    remedy: str

    def __str__(self) -> str:
        column = f", column {self.column!r}" if self.column else ""
        return f"line {self.line}{column} is {self.got}: {self.remedy}"


class SheetError(SuperlevelError):
    """A sheet that cannot be used, and everything that is wrong with it."""

    def __init__(self, name: str, troubles: Sequence[Trouble]) -> None:
        count = len(troubles)
        said = [f"{name} has {count} trouble{'s' * (count != 1)}:", *map(str, troubles[:_SHOWN_TROUBLES])]
        if count > _SHOWN_TROUBLES:
            said.append(f"and {count - _SHOWN_TROUBLES} more")
        super().__init__("\n".join(said))
        self.name = name
        self.troubles = tuple(troubles)

    def __reduce__(self) -> tuple[type[SheetError], tuple[str, tuple[Trouble, ...]]]:
        """Exceptions are unpickled from their message alone, which would lose the troubles between processes."""
        return type(self), (self.name, self.troubles)


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A sheet without trouble."""

    lines: tuple[Line, ...]
    """In the order of the file."""
    blank: int
    """Lines without a value and without a status: not measured yet, left open."""
    ignored: tuple[str, ...]
    """Columns that mean nothing here."""


def read_sheet(
    content: bytes,
    *,
    name: str,
    points: Array,
    names: tuple[str, ...],
    scales: Sequence[Scale] | None = None,
    study: str | None = None,
    elsewhere: bool = False,
) -> Sheet:
    """The results in the bytes of a CSV file: UTF-8, names of the columns in the first line.

    A column ``value`` is required, and a column ``ticket`` or all coordinates by their names; ``noise``, ``status``
    (measured, failed or nothing), ``reason`` and ``study`` are optional. Lines with nothing in them are passed over.

    Args:
        content: what is in the file.
        name: of the file, as errors say it.
        points: (n, d) points of the domain. Coordinates match exactly, or else to 1e-9 of their extent.
        names: (d,) names of the coordinates.
        scales: (d,) what each coordinate may be; by default any number.
        study: whose results they must be, where the sheet says that.
        elsewhere: whether coordinates that are not those of a point are a place that was measured all the same.

    Raises:
        SheetError: all that is wrong with the sheet.
    """
    coordinates = check_names(names)
    rows = scan(name, _text(content, name))
    header = _header(rows, name)
    layout = _layout(header.cells, coordinates, name)
    body = _body(rows, layout, after=header.line)
    values, unreadable = _values(body)
    noise, unclear = _noise(body)
    tickets, unknown = _tickets(body)
    located, places, lost = _points(body, _as_coordinates(coordinates, scales), points, elsewhere=elsewhere)
    strange = [at for at, cell in enumerate(body.cells(STUDY)) if cell and study is not None and cell != study]
    others = [body.trouble(at, STUDY, _ELSEWHERE) for at in strange]
    troubles = [*body.troubles, *unreadable, *unclear, *unknown, *lost, *others]
    if not body.lines and not body.blank and not troubles:
        troubles.append(Trouble(line=1, column="", got="followed by no results", remedy="add a line for each result"))
    if troubles:
        order = {column: place for place, column in enumerate(layout.header)} | {"": -1}
        raise SheetError(name, sorted(troubles, key=lambda each: (each.line, order[each.column])))
    fields = zip(body.lines, tickets, located, places, values, noise, body.cells(REASON), strict=True)
    lines = tuple(Line(line=n, ticket=t, point=p, at=a, value=v, noise=s, reason=r) for n, t, p, a, v, s, r in fields)
    return Sheet(lines=lines, blank=body.blank, ignored=layout.ignored)


def blank_sheet(
    tickets: Sequence[int],
    points: Array,
    names: Sequence[str],
    *,
    scales: Sequence[Scale] | None = None,
    study: str = "",
) -> str:
    """The text of a sheet to be filled in: one line for each ticket, with the coordinates (m, d) of its point."""
    coordinates = check_names(names)
    text = io.StringIO()
    shown = _as_coordinates(coordinates, scales)
    rows = map(shown.cells, np.asarray(points, dtype=np.float64).tolist())
    lines = [[int(ticket), *row, "", "", "", "", study] for ticket, row in zip(tickets, rows, strict=True)]
    write_table(text, [[TICKET, *coordinates, VALUE, NOISE, STATUS, REASON, STUDY], *lines])
    return text.getvalue()


def _as_coordinates(names: tuple[str, ...], scales: Sequence[Scale] | None) -> Coordinates:
    return Coordinates.plain(names) if scales is None else Coordinates(names=names, scales=tuple(scales))


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names of coordinates without the blanks around them, none of which is that of another column of a sheet."""
    stripped = tuple(name.strip() for name in names)
    seen: set[str] = set()
    for j, name in enumerate(stripped):
        if name.lower() in COLUMNS:
            remedy = f"give that coordinate another name: a sheet of results has a column {name.lower()}"
            raise InputError(f"names[{j}]", repr(names[j]), remedy)
        if name in seen:
            raise InputError(f"names[{j}]", f"{names[j]!r} again", "give every name once")
        seen.add(name)
    return stripped


# --- the file


def _text(content: bytes, name: str) -> io.StringIO:
    """The lines of the file, not all of which are blank."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content[:2]:
        raise _refused(name, 1, "UTF-16 text", UTF8)
    try:
        text = content.decode("utf-8-sig")  # spreadsheets write a byte order mark
    except UnicodeDecodeError as error:
        raise _refused(name, _line_at(content, error.start), "not UTF-8 text", UTF8) from error
    if "\0" in text:
        raise _refused(name, _line_at(content, content.index(b"\0")), "with a NUL byte", UTF8)
    if not text.strip():
        raise _refused(name, 1, "empty", "give a header and one line for each result")
    return io.StringIO(text, newline="")


def _line_at(content: bytes, position: int) -> int:
    return len((content[:position] + b".").splitlines())


def _refused(name: str, line: int, got: str, remedy: str) -> SheetError:
    return SheetError(name, [Trouble(line=line, column="", got=got, remedy=remedy)])


# --- the header


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """Which column is where."""

    header: list[str]
    """Names of all columns; those that mean something here as they are called here."""
    places: dict[str, int]
    """Positions of the columns that mean something: all coordinates or none."""
    ignored: tuple[str, ...]


def _header(rows: Iterator[Row], name: str) -> Row:
    try:
        return next(rows)
    except InputError as error:
        raise _refused(name, 1, str(error.got), error.remedy) from error


def _layout(cells: list[str], coordinates: tuple[str, ...], name: str) -> _Layout:
    header = [cell.lower() if cell.lower() in COLUMNS else cell for cell in cells]
    faults = [(fault.column or "", fault.got, fault.remedy) for fault in header_faults(header)]
    separated = separator_remedy(header)
    if separated:
        faults = [("", reprlib.repr(cells[0]), separated)]
    if all(column for column, _, _ in faults):
        faults += _missing(header, coordinates)
    if faults:
        raise SheetError(name, [Trouble(line=1, column=column, got=got, remedy=r) for column, got, r in faults])
    known = COLUMNS + (coordinates if set(coordinates) <= set(header) else ())
    where = {column: place for place, column in enumerate(header)}
    places = {column: where[column] for column in known if column in where}
    ignored = tuple(column for column in header if column and column not in (*places, COLUMN))
    return _Layout(header=header, places=places, ignored=ignored)


def _missing(header: list[str], coordinates: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    there = f"the columns are {', '.join(repr(name) for name in header if name)}"
    if VALUE not in header:
        yield VALUE, "missing", f"give the column of what was measured that name ({there})"
    present = set(header)
    absent = [name for name in coordinates if name not in present]
    if TICKET not in header and absent == list(coordinates):
        yield TICKET, "missing", f"add a column of tickets, or the coordinates {', '.join(coordinates)} ({there})"
    elif TICKET not in header:
        yield from ((name, "missing", f"add that coordinate, or a column ticket ({there})") for name in absent)


# --- the lines


@dataclass(frozen=True, kw_only=True)
class _Body:
    """The m lines that say something, by columns."""

    lines: list[int]
    """(m,) where each begins."""
    columns: dict[str, list[str]]
    """Cells (m,) of each column that the sheet has and that means something."""
    blank: int
    troubles: list[Trouble]
    """Of lines that are none of the m, because they have too many cells or too few."""

    def cells(self, column: str) -> list[str]:
        """Cells (m,), empty ones where the sheet has no such column."""
        return self.columns[column] if column in self.columns else [""] * len(self.lines)

    def trouble(self, at: int, column: str, remedy: str) -> Trouble:
        """Of a cell, with the cell as it is."""
        cell = self.cells(column)[at]
        got = reprlib.repr(cell) if cell else "empty"
        return Trouble(line=self.lines[at], column=column, got=got, remedy=remedy)


def _body(rows: Iterator[Row], layout: _Layout, *, after: int) -> _Body:
    """The rows by columns. They come one by one and are not kept, because a hundred thousand lists are slow to keep."""
    value, status = layout.places[VALUE], layout.places.get(STATUS, layout.places[VALUE])
    lines: list[int] = []
    kept: list[str] = []
    troubles: list[Trouble] = []
    blank, following = 0, after + 1
    try:
        for end, cells in rows:
            line, following = following, end + 1
            if not any(cells):
                continue
            fault = length_fault(cells, layout.header)
            if fault is not None:
                troubles.append(Trouble(line=line, column=fault.column or "", got=fault.got, remedy=fault.remedy))
            elif cells[value] or cells[status]:
                lines.append(line)
                kept += cells
            else:
                blank += 1
    except InputError as error:
        troubles.append(Trouble(line=following, column="", got=str(error.got), remedy=error.remedy))
    columns = {column: kept[place :: len(layout.header)] for column, place in layout.places.items()}
    return _Body(lines=lines, columns=columns, blank=blank, troubles=troubles)


# --- columns


def _values(body: _Body) -> tuple[list[float | None], list[Trouble]]:
    """Values (m,), None where there is none, and what is wrong with them or their status."""
    cells = body.cells(VALUE)
    status = [cell.lower() for cell in body.cells(STATUS)]
    values, wrong = _floats(cells)
    empty = _empty(cells)
    failed, measured = (np.array([each == word for each in status], dtype=np.bool_) for word in (FAILED, MEASURED))
    unknown = ~failed & ~measured & ~_empty(status)
    troubles = [body.trouble(at, STATUS, "write measured, failed or nothing") for at in _where(unknown)]
    troubles += [body.trouble(at, VALUE, _value_remedy(cells[at])) for at in _where(wrong & ~failed)]
    remedy = "leave it empty, or write measured in the column status"
    troubles += [body.trouble(at, VALUE, remedy) for at in _where(failed & ~empty)]
    remedy = f"{_FINITE}, or write failed in the column status"
    troubles += [body.trouble(at, VALUE, remedy) for at in _where(measured & empty)]
    return _optional(values), troubles


def _value_remedy(cell: str) -> str:
    return _LEAVE_EMPTY if cell.lower() in _ABSENT else comma_remedy(cell) or f"{_FINITE}, or leave it empty"


def _noise(body: _Body) -> tuple[list[float | None], list[Trouble]]:
    """Standard deviations (m,), None where there is none."""
    cells = body.cells(NOISE)
    deviations, wrong = _floats(cells)
    remedy = "give a standard deviation >= 0 with a decimal point, or leave it empty"
    bad = _where(wrong | (deviations < 0.0))
    return _optional(deviations), [body.trouble(at, NOISE, comma_remedy(cells[at]) or remedy) for at in bad]


def _tickets(body: _Body) -> tuple[list[int | None], list[Trouble]]:
    """Tickets (m,), None where there is none."""
    tickets = [_ticket(cell) if cell else None for cell in body.cells(TICKET)]
    bad = (at for at, ticket in enumerate(tickets) if ticket == 0)
    return tickets, [body.trouble(at, TICKET, "give a whole number >= 1") for at in bad]


def _ticket(cell: str) -> int:
    """A whole number, also as 7.0; 0 for anything else."""
    found = _WHOLE.fullmatch(cell)
    return 0 if found is None else int(found[1])


def _points(
    body: _Body, coordinates: Coordinates, points: Array, *, elsewhere: bool
) -> tuple[list[int | None], list[tuple[float, ...] | None], list[Trouble]]:
    """Indices (m,) of points, None where a line has no coordinates; and those (m,) that are not of a point."""
    names, scales = coordinates.names, coordinates.scales
    columns = [_floats(_numerals(body.cells(name), scale)) for name, scale in zip(names, scales, strict=True)]
    found = np.stack([numbers for numbers, _ in columns], axis=1)
    wrong = np.stack([bad for _, bad in columns], axis=1)
    empty = np.isnan(found) & ~wrong
    # Without coordinates a line needs its ticket; where the sheet has none it needs its coordinates.
    by_ticket = np.all(empty, axis=1) if TICKET in body.columns else np.zeros(len(empty), dtype=np.bool_)
    nowhere = by_ticket & _empty(body.cells(TICKET))
    troubles = [body.trouble(at, TICKET, "give the ticket, or all coordinates") for at in _where(nowhere)]
    otherwise = f"{_FINITE}, or leave all coordinates empty beside a ticket" if TICKET in body.columns else _FINITE
    for at, j in np.argwhere(wrong | (empty & ~by_ticket[:, None])).tolist():
        remedy = scales[j].spelling or comma_remedy(body.cells(names[j])[at]) or otherwise
        troubles.append(body.trouble(at, names[j], remedy))
    whole = np.flatnonzero(np.isfinite(found).all(axis=1))
    located = np.full(len(found), -1)
    located[whole] = match(points, found[whole])
    lost = whole[located[whole] < 0]
    places: list[tuple[float, ...] | None] = [None] * len(found)
    if elsewhere:
        for at in lost.tolist():
            places[at] = tuple(found[at].tolist())
        lost = lost[:0]
    for at, near in zip(lost.tolist(), closest(points, found[lost]).tolist(), strict=True):
        remedy = f"give a point of the domain; the nearest is {_shown(coordinates, points[near])}, {_BESIDE}"
        got = f"at {_shown(coordinates, found[at])}"
        troubles.append(Trouble(line=body.lines[at], column="", got=got, remedy=remedy))
    return [None if point < 0 else point for point in located.tolist()], places, troubles


def _numerals(cells: Sequence[str], scale: Scale) -> list[str]:
    """Cells (m,) with numbers in place of names; empty ones stay."""
    return [scale.numeral(cell) if cell else cell for cell in cells]


def _shown(coordinates: Coordinates, place: Array) -> str:
    return shown(coordinates.names, coordinates.cells(place.tolist()))


def _floats(cells: Sequence[str]) -> tuple[Array, Mask]:
    """Numbers (m,), NaN where a cell is empty, and where a cell is filled with something else than a finite number."""
    filled = ~_empty(cells)
    chosen = [cell for cell in cells if cell]
    numbers = np.full(len(cells), np.nan)
    try:
        numbers[filled] = list(map(_float if "_" in "".join(chosen) else float, chosen))
    except ValueError:
        numbers[filled] = list(map(_float, chosen))
    return numbers, filled & ~np.isfinite(numbers)


def _float(cell: str) -> float:
    """A number, or NaN. Python takes 1_000 for one, people do not."""
    try:
        return math.nan if "_" in cell else float(cell)
    except ValueError:
        return math.nan


def _empty(cells: Sequence[str]) -> Mask:
    return np.fromiter(map(operator.not_, cells), dtype=np.bool_, count=len(cells))


def _where(mask: Mask) -> list[int]:
    return [int(at) for at in np.flatnonzero(mask)]


def _optional(numbers: Array) -> list[float | None]:
    optional = numbers.astype(object)
    optional[np.isnan(numbers)] = None
    listed: list[float | None] = optional.tolist()
    return listed
