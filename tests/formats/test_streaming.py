"""Cells that are made when they are read: the same files as of cells that were listed, with little memory."""

from __future__ import annotations

import csv
import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel import formats
from superlevel.formats import Cell, Computed, table_of, with_columns
from superlevel.formats.cells import BLOCK
from superlevel.formats.text import _UNSAFE, neutral, written

texts = st.text(alphabet="ab;\t\r\n\"',=+-@ 1", max_size=4)
cells = st.one_of(texts, st.integers(-9, 9), st.floats(allow_nan=False, allow_infinity=False))


def one_by_one(header: list[str], rows: list[tuple[Cell, ...]]) -> str:
    """Every row by itself: quoted whole where a cell is unsafe."""
    text = io.StringIO(newline="")
    for row in [tuple(header), *rows]:
        unsafe = any(isinstance(cell, str) and _UNSAFE.search(cell) for cell in row)
        plain, quoted = (
            csv.writer(text, lineterminator="\n", quoting=each) for each in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
        )
        (quoted if unsafe else plain).writerow([neutral(cell) for cell in row])
    return text.getvalue()


@given(st.lists(st.tuples(cells, cells), max_size=6))
def test_rows_that_are_written_together_are_those_that_are_written_one_by_one(rows: list[tuple[Cell, ...]]) -> None:
    assert written(table_of(["a", "b"], rows)) == one_by_one(["a", "b"], rows)


def test_computed_cells_are_a_sequence_like_any_other() -> None:
    values = np.arange(2 * BLOCK + 3)
    column = Computed(values, lambda value: value / 4)
    listed = [value / 4 for value in range(2 * BLOCK + 3)]
    assert list(column) == listed
    assert len(column) == len(listed)
    assert (column[5], column[-1]) == (listed[5], listed[-1])
    assert list(column[7:9]) == listed[7:9]
    assert list(Computed(np.array([np.nan, 1.5]))) == ["", 1.5]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".xlsx", ".parquet", ".gpkg", ".tif"])
def test_files_of_computed_cells_are_those_of_listed_ones(tmp_path: Path, ending: str) -> None:
    rng = np.random.default_rng(0)
    given = {
        "x": Computed(np.tile(np.arange(30.0), 20)),
        "y": Computed(np.repeat(np.arange(20.0), 30)),
        "label": Computed(rng.integers(0, 2, 600), ("below", "above").__getitem__),
        "mean": Computed(np.where(rng.random(600) < 0.1, np.nan, rng.normal(size=600))),
    }
    for name, columns in (("made", given), ("listed", {name: list(column) for name, column in given.items()})):
        formats.write(tmp_path / f"{name}{ending}", with_columns(columns))
    made, listed = (formats.read(tmp_path / f"{name}{ending}") for name in ("made", "listed"))
    assert made.header == listed.header
    assert [list(column) for column in made.columns] == [list(column) for column in listed.columns]
    assert len(made) == 600


def test_a_large_table_is_written_with_the_memory_of_a_few_rows(tmp_path: Path) -> None:
    table = with_columns({f"c{k}": Computed(np.random.default_rng(k).random(50_000)) for k in range(6)})
    tracemalloc.start()
    formats.write(tmp_path / "a.csv", table)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5e6  # a list of all cells has 9.6 MB
    assert (tmp_path / "a.csv").stat().st_size > 5e6
