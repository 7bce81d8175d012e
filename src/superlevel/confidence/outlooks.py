"""What is left to measure, direction by direction, by the intervals that there are or by a challenge that would begin.

The variance of a direction's estimate is v now. If the next measurements follow a design, N of them alone would have
given it the variance s / N. An interval whose end is ``half`` from the estimate, where the level is only ``gap`` away,
decides when it is gap wide. Half-widths go with deviations, and precisions add up. So what is left is N with

    1 / v + N / s  =  (half / gap)^2 / v,     or, for a test that has information Q,     Q + N / s  =  needed / gap^2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from superlevel.arrays import Array, Indices
from superlevel.challenge import Challenge
from superlevel.confidence.challenges import Challenges, needed
from superlevel.confidence.openings import LEAST, Prospects, opening
from superlevel.goals import Bounds
from superlevel.records import Outlook, View

MOST = 2000  # directions that are looked at: those that take longest
CLOSEST = 1e-12  # of the largest half-width: the smallest gap


class Directions(NamedTuple):
    """m undecided directions that are needed."""

    points: Indices
    """(m,)"""
    others: Indices
    """(m,) -1 where the direction is a point."""
    signs: Array
    """(m,) the side of its level on which each is by its estimate."""
    gaps: Array
    """(m,) how far from the level, with the tolerance."""
    halves: Array
    """(m,) how far the estimate is from the end of the interval that decides."""


def directions(view: View, bounds: Bounds) -> Directions | None:
    """Those that the goal needs, at most ``MOST``; None if there are none, or nothing limits them yet."""
    goal, values = view.goal, view.belief.values(view.goal)
    offsets = goal.offsets(values, view.reading.labels)
    at = np.nonzero(goal.needed(view.undecided, values))
    signs = np.where(offsets[at] >= 0, 1.0, -1.0)
    halves = np.where(signs > 0, (values - bounds.lower)[at], (bounds.upper - values)[at])
    if not len(halves) or not np.isfinite(halves).all() or not (halves > 0).any():
        return None
    gaps = np.maximum(np.abs(offsets[at]) + view.problem.tolerance, CLOSEST * float(halves.max()))
    points, others = at if goal.share else (at[0], np.full(len(halves), -1))
    hard = np.sort(np.argsort(gaps / np.maximum(halves, gaps), kind="stable")[:MOST])
    return Directions(points=points[hard], others=others[hard], signs=signs[hard], gaps=gaps[hard], halves=halves[hard])


def outlook(found: Directions, *, variances: Array, single: Array, challenges: Challenges) -> Outlook:
    """For directions with variances v (m,), and s (m,) for one measurement of the design."""
    excess = np.maximum(np.square(found.halves / found.gaps) - 1.0, 0.0)
    left = single * excess / np.where(variances > 0, variances, 1.0)
    for tests in challenges.tests:
        at, there = _places(found, tests.challenge)
        informations = needed(tests.challenge.deltas)[at] / found.gaps**2 - tests.information[at]
        left = np.where(there, np.minimum(left, single * np.maximum(informations, 0.0)), left)
    free = challenges.free if challenges.free > LEAST * challenges.delta else 0.0
    fresh = opening(Prospects(gaps=found.gaps, errors=np.sqrt(variances), single=single, left=left), free)
    if fresh is None:
        return Outlook(missing=float(left.max()))
    challenge = Challenge(
        points=found.points, others=found.others, signs=found.signs, gaps=found.gaps, deltas=fresh.deltas
    )
    return Outlook(missing=fresh.left, challenge=challenge)


def _places(found: Directions, known: Challenge) -> tuple[Indices, Array]:
    """(m,) which direction of a challenge each is, and whether it is one, on the same side."""
    size = 2 + max(int(each.max(initial=0)) for each in (found.points, found.others, known.points, known.others))
    mine, theirs = (2 * (size * each.points + each.others + 1) + (each.signs > 0) for each in (found, known))
    order = np.argsort(theirs)
    at = order[np.minimum(np.searchsorted(theirs, mine, sorter=order), len(theirs) - 1)]
    return at, theirs[at] == mine
