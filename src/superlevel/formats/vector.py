"""Layers of points in GeoPackage and GeoJSON files. Needs the extra `gis` (pyogrio, rasterio).

A row is a point. Its coordinates are the columns that `superlevel.formats.places` names; they are written as the
geometry and as attributes, and read from the geometry. A point without coordinates has no geometry. GeoPackage keeps
all digits of a number, GDAL's GeoJSON keeps 15.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from superlevel.arrays import Array
from superlevel.errors import InputError
from superlevel.formats import places as where
from superlevel.formats.cells import Cell, as_text, read_cell
from superlevel.formats.extras import needed
from superlevel.formats.table import Table

endings = (".gpkg", ".geojson")

_DRIVERS = {".gpkg": "GPKG", ".geojson": "GeoJSON"}
_POINT = np.dtype([("order", "u1"), ("kind", "<u4"), ("east", "<f8"), ("north", "<f8")])  # well-known binary
_LITTLE, _KIND = 1, 1
_POINTS = "give a layer of points: QGIS makes one with 'Centroids' or 'Multipart to singleparts'"


def header(path: Path) -> tuple[str, ...]:
    """The names of the columns."""
    return _names(path, _info(path)).header


def read(path: Path) -> Table:
    """The table in the only layer of a file. Its lines are counted as those of a CSV file with the same rows."""
    layer = _info(path)["layer_name"]
    pyogrio = needed("pyogrio", extra=where.EXTRA, path=path)
    meta, _, shapes, fields = pyogrio.raw.read(path, layer=layer, force_2d=True, datetime_as_string=True)
    columns = {
        name.strip(): [read_cell(value) for value in values.tolist()]
        for name, values in zip(meta["fields"].tolist(), fields, strict=True)
    }
    names, reference = _names(path, meta), meta["crs"] or ""
    return where.located(path, names, columns, places=_places(path, shapes), reference=reference)


def write(path: Path, table: Table) -> None:
    """The table as a file with one layer, which is called like the file."""
    pyogrio = needed("pyogrio", extra=where.EXTRA, path=path)
    where.system(table.reference, path)
    places, driver = where.coordinates(table, path), _DRIVERS[path.suffix.lower()]
    if driver == "GeoJSON" and not table.reference and not where.look_like_degrees(places):
        remedy = "it holds degrees where no reference system is known: take a .gpkg file instead"
        raise InputError("path", repr(str(path)), remedy)
    pairs = [_field(column) for column in table.columns]
    path.unlink(missing_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no reference system
        try:
            pyogrio.raw.write(
                path,
                _shapes(places),
                [values for values, _ in pairs],
                list(table.header),
                field_mask=[mask for _, mask in pairs],
                layer="points",
                driver=driver,
                geometry_type="Point",
                crs=table.reference or None,
                layer_options=_options(driver, table.header),
            )
        except (pyogrio.errors.DataSourceError, pyogrio.errors.FieldError, RuntimeError) as error:
            reason = " ".join(str(error).split())
            raise InputError("path", repr(str(path)), f"rename its columns ({reason})") from error


def _names(path: Path, info: Any) -> where.Named:
    listed = [name.strip() for name in info["fields"].tolist()]
    return where.names_of(listed, in_degrees=where.is_in_degrees(info["crs"] or "", path))


def _info(path: Path) -> Any:
    pyogrio = needed("pyogrio", extra=where.EXTRA, path=path)
    with path.open("rb"):  # what cannot be opened is said as of any other file
        pass
    try:
        layers = pyogrio.list_layers(path)
        if len(layers) > 1:
            names = ", ".join(map(str, layers[:, 0]))
            raise InputError("path", f"{str(path)!r}, which has the layers {names}", "save one of them as a file")
        info = pyogrio.read_info(path)
    except pyogrio.errors.DataSourceError as error:
        raise InputError("path", f"{str(path)!r}, which GDAL cannot read", "give a GeoPackage or GeoJSON") from error
    if info["geometry_type"] not in {"Point", "Point Z", "Point M", "Point ZM", "Unknown", "2.5D Point"}:
        raise InputError("path", f"{str(path)!r}, a layer of the type {info['geometry_type']}", _POINTS)
    return info


def _places(path: Path, shapes: Array) -> Array:
    """(m, 2) of points as well-known binary; NaN where there is none."""
    found = np.full((len(shapes), 2), np.nan)
    there = np.array([shape is not None for shape in shapes.tolist()], dtype=np.bool_)
    raw = shapes[there].tolist()
    if any(len(shape) != _POINT.itemsize for shape in raw):
        raise InputError("path", f"{str(path)!r}, which has other shapes than points", _POINTS)
    points = np.frombuffer(b"".join(raw), dtype=_POINT)
    if (points["kind"] != _KIND).any():
        raise InputError("path", f"{str(path)!r}, which has other shapes than points", _POINTS)
    found[there] = np.stack([points["east"], points["north"]], axis=1)
    return found


def _shapes(places: Array) -> Array:
    """(m,) points as well-known binary, None where a coordinate is missing."""
    points = np.zeros(len(places), dtype=_POINT)
    points["order"], points["kind"] = _LITTLE, _KIND
    points["east"], points["north"] = places.T
    whole, size = points.tobytes(), _POINT.itemsize
    missing: list[bool] = np.isnan(places).any(axis=1).tolist()  # type: ignore[assignment]
    listed = [None if missing[i] else whole[i * size : (i + 1) * size] for i in range(len(places))]
    return np.array([*listed, None], dtype=object)[:-1]  # or numpy would look into the bytes


def _field(column: Sequence[Cell]) -> tuple[Any, Any]:
    """The values (m,) of a column as numbers where every filled cell is one, as texts otherwise; where it is empty."""
    blank = np.array([cell == "" for cell in column], dtype=np.bool_)
    filled = [cell for cell in column if cell != ""]
    if not filled or any(isinstance(cell, str) for cell in filled):
        return np.array([None if cell == "" else as_text(cell) for cell in column], dtype=object), blank
    kind = np.int64 if all(isinstance(cell, int) for cell in filled) else np.float64
    return np.array([0 if cell == "" else cell for cell in column], dtype=kind), blank


def _options(driver: str, names: Sequence[str]) -> dict[str, str]:
    if driver == "GeoJSON":
        return {"SIGNIFICANT_FIGURES": "17"}
    plain = {name.lower() for name in names}
    return {"FID": _free("fid", plain), "GEOMETRY_NAME": _free("geom", plain)}


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"{name}_"
    return name
