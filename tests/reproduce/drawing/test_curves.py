from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import BboxBase

from superlevel.errors import InputError
from superlevel.reproduce.drawing.curves import PLACES, STYLES, Curve, Panel, draw_panels, style_of

LABELS = ("MELK", "MELK, average", "TruVar", "LSE", "uniform")


def curve(label: str, *, points: int = 60, last: float = 600.0, top: float = 1.0) -> Curve:
    samples = np.linspace(last / points, last, points)
    mean = top * (1 - np.exp(-samples * (1 + LABELS.index(label) if label in LABELS else 1) / last))
    return Curve(label=label, samples=samples, mean=mean, error=0.01 + 0.02 * mean)


def panel(*labels: str, **options: float) -> Panel:
    return Panel(title=" and ".join(labels), curves=[curve(label, top=options.get("top", 1.0)) for label in labels])


def line(axes: Axes, label: str) -> Line2D:
    return next(line for line in axes.lines if line.get_label() == label)


def bars(axes: Axes) -> list[list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]]:
    """For each curve its error bars, (2, 2) lower and upper end."""
    found = []
    for container in axes.containers:
        assert isinstance(container, ErrorbarContainer)
        (collection,) = container.lines[2]
        assert isinstance(collection, LineCollection)
        found.append([np.asarray(segment) for segment in collection.get_segments()])
    return found


def tight(axes: Axes) -> BboxBase:
    """The axes with all that is written around them."""
    box = axes.get_tightbbox()
    assert box is not None
    return box


def legend_texts(figure: Figure) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def test_lines_go_through_every_mean() -> None:
    given = panel(*LABELS)
    (axes,) = draw_panels([given], columns=1, title="t", ylabel="F1").axes
    for each in given.curves:
        np.testing.assert_array_equal(line(axes, each.label).get_xdata(), each.samples)
        np.testing.assert_array_equal(line(axes, each.label).get_ydata(), each.mean)


@pytest.mark.parametrize("logarithmic", [False, True])
def test_a_bar_is_one_standard_error_to_either_side_and_sits_on_a_marker(logarithmic: bool) -> None:
    given = panel(*LABELS)
    (axes,) = draw_panels([given], columns=1, title="t", ylabel="F1", logarithmic=logarithmic).axes
    for each, drawn in zip(given.curves, bars(axes), strict=True):
        marked = line(axes, each.label).get_markevery()
        assert isinstance(marked, list)
        assert PLACES - 3 <= len(marked) <= PLACES
        expected = [(each.samples[at], each.mean[at] - each.error[at], each.mean[at] + each.error[at]) for at in marked]
        np.testing.assert_allclose([(bar[0, 0], bar[0, 1], bar[1, 1]) for bar in drawn], expected)


def test_bars_are_spread_evenly_along_the_axis_that_is_drawn() -> None:
    samples = np.arange(1.0, 1001.0)
    given = Curve(label="LSE", samples=samples, mean=samples / 1000, error=samples / 9999)
    one = Panel(title="", curves=[given])
    for logarithmic, scale in ((False, np.asarray), (True, np.log)):
        (axes,) = draw_panels([one], columns=1, title="", ylabel="", logarithmic=logarithmic).axes
        steps = np.diff(scale(samples[np.array(line(axes, "LSE").get_markevery())]))
        tail = steps[4:]  # whole numbers have no even logarithms at the start
        assert tail.max() < 1.1 * tail.min()


def test_methods_have_their_bars_at_different_places() -> None:
    (axes,) = draw_panels([panel(*LABELS)], columns=1, title="t", ylabel="F1").axes
    places = [bar[0, 0] for drawn in bars(axes) for bar in drawn]
    assert len(set(places)) == len(places)


def test_a_short_curve_has_all_its_bars() -> None:
    short = Panel(title="", curves=[curve("MELK", points=4), curve("LSE", points=1)])
    (axes,) = draw_panels([short], columns=1, title="", ylabel="").axes
    assert [len(drawn) for drawn in bars(axes)] == [4, 1]


