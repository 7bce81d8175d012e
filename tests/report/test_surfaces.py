from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from superlevel.arrays import Array
from superlevel.report.campaign import Campaign
from superlevel.report.classes import FACES, shaded
from superlevel.report.drawing import draw
from superlevel.report.planes import MOST_CELLS, as_plane
from superlevel.report.probabilities import draw_probabilities
from superlevel.report.surfaces import OnGrid, Pixels, Scattered, hatching
from tests.report.test_campaign import example, lattice
from tests.report.test_drawing import cloud, legend_texts
from tests.report.test_probabilities import likely

GRID = lattice(150, 150)


def image(axes: Axes) -> Array:
    (found,) = axes.images
    return np.asarray(found.get_array())


def bands(points: Array = GRID, **given: object) -> Campaign:
    """Above where the first coordinate is large, below where it is small, undecided between."""
    along = points[:, 0]
    labels = np.where(along > 0.6, 1, np.where(along < 0.3, -1, 0)).astype(np.int8)
    return example(points, labels=labels, mean=along, levels=(0.45,), **given)


def test_few_points_have_cells_and_many_are_pixels() -> None:
    for points, kind in ((lattice(100, 100), OnGrid), (cloud(500, 2), Scattered), (GRID, Pixels)):
        assert isinstance(as_plane(points, width=5.4).surface, kind)
    assert isinstance(as_plane(cloud(MOST_CELLS, 2), width=5.4).surface, Scattered)
    assert isinstance(as_plane(cloud(MOST_CELLS + 1, 2), width=5.4).surface, Pixels)


@pytest.mark.parametrize("points", [GRID, cloud(25_000, 2)], ids=["grid", "scattered"])
def test_classes_are_where_their_points_are(points: Array) -> None:
    campaign = bands(points)
    (axes,) = draw(campaign).axes
    colours = image(axes)
    left, right, bottom, top = axes.images[0].get_extent()
    across = left + (np.arange(colours.shape[1]) + 0.5) / colours.shape[1] * (right - left)
    assert bottom <= points[:, 1].min() < points[:, 1].max() <= top
    for inside, label in ((across > 0.62, 1), (across < 0.28, -1)):
        alike = np.abs(colours[:, inside] - to_rgb(FACES[label])).max(axis=2) < 1e-9
        assert alike.mean() > 0.995
    between = colours[:, (across > 0.32) & (across < 0.58)].reshape(-1, 3)
    assert len(np.unique(between.round(3), axis=0)) <= 3  # two kinds of white, and the lines of hatching


def test_rows_of_the_image_go_up() -> None:
    labels = np.where(GRID[:, 1] > 0.5, 1, -1).astype(np.int8)
    (axes,) = draw(example(GRID, labels=labels)).axes
    np.testing.assert_allclose(image(axes)[-1, 400], to_rgb(FACES[1]))
    np.testing.assert_allclose(image(axes)[0, 400], to_rgb(FACES[-1]))
    assert axes.images[0].origin == "lower"


def test_a_class_that_vanishes_and_points_that_are_drawn_otherwise_are_told() -> None:
    points = lattice(1000, 1000)
    labels = np.full(len(points), -1, dtype=np.int8)
    surface = as_plane(points, width=5.4).surface
    assert isinstance(surface, Pixels)
    labels[np.flatnonzero(surface.mosaic.points[surface.mosaic.tile] == 4)[0]] = 1
    figure = draw(example(points, labels=labels, mean=None))
    assert "above (1, none drawn)" in legend_texts(figure)
    note = " ".join(figure.get_supxlabel().split())
    assert note.startswith("A pixel stands for up to 4 points and has the class of most of them: 1 of 1,000,000 points")
    plain = draw(bands())
    assert not plain.get_supxlabel()
    assert not any("none drawn" in text for text in legend_texts(plain))


def test_of_equally_many_points_the_undecided_are_drawn() -> None:
    points = lattice(1620, 15) * [1.0, 0.01]
    labels = np.where(np.arange(1620) % 2, 0, 1).repeat(15).astype(np.int8)
    plane = as_plane(points, width=5.4)
    figure = draw(example(points, labels=labels, mean=None, next=np.empty(0, dtype=np.int64), reasons=()))
    assert isinstance(plane.surface, Pixels)
    assert plane.surface.mosaic.points.max() == 2
    assert "above (12,150, none drawn)" in legend_texts(figure)


def test_hatching_rises_or_falls_to_the_right() -> None:
    rising, falling = hatching((60, 60), rising=True), hatching((60, 60), rising=False)
    np.testing.assert_array_equal(rising[:-1, :-1], rising[1:, 1:])
    np.testing.assert_array_equal(falling[:-1, 1:], falling[1:, :-1])
    assert 0.2 < rising.mean() < 0.6


def test_likelier_sides_of_undecided_points_are_hatched_in_two_directions() -> None:
    campaign = bands(likelier=(GRID[:, 0] > 0.45).astype(np.int8))
    assert len([group for group in shaded(campaign) if group.hatch and group.size]) == 2
    colours = image(draw(campaign).axes[0])
    assert len(np.unique(colours.reshape(-1, 3).round(3), axis=0)) == 5


def test_probabilities_of_many_points_are_an_image_with_a_line_at_a_half() -> None:
    campaign = likely(GRID)
    figure = draw_probabilities(campaign)
    assert image(figure.axes[0]).shape == (810, 810, 3)
    assert legend_texts(figure)[0] == "probability of 50 %"
    assert figure.legends[0].get_title().get_text().startswith("Coloured lines surround")
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert not any(legend.overlaps(axes.get_window_extent()) for axes in figure.axes)


def test_holes_of_a_large_grid_are_dotted_and_named() -> None:
    points = GRID[np.hypot(*(GRID - 0.5).T) > 0.1]
    figure = draw_probabilities(likely(points))
    assert legend_texts(figure)[-1] == "no point"
    middle = image(figure.axes[0])[385:425, 385:425].reshape(-1, 3)
    assert len(np.unique(middle, axis=0)) == 2
