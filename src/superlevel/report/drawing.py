"""How a campaign stands, drawn: a map of two coordinates, a profile along one, or a ranking where there are more."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, MaxNLocator
from mpl_toolkits.axes_grid1.anchored_artists import AnchoredSizeBar

from superlevel.arrays import Array, Indices
from superlevel.numerals import written
from superlevel.report.campaign import Campaign
from superlevel.report.cells import rectangles, ticks
from superlevel.report.classes import Class, among, drawn, shaded
from superlevel.report.planes import Plane, as_plane
from superlevel.report.surfaces import Surface, fill

RANKED = 200  # points of a ranking: more would be thinner than a line
MOST_NAMED = 30  # points of the next batch: the names of more would hide the map
LONGEST_NAME = 18  # letters of a point's name in a map
WIDTH = 5.4  # of the plot, in inches
LARGEST = 170.0  # area of the dot of the point that was measured most, in squares of 1/72 inch

UNIT = re.compile(r"[(\[]\s*([^()\[\]]+?)\s*[)\]]\s*$")  # of a coordinate: "east (m)", "north [km]"
MEASURED = "#141414"
NEXT = "#8a0f4f"
DOT: dict[str, Any] = {"edgecolor": "white", "linewidth": 0.6, "zorder": 3, "clip_on": False}
SQUARE: dict[str, Any] = {"edgecolor": MEASURED, "linewidth": 1.0, "zorder": 3, "clip_on": True}
SQUARE["path_effects"] = [withStroke(linewidth=2.2, foreground="white")]
DIAMOND: dict[str, Any] = {"edgecolor": NEXT, "linewidth": 1.4, "zorder": 4, "clip_on": False}
DIAMOND["path_effects"] = [withStroke(linewidth=3.0, foreground="white")]


def draw(campaign: Campaign) -> Figure:
    """What is decided, what was measured and what comes next, in the plot that suits the number of coordinates."""
    dimension = campaign.points.shape[1]
    if dimension == 2:
        return _draw_map(campaign)
    if dimension == 1:
        return _draw_profile(campaign)
    if campaign.mean is None and _interval(campaign) is None:
        return _draw_bars(campaign)
    return _draw_ranking(campaign)


# --- two coordinates


def _draw_map(campaign: Campaign) -> Figure:
    plane = as_plane(campaign.positions, campaign.ground, width=WIDTH)
    figure = Figure(figsize=(WIDTH + 2.5, WIDTH * plane.tallness + 0.9), layout="constrained")
    axes, groups = figure.subplots(), shaded(campaign)
    seen = plane.surface.paint(axes, groups)
    handles = _label_handles(groups, seen.hidden)
    crossed = _draw_levels(axes, plane.surface, campaign)
    if crossed:
        which = f"level{'s' * (len(crossed) > 1)} {', '.join(_level(campaign, level) for level in crossed)}"
        handles.append(Line2D([], [], color="black", linewidth=1.1, label=f"mean at the {which}"))
    spacing = plane.spacing(WIDTH)
    handles += _draw_measured(axes, campaign, campaign.positions, spacing=spacing)
    handles += draw_elsewhere(axes, campaign, campaign.beside)
    handles += _draw_next(axes, campaign, campaign.positions, area=float(np.clip((0.9 * spacing) ** 2, 18.0, 36.0)))
    _name_next(axes, campaign)
    frame_map(axes, plane, campaign.positions)
    name_axes(axes, *campaign.names)
    mark_axes((axes.xaxis, axes.yaxis), campaign)
    _finish(figure, campaign, handles)
    if seen.note:
        figure.supxlabel(as_line(seen.note, 76), fontsize=9, parse_math=False)
    if plane.alike:
        draw_scale(axes, plane, campaign)
        fit(figure, [axes], plane)
    return figure


def draw_scale(axes: Axes, plane: Plane, campaign: Campaign) -> None:
    """A bar of a round length, above the map, with the unit that both coordinates have in their names; km for degrees.

    A degree of longitude is as long as in the middle of the map.
    """
    first, _ = plane.limits
    unit_length = 1.0 if campaign.ground is None else campaign.ground[0]
    length = round_length(0.25 * float(first[1] - first[0]) * unit_length)
    units = {found[1] if (found := UNIT.search(name)) else "" for name in campaign.names}
    unit = units.pop() if len(units) == 1 else ""
    label = as_line(f"{written(length)} {unit if campaign.ground is None else 'km'}".rstrip(), 20)
    bar = AnchoredSizeBar(
        axes.transData,
        length / unit_length,
        label,
        "lower right",
        pad=0.2,
        borderpad=0.0,
        sep=2,
        frameon=False,
        label_top=True,
        fontproperties=FontProperties(size=9),
        bbox_to_anchor=(1.0, 1.0),
        bbox_transform=axes.transAxes,
    )
    axes.add_artist(bar)


def round_length(most: float) -> float:
    """The largest of 1, 2, 5, 10, 20, ... times a power of ten that is not more than this.

    >>> round_length(0.26), round_length(7.0), round_length(1999.0)
    (0.2, 5.0, 1000.0)
    """
    power = math.floor(math.log10(most))
    return next(float(f"{digit}e{power}") for digit in (5, 2, 1) if float(f"{digit}e{power}") <= most)


def _level(campaign: Campaign, level: float) -> str:
    return f"{written(level)} {campaign.unit}".rstrip()


def frame_map(axes: Axes, plane: Plane, points: Array) -> None:
    """Limits, and one tick where a coordinate has one value."""
    first, second = plane.limits
    axes.set(xlim=first, ylim=second)
    for axis, coordinate in zip((axes.xaxis, axes.yaxis), points.T, strict=True):
        if np.ptp(coordinate) == 0:
            axis.set_ticks(coordinate[:1])


def fit(figure: Figure, panels: Sequence[Axes], plane: Plane, *, rows: int = 1) -> None:
    """One scale for both coordinates, by the height of the figure; the panels are alike.

    An equal aspect alone lets labels run out of the figure where constrained layout has made the plot nearly fit.
    """
    figure.draw_without_rendering()
    width, height = figure.get_size_inches() * panels[0].get_position().size
    figure.set_figheight(figure.get_figheight() + rows * (plane.tallness * width - height))
    for axes in panels:
        axes.set_aspect(plane.stretch)


def _draw_levels(axes: Axes, surface: Surface, campaign: Campaign) -> tuple[float, ...]:
    """The levels at which there is a line where the mean is; matplotlib warns of one that is nowhere."""
    nodes = None if campaign.mean is None else surface.nodes(campaign.mean)
    if nodes is None or min(nodes.values.shape) < 2:
        return ()
    low, high = nodes.values.min(), nodes.values.max()
    crossed = tuple(level for level in campaign.levels if low < level < high)
    if crossed:
        axes.contour(*nodes, crossed, colors="black", linewidths=1.1)
    return crossed


# --- one coordinate, and ranks


def _draw_profile(campaign: Campaign) -> Figure:
    along = campaign.positions[:, 0]
    found = ticks(along)
    chosen = np.argsort(along, kind="stable")
    sides = found.sides[found.index[chosen]]
    figure = _draw_along(campaign, chosen, along[chosen], sides, name=campaign.names[0])
    mark_axes([figure.axes[-1].xaxis], campaign)
    return figure


def _draw_ranking(campaign: Campaign) -> Figure:
    centre, known = _centre(campaign), campaign.levels
    # the next batch first, then what is near a level
    far = np.abs(centre - np.array(known or [np.median(centre)])[:, None]).min(axis=0)
    first = np.lexsort([far, ~np.isin(np.arange(len(centre)), campaign.next)])[:RANKED]
    chosen = first[np.argsort(centre[first], kind="stable")]
    ranks = np.arange(1.0, len(chosen) + 1)
    half = 0.4 if len(chosen) <= 60 else 0.5  # gaps between more of them would be all that is seen
    name = "points by mean"
    if len(chosen) < len(centre):
        where = "near the level" + "s" * (len(known) > 1) if known else "in the middle"
        name += f": {len(chosen)} of {len(centre):,}, {where} or in the next batch"
    return _draw_along(campaign, chosen, ranks, ranks[:, None] + [-half, half], name=name, ranked=True)


def _draw_along(
    campaign: Campaign, chosen: Indices, at: Array, sides: Array, *, name: str, ranked: bool = False
) -> Figure:
    """What is known of f at the chosen points, and below it a strip of labels and of the next batch."""
    figure = Figure(figsize=(WIDTH + 2.9, 4.8), layout="constrained")
    axes, strip = figure.subplots(2, 1, sharex=True, height_ratios=[1.0, 0.13])
    band = not ranked and len(chosen) > 1
    handles = _label_handles(shaded(campaign)) + _draw_known(axes, campaign, chosen, at, None if band else sides)
    places = np.full((len(campaign.points), 2), np.nan)
    places[chosen] = np.column_stack([at, campaign.averages[chosen]])
    handles += _draw_measured(axes, campaign, places, spacing=9.0)
    if campaign.elsewhere is not None and campaign.beside is not None and not ranked:
        there = np.column_stack([campaign.beside[:, 0], campaign.elsewhere.averages])
        handles += draw_elsewhere(axes, campaign, there)
    places[chosen, 1] = 1.6
    handles += _draw_next(strip, campaign, places, marker="d")
    fill(strip, rectangles(sides, np.tile([0.0, 0.9], (len(at), 1))), among(shaded(campaign), chosen))
    axes.set_xlim(sides.min(), sides.max())
    axes.tick_params(labelbottom=False)
    strip.set(ylim=(0.0, 2.2 if campaign.next.size else 0.9), yticks=[])
    strip.spines[["left", "top", "right"]].set_visible(False)
    name_axes(axes, "", f"f ({campaign.unit})" if campaign.unit else "f")
    name_axes(strip, name, "")
    _finish(figure, campaign, handles)
    return figure


def _draw_known(axes: Axes, campaign: Campaign, chosen: Indices, at: Array, sides: Array | None) -> list[Artist]:
    """Intervals, as a band or each between its sides, mean and levels."""
    low, high = _heights(campaign, chosen)
    axes.set_ylim(low, high)
    interval = _interval(campaign)
    lines: list[Artist] = []
    if interval is not None:
        lower, upper = (np.clip(end[chosen], low, high) for end in interval)
        if sides is None:
            lines.append(axes.fill_between(at, lower, upper, fc="0.91", ec="0.55", lw=0.8, label="interval"))
        else:
            fill(axes, rectangles(sides, np.column_stack([lower, upper])), among(shaded(campaign), chosen))
    if campaign.mean is not None:
        lines += axes.plot(at, campaign.mean[chosen], "-" if len(at) > 1 else "_", color="0.15", lw=1.3, label="mean")
    for level in campaign.levels:
        lines.append(
            axes.axhline(level, color="black", lw=1.1, ls=(0, (5, 2)), label=f"level {_level(campaign, level)}")
        )
    return lines


def _centre(campaign: Campaign) -> Array:
    """(n,) what a ranking is in the order of."""
    if campaign.mean is not None:
        return campaign.mean
    lower, upper = _interval(campaign) or (campaign.averages, campaign.averages)
    bounded = np.isfinite(lower) & np.isfinite(upper)
    middle = 0.5 * (np.where(bounded, lower, 0.0) + np.where(bounded, upper, 0.0))
    return np.nan_to_num(np.where(bounded, middle, campaign.averages), nan=float(np.mean(campaign.levels or 0.0)))


def _interval(campaign: Campaign) -> tuple[Array, Array] | None:
    """(n,) ends, infinite where nothing is known."""
    if campaign.lower is None or campaign.upper is None:
        return None
    lower, upper = campaign.lower, campaign.upper
    return np.where(np.isnan(lower), -np.inf, lower), np.where(np.isnan(upper), np.inf, upper)


def _heights(campaign: Campaign, chosen: Indices) -> tuple[float, float]:
    """What of f is to be seen."""
    given = (campaign.mean, campaign.lower, campaign.upper, campaign.averages)
    values = np.concatenate([*(values[chosen] for values in given if values is not None), campaign.levels])
    values = values[np.isfinite(values)]
    if values.size == 0:
        return 0.0, 1.0
    margin = 0.05 * float(np.ptp(values)) or max(0.5, 0.05 * abs(float(values[0])))
    return float(values.min()) - margin, float(values.max()) + margin


# --- without anything to rank by


def _draw_bars(campaign: Campaign) -> Figure:
    figure = Figure(figsize=(WIDTH + 2.5, 2.8), layout="constrained")
    axes, groups = figure.subplots(), drawn(campaign)
    for at, group in enumerate(groups):
        axes.barh(at, group.size, height=0.7, label=group.name, **group.look(outlined=True))
        here = campaign.counts[group.points]
        measured, samples = int((here > 0).sum()), int(here.sum())
        told = f"{group.size:,}, of which {measured:,} measured" + f" ({samples:,} times)" * bool(samples)
        axes.annotate(told, (float(group.size), at), (5, 0), textcoords="offset points", va="center", fontsize=9)
    names = [group.name for group in groups]
    axes.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    axes.set_xlim(0, 1.75 * max(group.size for group in groups))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    name_axes(axes, "points", "")
    _finish(figure, campaign, [])
    return figure


# --- what all of them have


def _label_handles(groups: Sequence[Class], hidden: Collection[str] = ()) -> list[Artist]:
    """The classes with their sizes; those of which no point is drawn say so."""
    labels = [f"{group.name} ({group.size:,}{', none drawn' * (group.name in hidden)})" for group in groups]
    return [Patch(label=label, **group.look(outlined=True)) for label, group in zip(labels, groups, strict=True)]


def _draw_measured(axes: Axes, campaign: Campaign, places: Array, *, spacing: float) -> list[Artist]:
    """Dots at the measured points, of areas that grow with the counts; ``spacing`` of points is in 1/72 inch."""
    measured = np.flatnonzero(campaign.counts)
    if measured.size == 0:
        return []
    measured = measured[np.argsort(-campaign.counts[measured], kind="stable")]  # small dots over large ones
    counts = campaign.counts[measured]
    smallest, one = np.clip((0.3 * spacing) ** 2, 3.0, 9.0), np.clip((0.5 * spacing) ** 2, 4.0, 20.0)

    def areas(counts: Indices) -> Array:
        return np.asarray(np.maximum(smallest, min(one, LARGEST / campaign.counts.max()) * counts))

    first, second = places[measured].T
    axes.scatter(first, second, areas(counts), MEASURED, label="measured", **DOT)
    told = np.unique([counts[-1], round(float(counts[-1] * counts[0]) ** 0.5), counts[0]])
    return [
        as_mark("o", area, MEASURED, DOT, label=f"{count:,} measurement{'s' * (count > 1)}")
        for count, area in zip(told.tolist(), areas(told), strict=True)
    ]


def draw_elsewhere(axes: Axes, campaign: Campaign, places: Array | None) -> list[Artist]:
    """Squares (m, 2) where something was measured that is not a point; what is outside of the axes is left out."""
    if campaign.elsewhere is None or places is None:
        return []
    first, second = places.T
    axes.scatter(first, second, 14.0, "none", marker="s", label="measured elsewhere", **SQUARE)
    label = f"measured elsewhere ({len(places):,})"
    return [as_mark("s", 14.0, "none", SQUARE, label=label)]


def _draw_next(axes: Axes, campaign: Campaign, places: Array, *, marker: str = "D", area: float = 36.0) -> list[Artist]:
    """Diamonds at the points of the next batch, solid where it has more than one measurement."""
    points, repeats = np.unique(campaign.next, return_counts=True)
    if points.size == 0:
        return []
    order = np.argsort(repeats, kind="stable")  # what is measured most over what is near it
    faces = [NEXT if several else "none" for several in repeats[order] > 1]
    first, second = places[points[order]].T
    axes.scatter(first, second, area, faces, marker=marker, label="next batch", **DIAMOND)
    handles: list[Artist] = [as_mark(marker, area, "none", DIAMOND, label=f"next batch ({campaign.next.size:,})")]
    if (repeats > 1).any():
        handles.append(as_mark(marker, area, NEXT, DIAMOND, label="more than once"))
    return handles


def _name_next(axes: Axes, campaign: Campaign) -> None:
    """The names of the points of the next batch beside them, where points have names and the batch is small."""
    points = np.unique(campaign.next)
    if not campaign.ids or points.size > MOST_NAMED:
        return
    for point in points.tolist():
        axes.annotate(
            as_line(campaign.ids[point], LONGEST_NAME).split("\n")[0],
            tuple(campaign.positions[point]),
            (5, 4),
            textcoords="offset points",
            fontsize=8,
            parse_math=False,
            path_effects=[withStroke(linewidth=2, foreground="white")],
            zorder=6,
        )


def as_mark(marker: str, area: float, face: str, look: Mapping[str, Any], *, label: str) -> Line2D:
    """What a legend shows of a scatter."""
    style: dict[str, Any] = {"mfc": face, "mec": look["edgecolor"], "mew": look["linewidth"], "linestyle": "none"}
    return Line2D([], [], marker=marker, ms=area**0.5, label=label, **style)


def name_axes(axes: Axes, first: str, second: str, *, across: int = 70, up: int = 36) -> None:
    """The names of the coordinates, as they are, in lines of so many letters."""
    axes.tick_params(labelsize=9)
    axes.set_xlabel(as_line(first, across), parse_math=False)
    axes.set_ylabel(as_line(second, up), parse_math=False)


def mark_axes(axes: Sequence[Axis], campaign: Campaign) -> None:
    """The ticks of coordinates with a scale of their own: in people's units, or by name."""
    for axis, scale in zip(axes, campaign.scales, strict=False):
        if scale.tick(0.0) is not None:
            axis.set_major_formatter(FuncFormatter(lambda position, _at, scale=scale: scale.tick(position)))
        if scale.size is not None:
            axis.set_major_locator(MaxNLocator("auto", integer=True))


def _finish(figure: Figure, campaign: Campaign, handles: Sequence[Artist]) -> None:
    """Title and legend, both outside of the data."""
    figure.suptitle(as_line(campaign.title, 60), fontsize=11.5, parse_math=False)
    if handles:
        figure.legend(handles=handles, loc="outside right center", fontsize=9, frameon=False, labelspacing=0.75)


def as_line(text: str, width: int) -> str:
    """The text in lines of some width, without what the font cannot write: matplotlib would warn of it."""
    font = get_font(findfont(FontProperties()))
    known = "".join(letter if font.get_char_index(ord(letter)) else "?" for letter in " ".join(text.split()))
    return textwrap.fill(known, width)
