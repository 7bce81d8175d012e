"""What points with two coordinates are drawn as: cells of their own, or pixels where there are too many for cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import Normalize, to_rgb
from matplotlib.patches import PathPatch
from scipy.ndimage import binary_erosion, uniform_filter

from superlevel.arrays import Array, Labels, Mask
from superlevel.goals import BELOW
from superlevel.report.campaign import WORDS
from superlevel.report.cells import Grid, outline
from superlevel.report.classes import HATCHING, Class
from superlevel.report.mosaic import NOTHING, Mosaic
from superlevel.report.shading import EDGES, HOLES, INSIDE, SHADES

DENSITY = 150  # pixels of a picture for each inch
SPACING, LINE = DENSITY // 24, 2  # of hatching, in pixels: matplotlib's has 24 lines for each inch
WIDE = round(INSIDE / 72 * DENSITY)  # of the lines inside of what is declared, in pixels
SURROUNDED = "Coloured lines surround areas in which most points are declared."
UNIT = Normalize(0.0, 1.0)


class Nodes(NamedTuple):
    """Values between which lines can be drawn."""

    first: Array
    """(k1,) places along the first coordinate."""
    second: Array
    """(k2,)"""
    values: Array
    """(k2, k1) masked where there is no point."""


class Seen(NamedTuple):
    """What a picture of classes does not show."""

    note: str = ""
    """In a sentence; empty where every point is drawn in its class."""
    hidden: frozenset[str] = frozenset()
    """Classes with points of which none is drawn."""


class Surface(Protocol):
    """What points with two coordinates are drawn as."""

    @property
    def box(self) -> Array:
        """(2, 2) the lowest and the highest corner."""

    @property
    def count(self) -> int:
        """Cells that differ."""

    @property
    def holes(self) -> bool:
        """Whether some cells of a grid are no points."""

    def paint(self, axes: Axes, groups: Sequence[Class]) -> Seen:
        """Draw the classes of the points, one patch or one image."""

    def shade(self, axes: Axes, chances: Array, labels: Labels) -> str:
        """Draw the probability of each point (n,), and lines around those that are declared; what is not shown."""

    def nodes(self, values: Array) -> Nodes | None:
        """The values (n,) of the points on a grid; None for scattered points."""


# --- a cell for each point


@dataclass(frozen=True, kw_only=True, eq=False)
class OnGrid:
    """The rectangles of a grid."""

    grid: Grid

    @property
    def box(self) -> Array:
        return self.grid.box

    @property
    def count(self) -> int:
        return len(np.unique(self.grid.cells, axis=0))

    @property
    def holes(self) -> bool:
        return len(self.grid.holes) > 0

    def paint(self, axes: Axes, groups: Sequence[Class]) -> Seen:
        fill(axes, self.grid.cells, groups)
        return Seen()

    def shade(self, axes: Axes, chances: Array, labels: Labels) -> str:
        """A line just inside of what is declared, and dots where there is no point."""
        _polygons(axes, self.grid.cells, chances, edgecolors="face", linewidths=[0.3])  # of its own shade: no seams
        for label, color in EDGES.items():
            chosen: Mask = labels == label
            if chosen.any():
                lines = LineCollection(
                    list(self.grid.border(chosen)), colors=color, linewidths=2 * INSIDE, capstyle="projecting"
                )
                lines.set(label=f"declared {WORDS[label]}", in_layout=False, zorder=2)
                axes.add_collection(lines, autolim=False)
                lines.set_clip_path(outline(self.grid.cells[chosen]), axes.transData)  # half of its width is inside
        if self.holes:
            axes.add_artist(PathPatch(outline(self.grid.holes), label="no point", zorder=1, in_layout=False, **HOLES))
        return ""

    def nodes(self, values: Array) -> Nodes | None:
        return Nodes(self.grid.first.places, self.grid.second.places, self.grid.nodes(values))


@dataclass(frozen=True, kw_only=True, eq=False)
class Scattered:
    """What is nearest to each of scattered points."""

    cells: Array
    """(n, c, 2) corners."""

    holes = False

    @property
    def box(self) -> Array:
        return np.stack([self.cells.min(axis=(0, 1)), self.cells.max(axis=(0, 1))])

    @property
    def count(self) -> int:
        return len(np.unique(self.cells, axis=0))

    def paint(self, axes: Axes, groups: Sequence[Class]) -> Seen:
        fill(axes, self.cells, groups)
        return Seen()

    def shade(self, axes: Axes, chances: Array, labels: Labels) -> str:
        """The line around a cell is wide where it is declared."""
        listed = labels.tolist()
        widths = [1.3 if label in EDGES else 0.4 for label in listed]
        _polygons(axes, self.cells, chances, edgecolors=[EDGES.get(at, "0.6") for at in listed], linewidths=widths)
        return ""

    def nodes(self, values: Array) -> Nodes | None:  # noqa: ARG002
        return None


def fill(axes: Axes, cells: Array, groups: Sequence[Class]) -> None:
    """The cells (n, c, 2), those of one class as one patch."""
    for group in drawing_order(groups):
        corners = cells[group.points]
        if len(corners):
            # limits are set by hand: matplotlib takes seconds to find those of thousands of cells
            patch = PathPatch(outline(corners), label=group.name, zorder=1, in_layout=False, **group.look())
            axes.add_artist(patch)


def drawing_order(groups: Sequence[Class]) -> list[Class]:
    """What is undecided last: where points coincide, it is seen."""
    return [*(each for each in reversed(groups) if not each.hatch), *(each for each in groups if each.hatch)]


def _polygons(axes: Axes, cells: Array, chances: Array, **look: Any) -> None:
    shades = PolyCollection(list(cells), array=chances, cmap=SHADES, norm=UNIT, zorder=1, **look)
    shades.set(label="probability", in_layout=False)
    axes.add_collection(shades, autolim=False)


# --- pixels


@dataclass(frozen=True, kw_only=True, eq=False)
class Pixels:
    """An image of very many points: each pixel has the class of most of its points, or the mean of their values."""

    mosaic: Mosaic

    @property
    def box(self) -> Array:
        return self.mosaic.box

    @property
    def count(self) -> int:
        return self.mosaic.tile.size

    @property
    def holes(self) -> bool:
        return bool(np.isnan(self.mosaic.average(np.zeros(self.count))).any())

    def paint(self, axes: Axes, groups: Sequence[Class]) -> Seen:
        """Of equally frequent classes an undecided one is drawn."""
        order = drawing_order(groups)[::-1]
        kinds = np.zeros(self.count, dtype=np.int64)
        for kind, group in enumerate(order):
            kinds[group.points] = kind
        tiles = self.mosaic.majority(kinds, len(order))
        image = np.array([*(to_rgb(group.face) for group in order), (1.0, 1.0, 1.0)])[self.mosaic.pixels(tiles)]
        for kind, group in enumerate(order):
            if group.hatch:
                lines = hatching(image.shape[:2], rising=group.hatch.startswith("/"))
                image[(self.mosaic.pixels(tiles) == kind) & lines] = to_rgb(HATCHING)
        self._show(axes, image, label="labels")
        hidden = {group.name for kind, group in enumerate(order) if group.size and not (tiles == kind).any()}
        return Seen(self._shared(int((tiles.ravel()[self.mosaic.tile] != kinds).sum())), frozenset(hidden))

    def _shared(self, elsewhere: int) -> str:
        """What is not shown where points share pixels, of which so many are drawn in another class."""
        most = int(self.mosaic.points.max())
        told = f"A pixel stands for up to {most:,} points and has the class of most of them: "
        return f"{told}{elsewhere:,} of {self.count:,} points are drawn in another class than their own." * (most > 1)

    def shade(self, axes: Axes, chances: Array, labels: Labels) -> str:
        """Lines are where most of the neighbours are declared: lines around single pixels would hide the shades."""
        image = SHADES(UNIT(np.nan_to_num(self.mosaic.pixels(self.mosaic.average(chances)))))[..., :3]
        declared = self.mosaic.pixels(self.mosaic.majority(labels.astype(np.int64) - BELOW, 3))
        for label, color in EDGES.items():
            share = uniform_filter((declared == label - BELOW).astype(np.float64), 2 * WIDE + 1, mode="nearest")
            inside = (share > 0.5) & (declared != NOTHING)
            image[inside & ~binary_erosion(inside, iterations=WIDE)] = to_rgb(color)
        image[declared == NOTHING] = 1.0
        image[(declared == NOTHING) & dots(declared.shape)] = to_rgb(HOLES["edgecolor"])
        self._show(axes, image, label="probability")
        most = int(self.mosaic.points.max())
        return f"{f'A pixel shows the mean of up to {most:,} points. ' * (most > 1)}{SURROUNDED}"

    def nodes(self, values: Array) -> Nodes | None:
        means = np.ma.masked_invalid(self.mosaic.average(values))
        return Nodes(self.mosaic.first.middles, self.mosaic.second.middles, means)

    def _show(self, axes: Axes, image: Array, *, label: str) -> None:
        (left, bottom), (right, top) = self.box.tolist()
        axes.imshow(image, extent=(left, right, bottom, top), origin="lower", aspect="auto", zorder=1, label=label)


def hatching(shape: tuple[int, ...], *, rising: bool) -> Mask:
    """(h, w) the pixels of lines that rise or fall to the right."""
    row, column = np.indices(shape)
    return np.asarray((column - row if rising else column + row) % SPACING < LINE)


def dots(shape: tuple[int, ...]) -> Mask:
    """(h, w) the pixels of dots, of which every other row is moved to the side."""
    row, column = np.indices(shape) // 2
    return np.asarray((row % SPACING == 0) & ((column + row // SPACING % 2 * (SPACING // 2)) % SPACING == 0))
