"""Coordinates on a grid: which of its even steps each of them is at, also if they were written with a few digits.

x_i      (k,) the values of one coordinate, in ascending order and each once
at_i     whole numbers from 0
off      the largest |x_i - first - size at_i|

Gaps between neighbouring values count steps: the shortest ones are one step, or `parts` of them, and their mean is
exact enough to count the steps of the long ones. A raster in degrees often has four decimals, which do not divide its
step: x_i may then be off by a unit of its last digit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel.arrays import Array, Indices

CLOSE = 1e-9  # of the extent: values that are closer than that are equal ones
ALIKE = 1.5  # gaps of at most so many times the shortest one have as many steps as that one
LARGEST_OFF = 0.25  # of a step, whatever the digits are
DIGITS = 15  # of a number: more of them are those of the machine
SAMPLE = 1000  # values that are tried first


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps:
    """The even steps that the values of one coordinate are at."""

    first: float
    """The smallest value."""
    size: float
    """Of a step; 0 where there is one value only."""
    at: Indices
    """(k,) the step of each value, from 0."""

    @property
    def count(self) -> int:
        """How many steps there are, those without a value included."""
        return int(self.at[-1]) + 1


def distinct(values: Array) -> tuple[Array, Indices]:
    """The values (n,) in ascending order, each once, and which of them each value is (n,)."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    new = np.diff(ascending) > CLOSE * np.ptp(values)
    index = np.empty(values.size, dtype=np.int64)
    index[order] = np.concatenate([[0], np.cumsum(new)])
    return ascending[np.concatenate([[True], new])], index


def even_steps(values: Array, *, slack: float, parts: int = 1) -> Steps | None:
    """The steps that values (k,) are at; None where they are at none.

    Args:
        values: as `distinct` has them.
        slack: by how much of a step a value may be off.
        parts: in how many steps the shortest gap is divided, at most.
    """
    first = float(values[0])
    if values.size == 1:
        return Steps(first=first, size=0.0, at=np.zeros(1, dtype=np.int64))
    gaps = np.diff(values)
    shortest = float(gaps[gaps <= ALIKE * gaps.min()].mean())
    for divided in range(1, parts + 1):
        size, at, off = _fitted(values, gaps, shortest / divided)
        if off <= slack * size:
            return Steps(first=first, size=size, at=at)
    size, at, off = _fitted(values, gaps, shortest)
    if off <= LARGEST_OFF * size and off <= 1.01 * last_digit(values):
        return Steps(first=first, size=size, at=at)
    return None


def _fitted(values: Array, gaps: Array, step: float) -> tuple[float, Indices, float]:
    """The size of the steps between the first and the last value, the step of each, and by how much one is off."""
    size = float(np.ptp(values)) / float(np.rint(gaps / step).sum())
    at = np.rint((values - values[0]) / size)
    return size, at.astype(np.int64), float(np.abs(values - values[0] - size * at).max())


def last_digit(values: Array) -> float:
    """The unit of the last decimal that values (n,) are written with; 0 where they have all digits of a number.

    >>> last_digit(np.array([0.0042, 0.25])), last_digit(np.array([500.0, 510.0])), last_digit(np.array([1 / 3]))
    (0.0001, 1.0, 0.0)
    """
    largest = float(np.abs(values).max())
    most = DIGITS - 1 - (int(np.floor(np.log10(largest))) if largest > 0 else 0)
    error = 4 * np.finfo(np.float64).eps * largest
    for decimals in range(max(0, min(most, DIGITS))):
        if all(np.abs(np.round(some, decimals) - some).max() <= error for some in (values[:SAMPLE], values)):
            return float(10.0**-decimals)
    return 0.0
