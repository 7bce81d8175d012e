"""Results that say where by coordinates: of a point, of a place that is known already, or of a new place.

A place that is not among the points gets a number after them. Its measurement tells of the points too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from superlevel.arrays import Array
from superlevel.coordinates import Coordinates
from superlevel.study.ledger import Ledger
from superlevel.study.matching import match
from superlevel.study.results import Mistake, Result


@dataclass(frozen=True, kw_only=True, eq=False)
class Placing:
    """Results by the numbers of their places."""

    results: list[Result]
    """With a number in place of coordinates; as they were where these cannot be used."""
    places: list[list[float]]
    """Coordinates of the new places, in the order of their numbers."""
    mistakes: list[Mistake]


def placed(ledger: Ledger, listed: Sequence[Result]) -> Placing:
    """The number of the place of each result that has coordinates."""
    results, wrong = list(listed), []
    given = [position for position, result in enumerate(listed) if result.at is not None]
    for position in given:
        mistake = _mistake(position, listed[position], ledger.coordinates)
        wrong += [] if mistake is None else [mistake]
    refused = {mistake.position for mistake in wrong}
    sound = [position for position in given if position not in refused]
    if not sound:
        return Placing(results=results, places=[], mistakes=wrong)
    found = np.array([listed[position].at for position in sound], dtype=np.float64) + 0.0  # -0.0 + 0.0 is 0.0
    numbers, places = _numbered(ledger.everywhere, found)
    for position, number in zip(sound, numbers, strict=True):
        results[position] = replace(listed[position], at=None, point=number)
    return Placing(results=results, places=places, mistakes=wrong)


def _numbered(known: Array, found: Array) -> tuple[list[int], list[list[float]]]:
    """The number of each place (N, d), and the coordinates of those that are new, each once."""
    new: dict[tuple[float, ...], int] = {}
    numbers = []
    for matched, place in zip(match(known, found).tolist(), found.tolist(), strict=True):
        numbers.append(matched if matched >= 0 else new.setdefault(tuple(place), len(known) + len(new)))
    return numbers, [list(place) for place in new]


def _mistake(position: int, result: Result, coordinates: Coordinates) -> Mistake | None:
    """What is wrong with the coordinates of a result."""
    dimension = len(coordinates.names)
    remedy = f"give {dimension} finite number{'s' * (dimension > 1)}, one for each coordinate"
    try:
        numbers = [float(number) for number in result.at or ()]
    except (TypeError, ValueError):
        return Mistake(position=position, field="at", got=repr(result.at), remedy=remedy)
    if len(numbers) != dimension or not all(map(math.isfinite, numbers)):
        return Mistake(position=position, field="at", got=repr(result.at), remedy=remedy)
    faults = [scale.fault(np.array([x])) for scale, x in zip(coordinates.scales, numbers, strict=True)]
    for name, fault in zip(coordinates.names, faults, strict=True):
        if fault is not None:
            return Mistake(position=position, field="at", got=repr(result.at), remedy=f"{name}: {fault}")
    if result.point is not None:
        remedy = "give the number of a point or coordinates, not both"
        return Mistake(position=position, field="at", got=f"{result.at!r} beside point {result.point}", remedy=remedy)
    return None
