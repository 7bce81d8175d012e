"""Points out of a table as people keep it: which columns are coordinates, names, categories, and what is missing.

m           rows of the table
d           coordinates
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from superlevel.arrays import Array, Indices, Mask, as_names
from superlevel.errors import InputError
from superlevel.formats import Fault, Table
from superlevel.formats.cells import absent
from superlevel.identifiers import ID

MOST_LEVELS = 50  # different texts of a category
_SHOWN_LINES = 10


class Kind(StrEnum):
    """What a column holds."""

    NUMBERS = "numbers"
    TEXT = "text"
    NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True)
class Column:
    """What is in a column."""

    name: str
    kind: Kind
    """Numbers where at least half of the filled cells are."""
    low: float
    """Smallest and largest number; NaN where there is none."""
    high: float
    rows: int
    """Of the table."""
    blank: int
    """Rows without a number or a text."""
    different: int
    """Different cells, empty ones apart."""
    same_as: str = ""
    """An earlier column with the same numbers or texts in every row."""

    @property
    def constant(self) -> bool:
        """Whether all rows have one and the same number or text."""
        return self.different == 1

    @property
    def names_rows(self) -> bool:
        """Whether every row has a text of its own, so that the column can name the points."""
        return self.kind is Kind.TEXT and self.different == self.rows

    @property
    def divides_rows(self) -> bool:
        """Whether few texts come often, so that the column can be a category."""
        return self.kind is Kind.TEXT and 1 < self.different <= min(MOST_LEVELS, self.rows // 2)


def columns_of(table: Table) -> tuple[Column, ...]:
    """What is in each column that has a name."""
    return tuple(_columns(table))


def _columns(table: Table) -> Iterator[Column]:
    seen: dict[object, str] = {}
    for place, name in enumerate(table.header):
        if not name:
            continue
        values, wrong = table.numbers_or_blanks(place)
        nothing = absent(table.columns[place])
        filled = values[~np.isnan(values)]
        numeric = filled.size > 0 and 2 * filled.size >= np.count_nonzero(~nothing)
        plain = numeric and not (wrong & ~nothing).any()
        texts = [] if plain else table.texts(place)
        kind = Kind.NUMBERS if numeric else Kind.NOTHING if nothing.all() else Kind.TEXT
        key = values.tobytes() if plain else tuple(texts)
        same = seen.setdefault(key, name)
        yield Column(
            name=name,
            kind=kind,
            low=float(filled.min()) if numeric else np.nan,
            high=float(filled.max()) if numeric else np.nan,
            rows=len(table),
            blank=int(np.count_nonzero(nothing)),
            different=len(np.unique(filled)) if numeric else len({text for text in texts if text}),
            same_as="" if same == name else same,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
    """What a table says of points."""

    points: Array
    """(n, d)"""
    names: tuple[str, ...]
    """(d,) of the coordinates."""
    ids: tuple[str, ...] | None
    """(n,) names of the points; None where no column has them."""
    id_name: str
    """What the column of these is called."""
    left_out: tuple[int, ...]
    """Lines that were left out because a coordinate is missing."""


def read_points(
    table: Table,
    *,
    columns: Sequence[str] | None = None,
    ids: str | None = None,
    categories: Sequence[str] = (),
    drop_incomplete: bool = False,
) -> Points:
    """The points of a table without faults.

    Args:
        table: one row a point.
        columns: the coordinates that are numbers; by default those that the format knows, or else all columns that are
            neither ids nor categories.
        ids: the column with the name of each point.
        categories: columns of texts. Each becomes a coordinate for every text: 1 where a row has it, else 0.
        drop_incomplete: leave out rows in which a coordinate is missing; otherwise such rows are an error.
    """
    chosen = as_names("categories", categories, remedy="give a list of names of columns")
    special = {*chosen, *([] if ids is None else [ids])}
    columns = (table.coordinates or None) if columns is None else columns
    if columns is None:
        _check_texts(table, special)
    if columns is None and special:
        columns = [name for name in table.header if name and name not in special]
    places = [] if chosen and not columns else table.places(columns)
    divided = table.places(chosen) if chosen else []
    missing = incomplete(table, [*places, *divided])
    if missing.any() and not drop_incomplete:
        raise _incomplete(table, missing)
    if missing.all():
        raise InputError("path", f"{table.name!r}, where every row lacks a coordinate", "fill them in")
    kept = table.chosen(~missing)
    blocks = [(kept.numbers(places), [table.header[place] for place in places])] if places else []
    blocks += [one_hot(kept, place) for place in divided]
    named = None if ids is None else _ids(kept, ids)
    return Points(
        points=np.hstack([block for block, _ in blocks]),
        names=tuple(name for _, block in blocks for name in block),
        ids=named,
        id_name=ID if ids is None else ids,
        left_out=tuple(table.lines[row] for row in np.flatnonzero(missing).tolist()),
    )


def _check_texts(table: Table, special: Collection[str]) -> None:
    """That no column of texts would be taken for a coordinate."""
    for column in columns_of(table):
        if column.kind is Kind.TEXT and column.name not in special:
            offer = f"name the points by it with ids={column.name!r}, make it one of categories=[...]"
            fault = Fault(column.name, "text", f"{offer}, or choose other columns with columns=[...]")
            raise table.error(table.header_line, fault)


def incomplete(table: Table, places: Sequence[int]) -> Mask:
    """(m,) rows in which one of the columns is empty."""
    missing = np.zeros(len(table), dtype=np.bool_)
    for place in places:
        missing |= absent(table.columns[place])
    return missing


def lines_in_words(lines: Sequence[int]) -> str:
    """The first of some lines."""
    more = f" and {len(lines) - _SHOWN_LINES:,} more" if len(lines) > _SHOWN_LINES else ""
    return f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines[:_SHOWN_LINES]))}{more}"


def _incomplete(table: Table, missing: Mask) -> InputError:
    lines = [table.lines[row] for row in np.flatnonzero(missing).tolist()]
    which = (
        f"{len(lines):,} of {len(table):,} rows lack{'s' * (len(lines) == 1)} a coordinate ({lines_in_words(lines)})"
    )
    remedy = "fill them in, or leave these rows out with drop_incomplete=True"
    return InputError("path", f"{table.name!r}, where {which}", remedy)


def one_hot(table: Table, place: int) -> tuple[Array, list[str]]:
    """A category as coordinates: (n, k) for its k texts in alphabetical order, and their names."""
    texts = np.array(table.texts(place))
    levels, at = np.unique(texts, return_inverse=True)
    name = table.header[place]
    if len(levels) > MOST_LEVELS:
        got = f"{len(levels):,} different texts"
        raise table.error(table.header_line, Fault(name, got, f"give a category with at most {MOST_LEVELS}"))
    return np.eye(len(levels))[at], [f"{name} {level}" for level in levels.tolist()]


def _ids(table: Table, column: str) -> tuple[str, ...]:
    """The names of the points; the first that is missing or that another row has is an error."""
    (place,) = table.places([column])
    texts = table.texts(place)
    first: dict[str, int] = {}
    for line, text in zip(table.lines, texts, strict=True):
        if not text:
            raise table.error(line, Fault(column, "empty", "give every point a name"))
        if text in first:
            got = f"{text!r}, as in line {first[text]}"
            raise table.error(line, Fault(column, got, "give every point a name of its own, or choose another column"))
        first[text] = line
    return tuple(texts)


def duplicates(points: Array) -> Indices:
    """The points whose coordinates an earlier point has."""
    first = np.unique(points, axis=0, return_index=True)[1]
    return np.setdiff1d(np.arange(len(points)), first)
