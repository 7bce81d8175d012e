"""A small problem for the tests of the arena."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import superlevel as sl
from superlevel.reproduce.worlds import World


@dataclass(frozen=True)
class Small:
    """A wave on 60 random points of the plane."""

    level: float = 0.2

    def __call__(self, seed: int) -> World:
        points = np.random.default_rng([seed, 5]).random((60, 2)) * [1.0, 100.0]
        values = np.sin(5 * points[:, 0]) + points[:, 1] / 100
        problem = sl.Problem(sl.Domain(points), goal=sl.Threshold(self.level), noise=0.1)
        return World(problem=problem, values=values)
