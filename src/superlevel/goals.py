"""What a study wants to know: which points are above a level, and what that level is.

A goal asks for the sign of some *directions*, linear functions of f; above zero is in the set, below zero is out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from superlevel.arrays import as_number


@dataclass(frozen=True)
class Threshold:
    """The explicit problem, {x: f(x) > alpha}: the sign of f(x) - alpha decides, one direction for each point x.

    >>> Threshold(20.0)
    Threshold(value=20.0)
    """

    value: float
    """The level alpha, in the units of the measurements."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", as_number("Threshold.value", self.value))


@dataclass(frozen=True)
class FractionOfMax:
    """The implicit problem, {x: f(x) > (1 - epsilon) max f}, a level that is itself unknown.

    The signs of f(x) - (1 - epsilon) f(x') decide, one direction for each ordered pair (x, x'): x is in the set if all
    of them are above zero, and out of it if one is below.

    >>> FractionOfMax(epsilon=0.2)
    FractionOfMax(epsilon=0.2)
    """

    epsilon: float
    """How far below the maximum the level is, as a fraction of the maximum; 0 < epsilon < 1."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", as_number("FractionOfMax.epsilon", self.epsilon, above=0.0, below=1.0))


Goal: TypeAlias = Threshold | FractionOfMax
