"""Intervals from the Gaussian posterior: f(x) is within mu(x) +- beta^1/2 sigma(x).

beta^1/2     a constant, 3 in the paper's experiments; or what the RKHS theory asks for (`superlevel.confidence.rkhs`)
Q_t(x)       [mu +- beta^1/2 sigma] from all measurements so far
C_t(x)       Q_t(x), or the intersection of C_{t-1}(x) and Q_t(x), as LSE has it

A pair of points needs the deviation of f(x) - (1 - eps) f(x') itself, which is smaller than what the two intervals say:

    var = sigma^2(x) - 2 (1 - eps) Sigma(x, x') + (1 - eps)^2 sigma^2(x')

Everything is computed from all measurements each time, so an early mistake can be corrected; whether labels are kept
once they are given is the method's choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from superlevel.arrays import Array, Indices
from superlevel.confidence.deciding import narrowed
from superlevel.goals import Bounds, FractionByPoints, FractionOfMax, Reader, Threshold, unread
from superlevel.posterior import GaussianPosterior
from superlevel.records import Beginning, Knowledge, Plan, State

UNLIKELY = 1e-6  # probability of surprises as large as those seen, below which the model is doubted


class Width(Protocol):
    """beta^1/2."""

    def at(self, posterior: GaussianPosterior) -> float:
        """For intervals after these measurements."""
        ...

    def extra(self, posterior: GaussianPosterior) -> Array | float:
        """What the half-widths get on top, (n,) or one number: misspecification."""
        ...


@dataclass(frozen=True, kw_only=True)
class Constant:
    """The same beta^1/2 at all times, and h for what the kernel does not explain at the point itself."""

    value: float
    misspecification: float = 0.0
    """h"""

    def at(self, posterior: GaussianPosterior) -> float:  # noqa: ARG002
        return self.value

    def extra(self, posterior: GaussianPosterior) -> float:  # noqa: ARG002
        return self.misspecification


@dataclass(frozen=True, kw_only=True, eq=False)
class PosteriorConfidence:
    """All measurements at once, whatever rule chose their places: plans may be told in any order."""

    reader: Reader
    prior: GaussianPosterior
    """Before the first measurement."""
    widths: Width
    intersected: bool
    """Whether intervals are intersected over time."""
    tolerance: float

    rounds_only = False

    def begin(self) -> Beginning:
        """Before the first measurement: nothing is decided."""
        reading = unread(self.reader, len(self.prior.mean))
        return Beginning(reading=reading, posterior=self.prior, intervals=self._intervals(self.prior))

    def width(self, state: State) -> tuple[float, float | Array]:
        """beta^1/2 now, and what half-widths have on top."""
        assert state.posterior is not None
        return self.widths.at(state.posterior), self.widths.extra(state.posterior)

    @property
    def memoryless(self) -> bool:
        """Unless intervals remember how narrow they were."""
        return not self.intersected

    def learn(self, state: State, plan: Plan, measured: Array) -> Knowledge:
        """With the measurements (N,), in the order of ``plan.indices``."""
        assert state.posterior is not None
        return self._known(state, state.posterior.told(plan.indices, measured))

    def observe(self, state: State, points: Indices, measured: Array, noise: Array | None) -> Knowledge:
        """With measurements (N,) at any points. Of many at once, each is compared with what those before it predict."""
        assert state.posterior is not None
        return self._known(state, state.posterior.told(points, measured, noise=noise, in_turn=True))

    def _known(self, state: State, posterior: GaussianPosterior) -> Knowledge:
        assert state.posterior is not None
        assert state.intervals is not None
        intervals, doubts = self._intervals(posterior), _surprised(state.posterior, posterior)
        if self.intersected and state.samples:
            intervals, more = _intersection(state.intervals, intervals)
            doubts = (*doubts, *more)
        estimates, bounds = self._directions(posterior, intervals)
        return Knowledge(
            posterior=posterior,
            intervals=intervals,
            estimates=estimates,
            bounds=bounds,
            deciding=self._deciding(bounds),
            warnings=doubts,
        )

    def _deciding(self, bounds: Bounds) -> Bounds:
        if isinstance(self.reader, FractionByPoints):
            return bounds  # has the tolerance, and compares intervals with intervals
        return narrowed(bounds, self.tolerance)

    def _intervals(self, posterior: GaussianPosterior) -> Bounds:
        half = self.widths.at(posterior) * posterior.deviation + self.widths.extra(posterior)
        return Bounds(lower=posterior.mean - half, upper=posterior.mean + half)

    def _directions(self, posterior: GaussianPosterior, intervals: Bounds) -> tuple[Array, Bounds]:
        """Estimates and bounds of the reader's directions."""
        match self.reader:
            case Threshold(level):
                return posterior.mean - level, Bounds(lower=intervals.lower - level, upper=intervals.upper - level)
            case FractionByPoints():
                return posterior.mean, intervals
            case FractionOfMax(epsilon):
                return self._pairs(posterior, 1 - epsilon)

    def _pairs(self, posterior: GaussianPosterior, share: float) -> tuple[Array, Bounds]:
        mean, variance = posterior.mean, posterior.variance
        estimates = mean[:, None] - share * mean
        half = posterior.columns(np.arange(len(mean)))
        half *= -2 * share
        half += variance[:, None]
        half += share**2 * variance
        np.maximum(half, 0.0, out=half)
        np.sqrt(half, out=half)
        half *= self.widths.at(posterior)
        extra = np.broadcast_to(self.widths.extra(posterior), mean.shape)
        if extra.any():
            half += extra[:, None] + share * extra
        lower = estimates - half
        half += estimates
        return estimates, Bounds(lower=lower, upper=half)


def _intersection(before: Bounds, now: Bounds) -> tuple[Bounds, tuple[str, ...]]:
    """C_{t-1} and Q_t; where they have nothing in common one of them is wrong, and Q_t knows more."""
    lower, upper = np.maximum(before.lower, now.lower), np.minimum(before.upper, now.upper)
    empty = lower > upper
    bounds = Bounds(lower=np.where(empty, now.lower, lower), upper=np.where(empty, now.upper, upper))
    if not empty.any():
        return bounds, ()
    return bounds, (
        f"the intervals of {int(empty.sum())} points, the first of them point {int(np.argmax(empty))}, contradict "
        "earlier ones: the kernel or the noise is not as assumed, and the new ones are used",
    )


def _surprised(before: GaussianPosterior, after: GaussianPosterior) -> tuple[str, ...]:
    """Said once, when the measurements first lie farther from what was predicted than chance allows."""
    if after.plausibility >= UNLIKELY or before.plausibility < UNLIKELY:
        return ()
    return (
        f"{after.count:,} measurements lie {np.sqrt(after.surprise):.2g} times as far from their predictions as kernel "
        "and noise allow for: intervals are too narrow; fit them anew (superlevel.hyperparameters) or give a rougher "
        "kernel",
    )