def test_a_grid_names_its_outer_axes_and_shares_the_limits() -> None:
    panels = [panel("MELK", "LSE"), panel("LSE", "TruVar"), panel("MELK"), panel("uniform"), panel("TruVar")]
    figure = draw_panels(panels, columns=3, title="Five", ylabel="F1")
    assert [axes.get_title() for axes in figure.axes] == [each.title for each in panels]
    assert [axes.get_ylabel() for axes in figure.axes] == ["F1", "", "", "F1", ""]
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "measurements", "measurements", "measurements"]
    assert {axes.get_ylim() for axes in figure.axes} == {(0.0, 1.02)}
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    assert figure.get_suptitle() == "Five"


def test_the_legend_has_every_label_once_and_covers_nothing() -> None:
    panels = [panel("MELK", "LSE"), panel("LSE", "TruVar"), panel("MELK", "uniform")]
    for count, columns in ((1, 1), (3, 3), (3, 2)):
        figure = draw_panels(panels[:count], columns=columns, title="t", ylabel="F1")
        assert legend_texts(figure) == ["MELK", "LSE", "TruVar", "uniform"][: 2 if count == 1 else 4]
        assert all(axes.get_legend() is None for axes in figure.axes)
        figure.draw_without_rendering()
        box = figure.legends[0].get_window_extent()
        assert not any(box.overlaps(tight(axes)) for axes in figure.axes)
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1


def test_bars_are_explained_where_there_are_any() -> None:
    single = Panel(title="", curves=[Curve(label="LSE", samples=np.ones(1), mean=np.ones(1), error=np.zeros(1))])
    texts = [
        draw_panels([each], columns=1, title="", ylabel="").legends[0].get_title().get_text()
        for each in (single, panel("LSE"))
    ]
    assert texts == ["", "bars: ± one standard error"]


def test_a_method_looks_the_same_in_every_figure_and_in_its_legend() -> None:
    alone = draw_panels([panel("TruVar")], columns=1, title="", ylabel="")
    among = draw_panels([panel(*LABELS), panel("TruVar")], columns=2, title="", ylabel="")
    in_legend = among.legends[0].get_lines()[LABELS.index("TruVar")]
    lines = [line(alone.axes[0], "TruVar"), *(line(axes, "TruVar") for axes in among.axes), in_legend]
    looks = {(each.get_color(), each.get_linestyle(), each.get_marker(), each.get_linewidth()) for each in lines}
    assert len(looks) == 1
    assert looks.pop()[0] == STYLES["TruVar"].color


def test_vertical_lines_are_where_they_belong_and_named_once() -> None:
    panels = [
        Panel(title="", curves=[curve("MELK")], lines=[("lower bound", 372.0), ("upper bound", 5000.0)]),
        Panel(title="", curves=[curve("LSE")], lines=[("lower bound", 20.0)]),
    ]
    figure = draw_panels(panels, columns=2, title="", ylabel="", logarithmic=True)
    rules = [[each for each in axes.lines if len(np.asarray(each.get_xdata())) == 2] for axes in figure.axes]
    assert [[each.get_xdata() for each in drawn] for drawn in rules] == [[[372.0] * 2, [5000.0] * 2], [[20.0] * 2]]
    assert legend_texts(figure) == ["MELK", "LSE", "lower bound", "upper bound"]
    dashes = [each.get_linestyle() for each in figure.legends[0].get_lines()[2:]]
    assert [each.get_linestyle() for each in rules[0]] == dashes
    assert len(set(dashes)) == 2
    for axes in figure.axes:
        assert axes.get_xscale() == "log"
        left, right = axes.get_xlim()
        assert 0 < left < 10
        assert right > 5000


def test_scores_above_one_are_all_seen() -> None:
    (axes,) = draw_panels([panel("MELK", top=7.0)], columns=1, title="", ylabel="").axes
    low, high = axes.get_ylim()
    assert low == 0.0
    assert high > curve("MELK", top=7.0).mean.max() > 1.02


