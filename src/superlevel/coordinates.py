"""The coordinates of a domain together: people see places, the kernel sees points.

places      (n, d)  what people see, as numbers; a choice is the position of its name, from 0
points      (n, r)  what the kernel sees, r >= d
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from superlevel.arrays import Array
from superlevel.errors import InputError
from superlevel.scales import Cell, Number, Scale


@dataclass(frozen=True, kw_only=True)
class Coordinates:
    """The d coordinates of a place: what each is called, and what it may be."""

    names: tuple[str, ...]
    """(d,)"""
    scales: tuple[Scale, ...]
    """(d,)"""

    @classmethod
    def plain(cls, names: Sequence[str]) -> Coordinates:
        """Of points that were listed."""
        return cls(names=tuple(names), scales=(Number(),) * len(names))

    @property
    def is_plain(self) -> bool:
        """Whether every coordinate is a number without limits."""
        return all(scale == Number() for scale in self.scales)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """(r,) the names of the columns that the kernel sees."""
        pairs = zip(self.names, self.scales, strict=True)
        return tuple(column for name, scale in pairs for column in scale.columns(name))

    @property
    def size(self) -> int | None:
        """How many places there are; None for a continuum."""
        sizes = [scale.size for scale in self.scales]
        return None if None in sizes else math.prod(size for size in sizes if size is not None)

    def forward(self, places: Array) -> Array:
        """(n, r) what the kernel sees of places (n, d)."""
        return np.hstack([scale.forward(places[:, j]) for j, scale in enumerate(self.scales)])

    def inverse(self, points: Array) -> Array:
        """(n, d) the places of which the kernel sees points (n, r)."""
        ends = np.cumsum([len(scale.columns("")) for scale in self.scales])
        parts = np.split(points, ends[:-1], axis=1)
        return np.column_stack([scale.inverse(part) for scale, part in zip(self.scales, parts, strict=True)])

    def check(self, field: str, places: Array) -> None:
        """That each coordinate of places (n, d) is as its scale says."""
        for j, scale in enumerate(self.scales):
            fault = scale.fault(places[:, j])
            if fault is not None:
                raise InputError(f"{field}, coordinate {self.names[j]!r}", f"not as {scale!r}", fault)

    def sample(self, shares: Array) -> Array:
        """(n, d) places, for shares (n, d)."""
        return np.column_stack([scale.sample(shares[:, j]) for j, scale in enumerate(self.scales)])

    def positions(self, places: Array) -> Array:
        """(n, d) where places (n, d) are along the axes of a picture."""
        return np.column_stack([scale.positions(places[:, j]) for j, scale in enumerate(self.scales)])

    def cells(self, place: Sequence[float]) -> tuple[Cell, ...]:
        """(d,) a place as people see it: choices by name, whole numbers without a decimal point."""
        return tuple(scale.cell(value) for scale, value in zip(self.scales, place, strict=True))

    def named(self, place: Sequence[float]) -> dict[str, Cell]:
        """The same by the names of the coordinates."""
        return dict(zip(self.names, self.cells(place), strict=True))
