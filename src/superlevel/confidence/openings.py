"""When a challenge begins, and how its directions share delta: a rule that looks at the past only.

gap     how far a direction is from its level, as estimated        error   the standard error of that estimate
single  the variance of its estimate from one measurement of the design; 1 / N of that from N

By what is there, the intervals, a direction takes ``left`` further measurements. A test that has delta_i and begins now
takes

    single (2 log(1 / delta_i) + log(1 + log(1 / delta_i) / 2)) / gap^2.

A challenge begins when that is less for the direction that takes longest, and when the gaps of all that take about as
long are larger than half of their standard errors. Hard directions get most of delta: delta_i is proportional to
(single / (gap^2 + error^2))^3/2.

All constants were chosen by measurement, on functions that no table of the documentation uses (docs/guarantees.md).
"""

from __future__ import annotations

from typing import NamedTuple

from superlevel.arrays import Array
from superlevel.confidence.challenges import needed

CLEAR = 0.5  # errors that a gap must have
MATTERS = 0.5  # of the longest time: what takes less may be unclear
PAYS = 0.8  # of the longest time: what a challenge must take less than
PORTION = 0.7  # of what is left of delta: what a challenge spends
LEAST = 1e-3  # of all that challenges may spend: with less left, none begins
TILT = 1.5  # power of the times to which delta is proportional


class Prospects(NamedTuple):
    """What is left of m directions."""

    gaps: Array
    """(m,)"""
    errors: Array
    """(m,)"""
    single: Array
    """(m,)"""
    left: Array
    """(m,) measurements that are missing by the intervals that there are."""


class Opening(NamedTuple):
    """A challenge that pays."""

    deltas: Array
    """(m,)"""
    left: float
    """Measurements that it takes."""


def opening(found: Prospects, free: float) -> Opening | None:
    """How a challenge would share what is free of delta; None if none should begin now."""
    longest = float(found.left.max(initial=0.0))
    unclear = (found.gaps < CLEAR * found.errors) & (found.left >= MATTERS * longest)
    if not free or not longest or unclear.any():
        return None
    hardness = found.single / (found.gaps**2 + found.errors**2)
    shares = (hardness / hardness.max()) ** TILT
    deltas = PORTION * free * shares / shares.sum()
    if deltas.min() <= 0.0:  # a share that is no number any more: an easy direction, which needs no test
        return None
    left = float((found.single * needed(deltas) / found.gaps**2).max())
    return Opening(deltas=deltas, left=left) if left < PAYS * longest else None
