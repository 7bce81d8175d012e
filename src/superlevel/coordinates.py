"""The coordinates of a domain together: people see places, the kernel sees points.

places      (n, d)  what people see, as numbers; a choice is the position of its name, from 0
points      (n, r)  what the kernel sees, r >= d; of a place on the sphere, its x, y and z come first
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from superlevel.arrays import Array, Indices
from superlevel.errors import InputError
from superlevel.geography import AXES, DEGREE, cartesian, degrees
from superlevel.scales import Cell, Latitude, Longitude, Number, Scale


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
    def sphere(self) -> tuple[int, int] | None:
        """The positions of longitude and latitude; None where the coordinates are no places on the sphere."""
        kinds = [scale.kind for scale in self.scales]
        angles = (Longitude.kind, Latitude.kind)
        if not any(angle in kinds for angle in angles):
            return None
        if any(kinds.count(angle) != 1 for angle in angles):
            raise InputError("scales", f"{', '.join(kinds)}", "give one longitude and one latitude")
        return kinds.index(Longitude.kind), kinds.index(Latitude.kind)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """(r,) the names of the columns that the kernel sees."""
        pairs = zip(self.names, self.scales, strict=True)
        others = tuple(column for name, scale in pairs for column in scale.columns(name))
        return others if self.sphere is None else (*AXES, *others)

    @cached_property
    def columns_of(self) -> dict[str, tuple[int, ...]]:
        """For each coordinate, the positions of the columns that the kernel sees of it."""
        first = 0 if self.sphere is None else len(AXES)
        ends = first + np.cumsum([len(scale.columns("")) for scale in self.scales])
        found = {}
        for name, scale, end in zip(self.names, self.scales, ends.tolist(), strict=True):
            found[name] = tuple(range(end - len(scale.columns("")), end)) or tuple(range(first))
        return found

    @cached_property
    def units(self) -> Indices:
        """(r,) columns with the same number are of one unit, as those of a place on the sphere are."""
        shared = 0 if self.sphere is None else len(AXES) - 1
        return np.maximum(np.arange(len(self.columns)) - shared, 0)

    @property
    def size(self) -> int | None:
        """How many places there are; None for a continuum."""
        sizes = [scale.size for scale in self.scales]
        return None if None in sizes else math.prod(size for size in sizes if size is not None)

    def forward(self, places: Array) -> Array:
        """(n, r) what the kernel sees of places (n, d)."""
        parts = [scale.forward(places[:, j]) for j, scale in enumerate(self.scales)]
        if self.sphere is not None:
            east, north = self.sphere
            parts.insert(0, cartesian(places[:, east], places[:, north]))
        return np.hstack(parts)

    def inverse(self, points: Array) -> Array:
        """(n, d) the places of which the kernel sees points (n, r)."""
        listed = [self.columns_of[name] for name in self.names]
        found = [scale.inverse(points[:, list(at)]) for scale, at in zip(self.scales, listed, strict=True)]
        if self.sphere is not None:
            for at, angle in zip(self.sphere, degrees(points[:, : len(AXES)]).T, strict=True):
                found[at] = angle
        return np.column_stack(found)

    def check(self, field: str, places: Array) -> None:
        """That each coordinate of places (n, d) is as its scale says."""
        for j, scale in enumerate(self.scales):
            fault = scale.fault(places[:, j])
            if fault is not None:
                raise InputError(f"{field}, coordinate {self.names[j]!r}", f"not as {scale!r}", fault)

    def sample(self, shares: Array) -> Array:
        """(n, d) places, for shares (n, d)."""
        return np.column_stack([scale.sample(shares[:, j]) for j, scale in enumerate(self.scales)])

    def ground(self, places: Array) -> tuple[float, float] | None:
        """The km of one degree of each of two coordinates, in the middle of places (n, 2); None off the sphere."""
        if self.sphere is None or len(self.names) != len(self.sphere):
            return None
        east, north = self.sphere
        middle = np.radians((places[:, north].min() + places[:, north].max()) / 2)
        lengths = {east: DEGREE * float(np.cos(middle)), north: DEGREE}
        return lengths[0], lengths[1]

    def positions(self, places: Array) -> Array:
        """(n, d) where places (n, d) are along the axes of a picture."""
        return np.column_stack([scale.positions(places[:, j]) for j, scale in enumerate(self.scales)])

    def cells(self, place: Sequence[float]) -> tuple[Cell, ...]:
        """(d,) a place as people see it: choices by name, whole numbers without a decimal point."""
        return tuple(scale.cell(value) for scale, value in zip(self.scales, place, strict=True))

    def named(self, place: Sequence[float]) -> dict[str, Cell]:
        """The same by the names of the coordinates."""
        return dict(zip(self.names, self.cells(place), strict=True))
