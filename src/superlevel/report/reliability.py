"""Whether predictions were right: the forecast probability of being above a level, beside what was measured.

    p          forecast probability that a measurement is above the level, written down before it was made
    bin        the measurements with low <= p < high; p = 1 is in the last bin
    share      measurements of the bin that were above / measurements of the bin
    interval   Clopper and Pearson (1934), 95 %: exact for independent measurements that have one probability

No truth is needed. If the forecasts are right, the share is near the mean of p in every bin. The p of a bin differ a
little, which makes the count vary less than a binomial one (Hoeffding 1956), so that the interval is rather too wide.
Measurements of one batch are not quite independent, because they share the errors of one model; this works the other
way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from superlevel.arrays import Array, Mask

BINS = 10
COVERAGE = 0.95  # of an interval
ENOUGH = 20  # measurements that were predicted, before a report draws them


@dataclass(frozen=True, kw_only=True)
class Bin:
    """Measurements that were predicted to be above the level with about the same probability."""

    low: float
    """The probabilities are from this one on."""
    high: float
    """They are below this one, or equal to it if it is 1."""
    forecast: float
    """Their mean."""
    measurements: int
    """At least one."""
    above: int
    """Of these, measured above the level. A value that equals the level is not above it."""
    share: float
    """above / measurements"""
    interval: tuple[float, float]
    """The 95 % interval of the share."""

    @property
    def agrees(self) -> bool:
        """Whether the interval contains the mean of the probabilities."""
        return self.interval[0] <= self.forecast <= self.interval[1]


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """The forecasts of a campaign beside the measurements, at one level."""

    level: float
    measurements: int
    """Measurements that were predicted before they were made."""
    bins: tuple[Bin, ...]
    """In ascending order, without empty ones."""

    @property
    def agreeing(self) -> int:
        """Bins whose interval contains the mean of their probabilities."""
        return sum(each.agrees for each in self.bins)

    @property
    def largest(self) -> Bin:
        """The bin with the most measurements, the lowest of several."""
        return max(self.bins, key=lambda each: each.measurements)


def compare(level: float, probabilities: Array, above: Mask) -> Reliability:
    """The bins for N measurements: forecast probabilities (N,) of being above the level, and which were above (N,).

    >>> found = compare(20.0, np.array([0.22, 0.28, 0.91]), np.array([False, True, True]))
    >>> [(each.low, each.high, each.measurements, each.above) for each in found.bins]
    [(0.2, 0.3, 2, 1), (0.9, 1.0, 1, 1)]
    """
    places = np.minimum((BINS * probabilities).astype(np.int64), BINS - 1)
    counts = np.bincount(places, minlength=BINS).tolist()
    hits = np.bincount(places[above], minlength=BINS).tolist()
    sums = np.bincount(places, probabilities, minlength=BINS).tolist()
    bins = [
        Bin(
            low=k / BINS,
            high=(k + 1) / BINS,
            forecast=sums[k] / counts[k],
            measurements=counts[k],
            above=hits[k],
            share=hits[k] / counts[k],
            interval=interval(hits[k], counts[k]),
        )
        for k in range(BINS)
        if counts[k]
    ]
    return Reliability(level=level, measurements=len(probabilities), bins=tuple(bins))


def interval(hits: int, count: int) -> tuple[float, float]:
    """The exact 95 % interval of a probability after so many hits in so many independent trials.

    Clopper and Pearson: its ends are quantiles of Beta(hits, count - hits + 1) and Beta(hits + 1, count - hits).
    """
    tail = 0.5 * (1.0 - COVERAGE)
    low = float(betaincinv(hits, count - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, count - hits, 1.0 - tail)) if hits < count else 1.0
    return low, high
