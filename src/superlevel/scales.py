"""What a coordinate may be, as people give it and as the kernel sees it.

    scale           people see            the kernel sees
    Number()        any number x          x
    Range(a, b)     a number x            x
    Integers(a, b)  a whole number x      x
    Log(a, b)       a number x > 0        log10 x
    Choice("s","t") a name                one column for each name: 1 where it is that name, 0 elsewhere
    Longitude() and Latitude()  degrees   three columns together: the place on the sphere, in km

places      (n, d)  what people see, as numbers; a choice is the position of its name, from 0
points      (n, r)  what the kernel sees, r >= d
shares      (n,)    numbers in [0, 1), from which a scale makes values of equal probability
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from superlevel.arrays import Array, as_number
from superlevel.errors import InputError
from superlevel.geography import EAST, NORTH, SOUTH, WEST

LARGEST_WHOLE = 2**53  # a float holds every whole number up to this one
BOX = 'Domain.box({"temperature": (20, 80)})'

Cell: TypeAlias = float | int | str
"""A coordinate as people see it."""


class Scale(Protocol):
    """One coordinate."""

    kind: ClassVar[str]
    """Its name in the log of a study."""

    @property
    def spelling(self) -> str:
        """What a person may write for a value; empty for a number."""

    @property
    def size(self) -> int | None:
        """How many values there are; None for a continuum."""

    def columns(self, name: str) -> tuple[str, ...]:
        """(k,) the names of the columns that the kernel sees."""

    def forward(self, values: Array) -> Array:
        """(n, k) what the kernel sees, for values (n,)."""

    def inverse(self, points: Array) -> Array:
        """(n,) values, for what the kernel sees (n, k)."""

    def sample(self, shares: Array) -> Array:
        """(n,) values, for shares (n,)."""

    def grid(self, count: int) -> Array:
        """At most ``count`` values, evenly spaced from the first to the last."""

    def fault(self, values: Array) -> str | None:
        """What is wrong with values (n,), as a remedy; None if nothing is."""

    def positions(self, values: Array) -> Array:
        """(n,) where values (n,) are along the axis of a picture."""

    def tick(self, position: float) -> str | None:
        """What is written at a position; None where the picture may write the number itself."""

    def cell(self, value: float) -> Cell:
        """A value as people see it."""

    def extent(self, values: Array) -> str:
        """Which values (n,) there are, in words."""

    def numeral(self, cell: str) -> str:
        """What a person wrote for a value, as the text of a number; 'unknown' where it stands for none."""

    def describe(self) -> dict[str, Any]:
        """As `restore` takes it."""


class _Plain:
    """The kernel sees the number that people see."""

    kind: ClassVar[str]
    spelling = ""

    @property
    def size(self) -> int | None:
        return None

    def columns(self, name: str) -> tuple[str, ...]:
        return (name,)

    def forward(self, values: Array) -> Array:
        return values[:, None]

    def inverse(self, points: Array) -> Array:
        return points[:, 0]

    def fault(self, values: Array) -> str | None:  # noqa: ARG002  any finite number will do
        return None

    def positions(self, values: Array) -> Array:
        return values

    def tick(self, position: float) -> str | None:  # noqa: ARG002
        return None

    def cell(self, value: float) -> Cell:
        return float(value)

    def extent(self, values: Array) -> str:
        return f"in [{values.min():g}, {values.max():g}]"

    def numeral(self, cell: str) -> str:
        return cell

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, **vars(self)}


@dataclass(frozen=True)
class Number(_Plain):
    """Any number: a coordinate of points that were listed, and of which no limits are known."""

    kind: ClassVar[str] = "number"

    def sample(self, shares: Array) -> Array:  # noqa: ARG002
        raise InputError("domain", "a list of points without limits", f"give a box, such as {BOX}")

    def grid(self, count: int) -> Array:
        return self.sample(np.zeros(count))


class _Degrees(Number):
    """An angle on the sphere. The kernel sees none of its columns, but the place that both angles name together."""

    low: ClassVar[float]
    high: ClassVar[float]

    def columns(self, name: str) -> tuple[str, ...]:  # noqa: ARG002
        return ()

    def forward(self, values: Array) -> Array:
        return np.empty((len(values), 0))

    def fault(self, values: Array) -> str | None:
        fits = (self.low <= values).all() and (values <= self.high).all()
        return None if fits else f"give degrees from {self.low:g} to {self.high:g}, or leave geographic out"


@dataclass(frozen=True)
class Longitude(_Degrees):
    """Degrees to the east of Greenwich, beside a `Latitude`."""

    kind: ClassVar[str] = "longitude"
    low, high = WEST, EAST


@dataclass(frozen=True)
class Latitude(_Degrees):
    """Degrees to the north of the equator, beside a `Longitude`."""

    kind: ClassVar[str] = "latitude"
    low, high = SOUTH, NORTH


@dataclass(frozen=True)
class Range(_Plain):
    """Numbers from ``low`` to ``high``.

    >>> Range(20, 80).grid(4)
    array([20., 40., 60., 80.])
    """

    low: float
    high: float
    kind: ClassVar[str] = "range"

    def __post_init__(self) -> None:
        _set_limits(self, as_number("low", self.low))

    def extent(self, values: Array) -> str:  # noqa: ARG002
        return f"in [{self.low:g}, {self.high:g}]"

    def sample(self, shares: Array) -> Array:
        return np.clip(self.low * (1.0 - shares) + self.high * shares, self.low, self.high)

    def grid(self, count: int) -> Array:
        return self.sample(_steps(count))


@dataclass(frozen=True)
class Integers(_Plain):
    """Whole numbers from ``low`` to ``high``, both included.

    >>> Integers(1, 4).grid(10)
    array([1., 2., 3., 4.])
    """

    low: int
    high: int
    kind: ClassVar[str] = "integers"

    def __post_init__(self) -> None:
        for field in ("low", "high"):
            number = as_number(field, getattr(self, field))
            if not number.is_integer() or abs(number) > LARGEST_WHOLE:
                raise InputError(field, getattr(self, field), "give a whole number")
            object.__setattr__(self, field, int(number))
        if self.high < self.low:
            raise InputError("high", self.high, f"give a whole number >= {self.low}")

    @property
    def size(self) -> int | None:
        return self.high - self.low + 1

    def extent(self, values: Array) -> str:  # noqa: ARG002
        return f"in [{self.low:g}, {self.high:g}]"

    def sample(self, shares: Array) -> Array:
        return np.asarray(np.minimum(self.low + np.floor(shares * (self.high - self.low + 1)), self.high))

    def grid(self, count: int) -> Array:
        steps = _steps(min(count, self.high - self.low + 1))
        return np.unique(np.rint(self.low * (1.0 - steps) + self.high * steps))

    def fault(self, values: Array) -> str | None:
        return None if (values == np.rint(values)).all() else "give whole numbers"

    def cell(self, value: float) -> Cell:
        return int(value) if float(value).is_integer() else float(value)


@dataclass(frozen=True)
class Log:
    """Numbers from ``low`` > 0 to ``high``, on a logarithmic scale: the kernel sees log10.

    >>> Log(0.001, 1).grid(4)
    array([0.001, 0.01 , 0.1  , 1.   ])
    """

    low: float
    high: float
    kind: ClassVar[str] = "log"
    spelling: ClassVar[str] = ""

    def __post_init__(self) -> None:
        _set_limits(self, as_number("low", self.low, above=0))

    @property
    def size(self) -> int | None:
        return None

    def columns(self, name: str) -> tuple[str, ...]:
        return (f"log10 {name}",)

    def forward(self, values: Array) -> Array:
        return np.log10(values)[:, None]

    def inverse(self, points: Array) -> Array:
        return np.asarray(10.0 ** points[:, 0])

    def sample(self, shares: Array) -> Array:
        low, high = math.log10(self.low), math.log10(self.high)
        return np.clip(10.0 ** (low * (1.0 - shares) + high * shares), self.low, self.high)

    def grid(self, count: int) -> Array:
        return self.sample(_steps(count))

    def positions(self, values: Array) -> Array:
        return np.log10(values)

    def tick(self, position: float) -> str | None:
        return f"{10.0**position:.3g}"

    def fault(self, values: Array) -> str | None:
        return None if (values > 0).all() else "give numbers > 0"

    def cell(self, value: float) -> Cell:
        return float(value)

    def extent(self, values: Array) -> str:  # noqa: ARG002
        return f"in [{self.low:g}, {self.high:g}]"

    def numeral(self, cell: str) -> str:
        return cell

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, "low": self.low, "high": self.high}


@dataclass(frozen=True, init=False)
class Choice:
    """One of several names. Two different names are equally far apart for the kernel.

    >>> Choice("steel", "copper").forward(np.array([0.0, 1.0, 1.0]))
    array([[1., 0.],
           [0., 1.],
           [0., 1.]])
    """

    names: tuple[str, ...]
    kind: ClassVar[str] = "choice"

    def __init__(self, *names: str) -> None:
        for name in names:
            if not isinstance(name, str) or not name.strip() or name != name.strip():
                raise InputError("names", repr(name), "give each choice a name without blanks around it")
        if len(set(names)) != len(names) or not names:
            raise InputError("names", repr(names), "give at least one name, and every name once")
        object.__setattr__(self, "names", names)

    @property
    def spelling(self) -> str:
        return f"give one of {', '.join(self.names)}"

    @property
    def size(self) -> int | None:
        return len(self.names)

    def columns(self, name: str) -> tuple[str, ...]:
        return tuple(f"{name} = {choice}" for choice in self.names)

    def forward(self, values: Array) -> Array:
        return np.asarray(values[:, None] == np.arange(len(self.names)), dtype=np.float64)

    def inverse(self, points: Array) -> Array:
        return np.asarray(np.argmax(points, axis=1), dtype=np.float64)

    def sample(self, shares: Array) -> Array:
        return np.asarray(np.minimum(np.floor(shares * len(self.names)), len(self.names) - 1))

    def grid(self, count: int) -> Array:  # noqa: ARG002  names are not spaced: all of them are wanted
        return np.arange(len(self.names), dtype=np.float64)

    def fault(self, values: Array) -> str | None:
        known = (values == np.rint(values)) & (values >= 0) & (values < len(self.names))
        return None if known.all() else f"give positions from 0 to {len(self.names) - 1} in {', '.join(self.names)}"

    def positions(self, values: Array) -> Array:
        return values

    def tick(self, position: float) -> str | None:
        return self.names[int(position)] if position in range(len(self.names)) else ""

    def cell(self, value: float) -> Cell:
        return self.names[int(value)]

    def extent(self, values: Array) -> str:
        return f"one of {', '.join(self.names[int(k)] for k in np.unique(values))}"

    def numeral(self, cell: str) -> str:
        return str(self.names.index(cell)) if cell in self.names else "unknown"

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, "names": list(self.names)}

    def __repr__(self) -> str:
        return f"Choice({', '.join(map(repr, self.names))})"


KINDS: Mapping[str, type[Any]] = {
    kind.kind: kind for kind in (Number, Range, Integers, Log, Choice, Longitude, Latitude)
}


def restore(described: Mapping[str, Any]) -> Scale:
    """The scale that `Scale.describe` described."""
    given = dict(described)
    kind = given.pop("kind", None)
    if kind not in KINDS:
        raise InputError("scale", repr(kind), f"give one of {', '.join(KINDS)}")
    made: Scale = KINDS[kind](*given.pop("names", ()), **given)
    return made


def _set_limits(scale: Range | Log, low: float) -> None:
    object.__setattr__(scale, "low", low)
    object.__setattr__(scale, "high", as_number("high", scale.high, above=low))


def _steps(count: int) -> Array:
    """Shares from 0 to 1; one step is in the middle."""
    return np.linspace(0.0, 1.0, count) if count > 1 else np.full(count, 0.5)
