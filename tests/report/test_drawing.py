from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from mpl_toolkits.axes_grid1.anchored_artists import AnchoredSizeBar

from superlevel.arrays import Array
from superlevel.goals import ABOVE, BELOW, UNDECIDED
from superlevel.report.campaign import WORDS, Campaign
from superlevel.report.classes import FACES, HATCHES, shaded
from superlevel.report.drawing import RANKED, draw
from tests.report.test_campaign import bare, example, lattice


def cloud(count: int, dimension: int) -> Array:
    return np.random.default_rng([count, dimension]).random((count, dimension))


SCATTERED = cloud(200, 2)
HOLE = lattice(20, 20)[np.hypot(*(lattice(20, 20) - 0.5).T) > 0.2]
PLANES = {
    "grid": lattice(12, 9),
    "hole": HOLE,
    "scattered": SCATTERED,
    "islands": np.concatenate([lattice(5, 5), lattice(5, 5) + np.array([3.0, 0.0])]),
    "uneven": np.column_stack([np.exp(3 * lattice(7, 6)[:, 0]), lattice(7, 6)[:, 1]]),
    "rounded": np.round(lattice(7, 7), 3),
}


def cells(axes: Axes) -> dict[str, Array]:
    """(m, k, 2) corners of the filled cells, by label."""
    found = {}
    for patch in axes.patches:
        assert isinstance(patch, PathPatch)
        path = patch.get_path()
        assert path.codes is not None
        count = np.count_nonzero(np.asarray(path.codes) == Path.MOVETO)
        found[str(patch.get_label())] = np.asarray(path.vertices).reshape(count, -1, 2)[:, :-1]
    return found


def marks(axes: Axes, label: str) -> PathCollection:
    return next(each for each in axes.collections if isinstance(each, PathCollection) and each.get_label() == label)


def has_marks(axes: Axes, label: str) -> bool:
    return label in {each.get_label() for each in axes.collections}


def legend_texts(figure: Figure) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def counted(campaign: Campaign) -> dict[str, int]:
    counts = {word: int((campaign.labels == label).sum()) for label, word in WORDS.items()}
    return {word: count for word, count in counts.items() if count}


# --- maps


@pytest.mark.parametrize("points", PLANES.values(), ids=PLANES)
def test_every_point_has_a_cell_of_its_label_around_it(points: Array) -> None:
    campaign = example(points)
    (axes,) = draw(campaign).axes
    drawn = cells(axes)
    assert {word: len(corners) for word, corners in drawn.items()} == counted(campaign)
    for label, word in WORDS.items():
        for corners, point in zip(drawn.get(word, []), points[campaign.labels == label], strict=True):
            assert Path(corners).contains_point(point)


@pytest.mark.parametrize("name", ["grid", "hole", "islands"])
def test_cells_of_a_grid_are_as_large_as_its_steps(name: str) -> None:
    points = PLANES[name]
    steps = [np.diff(np.unique(np.round(column, 9))).min() for column in points.T]
    for corners in cells(draw(example(points)).axes[0]).values():
        np.testing.assert_allclose(np.ptp(corners, axis=1), np.tile(steps, (len(corners), 1)))


@pytest.mark.parametrize("name", ["grid", "hole", "uneven", "rounded"])
def test_cells_of_a_grid_fill_it_without_overlap(name: str) -> None:
    points = PLANES[name]
    every = np.concatenate(list(cells(draw(example(points)).axes[0]).values()))
    areas = np.prod(np.ptp(every, axis=1), axis=1)
    whole = np.prod(np.ptp(every.reshape(-1, 2), axis=0))
    missing = (400 - len(HOLE)) * areas[0] if name == "hole" else 0.0
    assert areas.sum() == pytest.approx(whole - missing, rel=1e-9)


