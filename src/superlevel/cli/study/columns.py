"""Which columns of a file are coordinates, names and categories: as options say it, or as nobody could mistake it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from superlevel import formats
from superlevel.cli.study import common
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.point_tables import (
    Column,
    Kind,
    Points,
    columns_of,
    duplicates,
    incomplete,
    lines_in_words,
    read_points,
)

TO = " to "  # between the first and the last column of a range, as in a kernel
MANY = 10  # columns of numbers, of which an example is a range
MOST_ASSUMED = 3  # columns of numbers that are taken for coordinates without being asked for
RESERVED = frozenset(("ticket", "value", "noise", "status", "reason", "study"))  # of a sheet: never a coordinate

Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="A coordinate; once for each, or a range such as 'bit0 to bit255'. Default: the columns of numbers, if "
        "there are up to three and none of them looks like what is measured.",
        show_default=False,
    ),
]
Ids = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="The column that names the points: samples, compounds."),
]
Categories = Annotated[
    list[str] | None,
    typer.Option(
        "--category",
        metavar="COLUMN",
        help="A column of texts that matters to the value, such as soil; once for each. Every text becomes a "
        "coordinate, 1 where a row has it and else 0.",
        show_default=False,
    ),
]
DropIncomplete = Annotated[
    bool, typer.Option("--drop-incomplete", help="Leave out the rows in which a coordinate is blank.")
]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What the options say of the columns."""

    columns: Sequence[str] | None
    ids: str | None
    categories: Sequence[str]
    drop_incomplete: bool


def read_domain(path: Path, choice: Choice, *, levels: Sequence[float]) -> tuple[Domain, list[str]]:
    """The points of a file without a kernel, and what there is to say of its columns and rows.

    Args:
        path: the file.
        choice: what was typed.
        levels: which the values are compared with: a column around them may be what is measured.
    """
    options = {"columns": "--column", "categories": "--category", "ids": "--id", "id_name": "--id", "names": "--column"}
    with common.given_as("--points", **options):
        table = formats.read(path).checked()
        found = columns_of(table)
        if choice.columns is not None:
            choice = replace(choice, columns=spanned(choice.columns, table.header))
        else:
            choice = replace(choice, columns=table.coordinates or _coordinates(path, found, choice, levels))
        _check_complete(table, choice)
        read = read_points(
            table,
            columns=choice.columns,
            ids=choice.ids,
            categories=choice.categories,
            drop_incomplete=choice.drop_incomplete,
        )
        domain = Domain(read.points, names=read.names, ids=read.ids, id_name=read.id_name, reference=table.reference)
    return domain, _remarks(found, choice, read)


# --- which columns


def spanned(columns: Sequence[str], header: Sequence[str]) -> list[str]:
    """The columns that were typed, with all columns of a range such as "bit0 to bit255" in its place."""
    found: list[str] = []
    for each in columns:
        first, to, last = each.partition(TO)
        if to and each not in header and first in header and last in header:
            found += header[header.index(first) : header.index(last) + 1]
        else:
            found.append(each)
    return found


def _coordinates(path: Path, found: Sequence[Column], choice: Choice, levels: Sequence[float]) -> list[str]:
    """The columns that can only be coordinates; a person has to choose where others are possible."""
    special = {choice.ids, *choice.categories}
    numbers = [each for each in found if each.kind is Kind.NUMBERS and each.name not in special]
    left = [each for each in numbers if each.name.lower() not in RESERVED]
    answers = _answers(left, levels)
    if not answers and (0 < len(left) <= MOST_ASSUMED or (not left and choice.categories)):
        return [each.name for each in left]
    common.screen(True).print(_listing(found, choice, answers))
    varying = [each.name for each in left if each.name not in answers and not each.constant]
    example = [f"{varying[0]}{TO}{varying[-1]}"] if len(varying) > MANY else varying[:2]
    words = shlex.join(word for name in example for word in ("--column", name))
    which = f"say which of the {len(numbers)} columns of numbers in {path} are coordinates"
    if not numbers:
        raise InputError(
            "--points", f"{str(path)!r}, which has no column of numbers", "give coordinates, or --category"
        )
    raise InputError("--column", "missing", f"{which}, as in {words}" if words else which)


