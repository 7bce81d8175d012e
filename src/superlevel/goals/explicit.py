"""Goals with given levels: above or below a threshold, between two levels, and the classes of a contour map.

The directions are the points. A point's interval is compared with every level, so one set of intervals that holds for
all points decides all levels at once, with the same guarantee.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

import numpy as np

from superlevel.arrays import Array, Labels, as_number, frozen
from superlevel.errors import InputError
from superlevel.goals.protocol import Goal, combined
from superlevel.goals.reading import ABOVE, BELOW, UNDECIDED, Bounds, Reading, apply_tolerance, declared
from superlevel.numerals import written

NUMBER = r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"


class Explicit(Goal):
    """The level of every label is given."""

    def read(self, reading: Reading, bounds: Bounds, *, tolerance: float = 0.0) -> Reading:
        """The for-loop of Algorithm 1 (MELK), once for each level: bounds (n,) of f decide the undecided points."""
        levels = self._column
        deciding = apply_tolerance(Bounds(lower=bounds.lower - levels, upper=bounds.upper - levels), tolerance)
        still = (reading.labels == UNDECIDED) & reading.undecided
        labels = declared(reading.labels, above=still & (deciding.lower > 0), below=still & (deciding.upper < 0))
        left = labels == UNDECIDED
        return Reading(labels=labels, undecided=reading.undecided & (left if left.ndim == 1 else left.any(axis=0)))

    def moved(self, transform: Callable[[float], Any], /) -> Goal:
        return AtLevels(self, tuple(float(transform(level)) for level in self.levels))

    def signs(self, f: Array) -> Labels:
        return frozen(np.where(f > self._column, ABOVE, BELOW).astype(np.int8))

    def margins(self, f: Array) -> Array:
        distances = np.abs(f - self._column)
        return distances if distances.ndim == 1 else np.asarray(distances.min(axis=0))

    def offsets(self, values: Array, labels: Labels, /) -> Array:
        """(n,) from the nearest level that is undecided; where none is, from the nearest of all."""
        offsets = np.asarray(values - self._column)
        if offsets.ndim == 1:
            return offsets
        still = labels == UNDECIDED
        still |= ~still.any(axis=0)
        nearest = np.where(still, np.abs(offsets), np.inf).argmin(axis=0)
        return np.asarray(np.take_along_axis(offsets, nearest[None], axis=0)[0])

    @property
    def _column(self) -> float | Array:
        """The level, or (k, 1) levels: a difference with (n,) values has the shape of the labels."""
        levels = self.levels
        return levels[0] if len(levels) == 1 else np.array(levels)[:, None]

    def critical(self, f: Array) -> tuple[tuple[float, Array], ...]:
        return ((1.0, self.margins(f)),)


@dataclass(frozen=True)
class AtLevels(Explicit):
    """Another goal at other levels, for a transform of f. It is never stored."""

    goal: Goal
    values: tuple[float, ...]

    @property
    def levels(self) -> tuple[float, ...]:
        return self.values

    @property
    def question(self) -> str:
        return self.goal.question

    @classmethod
    def parse(cls, _text: str, /) -> None:
        """None: there are no words for it."""
        return

    @property
    def groups(self) -> tuple[str, ...]:
        return self.goal.groups

    def wanted(self, labels: Labels) -> Labels:
        return self.goal.wanted(labels)


@dataclass(frozen=True, repr=False)
class Threshold(Explicit):
    """The explicit problem, {x: f(x) > value}, or {x: f(x) < value} with side="below".

    Labels do not depend on the side: +1 always means above the level.

    >>> Threshold(20.0), Threshold(20.0, side="below")
    (Threshold(value=20.0), Threshold(value=20.0, side='below'))
    """

    value: float
    """The level alpha, in the units of the measurements."""
    side: Literal["above", "below"] = "above"
    """The side on which the wanted points are."""

    kind: ClassVar[str] = "threshold"
    form: ClassVar[str] = "above 20"

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", as_number("Threshold.value", self.value))
        if self.side not in ("above", "below"):
            raise InputError("Threshold.side", repr(self.side), "give 'above' or 'below'")

    @property
    def levels(self) -> tuple[float, ...]:
        return (self.value,)

    @property
    def question(self) -> str:
        return f"{self.side} {written(self.value)}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        found = re.fullmatch(rf"\s*(above|below)\s+{NUMBER}\s*", text)
        return None if found is None else cls(float(found[2]), side=found[1])  # type: ignore[arg-type]

    @property
    def groups(self) -> tuple[str, ...]:
        return ("below", "above")

    def wanted(self, labels: Labels) -> Labels:
        return labels if self.side == "above" else frozen(-labels)

    def __repr__(self) -> str:
        side = "" if self.side == "above" else f", side={self.side!r}"
        return f"Threshold(value={self.value!r}{side})"


@dataclass(frozen=True)
class Band(Explicit):
    """The points between two levels, {x: low < f(x) < high}. The labels have two rows, one for each level.

    >>> Band(10.0, 20.0).wanted(np.array([[1, 1, -1, 1], [-1, 1, -1, 0]], dtype=np.int8)).tolist()
    [1, -1, -1, 0]
    """

    low: float
    high: float

    kind: ClassVar[str] = "band"
    form: ClassVar[str] = "between 10 and 20"

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", as_number("Band.low", self.low))
        object.__setattr__(self, "high", as_number("Band.high", self.high, above=self.low))

    @property
    def levels(self) -> tuple[float, ...]:
        return (self.low, self.high)

    @property
    def question(self) -> str:
        low, high = in_words(self.levels)
        return f"between {low} and {high}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        found = re.fullmatch(rf"\s*between\s+{NUMBER}\s+and\s+{NUMBER}\s*", text)
        return None if found is None else cls(float(found[1]), float(found[2]))

    @property
    def groups(self) -> tuple[str, ...]:
        low, high = in_words(self.levels)
        return (f"below {low}", self.question, f"above {high}")

    def wanted(self, labels: Labels) -> Labels:
        low, high = labels
        return combined((low == ABOVE) & (high == BELOW), (low == BELOW) | (high == ABOVE))


@dataclass(frozen=True)
class Levels(Explicit):
    """The classes of a contour map: k levels divide the points into k + 1 classes. The labels have k rows.

    `superlevel.goals.classes` gives the lowest and the highest class that each point may still be in.

    >>> Levels([5, 10, 20]).groups
    ('below 5', '5 to 10', '10 to 20', 'above 20')
    """

    values: Sequence[float]
    """At least one level, in ascending order."""

    kind: ClassVar[str] = "levels"
    form: ClassVar[str] = "levels 5, 10, 20"

    def __post_init__(self) -> None:
        try:
            given: tuple[object, ...] = tuple(self.values)
        except TypeError:  # one number
            given = (self.values,)
        if not given:
            raise InputError("Levels.values", "empty", "give at least one level")
        checked = tuple(as_number(f"Levels.values[{k}]", value) for k, value in enumerate(given))
        if any(one >= other for one, other in pairwise(checked)):
            raise InputError("Levels.values", repr(list(checked)), "give levels in ascending order, each once")
        object.__setattr__(self, "values", checked)

    @property
    def levels(self) -> tuple[float, ...]:
        return tuple(self.values)

    @property
    def question(self) -> str:
        return f"levels {', '.join(in_words(self.levels))}"

    def ask(self, n: int) -> str:
        return f"which class each of {n:,} point{'s' * (n != 1)} is in: {self.question}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        found = re.fullmatch(rf"\s*levels\s+({NUMBER}(?:\s*,\s*{NUMBER})*)\s*", text)
        return None if found is None else cls([float(part) for part in found[1].split(",")])

    @property
    def groups(self) -> tuple[str, ...]:
        names = in_words(self.levels)
        between = [f"{low} to {high}" for low, high in pairwise(names)]
        return (f"below {names[0]}", *between, f"above {names[-1]}")

    def wanted(self, labels: Labels) -> Labels:
        """(n,) +1 where the class is known: every class of a contour map is wanted."""
        still = (np.atleast_2d(labels) == UNDECIDED).any(axis=0)
        return combined(~still, np.zeros_like(still))

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, "values": list(self.values)}


def in_words(levels: Sequence[float]) -> list[str]:
    """Each level with six digits, or with all of its digits where six do not tell the levels apart."""
    short = [written(level) for level in levels]
    return short if len(set(short)) == len(short) else [repr(level) for level in levels]
