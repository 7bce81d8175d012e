"""Any point, each as likely as the other: what every other rule must beat."""

from __future__ import annotations

import numpy as np

from superlevel import design
from superlevel.records import Choice, View


class Chance:
    """Uniformly at random, with repeats."""

    def choose(self, view: View) -> Choice:
        n = len(view.undecided)
        weights = np.full(n, 1 / n)
        return Choice(weights=weights, counts=design.draw(weights, view.total, rng=view.rng()))
