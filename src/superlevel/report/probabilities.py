"""The probability of being above each level, drawn: a map of two coordinates, a curve along one, dots for more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import QuadMesh
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MultipleLocator, PercentFormatter
from matplotlib.tri import Triangulation

from superlevel.arrays import Array, Indices, Labels, Mask
from superlevel.errors import InputError
from superlevel.goals import ABOVE
from superlevel.goals.explicit import in_words
from superlevel.report.campaign import WORDS, Campaign
from superlevel.report.cells import rectangles, ticks
from superlevel.report.classes import among, of_labels
from superlevel.report.drawing import (
    DOT,
    MEASURED,
    RANKED,
    SQUARE,
    WIDTH,
    as_line,
    as_mark,
    draw_elsewhere,
    fit,
    frame_map,
    mark_axes,
    name_axes,
)
from superlevel.report.markup import picture, text
from superlevel.report.planes import Plane, as_plane
from superlevel.report.shading import DARK, EDGES, HOLES, SHADES
from superlevel.report.surfaces import UNIT, Surface, fill

ACROSS = 3  # maps beside each other, at most
WIDTHS = {1: WIDTH, 2: 3.7, 3: 2.9}  # of a map, in inches, by how many are beside each other
HEIGHTS = {1: 3.2, 2: 2.3}  # of a curve, in inches, by how many there are; of more it is that of two
LONGEST = 3.0  # sides of triangles, over their median, across which the line of scattered points is drawn

LINE: dict[str, Any] = {"colors": "black", "linewidths": 1.3}
HALO = [withStroke(linewidth=3.0, foreground="white")]
RULE: dict[str, Any] = {"color": "black", "linewidth": 1.1, "linestyle": (0, (5, 2))}
STRIP = (-0.17, -0.09)  # where labels are below a curve
TICK = -0.045  # where measured points are


@dataclass(frozen=True, kw_only=True, eq=False)
class _Panel:
    """What is drawn of one level."""

    level: str
    chances: Array
    """(n,) the probability of being above it."""
    labels: Labels
    """(n,)"""

    def declared(self, label: int) -> Mask:
        """(n,) which points have a label."""
        return np.asarray(self.labels == label)


def probability_figure(campaign: Campaign) -> str:
    """The figure and its sentence as a part of a page; empty if there is no model of f."""
    if campaign.chances is None:
        return ""
    told = sentence(campaign)
    drawn = picture(draw_probabilities(campaign), alt=told, mark="p")
    return f'<figure class="drawn">{drawn}\n<figcaption>{text(told)}</figcaption></figure>'


def sentence(campaign: Campaign) -> str:
    """What the figure shows, and how many points are expected to be on the other side than their likelier one."""
    levels = in_words(campaign.levels)
    listed = levels[0] if len(levels) == 1 else f"each of the levels {', '.join(levels[:-1])} and {levels[-1]}"
    told = f"The probability of being above {listed} at every point, decided or not"
    if campaign.doubtful is None:
        return f"{told}."
    where = (
        "on the other side than their likelier one" if len(levels) == 1 else "in another class than their likelier one"
    )
    return f"{told}; {campaign.doubtful.sum():.1f} of {len(campaign.points):,} points are expected to be {where}."


def draw_probabilities(campaign: Campaign) -> Figure:
    """A panel for each level, in the plot that suits the number of coordinates; the campaign must have chances."""
    if campaign.chances is None:
        raise InputError("campaign.chances", None, "draw probabilities only if there is a model of f")
    rows = np.atleast_2d(campaign.labels)
    panels = [
        _Panel(level=level, chances=chances, labels=labels)
        for level, chances, labels in zip(in_words(campaign.levels), campaign.chances, rows, strict=True)
    ]
    return _draw_maps(campaign, panels) if campaign.points.shape[1] == 2 else _draw_curves(campaign, panels)


# --- two coordinates


def _draw_maps(campaign: Campaign, panels: Sequence[_Panel]) -> Figure:
    rows = math.ceil(len(panels) / ACROSS)
    columns = math.ceil(len(panels) / rows)
    width = WIDTHS[columns]
    plane = as_plane(campaign.positions, campaign.ground, width=width)
    height = rows * width * plane.tallness
    figure = Figure(figsize=(columns * width + 1.9, height + 0.6 * rows + 1.0), layout="constrained")
    every = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for spare in every.flat[len(panels) :]:
        spare.remove()
    maps = list(every.flat[: len(panels)])
    dot = float(np.clip((0.3 * plane.spacing(width)) ** 2, 3.0, 9.0))
    crossed, note = False, ""
    for at, (axes, panel) in enumerate(zip(maps, panels, strict=True)):
        note = plane.surface.shade(axes, panel.chances, panel.labels)
        crossed |= _draw_over(axes, plane, panel, campaign, dot=dot)
        frame_map(axes, plane, campaign.positions)
        lowest = at + columns >= len(panels)
        names = (campaign.names[0] if lowest else "", campaign.names[1] if at % columns == 0 else "")
        name_axes(axes, *names, across=_letters(width), up=_letters(width * plane.tallness))
        mark_axes((axes.xaxis, axes.yaxis), campaign)
        axes.tick_params(labelbottom=lowest)
        if len(panels) > 1:
            axes.set_title(f"above {panel.level}", fontsize=10.5)
    bar = figure.colorbar(ScalarMappable(UNIT, SHADES), ax=maps, aspect=28, pad=0.02)
    for mesh in bar.ax.findobj(QuadMesh):
        mesh.set(rasterized=False, edgecolor="face")  # drawn like all else: an SVG would hold it as an image
    bar.ax.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    bar.set_ticks([0.0, 0.25, 0.5, 0.75, 1.0] if height > 1.5 else [0.0, 0.5, 1.0])
    bar.ax.tick_params(labelsize=9)
    above = f"probability above {panels[0].level if len(panels) == 1 else 'the level'}"
    bar.set_label(as_line(above, _letters(height)))
    bar.ax.axhline(0.5, color="black", linewidth=1.3)
    handles = _map_handles(campaign, panels, plane, crossed=crossed)
    _finish(figure, campaign, panels, handles, columns=2 if columns == 1 else 4, note=note)
    if plane.alike:
        fit(figure, maps, plane, rows=rows)
    return figure


def _draw_over(axes: Axes, plane: Plane, panel: _Panel, campaign: Campaign, *, dot: float) -> bool:
    """The measured points and the line of 50 %; whether there is one."""
    measured = campaign.positions[campaign.counts > 0]
    if len(measured):
        first, second = measured.T
        axes.scatter(first, second, dot, MEASURED, label="measured", **DOT)
    draw_elsewhere(axes, campaign, campaign.beside)
    return _draw_half(axes, plane.surface, panel.chances, campaign.positions)


def _draw_half(axes: Axes, surface: Surface, chances: Array, points: Array) -> bool:
    """The line where the probability is 50 %; False if there is none, of which matplotlib would warn."""
    found: ContourSet
    nodes = surface.nodes(chances)
    if nodes is None:
        mesh = _triangles(points)
        if mesh is None or not _crosses(chances[mesh.points]):
            return False
        found = axes.tricontour(mesh.triangles, chances[mesh.points], [0.5], **LINE)
    else:
        if min(nodes.values.shape) < 2 or not _crosses(nodes.values):
            return False
        found = axes.contour(*nodes, [0.5], **LINE)
    found.set(path_effects=HALO, zorder=2.5, label="50 %")
    return True


def _crosses(values: Array) -> bool:
    """Whether there are probabilities on both sides of 50 %."""
    return bool(values.min() < 0.5 < values.max())


class _Mesh(NamedTuple):
    """Triangles between scattered points."""

    triangles: Triangulation
    points: Indices
    """Which points they are of, each place once."""


def _triangles(points: Array) -> _Mesh | None:
    """The triangles between neighbours, without those that cross a gap; None for points on one line."""
    places, first = np.unique(points, axis=0, return_index=True)
    extent = np.ptp(places, axis=0)
    scaled = (places - places.min(axis=0)) / np.where(extent > 0, extent, 1.0)
    if np.linalg.matrix_rank(scaled - scaled.mean(axis=0), tol=1e-6) < 2:
        return None
    corners = Triangulation(scaled[:, 0], scaled[:, 1]).triangles
    sides = scaled[corners] - scaled[np.roll(corners, 1, axis=1)]
    longest = np.linalg.norm(sides, axis=2).max(axis=1)
    kept = corners[longest <= LONGEST * np.median(longest)]
    return _Mesh(Triangulation(places[:, 0], places[:, 1], kept), first)


def _map_handles(campaign: Campaign, panels: Sequence[_Panel], plane: Plane, *, crossed: bool) -> list[Artist]:
    handles: list[Artist] = []
    if crossed:
        handles.append(Line2D([], [], color="black", linewidth=1.3, label="probability of 50 %"))
    for label, color in EDGES.items():
        count = sum(int(panel.declared(label).sum()) for panel in panels)
        if count:
            told = f"declared {WORDS[label]}" + f" ({count:,})" * (len(panels) == 1)
            handles.append(Patch(facecolor=SHADES(float(label == ABOVE)), edgecolor=color, linewidth=1.8, label=told))
    if (campaign.counts > 0).any():
        handles.append(as_mark("o", 9.0, MEASURED, DOT, label="measured"))
    if campaign.elsewhere is not None:
        handles.append(as_mark("s", 14.0, "none", SQUARE, label="measured elsewhere"))
    if plane.surface.holes:
        handles.append(Patch(label="no point", **(HOLES | {"linewidth": 0.6})))
    return handles


# --- one coordinate, and ranks


def _draw_curves(campaign: Campaign, panels: Sequence[_Panel]) -> Figure:
    """Curves below each other; of more coordinates than one, dots."""
    height = HEIGHTS[min(len(panels), 2)]
    figure = Figure(figsize=(WIDTH + 2.0, len(panels) * height + 1.3), layout="constrained")
    for axes, panel in zip(figure.subplots(len(panels), 1, squeeze=False)[:, 0], panels, strict=True):
        name = _draw_curve(axes, panel, campaign)
        name_axes(axes, name if panel is panels[-1] else "", f"probability above {panel.level}")
        axes.tick_params(labelbottom=panel is panels[-1])
    _finish(figure, campaign, panels, _curve_handles(campaign, panels), columns=3)
    return figure


def _draw_curve(axes: Axes, panel: _Panel, campaign: Campaign) -> str:
    """Probabilities, the line of 50 %, ticks where measured, and a strip of labels; what is along the axis."""
    if campaign.points.shape[1] == 1:
        chosen, at, sides = _along(campaign.positions[:, 0])
        axes.plot(at, panel.chances[chosen], "-" if len(at) > 1 else "o", color=DARK, lw=1.6, label="probability")
        name = campaign.names[0]
    else:
        chosen = _ranked(panel.chances)
        at = np.arange(1.0, len(chosen) + 1)
        sides = at[:, None] + [-0.5, 0.5]
        axes.scatter(at, panel.chances[chosen], 9.0, DARK, label="probability", zorder=3, clip_on=False)
        left = f": {len(chosen)} of {len(campaign.points):,}, nearest to 50 %"
        name = "points by probability" + left * (len(chosen) < len(campaign.points))
    axes.axhline(0.5, zorder=2, label="50 %", **RULE)
    measured = at[campaign.counts[chosen] > 0]
    axes.vlines(measured, TICK - 0.025, TICK + 0.025, color=MEASURED, linewidth=0.9, label="measured")
    fill(
        axes,
        rectangles(sides, np.tile(STRIP, (len(at), 1))),
        among(of_labels(panel.labels, ("below", "above")), chosen),
    )
    axes.set(xlim=(sides.min(), sides.max()), ylim=(STRIP[0], 1.03))
    axes.yaxis.set_major_locator(MultipleLocator(0.25))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    axes.spines[["top", "right"]].set_visible(False)
    return name


def _along(values: Array) -> tuple[Indices, Array, Array]:
    """The points in the order of their coordinate (n,), where they are, and the sides of their cells (n, 2)."""
    found, chosen = ticks(values), np.argsort(values, kind="stable")
    return chosen, values[chosen], found.sides[found.index[chosen]]


def _ranked(chances: Array) -> Indices:
    """The points in ascending order of their probability (n,); of many, those that are nearest to 50 %."""
    near = np.argsort(np.abs(chances - 0.5), kind="stable")[:RANKED]
    return near[np.argsort(chances[near], kind="stable")]


def _curve_handles(campaign: Campaign, panels: Sequence[_Panel]) -> list[Artist]:
    groups = of_labels(panels[0].labels, ("below", "above"))
    handles: list[Artist] = [Line2D([], [], label="probability of 50 %", **RULE)]
    for group in groups:
        told = group.name + f" ({group.size:,})" * (len(panels) == 1)
        handles.append(Patch(label=told, **group.look(outlined=True)))
    if (campaign.counts > 0).any():
        handles.append(Line2D([], [], marker="|", ms=7, color=MEASURED, linestyle="none", label="measured"))
    return handles


# --- what all of them have


def _letters(inches: float) -> int:
    """How many letters of a label have room."""
    return max(12, int(12 * inches))


def _asked(panels: Sequence[_Panel]) -> str:
    return f"probability of being above {panels[0].level if len(panels) == 1 else 'each level'}"


def _finish(
    figure: Figure,
    campaign: Campaign,
    panels: Sequence[_Panel],
    handles: Sequence[Artist],
    *,
    columns: int,
    note: str = "",
) -> None:
    """Title, note and legend, all outside of the data."""
    figure.suptitle(as_line(f"{campaign.name}: {_asked(panels)}", 60), fontsize=11.5, parse_math=False)
    if handles or note:
        look: dict[str, Any] = {"loc": "outside lower center", "ncols": columns, "frameon": False, "fontsize": 9}
        figure.legend(handles=handles, title=as_line(note, 80) or None, title_fontsize=9, **look)
