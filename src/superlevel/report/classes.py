"""How labels are drawn: the classes that points are in, each with its name, its colour and its hatching."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.colors import to_hex, to_rgb

from superlevel.arrays import Labels, Mask
from superlevel.goals import ABOVE, BELOW, UNDECIDED, classes
from superlevel.report.campaign import Campaign

# Orange and blue stay apart for any colour vision. In grey, above is dark, below is light, and undecided is hatched.
# The classes between several levels have colours between those two.
FACES = {ABOVE: "#d07a1e", UNDECIDED: "#ffffff", BELOW: "#c9dcec"}
HATCHES = {ABOVE: None, UNDECIDED: "////", BELOW: None}
HATCHING = "0.55"


@dataclass(frozen=True, kw_only=True, eq=False)
class Class:
    """Points that are drawn alike."""

    name: str
    points: Mask
    """(n,) which points are in it."""
    face: str
    hatch: str | None = None

    @property
    def size(self) -> int:
        """Points in it."""
        return int(self.points.sum())

    def look(self, *, outlined: bool = False) -> dict[str, Any]:
        """What a patch takes."""
        edge = HATCHING if self.hatch else "0.35" if outlined else "none"
        return {"facecolor": self.face, "hatch": self.hatch, "edgecolor": edge, "linewidth": 0.8 * outlined}


def drawn(campaign: Campaign) -> tuple[Class, ...]:
    """The classes of a campaign, in the order in which they are named."""
    return of_labels(campaign.labels, campaign.groups)


def of_labels(labels: Labels, groups: Sequence[str]) -> tuple[Class, ...]:
    """The classes from the highest, with undecided points before the lowest; groups are their names from the lowest."""
    lowest, highest = classes(labels)
    sure = lowest == highest
    found = [
        Class(name=name, points=sure & (lowest == c), face=_between(c / (len(groups) - 1)))
        for c, name in enumerate(groups)
    ]
    unsure = Class(name="undecided", points=~sure, face=FACES[UNDECIDED], hatch=HATCHES[UNDECIDED])
    return (*found[:0:-1], unsure, found[0])


def _between(part: float) -> str:
    """The colour that is this part of the way from the lowest class to the highest."""
    low, high = np.array(to_rgb(FACES[BELOW])), np.array(to_rgb(FACES[ABOVE]))
    return to_hex(tuple((1 - part) * low + part * high))
