"""The forecasts of a campaign beside its measurements, ticket by ticket.

A plan of a campaign whose kernel, noise or mean is estimated stores its forecast in the log, before anything is
measured. Every ticket of such a plan that has a valid result is compared: with its present value if it was corrected,
and not at all if it is open, failed or withdrawn. When results came, and which others came with them, makes no
difference.

The tickets of an audit are left out. The log has the doubt of their labels, which is about f and not about a
measurement of it, and a forecast that is made afterwards is none. So are goals without given levels: theirs are
estimated from the measurements that a forecast would be compared with.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from superlevel.arrays import Array, Indices
from superlevel.records import Forecast
from superlevel.report.reliability import Reliability, compare
from superlevel.study import forecasts
from superlevel.study.ledger import Fate, Ledger


def reliability(ledger: Ledger) -> tuple[Reliability, ...]:
    """One for each given level, of the same measurements; empty if no measurement was forecast."""
    levels = ledger.goal.levels
    values: list[Array] = []
    chances: list[Array] = []
    for item in ledger.askings:
        if item.asked.forecast is None:
            continue
        counts = np.bincount(item.asked.points, minlength=ledger.n).astype(np.int64)
        forecast = forecasts.restored(item.asked.forecast, counts)
        at = np.arange(item.first - 1, item.first - 1 + len(item.asked.points))
        at = at[ledger.fate[at] == Fate.MEASURED]
        values.append(ledger.value[at])
        moved = ledger.scale(levels)
        chances.append(np.array([above(forecast, ledger.point[at], float(level)) for level in moved]))
    measured = np.concatenate([*values, np.empty(0)])
    if not len(measured):
        return ()
    rows = np.concatenate(chances, axis=-1)
    return tuple(compare(level, row, measured > level) for level, row in zip(levels, rows, strict=True))


def above(forecast: Forecast, points: Indices, level: float) -> Array:
    """(N,) the probability that a measurement at each of some points (N,) of a forecast is above a level.

    The forecast is of values after the problem's transform, and so is the level.
    """
    at = np.searchsorted(forecast.points, points)
    gaps = forecast.means[at] - forecast.warp(level)
    with np.errstate(over="ignore"):  # without noise and doubt, the probability is 0 or 1
        return np.asarray(ndtr(gaps / np.maximum(forecast.deviations[at], np.finfo(float).tiny)))
