"""Files of tables, by their endings: one module a format, all of which read and write the same `Table`.

    table = formats.read("survey.xlsx")            # header, columns, the line of each row
    formats.write("survey.parquet", table)

A format is a module with `endings`, `header(path)`, `read(path)` and `write(path, table)`; it is added to `FORMATS`. A
file with another ending is text. The functions of a format import the packages that they need (`extras.needed`) before
they open the file, so that nothing slow is imported here and a missing extra is one sentence.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from superlevel.errors import InputError, NotInstalledError
from superlevel.formats import excel, grid, parquet, raster, text, vector
from superlevel.formats.cells import Cell, Computed, empty
from superlevel.formats.table import Fault, Table, table_of, with_columns

__all__ = [
    "FORMATS",
    "RASTERS",
    "Cell",
    "Computed",
    "Fault",
    "Format",
    "Table",
    "check_installed",
    "endings",
    "format_of",
    "header",
    "read",
    "read_raster",
    "table_of",
    "with_columns",
    "write",
]

T = TypeVar("T")


class Format(Protocol):
    """What a module must have to be a format."""

    @property
    def endings(self) -> tuple[str, ...]:
        """Of the names of its files, in small letters."""

    def header(self, path: Path) -> tuple[str, ...]:
        """The names of the columns, without reading the rows."""

    def read(self, path: Path) -> Table:
        """The table in a file."""

    def write(self, path: Path, table: Table) -> None:
        """Write the table to a file, which is replaced."""


FORMATS: tuple[Format, ...] = (text, excel, parquet, vector, raster, grid)
RASTERS = (*raster.endings, *grid.endings)
"""The endings of files whose rows are cells."""
_OLD = {".xls": ".xlsx", ".ods": ".xlsx", ".shp": ".gpkg"}


def endings() -> tuple[str, ...]:
    """All endings that are known."""
    return tuple(ending for each in FORMATS for ending in each.endings)


def format_of(path: Path) -> Format:
    """The format of a file, by the ending of its name; text where that says nothing."""
    ending = path.suffix.lower()
    if ending in _OLD:
        raise InputError("path", repr(str(path)), f"save it as a file that ends in {_OLD[ending]}")
    return next((each for each in FORMATS if ending in each.endings), text)


def header(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The names of the columns of a file."""
    file = as_path(path)
    return _reading(file, format_of(file).header)


def read(path: str | os.PathLike[str]) -> Table:
    """The table in a file; what is wrong with single lines is among its faults."""
    file = as_path(path)
    return _reading(file, format_of(file).read)


def read_raster(path: str | os.PathLike[str], *, band: str | None = None) -> Table:
    """The table of a raster: a row for every cell that has data in a band, by default in any."""
    file = as_path(path)
    if file.suffix.lower() not in RASTERS:
        remedy = f"give a raster ({', '.join(RASTERS)}); Domain.read takes tables and layers of points"
        raise InputError("path", repr(str(file)), remedy)
    table = read(file)
    if band is None:
        return table
    bands = {
        name: cells for name, cells in zip(table.header, table.columns, strict=True) if name not in table.coordinates
    }
    if band not in bands:
        raise InputError("band", repr(band), f"give one of {', '.join(map(repr, bands))}")
    return table.chosen(~empty(bands[band]))


def write(path: str | os.PathLike[str], table: Table) -> None:
    """Write a table to a file in the format of its ending. Use `superlevel.files.replacing` to replace one safely."""
    file = as_path(path)
    format_of(file).write(file, table)


def check_installed(path: str | os.PathLike[str]) -> None:
    """That the packages are there which the format of a file needs, before anything is computed for that file."""
    file = as_path(path)
    found = format_of(file)
    try:
        found.header(file)
    except NotInstalledError:
        raise
    except (OSError, InputError):
        pass  # no file, or another one, which may be replaced


def as_path(path: str | os.PathLike[str]) -> Path:
    """The name of a file."""
    try:
        return Path(path)
    except TypeError as error:
        raise InputError("path", reprlib.repr(path), "give the name of a file") from error


def _reading(file: Path, by: Callable[[Path], T]) -> T:
    try:
        return by(file)
    except OSError as error:
        raise InputError("path", repr(str(file)), f"give a file that can be read ({error.strerror})") from error
