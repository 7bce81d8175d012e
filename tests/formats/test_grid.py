"""Rasters as domains: GeoTIFF and the files of numpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel import formats
from superlevel.errors import InputError

DEPTH = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, np.nan]])
SAND = np.array([[np.nan, np.nan, 1.0], [0.0, 1.0, 1.0]])
grids = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.sampled_from([np.nan, 2.0])
)


@pytest.fixture
def tif(tmp_path: Path) -> Path:
    """Cells of 2 by 3 units, with the upper left corner at (10, 100)."""
    path, to = tmp_path / "depth.tif", rasterio.Affine(2, 0, 10, 0, -3, 100)
    given: Any = {"driver": "GTiff", "width": 3, "height": 2, "count": 2, "dtype": "float64", "nodata": np.nan}
    with rasterio.open(path, "w", transform=to, crs="EPSG:25832", **given) as target:
        for number, (name, band) in enumerate((("depth", DEPTH), ("sand", SAND)), start=1):
            target.write(band, number)
            target.set_band_description(number, name)
    return path


def test_a_raster_and_a_table_of_the_same_file_are_one_domain(tif: Path) -> None:
    domain, table = sl.Domain.raster(tif, kernel=RBF(2.0)), sl.Domain.read(tif)
    np.testing.assert_array_equal(domain.places, table.places)
    assert domain.names == table.names == ("x", "y")
    assert domain.reference == table.reference == "EPSG:25832"
    assert domain.kernel == RBF(2.0)
    assert domain.n == 5  # (0, 1) has no data in any band
    depth = sl.Domain.raster(tif, band="depth")
    assert depth.places.tolist() == [[11, 98.5], [15, 98.5], [11, 95.5], [13, 95.5]]
    assert depth.reference == "EPSG:25832"


def test_the_same_cells_in_files_of_numpy(tif: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "depth.npz", depth=DEPTH, sand=SAND, x=[11, 13, 15], y=[98.5, 95.5])
    for band in ("depth", "sand", None):
        one, other = (sl.Domain.raster(path, band=band) for path in (tif, tmp_path / "depth.npz"))
        np.testing.assert_array_equal(one.places, other.places)
    np.save(tmp_path / "depth.npy", DEPTH)
    assert sl.Domain.raster(tmp_path / "depth.npy").places.tolist() == [[0, 0], [2, 0], [0, 1], [1, 1]]
    table = formats.read(tmp_path / "depth.npz")
    assert table.header == formats.header(tmp_path / "depth.npz") == ("x", "y", "depth", "sand")
    assert sl.Domain.read(tmp_path / "depth.npz", columns=["x", "depth"], drop_incomplete=True).n == 4


@settings(deadline=None)
@given(grid=grids)
def test_points_are_the_cells_with_data(grid: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("grid") / "a.npy"
    np.save(path, grid)
    cells = [[column, row] for row, column in np.argwhere(~np.isnan(grid)).tolist()]
    if cells:
        assert sl.Domain.raster(path).places.tolist() == cells
    else:
        with pytest.raises(InputError, match="which has a header only"):
            sl.Domain.raster(path)


def test_whole_numbers_and_yes_or_no_are_data_everywhere(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", count=np.zeros((2, 3), dtype=np.int16), dry=np.zeros((2, 3), dtype=bool))
    assert sl.Domain.raster(tmp_path / "a.npz").n == 6


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"a": np.zeros(3)}, r"with a of shape \(3,\): give arrays"),
        ({"a": np.zeros((2, 2)), "b": np.zeros((2, 3))}, r"b of shape \(2, 3\): give arrays"),
        ({"a": np.zeros((2, 2)), "x": np.zeros(3)}, r"x of shape \(3,\): give arrays"),
        ({"a": np.zeros((2, 2)), "z": np.zeros(2)}, r"z of shape \(2,\): give arrays"),
        ({"a": np.array([["p", "q"]])}, "give arrays"),
        ({"x": np.zeros((2, 2)), "a": np.zeros((2, 2))}, "give arrays"),
        ({}, "with nothing: give arrays"),
    ],
)
def test_other_arrays_are_refused_with_their_shapes(tmp_path: Path, given: Any, sentence: str) -> None:
    np.savez(tmp_path / "a.npz", **given)
    with pytest.raises(InputError, match=sentence):
        sl.Domain.raster(tmp_path / "a.npz")


def test_what_is_no_raster_is_refused(tif: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"band is 'gravel': give one of 'depth', 'sand'"):
        sl.Domain.raster(tif, band="gravel")
    with pytest.raises(InputError, match=r"give a raster \(\.tif, \.tiff, \.npy, \.npz\); Domain\.read takes tables"):
        sl.Domain.raster(tmp_path / "points.csv")
    with pytest.raises(InputError, match="give a file that can be read"):
        sl.Domain.raster(tmp_path / "nothing.npy")
    for content in (b"", b"PK", b"points"):
        (tmp_path / "bad.npz").write_bytes(content)
        with pytest.raises(InputError, match="which numpy cannot read"):
            sl.Domain.raster(tmp_path / "bad.npz")
    np.save(tmp_path / "objects.npy", np.array([[{}]]), allow_pickle=True)
    with pytest.raises(InputError, match="which numpy cannot read"):
        sl.Domain.raster(tmp_path / "objects.npy")
    with pytest.raises(InputError, match="numpy's files are read only"):
        formats.write(tmp_path / "out.npy", formats.read(tif))
