from __future__ import annotations

import logging
import re
import warnings
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from scipy.special import ndtr

from superlevel.arrays import Array
from superlevel.errors import InputError
from superlevel.report.campaign import Campaign
from superlevel.report.cells import as_grid
from superlevel.report.drawing import RANKED
from superlevel.report.page import page
from superlevel.report.probabilities import draw_probabilities, sentence
from superlevel.report.shading import SHADES
from tests.report.test_campaign import bare, example, lattice
from tests.report.test_drawing import (
    CASES,
    HOLE,
    PLANES,
    SHAPES,
    cells,
    cloud,
    has_marks,
    legend_texts,
    lightness,
    marks,
)


def likely(points: Array, /, *levels: float, **given: Any) -> Campaign:
    """A campaign with probabilities: f is as in `example`, with a deviation of 0.2 at every point."""
    mean = points[:, 0] + 0.5 * points[:, 1:].sum(axis=1)
    levels = levels or (float(np.median(mean)) + 1e-3,)
    chances = ndtr((mean - np.array(levels)[:, None]) / 0.2)
    labels = np.where(chances > 0.9, 1, np.where(chances < 0.1, -1, 0)).astype(np.int8)
    fields: dict[str, Any] = {
        "levels": levels,
        "chances": chances,
        "labels": labels[0] if len(levels) == 1 else labels,
        "likelier": (chances > 0.5).sum(axis=0).astype(np.int8),
        "groups": ("below", "above") if len(levels) == 1 else tuple(f"class {c}" for c in range(len(levels) + 1)),
    }
    return example(points, **(fields | given))


def panels(figure: Figure) -> list[Axes]:
    """All axes but those of the colour bar."""
    return [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]


def colour_bar(figure: Figure) -> Axes:
    return next(axes for axes in figure.axes if axes.get_label() == "<colorbar>")


def shades(axes: Axes) -> PolyCollection:
    (found,) = [each for each in axes.collections if isinstance(each, PolyCollection)]
    return found


def lines(axes: Axes) -> list[Array]:
    """(m, 2) places along each part of the line of 50 %."""
    found = [each for each in axes.collections if isinstance(each, ContourSet)]
    return [along for each in found for path in each.get_paths() if len(along := np.asarray(path.vertices))]


def borders(axes: Axes) -> dict[str, Array]:
    """(m, 2, 2) sides of what is declared, by label."""
    found = [each for each in axes.collections if isinstance(each, LineCollection) and each.get_label() != "measured"]
    return {str(each.get_label()): np.array(each.get_segments()) for each in found}


# --- maps


@pytest.mark.parametrize("points", PLANES.values(), ids=PLANES)
def test_every_point_has_a_cell_that_is_shaded_by_its_probability(points: Array) -> None:
    campaign = likely(points)
    figure = draw_probabilities(campaign)
    figure.draw_without_rendering()
    drawn = shades(figure.axes[0])
    assert campaign.chances is not None
    np.testing.assert_array_equal(drawn.get_array(), campaign.chances[0])
    np.testing.assert_allclose(np.asarray(drawn.get_facecolor()), SHADES(campaign.chances[0]))
    assert drawn.get_clim() == (0.0, 1.0)
    for path, point in zip(drawn.get_paths(), points, strict=True):
        assert path.contains_point(point)


def test_shades_fall_evenly_in_lightness_from_white_to_dark() -> None:
    along = np.array([lightness(SHADES(part)) for part in np.linspace(0, 1, 21)])
    assert along[0] == pytest.approx(100)
    assert along[-1] < 15
    steps = -np.diff(along)
    assert steps.min() > 0.5 * steps.mean()
    assert steps.max() < 1.5 * steps.mean()


