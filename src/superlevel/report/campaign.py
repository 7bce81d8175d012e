"""How a campaign stands, as a picture, a table and a page: pure functions of one record."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from superlevel import formats
from superlevel.arrays import Array, Indices, Labels
from superlevel.coordinates import Coordinates
from superlevel.files import replacing
from superlevel.formats import Cell, Computed, Table
from superlevel.goals import ABOVE, BELOW, UNDECIDED, classes
from superlevel.numerals import written
from superlevel.report.places import Places
from superlevel.scales import Scale

if TYPE_CHECKING:
    from superlevel.report.audits import AuditSummary
    from superlevel.report.reliability import Reliability
    from superlevel.report.stopping import Stopping

REPEAT = "a repeat"
CHECK = "check: a random place where the model is sure"  # why a check is suggested
UNDECIDED_CLASS = -1
WORDS = {ABOVE: "above", UNDECIDED: "undecided", BELOW: "below"}
"""What a label says, in the order in which labels are told."""
COLUMNS = ("label", "measurements", "average", "mean", "lower", "upper")
"""What a table has of every point in any case, after its coordinates."""
DEVIATION = "deviation"
NORM = "right up to norm"
LIKELIER = "likelier"


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why a point is suggested: it serves undecided points, or it checks the model."""

    ticket: int
    point: int
    serves: tuple[tuple[int, float], ...]
    """Undecided points, and the share by which a measurement would shrink the variance of each; largest first."""
    check: bool = False
    """Whether it was drawn at random, to check the model where it is sure."""
    repeat: bool = False
    """Whether its point was measured before, or is being measured."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Elsewhere:
    """What was measured at places that are not among the points."""

    points: Array
    """(m, d)"""
    counts: Indices
    """(m,) measurements at each, at least one."""
    averages: Array
    """(m,) their means."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Campaign:
    """Everything that is shown of a campaign."""

    name: str
    question: str
    """What is asked, in words: 'above 20', 'within 10 % of the maximum'."""
    asked: str = ""
    """The question of the title, in words: 'which of 225 points are above 20'; empty for the question alone."""
    names: tuple[str, ...]
    """(d,) of the coordinates."""
    points: Array
    """(n, d)"""
    ids: tuple[str, ...] = ()
    """(n,) what people call each point; empty where points have no names."""
    id_name: str = ""
    """What the column of these is called."""
    labels: Labels
    """(n,) +1 above, 0 undecided, -1 below; (k, n) where there are k levels."""
    counts: Indices
    """(n,) measurements at each point."""
    averages: Array
    """(n,) their mean, NaN where there is none."""
    elsewhere: Elsewhere | None = None
    """None where everything was measured at the points."""
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
    revisions: tuple[tuple[int, int, int], ...] = ()
    """(measurements, undecided points, labels that changed sides or were withdrawn since the moment before)."""
    stopping: Stopping | None = None
    """When each point was decided, and what that took."""
    likelier: Labels | None = None
    """(n,) the class of each point if it had to be named now; None where there is no estimate."""
    deviation: Array | None = None
    """(n,) the standard deviation of f; None where there is no model of f."""
    norms: Array | None = None
    """(n,) the largest norm for which the label of each point is right, NaN where it has none; None without a norm."""
    chances: Array | None = None
    """(k, n) the probability of being above each level; None where there is no model of f."""
    reliability: tuple[Reliability, ...] = ()
    """For each given level, the forecasts of the plans beside the measurements; empty if there are no forecasts."""
    audits: tuple[AuditSummary, ...] = ()
    """What each audit found, level by level."""
    summary: tuple[tuple[str, str], ...] = ()
    """The campaign in five lines, for whoever pays: name and sentence of each."""
    unit: str = ""
    """Of the measured values, as people write it: 'm', 'mg/kg'; empty where nobody said it."""
    scales: tuple[Scale, ...] = ()
    """(d,) what each coordinate may be; empty where all are plain numbers."""

    @cached_property
    def coordinates(self) -> Coordinates:
        """What the coordinates are called, and what each may be."""
        return Coordinates(names=self.names, scales=self.scales) if self.scales else Coordinates.plain(self.names)

    @cached_property
    def places(self) -> Places:
        """The points as they are named in sentences and tables."""
        return Places(points=self.points, coordinates=self.coordinates, ids=self.ids)

    @cached_property
    def positions(self) -> Array:
        """(n, d) where the points are along the axes of a picture."""
        return self.coordinates.positions(self.points)

    @cached_property
    def ground(self) -> tuple[float, float] | None:
        """The km of one degree of each coordinate of a map in degrees; None for any other."""
        return self.coordinates.ground(self.points)

    @cached_property
    def beside(self) -> Array | None:
        """(m, d) where the places elsewhere are along the axes of a picture."""
        return None if self.elsewhere is None else self.coordinates.positions(self.elsewhere.points)

    @cached_property
    def classes(self) -> Labels:
        """(n,) the class of each point, from 0 for the lowest; -1 where it is undecided."""
        lowest, highest = classes(self.labels)
        return np.where(lowest == highest, lowest, UNDECIDED_CLASS).astype(np.int8)

    @property
    def columns(self) -> tuple[str, ...]:
        """What a table has of every point, after its coordinates."""
        above = () if self.chances is None else tuple(f"probability above {written(level)}" for level in self.levels)
        spread = () if self.deviation is None else (DEVIATION,)
        largest = () if self.norms is None else (NORM,)
        return (*COLUMNS, *(() if self.likelier is None else (LIKELIER,)), *above, *spread, *largest)

    @cached_property
    def doubtful(self) -> Array | None:
        """(n,) the probability that the likelier class is not the right one; None where there is no model of f."""
        return None if self.chances is None or self.likelier is None else wrong(self.chances, self.likelier)

    @property
    def title(self) -> str:
        """What is asked, with its unit where it ends in a level: 'harbour: which of 225 points are above 20 m'."""
        asked = self.asked or self.question
        return f"{self.name}: {asked}" + (f" {self.unit}" if self.unit and asked[-1:].isdigit() else "")

    @property
    def words(self) -> dict[int, str]:
        """The name of each class, the highest first and the lowest last, with the undecided before it."""
        names = dict(enumerate(self.groups))
        first = {c: names[c] for c in range(len(self.groups) - 1, 0, -1)}
        return {**first, UNDECIDED_CLASS: "undecided", 0: names[0]}


