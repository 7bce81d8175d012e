from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from superlevel.demo.maps import FACES, HIGH, LOW, NONE, SHADES, WRONG, Bar, Chart, draw_survey, kinds

CHART = Chart(
    east=np.array([0.0, 0.5, 1.0]),
    north=np.array([0.6, 0.0]),
    elevation=np.array([[590.0, 600.0, 601.0], [700.0, 400.0, 650.0]]),
    level=600.0,
    chance=np.array([[0.1, 0.2, 0.9], [0.4, 0.3, 1.0]]),
    labels=np.array([[-1, 1, 1], [-1, 0, 0]], dtype=np.int8),
    places=np.array([[0.5, 0.6], [1.0, 0.0], [1.0, 0.0]]),
)
BARS = {
    "Wrong": [Bar(name="promised", share=0.01, bound=True), Bar(name="truth", share=0.5)],
    "Far off": [Bar(name="audit, whatever the kernel (95 % confidence)", share=0.6, bound=True)],
}


def lightness(color: Any) -> float:
    return float(np.dot(to_rgb(color), [0.2126, 0.7152, 0.0722]))


@pytest.fixture(scope="module")
def figure() -> Figure:
    return draw_survey(CHART, BARS, title="It is high there.")


def named(figure: Figure, title: str) -> Axes:
    (axes,) = (axes for axes in figure.axes if title in (axes.get_title(), axes.get_title("left")))
    return axes


def cells(axes: Axes) -> list[list[float]]:
    drawn: list[list[float]] = np.asarray(axes.collections[0].get_array()).reshape(2, 3).tolist()
    return drawn


def test_exactly_at_the_level_is_not_above_and_only_declared_cells_are_wrong() -> None:
    assert kinds(CHART).tolist() == [[LOW, WRONG, HIGH], [WRONG, NONE, NONE]]


def test_colours_stay_apart_in_grey_and_wrong_cells_are_darkest() -> None:
    faces = [lightness(face) for face in FACES.values()]
    assert np.diff(faces).max() < -0.12  # from the lightest to the darkest, in order
    assert list(FACES)[WRONG] == "wrong"
    shades = [lightness(SHADES(chance)) for chance in (0.0, 0.5, 1.0)]
    assert np.diff(shades).max() < -0.12
    assert shades[-1] > 0.4  # black lines and marks are seen on it


def test_the_left_map_has_probabilities_places_and_the_true_line(figure: Figure) -> None:
    axes = named(figure, "Probability of being above 600 m")
    assert cells(axes) == CHART.chance.tolist()
    (places,) = axes.lines
    assert np.column_stack(places.get_data()).tolist() == CHART.places.tolist()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("km east", "km north")
    _has_the_line(axes)


def test_the_middle_map_has_what_is_declared_and_a_legend(figure: Figure) -> None:
    axes = named(figure, "Declared: 4 of 6 cells")
    assert cells(axes) == kinds(CHART).tolist()
    assert axes.get_xlabel() == "km east"
    _has_the_line(axes)
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [*FACES, "true 600 m line", "measured"]


def _has_the_line(axes: Axes) -> None:
    """Between 590 and 601, and around 700 and 650."""
    assert len(axes.collections) == 2
    (line,) = axes.collections[1].get_paths()
    assert np.shape(line.vertices)[0] > 2
    assert axes.get_aspect() == 1


def test_bars_have_their_lengths_names_and_numbers_on_one_scale(figure: Figure) -> None:
    wrong, far = named(figure, "Wrong"), named(figure, "Far off")
    assert [bar.get_width() for bar in wrong.patches] == [0.01, 0.5]  # type: ignore[attr-defined]
    assert [text.get_text() for text in wrong.texts] == ["promised", "at most 1.0 %", "truth", "50.0 %"]
    assert [text.get_text() for text in far.texts] == [BARS["Far off"][0].name, "at most 60.0 %"]
    assert wrong.get_xlim() == far.get_xlim()
    assert [bar.get_hatch() is not None for bar in (*wrong.patches, *far.patches)] == [True, False, True]
    assert Bar(name="", share=0.1001, bound=True).text == "at most 10.1 %"  # never less than the bound
    first, second = (bar.get_y() for bar in wrong.patches)  # type: ignore[attr-defined]
    assert wrong.transData.transform((0, first))[1] > wrong.transData.transform((0, second))[1]  # from the top down


def test_the_declared_share_of_the_map_is_a_bar_too(figure: Figure) -> None:
    axes = named(figure, "Share of the map that is declared")
    (bar,) = axes.patches
    assert bar.get_width() == pytest.approx(4 / 6)  # type: ignore[attr-defined]
    assert "66.7 %" in [text.get_text() for text in axes.texts]


def words_of(axes: Axes) -> list[Text]:
    """Everything but the labels of ticks, of which matplotlib keeps some that it never draws."""
    legend = axes.get_legend()
    titles = [axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label]  # type: ignore[attr-defined]
    return [*axes.texts, *titles, *(() if legend is None else legend.get_texts())]


def test_it_fits_on_a_slide_and_no_words_overlap(figure: Figure) -> None:
    assert figure.get_suptitle() == "It is high there."
    width, height = figure.get_size_inches()
    assert 1.7 < width / height < 2.7
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    texts = [text for axes in figure.axes for text in words_of(axes)] + figure.texts
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text()]
    assert {"km east", "wrong", "at most 60.0 %"} <= {words for words, _ in boxes}
    for k, (_, box) in enumerate(boxes):
        assert 0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert 0 <= box.y0 < box.y1 <= figure.bbox.y1
        assert [words for words, other in boxes[:k] if box.overlaps(other)] == []
