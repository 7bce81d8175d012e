"""Where each round measures, drawn on a plane beside the function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import ListedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from superlevel.arrays import Array, Mask, as_floats, as_number, as_vector, as_weights
from superlevel.errors import InputError

SMALLEST = 0.01  # shares below this, in per cent, are drawn as none
LARGEST = 0.12  # side of the square of a point that has all the measurements, in sides of the plot
DECIDED = "0.93"
COLUMNS = 5  # at most

# without its ends: on the decided points' grey the lightest must still show, on the darkest the black level
SHARES = ListedColormap(colormaps["YlOrRd"](np.linspace(0.2, 0.94, 256)), name="shares")
FUNCTION = ListedColormap(colormaps["viridis"](np.linspace(0.4, 1.0, 256)), name="function")


@dataclass(frozen=True, kw_only=True, eq=False)
class Allocation:
    """How the measurements of one round are spread over a grid of rows * columns points, in row-major order."""

    title: str
    weights: Array
    """(rows * columns,) a distribution."""
    active: Mask | None = None
    """(rows * columns,) the points that are undecided in that round; None means do not mark."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Plane:
    """The grid and the function on it."""

    first: Array  # (rows,)
    second: Array  # (columns,)
    values: Array  # (rows, columns)
    level: float

    @property
    def crosses(self) -> bool:
        return bool(self.values.min() < self.level < self.values.max())

    def draw_level(self, axes: Axes, width: float) -> None:
        if self.crosses:  # matplotlib warns of a contour that is nowhere
            axes.contour(self.first, self.second, self.values.T, levels=[self.level], colors="black", linewidths=width)


def draw_allocations(
    first: Array, second: Array, values: Array, allocations: Sequence[Allocation], *, level: float, title: str
) -> Figure:
    """The function with its level, then one map for each allocation, all on one logarithmic scale of shares.

    ``first`` (rows,) and ``second`` (columns,) are the grid's coordinates, ``values`` (rows * columns,) the function.
    A point's square is its cell, or larger where its share is large, for late rounds measure at a handful of points.
    """
    if not allocations:
        raise InputError("allocations", "empty", "give at least one allocation")
    plane = _plane(first, second, values, level)
    shares = [_shares(f"allocations[{at}]", given, plane.values.size) for at, given in enumerate(allocations)]
    norm = LogNorm(SMALLEST, max(10.0, *(each.max() for each in shares)))
    figure, plots = _grid(len(allocations) + 1)
    _draw_function(plots[0], plane)
    for axes, allocation, each in zip(plots[1:], allocations, shares, strict=True):
        axes.set_title(allocation.title, fontsize=9)
        if allocation.active is not None:
            _shade(axes, plane, allocation.active)
        squares = _draw_shares(axes, plane, each, norm)
        plane.draw_level(axes, 0.8)
    bar = figure.colorbar(squares, ax=plots, label="share of the measurements, %", format="%g", aspect=40, pad=0.01)
    bar.ax.tick_params(labelsize=8)
    _legend(figure, plane.level, shaded=any(allocation.active is not None for allocation in allocations))
    figure.suptitle(title, fontsize=12)
    return figure


def _plane(first: Array, second: Array, values: Array, level: float) -> _Plane:
    coordinates = {}
    for name, given in (("first", first), ("second", second)):
        found = as_vector(name, given, length=as_floats(name, given).size)
        if len(found) < 2 or (np.diff(found) <= 0).any():
            raise InputError(name, "not increasing or shorter than 2", "give the grid's coordinates in order")
        coordinates[name] = found
    shape = (len(first), len(second))
    table = as_vector("values", values, length=shape[0] * shape[1]).reshape(shape)
    return _Plane(**coordinates, values=table, level=as_number("level", level))


def _shares(field: str, allocation: Allocation, points: int) -> Array:
    """Shares (points,) in per cent."""
    if allocation.active is not None and np.shape(allocation.active) != (points,):
        raise InputError(f"{field}.active", f"of shape {np.shape(allocation.active)}", f"give shape ({points},)")
    return 100 * as_weights(f"{field}.weights", allocation.weights, points)


def _grid(count: int) -> tuple[Figure, list[Axes]]:
    rows = ceil(count / COLUMNS)
    columns = ceil(count / rows)
    figure = Figure(figsize=(2.0 * columns + 1.6, 2.1 * rows + 0.9), layout="constrained")
    plots = list(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat)
    for axes in plots[count:]:
        axes.remove()
    for at, axes in enumerate(plots[:count]):
        axes.set_aspect("equal")
        axes.tick_params(labelsize=8)
        if at % columns == 0:
            axes.set_ylabel("$x_2$")
        if at + columns >= count:  # nothing below it, be it the last row or not
            axes.set_xlabel("$x_1$")
            axes.tick_params(labelbottom=True)
    return figure, plots[:count]


def _draw_function(axes: Axes, plane: _Plane) -> None:
    filled = axes.contourf(plane.first, plane.second, plane.values.T, levels=12, cmap=FUNCTION)
    plane.draw_level(axes, 2.2)
    axes.set_title("function", fontsize=9)
    bar = axes.figure.colorbar(filled, ax=axes, location="left", label="function", shrink=0.85, aspect=14, pad=0.02)
    bar.ax.tick_params(labelsize=8)
    if plane.crosses:
        bar.ax.axhline(plane.level, color="black", linewidth=2.2)


def _shade(axes: Axes, plane: _Plane, active: Mask) -> None:
    decided = np.ma.masked_where(active.reshape(plane.values.shape).T, np.ones(plane.values.T.shape))
    axes.pcolormesh(plane.first, plane.second, decided, cmap=ListedColormap([DECIDED]), zorder=0.5)


def _draw_shares(axes: Axes, plane: _Plane, shares: Array, norm: Normalize) -> PolyCollection:
    drawn = np.flatnonzero(shares > SMALLEST)
    drawn = drawn[np.argsort(shares[drawn], kind="stable")]  # the largest on top
    row, column = np.unravel_index(drawn, plane.values.shape)
    steps = np.gradient(plane.first), np.gradient(plane.second)
    centres = np.column_stack([plane.first[row], plane.second[column]])
    cells = np.column_stack([steps[0][row], steps[1][column]])
    extent = np.array([np.ptp(plane.first), np.ptp(plane.second)])
    sides = np.maximum(cells, LARGEST * extent * np.sqrt(shares[drawn, None] / 100))
    enlarged = (sides > 1.4 * cells).any(axis=1)  # enough for a white edge to leave more than the cell
    corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    squares = PolyCollection(
        list(centres[:, None, :] + sides[:, None, :] * corners),
        array=shares[drawn],
        norm=norm,
        cmap=SHARES,
        edgecolors=np.where(enlarged, "white", "none").tolist(),
        linewidths=0.5,
        antialiaseds=enlarged.tolist(),  # smoothed edges of cells would leave seams between them
    )
    axes.add_collection(squares)
    axes.set_xlim(plane.first[0] - steps[0][0] / 2, plane.first[-1] + steps[0][-1] / 2)
    axes.set_ylim(plane.second[0] - steps[1][0] / 2, plane.second[-1] + steps[1][-1] / 2)
    return squares


def _legend(figure: Figure, level: float, *, shaded: bool) -> None:
    handles: list[Line2D | Patch] = [Line2D([], [], color="black", label=f"level {level:g}")]
    if shaded:
        handles.append(Patch(facecolor=DECIDED, edgecolor="0.6", label="decided before the round"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=9, frameon=False)
