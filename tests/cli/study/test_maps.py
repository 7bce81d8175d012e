"""A raster in degrees through the command line: points, sheets and labels as maps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import rasterio
from typer.testing import CliRunner

from superlevel import formats
from superlevel.cli import app
from superlevel.errors import InputError


def run(*words: str) -> str:
    done = CliRunner().invoke(app, ["study", *words], env={"COLUMNS": "200"}, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return str(done.output)


@pytest.fixture
def sea(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SUPERLEVEL_STORE", raising=False)
    water = np.ones((1, 6, 5), dtype="uint8")
    water[0, 0, :2] = 0
    place = {"crs": "EPSG:4326", "transform": rasterio.Affine(0.5, 0, 3, 0, -0.25, 56)}
    with rasterio.open("sea.tif", "w", "GTiff", 5, 6, 1, dtype="uint8", nodata=0, **place) as target:
        target.write(water)
    return tmp_path


def test_a_raster_goes_through_a_campaign_and_comes_out_in_its_place(sea: Path) -> None:
    given = ("--threshold", "0", "--kernel", "RBF(100)", "--noise", "0.1", "--method", "lse")
    assert "degrees; distances are on the sphere" in run(
        "create", "warm", "--points", "sea.tif", "--geographic", *given, "--batch", "6"
    )
    run("suggest", "warm", "-n", "6", "--csv", "sheet.gpkg")
    sheet = formats.read("sheet.gpkg")
    assert sheet.reference == "EPSG:4326"
    columns = list(sheet.columns)
    columns[sheet.header.index("value")] = [1.5, -1.5, 1.0, -1.0, 2.0, -2.0]
    formats.write(sea / "sheet.gpkg", replace(sheet, columns=tuple(columns)))
    assert "6 results stored" in run("tell", "warm", "sheet.gpkg")
    for name in ("labels.csv", "labels.gpkg", "labels.tif"):
        run("export", "warm", "--out", name)
    run("export", "warm", "--out", "labels.gpkg")  # one that superlevel wrote is replaced
    tables = [formats.read(f"labels.{ending}") for ending in ("csv", "gpkg", "tif")]
    with rasterio.open("labels.tif") as found:
        assert found.crs.to_epsg() == 4326
        np.testing.assert_allclose(found.transform[:6], [0.5, 0, 3, 0, -0.25, 56])
        bands = dict(zip(found.descriptions, found.read(), strict=True))
    assert np.isnan(bands["label"][0, :2]).all()
    assert {"mean", "deviation", "probability above 0"} <= bands.keys()
    for name in ("longitude", "latitude", "mean", "deviation", "probability above 0"):
        first, *others = (table.numbers(table.places([name])) for table in tables)
        for other in others:
            np.testing.assert_allclose(other, first, rtol=1e-12)
    labels = [table.texts(table.header.index("label")) for table in tables]
    assert labels[0] == labels[1] == labels[2]


def test_a_geopackage_of_somebody_else_and_a_store_are_not_replaced(sea: Path) -> None:
    run("create", "warm", "--points", "sea.tif", "--threshold", "0", "--kernel", "RBF(1)", "--noise", "0.1")
    formats.write(sea / "wells.gpkg", formats.table_of(["x", "y", "owner"], [[1, 2, "me"]]))
    with pytest.raises(InputError, match="was not written by superlevel: name another file, or overwrite it with"):
        run("export", "warm", "--out", "wells.gpkg")
    with pytest.raises(InputError, match="which is a database"):
        run("export", "warm", "--out", "superlevel.db", "--force")


@pytest.mark.usefixtures("sea")
def test_degrees_fingerprints_and_columns_that_are_not_there_are_sentences() -> None:
    said = run("create", "flat", "--points", "sea.tif", "--threshold", "0")
    assert "note: longitude and latitude look like degrees and are taken for a plane" in said
    bits = np.random.default_rng(0).integers(0, 2, size=(30, 20))
    np.savetxt("bits.csv", bits, delimiter=",", header=",".join(f"b{j}" for j in range(20)), comments="", fmt="%d")
    columns = [word for j in range(20) for word in ("--column", f"b{j}")]
    said = run("create", "bits", "--points", "bits.csv", *columns, "--threshold", "0")
    assert "from the bits that they share (Tanimoto)" in said
    np.savetxt(
        "mixed.csv",
        np.c_[bits, np.linspace(0, 1, 30)],
        delimiter=",",
        header=",".join(f"b{j}" for j in range(21)),
        comments="",
    )
    said = run("create", "mixed", "--points", "mixed.csv", *columns, "--column", "b20", "--threshold", "0")
    assert "--kernel \"V * On('b0 to b19', Tanimoto())\" compares them" in said
    given = ("--points", "bits.csv", *columns, "--threshold", "0", "--noise", "0.1")
    assert 'On("3 to 9", Tanimoto())' in run("create", "some", *given, "--kernel", "On('b3 to b9', Tanimoto())")
    with pytest.raises(InputError, match=r"--kernel is .*, where 'b99' is no column: did you mean"):
        run("create", "none", *given, "--kernel", "On(b99, RBF(1))")
    with pytest.raises(InputError, match="--geographic is asked for"):
        run("create", "none", *given, "--geographic")
