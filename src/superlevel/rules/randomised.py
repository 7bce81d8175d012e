"""Randomised straddle: Straddle with a width that is drawn anew for every measurement.

    a_t(x) = beta_t^1/2 sigma(x) - |mu(x) - alpha|,       beta_t ~ chi^2 with 2 degrees of freedom

(Inatsu, Takeno, Kutsukake and Takeuchi 2024, arXiv:2408.03144). The paper takes max{a_t, 0}; its argmax is the same
wherever a_t is positive somewhere, and any point where it is not: here it is then the largest a_t. beta_t has mean 2
and needs no tuning: with it the expected loss falls like sqrt(gamma_t / t), whatever the number of points is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from superlevel.arrays import Array
from superlevel.posterior import GaussianPosterior, Planned
from superlevel.records import View

DRAWING = 4  # sets these random numbers apart from those of draws, of measurements, of samples and of checks


@dataclass(frozen=True)
class RandomisedStraddle:
    """The score of Straddle with a random width; with several levels the nearest one counts."""

    def begin(self, view: View) -> _Randomised:
        return _Randomised(view=view, begun=int(view.belief.counts.sum()))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Randomised:
    view: View
    begun: int
    """t: measurements that were made or are planned."""

    @property
    def width(self) -> float:
        """beta_t^1/2. It depends on t instead of on the phase, so that batches of any size draw the same numbers."""
        return float(np.sqrt(np.random.default_rng([self.view.seed, self.begun, DRAWING]).chisquare(2)))

    def scores(self, posterior: GaussianPosterior) -> Array:
        return np.asarray(self.width * posterior.deviation - self.view.goal.margins(posterior.mean))

    def after(self, _before: GaussianPosterior, _planned: Planned, /) -> _Randomised:
        return replace(self, begun=self.begun + 1)
