"""How a campaign stands, as a picture, a table and a page: pure functions of one record."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from superlevel.arrays import Array, Indices, Labels
from superlevel.files import replacing
from superlevel.goals import ABOVE, BELOW, UNDECIDED, classes

if TYPE_CHECKING:
    from superlevel.report.stopping import Stopping

UNDECIDED_CLASS = -1
WORDS = {ABOVE: "above", UNDECIDED: "undecided", BELOW: "below"}
"""What a label says, in the order in which labels are told."""
COLUMNS = ("label", "measurements", "average", "mean", "lower", "upper")
"""What a table has of every point, after its coordinates."""


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why a point is suggested: the undecided points that measuring it serves most."""

    ticket: int
    point: int
    serves: tuple[tuple[int, float], ...]
    """Points, and the share by which a measurement there would shrink the variance of each; largest first."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Campaign:
    """Everything that is shown of a campaign."""

    name: str
    question: str
    """What is asked, in words: 'above 20', 'within 10 % of the maximum'."""
    names: tuple[str, ...]
    """(d,) of the coordinates."""
    points: Array
    """(n, d)"""
    labels: Labels
    """(n,) +1 above, 0 undecided, -1 below; (k, n) where there are k levels."""
    counts: Indices
    """(n,) measurements at each point."""
    averages: Array
    """(n,) their mean, NaN where there is none."""
    mean: Array | None
    """(n,) what f is thought to be; None where a method has no estimate of f at every point."""
    lower: Array | None
    """(n,) where f lies, as the labels have it."""
    upper: Array | None
    levels: tuple[float, ...]
    """Where the levels are, or are estimated to be; empty while nothing is known of them."""
    groups: tuple[str, ...] = ("below", "above")
    """The name of each class, from the lowest."""
    next: Indices
    """(m,) points of the open tickets, with repeats."""
    reasons: tuple[Reason, ...]
    """For the open tickets, or the first of them."""
    facts: tuple[tuple[str, str], ...]
    """What else a page says: name and value, in the order in which they are shown."""
    doubts: tuple[str, ...]
    """What speaks against the assumptions, each in a sentence."""
    progress: tuple[tuple[int, int], ...]
    """(measurements, undecided points) over time."""
    stopping: Stopping | None = None
    """When each point was decided, and what that took."""

    @cached_property
    def classes(self) -> Labels:
        """(n,) the class of each point, from 0 for the lowest; -1 where it is undecided."""
        lowest, highest = classes(self.labels)
        return np.where(lowest == highest, lowest, UNDECIDED_CLASS).astype(np.int8)

    @property
    def words(self) -> dict[int, str]:
        """The name of each class, the highest first and the lowest last, with the undecided before it."""
        names = dict(enumerate(self.groups))
        first = {c: names[c] for c in range(len(self.groups) - 1, 0, -1)}
        return {**first, UNDECIDED_CLASS: "undecided", 0: names[0]}


def rows(campaign: Campaign) -> list[dict[str, object]]:
    """A line for every point: coordinates by name, then ``COLUMNS``; None where there is no number."""
    names = headings(campaign.names)
    known = (campaign.averages, campaign.mean, campaign.lower, campaign.upper)
    told = (
        (campaign.words[c] for c in campaign.classes.tolist()),
        campaign.counts.tolist(),
        *(numbers(values, len(campaign.points)) for values in known),
    )
    return [
        dict(zip(names, point, strict=True)) | dict(zip(COLUMNS, rest, strict=True))
        for point, *rest in zip(campaign.points.tolist(), *told, strict=True)
    ]


def headings(names: Iterable[str], columns: Sequence[str] = COLUMNS) -> tuple[str, ...]:
    """The names of the coordinates in a table, where one that is called like another column says what it is."""
    names = tuple(names)
    taken = {*names, *columns}
    shown = []
    for name in names:
        heading = name
        while heading in columns or (heading != name and heading in taken):
            heading = f"{heading} (coordinate)"
        taken.add(heading)
        shown.append(heading)
    return tuple(shown)


def write_csv(campaign: Campaign, path: str | os.PathLike[str]) -> None:
    """The lines of `rows` as a CSV file, whole or not at all; numbers are exact, and cells without one are empty."""
    write_rows(path, (*headings(campaign.names), *COLUMNS), rows(campaign))


def write_rows(path: str | os.PathLike[str], columns: Sequence[str], lines: Iterable[Mapping[str, object]]) -> None:
    """Lines by the names of their columns as a CSV file, whole or not at all."""
    with replacing("path", path) as beside, beside.open("x", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def numbers(values: Array | None, count: int) -> list[float | None]:
    """(count,) as a table has them: None where there is none, or an infinite one."""
    if values is None:
        return [None] * count
    return [value if math.isfinite(value) else None for value in values.tolist()]