def test_a_cell_among_scattered_points_is_nearer_to_its_point_than_to_any_other() -> None:
    campaign = example(SCATTERED)
    for word, corners in cells(draw(campaign).axes[0]).items():
        label = next(label for label, each in WORDS.items() if each == word)
        own = SCATTERED[campaign.labels == label]
        distances = np.linalg.norm(corners[:, :, None] - SCATTERED, axis=3)
        to_own = np.linalg.norm(corners - own[:, None], axis=2)
        np.testing.assert_array_less(to_own, distances.min(axis=2) + 1e-12)


def test_circles_are_at_the_measured_points_and_grow_with_the_counts() -> None:
    campaign = example(lattice(12, 9))
    (axes,) = draw(campaign).axes
    dots = marks(axes, "measured")
    at = {tuple(place): size for place, size in zip(dots.get_offsets().tolist(), dots.get_sizes(), strict=True)}  # type: ignore[union-attr]
    measured = campaign.counts > 0
    assert set(at) == {tuple(point) for point in campaign.points[measured].tolist()}
    sizes = np.array([at[tuple(point)] for point in campaign.points[measured].tolist()])
    counts = campaign.counts[measured]
    np.testing.assert_allclose(sizes / counts, sizes[0] / counts[0])


def test_diamonds_are_at_the_next_points_and_solid_where_more_than_one_measurement_is() -> None:
    campaign = example(lattice(12, 9), next=np.array([3, 7, 50, 7]))
    figure = draw(campaign)
    (axes,) = figure.axes
    diamonds = marks(axes, "next batch")
    np.testing.assert_array_equal(diamonds.get_offsets(), campaign.points[[3, 50, 7]])
    assert np.asarray(diamonds.get_facecolor())[:, 3].tolist() == [0.0, 0.0, 1.0]
    assert legend_texts(figure)[-2:] == ["next batch (4)", "more than once"]
    single = legend_texts(draw(example(lattice(12, 9), next=np.array([3, 50]))))
    assert "next batch (2)" in single
    assert "more than once" not in single


def test_the_legend_tells_labels_level_and_sizes() -> None:
    points = lattice(12, 9)
    counts = np.zeros(108, dtype=np.int64)
    counts[[1, 2, 3]] = [1, 4, 16]
    campaign = example(
        points, counts=counts, averages=np.where(counts > 0, 0.0, np.nan), levels=(0.75,), next=np.array([5])
    )
    told = counted(campaign)
    assert legend_texts(draw(campaign)) == [
        *(f"{word} ({told[word]})" for word in WORDS.values()),
        "mean at the level 0.75",
        "1 measurement",
        "4 measurements",
        "16 measurements",
        "next batch (1)",
    ]
    assert legend_texts(draw(bare(points))) == ["above (0)", "undecided (108)", "below (0)"]


def test_a_size_in_the_legend_is_the_size_in_the_map() -> None:
    counts = np.arange(108) % 7
    campaign = example(lattice(12, 9), counts=counts, averages=np.where(counts > 0, 0.0, np.nan))
    figure = draw(campaign)
    largest = next(line for line in figure.legends[0].get_lines() if line.get_label() == "6 measurements")
    assert largest.get_markersize() ** 2 == pytest.approx(marks(figure.axes[0], "measured").get_sizes().max())


def test_the_line_is_where_the_mean_is_at_the_level() -> None:
    points = lattice(9, 9)
    (axes,) = draw(example(points, mean=points[:, 0] + points[:, 1], levels=(0.8,))).axes
    (contour,) = [each for each in axes.collections if isinstance(each, QuadContourSet)]
    along = np.concatenate([np.asarray(path.vertices) for path in contour.get_paths()])
    assert len(along) > 5
    np.testing.assert_allclose(along.sum(axis=1), 0.8)


@pytest.mark.parametrize("given", [{"mean": None}, {"levels": ()}, {"levels": (99.0,)}, {"levels": (-99.0,)}])
def test_there_is_no_line_where_there_is_nothing_to_draw(given: dict[str, Any]) -> None:
    figure = draw(example(lattice(9, 9), **given))
    assert not any(isinstance(each, QuadContourSet) for each in figure.axes[0].collections)
    assert not any("level" in text for text in legend_texts(figure))


