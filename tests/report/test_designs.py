from __future__ import annotations

import numpy as np
import pytest

from superlevel import design
from superlevel.report.designs import Panel, certificate_line, draw_designs


@pytest.fixture(scope="module")
def solved() -> design.Design:
    arms = np.random.default_rng(0).normal(size=(12, 3))
    return design.solve(arms, ridge=0.1, rtol=0.01)


def test_the_title_is_the_certificate(solved: design.Design) -> None:
    panel = Panel(heading="Where", design=solved)
    figure = draw_designs(np.arange(3.0), np.arange(4.0), [panel, panel], names=("east (m)", "north (m)"))
    maps = [axes for axes in figure.axes if axes.get_title()]
    assert [axes.get_title() for axes in maps] == [f"Where\n{certificate_line(solved)}"] * 2
    assert {(axes.get_xlabel(), axes.get_ylabel()) for axes in maps} == {("east (m)", "north (m)")}
    assert f"{solved.value:.2f}" in certificate_line(solved)
    assert f"{solved.lower_bound:.2f}" in certificate_line(solved)


def test_every_share_is_in_the_map_at_its_place(solved: design.Design) -> None:
    figure = draw_designs(np.arange(3.0), np.arange(4.0), [Panel(heading="", design=solved)], names=("x", "y"))
    shares = figure.axes[0].collections[0].get_array()
    assert shares is not None
    drawn = np.ma.filled(shares, np.nan).reshape(4, 3).T.ravel()
    visible = 100 * solved.weights > 0.01
    np.testing.assert_allclose(drawn[visible], 100 * solved.weights[visible])


def test_targets_and_level_are_marked_and_named(solved: design.Design) -> None:
    targets = np.zeros((3, 4), dtype=bool)
    targets[1, 2] = targets[2, 0] = True
    values = np.add.outer(np.arange(3.0), np.arange(4.0)) - 2.5
    panel = Panel(heading="", design=solved, targets=targets, values=values)
    axes = draw_designs(np.arange(3.0), np.arange(4.0), [panel], names=("x", "y")).axes[0]
    marks = next(line for line in axes.lines if line.get_label() == "to be decided")
    assert {(float(x), float(y)) for x, y in np.column_stack(marks.get_data())} == {(1.0, 2.0), (2.0, 0.0)}
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["to be decided", "level f = 0"]
