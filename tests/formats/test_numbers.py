"""Columns of numbers say what a list of the same cells says, and rasters are the same however they are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel import formats
from superlevel.formats import cells, raster
from superlevel.formats.cells import Numbers
from superlevel.formats.table import Table

rasterio = pytest.importorskip("rasterio")

values = st.lists(st.one_of(st.just(np.nan), st.floats(allow_nan=False), st.integers(-3, 3).map(float)), min_size=1)


@given(values)
def test_a_column_of_numbers_is_a_list_of_its_cells(listed: list[float]) -> None:
    column = Numbers(np.array(listed))
    plain = list(column)
    assert plain == [cells.as_cell(value) for value in listed]
    assert cells.as_texts(column) == cells.as_texts(plain)
    for of in (cells.empty, cells.absent):
        np.testing.assert_array_equal(of(column), of(plain))
    for mine, theirs in zip(cells.numbers(column), cells.numbers(plain), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert cells.decimal_mark(column, []) == cells.decimal_mark(plain, [])
    at = np.arange(len(listed))[::-2]
    assert list(cells.taken(column, at)) == list(cells.taken(plain, at))


@given(values, st.data())
def test_chosen_rows_keep_their_cells_and_lines(listed: list[float], data: st.DataObject) -> None:
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(listed), max_size=len(listed))))
    lines = range(2, len(listed) + 2)
    table = Table(name="", header=("a", "b"), columns=(Numbers(np.array(listed)), list("x" * len(listed))), lines=lines)
    found = table.chosen(mask)
    at = np.flatnonzero(mask).tolist()
    assert list(found.columns[0]) == [cells.as_cell(listed[i]) for i in at]
    assert list(found.lines) == [lines[i] for i in at]
    assert len(found) == len(at)


def _written(path: Path, bands: np.ndarray, **profile: object) -> None:
    count, height, width = bands.shape
    shape = {"driver": "GTiff", "count": count, "height": height, "width": width, "dtype": bands.dtype}
    with rasterio.open(path, "w", transform=rasterio.Affine(2, 0, 10, 0, -3, 20), **shape, **profile) as target:
        target.write(bands)


def _table(path: Path) -> list[tuple[formats.Cell, ...]]:
    return [*formats.read(path).rows()]


@pytest.mark.parametrize("kind", ["float32", "float64", "int16", "int64", "uint8"])
def test_strips_of_a_raster_are_the_raster(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    bands = rng.integers(0, 5, (2, 7, 4)).astype(kind)
    path = tmp_path / "bands.tif"
    _written(path, bands, nodata=0)
    at_once = _table(path)
    monkeypatch.setattr(raster, "STRIP", 2 * 4 * 2)  # two rows of both bands
    assert _table(path) == at_once
    there = (bands != 0).any(axis=0)
    rows, columns = np.nonzero(there)
    expected = [
        (10 + 2 * (j + 0.5), 20 - 3 * (i + 0.5), *("" if not band[i, j] else band[i, j] for band in bands))
        for i, j in zip(rows, columns, strict=True)
    ]
    assert at_once == expected


def test_whole_numbers_keep_all_their_digits(tmp_path: Path) -> None:
    large = 2**53 + 1
    _written(tmp_path / "large.tif", np.full((1, 1, 1), large))
    assert _table(tmp_path / "large.tif")[0][2] == large


def test_a_raster_without_data_is_a_table_without_rows(tmp_path: Path) -> None:
    _written(tmp_path / "empty.tif", np.full((1, 3, 2), np.nan))
    assert _table(tmp_path / "empty.tif") == []