def test_the_line_does_not_cross_a_gap() -> None:
    points = PLANES["islands"]
    (axes,) = draw(example(points, mean=points[:, 1], levels=(0.4,))).axes
    (contour,) = [each for each in axes.collections if isinstance(each, QuadContourSet)]
    across = np.concatenate([np.asarray(path.vertices)[:, 0] for path in contour.get_paths()])
    assert not ((across > 1.01) & (across < 2.99)).any()


@pytest.mark.parametrize(("stretch", "equal"), [(1.0, True), (2.5, True), (0.4, True), (50.0, False), (0.02, False)])
def test_extents_that_are_alike_have_one_scale(stretch: float, equal: bool) -> None:
    for points in (lattice(12, 12), SCATTERED):
        figure = draw(example(points * [1.0, stretch]))
        figure.draw_without_rendering()
        (axes,) = figure.axes
        corner, opposite = axes.transData.transform([[0.0, 0.0], [1.0, 1.0]])
        across, up = opposite - corner
        assert bool(abs(across / up - 1) < 1e-6) is equal


# --- profiles and rankings


def test_a_profile_has_band_mean_averages_level_and_a_strip() -> None:
    campaign = example(np.linspace(0, 5, 80)[::-1, None])
    figure = draw(campaign)
    axes, strip = figure.axes
    assert campaign.mean is not None
    assert campaign.lower is not None
    assert campaign.upper is not None
    band = next(each for each in axes.collections if each.get_label() == "interval")
    (outline,) = band.get_paths()
    inside = np.column_stack([campaign.points[:, 0], 0.5 * (campaign.lower + campaign.upper)])[1:-1]
    assert outline.contains_points(inside).all()
    corners = {tuple(vertex) for vertex in np.round(np.asarray(outline.vertices), 9).tolist()}
    for end in (campaign.lower, campaign.upper):
        assert {tuple(pair) for pair in np.round(np.column_stack([campaign.points[:, 0], end]), 9).tolist()} <= corners
    line = next(each for each in axes.lines if each.get_label() == "mean")
    np.testing.assert_array_equal(line.get_xydata(), np.column_stack([campaign.points[:, 0], campaign.mean])[::-1])
    dots = np.asarray(marks(axes, "measured").get_offsets())
    measured = campaign.counts > 0
    expected = np.column_stack([campaign.points[measured, 0], campaign.averages[measured]])
    np.testing.assert_array_equal(dots[np.argsort(dots[:, 0])], expected[np.argsort(expected[:, 0])])
    assert {word: len(corners) for word, corners in cells(strip).items()} == counted(campaign)
    diamonds = np.asarray(marks(strip, "next batch").get_offsets())[:, 0]
    assert sorted(diamonds) == sorted(campaign.points[np.unique(campaign.next), 0])
    assert f"level {campaign.levels[0]:.4g}" in legend_texts(figure)
    assert strip.get_xlabel() == "x0"


def test_a_strip_is_below_the_plot_and_its_labels_are_where_the_points_are() -> None:
    campaign = example(np.linspace(0, 5, 80)[:, None])
    axes, strip = draw(campaign).axes
    assert strip.get_position().y1 <= axes.get_position().y0
    for label, word in WORDS.items():
        middles = cells(strip)[word].mean(axis=1)[:, 0]
        np.testing.assert_allclose(middles, campaign.points[campaign.labels == label, 0])


