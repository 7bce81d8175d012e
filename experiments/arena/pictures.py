"""The pictures of docs/arena.md: curves relative to a reference, over all problems and by group.

Every contestant has a line of its own kind and a marker of its own, so that the pictures can be read in grey, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from superlevel.arrays import Array

LOOKS = tuple(range(10, 201, 10))
"""Numbers of measurements of the pictures; problems that end earlier leave the average there."""
STYLES: tuple[dict[str, Any], ...] = (
    {"color": "black", "linestyle": "-", "marker": "o", "linewidth": 2.4},
    {"color": "0.45", "linestyle": "-", "marker": "s"},
    {"color": "#0072b2", "linestyle": "--", "marker": "^"},
    {"color": "#d55e00", "linestyle": "-.", "marker": "v"},
    {"color": "#009e73", "linestyle": ":", "marker": "D"},
    {"color": "#cc79a7", "linestyle": (0, (6, 1, 1, 1, 1, 1)), "marker": "P"},
    {"color": "#e69f00", "linestyle": (0, (1, 1)), "marker": "X"},
    {"color": "#56b4e9", "linestyle": (0, (8, 3)), "marker": "*"},
)
NARROW, WIDE = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10), (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)
PER_CENT = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20)

Lines = Mapping[str, Mapping[str, Array]]
"""By contestant and problem: (looks,) numbers; a shorter curve is of a problem with fewer looks."""


def averaged(each: Mapping[str, Array], looks: int = len(LOOKS)) -> Array:
    """(looks,) the mean over the problems that go that far."""
    padded = np.full((len(each), looks), np.nan)
    for row, curve in zip(padded, each.values(), strict=True):
        row[: len(curve)] = curve[:looks]
    counts = np.isfinite(padded).sum(axis=0)
    return np.where(counts > 0, np.nansum(padded, axis=0) / np.maximum(counts, 1), np.nan)


def summary(ratios: Lines, declared: Lines, reference: str) -> Figure:
    """Left: mislabelled relative to the reference. Right: F1 of the declared set."""
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw(left, {name: np.exp(averaged(each)) for name, each in ratios.items()})
    left.set_yscale("log")
    _ticks(left)
    left.set_ylabel(f"mislabelled, relative to {reference}\n(geometric mean over the problems)")
    _draw(right, {name: averaged(each) for name, each in declared.items()})
    right.set_ylabel("F1 of the declared set\n(mean over the problems)")
    right.set_ylim(0, 1)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def by_group(ratios: Lines, groups: Mapping[str, Sequence[str]], reference: str) -> Figure:
    """A panel for each group of problems."""
    columns = 3
    rows = -(-len(groups) // columns)
    figure = Figure(figsize=(11, 3.4 * rows + 0.6), layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    for panel, (group, members) in zip(panels, groups.items(), strict=False):
        own = {name: {p: each[p] for p in members if p in each} for name, each in ratios.items()}
        _draw(panel, {name: np.exp(averaged(each)) for name, each in own.items() if each})
        panel.set_yscale("log")
        _ticks(panel)
        panel.set_title(f"{group} ({len(members)})", fontsize=10)
    for panel in panels[len(groups) :]:
        panel.set_visible(False)
    figure.supylabel(f"mislabelled, relative to {reference}")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def promises(found: Mapping[str, tuple[float, float]], joined: Sequence[str]) -> Figure:
    """The share of wrong labels among the declared ones, and F1, of each contestant; some of ours are joined."""
    figure = Figure(figsize=(8.2, 5.2), layout="constrained")
    axes = figure.subplots()
    ours = np.array([found[name] for name in joined])
    axes.plot(100 * ours[1:, 0], ours[1:, 1], color="black", linewidth=1.2, zorder=1)
    for name, (wrong, f1) in found.items():
        own = name in joined
        axes.scatter(100 * wrong, f1, marker="o" if own else "s", color="black" if own else "0.55", s=42, zorder=2)
        beside: dict[str, Any] = {"xytext": (-8, 3), "ha": "right"} if own else {"xytext": (8, -4), "ha": "left"}
        axes.annotate(name, (100 * wrong, f1), textcoords="offset points", fontsize=9, **beside)
    axes.axvline(1.0, color="0.6", linestyle=":", linewidth=1.2)
    axes.annotate(
        "promised: 1 %", (1.0, 0.02), xycoords=("data", "axes fraction"), xytext=(3, 0), textcoords="offset points"
    )
    axes.set_xscale("log")
    axes.set_xticks(PER_CENT, [f"{tick:g}" for tick in PER_CENT])
    axes.set_xticks([], minor=True)
    shares = [100 * wrong for wrong, _ in found.values()]
    axes.set_xlim(0.4 * min(shares), 3.2 * max(shares))
    axes.set_xlabel("wrong among declared points, in % (mean over the columns)")
    axes.set_ylabel("F1 of the declared set (mean over the columns)")
    axes.grid(color="0.92")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure


def _draw(axes: Axes, lines: Mapping[str, Array]) -> None:
    for (name, curve), style in zip(lines.items(), cycle(STYLES)):
        axes.plot(LOOKS, curve, label=name, markevery=3, markersize=5, **{"linewidth": 1.3, **style})
    axes.set_xlabel("measurements")
    axes.grid(color="0.9")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _ticks(axes: Axes) -> None:
    """Ratios are read as 0.5 and 2, not as powers of ten."""
    low, high = axes.get_ylim()
    shown = WIDE if high > 20 * low else NARROW
    kept = [tick for tick in shown if low <= tick <= high]
    axes.set_yticks(kept, [f"{tick:g}" for tick in kept])
    axes.set_yticks([], minor=True)
