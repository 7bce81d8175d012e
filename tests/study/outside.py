"""A rule that is not in the package, as a user would write one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel.arrays import normalised
from superlevel.records import Choice, View
from superlevel.rules.protocol import Rule


@dataclass(frozen=True)
class EveryOther(Rule):
    """The points in their order, each so many apart from the one before."""

    stride: int = 2
    label: str = "plain"
    backwards: bool = False

    def choose(self, view: View) -> Choice:
        done = int(view.begun.sum())
        order = (done + np.arange(view.samples())) * self.stride % view.n
        places = view.n - 1 - order if self.backwards else order
        counts = np.bincount(places, minlength=view.n).astype(np.int64)
        return Choice(weights=normalised(counts.astype(np.float64)), counts=counts)


@dataclass(frozen=True)
class Holding(EveryOther):
    """One with a parameter that JSON cannot hold."""

    places: tuple[int, ...] = (1, 2)