def test_a_ranking_is_in_the_order_of_the_mean_with_all_intervals() -> None:
    campaign = example(cloud(90, 5))
    axes, strip = draw(campaign).axes
    assert campaign.mean is not None
    line = next(each for each in axes.lines if each.get_label() == "mean")
    np.testing.assert_array_equal(line.get_ydata(), np.sort(campaign.mean))
    assert campaign.lower is not None
    assert campaign.upper is not None
    for label, word in WORDS.items():
        ends = np.sort(
            np.concatenate([campaign.lower[campaign.labels == label], campaign.upper[campaign.labels == label]])
        )
        drawn = np.sort(np.concatenate([cells(axes)[word][:, 0, 1], cells(axes)[word][:, 2, 1]]))
        np.testing.assert_allclose(drawn, ends)
    assert {word: len(corners) for word, corners in cells(strip).items()} == counted(campaign)


def test_a_long_ranking_keeps_what_is_near_the_level_and_what_comes_next() -> None:
    campaign = example(cloud(900, 4), next=np.array([0, 1, 2, 2]))
    axes, strip = draw(campaign).axes
    assert campaign.mean is not None
    shown = next(each for each in axes.lines if each.get_label() == "mean").get_ydata()
    assert len(np.asarray(shown)) == RANKED
    assert np.isin(campaign.mean[:3], shown).all()
    rest = np.setdiff1d(campaign.mean, shown)
    near = np.setdiff1d(shown, campaign.mean[:3])
    (level,) = campaign.levels
    assert np.abs(near - level).max() <= np.abs(rest - level).min()
    assert f"{RANKED} of 900" in strip.get_xlabel()
    assert len(marks(strip, "next batch").get_offsets()) == 3  # type: ignore[arg-type]


def test_without_intervals_and_mean_there_are_bars_of_labels() -> None:
    campaign = example(cloud(90, 4), mean=None, lower=None, upper=None)
    (axes,) = draw(campaign).axes
    assert [patch.get_width() for patch in axes.patches] == [counted(campaign)[word] for word in WORDS.values()]  # type: ignore[attr-defined]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == list(WORDS.values())
    measured = int((campaign.counts[campaign.labels == ABOVE] > 0).sum())
    assert f"{measured} measured" in axes.texts[0].get_text()


def test_without_a_mean_a_ranking_is_in_the_order_of_the_middles() -> None:
    campaign = example(cloud(40, 3), mean=None)
    axes, _ = draw(campaign).axes
    drawn = [(*corners[0], corners[2, 1]) for group in cells(axes).values() for corners in group]
    middles = [low + high for _, low, high in sorted(drawn)]
    assert middles == sorted(middles)


def test_intervals_without_end_reach_the_edge() -> None:
    lower = np.full(30, -np.inf)
    upper = np.where(np.arange(30) % 2, np.inf, np.nan)
    for dimension in (1, 3):
        axes, _ = draw(example(cloud(30, dimension), lower=lower, upper=upper)).axes
        ends = [cells(axes)[word][:, :, 1] for word in cells(axes)] or [
            np.asarray(path.vertices)[:, 1]
            for each in axes.collections
            if each.get_label() == "interval"
            for path in each.get_paths()
        ]
        assert (min(each.min() for each in ends), max(each.max() for each in ends)) == axes.get_ylim()


# --- what all of them have


def lightness(color: str) -> float:
    """CIE L*, from 0 to 100."""
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(116 * (linear @ [0.2126, 0.7152, 0.0722]) ** (1 / 3) - 16)


def test_labels_stay_apart_in_grey() -> None:
    assert lightness(FACES[BELOW]) - lightness(FACES[ABOVE]) > 20
    assert [label for label, hatch in HATCHES.items() if hatch] == [UNDECIDED]


CASES = {
    "map": lattice(12, 9),
    "flat map": lattice(12, 9) * [1.0, 0.35],
    "scattered map": SCATTERED,
    "profile": np.linspace(0, 1, 50)[:, None],
    "ranking": cloud(50, 4),
}


