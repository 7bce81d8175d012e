"""The hills around the Jacksboro fault: matplotlib's sample of real elevations.

The file has 344 x 403 cells of about 0.09 km, of which the demonstration takes every seventh row and column. The first
row is the northernmost: the file calls its latitude ``ymin``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from matplotlib import cbook

from superlevel.arrays import Array, as_count, frozen

FILE = "jacksboro_fault_dem.npz"
STRIDE = 7  # rows and columns: 50 x 58 cells are left
DEGREE = 111.2  # kilometres of a degree of latitude
DIGITS = 3  # of coordinates in kilometres


@dataclass(frozen=True, kw_only=True, eq=False)
class Hills:
    """Elevations on a grid of n cells."""

    east: Array
    """(columns,) kilometres from the westernmost cells."""
    north: Array
    """(rows,) kilometres from the southernmost cells, so descending."""
    elevation: Array
    """(rows, columns) metres."""

    @cached_property
    def heights(self) -> Array:
        """(n,) metres, row after row, which is the order of all arrays (n,)."""
        return frozen(self.elevation.ravel())

    @cached_property
    def places(self) -> Array:
        """(n, 2) kilometres east and north."""
        across, up = np.meshgrid(self.east, self.north)
        return frozen(np.stack([across.ravel(), up.ravel()], axis=1))

    @property
    def n(self) -> int:
        """Cells."""
        return len(self.heights)

    @property
    def cell(self) -> tuple[float, float]:
        """Kilometres from one cell to the next, eastwards and northwards."""
        return float(np.ptp(self.east)) / (len(self.east) - 1), float(np.ptp(self.north)) / (len(self.north) - 1)


def load(*, stride: int = STRIDE) -> Hills:
    """The elevations from the installed matplotlib, of every so many rows and columns."""
    step = as_count("stride", stride)
    with np.load(cbook.get_sample_data(FILE, asfileobj=False)) as file:
        elevation = file["elevation"][::step, ::step].astype(np.float64)
        dx, dy = step * float(file["dx"]), step * float(file["dy"])
        latitude = (float(file["ymin"]) + float(file["ymax"])) / 2
    rows, columns = elevation.shape
    return Hills(
        east=frozen((np.arange(columns) * dx * DEGREE * np.cos(np.radians(latitude))).round(DIGITS)),
        north=frozen((np.arange(rows)[::-1] * dy * DEGREE).round(DIGITS)),
        elevation=frozen(elevation),
    )
