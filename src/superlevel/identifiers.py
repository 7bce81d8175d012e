"""Names of places or compounds: what people call a point."""

from __future__ import annotations

import itertools
import math
import reprlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from superlevel.arrays import Indices
from superlevel.errors import InputError
from superlevel.formats.cells import as_cell, as_text

ID = "id"
"""What the column of the names is called where nobody says it."""


def as_ids(ids: Iterable[object], n: int) -> tuple[str, ...]:
    """The names (n,) as texts, all different and none of them empty."""
    if isinstance(ids, str):
        raise InputError("ids", repr(ids), f"give {n} names, one for each point")
    listed = tuple(as_text(as_cell(each)).strip() for each in ids)
    if len(listed) != n:
        raise InputError("ids", f"{len(listed)} names", f"give {n}, one for each point")
    first: dict[str, int] = {}
    for at, name in enumerate(listed):
        if not name:
            raise InputError(f"ids[{at}]", "empty", "give every point a name")
        if name in first:
            got = f"{reprlib.repr(name)}, like ids[{first[name]}]"
            raise InputError(f"ids[{at}]", got, "give every point a name of its own")
        first[name] = at
    return listed


def continued(ids: Sequence[str], count: int) -> tuple[str, ...]:
    """The names (n,), and after them those of ``count`` points that were added: new 1, new 2, ...; none if n = 0."""
    taken = set(ids)
    fresh = (name for k in itertools.count(1) if (name := f"new {k}") not in taken)
    return (*ids, *itertools.islice(fresh, count)) if ids else ()


def match_ids(ids: Sequence[str], found: Sequence[str]) -> Indices:
    """Indices (m,) of the points with the names found, -1 where there is none.

    A spreadsheet turns the name 007 into the number 7. So a number also stands for the only name that is that number.
    """
    exact = {name: at for at, name in enumerate(ids)}
    if all(name in exact for name in found):
        return np.array([exact[name] for name in found], dtype=np.int64)
    numbers = _numbers(ids)
    return np.array([exact.get(name, numbers.get(_number(name), -1)) for name in found], dtype=np.int64)


def _numbers(ids: Sequence[str]) -> Mapping[float, int]:
    """The point of each number that only one name is."""
    known: dict[float, int] = {}
    for at, name in enumerate(ids):
        number = _number(name)
        known[number] = -1 if number in known else at
    return {number: at for number, at in known.items() if not math.isnan(number)}


def _number(name: str) -> float:
    try:
        return float(name)
    except ValueError:
        return math.nan
