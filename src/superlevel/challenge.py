"""Which directions a plan challenges: a test of each begins with the plan, and is fixed before anything is measured."""

from __future__ import annotations

from dataclasses import dataclass

from superlevel.arrays import Array, Indices, frozen


@dataclass(frozen=True, kw_only=True, eq=False)
class Challenge:
    """m directions: f(x) for a point x, f(x) - share f(x') for a pair (x, x')."""

    points: Indices
    """(m,) x"""
    others: Indices
    """(m,) x', -1 where the direction is a point."""
    signs: Array
    """(m,) +1 where the direction is to be shown to lie above its level, -1 where below."""
    gaps: Array
    """(m,) how far from its level it is thought to be."""
    deltas: Array
    """(m,) the share of delta that each test has."""

    def __post_init__(self) -> None:
        for array in (self.points, self.others, self.signs, self.gaps, self.deltas):
            frozen(array)

    @property
    def delta(self) -> float:
        """What all tests have together."""
        return float(self.deltas.sum())