@pytest.mark.parametrize(("levels", "label"), [((0.75,), "probability above 0.75"), ((0.5, 1.0), "the level")])
def test_the_colour_bar_is_in_per_cent_and_says_of_what(levels: tuple[float, ...], label: str) -> None:
    figure = draw_probabilities(likely(lattice(12, 9), *levels))
    figure.draw_without_rendering()
    bar = colour_bar(figure)
    assert label in bar.get_ylabel()
    assert bar.get_ylabel().startswith("probability above")
    assert [tick.get_text() for tick in bar.get_yticklabels()] == ["0 %", "25 %", "50 %", "75 %", "100 %"]
    assert bar.get_ylim() == (0.0, 1.0)
    flat = colour_bar(draw_probabilities(likely(lattice(12, 9) * [1.0, 0.35], 0.3, 0.6, 0.9)))
    assert flat.get_yticks().tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_each_level_has_a_panel_of_its_own(count: int) -> None:
    levels = tuple(np.linspace(0.4, 1.1, count).round(3).tolist())
    campaign = likely(lattice(12, 9), *levels)
    figure = draw_probabilities(campaign)
    assert len(panels(figure)) == count
    assert campaign.chances is not None
    for axes, chances, level in zip(panels(figure), campaign.chances, levels, strict=True):
        np.testing.assert_array_equal(shades(axes).get_array(), chances)
        assert axes.get_title() == (f"above {level:g}" if count > 1 else "")
    assert figure.get_suptitle() == f"survey: probability of being above {'each level' if count > 1 else '0.4'}"
    assert panels(figure)[0].get_ylabel() == "x1"
    assert panels(figure)[-1].get_xlabel() == "x0"


def test_levels_that_are_close_have_names_of_their_own() -> None:
    titles = [axes.get_title() for axes in panels(draw_probabilities(likely(lattice(3, 3), 0.5, 0.5 + 1e-9)))]
    assert titles == ["above 0.5", "above 0.500000001"]


@pytest.mark.parametrize("points", [lattice(9, 9), cloud(300, 2)], ids=["grid", "scattered"])
def test_the_line_is_where_the_probability_is_a_half(points: Array) -> None:
    linear = 0.5 + 0.4 * (points.sum(axis=1) - 0.9)
    figure = draw_probabilities(likely(points, chances=linear[None]))
    along = np.concatenate(lines(figure.axes[0]))
    assert len(along) > 5
    np.testing.assert_allclose(along.sum(axis=1), 0.9)
    assert "probability of 50 %" in legend_texts(figure)


def test_the_line_does_not_cross_a_gap_between_scattered_points() -> None:
    points = np.concatenate([cloud(150, 2), cloud(149, 2) + np.array([3.0, 0.0])])
    figure = draw_probabilities(likely(points, chances=points[:, 1][None].clip(0, 1)))
    across = np.concatenate(lines(figure.axes[0]))[:, 0]
    assert across.min() < 1
    assert across.max() > 3
    assert not ((across > 1.05) & (across < 2.95)).any()


def test_without_both_sides_there_is_no_line() -> None:
    for points in (lattice(6, 6), cloud(40, 2), np.tile(np.linspace(0, 1, 30)[:, None], 2), lattice(9, 1)):
        for equal in (0.0, 0.5, 1.0):
            figure = draw_probabilities(likely(points, chances=np.full((1, len(points)), equal)))
            assert not lines(figure.axes[0])
            assert "probability of 50 %" not in legend_texts(figure)


def test_a_line_is_around_what_is_declared_on_a_grid() -> None:
    points = lattice(6, 5)
    labels = np.zeros(30, dtype=np.int8)
    labels[[0, 1, 5, 6]] = 1  # two by two cells in a corner
    labels[29] = -1
    figure = draw_probabilities(likely(points, labels=labels))
    drawn = borders(figure.axes[0])
    grid = as_grid(points)
    assert grid is not None
    assert {name: len(sides) for name, sides in drawn.items()} == {"declared above": 8, "declared below": 4}
    for name, chosen in (("declared above", labels == 1), ("declared below", labels == -1)):
        corners = grid.cells[chosen].reshape(-1, 2)
        np.testing.assert_allclose(drawn[name].reshape(-1, 2).min(axis=0), corners.min(axis=0))
        np.testing.assert_allclose(drawn[name].reshape(-1, 2).max(axis=0), corners.max(axis=0))
    assert legend_texts(figure)[1:3] == ["declared above (4)", "declared below (1)"]