@pytest.mark.parametrize("points", CASES.values(), ids=CASES)
@pytest.mark.parametrize("letters", [2, 60])
def test_title_names_and_legend_are_within_the_figure_and_off_the_data(points: Array, letters: int) -> None:
    words = "temperature of the second reactor vessel at its outlet (kelvin)"
    names = tuple(f"{words[: letters - 1]}{at}" for at in range(points.shape[1]))
    figure = draw(example(points, name="n" * letters, question="above 20", names=names))
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    (title,) = figure.texts
    for axes in figure.axes:
        around = axes.get_tightbbox()
        assert around is not None
        assert not box.overlaps(axes.get_window_extent())
        assert around.x0 >= figure.bbox.x0 - 1
        assert around.y0 >= figure.bbox.y0 - 1
        assert around.x1 <= box.x0 + 1
    for each in (box, title.get_window_extent()):
        assert figure.bbox.x0 <= each.x0 < each.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= each.y0 < each.y1 <= figure.bbox.y1
    assert "".join(figure.get_suptitle().split()) == "n" * letters + ":above20"
    if points.shape[1] < 3:
        assert " ".join(figure.axes[-1].get_xlabel().split()) == names[0].strip()


def test_names_are_not_formulas() -> None:
    figure = draw(example(lattice(3, 3), name="a $ b", question="above $x_$", names=("$\\frac$", "50 % \\alpha_")))
    figure.draw_without_rendering()
    assert figure.get_suptitle() == "a $ b: above $x_$"
    assert figure.axes[0].get_xlabel() == "$\\frac$"


def degenerate(points: Array) -> list[Campaign]:
    n = len(points)
    every = np.ones(n, dtype=np.int64)
    return [
        bare(points),
        example(points, labels=np.ones(n, np.int8), counts=every, averages=points[:, 0], lower=None, upper=None),
        example(points, mean=None, labels=np.zeros(n, np.int8)),
        example(points, mean=np.zeros(n), lower=np.zeros(n), upper=np.zeros(n), levels=(0.0,)),
        example(points, levels=(), counts=100_000 * every, averages=1e9 * every, next=np.arange(n)),
        example(points, name="温度\x07", names=tuple(f"{at}\U0001f600" * 20 for at in points[0])),
    ]


SHAPES = {
    "one, 1-d": np.full((1, 1), 0.3),
    "equal, 1-d": np.ones((5, 1)),
    "tiny, 1-d": 1e3 + 1e-8 * cloud(9, 1),
    "one": np.zeros((1, 2)),
    "two": cloud(2, 2),
    "seven": cloud(7, 2),
    "equal": np.ones((5, 2)),
    "tiny": 1e3 + 1e-8 * cloud(9, 2),
    "huge": cloud(9, 2) * [1e12, 1e-12],
    "row": lattice(9, 1),
    "column": lattice(1, 9),
    "diagonal": np.tile(np.linspace(0, 1, 30)[:, None], 2),
    "doubled": np.tile(lattice(4, 4), (2, 1)),
    "doubled, scattered": np.tile(SCATTERED[:40], (2, 1)),
    "one, 3-d": np.zeros((1, 3)),
    "equal, 6-d": np.ones((5, 6)),
    "seven, 3-d": cloud(7, 3),
}


