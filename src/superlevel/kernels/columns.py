"""Columns of a kernel, as people name them and as a kernel sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import groupby
from typing import Any, TypeAlias

from superlevel.kernels.table import KernelError, shown

Known: TypeAlias = Mapping[str, Sequence[int]]
"""The columns that a kernel sees under each name."""

_TO = " to "
_SHORTEST = 4  # columns that follow each other and are written as a range
_MOST = 10**6


def numbered(description: Any, known: Known | None) -> Any:
    """A description with numbers in place of the names of columns, and of ranges such as "bit0 to bit511"."""
    if isinstance(description, list):
        return [numbered(item, known) for item in description]
    if not isinstance(description, dict):
        return description
    found = {key: numbered(value, known) for key, value in description.items()}
    if description.get("kernel") == "On":
        found["columns"] = _once([column for given in description["columns"] for column in _numbers(given, known)])
    return found


def _numbers(given: str | int, known: Known | None) -> Sequence[int]:
    if isinstance(given, int):
        return [given]
    names = {} if known is None else known
    if given in names:
        return names[given]
    first, to, last = given.partition(_TO)
    if to and (first in names) and (last in names):
        listed = list(names)
        between = listed[listed.index(first) : listed.index(last) + 1]
        return [column for name in between for column in names[name]]
    if to and first.isdecimal() and last.isdecimal() and int(last) < _MOST:
        return range(int(first), int(last) + 1)
    raise KernelError(f"where {shown(given)} is no column", _remedy(given, names))


def _remedy(given: str, names: Known) -> str:
    close = get_close_matches(given, names, n=1)
    if close:
        return f"did you mean {close[0]}?"
    some = ", ".join(list(names)[:8])
    return f'give numbers, such as [0, 1] or "0 to 9"{f", or names out of {some}" if some else ""}'


def _once(columns: list[int]) -> list[int]:
    """Without repeats: longitude and latitude stand for the same three columns."""
    return list(dict.fromkeys(columns))


def written_columns(columns: Sequence[int]) -> str:
    """As `superlevel.kernels.parse` reads them; neighbours as a range."""
    runs = [[column for _, column in run] for _, run in groupby(enumerate(columns), key=lambda pair: pair[1] - pair[0])]
    parts: list[str] = []
    for run in runs:
        parts += [f'"{run[0]}{_TO}{run[-1]}"'] if len(run) >= _SHORTEST else map(str, run)
    return parts[0] if len(parts) == 1 else f"[{', '.join(parts)}]"
