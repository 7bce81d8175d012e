"""The points a study may measure, and the kernel that says how their values go together.

n           points, d coordinates each
points      (n, d)  one row a point, as the kernel sees it
places      (n, c)  the same as people see it; the same numbers, unless a coordinate has a scale of its own
elsewhere   (m, c)  places that are not among the points: what is measured there tells of the points
k(x, y)     kernel; without one, the linear kernel <x, y> of the features phi(x) = x
K           (n, n)  kernel matrix K_ij = k(x_i, x_j); never stored, only blocks of it are computed
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from superlevel import boxes, formats
from superlevel.arrays import Array, Indices, Mask, frozen
from superlevel.blocks import Blocks, blocks
from superlevel.coordinates import Coordinates
from superlevel.formats.table import NUMBER_OR_BLANK
from superlevel.given_points import (
    as_coordinate_names,
    as_coordinates,
    as_elsewhere,
    as_id_name,
    id_column,
    is_frame,
    on_sphere,
    scaled,
)
from superlevel.identifiers import ID, as_ids
from superlevel.kernel_blocks import Kernel, block, same, variances
from superlevel.kernel_checks import check_kernel
from superlevel.point_tables import read_points
from superlevel.scales import Scale

_SHOWN_COORDINATES = 4


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Domain:
    """A finite set of points, the names of their coordinates and a kernel on them.

    >>> Domain([0.0, 0.5, 1.0])
    Domain(3 points, x0 in [0, 1], linear kernel)
    """

    points: Array
    """(n, d) what the kernel sees, read-only. A point may occur more than once."""
    places: Array = field(init=False)
    """(n, c) what people see, read-only: a copy of what was given. A choice is the position of its name."""
    coordinates: Coordinates = field(init=False)
    """The names and the scales of the places' coordinates."""
    kernel: Kernel | None
    """Kernel on the points, as scikit-learn defines one; None stands for the linear kernel <x, y>."""
    names: tuple[str, ...]
    """(c,) names of the coordinates, all different."""
    elsewhere: Array
    """(m, c) further places where something may have been measured; no label is asked for there, and no plan goes
    there. As places of measurements they are numbered after the points: n, n + 1, ..."""
    reference: str
    """The reference system of coordinates on a map; empty where there is none."""
    ids: tuple[str, ...]
    """(n,) what people call each point, all different; empty where points have no names."""
    id_name: str
    """What the column of these is called in tables."""

    def __init__(
        self,
        points: ArrayLike,
        kernel: Kernel | None = None,
        *,
        names: Sequence[str] | None = None,
        scales: Sequence[Scale] | None = None,
        elsewhere: ArrayLike | None = None,
        geographic: bool = False,
        reference: str = "",
        ids: Sequence[str] | str | None = None,
        id_name: str | None = None,
    ) -> None:
        """Check everything once, so that no later step needs to.

        Args:
            points: (n, d) numbers, (n,) numbers for points on a line, or a pandas frame with one column a coordinate.
            kernel: a scikit-learn kernel, or None for the linear one. A ``WhiteKernel`` in it belongs to the unknown
                function, an independent part of its value at each row; the noise of measurements is no part of it.
            names: (d,) names; by default the frame's columns, or else x0, x1, ...
            scales: (d,) what each coordinate may be, of `superlevel.scales`; by default any number.
            elsewhere: (m, d) places of measurements that are not among the points; none by default.
            geographic: whether longitude and latitude in degrees are among the coordinates: those that are called so,
                or the first two. The kernel then sees x, y and z of the place on the sphere in km, and the other
                coordinates after these. Its lengths are in km.
            reference: the reference system of coordinates on a map, "EPSG:25832" for example; maps carry it.
            ids: (n,) names of the points, all different: samples, compounds. Or the frame's column that has them.
            id_name: what the column of ids is called in tables; by default as in the frame, or else id.
        """
        given = ids
        if isinstance(ids, str) and is_frame(points):
            given, id_name, points = id_column(points, ids), id_name or ids, points.drop(columns=ids)  # type: ignore[union-attr]
        matrix, known = as_coordinates(points)
        called = as_coordinate_names(known if names is None else names, matrix.shape[1])
        coordinates = scaled(matrix, called, on_sphere(called, scales) if geographic else scales)
        object.__setattr__(self, "places", matrix)
        object.__setattr__(self, "coordinates", coordinates)
        object.__setattr__(self, "points", matrix if coordinates.is_plain else frozen(coordinates.forward(matrix)))
        object.__setattr__(self, "kernel", kernel)
        object.__setattr__(self, "names", called)
        object.__setattr__(self, "elsewhere", as_elsewhere(elsewhere, coordinates))
        object.__setattr__(self, "reference", reference)
        object.__setattr__(self, "ids", () if given is None or not len(given) else as_ids(given, len(matrix)))
        object.__setattr__(self, "id_name", as_id_name(id_name or getattr(ids, "name", None) or ID, called))
        check_kernel(self)

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        columns: Sequence[str] | None = None,
        kernel: Kernel | None = None,
        ids: str | None = None,
        categories: Sequence[str] = (),
        drop_incomplete: bool = False,
    ) -> Self:
        """The points of a file: names in the first line, one point in each further line.

        The ending of its name says what it is: text (.csv and any other), .xlsx, .parquet, a layer of points (.gpkg,
        .geojson), or a raster as for `raster`; see `superlevel.formats`.

        Args:
            path: the file.
            columns: the columns that hold the coordinates, in the wanted order; by default all others than those below,
                or those that the format knows: of a map east and north.
            kernel: as for the constructor.
            ids: the column that names the points.
            categories: columns of texts. Each becomes a coordinate for every text: 1 where a row has it, else 0.
            drop_incomplete: leave out the rows that lack a coordinate. Otherwise they are an error, which lists them.
        """
        choice = {"columns": columns, "ids": ids, "categories": categories, "drop_incomplete": drop_incomplete}
        return cls._of(formats.read(path), kernel, **choice)

    @classmethod
    def raster(cls, path: str | os.PathLike[str], *, band: str | None = None, kernel: Kernel | None = None) -> Self:
        """The middles of those cells of a raster (.tif, .npy, .npz) that have data in a band, by default in any.

        The domain has the reference system of the raster. `read` takes rasters too, with a choice of columns.
        """
        return cls._of(formats.read_raster(path, band=band), kernel)

    @classmethod
    def _of(cls, table: formats.Table, kernel: Kernel | None, **choice: Any) -> Self:
        """The points of a table."""
        found = read_points(table.checked(), **choice)
        ids, called = found.ids, found.id_name
        return cls(found.points, kernel, names=found.names, ids=ids, id_name=called, reference=table.reference)

    @classmethod
    def box(cls, box: Mapping[str, Any], *, count: int = 1024, seed: int = 0, kernel: Kernel | None = None) -> Self:
        """Points that are spread evenly in a box, by a scrambled Sobol sequence.

        >>> Domain.box({"temperature": (20, 80), "ph": (2, 9)}, count=4096)
        Domain(4096 points, temperature in [20, 80], ph in [2, 9], linear kernel)

        Args:
            box: for each coordinate its limits (low, high), or one of Range, Integers, Log and Choice.
            count: how many points; powers of two are spread most evenly. A box that has fewer places has them all.
            seed: of the scrambling.
            kernel: as for the constructor. It sees the logarithm of a Log, and a column for each name of a Choice.
        """
        coordinates = boxes.as_coordinates(box)
        places = boxes.sobol(coordinates, count=count, seed=seed)
        return cls(places, kernel, names=coordinates.names, scales=coordinates.scales)

    @classmethod
    def grid(cls, box: Mapping[str, Any], *, count: int | Mapping[str, int], kernel: Kernel | None = None) -> Self:
        """Every combination of evenly spaced values of each coordinate.

        >>> from superlevel.scales import Choice
        >>> Domain.grid({"temperature": (20, 80), "material": Choice("steel", "copper")}, count=61)
        Domain(122 points, temperature in [20, 80], material one of steel, copper, linear kernel)

        Args:
            box: as for `box`.
            count: how many values of each coordinate, or one number for each by its name. A coordinate of whole numbers
                has no more than there are, and one of choices always has all of them.
            kernel: as for `box`.
        """
        coordinates = boxes.as_coordinates(box)
        return cls(boxes.grid(coordinates, count), kernel, names=coordinates.names, scales=coordinates.scales)

    def with_kernel(self, kernel: Kernel | None) -> Self:
        """The same points with another kernel."""
        return self._with(kernel=kernel)

    def on_sphere(self) -> Self:
        """The same points as longitudes and latitudes in degrees."""
        coordinates = scaled(self.places, self.names, on_sphere(self.names, self.coordinates.scales))
        coordinates.check("elsewhere", self.elsewhere)
        return self._with(coordinates=coordinates, points=frozen(coordinates.forward(self.places)))

    def among(self, points: Indices) -> Self:
        """Some of the points (m,), without names and without places elsewhere."""
        nowhere = frozen(self.elsewhere[:0])
        chosen = {"points": frozen(self.points[points]), "places": frozen(self.places[points])}
        return self._with(**chosen, elsewhere=nowhere, ids=())

    def _with(self, **fields: Any) -> Self:
        """A copy with other fields, whose kernel is checked anew."""
        other = copy(self)
        for computed in ("everywhere", "blocks"):  # from the fields before
            vars(other).pop(computed, None)
        for name, value in fields.items():
            object.__setattr__(other, name, value)
        check_kernel(other)
        return other

    @property
    def units(self) -> Indices:
        """(d,) columns with the same number are of one unit: distances along them can be compared."""
        return self.coordinates.units

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.points)

    @cached_property
    def everywhere(self) -> Domain:
        """The points, and after them the places elsewhere, all of them as points: where something can be measured."""
        if not len(self.elsewhere):
            return self
        places, scales = np.concatenate([self.places, self.elsewhere]), self.coordinates.scales
        return Domain(places, self.kernel, names=self.names, scales=scales, reference=self.reference)

    @property
    def dimension(self) -> int:
        """Number of columns that the kernel sees."""
        return int(self.points.shape[1])

    @property
    def columns(self) -> tuple[str, ...]:
        """(d,) names of the columns that the kernel sees."""
        return self.coordinates.columns

    def gram(
        self, rows: Indices | Mask | Sequence[int], columns: Indices | Mask | Sequence[int] | None = None
    ) -> Array:
        """Block (p, q) of the kernel matrix K between two index sets; ``columns`` is ``rows`` where it is not given.

        Sets are p indices, in any order and with repetitions, or a mask (n,). Every block belongs to one and the same
        K: ``gram(a, b)[i, j]`` is ``K[a[i], b[j]]`` whatever else is in a and b.
        """
        left = self._indices(rows)
        right = left if columns is None else self._indices(columns)
        if self.kernel is not None and columns is None and len(np.unique(left)) == len(left):
            return np.array(self.kernel(self.points[left]), dtype=np.float64)  # scikit-learn computes half of it
        return block(self.kernel, self.points[left], self.points[right], same(left, right))

    @cached_property
    def blocks(self) -> Blocks:
        """The points in blocks of near ones, for passes over all of them."""
        return blocks(self.points, self.units)

    def diagonal(self) -> Array:
        """k(x, x) for every point (n,)."""
        return variances(self.kernel, self.points)

    def at(self, points: Indices) -> Array:
        """k(x, x) (m,) of some points."""
        return variances(self.kernel, self.points[points])

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        parts = [f"{self.n} point{'s' * (self.n > 1)}"]
        shown = zip(self.names, self.coordinates.scales, self.places.T[:_SHOWN_COORDINATES], strict=False)
        parts += [f"{name} {scale.extent(values)}" for name, scale, values in shown]
        if len(self.names) > _SHOWN_COORDINATES:
            parts.append(f"{len(self.names) - _SHOWN_COORDINATES} more")
        if len(self.elsewhere):
            parts.append(f"{len(self.elsewhere)} place{'s' * (len(self.elsewhere) > 1)} elsewhere")
        parts.append("linear kernel" if self.kernel is None else f"kernel={self.kernel!r}")
        return f"Domain({', '.join(parts)})"

    def _indices(self, chosen: Indices | Mask | Sequence[int]) -> Indices:
        picked = np.atleast_1d(np.asarray(chosen))
        # An empty list becomes an array of floats, which cannot index.
        indices: Indices = np.arange(self.n)[picked if picked.size else picked.astype(np.int64)]
        return indices


def read_columns(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The names in the first line of a file, without empty ones."""
    return tuple(name for name in formats.header(path) if name)


def read_values(path: str | os.PathLike[str], column: str) -> Array:
    """One column of a file as numbers (n,), in the order of its lines; NaN where a cell is empty.

    The file is as for `Domain.read`, whose points it belongs to: a pilot survey has blanks where nothing was measured.
    """
    table = formats.read(path).checked()
    (place,) = table.places([column])
    values, wrong = table.numbers_or_blanks(place)
    for row in np.flatnonzero(wrong).tolist():
        raise table.cell_error(row, place, NUMBER_OR_BLANK)
    return values
