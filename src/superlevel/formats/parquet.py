"""Tables in Parquet files. Needs the extra `parquet` (pyarrow).

A column of numbers is written as such, with nulls for empty cells; a column with a text in it is written as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from superlevel.errors import InputError
from superlevel.formats.cells import Cell, as_text, read_cell
from superlevel.formats.extras import needed
from superlevel.formats.table import Table

endings = (".parquet", ".pq")


def header(path: Path) -> tuple[str, ...]:
    """The names of the columns."""
    return tuple(name.strip() for name in _opened(path).schema_arrow.names)


def read(path: Path) -> Table:
    """The table in a file. Its lines are counted as those of a CSV file with the same rows."""
    with _opened(path) as file:
        found = file.read()
    columns = tuple([read_cell(value) for value in column.to_pylist()] for column in found.columns)
    names = tuple(name.strip() for name in found.column_names)
    return Table(name=str(path), header=names, columns=columns, lines=range(2, found.num_rows + 2), commas=True)


def write(path: Path, table: Table) -> None:
    """The table as a file."""
    writer = needed("pyarrow.parquet", extra="parquet", path=path)
    pyarrow = needed("pyarrow", extra="parquet", path=path)
    arrays = [_array(pyarrow, column) for column in table.columns]
    writer.write_table(pyarrow.Table.from_arrays(arrays, names=list(table.header)), path)


def _opened(path: Path) -> Any:
    reader = needed("pyarrow.parquet", extra="parquet", path=path)
    invalid = needed("pyarrow", extra="parquet", path=path).ArrowInvalid
    with path.open("rb"):  # what cannot be opened is said as of any other file
        pass
    try:
        return reader.ParquetFile(path)
    except invalid as error:
        raise InputError("path", f"{str(path)!r}, which is no Parquet file", "give one that pyarrow reads") from error


def _array(pyarrow: Any, column: Sequence[Cell]) -> Any:
    """As numbers where every cell that is filled is one, as texts otherwise."""
    filled = [cell for cell in column if cell != ""]
    if not filled or any(isinstance(cell, str) for cell in filled):
        return pyarrow.array([None if cell == "" else as_text(cell) for cell in column], pyarrow.string())
    kind = pyarrow.int64() if all(isinstance(cell, int) for cell in filled) else pyarrow.float64()
    return pyarrow.array([None if cell == "" else cell for cell in column], kind)
