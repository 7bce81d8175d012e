"""Measurements against the lower bound, drawn."""

from __future__ import annotations

import io
from typing import cast

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from superlevel.arrays import Array
from superlevel.errors import InputError
from superlevel.report.styles import BLACK, BLUE, SOLID, Style
from superlevel.reproduce.drawing.factors import FACTORS, Cloud, draw_factors

STYLE = Style(BLACK, SOLID, "o")


def cloud(bounds: Array, samples: Array, label: str = "ours", style: Style = STYLE) -> Cloud:
    return Cloud(label=label, style=style, bounds=bounds, samples=samples)


def plot(figure: Figure) -> Axes:
    (axes,) = figure.axes
    return axes


BOUNDS = np.array([100.0, 200.0, 400.0])


def test_every_run_is_a_marker_at_its_bound_and_its_measurements() -> None:
    axes = plot(draw_factors([cloud(BOUNDS, 5 * BOUNDS)], title="T"))
    first = axes.get_lines()[0]
    np.testing.assert_array_equal(cast(Array, first.get_xdata()), BOUNDS)
    np.testing.assert_array_equal(cast(Array, first.get_ydata()), 5 * BOUNDS)
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_title()) == ("log", "log", "T")


def test_a_line_of_each_factor_is_straight_and_named_where_it_is_in_sight() -> None:
    axes = plot(draw_factors([cloud(BOUNDS, 5 * BOUNDS)], title="T"))
    rules = axes.get_lines()[1:]
    for rule, factor in zip(rules, FACTORS, strict=True):
        x, y = cast(Array, rule.get_xdata()), cast(Array, rule.get_ydata())
        np.testing.assert_allclose(np.asarray(y) / np.asarray(x), factor)
    names = [text.get_text() for text in axes.texts]
    assert "lower bound" in names
    assert "10 times" in names
    assert "10,000 times" not in names  # far above everything


@pytest.mark.parametrize(("factor", "words"), [(5.44, "5.4 times"), (16.0, "16 times"), (2161.0, "2,200 times")])
def test_the_legend_has_the_median_factor(factor: float, words: str) -> None:
    skewed = factor * BOUNDS * np.array([0.5, 1.0, 3.0])
    figure = draw_factors([cloud(BOUNDS, skewed, "ridge")], title="")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [f"ridge\n{words} the bound"]


def test_problems_are_named_above_their_runs_without_covering_each_other() -> None:
    figure = draw_factors([cloud(BOUNDS, 5 * BOUNDS)], title="", problems={"one": 100.0, "two": 110.0})
    places = {text.get_text(): text.xy for text in plot(figure).texts if text.get_text() in {"one", "two"}}  # type: ignore[attr-defined]
    assert places["one"][0] == 100.0
    assert places["one"][1] != places["two"][1]


def test_open_markers_stay_apart_from_filled_ones() -> None:
    other = cloud(BOUNDS, 50 * BOUNDS, "theirs", Style(BLUE, SOLID, "D", filled=False))
    figure = draw_factors([cloud(BOUNDS, 5 * BOUNDS), other], title="")
    ours, theirs = plot(figure).get_lines()[:2]
    assert ours.get_markerfacecolor() == BLACK
    assert theirs.get_markerfacecolor() == "none"
    figure.savefig(io.BytesIO(), format="png")


def test_one_run_is_enough() -> None:
    figure = draw_factors([cloud(np.array([7.0]), np.array([7.0]))], title="")
    assert plot(figure).get_xlim()[0] < 7.0 < plot(figure).get_xlim()[1]


@pytest.mark.parametrize(
    ("clouds", "sentence"),
    [
        ([], "clouds is empty"),
        ([cloud(BOUNDS, np.array([1.0, 2.0]))], r"clouds\[0\].bounds"),
        ([cloud(np.array([0.0]), np.array([1.0]))], r"clouds\[0\].bounds"),
        ([cloud(np.array([1.0]), np.array([-1.0]))], r"clouds\[0\].samples"),
        ([cloud(np.array([1.0]), np.array([np.nan]))], r"clouds\[0\].samples"),
    ],
)
def test_what_cannot_be_drawn_is_refused(clouds: list[Cloud], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        draw_factors(clouds, title="")
