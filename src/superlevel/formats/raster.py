"""Rasters in GeoTIFF files: a row for every cell that has data. Needs the extra `gis` (rasterio).

A cell's coordinates are those of its middle. Every band is a column, called by its description or band1, band2, ... A
cell without data in any band is no row; one without data in some bands has empty cells there.

Rows that are written must lie on a grid with square or oblong cells, each at most once. Bands are numbers of double
precision, and no data is NaN. A column of texts, of which there are few, is a band of their numbers, with the texts in
its tags (above, undecided and below are 1, 0 and -1); a single text is a tag of the file. Other texts are left out.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from superlevel.arrays import Array, Indices
from superlevel.errors import InputError
from superlevel.formats import places as where
from superlevel.formats.cells import Cell, Numbers, as_text, read_cell
from superlevel.formats.extras import needed
from superlevel.formats.table import Table
from superlevel.grids import distinct, even_steps

endings = (".tif", ".tiff")

TEXTS, SINGLE, COORDINATES = "SUPERLEVEL_TEXTS", "SUPERLEVEL_SINGLE", "SUPERLEVEL_COORDINATES"  # tags
LABELS = {"above": 1, "undecided": 0, "below": -1}
MOST_TEXTS = 255
OFF = 1e-3  # of a cell: how far a place may be from the middle of one
PARTS = 12  # of the smallest gap that are tried for the size of a cell
STRIP = 2**22  # numbers that are read at once
EXACT = 8  # bytes of a whole number from which a float may not hold it
SPARSE = 1000  # cells of a grid for every row, at most: otherwise the places are not on a grid


def header(path: Path) -> tuple[str, ...]:
    """The names of the columns."""
    with _opened(path) as source:
        return _named(source).header


def read(path: Path) -> Table:
    """The table in a file. Its lines are counted as those of a CSV file with the same rows."""
    with _opened(path) as source:
        rows, columns, bands, missing = _filled(source)
        to = source.transform
        places = np.stack([to.c + (columns + 0.5) * to.a, to.f + (rows + 0.5) * to.e], axis=1)
        cells = {name: _cells(source, k, bands[k], missing[k]) for k, name in enumerate(_bands(source))}
        single = {name: [text, *[""] * (len(rows) - 1)][: len(rows)] for name, text in _tag(source, SINGLE).items()}
        reference = source.crs.to_string() if source.crs else ""
        return where.located(path, _named(source), cells | single, places=places, reference=reference)


def write(path: Path, table: Table) -> None:
    """The table as a file with a band for every column but the coordinates."""
    rasterio = needed("rasterio", extra=where.EXTRA, path=path)
    names = where.chosen(table, path)
    grid, crs = _grid(path, where.coordinates(table, path)), where.system(table.reference, path)
    others = {name: column for name, column in zip(table.header, table.columns, strict=True) if name not in names}
    single = {name: text for name, column in others.items() if (text := _single(column)) is not None}
    bands = [_Band(name, *found) for name, column in others.items() if name not in single and (found := _band(column))]
    if not bands:
        raise InputError("path", f"{str(path)!r}, of a table without numbers", "take a .csv or .gpkg file instead")
    tags = {COORDINATES: json.dumps(names), SINGLE: json.dumps(single)}
    path.unlink(missing_ok=True)
    profile = {"driver": "GTiff", "dtype": "float64", "nodata": np.nan, "count": len(bands), "compress": "deflate"}
    profile |= {"width": grid.width, "height": grid.height, "crs": crs}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a grid of cells of size 1 has no place on the Earth
        with rasterio.open(path, "w", transform=rasterio.Affine(*grid.transform), **profile) as target:
            target.update_tags(**tags)
            for number, band in enumerate(bands, start=1):
                image = np.full((grid.height, grid.width), np.nan)
                image[grid.rows, grid.columns] = band.values
                target.write(image, number)
                target.set_band_description(number, band.name)
                if band.texts:
                    target.update_tags(number, **{TEXTS: json.dumps(band.texts)})


class _Band(NamedTuple):
    """A column as numbers."""

    name: str
    values: Array
    """(m,) NaN where a cell is empty."""
    texts: dict[str, int]
    """The number of each text; empty for a column of numbers."""


class _Grid(NamedTuple):
    """The cells of rows."""

    transform: tuple[float, ...]
    """East of column j and row i is a (j + ½) + c, and north e (i + ½) + f: a, 0, c, 0, e, f."""
    width: int
    height: int
    columns: Indices
    """(m,) from the west."""
    rows: Indices
    """(m,) from the north."""


def _grid(path: Path, places: Array) -> _Grid:
    """The smallest grid that has every place in the middle of a cell."""
    given = f"{str(path)!r}, of points that are not on a grid"
    remedy = "take a .gpkg file instead, or a list of points that is a raster"
    if np.isnan(places).any() or not len(places):
        raise InputError("path", given, remedy)
    found = [distinct(values) for values in places.T]
    across, up = even_steps(found[0][0], slack=OFF, parts=PARTS), even_steps(found[1][0], slack=OFF, parts=PARTS)
    if across is None or up is None or across.count * up.count > SPARSE * len(places):
        raise InputError("path", given, remedy)
    width, height = across.count, up.count
    columns, rows = across.at[found[0][1]], height - 1 - up.at[found[1][1]]
    if (np.diff(np.sort(rows * width + columns)) == 0).any():
        raise InputError("path", f"{str(path)!r}, of points of which some are in one cell", remedy)
    east, north = across.size or up.size or 1.0, up.size or across.size or 1.0
    top = up.first + (height - 0.5) * north
    return _Grid((east, 0.0, across.first - east / 2, 0.0, -north, top), width, height, columns, rows)


# --- bands


def _opened(path: Path) -> Any:
    rasterio = needed("rasterio", extra=where.EXTRA, path=path)
    with path.open("rb"):  # what cannot be opened is said as of any other file
        pass
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it has no place on the Earth
            source = rasterio.open(path)
    except rasterio.errors.RasterioIOError as error:
        raise InputError("path", f"{str(path)!r}, which GDAL cannot read", "give a GeoTIFF") from error
    if source.transform.b or source.transform.d:
        source.close()
        raise InputError("path", f"{str(path)!r}, which is turned", "warp it, so that its rows lead from west to east")
    return source


def _named(source: Any) -> where.Named:
    """The coordinates come first. They have the names of the table that was written, or the usual ones."""
    others = [*_bands(source), *_tag(source, SINGLE)]
    usual = where.DEGREES if source.crs and source.crs.is_geographic else where.PLANE
    known = _read_tag(source.tags().get(COORDINATES))
    east, north = known if isinstance(known, list) and len(known) == 2 else usual
    return where.Named((east, north, *others), (east, north))


def _bands(source: Any) -> list[str]:
    return [(text or "").strip() or f"band{k}" for k, text in enumerate(source.descriptions, start=1)]


def _tag(source: Any, name: str, band: int = 0) -> dict[str, Any]:
    found = _read_tag(source.tags(band).get(name))
    return found if isinstance(found, dict) else {}


def _read_tag(text: str | None) -> Any:
    try:
        return json.loads(text or "null")
    except ValueError:
        return None


class _Filled(NamedTuple):
    """The cells of a raster that have data in a band."""

    rows: Indices
    """(m,) from the north."""
    columns: Indices
    """(m,) from the west."""
    bands: np.ndarray
    """(b, m)"""
    missing: np.ndarray
    """(b, m) where a band has no data."""


def _filled(source: Any) -> _Filled:
    """All cells with data.

    The file is read in strips, so that cells without data take no room.
    """
    step = max(1, STRIP // (source.width * source.count))
    found = [_strip(source, first, min(step, source.height - first)) for first in range(0, source.height, step)]
    rows, columns, bands, missing = zip(*found, strict=True)
    return _Filled(
        np.concatenate(rows), np.concatenate(columns), np.concatenate(bands, axis=1), np.concatenate(missing, axis=1)
    )


def _strip(source: Any, first: int, height: int) -> _Filled:
    """The cells with data in some rows."""
    bands = source.read(masked=True, window=((first, first + height), (0, source.width)))
    missing = np.ma.getmaskarray(bands)
    if bands.dtype.kind == "f":
        missing = missing | np.isnan(bands.data)
    rows, columns = np.nonzero(~missing.all(axis=0))
    return _Filled(rows + first, columns, bands.data[:, rows, columns], missing[:, rows, columns])


def _cells(source: Any, number: int, values: np.ndarray, missing: np.ndarray) -> Sequence[Cell]:
    """The cells (m,) of a band."""
    texts = {value: text for text, value in _tag(source, TEXTS, number + 1).items()}
    if not texts and (values.dtype.kind == "f" or values.dtype.itemsize < EXACT):
        return Numbers(np.where(missing, np.nan, values))
    listed = [texts.get(value, read_cell(value)) for value in values.tolist()]
    return ["" if blank else cell for cell, blank in zip(listed, missing.tolist(), strict=True)]


def _single(column: Sequence[Cell]) -> str | None:
    """The text of the first cell, where all others are empty; None for any other column."""
    first, *others = column
    return first if isinstance(first, str) and first and others and not any(cell != "" for cell in others) else None


def _band(column: Sequence[Cell]) -> tuple[Array, dict[str, int]] | None:
    """Numbers (m,), NaN where a cell is empty, and the number of each text; None for a column of many texts."""
    filled = [cell for cell in column if cell != ""]
    if not any(isinstance(cell, str) for cell in filled):
        return np.array([np.nan if cell == "" else float(cell) for cell in column]), {}
    texts = list(dict.fromkeys(as_text(cell) for cell in filled))
    if len(texts) > MOST_TEXTS:
        return None
    known = LABELS if set(texts) <= set(LABELS) else {text: k for k, text in enumerate(texts, start=1)}
    return np.array([np.nan if cell == "" else known[as_text(cell)] for cell in column]), known