def lightness(color: str) -> float:
    """CIE L*, from 0 to 100."""
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ [0.2126, 0.7152, 0.0722])
    return 116 * luminance ** (1 / 3) - 16 if luminance > 0.008856 else 903.3 * luminance


def test_colours_differ_in_lightness_and_show_on_white() -> None:
    ordered = sorted(lightness(color) for color in {style.color for style in STYLES.values()})
    assert len(ordered) == 8
    assert min(np.diff(ordered)) > 5
    assert ordered[-1] < 75


def test_methods_differ_without_their_colour() -> None:
    looks = [(style.linestyle, style.marker, style.filled) for style in STYLES.values()]
    assert len(set(looks)) == len(looks) == len(STYLES)


def test_families_have_one_colour_and_ours_are_thicker() -> None:
    families = {name: {s.color for label, s in STYLES.items() if label.startswith(name)} for name in ("MELK", "MILK")}
    families["LSE"] = {style.color for label, style in STYLES.items() if label.startswith("LSE")}
    assert [len(colors) for colors in families.values()] == [1, 1, 1]
    ours, others = (
        {style.width for label, style in STYLES.items() if label.startswith(("MELK", "MILK")) is own}
        for own in (True, False)
    )
    assert min(ours) > max(others)


def test_an_unknown_method_has_a_style_that_does_not_change() -> None:
    names = [f"new {at}" for at in range(8)]
    styles = [style_of(name) for name in names]
    assert styles == [style_of(name) for name in names]
    frozen = ("#8c2d5a", (0.0, (7.0, 2.0)), "X")  # a salted hash would give another in each process
    assert (styles[0].color, styles[0].linestyle, styles[0].marker) == frozen
    assert not set(styles) & set(STYLES.values())
    assert all(left != right for left, right in itertools.combinations(styles, 2))


@pytest.mark.parametrize(
    ("panels", "sentence"),
    [
        ([], "panels is empty: give at least one panel"),
        ([Panel(title="", curves=[])], r"panels\[0\].curves is empty: give at least one curve"),
    ],
)
def test_nothing_to_draw(panels: list[Panel], sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{sentence}$"):
        draw_panels(panels, columns=3, title="", ylabel="")


@pytest.mark.parametrize(
    ("samples", "mean", "error", "sentence"),
    [
        ([1, 2], [0.1], [0, 0], r"panels\[0\].curves\[0\].mean is of shape \(1,\): give shape \(2,\)"),
        ([1, 2], [0.1, np.nan], [0, 0], r"panels\[0\].curves\[0\].mean\[1\] is nan: give finite numbers"),
        ([2, 1], [0.1, 0.2], [0, 0], r"curves\[0\].samples is empty or not increasing"),
        ([0, 1], [0.1, 0.2], [0, 0], r"curves\[0\].samples\[0\] is 0.0: give a number > 0$"),
        ([1, 2], [0.1, 0.2], [0, -1], r"curves\[0\].error, its smallest, is -1.0: give a number >= 0"),
    ],
)
def test_bad_curves_are_named(samples: list[float], mean: list[float], error: list[float], sentence: str) -> None:
    bad = Curve(label="LSE", samples=np.array(samples), mean=np.array(mean), error=np.array(error))
    with pytest.raises(InputError, match=sentence):
        draw_panels([Panel(title="", curves=[bad])], columns=1, title="", ylabel="", logarithmic=True)


def test_a_line_at_no_measurements_is_refused_on_a_logarithmic_axis() -> None:
    bad = Panel(title="", curves=[curve("LSE")], lines=[("lower bound", 0.0)])
    with pytest.raises(InputError, match=r"^panels\[0\].lines, lower bound, is 0.0: give a number > 0$"):
        draw_panels([bad], columns=1, title="", ylabel="", logarithmic=True)
