"""The Strait of Georgia and the waters around Vancouver Island: matplotlib's sample of real depths.

The grid has 91 x 120 cells of 2.4 km. Land is no part of the domain: what is left are the 4,841 cells below sea level.
1,897 of them, inlets and coasts mostly, are 1 m deep to the digit, which looks like the source's mark for water that it
has no depth of. They are taken for 1 m, and where they meet deep water the floor is a cliff.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from matplotlib import cbook

from superlevel.arrays import Array, Labels, Mask, as_count, frozen

FILE = "topobathy.npz"
DEGREE = 111.2  # kilometres of a degree of latitude
DIGITS = 2  # of coordinates in kilometres


@dataclass(frozen=True, kw_only=True, eq=False)
class Sea:
    """Depths on a map."""

    longitude: Array
    """(columns,) degrees east, so negative here."""
    latitude: Array
    """(rows,) degrees north."""
    depth: Array
    """(rows, columns) metres below sea level, negative on land."""

    @cached_property
    def wet(self) -> Mask:
        """(rows, columns) the cells below sea level, n of them; their order is that of all arrays (n,)."""
        return frozen(self.depth > 0)

    @cached_property
    def depths(self) -> Array:
        """(n,) metres"""
        return frozen(self.depth[self.wet])

    @cached_property
    def roots(self) -> Array:
        """(n,) square roots of the depths: there shoals and trenches are comparable."""
        return frozen(np.sqrt(self.depths))

    @cached_property
    def degrees(self) -> Array:
        """(n, 2) longitude and latitude"""
        across, up = np.meshgrid(self.longitude, self.latitude)
        return frozen(np.stack([across[self.wet], up[self.wet]], axis=1))

    @cached_property
    def places(self) -> Array:
        """(n, 2) kilometres east and north of the map's corner, on a plane: right to 2 %."""
        corner = [self.longitude[0], self.latitude[0]]
        kilometres = [DEGREE * np.cos(np.radians(self.latitude.mean())), DEGREE]
        return frozen(((self.degrees - corner) * kilometres).round(DIGITS))

    @property
    def n(self) -> int:
        """Cells below sea level."""
        return len(self.depths)

    @property
    def width(self) -> float:
        """Of a cell, in kilometres."""
        return float(DEGREE * np.diff(self.latitude).mean())

    def on_map(self, values: Array | Labels) -> Array:
        """(rows, columns) values (n,) where they belong, NaN on land."""
        drawn = np.full(self.depth.shape, np.nan)
        drawn[self.wet] = values
        return drawn


def load(*, stride: int = 1) -> Sea:
    """From the installed matplotlib; of a larger ``stride``, every so many rows and columns."""
    step = as_count("stride", stride)
    with np.load(cbook.get_sample_data(FILE, asfileobj=False)) as file:
        longitude, latitude, height = (file[name].astype(np.float64) for name in ("longitude", "latitude", "topo"))
    return Sea(
        longitude=frozen(longitude[::step] - 360),
        latitude=frozen(latitude[::step].copy()),
        depth=frozen(-height[::step, ::step]),
    )
