"""One point after the other: the best by a score, then the best given that, until the batch is full.

A posterior variance does not depend on the values, so the points of a batch are chosen as if each had been measured
before the next (Desautels, Krause and Burdick 2014, JMLR 15:4053). With a batch of one it is the rule itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from superlevel.arrays import Array, normalised
from superlevel.posterior import GaussianPosterior, Planned
from superlevel.records import Choice, View
from superlevel.rules.protocol import Rule


class Scorer(Protocol):
    """The scores of one batch."""

    def scores(self, posterior: GaussianPosterior) -> Array:
        """(n,) how good it is to measure each point next; -inf for a point that is no candidate."""
        ...

    def after(self, before: GaussianPosterior, planned: Planned, /) -> Scorer:
        """The scorer once a point is planned."""
        ...


class Unchanging:
    """A scorer that looks at the posterior alone."""

    def after(self, _before: GaussianPosterior, _planned: Planned, /) -> Self:
        return self


class Score(Protocol):
    """What a one-at-a-time rule is made of."""

    def begin(self, view: View, /) -> Scorer:
        """Before the first point of a batch."""
        ...


@dataclass(frozen=True, kw_only=True)
class Sequential(Rule):
    """argmax over x of the score, again and again. Of equal scores the first point wins."""

    score: Score

    def choose(self, view: View) -> Choice:
        posterior, scorer = view.posterior, self.score.begin(view)
        for x in view.pending:
            posterior, scorer = _ahead(posterior, scorer, int(x))
        counts = np.zeros(len(posterior.mean), dtype=np.int64)
        for left in range(view.samples(), 0, -1):
            x = int(np.argmax(scorer.scores(posterior)))
            counts[x] += 1
            if left > 1:
                posterior, scorer = _ahead(posterior, scorer, x)
        return Choice(weights=normalised(counts.astype(np.float64)), counts=counts)


def _ahead(posterior: GaussianPosterior, scorer: Scorer, x: int) -> tuple[GaussianPosterior, Scorer]:
    """As if x had been measured."""
    planned = posterior.planned([x])
    return planned.after, scorer.after(posterior, planned)
