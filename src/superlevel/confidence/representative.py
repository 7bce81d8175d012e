"""What rules see of an estimated belief: the likeliest kernel by itself, and what all kernels say together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from superlevel.arrays import Array, Indices
from superlevel.confidence.posterior import GaussianBelief


@dataclass(frozen=True, kw_only=True, eq=False)
class Representative(GaussianBelief):
    """The likeliest kernel by itself, with the estimate and the deviations of all kernels together.

    Rules look ahead by the covariances of one kernel. How far a point is from a level is what all kernels say, with
    the misfit and the local scale.
    """

    together: tuple[Array, Array]
    """(n,) each: the mean and the deviation of f, both transformed."""

    @property
    def centre(self) -> Array:
        return self.together[0]

    @property
    def spread(self) -> Array:
        return self.together[1]

    def among(self, points: Indices, /) -> Self:
        mean, deviation = self.together
        return replace(super().among(points), together=(mean[points], deviation[points]))

    @property
    def rough(self) -> Array:
        """None: the kernel has its own rough part."""
        return np.zeros(len(self.centre))