def _answers(left: Sequence[Column], levels: Sequence[float]) -> list[str]:
    """The columns that look like what is measured rather than like where.

    A column that is blank in half of the rows, beside columns without a blank, was measured at some places only. The
    last of three columns is suspect if a level is within its range, and within that of no other.
    """
    whole = [each for each in left if not each.blank]
    partial = [each.name for each in left if whole and 2 * each.blank >= each.rows]
    around = [each.name for each in left if any(each.low < level < each.high for level in levels)]
    last = [left[-1].name] if len(left) == MOST_ASSUMED and around == [left[-1].name] else []
    return list(dict.fromkeys([*partial, *last]))


def _listing(found: Sequence[Column], choice: Choice, answers: Sequence[str]) -> object:
    rows = [(each.name, each.kind.value, _range(each), _remark(each, choice, answers)) for each in found]
    return common.table(["column", "holds", "range", "remark"], rows)


def _range(column: Column) -> str:
    if column.kind is Kind.NUMBERS:
        return f"{column.low:.7g} to {column.high:.7g}"
    return f"{column.different:,} different" if column.kind is Kind.TEXT else ""


def _remark(column: Column, choice: Choice, answers: Sequence[str]) -> str:
    parts = [f"{column.blank:,} blank"] * bool(column.blank)
    parts += ["the same in all rows"] * (column.constant and column.kind is not Kind.NOTHING)
    parts += [f"the same as {column.same_as}"] * bool(column.same_as)
    parts += ["perhaps what is measured"] * (column.name in answers)
    parts += ["a column of sheets"] * (column.name.lower() in RESERVED)
    parts += [f"may name the points: --id {shlex.quote(column.name)}"] * (choice.ids is None and column.names_rows)
    parts += [f"may be a category: --category {shlex.quote(column.name)}"] * column.divides_rows
    return ", ".join(parts)


# --- rows


def _check_complete(table: formats.Table, choice: Choice) -> None:
    """That no row lacks a coordinate, or that such rows may be left out."""
    places = table.places([*(choice.columns or ()), *choice.categories])
    missing = incomplete(table, places)
    if missing.any() and not choice.drop_incomplete:
        lines = [table.lines[row] for row in np.flatnonzero(missing).tolist()]
        some = f"{len(lines):,} of {len(table):,} rows, {lines_in_words(lines)}"
        got = f"{table.name!r}, in which a coordinate is blank in {some}"
        raise InputError("--points", got, "fill it in, or leave these rows out with --drop-incomplete")


def _remarks(found: Sequence[Column], choice: Choice, read: Points) -> list[str]:
    """What a person may want to know before the first measurement."""
    used = {*(choice.columns or ()), *choice.categories}
    said = []
    if read.left_out:
        said.append(
            f"{common.plural(len(read.left_out), 'row')} without a coordinate left out: {lines_in_words(read.left_out)}"
        )
    for each in found:
        if choice.columns is not None and each.name.lower() in RESERVED and each.name not in used:
            said.append(f"column {each.name!r} is one of a sheet of results, and no coordinate")
        if each.name in used and each.constant:
            said.append(f"column {each.name!r} is the same in all rows")
        if each.name in used and each.same_as in used:
            said.append(f"column {each.name!r} is the same as {each.same_as!r}")
    twice = duplicates(read.points)
    if twice.size:
        said.append(f"{common.plural(twice.size, 'point')} with the coordinates of an earlier one")
    for each in found:
        if choice.ids is None and each.names_rows:
            said.append(f"column {each.name!r} may name the points: --id {shlex.quote(each.name)}")
        elif each.name not in {*used, choice.ids} and each.divides_rows:
            said.append(f"column {each.name!r} may be a category: --category {shlex.quote(each.name)}")
    return said
