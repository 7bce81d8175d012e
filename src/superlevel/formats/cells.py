"""Cells of a table: texts as they are written, and the numbers in them.

m           cells of a column

A cell is a text or a number. Files of text have texts only; "" stands for an empty cell in any file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self, TypeAlias, overload

import numpy as np

from superlevel.arrays import Array, Indices, Labels, Mask

Cell: TypeAlias = str | float
"""A text without blanks around it, or a finite number; "" where there is nothing."""

ABSENT = frozenset(("nan", "+nan", "-nan", "n/a", "#n/a", "na", "none", "null", "-", "--", "?"))
"""What people write where there is no number, in small letters."""
POINT, COMMA = ".", ","
BLOCK = 10_000  # cells that are made at once

_LONGEST_NUMBER = 30
_DECIMAL_COMMA = re.compile(r"([+-]?[0-9]*),([0-9]+(?:[eE][+-]?[0-9]+)?)")
_DECIMAL_POINT = re.compile(r"[+-]?[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?P<mark>[,.])[0-9]{3}")
_MANY_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+")


def as_cell(value: object) -> Cell:
    """A value of Python as a cell: numbers as numbers, None and NaN as an empty cell, all else as text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else ("" if math.isnan(value) else str(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    date: Any = getattr(value, "isoformat", None)
    return str(date()) if callable(date) else str(value)


def read_cell(value: object) -> Cell:
    """A value that a file has as a cell: true and false are 1 and 0, and texts have no blanks around them."""
    cell = as_cell(int(value) if isinstance(value, bool) else value)
    return cell.strip() if isinstance(cell, str) else cell


def as_text(cell: Cell) -> str:
    """The cell as people write it: a whole number without a decimal point.

    >>> as_text(7.0), as_text(0.1), as_text("007")
    ('7', '0.1', '007')
    """
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return cell if isinstance(cell, str) else repr(cell)


def as_texts(cells: Iterable[Cell]) -> list[str]:
    """Every cell as text."""
    return [cell if isinstance(cell, str) else as_text(cell) for cell in cells]


def is_number(cell: Cell) -> bool:
    """Whether this is a number with a decimal point, finite or not."""
    return not isinstance(cell, str) or ("_" not in cell and _parsed(cell) is not None)


# --- columns


class Computed(Sequence[Cell]):
    """Cells that are made from an array (m,) when they are read, in blocks: a list would be several times as large."""

    def __init__(self, values: Array | Indices | Labels, cell: Callable[[Any], Cell] = as_cell) -> None:
        self.values, self.cell = values, cell

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, at: int) -> Cell: ...
    @overload
    def __getitem__(self, at: slice) -> Self: ...
    def __getitem__(self, at: int | slice) -> Cell | Self:
        if isinstance(at, slice):
            return self._of(self.values[at])
        return self.cell(self.values[at].item())

    def __iter__(self) -> Iterator[Cell]:
        for start in range(0, len(self), BLOCK):
            yield from map(self.cell, self.values[start : start + BLOCK].tolist())

    def taken(self, at: Indices) -> Self:
        """The cells at some positions (k,)."""
        return self._of(self.values[at])

    def _of(self, values: Array | Indices | Labels) -> Self:
        return type(self)(values, self.cell)


class Numbers(Computed):
    """Numbers (m,) as cells; NaN is an empty one. Nothing of them is ever a text, so that no cell is looked at."""

    values: Array

    def __init__(self, values: Array, cell: Callable[[Any], Cell] = as_cell) -> None:
        super().__init__(np.asarray(values, dtype=np.float64), cell)


def taken(cells: Sequence[Cell], at: Indices) -> Sequence[Cell]:
    """The cells at some positions (k,)."""
    if isinstance(cells, Computed):
        return cells.taken(at)
    return [cells[i] for i in at.tolist()]


def empty(cells: Sequence[Cell]) -> Mask:
    """(m,) where nothing is written."""
    if isinstance(cells, Numbers):
        return np.isnan(cells.values)
    return np.fromiter((cell == "" for cell in cells), dtype=np.bool_, count=len(cells))


def absent(cells: Sequence[Cell]) -> Mask:
    """(m,) where a cell is empty, or says that there is no number: NA, NaN, -, ..."""
    if isinstance(cells, Numbers):
        return empty(cells)
    texts = as_texts(cells)
    return np.fromiter((not text or text.lower() in ABSENT for text in texts), dtype=np.bool_, count=len(texts))


def numbers(cells: Sequence[Cell], mark: str = POINT) -> tuple[Array, Mask]:
    """Numbers (m,), NaN where a cell is empty, and where a cell is filled with something else than a finite number.

    Args:
        cells: (m,)
        mark: what divides the digits in texts, a point or a comma. With a comma, a point is a mistake.
    """
    if isinstance(cells, Numbers):
        return cells.values, np.isinf(cells.values)
    filled = ~empty(cells)
    chosen: list[Cell] = [cell for cell in cells if cell != ""]
    if mark == COMMA:
        chosen = [_with_point(cell) if isinstance(cell, str) else cell for cell in chosen]
    found = np.full(len(cells), np.nan)
    try:
        odd = any("_" in cell for cell in chosen if isinstance(cell, str))
        found[filled] = list(map(_number if odd else float, chosen))
    except ValueError:
        found[filled] = list(map(_number, chosen))
    return found, filled & ~np.isfinite(found)


def _with_point(cell: str) -> str:
    return "_" if POINT in cell else cell.replace(COMMA, POINT, 1)


def _number(cell: Cell) -> float:
    """A number, or NaN. Python takes 1_000 for one, people do not."""
    if not isinstance(cell, str):
        return float(cell)
    parsed = None if "_" in cell else _parsed(cell)
    return math.nan if parsed is None else parsed


def _parsed(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


# --- decimal commas


def decimal_mark(cells: Iterable[Cell], others: Iterable[Cell]) -> str:
    """What divides the digits of a column in a file in which commas part no cells.

    1,234 and 1.234 may be thousands. A column that has only such numbers is read by the other columns: if these
    divide by the other mark, the column is taken for thousands, and every such cell is a mistake that people mend.

    Args:
        cells: of the column.
        others: all cells of the table; looked at only where the column alone does not decide.
    """
    if isinstance(cells, Numbers):
        return POINT
    texts = [cell for cell in cells if isinstance(cell, str) and (COMMA in cell or POINT in cell)]
    commas = [text for text in texts if _is_decimal(_DECIMAL_COMMA, text)]
    points = [text for text in texts if _is_decimal(_DECIMAL_POINT, text) or _MANY_THOUSANDS.fullmatch(text)]
    if commas and points:
        return POINT  # mixed: the commas are mistakes
    if commas and all(map(_THOUSANDS.fullmatch, commas)):
        return POINT if _somewhere(_DECIMAL_POINT, others) else COMMA
    if points and all(map(_MANY_THOUSANDS.fullmatch, points)):
        return COMMA if _somewhere(_DECIMAL_COMMA, others) else POINT
    return COMMA if commas else POINT


def _somewhere(pattern: re.Pattern[str], cells: Iterable[Cell]) -> bool:
    """Whether a cell has such a number that is not one of thousands."""
    return any(isinstance(c, str) and _is_decimal(pattern, c) and not _THOUSANDS.fullmatch(c) for c in cells)


def _is_decimal(pattern: re.Pattern[str], cell: str) -> bool:
    return len(cell) <= _LONGEST_NUMBER and pattern.fullmatch(cell) is not None


def comma_remedy(cell: Cell) -> str:
    """What to do about a number with a comma in it, or with points between thousands; empty for anything else."""
    if not isinstance(cell, str) or len(cell) > _LONGEST_NUMBER:
        return ""
    found = _DECIMAL_COMMA.fullmatch(cell)
    if found is None:
        plain = cell.replace(POINT, "")
        return f"write {plain} without a point" if _MANY_THOUSANDS.fullmatch(cell) else ""
    point = f"{found[1]}.{found[2]}"
    if _THOUSANDS.fullmatch(cell):  # 1,234 is one number in London and another in Berlin
        return f"write {point} or {found[1]}{found[2]}, without a comma"
    return f"write {point} with a decimal point"
