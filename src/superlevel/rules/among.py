"""A score on some of the points only: others may matter, and are not measured."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from superlevel.arrays import Array, Mask
from superlevel.posterior import GaussianPosterior, Planned
from superlevel.records import View
from superlevel.rules.sequential import Score, Scorer


@dataclass(frozen=True, kw_only=True, eq=False)
class Among:
    """Another score, where only the allowed points (n,) may be chosen."""

    score: Score
    allowed: Mask

    def begin(self, view: View, /) -> Scorer:
        return _Allowed(inner=self.score.begin(view), allowed=self.allowed)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Allowed:
    inner: Scorer
    allowed: Mask

    def scores(self, posterior: GaussianPosterior) -> Array:
        return np.where(self.allowed, self.inner.scores(posterior), -np.inf)

    def after(self, before: GaussianPosterior, planned: Planned, /) -> Scorer:
        return replace(self, inner=self.inner.after(before, planned))
