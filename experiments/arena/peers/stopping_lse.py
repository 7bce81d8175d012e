"""The rules of Ishibashi, Matsui, Kutsukake and Hino (2025), arXiv 2503.20272, on scikit-learn's Gaussian process.

acquisition   min { P(f > level), P(f < level), P(|f - level| > margin) }, largest where a label is hard to give
labels        the likeliest of: above, below, within the margin, which stays undeclared
margin        z sigma / sqrt(L), z the normal quantile of 1 - delta / 2 n: what L measurements of each of the n points
              settle, all at once with probability 1 - delta

Here L = 5 and delta = 0.01, and sigma is the estimated noise. The paper ties the margin to the noise; this form of it
is ours. The paper stops when all labels are right with probability 1 - delta; here all tools use up the budget.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from experiments.arena.peers.loop import main
from experiments.arena.peers.sklearn_model import Model

REPEATS, DELTA = 5, 0.01


class Stopping(Model):
    def sides(self, mean: Any, deviation: Any) -> tuple[Any, Any, Any]:
        """(n,) each: the probabilities of being above, below, and within the margin."""
        z = ndtri(1 - DELTA / (2 * len(self.points)))
        margin = z * np.sqrt(self.noise / REPEATS)
        gap, deviation = mean - self.level, np.maximum(deviation, 1e-12)
        within = ndtr((margin - gap) / deviation) - ndtr((-margin - gap) / deviation)
        return ndtr(gap / deviation), ndtr(-gap / deviation), within

    def choose(self) -> int:
        above, below, within = self.sides(self.mean, self.deviation)
        return int(np.argmax(np.minimum(np.minimum(above, below), 1 - within)))

    def declare(self, mean: Any, deviation: Any) -> Any:
        """The tool's own labels."""
        likeliest = np.argmax(self.sides(mean, deviation), axis=0)
        return np.array([1, -1, 0], dtype=np.int8)[likeliest]


if __name__ == "__main__":
    main(Stopping)
