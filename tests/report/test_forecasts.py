from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from superlevel.errors import InputError
from superlevel.report.forecasts import LOOKS, Prospect, draw_forecasts

NORMS = np.array([1.0, 2.0, 4.0, 8.0])
NONE = np.zeros(4, dtype=bool)


def prospect(noise: float, **changes: Any) -> Prospect:
    given = Prospect(
        label=f"noise {noise:g}", norms=NORMS, measurements=900 * noise**2 * NORMS, beyond=NONE, lower=90 * noise**2
    )
    return replace(given, **changes)


def labelled(axes: Axes, label: str) -> list[Line2D]:
    return [line for line in axes.lines if line.get_label() == label]


def written(figure: Figure) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def saved(figure: Figure) -> bytes:
    content = BytesIO()
    figure.savefig(content, format="png")
    return content.getvalue()


def test_a_line_for_each_noise_with_its_lower_bound_on_logarithmic_axes() -> None:
    given = [prospect(noise) for noise in (0.3, 1.0, 2.0)]
    figure = draw_forecasts(given, title="MELK")
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    for each in given:
        (line,) = labelled(axes, each.label)
        np.testing.assert_array_equal(line.get_xdata(), NORMS)
        np.testing.assert_array_equal(line.get_ydata(), each.measurements)
    bounds = labelled(axes, "_lower")
    assert [set(np.asarray(line.get_ydata())) for line in bounds] == [{each.lower} for each in given]
    assert written(figure) == ["noise 0.3", "noise 1", "noise 2", "its lower bound"]


def test_what_never_ends_is_left_out_and_what_is_beyond_counting_points_up() -> None:
    counts = np.array([np.inf, 5e3, 9e3, 1e4])
    figure = draw_forecasts([prospect(1.0, measurements=counts, beyond=NORMS == 8.0)], title="MELK", norm=1.4)
    (axes,) = figure.axes
    (line,) = labelled(axes, "noise 1")
    np.testing.assert_array_equal(line.get_ydata(), [np.nan, 5e3, 9e3, np.nan])
    (arrow,) = labelled(axes, "_more")
    np.testing.assert_array_equal(arrow.get_xydata(), [[8.0, 1e4]])
    assert written(figure)[-2:] == ["more than that", "norm of the guess"]


def test_the_norm_of_the_guess_is_in_the_picture_wherever_it_is() -> None:
    for norm in (0.01, 3.0, 500.0):
        (axes,) = draw_forecasts([prospect(1.0)], title="MELK", norm=norm).axes
        low, high = axes.get_xlim()
        assert low < min(norm, 1.0) < max(norm, 8.0) < high


def test_lines_are_told_apart_in_grey_by_marker_dashes_and_lightness() -> None:
    shades = [float(np.dot(to_rgb(look.color), [0.299, 0.587, 0.114])) for look in LOOKS]
    assert len({look.marker for look in LOOKS}) == len({look.linestyle for look in LOOKS}) + 1 == len(LOOKS)
    assert min(np.diff(sorted(shades[:4]))) > 0.05


def test_many_lines_go_through_all_looks_again() -> None:
    (axes,) = draw_forecasts([prospect(noise) for noise in range(1, 10)], title="MELK").axes
    assert len([line for line in axes.lines if str(line.get_label()).startswith("noise")]) == 9


@pytest.mark.parametrize(
    "changes",
    [
        {"measurements": np.full(4, np.inf), "lower": np.inf},
        {"measurements": np.zeros(4), "lower": 0.0},
        {"norms": np.array([2.0]), "measurements": np.array([30.0]), "beyond": np.array([False]), "lower": 20.0},
    ],
)
def test_a_picture_of_next_to_nothing_is_drawn_without_a_warning(changes: dict[str, Any]) -> None:
    assert saved(draw_forecasts([prospect(1.0, **changes)], title="$ MELK")).startswith(b"\x89PNG")


def test_less_than_two_powers_of_ten_have_numbers_between_them() -> None:
    given = prospect(1.0, measurements=np.array([1100.0, 1500.0, 3000.0, 4000.0]), lower=0.0)
    figure = draw_forecasts([given], title="MELK")
    saved(figure)
    (axes,) = figure.axes
    low, high = axes.get_ylim()
    assert sum(low <= tick <= high for tick in axes.get_yticks()) >= 1


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([], "prospects is empty: give at least one"),
        ([prospect(1.0, norms=NORMS[::-1])], r"prospects\[0\].norms is empty or not increasing: give norms in order"),
        ([prospect(1.0, norms=-NORMS)], r"prospects\[0\].norms\[0\] is -1.0: give finite numbers > 0"),
        ([prospect(1.0), prospect(1.0, measurements=NORMS[:2])], r"prospects\[1\].measurements is not one number"),
        ([prospect(1.0, measurements=NORMS * np.nan)], r"prospects\[0\].measurements is not one number"),
        ([prospect(1.0, beyond=NONE[:1])], r"prospects\[0\].beyond is of shape \(1,\): give shape \(4,\)"),
    ],
)
def test_what_cannot_be_drawn_is_named(given: list[Prospect], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        draw_forecasts(given, title="MELK")
    with pytest.raises(InputError, match="norm is 0: give a number > 0"):
        draw_forecasts([prospect(1.0)], title="MELK", norm=0)
