"""Tables as text: UTF-8 with commas, semicolons or tabs between the cells, names in the first line.

Spreadsheets of half of the world write semicolons between the cells and commas in the numbers. The separator is the one
that most of the first rows agree on; where it is not the comma, numbers may have decimal commas. A byte order mark is
passed over, and UTF-16 that begins with one is read, too.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple, TextIO

from superlevel.formats.cells import Cell, as_texts, is_number
from superlevel.formats.table import Fault, Table

endings = (".csv", ".txt", ".tsv", ".tab")

UTF8 = "save the file as CSV in UTF-8"
LINES = "give a header and further lines"
_TABS = (".tsv", ".tab")
_SEPARATORS = (",", ";", "\t")
_SAMPLED = 20  # rows that the separator is guessed from
_TOGETHER = 1000  # rows that are written at once
_BEGINNING = 1 << 16  # characters in which the header must end
_UNSAFE = re.compile(r"[;\t\r]")  # what csv.writer leaves without quotes
_WIDE = (b"\xff\xfe", b"\xfe\xff")

# What spreadsheets take for the beginning of a formula, behind quotes that were put there before it.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


class Row(NamedTuple):
    """One line of a file, or more where a cell in quotes has line ends in it."""

    line: int
    """Where it begins, as a text editor counts."""
    cells: list[str]
    """Cells without the blanks around them."""


class BrokenError(Exception):
    """A line that is not CSV; the rows before it are."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def header(path: Path) -> tuple[str, ...]:
    """The names of the columns, without reading further lines than the first few."""
    with path.open("rb") as file:
        beginning = file.read(_BEGINNING)
        wide = beginning.startswith(_WIDE)
        content = b"" if wide else beginning.rpartition(b"\n")[0]
        return parsed(content or beginning + file.read(), name=str(path)).header


def read(path: Path) -> Table:
    """The table in a file."""
    return parsed(path.read_bytes(), name=str(path))


def write(path: Path, table: Table) -> None:
    """The table with commas between the cells, or tabs where the file's ending says so."""
    with path.open("w", encoding="utf-8", newline="") as file:
        _write_rows(file, table, "\t" if path.suffix.lower() in _TABS else ",")


def parsed(content: bytes, *, name: str) -> Table:
    """The table in the bytes of a file; what cannot be read is among its faults."""
    text, trouble = _decoded(content)
    if trouble is not None:
        return Table(name=name, header=(), columns=(), lines=(), faults=(trouble,))
    separator = separator_of(text)
    rows = scan(text, separator)
    try:
        first = next((row for row in rows if any(row.cells)), None)
    except BrokenError as error:
        return Table(name=name, header=(), columns=(), lines=(), faults=(_not_csv(error),))
    if first is None:
        return Table(name=name, header=(), columns=(), lines=(), faults=((1, Fault(None, "empty", LINES)),))
    width, lines, kept, faults = len(first.cells), [], list[str](), list[tuple[int, Fault]]()
    try:
        for line, cells in rows:
            if not any(cells):
                continue
            fault = length_fault(cells, first.cells)
            if fault is None:
                lines.append(line)
                kept += cells
            else:
                faults.append((line, fault))
    except BrokenError as error:
        faults.append(_not_csv(error))
    return Table(
        name=name,
        header=tuple(first.cells),
        columns=tuple(kept[place::width] for place in range(width)),
        lines=lines,
        header_line=first.line,
        faults=tuple(faults),
        commas=separator != ",",
    )


def written(table: Table, *, separator: str = ",") -> str:
    """The text of a table, in which no text is a formula to a spreadsheet: `parsed` reads the same cells again."""
    text = io.StringIO(newline="")
    _write_rows(text, table, separator)
    return text.getvalue()


