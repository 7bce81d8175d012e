"""What a ridge confidence knows before the first measurement.

There are two feature maps. Challenges need one that is fixed before the first measurement: that of the points alone.
Ellipsoids hold for all maps at once (`superlevel.confidence.ellipsoids`) and have one that expresses the points and the
places elsewhere, whenever these were added.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from superlevel.arrays import Array, frozen
from superlevel.confidence.unit_features import Scale, check_sizes, features_everywhere, smallest, unit_features
from superlevel.features import Features
from superlevel.linalg import squared_norms
from superlevel.problem import Problem


@dataclass(frozen=True, kw_only=True, eq=False)
class Setting:
    """What does not change with the measurements.

    Its arrays are of the n points and, after them, of the m places elsewhere: arms that are not targets.
    """

    own: Features
    """Of the points, in coordinates with ||theta|| <= 1. They stay as they are when places elsewhere are added."""
    features: Features
    """Of all n + m, in such coordinates too."""
    scale: Scale
    deviations: Array
    """(n + m,) sigma of a measurement at each place, all positive."""
    least: Array
    """(n + m,) the smallest sigma that a measurement may have there."""
    misspecification: float
    mean: float
    limits: tuple[tuple[str, float, str], ...]
    """Name, value and symbol of what limits f: norm, bound or both."""
    bound: float | None
    delta: float
    single: float
    """The largest information of one measurement, in these coordinates: max ||phi||^2 / sigma^2 over the points."""

    @classmethod
    def of(cls, problem: Problem) -> Setting:
        """An InputError where neither norm nor bound limits f."""
        posed = problem.everywhere
        check_sizes(posed)
        own, scale = unit_features(problem)
        features = features_everywhere(problem, own)
        least = smallest(features, posed.deviations, problem.domain.n)
        n, usual = problem.domain.n, np.maximum(posed.deviations, least)
        information = (squared_norms(own.array) + own.residuals) / np.square(usual[:n])
        given = (("norm", problem.norm, "||theta||"), ("bound", problem.bound, "|f - mean|"))
        return cls(
            own=own,
            features=features,
            scale=scale,
            deviations=usual,
            least=least,
            misspecification=problem.misspecification,
            mean=problem.mean,
            limits=tuple((name, limit, symbol) for name, limit, symbol in given if limit is not None),
            bound=problem.bound,
            delta=problem.delta,
            single=float(information.max()) or 1.0,
        )

    @cached_property
    def misses(self) -> Array:
        """(n + m,) h(x): misspecification, and what the features miss of a function of that norm."""
        return frozen(self.misspecification + np.sqrt(self.features.residuals))

    @cached_property
    def own_misses(self) -> Array:
        """(n,) the same of the points' own features."""
        return frozen(self.misspecification + np.sqrt(self.own.residuals))