def wrong(chances: Array, named: Labels) -> Array:
    """(n,) the probability that points are not in the classes (n,) that are named.

    With p_c (k, n) the probability of being above level c, that of the class above exactly c levels is p_c - p_(c+1).
    """
    n = len(named)
    above = np.vstack([np.ones(n), chances, np.zeros(n)])
    at, column = named.astype(np.int64), np.arange(n)
    return np.asarray(1.0 - (above[at, column] - above[at + 1, column]))


def id_names(shown: Campaign | Stopping) -> tuple[str, ...]:
    """The names of the columns that say where: that of the ids, if there are any, and those of the coordinates."""
    return (*((shown.id_name,) if shown.ids else ()), *shown.names)


def where(shown: Campaign | Stopping, columns: Sequence[str]) -> dict[str, Sequence[Cell]]:
    """The columns (n,) that say where each point is, by names that none of the other columns has."""
    scales = shown.coordinates.scales
    places = [Computed(along, scale.cell) for along, scale in zip(shown.points.T, scales, strict=True)]
    named = [shown.ids, *places] if shown.ids else places
    return dict(zip(headings(id_names(shown), columns), named, strict=True))


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


def as_table(campaign: Campaign) -> Table:
    """A line for every point; numbers are exact, and cells without one are empty. Cells are made when they are read."""
    return formats.with_columns(where(campaign, campaign.columns) | values(campaign))


def values(campaign: Campaign) -> dict[str, Sequence[Cell]]:
    """The columns (n,) that say what is known of each point, by their names."""
    n, words = len(campaign.points), campaign.words
    known = (campaign.averages, campaign.mean, campaign.lower, campaign.upper)
    told = [
        Computed(campaign.classes, words.__getitem__),
        Computed(campaign.counts),
        *(numbers(each, n) for each in known),
        *([] if campaign.likelier is None else [Computed(campaign.likelier, campaign.groups.__getitem__)]),
        *(numbers(each, n) for each in ([] if campaign.chances is None else campaign.chances)),
        *([] if campaign.deviation is None else [numbers(campaign.deviation, n)]),
        *([] if campaign.norms is None else [numbers(campaign.norms, n)]),
    ]
    return dict(zip(campaign.columns, told, strict=True))


def write_points(campaign: Campaign, path: str | os.PathLike[str]) -> None:
    """The table of the points as a file in the format of its ending, whole or not at all."""
    with replacing("path", path) as beside:
        formats.write(beside, as_table(campaign))


def numbers(found: Array | None, count: int) -> Computed:
    """The cells (count,) of numbers, empty where there is none, or an infinite one."""
    return Computed(np.full(count, np.nan) if found is None else found, lambda value: value if isfinite(value) else "")
