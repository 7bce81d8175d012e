"""Places on the Earth: longitude and latitude in degrees, and where they are on a sphere.

Distances between places are those of straight lines through the sphere (chords), in km. A kernel of a chord's length
is positive definite on the sphere wherever it is so in space, and all radial kernels of scikit-learn are, but for
ExpSineSquared. A kernel of the length along the surface mostly is not: the RBF kernel never is, and Matern's is for
nu <= 1/2 only (Gneiting 2013, Bernoulli 19:1327). The chord c belongs to the arc 2 R arcsin(c / 2R): it is shorter by
0.1 % at 1,000 km and by 2.5 % at 5,000 km.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from superlevel.arrays import Array

RADIUS = 6371.0088  # km, mean radius of the Earth (Moritz 2000, J. Geodesy 74:128); an ellipsoid differs by 0.5 %
DEGREE = RADIUS * np.pi / 180.0  # km of the surface, along a meridian
AXES = ("sphere x", "sphere y", "sphere z")
LONGITUDES = ("longitude", "lon", "long", "lng")
LATITUDES = ("latitude", "lat")
WEST, EAST, SOUTH, NORTH = -180.0, 360.0, -90.0, 90.0  # longitudes may be counted from 0 to 360, too


def cartesian(longitudes: Array, latitudes: Array) -> Array:
    """(n, 3) places on the sphere in km, for degrees (n,) each.

    >>> cartesian(np.array([0.0, 90.0]), np.array([0.0, 0.0])).round()
    array([[6371.,    0.,    0.],
           [   0., 6371.,    0.]])
    """
    east, north = np.radians(longitudes), np.radians(latitudes)
    flat = np.cos(north)
    return RADIUS * np.stack([flat * np.cos(east), flat * np.sin(east), np.sin(north)], axis=1)


def degrees(places: Array) -> Array:
    """(n, 2) longitude and latitude in degrees, for places (n, 3) on the sphere."""
    x, y, z = places.T
    return np.asarray(np.degrees(np.stack([np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))], axis=1)))


def arc(chord: Array | float) -> Array:
    """Lengths along the surface in km, for those of chords in km."""
    return np.asarray(2.0 * RADIUS * np.arcsin(np.clip(np.asarray(chord) / (2.0 * RADIUS), 0.0, 1.0)))


def named(names: Sequence[str]) -> tuple[int, int] | None:
    """Positions of the longitude and of the latitude among the names of columns; None where neither can be told."""
    plain = [name.strip().lower() for name in names]
    east = [j for j, name in enumerate(plain) if name in LONGITUDES]
    north = [j for j, name in enumerate(plain) if name in LATITUDES]
    return (east[0], north[0]) if len(east) == len(north) == 1 else None


def taken_for_a_plane(names: Sequence[str], places: Array) -> str:
    """A sentence about columns (n, d) that are called longitude and latitude and hold degrees; otherwise empty."""
    found = named(names)
    if found is None:
        return ""
    east, north = places[:, found[0]], places[:, found[1]]
    if east.min() < WEST or east.max() > EAST or north.min() < SOUTH or north.max() > NORTH:
        return ""
    shrunk = float(np.cos(np.radians(np.abs(north).max())))
    called = f"{names[found[0]]} and {names[found[1]]}"
    return (
        f"{called} look like degrees and are taken for a plane, where a degree of longitude counts as much as one of "
        f"latitude; here it is as short as {shrunk:.0%} of it. Give --geographic to measure distances on the sphere"
    )