def test_what_is_declared_is_that_of_the_level_of_the_panel() -> None:
    campaign = likely(lattice(12, 9), 0.5, 1.0)
    found = [borders(axes) for axes in panels(draw_probabilities(campaign))]
    grid = as_grid(campaign.points)
    assert grid is not None
    for drawn, labels in zip(found, campaign.labels, strict=True):
        np.testing.assert_array_equal(drawn["declared above"], grid.border(labels == 1))
        np.testing.assert_array_equal(drawn["declared below"], grid.border(labels == -1))
    assert len(found[0]["declared above"]) != len(found[1]["declared above"])


def test_scattered_cells_that_are_declared_have_a_wide_line_around() -> None:
    campaign = likely(cloud(200, 2))
    drawn = shades(draw_probabilities(campaign).axes[0])
    wide = np.asarray(drawn.get_linewidth()) > 1
    np.testing.assert_array_equal(wide, campaign.labels != 0)
    assert 0 < wide.sum() < 200
    edges = np.asarray(drawn.get_edgecolor())
    colours = [{tuple(each) for each in edges[campaign.labels == label].tolist()} for label in (1, 0, -1)]
    assert [len(each) for each in colours] == [1, 1, 1]
    assert len(set.union(*colours)) == 3


def test_dots_are_at_the_measured_points() -> None:
    for points in (lattice(12, 9), cloud(60, 2)):
        campaign = likely(points)
        figure = draw_probabilities(campaign)
        dots = marks(figure.axes[0], "measured")
        np.testing.assert_array_equal(dots.get_offsets(), points[campaign.counts > 0])
        assert "measured" in legend_texts(figure)
        nowhere = draw_probabilities(likely(points, counts=np.zeros(len(points), np.int64)))
        assert not has_marks(nowhere.axes[0], "measured")
        assert "measured" not in legend_texts(nowhere)


def test_a_hole_of_a_grid_looks_unlike_a_probability_of_zero() -> None:
    figure = draw_probabilities(likely(HOLE))
    holes = cells(figure.axes[0])["no point"]
    assert len(holes) == 400 - len(HOLE)
    assert np.hypot(*(holes.mean(axis=1) - 0.5).T).max() <= 0.2
    assert legend_texts(figure)[-1] == "no point"
    assert "no point" not in legend_texts(draw_probabilities(likely(lattice(5, 5))))


def test_extents_that_are_alike_have_one_scale_in_every_panel() -> None:
    for levels in ((0.75,), (0.5, 0.75, 1.0), (0.3, 0.5, 0.75, 1.0)):
        figure = draw_probabilities(likely(lattice(12, 12), *levels))
        figure.draw_without_rendering()
        for axes in panels(figure):
            across, up = np.diff(axes.transData.transform([[0.0, 0.0], [1.0, 1.0]]), axis=0)[0]
            assert across == pytest.approx(up, rel=1e-6)


# --- one coordinate, and more than two


