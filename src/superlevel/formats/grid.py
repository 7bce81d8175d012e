"""Rasters in files of numpy: a row for every cell that has data. They are read, and not written.

A `.npy` file holds one array (height, width), whose column is called band1. A `.npz` file holds such arrays of one
shape, each of which is a column by its name, and perhaps x (width,) and y (height,), the coordinates of its columns and
rows. Without these, a cell's coordinates are the numbers of its column and row, from 0. NaN is no data.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from superlevel.arrays import Array
from superlevel.errors import InputError
from superlevel.formats import places as where
from superlevel.formats.cells import Numbers
from superlevel.formats.table import Table

endings = (".npy", ".npz")

X, Y = where.PLANE
NUMBERS = "biuf"  # kinds of dtypes
REMEDY = "give arrays (height, width) of numbers, all of one shape, and in a .npz perhaps x (width,) and y (height,)"


def header(path: Path) -> tuple[str, ...]:
    """The names of the columns."""
    bands, _, _ = _grid(path)
    return X, Y, *bands


def read(path: Path) -> Table:
    """The table in a file. Its lines are counted as those of a CSV file with the same rows."""
    bands, x, y = _grid(path)
    rows, columns = np.nonzero(np.any([~np.isnan(band) for band in bands.values()], axis=0))
    cells = {name: Numbers(band[rows, columns]) for name, band in bands.items()}
    places = np.stack([x[columns], y[rows]], axis=1)
    return where.located(path, where.Named((X, Y, *bands), (X, Y)), cells, places=places, reference="")


def write(path: Path, table: Table) -> None:
    """Refused: an array has no room for names."""
    got = f"{str(path)!r}, for a table of {len(table.header)} columns"
    raise InputError("path", got, "numpy's files are read only: take a .tif, .csv or .parquet file")


def _grid(path: Path) -> tuple[dict[str, Array], Array, Array]:
    """The arrays (height, width) by their names, and the coordinates of columns (width,) and rows (height,)."""
    arrays = _loaded(path)
    bands = {name: array for name, array in arrays.items() if array.ndim == 2 and name not in (X, Y)}
    height, width = next(iter(bands.values())).shape if bands else (0, 0)
    axes = {X: np.arange(width), Y: np.arange(height)} | {k: a for k, a in arrays.items() if k not in bands}
    shapes = dict.fromkeys(bands, (height, width)) | {X: (width,), Y: (height,)}
    listed = bands | axes
    fits = {name: array.shape for name, array in listed.items()} == shapes
    if not bands or not fits or any(array.dtype.kind not in NUMBERS for array in listed.values()):
        given = ", ".join(f"{name} of shape {array.shape}" for name, array in arrays.items())
        raise _unusable(path, f"with {given or 'nothing'}")
    numbers = {name: np.asarray(array, dtype=np.float64) for name, array in listed.items()}
    return {name: numbers[name] for name in bands}, numbers[X], numbers[Y]


def _loaded(path: Path) -> dict[str, Any]:
    """All arrays of a file by their names; nothing in it is executed."""
    try:
        found = np.load(path, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return {"band1": found}
        with found:
            return dict(found)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise _unusable(path, "which numpy cannot read") from error


def _unusable(path: Path, what: str) -> InputError:
    return InputError("path", f"{str(path)!r}, {what}", REMEDY)