def _write_rows(file: TextIO, table: Table, separator: str) -> None:
    """Some rows after the others, so that no more than these need memory; most have no text that needs care."""
    plain = csv.writer(file, delimiter=separator, lineterminator="\n")
    quoted = csv.writer(file, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_ALL)
    rows = chain([table.header], table.rows())
    while block := list(islice(rows, _TOGETHER)):
        texts = {cell for row in block for cell in row if isinstance(cell, str)}
        if not any(_UNSAFE.search(text) or neutral(text) != text for text in texts):
            plain.writerows(block)
            continue
        for row in block:
            # A carriage return ends a line, and another separator may be taken for the one of the file.
            unsafe = any(isinstance(cell, str) and _UNSAFE.search(cell) for cell in row)
            (quoted if unsafe else plain).writerow(map(neutral, row))


# --- bytes


def _decoded(content: bytes) -> tuple[str, tuple[int, Fault] | None]:
    """The text, and what is wrong with it where it is none."""
    if content.startswith(_WIDE):
        text = content.decode("utf-16", errors="replace")
    elif b"\0" in content[:2]:
        return "", (1, Fault(None, "UTF-16 text", UTF8))
    else:
        try:
            text = content.decode("utf-8-sig")  # spreadsheets write a byte order mark
        except UnicodeDecodeError as error:
            return "", (_line_at(content, error.start), Fault(None, "not UTF-8 text", UTF8))
    if "\0" in text:
        return "", (_line_at(text.encode(errors="replace"), text.index("\0")), Fault(None, "with a NUL byte", UTF8))
    return text, None if text.strip() else (1, Fault(None, "empty", LINES))


def _line_at(content: bytes, position: int) -> int:
    return len((content[:position] + b".").splitlines())


# --- rows


def scan(text: str, separator: str) -> Iterator[Row]:
    """The rows of a text. A BrokenError ends them where something is not CSV."""
    # strict, because a quote that is never closed would otherwise swallow the rest of the file
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    following = 1
    try:
        for cells in reader:
            yield Row(following, [_as_written(cell.strip()) for cell in cells])
            following = reader.line_num + 1
    except csv.Error as error:
        raise BrokenError(following, str(error)) from error


def separator_of(text: str) -> str:
    """The separator by which most of the first rows have as many cells as the header, of which there are several.

    A file whose only row is the header has the separator that parts most names.
    """
    beginning = text[:_BEGINNING].rpartition("\n")[0] if len(text) > _BEGINNING else text
    votes = [_votes(beginning or text, separator) for separator in _SEPARATORS]
    best = max(range(len(_SEPARATORS)), key=votes.__getitem__)  # the first of equal ones
    return _SEPARATORS[best]


def _votes(text: str, separator: str) -> tuple[int, int]:
    """Rows that agree with the header, and names in it where any row has several cells or there are no rows."""
    rows: list[list[str]] = []
    with suppress(BrokenError):  # whoever reads the rows says it
        rows += (row.cells for row in islice(scan(text, separator), _SAMPLED) if any(row.cells))
    if not rows or len(rows[0]) < 2:
        return 0, 0
    agreed = sum(len(cells) == len(rows[0]) for cells in rows[1:])
    return agreed, len(rows[0]) if len(rows) == 1 or any(len(cells) > 1 for cells in rows[1:]) else 0


def length_fault(cells: Sequence[str], names: Sequence[str]) -> Fault | None:
    """What is wrong with the number of cells in a row."""
    if len(cells) == len(names):
        return None
    remedy = f"give {len(names)} cells, as in the header"
    if len(cells) > len(names):
        return Fault(None, f"{len(cells)} cells long", remedy)
    return Fault(names[len(cells)], "missing", remedy)


def _not_csv(error: BrokenError) -> tuple[int, Fault]:
    return error.line, Fault(None, "not CSV", f"check its quotes ({error.reason})")


# --- formulas


def neutral(cell: Cell) -> Cell:
    """The cell, with a quote before a text that spreadsheets would run; numbers stay as they are."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) and not is_number(cell) else cell


def _as_written(cell: str) -> str:
    """The text that `neutral` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def plain_text(table: Table) -> str:
    """Every cell of the table in a text of its own line, for whoever looks for words in it."""
    return "\n".join(chain.from_iterable(as_texts(column) for column in (table.header, *table.columns)))
