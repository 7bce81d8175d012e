"""What every goal answers. No other code asks which goal it has.

A goal needs the signs of some *directions*, linear functions of f. The direction of a point x is f(x), compared with
one or several levels; the direction of an ordered pair (x, x') is f(x) - share f(x'), compared with zero. Rules aim at
undecided directions, confidences bound them, and goals read the bounds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np

from superlevel.arrays import Array, Labels, Mask, frozen
from superlevel.errors import InputError
from superlevel.goals.reading import ABOVE, BELOW, UNDECIDED, Bounds, Reading, classes

KINDS: dict[str, type[Goal]] = {}
"""Every goal that may be stored, by its kind."""


class Goal(ABC):
    """Which points are looked for. A goal is a frozen dataclass; its fields are stored and read back."""

    kind: ClassVar[str] = ""
    """The name under which a study stores it; empty for a goal that is never stored."""
    form: ClassVar[str] = ""
    """The words that the command line takes, for its help."""
    implicit: ClassVar[bool] = False
    """Whether the level depends on the unknown maximum of f."""

    def __init_subclass__(cls) -> None:
        if cls.kind:
            KINDS[cls.kind] = cls

    # ----------------------------------------------------------------------------------- directions

    @property
    def share(self) -> float:
        """The direction of a pair is f(x) - share f(x'); zero where the directions are points."""
        return 0.0

    @property
    @abstractmethod
    def levels(self) -> tuple[float, ...]:
        """The levels in ascending order, in the units of the measurements; empty where they are unknown."""

    def levels_at(self, _f: Array, /) -> tuple[float, ...]:
        """The levels of a function with the values f (n,), also where they depend on it."""
        return self.levels

    def unread(self, n: int) -> Reading:
        """Nothing of n points is decided."""
        rows = max(1, len(self.levels))
        labels = np.zeros(n if rows == 1 else (rows, n), dtype=np.int8)
        return Reading(labels=labels, undecided=np.ones((n, n) if self.share else n, dtype=np.bool_))

    def combine(self, f: Array) -> Array:
        """(n,) or (n, n): the value of each direction if the function has the values f (n,)."""
        return np.asarray(np.subtract.outer(f, self.share * f)) if self.share else f

    def moved(self, _transform: Callable[[float], Any], /) -> Goal:
        """The goal for an increasing transform of f; a goal without levels takes transforms that keep ratios."""
        return self

    def by_points(self) -> Goal:
        """The same goal, read from one interval for each point."""
        return self

    # -------------------------------------------------------------------------------------- reading

    @abstractmethod
    def read(self, reading: Reading, bounds: Bounds, *, tolerance: float = 0.0) -> Reading:
        """What bounds of the undecided directions decide, in addition to what is decided already."""

    @abstractmethod
    def signs(self, f: Array) -> Labels:
        """The labels of a function with known values f (n,): +1 or -1, (n,) or (k, n)."""

    @abstractmethod
    def margins(self, f: Array) -> Array:
        """(n,) how far each point is from the nearest level if the function has the values f (n,)."""

    def is_empty(self, _labels: Labels, _highest: float, _tolerance: float, /) -> bool:
        """Whether no point can be in the set, however much is measured, if f is at most ``highest``."""
        return False

    # ------------------------------------------------------------------------------------- for rules

    @abstractmethod
    def offsets(self, values: Array, labels: Labels, /) -> Array:
        """How far each direction is above the level that it has yet to be compared with, from its estimated value."""

    def gaps(self, values: Array, labels: Labels, /) -> Array:
        """How far each direction is from that level."""
        return np.abs(self.offsets(values, labels))

    def needed(self, undecided: Mask, _values: Array, /) -> Mask:
        """The undecided directions that are worth aiming at, if their values are as estimated."""
        return undecided

    @abstractmethod
    def critical(self, f: Array) -> tuple[tuple[float, Array], ...]:
        """Differences (n,) whose sign decides labels if f (n,) is as estimated, each with its weight."""

    # -------------------------------------------------------------------------------------- in words

    @property
    @abstractmethod
    def question(self) -> str:
        """What is asked of a point, in words: "above 20"."""

    def ask(self, n: int) -> str:
        """What is asked of n points, in words: "which of 36 points are above 20"."""
        return f"which of {n:,} point{'s' * (n != 1)} are {self.question}"

    @classmethod
    @abstractmethod
    def parse(cls, text: str) -> Self | None:
        """The goal that a phrase describes; None if it describes another kind of goal."""

    @property
    @abstractmethod
    def groups(self) -> tuple[str, ...]:
        """The name of each class, from the lowest: "below", "above"."""

    @abstractmethod
    def wanted(self, labels: Labels) -> Labels:
        """(n,) +1 for points that are looked for, 0 for undecided ones, -1 for the others."""

    def counts(self, labels: Labels) -> dict[str, int]:
        """How many points are decided to be in each class, the highest first, and how many are undecided."""
        lowest, highest = classes(labels)
        found = [int(((lowest == highest) & (lowest == c)).sum()) for c in range(len(self.groups))]
        above, below = dict(zip(self.groups[:0:-1], found[:0:-1], strict=True)), found[0]
        return {**above, "undecided": len(lowest) - sum(found), self.groups[0]: below}

    # --------------------------------------------------------------------------------------- as data

    def describe(self) -> dict[str, Any]:
        """The goal as data that JSON can hold."""
        return {"kind": self.kind, **{item.name: getattr(self, item.name) for item in fields(self)}}  # type: ignore[arg-type]


def restore(described: Mapping[str, Any]) -> Goal:
    """The goal that `Goal.describe` wrote.

    >>> from superlevel.goals import Band
    >>> restore(Band(10.0, 20.0).describe())
    Band(low=10.0, high=20.0)
    """
    given = dict(described)
    kind = given.pop("kind", None)
    if kind not in KINDS:
        raise InputError("goal", repr(kind), f"this version knows {', '.join(sorted(KINDS))}")
    try:
        return KINDS[kind](**given)
    except TypeError as error:
        raise InputError("goal", repr(dict(described)), f"give what describe() wrote ({error})") from error


def parse(text: str) -> Goal:
    """The goal that a phrase describes.

    >>> parse("between 10 and 20")
    Band(low=10.0, high=20.0)
    """
    found = [goal for kind in KINDS.values() if (goal := kind.parse(text)) is not None]
    if not found:
        forms = ", ".join(f'"{kind.form}"' for kind in KINDS.values())
        raise InputError("goal", repr(text), f"write one of {forms}")
    return found[0]


def summary(goal: Goal, labels: Labels) -> str:
    """How many points there are in each class, in words."""
    return ", ".join(f"{count:,} {name}" for name, count in goal.counts(labels).items())


def combined(above: Mask, below: Mask) -> Labels:
    """(n,) +1 where above, -1 where below, 0 elsewhere."""
    return frozen(np.where(above, ABOVE, np.where(below, BELOW, UNDECIDED)).astype(np.int8))
