"""Places in a box: spread evenly by a scrambled Sobol sequence, or on a grid.

d           coordinates, each with its scale
n           places
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from superlevel.arrays import Array, as_count, as_seed
from superlevel.coordinates import Coordinates
from superlevel.errors import InputError
from superlevel.scales import BOX, Range, Scale

MOST = 2**20  # places
DOUBLINGS = 4  # of a sequence in which whole numbers repeat places


def as_coordinates(box: Any) -> Coordinates:
    """The coordinates of a box: a mapping from names to scales, where a pair of numbers stands for a Range."""
    if not isinstance(box, Mapping) or not box:
        raise InputError("box", reprlib.repr(box), f"give the limits of each coordinate by its name, as in {BOX}")
    for name in box:
        if not isinstance(name, str) or not name.strip():
            raise InputError("box", f"one with the name {name!r}", "give a name of at least one letter")
    return Coordinates(names=tuple(box), scales=tuple(_as_scale(name, given) for name, given in box.items()))


def sobol(coordinates: Coordinates, *, count: int, seed: int, after: int = 0) -> Array:
    """(n, d) different places of a scrambled Sobol sequence, from the one numbered ``after`` on; n is ``count``.

    If the box has no more places than that, all of them: the box of whole numbers and choices is a grid.
    """
    from scipy.stats import qmc  # noqa: PLC0415  slow to import

    wanted = _as_size("count", as_count("count", count))
    size = coordinates.size
    if size is not None and size <= wanted:
        return everything(coordinates)
    doublings = int(np.ceil(np.log2(after + wanted)))
    for more in range(DOUBLINGS + 1):  # the sequence of 2^m numbers begins with that of 2^(m - 1)
        sequence = qmc.Sobol(len(coordinates.names), seed=np.random.default_rng(as_seed(seed)))
        places = coordinates.sample(sequence.random_base2(doublings + more)[after:])
        first = np.sort(np.unique(places, axis=0, return_index=True)[1])[:wanted]
        if len(first) == wanted:
            break
    return places[first]


def grid(coordinates: Coordinates, count: int | Mapping[str, int]) -> Array:
    """(n, d) every combination of ``count`` values of each coordinate, the last of which varies fastest."""
    counts = dict(count) if isinstance(count, Mapping) else dict.fromkeys(coordinates.names, count)
    if set(counts) != set(coordinates.names):
        raise InputError("count", repr(counts), f"give a number for each of {', '.join(coordinates.names)}")
    pairs = zip(coordinates.names, coordinates.scales, strict=True)
    axes = [scale.grid(as_count(f"count[{name!r}]", counts[name])) for name, scale in pairs]
    _as_size("count", int(np.prod([len(axis) for axis in axes], dtype=object)))
    return np.array(list(product(*axes)))


def everything(coordinates: Coordinates) -> Array:
    """(n, d) every place of a box that has finitely many."""
    return grid(coordinates, {name: scale.size or 1 for name, scale in _pairs(coordinates)})


def _pairs(coordinates: Coordinates) -> list[tuple[str, Scale]]:
    return list(zip(coordinates.names, coordinates.scales, strict=True))


def _as_size(field: str, count: int) -> int:
    if count > MOST:
        raise InputError(field, f"{count:,} points in all", f"give at most {MOST:,}; a study can be refined later")
    return count


def _as_scale(name: str, given: Any) -> Scale:
    field = f"box[{name!r}]"
    if hasattr(given, "sample") and not isinstance(given, type):
        scale: Scale = given
        return scale
    try:
        low, high = given
        return Range(low, high)
    except InputError as error:
        raise InputError(field, reprlib.repr(given), f"{error.field}: {error.remedy}") from error
    except (TypeError, ValueError) as error:
        remedy = 'give (20, 80), Integers(1, 8), Log(0.001, 1) or Choice("steel", "copper")'
        raise InputError(field, reprlib.repr(given), remedy) from error
