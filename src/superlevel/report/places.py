"""Points by their names, or by their coordinates in as many digits as tell each from every other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, log10

import numpy as np

from superlevel.arrays import Array, Indices
from superlevel.coordinates import Coordinates
from superlevel.scales import Cell

SHOWN = 6  # coordinates of a point, at most
FIRST = 4  # digits of the extent of a coordinate that are shown in any case
EXACT = 17  # digits of any number
POSITIONAL = 1e15  # numbers from here on have an exponent, and so have coordinates of a tiny extent


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """The points of a domain, as they are named in tables and sentences."""

    points: Array
    """(n, d)"""
    coordinates: Coordinates
    """What they are called, and what each may be."""
    ids: Sequence[str] = ()
    """(n,) what people call each point; empty where points have no names."""

    @property
    def count(self) -> int:
        """Coordinates that a table shows: none of many, where points have names."""
        many = len(self.coordinates.names) > SHOWN
        return 0 if many and self.ids else min(SHOWN, len(self.coordinates.names))

    def numbers(self, point: int) -> list[str]:
        """The coordinates of a point that a table shows."""
        if not self.count:
            return []
        cells = self.coordinates.cells(self.points[point].tolist())[:SHOWN]
        return [_written(cell, digits) for cell, digits in zip(cells, self._digits, strict=True)]

    def of(self, point: int) -> str:
        """A point as a sentence names it: by its name, or else "(181240, 333100)"."""
        return self.ids[point] if self.ids else self.listing(self.numbers(point))

    def listing(self, words: Sequence[str]) -> str:
        """Something of every coordinate that is shown, with a sign that there are more."""
        return f"({', '.join([*words[:SHOWN], *['…'] * (len(self.coordinates.names) > SHOWN)])})"

    @cached_property
    def _digits(self) -> list[tuple[bool, int]]:
        """For each coordinate, whether it is written without an exponent, and how many decimals or digits it has.

        Four digits of the extent at first. As long as two points that differ look the same, one more.
        """
        found = [np.unique(column, return_inverse=True) for column in self.points[:, :SHOWN].T]
        different = _different([positions for _, positions in found])
        for more in range(EXACT):
            digits = [_needed(values, more) for values, _ in found]
            rounded = [_rounded(values, each) for (values, _), each in zip(found, digits, strict=True)]
            alike = [np.unique(values, return_inverse=True)[1] for values in rounded]
            if all(same.max() + 1 == same.size for same in alike):  # each value looks different
                return digits
            if _different([same[at] for same, (_, at) in zip(alike, found, strict=True)]) == different:
                return digits
        return [(False, EXACT)] * len(found)


def _different(columns: Sequence[Indices]) -> int:
    """How many rows differ, by the position (n,) of each value among those of its column."""
    found, *others = columns
    for column in others:
        found = np.unique(found * (int(column.max()) + 1) + column, return_inverse=True)[1]
    return int(found.max()) + 1


def _needed(column: Array, more: int) -> tuple[bool, int]:
    extent, largest = float(np.ptp(column)), float(np.abs(column).max())
    if extent == 0.0:
        return False, EXACT - 2
    if largest < POSITIONAL and extent > 1e-6:
        return True, max(0, FIRST - ceil(log10(extent)) + more)
    return False, min(EXACT, FIRST + more + max(0, ceil(log10(largest)) - ceil(log10(extent))))


def _rounded(column: Array, digits: tuple[bool, int]) -> Array:
    positional, count = digits
    if positional:
        return np.round(column, count)
    return np.array([float(f"{value:.{count}g}") for value in column.tolist()])


def _written(cell: Cell, digits: tuple[bool, int]) -> str:
    """A choice by its name, a number in its digits."""
    positional, count = digits
    if isinstance(cell, str):
        return cell
    return np.format_float_positional(float(cell), count, trim="-") if positional else f"{cell:.{count}g}"