def test_along_one_coordinate_there_is_a_curve_for_each_level() -> None:
    points = np.linspace(0, 2, 60)[::-1, None]
    campaign = likely(points, 0.5, 1.0, 1.5)
    figure = draw_probabilities(campaign)
    assert campaign.chances is not None
    assert len(figure.axes) == 3
    for axes, chances, level, labels in zip(
        figure.axes, campaign.chances, campaign.levels, campaign.labels, strict=True
    ):
        curve = next(each for each in axes.lines if each.get_label() == "probability")
        np.testing.assert_array_equal(curve.get_xydata(), np.column_stack([points[:, 0], chances])[::-1])
        half = next(each for each in axes.lines if each.get_label() == "50 %")
        assert np.asarray(half.get_ydata()).tolist() == [0.5, 0.5]
        (measured,) = [each for each in axes.collections if each.get_label() == "measured"]
        assert isinstance(measured, LineCollection)
        at = sorted(segment[0][0] for segment in measured.get_segments())
        assert at == sorted(points[campaign.counts > 0, 0].tolist())
        strip = {name: len(corners) for name, corners in cells(axes).items()}
        counts = {"above": (labels == 1).sum(), "undecided": (labels == 0).sum(), "below": (labels == -1).sum()}
        assert strip == {name: count for name, count in counts.items() if count}
        assert axes.get_ylabel() == f"probability above {level:g}"
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "x0"]


def test_points_with_more_coordinates_are_dots_in_the_order_of_their_probability() -> None:
    campaign = likely(cloud(90, 4))
    figure = draw_probabilities(campaign)
    (axes,) = figure.axes
    assert campaign.chances is not None
    dots = np.asarray(marks(axes, "probability").get_offsets())
    np.testing.assert_array_equal(dots[:, 0], np.arange(1, 91))
    np.testing.assert_array_equal(dots[:, 1], np.sort(campaign.chances[0]))
    assert axes.get_xlabel() == "points by probability"
    low, high = axes.get_ylim()
    assert low < 0
    assert high > 1
    order = np.argsort(campaign.chances[0], kind="stable")
    (measured,) = [each for each in axes.collections if each.get_label() == "measured"]
    assert isinstance(measured, LineCollection)
    at = [segment[0][0] for segment in measured.get_segments()]
    assert at == (np.flatnonzero(campaign.counts[order]) + 1).tolist()


def test_of_many_points_those_that_are_nearest_to_a_half_are_ranked() -> None:
    campaign = likely(cloud(900, 3))
    (axes,) = draw_probabilities(campaign).axes
    assert campaign.chances is not None
    shown = np.asarray(marks(axes, "probability").get_offsets())[:, 1]
    rest = np.setdiff1d(campaign.chances[0], shown)
    assert len(shown) == RANKED
    assert np.abs(shown - 0.5).max() <= np.abs(rest - 0.5).min()
    assert axes.get_xlabel() == f"points by probability: {RANKED} of 900, nearest to 50 %"


# --- what all of them have


def test_without_a_model_nothing_is_drawn() -> None:
    with pytest.raises(InputError, match=r"campaign\.chances is None"):
        draw_probabilities(example(lattice(3, 3)))


@pytest.mark.parametrize("points", CASES.values(), ids=CASES)
@pytest.mark.parametrize("levels", [(), (0.3, 0.6, 0.9)], ids=["one level", "three levels"])
@pytest.mark.parametrize("letters", [2, 60])
def test_nothing_overlaps_and_all_is_within_the_figure(points: Array, levels: tuple[float, ...], letters: int) -> None:
    words = "temperature of the second reactor vessel at its outlet (kelvin)"
    names = tuple(f"{words[: letters - 1]}{at}" for at in range(points.shape[1]))
    figure = draw_probabilities(likely(points, *levels, name="n" * letters, names=names))
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    (title,) = figure.texts
    boxes = [axes.get_tightbbox() for axes in figure.axes]
    for each in (legend, title.get_window_extent(), *boxes):
        assert each is not None
        assert figure.bbox.x0 - 1 <= each.x0 < each.x1 <= figure.bbox.x1 + 1
        assert figure.bbox.y0 - 1 <= each.y0 < each.y1 <= figure.bbox.y1 + 1
    for box, axes in zip(boxes, figure.axes, strict=True):
        assert box is not None
        assert not legend.overlaps(axes.get_window_extent())
        others = [other.get_window_extent() for other in figure.axes if other is not axes]
        assert not any(box.overlaps(other) for other in others)


