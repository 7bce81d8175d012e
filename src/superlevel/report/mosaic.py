"""Very many points as tiles: each has the class of most of its points, and the mean of their values.

n          points
k1, k2     strips that the first and the second coordinate are cut into; a tile is where two strips cross
w, h       pixels of the picture across and up; no strip is thinner than a pixel
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from scipy.ndimage import distance_transform_edt

from superlevel.arrays import Array, Indices
from superlevel.report.cells import Grid, Ticks

T = TypeVar("T", Array, Indices)
NOTHING = -1  # the class of a tile without points
EACH = 2  # scattered points that a tile has on average, so that few tiles have none
TOUCHING = 1.5  # tiles from the middle of one to the middle of its neighbour, corner by corner


@dataclass(frozen=True, kw_only=True, eq=False)
class Strips:
    """One coordinate, cut into k strips."""

    index: Indices
    """(n,) the strip of each point."""
    edges: Array
    """(k + 1,) where they begin, and where the last one ends."""
    shown: Indices
    """(w,) the strip that each pixel shows."""

    @property
    def middles(self) -> Array:
        """(k,)"""
        return 0.5 * (self.edges[1:] + self.edges[:-1])

    @property
    def count(self) -> int:
        """k"""
        return self.edges.size - 1


def of_ticks(ticks: Ticks, pixels: int) -> Strips:
    """A strip for each pixel in which the middle of a cell is: for every cell, where cells are larger than pixels."""
    begin, end = ticks.sides[:, 0], ticks.sides[-1, 1]
    at = np.floor((ticks.places - begin[0]) / (end - begin[0]) * pixels).astype(np.int64)
    own, first, strip = np.unique(np.minimum(at, pixels - 1), return_index=True, return_inverse=True)
    edges = np.append(begin[first], end)
    shown = _at_middles(edges, pixels)
    shown[own] = np.arange(own.size)
    return Strips(index=strip[ticks.index], edges=edges, shown=shown)


def of_values(values: Array, count: int, pixels: int) -> Strips:
    """Strips of one width for scattered values (n,)."""
    edges = np.linspace(values.min(), values.max(), count + 1)
    index = np.floor((values - edges[0]) / (edges[-1] - edges[0]) * count).astype(np.int64)
    return Strips(index=np.minimum(index, count - 1), edges=edges, shown=_at_middles(edges, pixels))


def _at_middles(edges: Array, pixels: int) -> Indices:
    """(pixels,) the strip in which the middle of each pixel is."""
    middles = edges[0] + (np.arange(pixels) + 0.5) / pixels * (edges[-1] - edges[0])
    return np.asarray(np.clip(np.searchsorted(edges, middles, side="right") - 1, 0, edges.size - 2))


@dataclass(frozen=True, kw_only=True, eq=False)
class Mosaic:
    """Points with two coordinates as k2 by k1 tiles."""

    first: Strips
    second: Strips
    reach: float
    """A tile without points shows those of the nearest one that is at most so many tiles away."""

    @property
    def box(self) -> Array:
        """(2, 2) the lowest and the highest corner."""
        return np.stack([self.first.edges[[0, -1]], self.second.edges[[0, -1]]], axis=1)

    @cached_property
    def tile(self) -> Indices:
        """(n,) the tile of each point."""
        return np.asarray(self.second.index * self.first.count + self.first.index)

    @cached_property
    def points(self) -> Indices:
        """(k2 k1,) how many points each tile has."""
        return np.bincount(self.tile, minlength=self.first.count * self.second.count)

    def majority(self, kinds: Indices, count: int) -> Indices:
        """(k2, k1) the kind of most points of each tile, the lowest of several; `NOTHING` where there is no point.

        Args:
            kinds: (n,) from 0.
            count: of the kinds.
        """
        votes = np.bincount(self.tile * count + kinds, minlength=self.points.size * count).reshape(-1, count)
        return np.asarray(self._reached(np.where(self.points > 0, votes.argmax(axis=1), NOTHING), NOTHING))

    def average(self, values: Array) -> Array:
        """(k2, k1) the mean of the values (n,) of each tile, NaN where there is no point."""
        sums = np.bincount(self.tile, values, minlength=self.points.size)
        means = np.divide(sums, self.points, out=np.full(sums.size, np.nan), where=self.points > 0)
        return np.asarray(self._reached(means, np.nan))

    def pixels(self, tiles: T) -> T:
        """(h, w) what each pixel shows of tiles (k2, k1)."""
        return tiles[np.ix_(self.second.shown, self.first.shown)]

    @cached_property
    def _source(self) -> Indices:
        """(k2, k1) the tile whose points each one shows; one more than the last where it shows none."""
        every = np.arange(self.points.size).reshape(self.second.count, self.first.count)
        empty = (self.points == 0).reshape(every.shape)
        far, (rows, columns) = distance_transform_edt(empty, return_indices=True)
        return np.asarray(np.where(far <= self.reach, every[rows, columns], every.size))

    def _reached(self, tiles: T, missing: float) -> T:
        return np.append(tiles, missing).astype(tiles.dtype)[self._source]


def of_grid(grid: Grid, pixels: tuple[int, int]) -> Mosaic:
    """The tiles of points on a grid, for a picture of so many pixels (w, h)."""
    across, up = pixels
    return Mosaic(first=of_ticks(grid.first, across), second=of_ticks(grid.second, up), reach=0.0)


def of_cloud(points: Array, pixels: tuple[int, int]) -> Mosaic:
    """The tiles of scattered points (n, 2); one without points between those of others shows those beside it."""
    across, up = pixels
    side = (EACH * across * up / len(points)) ** 0.5  # of a tile, in pixels
    first, second = (max(1, round(count / max(1.0, side))) for count in pixels)
    return Mosaic(
        first=of_values(points[:, 0], first, across), second=of_values(points[:, 1], second, up), reach=TOUCHING
    )
