"""What a domain is given, checked: points, the names and scales of their coordinates, and places elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from superlevel.arrays import Array, as_matrix, as_names, frozen
from superlevel.coordinates import Coordinates
from superlevel.errors import InputError
from superlevel.geography import named
from superlevel.scales import Latitude, Longitude, Number, Scale


def as_coordinates(values: Any, field: str = "points") -> tuple[Array, tuple[str, ...]]:
    """A read-only copy (n, d) of the points, and the names they come with or get."""
    names: tuple[str, ...] | None = None
    if is_frame(values):
        values, names = _frame_numbers(values), tuple(str(label) for label in values.columns)
    try:
        on_a_line = np.ndim(values) == 1
    except ValueError:  # ragged lists, which as_matrix explains
        on_a_line = False
    matrix = as_matrix(field, np.asarray(values)[:, None] if on_a_line else values).copy()
    matrix.setflags(write=False)
    return matrix, names or tuple(f"x{j}" for j in range(matrix.shape[1]))


def as_elsewhere(values: Any, coordinates: Coordinates) -> Array:
    """A read-only copy (m, c) of the places elsewhere, with no row where there are none."""
    dimension = len(coordinates.names)
    if values is None or (hasattr(values, "__len__") and not len(values)):
        return frozen(np.empty((0, dimension)))
    matrix, _ = as_coordinates(values, "elsewhere")
    if matrix.shape[1] != dimension:
        got = f"with {matrix.shape[1]} coordinate{'s' * (matrix.shape[1] > 1)}"
        raise InputError("elsewhere", got, f"give {dimension}, as the points have")
    coordinates.check("elsewhere", matrix)
    return matrix


def is_frame(values: object) -> bool:
    """Whether this is a pandas frame, found without importing pandas, which is optional and slow to import."""
    bases = type(values).__mro__
    return any(base.__name__ == "DataFrame" and base.__module__.split(".")[0] == "pandas" for base in bases)


def _frame_numbers(frame: Any) -> Array:
    for label, dtype in zip(frame.columns, frame.dtypes, strict=True):
        if dtype.kind not in "iuf":
            raise InputError(
                f"points[{str(label)!r}]", f"a column of type {dtype}", "turn it into numbers or leave it out"
            )
    return np.asarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))


def id_column(frame: Any, column: str) -> Any:
    if column not in frame.columns:
        known = ", ".join(repr(str(label)) for label in frame.columns)
        raise InputError("ids", repr(column), f"give a column out of {known}, or {len(frame)} names")
    return frame[column]


def as_id_name(name: object, names: tuple[str, ...]) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InputError("id_name", repr(name), "give a name of at least one letter")
    if name in names:
        raise InputError("id_name", repr(name), "a coordinate has that name: give another one")
    return name


def as_coordinate_names(names: Sequence[str], dimension: int) -> tuple[str, ...]:
    checked = as_names("names", names, remedy=f"give {dimension} names, one for each coordinate of the points")
    for j, name in enumerate(checked):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"names[{j}]", repr(name), "give a name of at least one letter")
    if len(checked) != dimension:
        raise InputError("names", repr(checked), f"give {dimension} names, one for each coordinate of the points")
    return tuple(str(name) for name in checked)


def scaled(places: Array, names: tuple[str, ...], scales: Sequence[Scale] | None) -> Coordinates:
    """The coordinates, each of which is as its scale says."""
    if scales is None:
        return Coordinates.plain(names)
    if len(scales) != len(names):
        raise InputError("scales", f"{len(scales)} of them", f"give {len(names)}, one for each coordinate")
    coordinates = Coordinates(names=names, scales=tuple(scales))
    coordinates.check("points", places)
    return coordinates


def on_sphere(names: tuple[str, ...], scales: Sequence[Scale] | None) -> tuple[Scale, ...]:
    """The scales (d,) with those of longitude and latitude among them: by their names, or else the first two of two."""
    found = named(names) or ((0, 1) if len(names) == 2 else None)
    if found is None:
        remedy = "call two of them longitude and latitude (or lon and lat)"
        raise InputError("geographic", f"asked for, where the coordinates are {', '.join(names)}", remedy)
    listed: list[Scale] = [Number()] * len(names) if scales is None else list(scales)
    listed[found[0]], listed[found[1]] = Longitude(), Latitude()
    return tuple(listed)
