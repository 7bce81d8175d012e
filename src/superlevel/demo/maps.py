"""A survey on one slide: how likely each cell is above the level, what is declared, and how much of that is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MultipleLocator

from superlevel.arrays import Array, Indices, Labels
from superlevel.goals import ABOVE, BELOW, UNDECIDED

# From light to dark, so that they stay apart in grey print; wrong cells are darkest.
FACES = {"not declared": "#ffffff", "declared below": "#dcd6c3", "declared above": "#7fa6cc", "wrong": "#8c0018"}
NONE, LOW, HIGH, WRONG = range(4)
SHADES = LinearSegmentedColormap.from_list("chances", ["#ffffff", "#c3d4e5", "#5b8bbb"])  # black lines stay visible
PLACE: dict[str, Any] = {"linestyle": "none", "marker": "o", "mfc": "white", "mec": "black", "mew": 0.6}
TEXT, HEADING = 10, 12  # points
PERCENT = FuncFormatter(lambda share, _: f"{100 * share:.0f} %")


@dataclass(frozen=True, kw_only=True, eq=False)
class Chart:
    """What the maps show."""

    east: Array
    """(columns,) kilometres."""
    north: Array
    """(rows,) kilometres."""
    elevation: Array
    """(rows, columns) metres: the truth."""
    level: float
    """Metres."""
    chance: Array
    """(rows, columns) probability of being above the level."""
    labels: Labels
    """(rows, columns) +1 declared above, -1 declared below, 0 not declared."""
    places: Array
    """(N, 2) kilometres east and north of the measurements."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A share of some cells."""

    name: str
    share: float
    bound: bool = False
    """Whether the share is an upper bound."""

    @property
    def text(self) -> str:
        """The share as it is written beside the bar; a bound is rounded up."""
        if self.bound:
            return f"at most {math.ceil(1000 * self.share - 1e-9) / 10:.1f} %"
        return f"{100 * self.share:.1f} %"


def kinds(chart: Chart) -> Indices:
    """(rows, columns) what is declared of each cell, unless that is wrong."""
    found = np.select([chart.labels == ABOVE, chart.labels == BELOW], [HIGH, LOW], NONE)
    above = chart.elevation > chart.level
    found[(found == HIGH) & ~above] = WRONG
    found[(found == LOW) & above] = WRONG
    return found


def draw_survey(chart: Chart, bars: Mapping[str, Sequence[Bar]], *, title: str) -> Figure:
    """Two maps and groups of bars, each under its heading."""
    figure = Figure(figsize=(13.0, 5.6))
    figure.suptitle(title, fontsize=13, fontweight="bold", y=0.97)
    _draw_chances(figure.add_axes((0.045, 0.2, 0.285, 0.66)), figure.add_axes((0.065, 0.085, 0.235, 0.02)), chart)
    _draw_declared(figure.add_axes((0.37, 0.2, 0.285, 0.66)), chart)
    declared = Bar(name="", share=float((chart.labels != UNDECIDED).mean()))
    _draw_bars(figure.add_axes((0.7, 0.735, 0.285, 0.125)), "Share of the map that is declared", [declared], 1.0)
    longest = max(bar.share for group in bars.values() for bar in group)
    for row, (heading, group) in enumerate(bars.items()):
        _draw_bars(figure.add_axes((0.7, 0.39 - 0.34 * row, 0.285, 0.26)), heading, group, longest)
    return figure


def _draw_chances(axes: Axes, scale: Axes, chart: Chart) -> None:
    cells = axes.pcolormesh(
        chart.east, chart.north, chart.chance, cmap=SHADES, vmin=0, vmax=1, shading="nearest", rasterized=True
    )
    axes.plot(*chart.places.T, markersize=3.0, label="measured", **PLACE)
    axes.figure.colorbar(cells, cax=scale, orientation="horizontal", ticks=[0, 0.5, 1])
    scale.xaxis.set_major_formatter(PERCENT)
    scale.tick_params(labelsize=TEXT)
    axes.set_title(f"Probability of being above {chart.level:g} m", fontsize=HEADING)
    axes.set_ylabel("km north", fontsize=TEXT)
    _frame(axes, chart)


def _draw_declared(axes: Axes, chart: Chart) -> None:
    axes.pcolormesh(
        chart.east,
        chart.north,
        kinds(chart),
        cmap=ListedColormap(list(FACES.values())),
        vmin=NONE - 0.5,
        vmax=WRONG + 0.5,
        shading="nearest",
        rasterized=True,  # thousands of squares would show their seams in a PDF
    )
    count = int((chart.labels != UNDECIDED).sum())
    axes.set_title(f"Declared: {count:,} of {chart.labels.size:,} cells", fontsize=HEADING)
    axes.legend(
        handles=_handles(chart),
        loc="upper center",
        bbox_to_anchor=(0.51, -0.12),
        ncols=3,
        frameon=False,
        fontsize=TEXT,
        columnspacing=1.0,
        handlelength=1.6,
    )
    axes.tick_params(labelleft=False)
    _frame(axes, chart)


def _frame(axes: Axes, chart: Chart) -> None:
    axes.contour(chart.east, chart.north, chart.elevation, levels=[chart.level], colors="black", linewidths=1.0)
    axes.set_aspect("equal")
    axes.xaxis.set_major_locator(MultipleLocator(10))
    axes.yaxis.set_major_locator(MultipleLocator(10))
    axes.tick_params(labelsize=TEXT)
    axes.set_xlabel("km east", fontsize=TEXT)


def _draw_bars(axes: Axes, heading: str, bars: Sequence[Bar], longest: float) -> None:
    """Horizontal bars from the top down; a share of ``longest`` takes half of the width."""
    for row, bar in enumerate(bars):
        look: dict[str, Any] = {"facecolor": "white", "hatch": "////"} if bar.bound else {"facecolor": "0.25"}
        axes.barh(row, bar.share, height=0.4, edgecolor="black", lw=0.8, label=bar.name, **look)
        axes.annotate(bar.name, (0.0, row), (4, 13), textcoords="offset points", fontsize=TEXT)
        axes.annotate(
            bar.text, (bar.share, row), (6, 0), textcoords="offset points", fontsize=12, fontweight="bold", va="center"
        )
    axes.set_title(heading, fontsize=HEADING, loc="left")
    axes.set_xlim(0, 1.7 * longest)  # room for the text beside the longest
    axes.set_ylim(len(bars) - 0.65, -0.75)
    axes.set_xticks([])  # every bar has its number
    axes.set_yticks([])
    axes.spines[["top", "right", "bottom"]].set_visible(False)


def _handles(chart: Chart) -> list[Artist]:
    """What the colours and the marks mean."""
    patches = [Patch(facecolor=face, edgecolor="0.35", lw=0.6, label=kind) for kind, face in FACES.items()]
    line = Line2D([], [], color="black", lw=1.0, label=f"true {chart.level:g} m line")
    place = Line2D([], [], markersize=4.5, label="measured", **PLACE)
    return [*patches, line, place]