@pytest.mark.parametrize("points", SHAPES.values(), ids=SHAPES)
def test_whatever_there_is_can_be_drawn_without_a_warning(points: Array, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    n = len(points)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for chances in (*(np.full(n, equal) for equal in (0.0, 1e-300, 0.5, 1.0)), np.arange(n) % 2.0):
            for label in (-1, 0, 1):
                campaign = likely(points, chances=chances[None], labels=np.full(n, label, dtype=np.int8))
                figure = draw_probabilities(campaign)
                figure.draw_without_rendering()
                axes = figure.axes[0]
                match points.shape[1]:
                    case 1:
                        curve = next(each for each in axes.lines if each.get_label() == "probability")
                        shown = np.asarray(curve.get_ydata())
                    case 2:
                        shown = np.asarray(shades(axes).get_array())
                    case _:
                        shown = np.asarray(marks(axes, "probability").get_offsets())[:, 1]
                np.testing.assert_array_equal(np.sort(shown), np.sort(chances))
                assert np.isfinite([axes.get_xlim(), axes.get_ylim()]).all()
    assert not caplog.records


@pytest.mark.parametrize("points", [lattice(100, 100), cloud(10_000, 2)], ids=["grid", "scattered"])
def test_ten_thousand_points_are_shaded(points: Array) -> None:
    figure = draw_probabilities(likely(points))
    figure.draw_without_rendering()
    assert len(shades(figure.axes[0]).get_paths()) == 10_000


def test_a_border_is_closed_on_any_grid() -> None:
    rng = np.random.default_rng(3)
    for points in (lattice(7, 6), HOLE, PLANES["uneven"], PLANES["islands"]):
        grid = as_grid(points)
        assert grid is not None
        for share in (0.0, 0.3, 1.0):
            chosen = rng.random(len(points)) < share
            sides = grid.border(chosen)
            ends, times = np.unique(np.round(sides.reshape(-1, 2), 9), axis=0, return_counts=True)
            assert (times % 2 == 0).all()  # every corner is left as often as it is reached
            assert (len(ends) == 0) == (not chosen.any())


# --- the page


def test_the_page_shows_the_figure_below_the_map_with_its_sentence() -> None:
    campaign = likely(lattice(8, 7), 0.75)
    assert campaign.doubtful is not None
    assert campaign.chances is not None
    wrong = np.minimum(campaign.chances[0], 1 - campaign.chances[0]).sum()
    told = (
        "The probability of being above 0.75 at every point, decided or not; "
        f"{wrong:.1f} of 56 points are expected to be on the other side than their likelier one."
    )
    assert sentence(campaign) == told
    text = page(campaign)
    figures = re.findall(r"<figure class=\"drawn\">.*?</figure>", text, flags=re.DOTALL)
    assert len(figures) == 2
    assert "figcaption" not in figures[0]
    assert f"<figcaption>{told}</figcaption>" in figures[1]
    assert text.index(figures[1]) < text.index("<h2>Facts</h2>")
    assert "nan" not in re.sub(r"base64,[^\"]*", "", figures[1]).lower()


def test_the_sentence_of_several_levels_names_them_and_counts_classes() -> None:
    campaign = likely(lattice(8, 7), 0.5, 0.75, 1.0)
    assert campaign.doubtful is not None
    assert sentence(campaign) == (
        "The probability of being above each of the levels 0.5, 0.75 and 1 at every point, decided or not; "
        f"{campaign.doubtful.sum():.1f} of 56 points are expected to be in another class than their likelier one."
    )
    assert sentence(likely(lattice(2, 2), 0.5, likelier=None)) == (
        "The probability of being above 0.5 at every point, decided or not."
    )


def test_without_a_model_the_page_has_one_figure_and_no_sentence() -> None:
    for campaign in (example(lattice(8, 7)), bare(lattice(3, 3))):
        text = page(campaign)
        assert text.count('<figure class="drawn">') == 1
        assert "The probability of being above" not in text
