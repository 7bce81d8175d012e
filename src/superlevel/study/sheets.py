"""Sheets of results, as people bring them back from the field: files with one line for each measurement.

    ticket,east,north,value,noise,status,reason
    7,0.5,1.25,3.5,,,
    8,0.5,1.5,,,failed,"ice, two metres thick"

A line says where by its ticket, by the name of its point, by its coordinates or by several of them, and what came of it
by a value or by the status failed. A line with neither was not measured yet and is left open. All that is wrong with a
sheet is said at once.

m           lines with something in them
n           points of the domain, d coordinates each
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from superlevel.arrays import Array, Indices, Mask
from superlevel.coordinates import Coordinates
from superlevel.errors import InputError, SuperlevelError
from superlevel.formats import Table, table_of
from superlevel.formats.cells import ABSENT, comma_remedy, empty, numbers
from superlevel.formats.table import header_faults
from superlevel.identifiers import match_ids
from superlevel.scales import Cell, Scale
from superlevel.study.heads import COLUMN
from superlevel.study.matching import closest, match, nearest_in_words, shown, shown_names

TICKET, VALUE, NOISE, STATUS, REASON, STUDY = COLUMNS = ("ticket", "value", "noise", "status", "reason", "study")
MEASURED, FAILED = "measured", "failed"
MOST_COORDINATES = 6
"""Of a point that has a name, in a sheet to be filled in."""

_SHOWN_TROUBLES = 20
_WHOLE = re.compile(r"\+?0*([0-9]{1,18})(?:\.0*)?")
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
    table: Table,
    *,
    points: Array,
    names: tuple[str, ...],
    scales: Sequence[Scale] | None = None,
    ids: Sequence[str] = (),
    id_name: str = "",
    study: str | None = None,
    elsewhere: bool = False,
) -> Sheet:
    """The results in a table, which a file of any format was read to.

    A column ``value`` is required, and a column ``ticket``, one of ids or all coordinates by their names; ``noise``,
    ``status`` (measured, failed or nothing), ``reason`` and ``study`` are optional.

    Args:
        table: what is in the file.
        points: (n, d) points of the domain. Coordinates match exactly, or else to 1e-9 of their extent.
        names: (d,) names of the coordinates.
        scales: (d,) what each coordinate may be; by default any number.
        ids: (n,) names of the points, where they have any.
        id_name: what the column of these is called.
        study: whose results they must be, where the sheet says that.
        elsewhere: whether coordinates that are not those of a point are a place that was measured all the same.

    Raises:
        SheetError: all that is wrong with the sheet.
    """
    coordinates = check_names(names, id_name=id_name)
    layout = _layout(table, coordinates, id_name)
    body = _body(table, layout)
    values, unreadable = _values(body)
    noise, unclear = _noise(body)
    tickets, unknown = _tickets(body)
    named, strangers = _named(body, ids, id_name)
    shown_as = _as_coordinates(coordinates, scales)
    located, places, lost = _points(body, shown_as, points, named=named, id_name=id_name.strip(), elsewhere=elsewhere)
    nameless = [trouble for at, trouble in strangers.items() if places[at] is None]
    strange = [at for at, cell in enumerate(body.texts(STUDY)) if cell and study is not None and cell != study]
    others = [body.trouble(at, STUDY, _ELSEWHERE) for at in strange]
    troubles = [*_faults(table), *unreadable, *unclear, *unknown, *nameless, *lost, *others]
    if not body.lines and not body.blank and not troubles:
        troubles.append(Trouble(line=1, column="", got="followed by no results", remedy="add a line for each result"))
    if troubles:
        order = {column: place for place, column in enumerate(layout.header)} | {"": -1}
        raise SheetError(table.name, sorted(troubles, key=lambda each: (each.line, order[each.column])))
    fields = zip(body.lines, tickets, located, places, values, noise, body.texts(REASON), strict=True)
    lines = tuple(Line(line=n, ticket=t, point=p, at=a, value=v, noise=s, reason=r) for n, t, p, a, v, s, r in fields)
    return Sheet(lines=lines, blank=body.blank, ignored=layout.ignored)


def blank_sheet(
    tickets: Sequence[int],
    points: Array,
    names: Sequence[str],
    *,
    scales: Sequence[Scale] | None = None,
    ids: Sequence[str] = (),
    id_name: str = "",
    study: str = "",
) -> Table:
    """A sheet to be filled in: one line for each ticket, with the id and the coordinates (m, d) of its point.

    Where points have names (m,), more than a few coordinates are left out: nobody reads 200 of them.
    """
    coordinates = check_names(names, id_name=id_name)
    cells = _as_coordinates(coordinates, scales).cells
    where: list[Sequence[Cell]] = [cells(place) for place in np.asarray(points, dtype=np.float64).tolist()]
    if ids and len(coordinates) > MOST_COORDINATES:
        coordinates, where = (), [() for _ in where]
    if ids:
        coordinates, where = (id_name, *coordinates), [(name, *row) for name, row in zip(ids, where, strict=True)]
    lines = [[int(ticket), *row, "", "", "", "", study] for ticket, row in zip(tickets, where, strict=True)]
    return table_of([TICKET, *coordinates, VALUE, NOISE, STATUS, REASON, STUDY], lines)


def _as_coordinates(names: tuple[str, ...], scales: Sequence[Scale] | None) -> Coordinates:
    return Coordinates.plain(names) if scales is None else Coordinates(names=names, scales=tuple(scales))


def check_names(names: Sequence[str], *, id_name: str = "") -> tuple[str, ...]:
    """Names of coordinates without the blanks around them, none of which is that of another column of a sheet."""
    stripped = tuple(name.strip() for name in names)
    if id_name.strip().lower() in COLUMNS:
        raise InputError(
            "id_name", repr(id_name), f"a sheet of results has a column {id_name.strip().lower()}: rename it"
        )
    seen: set[str] = {id_name.strip()} if id_name else set()
    for j, name in enumerate(stripped):
        if name.lower() in COLUMNS:
            remedy = f"give that coordinate another name: a sheet of results has a column {name.lower()}"
            raise InputError(f"names[{j}]", repr(names[j]), remedy)
        if name in seen:
            raise InputError(f"names[{j}]", f"{names[j]!r} again", "give every name once")
        seen.add(name)
    return stripped


# --- the header


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """Which column is where."""

    header: list[str]
    """Names of all columns; those that mean something here as they are called here."""
    places: dict[str, int]
    """Positions of the columns that mean something: all coordinates or none."""
    ignored: tuple[str, ...]


def _faults(table: Table) -> list[Trouble]:
    return [Trouble(line=line, column=f.column or "", got=f.got, remedy=f.remedy) for line, f in table.faults]


def _layout(table: Table, coordinates: tuple[str, ...], id_name: str) -> _Layout:
    if not table.header:
        raise SheetError(table.name, _faults(table))
    header = [cell.lower() if cell.lower() in COLUMNS else cell for cell in table.header]
    faults = [(fault.column or "", fault.got, fault.remedy) for fault in header_faults(header)]
    if all(column for column, _, _ in faults):
        faults += _missing(header, coordinates, id_name)
    if faults:
        line = table.header_line
        raise SheetError(
            table.name, [Trouble(line=line, column=column, got=got, remedy=r) for column, got, r in faults]
        )
    known = (*COLUMNS, id_name.strip(), *(coordinates if set(coordinates) <= set(header) else ()))
    where = {column: place for place, column in enumerate(header)}
    places = {column: where[column] for column in known if column and column in where}
    read = {*places, COLUMN}
    ignored = tuple(column for column in header if column and column not in read)
    return _Layout(header=header, places=places, ignored=ignored)


def _missing(header: list[str], coordinates: tuple[str, ...], id_name: str) -> Iterator[tuple[str, str, str]]:
    there = f"the columns are {', '.join(repr(name) for name in header if name)}"
    if VALUE not in header:
        yield VALUE, "missing", f"give the column of what was measured that name ({there})"
    present = set(header)
    if id_name.strip() in present:
        return
    absent = [name for name in coordinates if name not in present]
    if TICKET not in header and absent == list(coordinates):
        others = f"a column {id_name}, " * bool(id_name) + f"or the coordinates {shown_names(coordinates)}"
        yield TICKET, "missing", f"add a column of tickets, {others} ({there})"
    elif TICKET not in header:
        yield from ((name, "missing", f"add that coordinate, or a column ticket ({there})") for name in absent)


# --- the lines


@dataclass(frozen=True, kw_only=True)
class _Body:
    """The m lines that say something, by columns."""

    table: Table
    """With these lines only."""
    places: dict[str, int]
    """Positions of the columns that mean something."""
    blank: int
    """Lines with neither a value nor a status."""

    @property
    def lines(self) -> Sequence[int]:
        """(m,) where each begins."""
        return self.table.lines

    def texts(self, column: str) -> list[str]:
        """Cells (m,) as text, empty ones where the sheet has no such column."""
        return self.table.texts(self.places[column]) if column in self.places else [""] * len(self.lines)

    def numbers(self, column: str) -> tuple[Array, Mask]:
        """Numbers (m,), NaN where a cell is empty, and where a cell is something else than a finite number."""
        if column in self.places:
            return self.table.numbers_or_blanks(self.places[column])
        return np.full(len(self.lines), np.nan), np.zeros(len(self.lines), dtype=np.bool_)

    def trouble(self, at: int, column: str, remedy: str) -> Trouble:
        """Of a cell, with the cell as it is."""
        cell = self.table.columns[self.places[column]][at]
        got = "empty" if cell == "" else reprlib.repr(cell)
        return Trouble(line=self.lines[at], column=column, got=got, remedy=remedy)


def _body(table: Table, layout: _Layout) -> _Body:
    value, status = layout.places[VALUE], layout.places.get(STATUS, layout.places[VALUE])
    said = ~(empty(table.columns[value]) & empty(table.columns[status]))
    return _Body(table=table.chosen(said), places=layout.places, blank=int(np.count_nonzero(~said)))


# --- columns


def _values(body: _Body) -> tuple[list[float | None], list[Trouble]]:
    """Values (m,), None where there is none, and what is wrong with them or their status."""
    cells = body.texts(VALUE)
    status = [cell.lower() for cell in body.texts(STATUS)]
    values, wrong = body.numbers(VALUE)
    without = empty(cells)
    failed, measured = (np.array([each == word for each in status], dtype=np.bool_) for word in (FAILED, MEASURED))
    unknown = ~failed & ~measured & ~empty(status)
    troubles = [body.trouble(at, STATUS, "write measured, failed or nothing") for at in _where(unknown)]
    troubles += [body.trouble(at, VALUE, _value_remedy(cells[at])) for at in _where(wrong & ~failed)]
    remedy = "leave it empty, or write measured in the column status"
    troubles += [body.trouble(at, VALUE, remedy) for at in _where(failed & ~without)]
    remedy = f"{_FINITE}, or write failed in the column status"
    troubles += [body.trouble(at, VALUE, remedy) for at in _where(measured & without)]
    return _optional(values), troubles


def _value_remedy(cell: str) -> str:
    return _LEAVE_EMPTY if cell.lower() in ABSENT else comma_remedy(cell) or f"{_FINITE}, or leave it empty"


def _noise(body: _Body) -> tuple[list[float | None], list[Trouble]]:
    """Standard deviations (m,), None where there is none."""
    cells = body.texts(NOISE)
    deviations, wrong = body.numbers(NOISE)
    remedy = "give a standard deviation >= 0 with a decimal point, or leave it empty"
    bad = _where(wrong | (deviations < 0.0))
    return _optional(deviations), [body.trouble(at, NOISE, comma_remedy(cells[at]) or remedy) for at in bad]


def _tickets(body: _Body) -> tuple[list[int | None], list[Trouble]]:
    """Tickets (m,), None where there is none."""
    tickets = [_ticket(cell) if cell else None for cell in body.texts(TICKET)]
    bad = (at for at, ticket in enumerate(tickets) if ticket == 0)
    return tickets, [body.trouble(at, TICKET, "give a whole number >= 1") for at in bad]


def _ticket(cell: str) -> int:
    """A whole number, also as 7.0; 0 for anything else."""
    found = _WHOLE.fullmatch(cell)
    return 0 if found is None else int(found[1])


def _named(body: _Body, ids: Sequence[str], id_name: str) -> tuple[Indices, dict[int, Trouble]]:
    """Indices (m,) of points by their names, -1 where a line has none; and the lines with a name that nobody knows."""
    name = id_name.strip()
    texts = body.texts(name)
    filled = _where(~empty(texts))
    named = np.full(len(texts), -1)
    named[filled] = match_ids(ids, [texts[at] for at in filled])
    unknown = [at for at in filled if named[at] < 0]
    remedy = "give a name of the domain"
    return named, {at: body.trouble(at, name, f"{remedy}{nearest_in_words(ids, texts[at])}") for at in unknown}


def _places(body: _Body, coordinates: Coordinates, id_name: str) -> tuple[Array, list[Trouble]]:
    """Coordinates (m, d), NaN where there is none; and lines that do not say where they are."""
    names, scales = coordinates.names, coordinates.scales
    columns = [_coordinate(body, name, scale) for name, scale in zip(names, scales, strict=True)]
    found = np.stack([numbers for numbers, _ in columns], axis=1)
    wrong = np.stack([bad for _, bad in columns], axis=1)
    absent = np.isnan(found) & ~wrong
    # Without coordinates a line needs its ticket or its name; where the sheet has none it needs its coordinates.
    keys = [column for column in (TICKET, id_name) if column and column in body.places]
    by_key = np.all(absent, axis=1) if keys else np.zeros(len(absent), dtype=np.bool_)
    nowhere = by_key & np.all([empty(body.texts(column)) for column in keys], axis=0) if keys else by_key
    needed = f"give the {' or the '.join(keys)}, or all coordinates"
    troubles = [body.trouble(at, keys[0], needed) for at in _where(nowhere)]
    otherwise = f"{_FINITE}, or leave all coordinates empty beside a {' or '.join(keys)}" if keys else _FINITE
    for at, j in np.argwhere(wrong | (absent & ~by_key[:, None])).tolist():
        remedy = scales[j].spelling or comma_remedy(body.texts(names[j])[at]) or otherwise
        troubles.append(body.trouble(at, names[j], remedy))
    return found, troubles


def _points(
    body: _Body, coordinates: Coordinates, points: Array, *, named: Indices, id_name: str, elsewhere: bool
) -> tuple[list[int | None], list[tuple[float, ...] | None], list[Trouble]]:
    """Indices (m,) of points, None where a line has neither a name nor coordinates of one.

    Beside them are the coordinates (m,) that are not of a point, where those may be elsewhere.
    """
    found, troubles = _places(body, coordinates, id_name)
    whole = np.flatnonzero(np.isfinite(found).all(axis=1))
    located = np.full(len(found), -1)
    located[whole] = match(points, found[whole])
    lost = whole[located[whole] < 0]
    beside = lost[named[lost] < 0] if elsewhere else lost[:0]
    places: list[tuple[float, ...] | None] = [None] * len(found)
    for at in beside.tolist():
        places[at] = tuple(found[at].tolist())
    lost = np.setdiff1d(lost, beside)
    for at, near in zip(lost.tolist(), closest(points, found[lost]).tolist(), strict=True):
        remedy = f"give a point of the domain; the nearest is {_shown(coordinates, points[near])}, {_BESIDE}"
        got = f"at {_shown(coordinates, found[at])}"
        troubles.append(Trouble(line=body.lines[at], column="", got=got, remedy=remedy))
    for at in _where((located >= 0) & (named >= 0) & np.any(points[located] != points[named], axis=1)):
        there = _shown(coordinates, points[named[at]])
        troubles.append(
            body.trouble(at, id_name, f"its coordinates are {there}: correct the one or leave out the other")
        )
    chosen = np.where(named >= 0, named, located)
    return [None if point < 0 else point for point in chosen.tolist()], places, troubles


def _coordinate(body: _Body, name: str, scale: Scale) -> tuple[Array, Mask]:
    """Numbers (m,) of a column, and where there is something else; names that the scale knows are numbers, too."""
    if not scale.spelling:
        return body.numbers(name)
    return numbers([scale.numeral(cell) if cell else cell for cell in body.texts(name)])


def _shown(coordinates: Coordinates, place: Array) -> str:
    return shown(coordinates.names, coordinates.cells(place.tolist()))


def _where(mask: Mask) -> list[int]:
    return [int(at) for at in np.flatnonzero(mask)]


def _optional(numbers: Array) -> list[float | None]:
    optional = numbers.astype(object)
    optional[np.isnan(numbers)] = None
    listed: list[float | None] = optional.tolist()
    return listed
