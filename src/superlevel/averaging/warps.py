"""A monotone transform of the values, after which they look more like a Gaussian process.

    w(y) = asinh((y - centre) / scale)

is linear within about one scale of the centre and logarithmic beyond. With the centre at the smallest value it is the
logarithm that concentrations and depths ask for, with the centre in the middle it tames heavy tails on both sides, and
with an infinite scale it changes nothing. A point is above a level exactly if its transformed value is above the
transformed level, so labels need no other correction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from superlevel.arrays import Array

SCALES = (1.0, 0.3, 0.1, 0.03)  # of the deviation of the values
CENTRES = (0.0, 0.5, 1.0)  # quantiles of the values


@dataclass(frozen=True, kw_only=True)
class Warp:
    """The transform of one campaign."""

    centre: float
    scale: float
    """Infinite for a transform that only standardises."""
    unit: float
    """The deviation of the values."""

    def __call__(self, values: Any) -> Array:
        """w of values, any shape; increasing."""
        z = (np.asarray(values, dtype=np.float64) - self.centre) / self.unit
        return z if math.isinf(self.scale) else np.asarray(np.arcsinh(z / self.scale))

    def inverse(self, warped: Any) -> Array:
        """The values whose transform is given."""
        w = np.asarray(warped, dtype=np.float64)
        with np.errstate(over="ignore"):
            z = w if math.isinf(self.scale) else self.scale * np.sinh(w)
        return np.asarray(self.centre + self.unit * z)

    def slopes(self, values: Any) -> Array:
        """dw / dvalue at values, any shape."""
        z = (np.asarray(values, dtype=np.float64) - self.centre) / self.unit
        steepness = np.ones_like(z) if math.isinf(self.scale) else 1.0 / np.hypot(self.scale, z)
        return np.asarray(steepness / self.unit)

    def log_slopes(self, values: Array) -> float:
        """The sum of log dw / dvalue over values (N,): the Jacobian of the likelihood."""
        return float(np.log(self.slopes(values)).sum())


def candidates(values: Array) -> list[Warp]:
    """Transforms that are worth trying for values (N,)."""
    unit = float(values.std()) or 1.0
    centres = np.quantile(values, CENTRES)
    return [Warp(centre=float(centre), scale=scale, unit=unit) for centre in centres for scale in SCALES]
