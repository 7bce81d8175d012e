"""What it costs to be careful, drawn: forecasts of the number of measurements against the norm that is assumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from superlevel.arrays import Array, Mask, as_floats, as_number, as_positive
from superlevel.errors import InputError
from superlevel.report.styles import (
    BLACK,
    BLUE,
    DASHDOT,
    DASHED,
    DOTTED,
    GREEN,
    LONG,
    ORANGE,
    RULE,
    SIZES,
    SOLID,
    THICK,
    VERMILION,
    Style,
)

LOOKS = (
    Style(BLACK, SOLID, "o", THICK),
    Style(VERMILION, DASHED, "s", THICK),
    Style(BLUE, DASHDOT, "^", THICK),
    Style(ORANGE, LONG, "D", THICK),
    Style(GREEN, DOTTED, "v", THICK),
    Style("0.45", SOLID, "P", THICK),
)
LOWER = (0.0, (1.0, 2.0))
ROOM = 1.25  # beyond what is drawn, on either side of an axis
SHORT = 50.0  # an axis from 1 to less than that has more numbers on it than powers of ten


@dataclass(frozen=True, kw_only=True, eq=False)
class Prospect:
    """What it takes for some norms, everything else being the same."""

    label: str
    """What that is, as in 'noise 0.5'."""
    norms: Array
    """(k,) positive, increasing."""
    measurements: Array
    """(k,) positive; infinite where it never ends."""
    beyond: Mask
    """(k,) whether counting ended there, so that it takes more."""
    lower: float
    """What no method can beat, whatever the norm; 0 or infinite where there is nothing to draw."""


def draw_forecasts(prospects: Sequence[Prospect], *, title: str, norm: float | None = None) -> Figure:
    """Measurements against norms, both logarithmic, one line for each prospect, with its lower bound below it.

    ``norm`` is that of the guess: smaller ones are contradicted by it.
    """
    if not prospects:
        raise InputError("prospects", "empty", "give at least one")
    prospects = [_checked(f"prospects[{at}]", each) for at, each in enumerate(prospects)]
    if norm is not None:
        norm = as_number("norm", norm, above=0.0)
    figure = Figure(figsize=(7.5, 4.8), layout="constrained")
    axes = figure.subplots()
    axes.grid(color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    for at, each in enumerate(prospects):
        _draw(axes, each, LOOKS[at % len(LOOKS)])
    if norm is not None:
        axes.axvline(norm, linestyle=SOLID, **RULE)
    _scale(axes, prospects, norm)
    _legend(figure, prospects, norm)
    figure.suptitle(title, fontsize=12, parse_math=False)
    return figure


def _checked(field: str, prospect: Prospect) -> Prospect:
    norms = as_floats(f"{field}.norms", prospect.norms)
    as_positive(f"{field}.norms", norms, shape=(norms.size,))
    if norms.size == 0 or (np.diff(norms) <= 0).any():
        raise InputError(f"{field}.norms", "empty or not increasing", "give norms in order")
    counts = as_floats(f"{field}.measurements", prospect.measurements)
    if counts.shape != norms.shape or not (counts >= 0).all():
        raise InputError(f"{field}.measurements", "not one number >= 0 for each norm", f"give shape ({norms.size},)")
    if np.shape(prospect.beyond) != norms.shape:
        raise InputError(f"{field}.beyond", f"of shape {np.shape(prospect.beyond)}", f"give shape ({norms.size},)")
    return prospect


def _draw(axes: Axes, prospect: Prospect, style: Style) -> None:
    """The forecast, an arrow where it takes more than that, and the lower bound thinly with open markers."""
    counted = np.isfinite(prospect.measurements) & (prospect.measurements > 0)
    heights = np.where(counted & ~prospect.beyond, prospect.measurements, np.nan)
    axes.plot(prospect.norms, heights, label=prospect.label, zorder=3, **style.line())
    above = counted & prospect.beyond
    axes.plot(
        prospect.norms[above],
        prospect.measurements[above],
        linestyle="none",
        marker=r"$\uparrow$",
        markersize=11,
        color=style.color,
        label="_more",
    )
    if _drawn(prospect.lower):
        axes.plot(
            prospect.norms[[0, -1]],
            [prospect.lower] * 2,
            color=style.color,
            linestyle=LOWER,
            linewidth=1.1,
            marker=style.marker,
            markersize=SIZES.get(style.marker, 5.5),
            markerfacecolor="white",
            label="_lower",
        )


def _drawn(height: float) -> bool:
    return isfinite(height) and height > 0


def _scale(axes: Axes, prospects: Sequence[Prospect], norm: float | None) -> None:
    """Logarithmic axes with whole numbers on them."""
    norms = np.concatenate([each.norms for each in prospects] + ([] if norm is None else [np.array([norm])]))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(norms.min() / ROOM, norms.max() * ROOM)
    heights = [height for each in prospects for height in (*each.measurements, each.lower) if _drawn(height)] or [1.0]
    low, high = min(heights) / ROOM, max(heights) * ROOM
    axes.set_ylim(low, high)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    if high < SHORT * low:
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=9)
    axes.set_xlabel("norm that is assumed")
    axes.set_ylabel("measurements")


def _legend(figure: Figure, prospects: Sequence[Prospect], norm: float | None) -> None:
    handles = [Line2D([], [], label=each.label, **LOOKS[at % len(LOOKS)].line()) for at, each in enumerate(prospects)]
    if any(_drawn(each.lower) for each in prospects):
        open_: dict[str, Any] = {
            "color": "0.3",
            "markerfacecolor": "white",
            "marker": "o",
            "markersize": 5.5,
            "linewidth": 1.1,
        }
        handles.append(Line2D([], [], linestyle=LOWER, label="its lower bound", **open_))
    if any((each.beyond & np.isfinite(each.measurements)).any() for each in prospects):
        handles.append(Line2D([], [], linestyle="none", marker=r"$\uparrow$", color="0.3", label="more than that"))
    if norm is not None:
        handles.append(Line2D([], [], linestyle=SOLID, label="norm of the guess", **RULE))
    figure.legend(
        handles=handles, loc="outside right center", handlelength=4.4, fontsize=9, frameon=False, labelspacing=0.75
    )
