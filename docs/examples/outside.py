"""A goal in one file: the points outside a band, for parts that must stay within two limits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from superlevel.arrays import Labels, as_number, frozen
from superlevel.goals import Band
from superlevel.goals.explicit import NUMBER, Explicit


@dataclass(frozen=True)
class Outside(Explicit):
    """{x: f(x) < low or f(x) > high}. The labels have two rows, one for each level."""

    low: float
    high: float

    kind: ClassVar[str] = "outside"
    form: ClassVar[str] = "outside 10 to 20"

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", as_number("Outside.low", self.low))
        object.__setattr__(self, "high", as_number("Outside.high", self.high, above=self.low))

    @property
    def levels(self) -> tuple[float, ...]:
        return (self.low, self.high)

    @property
    def question(self) -> str:
        return f"outside {self.low:g} to {self.high:g}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        found = re.fullmatch(rf"\s*outside\s+{NUMBER}\s+to\s+{NUMBER}\s*", text)
        return None if found is None else cls(float(found[1]), float(found[2]))

    @property
    def groups(self) -> tuple[str, ...]:
        return Band(self.low, self.high).groups

    def wanted(self, labels: Labels) -> Labels:
        return frozen(-Band(self.low, self.high).wanted(labels))
