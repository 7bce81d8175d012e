"""The cells that points are drawn as: the rectangles of a grid, or what is nearest to each of scattered points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.path import Path
from scipy.spatial import cKDTree

from superlevel.arrays import Array, Indices, Mask
from superlevel.grids import distinct, even_steps

RAYS = 24  # corners of the cell of a scattered point
PART = 0.93  # of the cell of a scattered point that is filled, so that it is seen as one
NEIGHBOURS = 20  # points that a scattered cell is bounded by


@dataclass(frozen=True, kw_only=True, eq=False)
class Ticks:
    """The values of one coordinate on a grid."""

    places: Array
    """(k,) increasing; those that no point has are there as well, where steps are even."""
    index: Indices
    """(n,) which of them each point has."""
    sides: Array
    """(k, 2) where their cells begin and end."""
    even: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Grid:
    """Points with two coordinates on a grid, with or without holes."""

    first: Ticks
    second: Ticks

    @property
    def box(self) -> Array:
        """(2, 2) the lowest and the highest corner."""
        return np.stack([[each.sides[0, 0], each.sides[-1, 1]] for each in (self.first, self.second)], axis=1)

    @property
    def cells(self) -> Array:
        """(n, 4, 2) corners."""
        return rectangles(self.first.sides[self.first.index], self.second.sides[self.second.index])

    @property
    def holes(self) -> Array:
        """(m, 4, 2) corners of the cells that no point has."""
        second, first = np.nonzero(np.ma.getmaskarray(self.nodes(np.zeros(self.first.index.size))))
        return rectangles(self.first.sides[first], self.second.sides[second])

    def nodes(self, values: Array) -> Array:
        """(k2, k1) the values (n,) of the points, masked where there is no point."""
        found = np.full((self.second.places.size, self.first.places.size), np.nan)
        found[self.second.index, self.first.index] = values
        return np.ma.masked_invalid(found)

    def border(self, chosen: Mask) -> Array:
        """(m, 2, 2) ends of the sides between the cells of the chosen points (n,) and all that is around them."""
        inside = np.zeros((self.second.places.size + 2, self.first.places.size + 2), dtype=bool)
        inside[self.second.index[chosen] + 1, self.first.index[chosen] + 1] = True
        x, y = (np.append(each.sides[:, 0], each.sides[-1, 1]) for each in (self.first, self.second))
        row, column = np.nonzero(inside[1:-1, 1:] != inside[1:-1, :-1])
        upright = np.stack([x[column], y[row], x[column], y[row + 1]], axis=1)
        row, column = np.nonzero(inside[1:, 1:-1] != inside[:-1, 1:-1])
        level = np.stack([x[column], y[row], x[column + 1], y[row]], axis=1)
        return np.concatenate([upright, level]).reshape(-1, 2, 2)


def as_grid(points: Array) -> Grid | None:
    """The grid that the points are on, with or without holes; None for scattered points."""
    grid = Grid(first=ticks(points[:, 0]), second=ticks(points[:, 1]))
    nodes = grid.first.places.size * grid.second.places.size
    enough = 0.2 if grid.first.even and grid.second.even else 0.6  # any points are on some uneven grid
    if len(points) < enough * nodes:
        return None
    filled = np.count_nonzero(np.bincount(grid.first.index * grid.second.places.size + grid.second.index))
    return grid if filled >= enough * nodes else None


def ticks(values: Array) -> Ticks:
    """The values of one coordinate (n,), each once, and the sides of their cells."""
    places, index = distinct(values)
    if places.size == 1:
        half = max(0.5, 0.05 * abs(places[0]))
        return Ticks(places=places, index=index, sides=places[:, None] + [-half, half], even=True)
    steps = even_steps(places, slack=0.05)
    if steps is not None and steps.count <= 4 * places.size:
        places = np.linspace(places[0], places[-1], steps.count)
        half = 0.5 * (places[1] - places[0])
        return Ticks(places=places, index=steps.at[index], sides=places[:, None] + [-half, half], even=True)
    middles = 0.5 * (places[1:] + places[:-1])
    ends = np.concatenate([[2 * places[0] - middles[0]], middles, [2 * places[-1] - middles[-1]]])
    return Ticks(places=places, index=index, sides=np.column_stack([ends[:-1], ends[1:]]), even=False)


def around(points: Array, extent: Array, alike: bool) -> Array:
    """(n, RAYS, 2) corners of what is nearer to each point than to any other, and not far from it."""
    scale = np.full(2, extent.max()) if alike else np.where(extent > 0, extent, 1.0)
    places, index = np.unique(points / scale, axis=0, return_inverse=True)
    distances, near = cKDTree(places).query(places, k=min(len(places), NEIGHBOURS + 1))
    reach = float(np.clip(2.4 * np.median(distances[:, 1]), 0.015, 0.06))
    towards = places[near[:, 1:]] - places[:, None]
    angles = 2 * np.pi * np.arange(RAYS) / RAYS
    cells = np.empty((len(places), RAYS, 2))
    for at, ray in enumerate(np.column_stack([np.cos(angles), np.sin(angles)])):
        along = towards @ ray
        # |d|^2 / 2 <d, ray> is how far away a ray meets the line halfway to a neighbour
        meets = np.where(along > 0, distances[:, 1:] ** 2 / (2 * np.where(along > 0, along, 1.0)), np.inf)
        cells[:, at] = places + PART * np.minimum(reach, meets.min(axis=1))[:, None] * ray
    return np.asarray(cells[index.reshape(-1)] * scale)


def rectangles(sides: Array, heights: Array) -> Array:
    """(m, 4, 2) corners, from where they begin and end (m, 2) in either coordinate."""
    return np.stack([sides[:, [0, 1, 1, 0]], heights[:, [0, 0, 1, 1]]], axis=2)


def outline(cells: Array) -> Path:
    """The cells (m, c, 2) as one path: then no seams show between them."""
    closed = np.concatenate([cells, cells[:, :1]], axis=1)
    codes = np.full(closed.shape[:2], Path.LINETO, dtype=Path.code_type)
    codes[:, 0], codes[:, -1] = Path.MOVETO, Path.CLOSEPOLY
    return Path(closed.reshape(-1, 2), codes.reshape(-1))
