"""Any point, each as likely as the other: what every other rule must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from superlevel import design
from superlevel.records import Choice, View
from superlevel.rules.protocol import Rule


@dataclass(frozen=True)
class Chance(Rule):
    """Uniformly at random, with repeats."""

    compares: ClassVar[bool] = False

    def choose(self, view: View) -> Choice:
        weights = np.full(view.n, 1 / view.n)
        return Choice(weights=weights, counts=design.draw(weights, view.samples(), rng=view.rng()))
