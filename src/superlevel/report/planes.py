"""The plot of points with two coordinates: what they are drawn as, and its shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel.arrays import Array
from superlevel.report.cells import Grid, around, as_grid
from superlevel.report.mosaic import of_cloud, of_grid
from superlevel.report.surfaces import DENSITY, OnGrid, Pixels, Scattered, Surface

ALIKE = 3.0  # extents whose ratio is at most this are drawn to one scale
MOST_CELLS = 20_000  # points that have cells of their own: more are drawn as pixels


@dataclass(frozen=True, kw_only=True, eq=False)
class Plane:
    """A plot of points with two coordinates."""

    surface: Surface
    """What they are drawn as."""
    alike: bool
    """Whether both coordinates have one scale."""
    tallness: float
    """Height of the plot over its width."""
    stretch: float = 1.0
    """How much longer a unit of the second coordinate is than one of the first, where both have one scale."""

    @property
    def limits(self) -> Array:
        """(2, 2) where each axis begins and ends."""
        low, high = self.surface.box
        return np.stack([low - 0.01 * (high - low), high + 0.01 * (high - low)], axis=1)

    def spacing(self, width: float) -> float:
        """Of the points, in 1/72 inch, in a plot that is so many inches wide."""
        return float(72 * width * (self.tallness / self.surface.count) ** 0.5)


@dataclass(frozen=True, kw_only=True)
class _Shape:
    """Of a plot, by the extents of the points."""

    alike: bool
    stretch: float
    flat: bool
    """Whether the second coordinate has one value only."""

    def tallness(self, box: Array) -> float:
        """Of a plot from the lowest to the highest corner (2, 2)."""
        across, up = np.ptp(box, axis=0).tolist()
        return float(self.stretch * up / across) if self.alike else 0.3 if self.flat else 0.78


def as_plane(points: Array, ground: tuple[float, float] | None = None, *, width: float) -> Plane:
    """The plot of points (n, 2), so many inches wide: they are drawn on the grid that they are on, or scattered.

    ``ground`` has the lengths of one unit of each coordinate, where these differ.
    """
    extent, stretch = np.ptp(points, axis=0), 1.0 if ground is None else ground[1] / ground[0]
    apart = extent * [1.0, stretch]
    alike = bool(apart.min() > 0 and apart.max() <= ALIKE * apart.min())
    shape = _Shape(alike=alike, stretch=stretch, flat=not extent[1] > 0)
    grid = as_grid(points)
    surface = _cells(points, grid, alike) if len(points) <= MOST_CELLS else _pixels(points, grid, shape, width)
    return Plane(surface=surface, alike=alike, tallness=shape.tallness(surface.box), stretch=stretch)


def _cells(points: Array, grid: Grid | None, alike: bool) -> Surface:
    return Scattered(cells=around(points, np.ptp(points, axis=0), alike)) if grid is None else OnGrid(grid=grid)


def _pixels(points: Array, grid: Grid | None, shape: _Shape, width: float) -> Surface:
    box = np.stack([points.min(axis=0), points.max(axis=0)]) if grid is None else grid.box
    across = DENSITY * width
    size = round(across), max(1, round(across * shape.tallness(box)))
    return Pixels(mosaic=of_cloud(points, size) if grid is None else of_grid(grid, size))
