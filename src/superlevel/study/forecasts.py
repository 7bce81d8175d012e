"""What a plan expects to be measured, as the log holds it."""

from __future__ import annotations

import math

import numpy as np

from superlevel.arrays import Indices
from superlevel.averaging import Warp
from superlevel.records import Forecast
from superlevel.study.events import DamagedError, Forecasted


def stored(found: Forecast) -> Forecasted:
    """As data that JSON can hold; the points are those of the plan."""
    warp = found.warp
    return Forecasted(
        means=found.means.tolist(),
        deviations=found.deviations.tolist(),
        centre=warp.centre,
        unit=warp.unit,
        scale=None if math.isinf(warp.scale) else warp.scale,
    )


def restored(kept: Forecasted, counts: Indices) -> Forecast:
    """The forecast of a plan with so many measurements (n,) at each point."""
    points = np.flatnonzero(counts)
    if not len(kept.means) == len(kept.deviations) == len(points):
        raise DamagedError("a forecast has more or fewer numbers than its plan has points")
    scale = math.inf if kept.scale is None else kept.scale
    return Forecast(
        points=points,
        means=np.array(kept.means),
        deviations=np.array(kept.deviations),
        warp=Warp(centre=kept.centre, scale=scale, unit=kept.unit),
    )
