"""Columns of a table that say where a row is on a map, and the reference system in which they do.

A reference system is "EPSG:4326" and the like, or WKT. If it counts in degrees, the columns are longitude and latitude;
otherwise they are x and y in its unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from superlevel.arrays import Array
from superlevel.errors import InputError
from superlevel.formats.cells import Cell, Numbers
from superlevel.formats.extras import needed
from superlevel.formats.table import Table
from superlevel.geography import EAST, NORTH, SOUTH, WEST, named

EXTRA = "gis"
DEGREES, PLANE = ("longitude", "latitude"), ("x", "y")
_PLANES = (PLANE, ("easting", "northing"), ("east", "north"), ("e", "n"), ("rechtswert", "hochwert"))


def is_in_degrees(reference: str, path: Path) -> bool:
    """Whether a reference system has longitudes and latitudes; not if there is none."""
    return bool(reference) and bool(system(reference, path).is_geographic)


def system(reference: str, path: Path) -> Any:
    """The reference system as rasterio has it; None where there is none."""
    crs = needed("rasterio.crs", extra=EXTRA, path=path)
    errors = needed("rasterio.errors", extra=EXTRA, path=path)
    if not reference:
        return None
    try:
        return crs.CRS.from_string(reference)
    except (errors.CRSError, ValueError) as error:
        remedy = "give one that PROJ knows, such as EPSG:4326"
        raise InputError("reference", repr(reference[:60]), remedy) from error


def column_names(header: Sequence[str], *, in_degrees: bool) -> tuple[str, str] | None:
    """The names of the two columns with coordinates; None where no columns are called like that."""
    found = named(header)
    if found is not None:
        return header[found[0]], header[found[1]]
    plain = [name.lower() for name in header]
    for east, north in () if in_degrees else _PLANES:
        if plain.count(east) == plain.count(north) == 1:
            return header[plain.index(east)], header[plain.index(north)]
    return None


def chosen(table: Table, path: Path) -> tuple[str, ...]:
    """(2,) the names of the columns that are east and north; an error where the table has no such columns."""
    in_degrees = is_in_degrees(table.reference, path)
    found = table.coordinates or column_names(table.header, in_degrees=in_degrees)
    if not found:
        remedy = "call two columns longitude and latitude, or x and y, or take a .csv file instead"
        raise InputError("path", f"{str(path)!r}, of a table without coordinates", remedy)
    return tuple(found[:2])


def coordinates(table: Table, path: Path) -> Array:
    """(m, 2) east and north of every row, NaN where a cell is empty."""
    found = np.empty((len(table), 2))
    for j, place in enumerate(table.places(chosen(table, path))):
        found[:, j], wrong = table.numbers_or_blanks(place)
        for row in np.flatnonzero(wrong).tolist():
            raise table.cell_error(row, place, "give a number")
    return found


def look_like_degrees(places: Array) -> bool:
    """Whether east and north (m, 2) may be degrees."""
    east, north = places[~np.isnan(places).any(axis=1)].T
    return bool(((east >= WEST) & (east <= EAST) & (north >= SOUTH) & (north <= NORTH)).all())


class Named(NamedTuple):
    """The columns of a file, and what its coordinates are called."""

    header: tuple[str, ...]
    """Of all columns. If the coordinates are not among those of the file, they come first."""
    coordinates: tuple[str, str]


def names_of(header: Sequence[str], *, in_degrees: bool) -> Named:
    """The names of the columns of a file, of which none or two have names of coordinates."""
    found = column_names(header, in_degrees=in_degrees)
    if found is not None:
        return Named(tuple(header), found)
    names = DEGREES if in_degrees else PLANE
    return Named((*names, *header), names)


def located(path: Path, names: Named, columns: Mapping[str, Sequence[Cell]], *, places: Array, reference: str) -> Table:
    """The table of rows at places (m, 2), with the other columns of a file by their names."""
    found = dict(columns) | {name: Numbers(values) for name, values in zip(names.coordinates, places.T, strict=True)}
    return Table(
        name=str(path),
        header=names.header,
        columns=tuple(found[name] for name in names.header),
        lines=range(2, len(places) + 2),
        commas=True,
        reference=reference,
        coordinates=names.coordinates,
    )
