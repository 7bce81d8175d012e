"""GeoPackage, GeoJSON and GeoTIFF: GDAL's own readers see what was written, and what they wrote is read."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyogrio
import pytest
import rasterio
from hypothesis import given, settings
from hypothesis import strategies as st
from rasterio.crs import CRS

from superlevel import formats
from superlevel.domain import Domain
from superlevel.errors import InputError, NotInstalledError
from superlevel.formats import Computed, Table, table_of, with_columns

VECTORS, RASTER = [".gpkg", ".geojson"], ".tif"
HEADER = ("Probe", "lon", "lat", "Höhe", "label", "log head")
ROWS: list[list[Any]] = [
    ["Ä-1", 7.1 + 0.2, 50.0, 0.1 + 0.2, "above", "head 3 0123456789abcdef"],
    ["naß", 7.4, 50.0, None, "below", None],
    ["Ä-1", 7.3, 49.9, -1e-300, "undecided", None],
    ["Ωx", 7.5, 49.9, 3.0, "above", None],
]


def survey(reference: str) -> Table:
    return replace(table_of(HEADER, ROWS), reference=reference)


def is_same(reference: str, other: Any) -> bool:
    return bool(CRS.from_string(reference) == CRS.from_user_input(other))


@pytest.mark.parametrize("reference", ["EPSG:4326", "EPSG:25832", "EPSG:31467"])
@pytest.mark.parametrize("ending", VECTORS)
def test_points_come_back_with_umlauts_missing_cells_and_their_reference(
    tmp_path: Path, ending: str, reference: str
) -> None:
    path, table = tmp_path / f"Proben ä{ending}", survey(reference)
    formats.write(path, table)
    again = formats.read(path)
    assert formats.header(path) == again.header == HEADER
    for one, two in zip(again.rows(), table.rows(), strict=True):
        for cell, wanted in zip(one, two, strict=True):
            assert cell == (wanted if isinstance(wanted, str) else pytest.approx(wanted, rel=1e-15))
    assert is_same(reference, again.reference)
    assert again.coordinates == ("lon", "lat")


@pytest.mark.parametrize("ending", VECTORS)
def test_gdal_reads_the_points_that_were_written(tmp_path: Path, ending: str) -> None:
    path, table = tmp_path / f"a{ending}", survey("EPSG:25832")
    formats.write(path, table)
    meta, _, shapes, fields = pyogrio.raw.read(path)
    assert is_same("EPSG:25832", meta["crs"])
    assert tuple(meta["fields"]) == HEADER
    east, north = np.array([np.frombuffer(shape[5:], dtype="<f8") for shape in shapes]).T
    np.testing.assert_allclose(east, [row[1] for row in ROWS], rtol=1e-14)
    np.testing.assert_allclose(north, [row[2] for row in ROWS], rtol=1e-14)
    known = dict(zip(meta["fields"], fields, strict=True))
    np.testing.assert_allclose(known["Höhe"], [0.1 + 0.2, np.nan, -1e-300, 3.0], rtol=1e-15)
    assert known["Probe"].tolist() == [row[0] for row in ROWS]


def test_gdal_reads_the_raster_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    formats.write(path, survey("EPSG:4326"))
    with rasterio.open(path) as found:
        assert found.crs == CRS.from_epsg(4326)
        assert found.descriptions == ("Probe", "Höhe", "label")
        np.testing.assert_allclose(found.transform[:6], [0.1, 0, 7.25, 0, -0.1, 50.05], atol=1e-12)
        np.testing.assert_allclose(found.read(2), [[0.1 + 0.2, np.nan, np.nan], [-1e-300, np.nan, 3.0]], rtol=1e-15)
        np.testing.assert_array_equal(found.read(3), [[1, -1, np.nan], [0, np.nan, 1]])
        assert np.isnan(found.nodata)


def test_a_raster_comes_back_row_by_row_from_the_north(tmp_path: Path) -> None:
    path, table = tmp_path / "a.tif", survey("EPSG:25832")
    formats.write(path, table)
    again = formats.read(path)
    assert formats.header(path) == again.header == ("lon", "lat", "Probe", "Höhe", "label", "log head")
    assert is_same("EPSG:25832", again.reference)
    for name in again.header:
        one, two = table.columns[HEADER.index(name)], again.columns[again.header.index(name)]
        if name in again.coordinates:
            np.testing.assert_allclose(np.array(two), np.array(one), rtol=1e-14)
        else:
            assert list(two) == list(one)


@pytest.mark.parametrize("kind", ["uint8", "int16", "float32"])
def test_cells_without_data_are_left_out_of_a_raster_of_somebody_else(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "depth.tif"
    image = np.arange(12, dtype=kind).reshape(3, 4)
    image[0, 1] = image[2, 2] = 99
    place = {"crs": "EPSG:4326", "transform": rasterio.Affine(0.5, 0, -10, 0, -0.25, 60)}
    with rasterio.open(path, "w", "GTiff", 4, 3, 1, dtype=kind, nodata=99, **place) as target:
        target.write(image, 1)
    table = formats.read(path)
    assert table.header == ("longitude", "latitude", "band1")
    assert len(table) == 10
    assert next(table.rows()) == (-9.75, 59.875, 0)
    values = dict(zip(zip(*table.columns[:2], strict=True), table.columns[2], strict=True))
    assert (-9.25, 59.875) not in values
    assert values[-8.25, 59.375] == 11
    domain = Domain.read(path)
    assert domain.names == ("longitude", "latitude")
    assert (domain.n, domain.reference) == (10, "EPSG:4326")
    back = tmp_path / "again.tif"
    formats.write(back, table)
    with rasterio.open(back) as found:
        np.testing.assert_allclose(found.transform[:6], place["transform"][:6])
        expected = np.where(image == 99, np.nan, image.astype(float))
        np.testing.assert_array_equal(found.read(1), expected)


def test_a_cell_that_lacks_one_of_two_bands_stays_with_an_empty_cell(tmp_path: Path) -> None:
    path = tmp_path / "two.tif"
    bands = np.array([[[1.0, np.nan]], [[np.nan, np.nan]]])
    with rasterio.open(
        path, "w", "GTiff", 2, 1, 2, dtype="float64", transform=rasterio.Affine(2, 0, 0, 0, -2, 2)
    ) as target:
        target.write(bands)
    table = formats.read(path)
    assert list(table.rows()) == [(1.0, 1.0, 1.0, "")]
    assert table.header == ("x", "y", "band1", "band2")


def test_a_layer_of_somebody_else_has_the_coordinates_of_its_geometry(tmp_path: Path) -> None:
    """Attributes that are called like coordinates may be of another reference system, or rounded."""
    path = tmp_path / "wells.gpkg"
    listed = [bytes([1]) + np.uint32(1).tobytes() + np.array(p).tobytes() for p in [[3e5, 5e6], [4e5, 6e6]]]
    shapes = np.array([*listed, None], dtype=object)[:2]
    fields = [np.array([7.1, 7.2]), np.array([50.0, 51.0]), np.array([1, 2])]
    names = ["lon", "lat", "fid2"]
    pyogrio.raw.write(path, shapes, fields, names, geometry_type="Point", crs="EPSG:25832", driver="GPKG")
    table = formats.read(path)
    assert table.coordinates == ("lon", "lat")
    assert list(table.rows()) == [(3e5, 5e6, 1), (4e5, 6e6, 2)]


@pytest.mark.parametrize("ending", VECTORS)
def test_a_row_without_coordinates_has_no_geometry(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    formats.write(path, replace(table_of(["x", "y", "v"], [[1, 2, 3], [None, 2, 4]]), reference="EPSG:25832"))
    _, _, shapes, _ = pyogrio.raw.read(path)
    assert [shape is None for shape in shapes] == [False, True]
    assert [row[0] for row in formats.read(path).rows()] == [1.0, ""]


grids = st.integers(1, 6).flatmap(
    lambda width: st.tuples(
        st.just(width),
        st.lists(st.integers(0, 6 * width - 1), min_size=2, max_size=12, unique=True),
        st.sampled_from([1.0, 0.1, 1 / 3, 250.0]),
        st.sampled_from([0.0, -179.9, 3.4e6]),
    )
)


@settings(max_examples=40, deadline=None)
@given(grids)
def test_any_part_of_a_grid_comes_back_from_a_raster(tmp_path_factory: Any, grid: Any) -> None:
    width, cells, size, origin = grid
    rows, columns = np.divmod(np.array(sorted(cells)), width)
    path = tmp_path_factory.mktemp("grid") / "a.tif"
    places = np.stack([origin + size * columns, origin - size * rows], axis=1)
    table = table_of(["x", "y", "v"], [[*place, k] for k, place in enumerate(places.tolist())])
    formats.write(path, table)
    again = formats.read(path)
    assert [int(value) for value in again.columns[2]] == list(range(len(cells)))
    np.testing.assert_allclose(np.array(again.columns[:2]).T, places, atol=1e-6 * size)


def test_a_raster_in_degrees_with_four_decimals_has_its_cells_named_bands_and_no_data_elsewhere(tmp_path: Path) -> None:
    rows, columns = np.divmod(np.arange(1200), 40)
    there = np.hypot(rows - 15, columns - 20) > 5
    east, north = np.round(7 + columns / 240, 4)[there], np.round(54 - rows / 240, 4)[there]
    rng = np.random.default_rng(0)
    given = {
        "longitude": Computed(east),
        "latitude": Computed(north),
        "label": Computed(rng.integers(-1, 2, east.size), {1: "above", 0: "undecided", -1: "below"}.__getitem__),
        "probability above 20": Computed(rng.random(east.size)),
        "mean": Computed(rng.normal(size=east.size)),
        "deviation": Computed(rng.random(east.size)),
    }
    path = tmp_path / "map.tif"
    formats.write(path, replace(with_columns(given), reference="EPSG:4326"))
    with rasterio.open(path) as source:
        assert source.descriptions == ("label", "probability above 20", "mean", "deviation")
        assert source.crs.to_epsg() == 4326
        assert np.isnan(source.nodata)
        assert source.shape == (30, 40)
        found = source.read()
        assert source.transform.a == pytest.approx(1 / 240, rel=1e-3)
        for k in (0, 100, -1):
            row, column = source.index(east[k], north[k])
            assert (row, column) == (rows[there][k], columns[there][k])
    assert np.isnan(found[:, ~there.reshape(30, 40)]).all()
    for band, name in zip(found[1:], ("probability above 20", "mean", "deviation"), strict=True):
        np.testing.assert_array_equal(band[rows[there], columns[there]], given[name].values)
    np.testing.assert_array_equal(found[0][rows[there], columns[there]], given["label"].values)


@pytest.mark.parametrize(
    ("ending", "rows", "sentence"),
    [
        (
            RASTER,
            [[0, 0, 1], [1, 0.3183, 2], [2.7183, 1, 3]],
            "of points that are not on a grid: take a .gpkg file instead",
        ),
        (RASTER, [[0, 0, 1], [1, 0, 2], [0, 0, 3]], "of points of which some are in one cell"),
        (RASTER, [[0, 0, None], [1, None, 2]], "of points that are not on a grid"),
        (RASTER, [], "of points that are not on a grid"),
        (".geojson", [[5e5, 5e6, 1]], "it holds degrees where no reference system is known"),
        (".gpkg", [["here", 1, 1]], "column 'x' is 'here': give a number"),
    ],
)
def test_what_cannot_be_a_map_is_refused_in_a_sentence(
    tmp_path: Path, ending: str, rows: list[list[Any]], sentence: str
) -> None:
    path = tmp_path / f"a{ending}"
    with pytest.raises(InputError) as caught:
        formats.write(path, table_of(["x", "y", "v"], rows))
    assert sentence in str(caught.value)
    assert not path.exists()


@pytest.mark.parametrize("ending", [*VECTORS, RASTER])
def test_tables_without_coordinates_and_files_of_another_kind_are_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    with pytest.raises(InputError, match="of a table without coordinates: call two columns longitude and latitude"):
        formats.write(path, table_of(["a", "b"], [[1, 2]]))
    with pytest.raises(InputError, match="No such file"):
        formats.read(path)
    path.write_text("a,b\n1,2\n")
    for look in (formats.read, formats.header):
        with pytest.raises(InputError, match="which GDAL cannot read"):
            look(path)
    with pytest.raises(InputError, match="reference is 'EPSG:nowhere'"):
        formats.write(path, replace(table_of(["x", "y", "v"], [[1, 2, 3]]), reference="EPSG:nowhere"))


def test_shapes_that_are_no_points_turned_rasters_and_several_layers_are_refused(tmp_path: Path) -> None:
    line = bytes([1]) + np.uint32(2).tobytes() + np.uint32(2).tobytes() + np.arange(4.0).tobytes()
    path = tmp_path / "lines.gpkg"
    shapes = np.array([line, None], dtype=object)
    pyogrio.raw.write(path, shapes, [], [], geometry_type="LineString", crs="EPSG:4326", driver="GPKG")
    with pytest.raises(InputError, match="a layer of the type LineString: give a layer of points"):
        formats.read(path)
    point = np.array([bytes([1]) + np.uint32(1).tobytes() + np.zeros(2).tobytes(), None], dtype=object)[:1]
    given = {"geometry_type": "Point", "crs": "EPSG:4326", "driver": "GPKG"}
    pyogrio.raw.write(path, point, [], [], layer="wells", append=True, **given)
    with pytest.raises(InputError, match="which has the layers lines, wells: save one of them"):
        formats.read(path)
    turned = rasterio.Affine(0.8, -0.6, 0, 0.6, 0.8, 0)
    with rasterio.open(tmp_path / "turned.tif", "w", "GTiff", 2, 2, 1, dtype="uint8", transform=turned) as target:
        target.write(np.ones((1, 2, 2), dtype="uint8"))
    with pytest.raises(InputError, match="which is turned: warp it"):
        formats.read(tmp_path / "turned.tif")


@pytest.mark.parametrize(("ending", "package"), [(".gpkg", "pyogrio"), (".geojson", "pyogrio"), (".tif", "rasterio")])
def test_without_the_extra_there_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, package: str
) -> None:
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(NotInstalledError, match=rf"needs the package {package}: run pip install 'superlevel\[gis\]'"):
        formats.read(path)
    with pytest.raises(NotInstalledError, match=r"superlevel\[gis\]"):
        formats.write(path, survey(""))


@pytest.mark.parametrize("ending", [*VECTORS, RASTER])
def test_a_hundred_thousand_rows_come_back(tmp_path: Path, ending: str) -> None:
    side, path = 317, tmp_path / f"large{ending}"
    east, north = (axis.ravel() for axis in np.meshgrid(np.arange(side) / 10, 60 - np.arange(side) / 10))
    values = np.random.default_rng(0).normal(size=side**2)
    rows = zip(east.tolist(), north.tolist(), values.tolist(), strict=True)
    formats.write(path, replace(table_of(["lon", "lat", "Wärme"], rows), reference="EPSG:4326"))
    again = formats.read(path).checked()
    assert len(again) == side**2 > 10**5
    found = again.numbers([0, 1, 2])
    np.testing.assert_allclose(found[:, :2], np.stack([east, north], axis=1), atol=1e-9)
    np.testing.assert_array_equal(found[:, 2], values)
