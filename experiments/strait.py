"""The Strait of Georgia and the waters around Vancouver Island: matplotlib's sample of real depths.

The grid has 91 x 120 cells of 2.4 km. Land is no part of the domain: what is left are the 4,841 cells below sea level.
1,897 of them, inlets and coasts mostly, are 1 m deep to the digit, which looks like the source's mark for water that it
has no depth of. They are taken for 1 m, and where they meet deep water the floor is a cliff.

    f        square root of the depth d, on which shoals and trenches are comparable
    y        what a ping says of f: f + N(0, s^2), so an error of 2 sqrt(d) s metres
    pilot    pings that are spread out, from which a Matern kernel and the mean are estimated by marginal likelihood
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from matplotlib import cbook
from sklearn.gaussian_process.kernels import Matern

import superlevel as sl
from superlevel import hyperparameters
from superlevel.arrays import Array, Mask, frozen
from superlevel.pilots import spread

FILE = "topobathy.npz"
DEGREE = 111.2  # kilometres of a degree of latitude
DIGITS = 2  # of coordinates in kilometres
DEVIATION = 2.7 / (2 * np.sqrt(20.0))  # s: a ping is off by 2.7 m where the sea is 20 m deep
PILOT = 60  # pings
ROUGHNESS = (0.5, 1.5, 2.5)  # nu of the kernels that are tried: the likeliest is taken
STARTS = 3  # of the search for the kernel
SONAR = 4  # sets the random numbers of the pilot apart from those of a study


@dataclass(frozen=True, kw_only=True, eq=False)
class Sea:
    """Depths on a map."""

    longitude: Array
    """(columns,) degrees east, so negative here."""
    latitude: Array
    """(rows,) degrees north."""
    depth: Array
    """(rows, columns) metres below sea level, negative on land."""

    @cached_property
    def wet(self) -> Mask:
        """(rows, columns) the cells below sea level, n of them; their order is that of all arrays (n,)."""
        return frozen(self.depth > 0)

    @cached_property
    def depths(self) -> Array:
        """(n,) metres"""
        return frozen(self.depth[self.wet])

    @cached_property
    def roots(self) -> Array:
        """(n,) square roots of the depths."""
        return frozen(np.sqrt(self.depths))

    @cached_property
    def degrees(self) -> Array:
        """(n, 2) longitude and latitude"""
        across, up = np.meshgrid(self.longitude, self.latitude)
        return frozen(np.stack([across[self.wet], up[self.wet]], axis=1))

    @cached_property
    def places(self) -> Array:
        """(n, 2) kilometres east and north of the map's corner, on a plane: right to 2 %."""
        corner = [self.longitude[0], self.latitude[0]]
        kilometres = [DEGREE * np.cos(np.radians(self.latitude.mean())), DEGREE]
        return frozen(((self.degrees - corner) * kilometres).round(DIGITS))


def load() -> Sea:
    """The depths from the installed matplotlib."""
    with np.load(cbook.get_sample_data(FILE, asfileobj=False)) as file:
        longitude, latitude, height = (file[name].astype(np.float64) for name in ("longitude", "latitude", "topo"))
    return Sea(longitude=frozen(longitude - 360), latitude=frozen(latitude), depth=frozen(-height))


def sonar(sea: Sea) -> sl.oracles.Gaussian:
    """Simulated pings."""
    return sl.oracles.Gaussian(sea.roots, noise=DEVIATION)


def problem_of(sea: Sea, goal: sl.Goal) -> sl.Problem:
    """A problem with the kernel and the mean that make the pilot likeliest."""
    at = spread(sea.places, PILOT, np.empty(0, dtype=np.int64))
    values = sonar(sea).measure(at, np.random.default_rng([0, 0, SONAR]))
    start = float(np.ptp(sea.places, axis=0).max()) / 4
    tried = []
    for nu in ROUGHNESS:
        domain = sl.Domain(sea.places, Matern(start, nu=nu), names=("east_km", "north_km"))
        with warnings.catch_warnings():  # a study doubts its kernel by itself, with more data than these
            warnings.simplefilter("ignore", sl.AssumptionWarning)
            tried.append(hyperparameters.fit(domain, at, values, noise=DEVIATION, restarts=STARTS))
    best = max(tried, key=lambda found: found.log_likelihood)
    return sl.Problem(best.domain(domain), goal=goal, noise=DEVIATION, mean=best.mean)
