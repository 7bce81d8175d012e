from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superlevel.arrays import Array
from superlevel.report.cells import as_grid
from superlevel.report.mosaic import NOTHING, Mosaic, of_cloud, of_grid
from tests.report.test_campaign import lattice


@st.composite
def gridded(draw: st.DrawFn) -> tuple[Array, tuple[int, int], int]:
    """Some points of a grid, the pixels of a picture, and a seed."""
    across, up = draw(st.integers(2, 25)), draw(st.integers(2, 25))
    pixels = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    return lattice(across, up) * [across - 1, up - 1], pixels, draw(st.integers(0, 1000))


def by_pixel(points: Array, pixels: tuple[int, int]) -> list[tuple[int, int]]:
    """The pixel in which each cell of size 1 has its middle, one after the other."""
    low, high = points.min(axis=0) - 0.5, points.max(axis=0) + 0.5
    found = []
    for point in points:
        parts = [(x - a) / (b - a) for x, a, b in zip(point, low, high, strict=True)]
        found.append((int(parts[0] * pixels[0] + 1e-12), int(parts[1] * pixels[1] + 1e-12)))
    return found


@settings(max_examples=60, deadline=None)
@given(gridded(), st.integers(1, 4))
def test_a_pixel_has_the_class_of_most_of_its_points_and_the_mean_of_their_values(
    drawn: tuple[Array, tuple[int, int], int], count: int
) -> None:
    points, pixels, seed = drawn
    rng = np.random.default_rng(seed)
    points = rng.permutation(points)
    kinds, values = rng.integers(0, count, len(points)), rng.random(len(points))
    grid = as_grid(points)
    assert grid is not None
    mosaic = of_grid(grid, pixels)
    shown, means = mosaic.pixels(mosaic.majority(kinds, count)), mosaic.pixels(mosaic.average(values))
    members: dict[tuple[int, int], list[int]] = {}
    for at, pixel in enumerate(by_pixel(points, pixels)):
        members.setdefault(pixel, []).append(at)
    assert shown.shape == means.shape == pixels[::-1]
    for (column, row), inside in members.items():
        votes = Counter(kinds[inside].tolist())
        best = min(kind for kind, votes_of in votes.items() if votes_of == max(votes.values()))
        assert shown[row, column] == best
        assert means[row, column] == pytest.approx(values[inside].mean())


@settings(max_examples=40, deadline=None)
@given(gridded(), st.floats(0.0, 0.5))
def test_holes_of_a_grid_stay_holes_and_every_point_is_in_its_tile(
    drawn: tuple[Array, tuple[int, int], int], missing: float
) -> None:
    points, pixels, seed = drawn
    points = points[np.random.default_rng(seed).random(len(points)) >= missing]
    grid = as_grid(points) if len(points) else None
    if grid is None:
        return
    mosaic = of_grid(grid, pixels)
    tiles = mosaic.majority(np.zeros(len(points), dtype=np.int64), 1)
    assert set(np.unique(tiles)) <= {0, NOTHING}
    assert (tiles.ravel()[mosaic.tile] == 0).all()
    assert (tiles != NOTHING).sum() == len(np.unique(mosaic.tile))
    assert mosaic.points.sum() == len(points)
    np.testing.assert_allclose(mosaic.box, grid.box)


def within(mosaic: Mosaic, points: Array) -> None:
    for strips, along in zip((mosaic.first, mosaic.second), points.T, strict=True):
        assert (strips.edges[strips.index] <= along + 1e-9).all()
        assert (along <= strips.edges[strips.index + 1] + 1e-9).all()


def test_cells_that_are_larger_than_pixels_are_where_they_are() -> None:
    uneven = np.column_stack([np.exp(3 * lattice(7, 6)[:, 0]), lattice(7, 6)[:, 1]])
    grid = as_grid(uneven)
    assert grid is not None
    mosaic = of_grid(grid, (400, 300))
    within(mosaic, uneven)
    assert (mosaic.first.count, mosaic.second.count) == (7, 6)
    shown = mosaic.pixels(mosaic.majority(np.arange(42), 42))
    low, high = mosaic.box
    columns, rows = ((uneven - low) / (high - low) * [400, 300]).astype(int).T
    np.testing.assert_array_equal(shown[rows, columns], np.arange(42))
    areas = np.prod(np.ptp(grid.cells, axis=1), axis=1) / np.prod(high - low)
    np.testing.assert_allclose(np.bincount(shown.ravel()) / shown.size, areas, atol=0.01)


def test_scattered_points_leave_no_gaps_between_them_and_draw_nothing_far_away() -> None:
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.random((30_000, 2)), rng.random((30_000, 2)) + np.array([3.0, 0.0])])
    mosaic = of_cloud(points, (810, 270))
    within(mosaic, points)
    kinds = (points[:, 0] > 2).astype(np.int64)
    shown = mosaic.pixels(mosaic.majority(kinds, 2))
    across = np.linspace(0, 4, 810)
    left, gap, right = (shown[5:-5, (across > a) & (across < b)] for a, b in ((0.05, 0.95), (1.1, 2.9), (3.05, 3.95)))
    assert (left == 0).mean() > 0.999
    assert (gap == NOTHING).all()
    assert (right == 1).mean() > 0.999
