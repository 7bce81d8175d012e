"""Coordinates that people or programs wrote down, and the points of a domain that they mean.

found       (m, d)  coordinates as they came back
points      (n, d)  of the domain
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, Indices, as_vector
from superlevel.errors import InputError
from superlevel.identifiers import match_ids
from superlevel.scales import Cell

_SHOWN_COORDINATES = 4
_SAME = 1e-9  # of a coordinate's extent
_ROUNDING = 1e-14  # relative: spreadsheets keep 15 digits
_COMPARED = 10_000  # names among which one that is written alike is looked for
_FAR = 1e150  # squares of it are finite


def match(points: Array, found: Array) -> Indices:
    """Indices (m,) of the points, -1 where there is none; of equal points the first.

    Coordinates are those of the point exactly, or else each is within 1e-9 of its extent over the domain, or within
    1e-14 of its largest size where that is more: spreadsheets round.
    """
    keys = _keys(points)
    first = dict(zip(reversed(keys), range(len(keys) - 1, -1, -1), strict=True))
    matched = np.fromiter(map(first.get, _keys(found), repeat(-1)), dtype=np.int64, count=len(found))
    rest = np.flatnonzero(matched < 0)
    near = _search(points, found[rest], order=np.inf, within=2.0)  # more than 1, because the search rounds
    rest, near = rest[near < len(points)], near[near < len(points)]
    same = (np.abs(found[rest] - points[near]) <= _tolerance(points)).all(axis=1)
    matched[rest[same]] = [first[key] for key in _keys(points[near[same]])]
    return matched


def closest(points: Array, found: Array) -> Indices:
    """Index (m,) of a nearest point to each, with every coordinate measured by its extent."""
    return _search(points, found, order=2.0, within=np.inf)


def locate(points: Array, coordinates: ArrayLike) -> int:
    """Index of the point with these coordinates (d,)."""
    names = tuple(f"x{j}" for j in range(points.shape[1]))
    found = as_vector("coordinates", coordinates, length=len(names))[None]
    (index,) = match(points, found)
    if index < 0:
        near = shown(names, points[closest(points, found)[0]].tolist())
        raise InputError(
            "coordinates", shown(names, found[0].tolist()), f"give a point of the domain; the nearest is {near}"
        )
    return int(index)


def point_of(ids: Sequence[str], name: str) -> int:
    """Index of the point with this name."""
    if not ids:
        raise InputError("id", repr(name), "the points of this study have no names: give coordinates to `locate`")
    (index,) = match_ids(ids, [name])
    if index < 0:
        raise InputError("id", repr(name), f"give a name of the domain{nearest_in_words(ids, name)}")
    return int(index)


def nearest_in_words(ids: Sequence[str], name: str) -> str:
    """The name that is written most alike, as the end of a sentence; empty where none is."""
    if len(ids) > _COMPARED:
        return ""
    near = get_close_matches(name, ids, n=1)
    return f"; the nearest is {near[0]!r}" if near else ""


def shown(names: tuple[str, ...], point: Sequence[Cell]) -> str:
    """A point (d,) in words, with the first few coordinates where there are many."""
    parts = [f"{name} = {number}" for name, number in zip(names, point, strict=True)][:_SHOWN_COORDINATES]
    return ", ".join(parts + ["..."] * (len(names) > _SHOWN_COORDINATES))


def shown_names(names: Sequence[str]) -> str:
    """The names of coordinates, the first few where there are many."""
    return ", ".join([*names[:_SHOWN_COORDINATES], *["..."] * (len(names) > _SHOWN_COORDINATES)])


def _search(points: Array, found: Array, *, order: float, within: float) -> Indices:
    """Indices (m,) of the nearest points in units of the tolerance; n where none is near enough."""
    if not len(found):
        return np.empty(0, dtype=np.int64)
    from scipy.spatial import cKDTree  # noqa: PLC0415  slow to import, and most sheets need none of it

    tolerance = _tolerance(points)
    unit = np.where(tolerance > 0.0, tolerance, 1.0)
    with np.errstate(over="ignore"):
        scaled = np.clip(found / unit, -_FAR, _FAR)
    indices: Any = cKDTree(points / unit).query(scaled, p=order, distance_upper_bound=within)[1]
    return np.asarray(indices, dtype=np.int64)


def _tolerance(points: Array) -> Array:
    """(d,) how far a coordinate may be off."""
    extent = _SAME * points.max(axis=0) - _SAME * points.min(axis=0)  # in this order, because extents can overflow
    return np.asarray(np.maximum(extent, _ROUNDING * np.abs(points).max(axis=0)))


def _keys(points: Array) -> list[bytes]:
    """Bytes of each row, which are equal where the numbers are."""
    rows = np.ascontiguousarray(points + 0.0)  # -0.0 + 0.0 is 0.0
    keys: list[bytes] = rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel().tolist()
    return keys
