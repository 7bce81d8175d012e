"""Curves, areas, ranks and when 0.9 is reached, from rows."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from scipy import stats

from superlevel.reproduce.reading import area_table, curve_table, pictures, reached
from superlevel.reproduce.settings import Entry, Figure, Row
from superlevel.reproduce.trials import LowerBound
from tests.reproduce.small import row, setting

PAPER = ("MELK", "LSE")


def figure(*labels: str, at: Sequence[str] = ("small",)) -> Figure:
    entries = [Entry(label=label, trial=LowerBound(), paper=label in PAPER) for label in labels]
    return Figure(name="f", title="Title", settings=[setting(name) for name in at], entries=entries)


CURVES = {
    "MELK": [[0.0, 0.75, 1.0], [0.25, 0.5, 0.75]],
    "LSE": [[0.0, 0.0, 0.5], [0.125, 0.25, 0.5]],
    "uniform": [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
}
ROWS = [row(method, seed, f1=f1) for method, curves in CURVES.items() for seed, f1 in enumerate(curves)]


def test_a_curve_is_the_mean_of_its_runs_with_their_standard_error() -> None:
    lines = curve_table(figure(*CURVES), ROWS)
    expected = [
        {
            "figure": "f",
            "setting": "small",
            "method": method,
            "samples": samples,
            "runs": 2,
            "mean_f1": pytest.approx(statistics.mean(values)),
            "standard_error": pytest.approx(statistics.stdev(values) / 2**0.5),
        }
        for method, curves in CURVES.items()
        for samples, values in zip((20, 40, 60), zip(*curves, strict=True), strict=True)
    ]
    assert lines == expected


def test_curves_are_in_the_figures_order_whatever_that_of_the_rows() -> None:
    lines = curve_table(figure("LSE", "uniform", "MELK"), ROWS[::-1])
    assert list(dict.fromkeys(line["method"] for line in lines)) == ["LSE", "uniform", "MELK"]


def test_settings_are_kept_apart() -> None:
    rows = [replace(each, setting=name) for name in ("two", "one") for each in ROWS[:4]]
    made = figure("MELK", "LSE", at=["one", "two"])
    assert [line["setting"] for line in area_table(made, rows)] == ["one", "one", "two", "two"]
    assert [line["rank"] for line in area_table(made, rows)] == [1, 2, 1, 2]
    assert {line["runs"] for line in curve_table(made, rows)} == {2}


def test_an_entry_without_a_curve_is_left_out() -> None:
    rows = [*ROWS, row("lower bound", samples=12.0)]
    for table in (curve_table, area_table):
        assert {line["method"] for line in table(figure(*CURVES, "lower bound"), rows)} == set(CURVES)


def test_one_run_has_no_standard_error() -> None:
    lines = [line for table in (curve_table, area_table) for line in table(figure("MELK"), ROWS[:1])]
    assert {line["standard_error"] for line in lines} == {None}
    assert {line["runs"] for line in lines} == {1}


# ------------------------------------------------------------------------------------------ areas


def test_an_area_is_the_mean_over_runs_of_the_mean_over_places() -> None:
    for line in area_table(figure(*CURVES), ROWS):
        areas = [statistics.mean(curve) for curve in CURVES[line["method"]]]
        assert line["area"] == pytest.approx(statistics.mean(areas))
        assert line["standard_error"] == pytest.approx(statistics.stdev(areas) / 2**0.5)


@settings(max_examples=50)
@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=7))
def test_ranks_are_scipys_with_ties_shared(curves: list[list[int]]) -> None:
    labels = [f"m{k}" for k in range(len(curves))]
    rows = [row(label, f1=[x / 4 for x in curve]) for label, curve in zip(labels, curves, strict=True)]
    lines = area_table(figure(*labels), rows)
    assert [line["rank"] for line in lines] == stats.rankdata([-sum(curve) for curve in curves]).tolist()
    assert sum(line["rank"] for line in lines) == len(curves) * (len(curves) + 1) / 2


@given(st.lists(st.sampled_from([0.0, 0.5, 0.89999, 0.9, 0.95, 1.0]), min_size=1, max_size=8))
def test_reached_is_the_first_place_from_which_on_all_are_there(curve: list[float]) -> None:
    samples = tuple(range(20, 20 * len(curve) + 1, 20))
    expected = next((samples[k] for k in range(len(curve)) if min(curve[k:]) >= 0.9), None)
    assert reached(np.array(curve), samples) == expected


def test_a_curve_that_falls_below_again_has_not_arrived() -> None:
    assert reached(np.array([0.95, 0.8, 0.9]), (20, 40, 60)) == 60
    assert reached(np.array([1.0, 1.0, 0.8]), (20, 40, 60)) is None


def test_the_mean_curve_must_reach_it_and_not_the_best_run() -> None:
    rows = [row("MELK", 0, f1=[1, 1, 1]), row("MELK", 1, f1=[0, 0.7, 0.9])]
    assert area_table(figure("MELK"), rows)[0]["samples_to_0.9"] == 60
    assert {line["samples_to_0.9"] for line in area_table(figure(*CURVES), ROWS)} == {None}


# ------------------------------------------------------------------------------------------ pictures


def legend(picture: Picture) -> list[str]:
    return [text.get_text() for text in picture.legends[0].get_texts()]


def line(axes: Axes, label: str) -> Any:
    return next(each for each in axes.lines if each.get_label() == label)


def test_one_picture_has_the_papers_methods_and_another_has_all() -> None:
    drawn = {name: draw() for name, draw in pictures(figure("uniform", *PAPER), ROWS).items()}
    assert list(drawn) == ["", "-all"]
    assert legend(drawn[""]) == ["MELK", "LSE"]
    assert legend(drawn["-all"]) == ["uniform", "MELK", "LSE"]
    assert drawn[""].get_suptitle() == "Title"


def test_drawn_curves_are_those_of_the_table() -> None:
    (axes,) = pictures(figure(*CURVES), ROWS)["-all"]().axes
    assert axes.get_xscale() == "linear"
    assert axes.get_title() == "small"
    for method in CURVES:
        means = [each["mean_f1"] for each in curve_table(figure(*CURVES), ROWS) if each["method"] == method]
        assert line(axes, method).get_xdata().tolist() == [20, 40, 60]
        assert line(axes, method).get_ydata().tolist() == means


def test_bounds_are_vertical_lines_of_every_panel_on_a_logarithmic_axis() -> None:
    rows = [replace(each, setting=name) for name in ("one", "two") for each in ROWS]
    made = replace(figure(*CURVES, at=["one", "two"]), logarithmic=True)
    picture = pictures(made, rows, lines={"lower bound": 33.0})[""]()
    assert legend(picture) == ["MELK", "LSE", "lower bound"]
    for axes in picture.axes:
        assert axes.get_xscale() == "log"
        drawn = [np.asarray(each.get_xdata()).tolist() for each in axes.lines]
        assert [places for places in drawn if len(places) == 2] == [[33.0, 33.0]]


@pytest.mark.parametrize(("panels", "columns"), [(1, 1), (2, 2), (3, 3), (4, 2), (9, 3)])
def test_a_grid_of_lengths_and_noises_is_as_wide_as_high(panels: int, columns: int) -> None:
    names = [f"setting {k}" for k in range(panels)]
    rows: list[Row] = [row("MELK", at=name, f1=[0.1, 0.2, 0.3]) for name in names]
    picture = pictures(figure("MELK", at=names), rows)[""]()
    assert [axes.get_title() for axes in picture.axes] == names
    assert {axes.get_subplotspec().get_gridspec().ncols for axes in picture.axes} == {columns}  # type: ignore[union-attr]
