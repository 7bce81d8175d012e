"""Where the sea is deep enough: what several surveys say, where they are wrong, and how soon they got there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

from superlevel.arrays import Array, Indices, Mask
from superlevel.reproduce.drawing.curves import style_of

# From light to dark, so that they stay apart in grey print; what is mislabelled is darkest.
FACES = {"shallow": "#e9f2fa", "land": "#c9c5bd", "deep": "#6497c8", "mislabelled": "#8c0018"}
SHALLOW, LAND, DEEP, WRONG = range(4)
PING: dict[str, Any] = {"linestyle": "none", "marker": "o", "mfc": "white", "mec": "black"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Chart:
    """The truth."""

    longitude: Array
    """(columns,) degrees east."""
    latitude: Array
    """(rows,) degrees north."""
    depth: Array
    """(rows, columns) metres, not positive on land."""
    level: float
    """What counts as deep, in metres."""

    @property
    def wet(self) -> Mask:
        """(rows, columns)"""
        return np.asarray(self.depth > 0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Panel:
    """What one survey says."""

    label: str
    """The method, as in ``STYLES``."""
    detail: str
    """What else there is to say in a line."""
    deep: Mask
    """(rows, columns) what it takes for deep; on land it does not matter."""
    pings: Array
    """(N, 2) longitude and latitude."""
    counts: Indices
    """(k,) numbers of pings,"""
    mislabelled: Indices
    """(k,) and how many cells were mislabelled then."""


def kinds(chart: Chart, panel: Panel) -> Indices:
    """(rows, columns) what is drawn: the side that the survey takes, unless that is wrong, or it is land."""
    found = np.where(panel.deep, DEEP, SHALLOW)
    found[panel.deep != (chart.depth >= chart.level)] = WRONG
    found[~chart.wet] = LAND
    return found


def draw_sea(chart: Chart, panels: Sequence[Panel], *, pilot: int, title: str, caption: str) -> Figure:
    """A map for each survey, and below them their curves, what the colours mean, and a caption.

    ``pilot`` pings are the same for all.
    """
    figure = Figure(figsize=(13.0, 7.4), layout="constrained")
    figure.suptitle(title, fontsize=13)
    maps, rest = figure.subfigures(2, 1, squeeze=False, height_ratios=[1.3, 1.0])[:, 0]
    for axes, panel in zip(maps.subplots(1, len(panels), sharey=True, squeeze=False)[0], panels, strict=True):
        _draw_map(axes, chart, panel)
    curves, words = rest.subfigures(1, 2, squeeze=False, width_ratios=[1.5, 1.0])[0]
    _draw_curves(curves.subplots(), panels, pilot)
    words.legend(handles=_handles(chart), loc="upper left", bbox_to_anchor=(0.0, 1.0), ncols=3, frameon=False)
    words.text(0.02, 0.74, caption, fontsize=9, va="top", linespacing=1.45)
    return figure


def _draw_map(axes: Axes, chart: Chart, panel: Panel) -> None:
    drawn = kinds(chart, panel)
    cells = axes.pcolormesh(
        chart.longitude,
        chart.latitude,
        drawn,
        cmap=ListedColormap(list(FACES.values())),
        vmin=SHALLOW - 0.5,
        vmax=WRONG + 0.5,
        shading="nearest",
        rasterized=True,  # thousands of squares would show their seams in a PDF
    )
    cells.set_label("cells")
    axes.contour(chart.longitude, chart.latitude, chart.depth, levels=[chart.level], colors="black", linewidths=0.7)
    axes.plot(*panel.pings.T, markersize=2.6, mew=0.5, label="pings", **PING)
    wrong, sea = int((drawn == WRONG).sum()), int(chart.wet.sum())
    axes.set_title(f"{panel.label}: {wrong:,} of {sea:,} cells mislabelled", fontsize=11, pad=20)
    axes.annotate(panel.detail, (0.5, 1), (0, 7), "axes fraction", "offset points", ha="center", fontsize=9)
    axes.set_aspect(1 / np.cos(np.radians(chart.latitude.mean())))
    axes.xaxis.set_major_locator(MultipleLocator(1))
    axes.yaxis.set_major_locator(MultipleLocator(0.5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _degrees(x, "E", "W")))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: _degrees(y, "N", "S")))
    axes.tick_params(labelsize=9)
    axes.set_xlabel("longitude")
    if axes.get_subplotspec().is_first_col():  # type: ignore[union-attr]
        axes.set_ylabel("latitude")


def _degrees(angle: float, positive: str, negative: str) -> str:
    return f"{abs(angle):g}° {positive if angle >= 0 else negative}"


def _draw_curves(axes: Axes, panels: Sequence[Panel], pilot: int) -> None:
    for panel in reversed(panels):  # the first one is what the figure is about, so it is on top
        axes.plot(panel.counts, panel.mislabelled, label=panel.label, **style_of(panel.label).line())
    axes.axvspan(0, pilot, color="0.95", zorder=0)
    axes.annotate("pilot", (pilot / 2, 0.03), xycoords=axes.get_xaxis_transform(), ha="center", fontsize=9, color="0.3")
    axes.grid(color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(labelsize=9)
    axes.set_xlabel("pings")
    axes.set_ylabel("mislabelled cells")
    axes.legend(reverse=True, frameon=False, handlelength=4.4)


def _handles(chart: Chart) -> list[Artist]:
    """What the colours mean."""
    patches = [Patch(facecolor=face, edgecolor="0.35", lw=0.6, label=kind) for kind, face in FACES.items()]
    line = Line2D([], [], color="black", lw=0.9, label=f"true {chart.level:g} m line")
    ping = Line2D([], [], markersize=4.0, mew=0.7, label="ping", **PING)
    return [*patches, line, ping]
