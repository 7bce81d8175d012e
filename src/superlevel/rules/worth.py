"""What a measurement is worth at each point, where points differ in cost or in noise.

lambda shares out the money, and a unit of it buys 1 / (c sigma^2) of the information phi phi' at a point: arms are
scaled by the root of that, relative to the best, and targets are not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from superlevel import design
from superlevel.arrays import Array, normalised
from superlevel.features import Features
from superlevel.problem import Problem

LEAST = 1e-5  # of the largest sigma: a measurement without noise is worth no more than with this


@dataclass(frozen=True, kw_only=True, eq=False)
class Worth:
    """Points differ in what a measurement costs, c, and in its noise, sigma."""

    roots: Array
    """(n,) at most 1: the best sigma sqrt(c) over the point's."""
    cost: Array
    """(n,)"""


def worth(noise: float | Array, cost: float | Array, n: int) -> Worth | None:
    """None where all points are alike."""
    costs, deviations = np.broadcast_to(cost, n), np.broadcast_to(noise, n)
    if np.ptp(costs) == 0 and np.ptp(deviations) == 0:
        return None
    largest = float(deviations.max()) or 1.0  # where nothing has noise, costs are all that differs
    spent = np.maximum(deviations, LEAST * largest) * np.sqrt(costs)
    return Worth(roots=spent.min() / spent, cost=costs)


def costs(problem: Problem) -> Array:
    """(n,) what a measurement costs at each point."""
    return np.broadcast_to(np.asarray(problem.cost, dtype=np.float64), problem.domain.n)


def scaled(features: Features, roots: Array) -> Features:
    """The arms of a design, each by the root of what a measurement there is worth."""
    return replace(features, array=features.array * roots[:, None], residuals=features.residuals * roots**2)


def numbers(found: design.Design, differing: Worth | None) -> Array:
    """(n,) the shares of the measurements: a design's own, or of the numbers of them that its money buys."""
    return found.weights if differing is None else normalised(found.weights / differing.cost)
