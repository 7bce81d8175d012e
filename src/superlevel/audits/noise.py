"""What an audit assumes of the noise of its measurements, and how often a wrong label then shows itself.

A label is wrong if f is on the other side of the level by d > tolerance. Its measurement is on that side by d + noise,
where the noise has the sign of that side. The measurement is a contradiction if d + noise > tolerance - c, where the
margin c is between 0 and the tolerance. For a wrong label every noise >= -c does that, so

    P(contradiction) >= P(noise >= -c) >= kappa(c).

    median zero           P(noise >= 0) >= 1/2 and P(noise <= 0) >= 1/2        kappa = 1/2, for c = 0 too
    sub-Gaussian          E exp(r noise) <= exp(r^2 sigma^2 / 2), all r        kappa = 1 - exp(-c^2 / 2 sigma^2)
    Gaussian              N(0, sigma^2)                                        kappa = Phi(c / sigma)

With sigma = 0 kappa is 1. A measurement at exactly tolerance - c is no contradiction, and the proof does not need it to
be one: d > tolerance is strict.

The noise may depend on the point. What is said must hold for every measurement, given all earlier ones: a drift or an
offset that all measurements of the audit share is not noise in this sense.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from scipy.special import ndtr

from superlevel.arrays import as_number

MOST = 3.0  # deviations: a larger margin shows hardly more wrong labels
EVEN = math.sqrt(2.0 * math.log(2.0))  # deviations at which 1 - exp(-c^2 / 2 sigma^2) = 1/2


class Noise(Protocol):
    """An assumption on the noise."""

    @property
    def assumption(self) -> str:
        """In words that complete 'if the noise ...'."""

    def kappa(self, margin: float) -> float:
        """A lower bound of the probability that the measurement of a wrong label is a contradiction."""

    def margin(self, tolerance: float) -> float:
        """A good c between 0 and the tolerance: large enough for kappa, small enough to spare the right labels."""


@dataclass(frozen=True)
class MedianZero:
    """The noise is as often above as below zero, or equal to it; nothing else is assumed."""

    @property
    def assumption(self) -> str:
        return "has median zero"

    def kappa(self, _margin: float) -> float:
        return 0.5

    def margin(self, _tolerance: float) -> float:
        """0: a margin would not raise kappa."""
        return 0.0


@dataclass(frozen=True)
class SubGaussian:
    """The noise has mean zero and tails no heavier than those of N(0, sigma^2)."""

    sigma: float
    """The sub-Gaussian constant >= 0."""
    median_zero: bool = False
    """Whether the median is zero as well, as for symmetric noise: then kappa is at least 1/2."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", as_number("noise.sigma", self.sigma, at_least=0.0))

    @property
    def assumption(self) -> str:
        return f"is sub-Gaussian with sigma {self.sigma:g}" + (" and has median zero" if self.median_zero else "")

    def kappa(self, margin: float) -> float:
        ratio = margin / self.sigma if self.sigma else math.inf
        tails = -math.expm1(-0.5 * ratio * ratio)
        return max(tails, 0.5) if self.median_zero else tails

    def margin(self, tolerance: float) -> float:
        """Half of the tolerance, but enough for kappa = 1/2 where the tolerance allows it, and at most 3 sigma."""
        even = EVEN * self.sigma
        if self.median_zero and 0.5 * tolerance < even:
            return 0.0
        return min(max(0.5 * tolerance, even), MOST * self.sigma, tolerance)


@dataclass(frozen=True)
class Gaussian:
    """The noise is normal with mean zero and a standard deviation of at most sigma."""

    sigma: float
    """The standard deviation >= 0."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", as_number("noise.sigma", self.sigma, at_least=0.0))

    @property
    def assumption(self) -> str:
        return f"is normal with deviation {self.sigma:g}"

    def kappa(self, margin: float) -> float:
        return float(ndtr(margin / self.sigma)) if self.sigma else 1.0

    def margin(self, tolerance: float) -> float:
        """Half of the tolerance, and at most 3 sigma."""
        return min(0.5 * tolerance, MOST * self.sigma)