@pytest.mark.parametrize("points", SHAPES.values(), ids=SHAPES)
def test_whatever_there_is_can_be_drawn(points: Array, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    for campaign in degenerate(points):
        figure = draw(campaign)
        figure.draw_without_rendering()
        places = figure.axes[-1]
        if points.shape[1] < 3:
            assert {word: len(corners) for word, corners in cells(places).items()} == counted(campaign)
            assert has_marks(figure.axes[0], "measured") == bool(campaign.counts.any())
            assert has_marks(places, "next batch") == bool(campaign.next.size)
    assert not caplog.records


@settings(max_examples=25)
@given(st.data())
def test_any_few_points_of_a_small_lattice_can_be_drawn(data: st.DataObject) -> None:
    place = st.tuples(st.integers(-3, 3), st.integers(-3, 3))
    points = np.array(data.draw(st.lists(place, min_size=1, max_size=12)), dtype=np.float64)
    campaign = example(points)
    (axes,) = draw(campaign).axes
    assert {word: len(corners) for word, corners in cells(axes).items()} == counted(campaign)
    every = np.concatenate(list(cells(axes).values()))
    assert (every.reshape(-1, 2).min(axis=0) <= points.min(axis=0)).all()
    assert (every.reshape(-1, 2).max(axis=0) >= points.max(axis=0)).all()


@pytest.mark.parametrize(
    "points",
    [lattice(100, 100), cloud(10_000, 2), cloud(10_000, 1), cloud(10_000, 4)],
    ids=["grid", "scattered", "profile", "ranking"],
)
def test_ten_thousand_points_are_drawn(points: Array) -> None:
    campaign = example(points)
    figure = draw(campaign)
    figure.draw_without_rendering()
    drawn = sum(len(corners) for corners in cells(figure.axes[-1]).values())
    assert drawn == (RANKED if points.shape[1] == 4 else 10_000)


def test_drawing_changes_nothing_and_draws_the_same_again() -> None:
    campaign = example(lattice(6, 6))
    kept = replace(campaign, points=campaign.points.copy(), labels=campaign.labels.copy(), next=campaign.next.copy())
    first, second = draw(campaign), draw(campaign)
    for name in ("points", "labels", "next"):
        np.testing.assert_array_equal(getattr(campaign, name), getattr(kept, name))
    assert first.get_size_inches().tolist() == second.get_size_inches().tolist()
    for word, corners in cells(first.axes[0]).items():
        np.testing.assert_array_equal(corners, cells(second.axes[0])[word])


# --- likelier sides, units and scale


def test_undecided_points_are_drawn_by_their_likelier_side_and_differ_in_grey() -> None:
    points = lattice(3, 2)
    labels = np.array([1, 0, 0, 0, -1, -1], dtype=np.int8)
    campaign = example(points, labels=labels, likelier=np.array([1, 1, 1, 0, 0, 0], dtype=np.int8))
    texts = legend_texts(draw(campaign))
    assert texts[:4] == ["above (1)", "undecided, likelier above (2)", "undecided, likelier below (1)", "below (2)"]
    groups = shaded(campaign)
    assert len({(group.hatch, group.face) for group in groups}) == 4
    above, below = groups[1:3]
    assert above.hatch != below.hatch
    grey = [float(np.array(to_rgb(group.face)) @ [0.299, 0.587, 0.114]) for group in (above, below)]
    assert grey[1] - grey[0] > 0.1


def bars(figure: Figure) -> list[str]:
    found = [artist for artist in figure.axes[0].get_children() if isinstance(artist, AnchoredSizeBar)]
    return [bar.txt_label.get_text() for bar in found]


@pytest.mark.parametrize(
    ("names", "label"),
    [(("east (m)", "north [m]"), "0.2 m"), (("east", "north"), "0.2"), (("east (m)", "north (km)"), "0.2")],
)
def test_a_map_has_a_scale_bar_with_the_unit_of_both_coordinates(names: tuple[str, str], label: str) -> None:
    assert bars(draw(example(lattice(6, 6), names=names))) == [label]


def test_a_plot_of_unlike_coordinates_has_no_scale_bar() -> None:
    assert bars(draw(example(lattice(6, 6) * [1.0, 1000.0]))) == []


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ({"asked": "which of 4 points are above 20", "unit": "m"}, "harbour: which of 4 points are above 20 m"),
        ({"asked": "within 10 % of the maximum", "unit": "m"}, "harbour: within 10 % of the maximum"),
        ({"question": "above 20"}, "harbour: above 20"),
    ],
)
def test_a_title_is_the_question_in_words_with_its_unit(words: dict[str, str], title: str) -> None:
    assert example(lattice(2, 2), name="harbour", **words).title == title
