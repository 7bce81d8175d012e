from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from superlevel.demo.maps import DEEP, FACES, LAND, SHALLOW, WRONG, Chart, Panel, draw_sea, kinds
from superlevel.reproduce.drawing.curves import style_of

# One row of land, and then depths on either side of 20 m.
CHART = Chart(
    longitude=np.array([-125.0, -124.0, -123.0]),
    latitude=np.array([48.0, 49.0, 50.0]),
    depth=np.array([[-5.0, 0.0, -300.0], [5.0, 20.0, 300.0], [19.9, 20.1, 1.0]]),
    level=20.0,
)
SAID = np.array([[True, False, True], [False, True, False], [True, True, False]])


def panel(label: str) -> Panel:
    return Panel(
        label=label,
        detail="5 declared, 1 of them wrongly",
        deep=SAID,
        pings=np.array([[-125.0, 49.0], [-123.0, 50.0]]),
        counts=np.array([60, 80]),
        mislabelled=np.array([4, 2]),
    )


def drawn(*labels: str) -> Figure:
    return draw_sea(CHART, [panel(label) for label in labels], pilot=60, title="Where is it deep?", caption="So it is.")


def maps_and_curves(figure: Figure) -> tuple[list[Axes], Axes]:
    maps, rest = figure.subfigs
    return maps.axes, rest.subfigs[0].axes[0]


def test_exactly_at_the_level_is_deep_and_land_is_never_wrong() -> None:
    expected = [[LAND, LAND, LAND], [SHALLOW, DEEP, WRONG], [WRONG, DEEP, SHALLOW]]
    assert kinds(CHART, panel("MELK")).tolist() == expected


def test_colours_stay_apart_in_grey() -> None:
    lightness = [np.dot(to_rgb(face), [0.2126, 0.7152, 0.0722]) for face in FACES.values()]
    assert np.diff(lightness).max() < -0.12  # from the lightest to the darkest, in order
    assert lightness[WRONG] == min(lightness)


def test_each_survey_has_a_map_with_its_count_its_pings_and_the_true_line() -> None:
    maps, _ = maps_and_curves(drawn("MELK", "LSE"))
    assert [axes.get_title() for axes in maps] == [f"{label}: 2 of 6 cells mislabelled" for label in ("MELK", "LSE")]
    for axes in maps:
        (pings,) = axes.lines
        assert np.column_stack(pings.get_data()).tolist() == panel("").pings.tolist()
        assert "5 declared, 1 of them wrongly" in [text.get_text() for text in axes.texts]
        assert axes.get_xlabel() == "longitude"
        cells = next(found for found in axes.collections if found.get_label() == "cells")
        assert np.array_equal(np.asarray(cells.get_array()).reshape(3, 3), kinds(CHART, panel("")))
        assert len(axes.collections) == 2  # the other one is the line
    assert maps[0].get_ylabel() == "latitude"
    assert axes.xaxis.get_major_formatter()(-124.0, 0) == "124° W"
    assert axes.yaxis.get_major_formatter()(48.5, 0) == "48.5° N"


def test_a_degree_of_longitude_is_as_short_as_it_is_there() -> None:
    maps, _ = maps_and_curves(drawn("MELK"))
    assert maps[0].get_aspect() == pytest.approx(1 / np.cos(np.radians(49)))


def test_curves_have_the_styles_of_their_methods_and_begin_at_zero() -> None:
    _, curves = maps_and_curves(drawn("MELK", "LSE", "uniform"))
    lines = {line.get_label(): line for line in curves.lines}
    assert set(lines) == {"MELK", "LSE", "uniform"}
    for label, line in lines.items():
        assert line.get_color() == style_of(str(label)).color
        assert np.column_stack(line.get_data()).tolist() == [[60, 4], [80, 2]]
    assert curves.get_ylim()[0] == curves.get_xlim()[0] == 0
    legend = curves.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["MELK", "LSE", "uniform"]


def test_title_caption_and_legend_are_there() -> None:
    figure = drawn("MELK")
    assert figure.get_suptitle() == "Where is it deep?"
    words = figure.subfigs[1].subfigs[1]
    assert [text.get_text() for text in words.texts] == ["So it is."]
    (legend,) = words.legends
    assert [text.get_text() for text in legend.get_texts()] == [*FACES, "true 20 m line", "ping"]
