"""Whether predictions were right, as a part of a page: sentences, and a panel for each level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MultipleLocator, PercentFormatter

from superlevel.report.markup import picture, section, several, text
from superlevel.report.reliability import BINS, COVERAGE, ENOUGH, Bin, Reliability
from superlevel.report.styles import BLACK, DASHED

HEADING = "Were the predictions right?"
ACROSS = 3  # panels beside each other, at most
PANEL = (3.9, 3.9)  # width and height of a panel with its labels, in inches
LEGEND = 0.6  # height of the legend
REM = 7.2  # width on the page for an inch of the figure
SMALL, LARGE = 3.5, 8.5  # sizes of markers
MANY = 50  # measurements of the largest marker

INSIDE = f"{100 * COVERAGE:g} % interval"
DIAGONAL: dict[str, Any] = {"color": "0.5", "linewidth": 1.2, "linestyle": DASHED, "zorder": 1}
INTERVAL: dict[str, Any] = {"color": BLACK, "linewidth": 1.0, "zorder": 2}
SHARE: dict[str, Any] = {"marker": "o", "markeredgecolor": BLACK, "markeredgewidth": 1.2, "clip_on": False}


def reliability_section(found: Sequence[Reliability]) -> str:
    """Sentences and a figure; empty if too few measurements were predicted."""
    if not found or found[0].measurements < ENOUGH:
        return ""
    lines, figure = sentences(found), draw_reliability(found)
    told = "\n".join(f"<p>{text(line)}</p>" for line in lines)
    drawn = picture(figure, alt=" ".join(lines), mark="r")
    width = f"max-width: {REM * figure.get_figwidth():.0f}rem"
    return section(HEADING, f'{told}\n<figure class="drawn" style="{width}">{drawn}</figure>')


def sentences(found: Sequence[Reliability]) -> tuple[str, ...]:
    """How many measurements were predicted, what one point of the figure says, and how many points are as predicted.

    Of several levels, the first is the example.
    """
    first, example = found[0], found[0].largest
    level = f"the level {first.level:g}" if len(found) > 1 else "the level"
    groups, agreeing = sum(len(each.bins) for each in found), sum(each.agreeing for each in found)
    return (
        f"{several(first.measurements, 'measurement')} were predicted before they were made.",
        f"Of the {example.measurements:,} that were predicted to be above {level} with a probability between "
        f"{100 * example.low:.0f} and {100 * example.high:.0f} %, {100 * example.share:.3g} % were above it.",
        f"In {agreeing} of {several(groups, 'group')}, the {INSIDE} of the measured share contains the mean of the "
        "predictions.",
    )


def draw_reliability(found: Sequence[Reliability]) -> Figure:
    """A panel for each level: the share of measurements above it against the probability that was predicted."""
    rows = math.ceil(len(found) / ACROSS)
    columns = math.ceil(len(found) / rows)
    figure = Figure(figsize=(columns * PANEL[0], rows * PANEL[1] + LEGEND), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    for at, axes in enumerate(panels.flat):
        if at < len(found):
            _draw(axes, found[at], named=len(found) > 1)
        else:
            axes.remove()
    _legend(figure, found)
    return figure


def _draw(axes: Axes, found: Reliability, *, named: bool) -> None:
    """Points with their intervals, the diagonal, and the number of measurements of each point along the top."""
    axes.axline((0.0, 0.0), slope=1.0, **DIAGONAL)
    for each in found.bins:
        axes.plot([each.forecast] * 2, each.interval, marker="_", markersize=5.0, label="interval", **INTERVAL)
        axes.plot([each.forecast], [each.share], markersize=_size(each), zorder=3, label="share", **_look(each.agrees))
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MultipleLocator(0.2))
        axis.set_minor_locator(MultipleLocator(1 / BINS))
        axis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    axes.grid(which="both", axis="x", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=9)
    axes.set_xlabel("predicted probability of a value above the level", fontsize=9)
    axes.set_ylabel("share of the measurements above the level", fontsize=9)
    counts = axes.secondary_xaxis("top")
    counts.set_xticks([0.5 * (each.low + each.high) for each in found.bins])
    counts.set_xticklabels([f"{each.measurements:,}" for each in found.bins])
    counts.tick_params(length=0, labelsize=8, pad=2)
    counts.set_xlabel("number of measurements", fontsize=9)
    if named:
        axes.set_title(f"level {found.level:g}", fontsize=11)


def _look(agrees: bool) -> dict[str, Any]:
    """The marker of a share is open if the interval excludes the prediction."""
    return {**SHARE, "linestyle": "none", "markerfacecolor": BLACK if agrees else "white"}


def _size(each: Bin) -> float:
    """The area of a marker grows with its measurements."""
    return max(SMALL, LARGE * math.sqrt(min(1.0, each.measurements / MANY)))


def _legend(figure: Figure, found: Sequence[Reliability]) -> None:
    words = {True: f"measured share, with its {INSIDE}"}
    if any(level.agreeing < len(level.bins) for level in found):
        words[False] = "the same, if the interval excludes the prediction"
    handles = [
        Line2D([], [], **{**_look(agrees), **INTERVAL, "linestyle": "-"}, markersize=6.0, label=label)
        for agrees, label in words.items()
    ]
    handles.append(Line2D([], [], label="where right predictions are", **DIAGONAL))
    figure.legend(handles=handles, loc="outside lower center", fontsize=9, frameon=False, labelspacing=0.5)
