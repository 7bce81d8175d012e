"""Scores against the number of measurements, drawn: the same style for the same method in every figure."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from superlevel.arrays import Array, Indices, as_count, as_floats, as_number, as_vector
from superlevel.errors import InputError
from superlevel.report.styles import (
    BLACK,
    BLUE,
    DASHDOT,
    DASHDOTDOT,
    DASHED,
    DOTTED,
    GREEN,
    GREY,
    LONG,
    NAVY,
    ORANGE,
    PURPLE,
    RULE,
    SOLID,
    THICK,
    VERMILION,
    LineStyle,
    Style,
)

PLACES = 11  # markers and error bars of a curve: enough to tell it by, few enough to see the others
GOLDEN = 0.5 * (5**0.5 - 1)  # consecutive multiples are far apart modulo 1


STYLES: dict[str, Style] = {
    "MELK": Style(BLACK, SOLID, "o", THICK),
    "MELK, average": Style(BLACK, DASHED, "s", THICK, filled=False),
    "MELK, greedy": Style(BLACK, DOTTED, "^", THICK, filled=False),
    "MELK, tight": Style(BLACK, LONG, "D", THICK, filled=False),
    "MELK, experiments": Style(BLACK, DASHDOTDOT, "o", THICK),
    "MELK, equal steps": Style(BLACK, DOTTED, "v", THICK),
    "MELK, batches": Style(BLACK, DASHDOT, "p", THICK, filled=False),
    "MILK": Style(NAVY, SOLID, "s", THICK),
    "MILK, average": Style(NAVY, DASHED, "o", THICK, filled=False),
    "MILK, greedy": Style(NAVY, DOTTED, "v", THICK, filled=False),
    "MILK, tight": Style(NAVY, LONG, "p", THICK, filled=False),
    "MILK, experiments": Style(NAVY, DASHDOTDOT, "s", THICK),
    "MILK, equal steps": Style(NAVY, DOTTED, "^", THICK),
    "MILK, batches": Style(NAVY, DASHDOT, "D", THICK, filled=False),
    "TruVar": Style(BLUE, LONG, "D"),
    "LSE": Style(VERMILION, SOLID, "v"),
    "LSE, rank 2": Style(VERMILION, DASHED, "<", filled=False),
    "LSE, d log t": Style(VERMILION, DOTTED, "s", filled=False),
    "LSE-imp, d log t": Style(VERMILION, LONG, "s", filled=False),
    "LSE, posterior": Style(VERMILION, DASHDOT, "v", filled=False),
    "LSE-imp": Style(VERMILION, DASHDOTDOT, "^"),
    "LSE-imp, rank 2": Style(VERMILION, DOTTED, ">", filled=False),
    "LSE-imp, posterior": Style(VERMILION, LONG, "^", filled=False),
    "Straddle": Style(GREEN, DASHDOT, ">"),
    "RMILE": Style(PURPLE, DASHED, "P"),
    "max. variance": Style(ORANGE, SOLID, "*"),
    "uniform": Style(GREY, DASHDOTDOT, "x", filled=False),
}

OTHER_COLORS = ("#7f4f24", "#5e4b8b", "#5f8f2f", "#8c2d5a")
OTHER_LINES: tuple[LineStyle, ...] = (SOLID, DASHED, DOTTED, LONG, DASHDOT)
OTHER_MARKERS = "d8HX*P"

RULES: tuple[LineStyle, ...] = ((0.0, (2.0, 2.0)), SOLID, (0.0, (7.0, 3.0)), (0.0, (1.0, 3.0)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """One method on one problem."""

    label: str
    """The method, as in ``STYLES``."""
    samples: Array
    """(k,) numbers of measurements, increasing."""
    mean: Array
    """(k,) mean score of the runs."""
    error: Array
    """(k,) its standard error, 0 for one run."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Panel:
    """The methods on one problem."""

    title: str
    curves: Sequence[Curve]
    lines: Sequence[tuple[str, float]] = ()
    """Vertical lines: what is there, and at how many measurements."""


def style_of(label: str) -> Style:
    """The method's style; for one that is not in the table, the same one in every run."""
    if label in STYLES:
        return STYLES[label]
    rest, color = divmod(zlib.crc32(label.encode()), len(OTHER_COLORS))
    rest, line = divmod(rest, len(OTHER_LINES))
    return Style(OTHER_COLORS[color], OTHER_LINES[line], OTHER_MARKERS[rest % len(OTHER_MARKERS)], filled=False)


def draw_panels(panels: Sequence[Panel], *, columns: int, title: str, ylabel: str, logarithmic: bool = False) -> Figure:
    """One plot for each panel, ``columns`` in a row and with the same axes, under one legend for all of them.

    A curve goes through all its means; about ``PLACES`` of them have a marker and a bar of one standard error to either
    side, at places that differ from method to method.
    """
    if not panels:
        raise InputError("panels", "empty", "give at least one panel")
    columns = min(as_count("columns", columns), len(panels))
    panels = [_checked(f"panels[{at}]", panel, logarithmic) for at, panel in enumerate(panels)]
    labels = list(dict.fromkeys(curve.label for panel in panels for curve in panel.curves))
    named = dict.fromkeys(label for panel in panels for label, _ in panel.lines)
    lines = {label: RULES[at % len(RULES)] for at, label in enumerate(named)}
    offsets = _offsets(labels)
    figure, plots = _grid(len(panels), columns)
    for axes, panel in zip(plots, panels, strict=True):
        axes.set_title(panel.title, fontsize=10)
        axes.grid(color="0.92", linewidth=0.6)
        axes.set_axisbelow(True)
        for curve in panel.curves:
            _draw(axes, curve, offset=offsets[curve.label], logarithmic=logarithmic)
        for label, samples in panel.lines:
            axes.axvline(samples, linestyle=lines[label], **RULE)
    _limit(plots[0], panels, logarithmic)
    _name(plots, columns, ylabel)
    _legend(figure, labels, lines, bars=any(curve.error.any() for panel in panels for curve in panel.curves))
    figure.suptitle(title, fontsize=12)
    return figure


