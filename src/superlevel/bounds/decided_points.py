"""How few measurements can do to decide some of the points: those of a campaign that are decided, for one.

Others may be at the level themselves, and a bound that is as large as one likes says nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from superlevel.arrays import Array, Mask
from superlevel.bounds.implicit_lower import make_instance
from superlevel.bounds.lower import LowerBound, bound_of_moves, information, scaled, smallest_moves
from superlevel.bounds.planning import LOOSE, Case
from superlevel.bounds.saddle import saddle
from superlevel.bounds.setting import as_noise, needed
from superlevel.problem import Problem

NOTHING = 1e-300  # a tolerance that leaves out labels of points that are exactly at a level, and no others


def bound(problem: Problem, values: Array, counted: Mask) -> LowerBound | None:
    """The lower bound for deciding the counted points (n,) if f has these values (n,), with some noise everywhere.

    A point that has one label whatever f is needs nothing, and neither does one within the tolerance of every level or
    exactly at it. None where no other is counted.
    """
    values = _in_space(problem, values)
    counted = counted & needed(problem.goal, values, problem.tolerance)
    if problem.goal.implicit:
        return _implicit(problem, values, counted)
    counted = counted & (problem.domain.diagonal() > 0.0)
    if not counted.any() or float(np.min(problem.known_noise)) == 0.0:
        return None
    moves = smallest_moves(problem.goal.levels, values, max(problem.tolerance, NOTHING))
    return bound_of_moves(
        problem.domain,
        np.where(counted, moves, np.inf),
        noise=problem.known_noise,
        delta=problem.delta,
        ridge=None,
        rtol=LOOSE,
    )


def _implicit(problem: Problem, values: Array, counted: Mask) -> LowerBound | None:
    """Any point that is not counted may still be the maximum, so that pairs with it stay."""
    if not counted.any() or float(values.max()) <= 0.0:
        return None
    if counted.all():
        return Case(problem=problem, values=values, ridge=None, rtol=LOOSE).lower
    sound = as_noise(problem.known_noise, problem.domain.n)
    whole = make_instance(
        problem.domain,
        values,
        problem.goal.share,
        loudness=sound.loudness,
        mean=problem.mean,
        tolerance=problem.tolerance,
        ridge=None,
        rtol=LOOSE,
    )
    inside, outside = (places[counted[places]] for places in (whole.inside, whole.outside))
    if not inside.size + outside.size:
        return None
    found = saddle(replace(whole, inside=inside, outside=outside), rtol=LOOSE)
    return LowerBound(
        samples=scaled(information(sound.sigma, problem.delta), found.lower_bound),
        complexity=found.value,
        lower_bound=found.lower_bound,
        weights=found.weights,
        status=found.status,
    )


def _in_space(problem: Problem, values: Array) -> Array:
    """The nearest linear function, where pairs need one: an estimate that was put into its intervals may be none."""
    if problem.domain.kernel is not None or not problem.goal.implicit:
        return values
    points = problem.domain.points
    return np.asarray(problem.mean + points @ np.linalg.lstsq(points, values - problem.mean, rcond=None)[0])