def _checked(field: str, panel: Panel, logarithmic: bool) -> Panel:
    if not panel.curves:
        raise InputError(f"{field}.curves", "empty", "give at least one curve")
    for label, samples in panel.lines:
        as_number(
            f"{field}.lines, {label},",
            samples,
            above=0.0 if logarithmic else None,
            at_least=None if logarithmic else 0.0,
        )
    curves = [_checked_curve(f"{field}.curves[{at}]", curve, logarithmic) for at, curve in enumerate(panel.curves)]
    return replace(panel, curves=curves)


def _checked_curve(field: str, curve: Curve, logarithmic: bool) -> Curve:
    length = as_floats(f"{field}.samples", curve.samples).size
    samples = as_vector(f"{field}.samples", curve.samples, length=length)
    if length == 0 or (np.diff(samples) <= 0).any():
        raise InputError(f"{field}.samples", "empty or not increasing", "give numbers of measurements in order")
    as_number(
        f"{field}.samples[0]", samples[0], above=0.0 if logarithmic else None, at_least=None if logarithmic else 0.0
    )
    mean = as_vector(f"{field}.mean", curve.mean, length=length)
    error = as_vector(f"{field}.error", curve.error, length=length)
    as_number(f"{field}.error, its smallest,", error.min(), at_least=0.0)
    return replace(curve, samples=samples, mean=mean, error=error)


def _grid(count: int, columns: int) -> tuple[Figure, list[Axes]]:
    rows = ceil(count / columns)
    size = (7.5, 4.8) if count == 1 else (max(7.5, 10 / 3 * columns), 2.55 * rows + 1.35)
    figure = Figure(figsize=size, layout="constrained")
    plots = list(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat)
    for axes in plots[count:]:
        axes.remove()
    return figure, plots[:count]


def _draw(axes: Axes, curve: Curve, *, offset: float, logarithmic: bool) -> None:
    style = style_of(curve.label)
    at = _places(np.log(curve.samples) if logarithmic else curve.samples, offset)
    front = 2 + style.width / 10  # the thick lines are what the figure is about
    axes.plot(curve.samples, curve.mean, markevery=at.tolist(), label=curve.label, zorder=front, **style.line())
    axes.errorbar(
        curve.samples[at],
        curve.mean[at],
        yerr=curve.error[at],
        fmt="none",
        ecolor=style.color,
        elinewidth=0.9,
        capsize=2.0,
        zorder=front - 0.05,
    )


def _offsets(labels: Sequence[str]) -> dict[str, float]:
    """Even fractions of a step, not in order: methods that follow each other are mostly alike in score, too."""
    ranks = np.argsort(np.argsort(GOLDEN * np.arange(len(labels)) % 1.0))
    return dict(zip(labels, ((ranks + 0.5) / len(labels)).tolist(), strict=True))


def _places(positions: Array, offset: float) -> Indices:
    """The points nearest to ``PLACES`` even steps along the axis, from ``offset`` (0 to 1) of a step; all if few."""
    if len(positions) <= PLACES:
        return np.arange(len(positions))
    wanted = positions[0] + (positions[-1] - positions[0]) * (np.arange(PLACES) + offset) / PLACES
    return np.unique(np.abs(positions[:, None] - wanted).argmin(axis=0))


def _limit(axes: Axes, panels: Sequence[Panel], logarithmic: bool) -> None:
    """The limits of all plots, which share them."""
    curves = [curve for panel in panels for curve in panel.curves]
    ends = [end for curve in curves for end in (curve.samples.min(), curve.samples.max())]
    ends += [samples for panel in panels for _, samples in panel.lines]
    if logarithmic:
        axes.set_xscale("log")
        axes.set_xlim(min(ends) / 1.05, max(ends) * 1.08)
    else:
        axes.set_xlim(0.0, 1.02 * (max(ends) or 1.0))
    means = np.concatenate([curve.mean for curve in curves])
    if means.min() >= 0.0:
        axes.set_ylim(0.0, 1.02 if means.max() <= 1.0 else None)


def _name(plots: Sequence[Axes], columns: int, ylabel: str) -> None:
    for at, axes in enumerate(plots):
        axes.tick_params(labelsize=9)
        if at % columns == 0:
            axes.set_ylabel(ylabel)
        if at + columns >= len(plots):  # nothing below it, be it the last row or not
            axes.set_xlabel("measurements")
            axes.tick_params(labelbottom=True)


def _legend(figure: Figure, labels: Sequence[str], lines: dict[str, LineStyle], *, bars: bool) -> None:
    handles = [Line2D([], [], label=label, **style_of(label).line()) for label in labels]
    handles += [Line2D([], [], label=label, linestyle=style, **RULE) for label, style in lines.items()]
    alone = len(figure.axes) == 1
    figure.legend(
        handles=handles,
        loc="outside right center" if alone else "outside lower center",
        ncols=1 if alone else min(len(handles), int(figure.get_figwidth() / 1.9)),
        title="bars: ± one standard error" if bars else None,
        title_fontsize=8,
        handlelength=4.4,
        fontsize=9,
        frameon=False,
    )
