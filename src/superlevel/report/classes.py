"""How labels are drawn: the classes that points are in, each with its name, its colour and its hatching."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.colors import to_hex, to_rgb

from superlevel.arrays import Indices, Labels, Mask
from superlevel.goals import ABOVE, BELOW, UNDECIDED, classes
from superlevel.report.campaign import Campaign

# Orange and blue stay apart for any colour vision. In grey, above is dark, below is light, and undecided is hatched.
# The classes between several levels have colours between those two.
# Undecided points have the pale colour of their likelier side. In grey, that of above is darker, and it is hatched to
# the right; that of below is nearly white and hatched to the left.
FACES = {ABOVE: "#d07a1e", UNDECIDED: "#ffffff", BELOW: "#c9dcec"}
HATCHES = {ABOVE: None, UNDECIDED: "////", BELOW: None}
LEANING = {True: "////", False: "\\\\\\\\"}
PALE = 0.45  # of the colour of its likelier side that an undecided point has
HATCHING = "0.45"


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


def shaded(campaign: Campaign) -> tuple[Class, ...]:
    """The same, where undecided points are apart by the class that they are likelier in."""
    *upper, unsure, lowest = drawn(campaign)
    likelier, top = campaign.likelier, len(campaign.groups) - 1
    if likelier is None or not unsure.size:
        return (*upper, unsure, lowest)
    apart = [
        Class(
            name=f"undecided, likelier {campaign.groups[c]}",
            points=unsure.points & (likelier == c),
            face=_pale(_between(c / top)),
            hatch=LEANING[2 * c > top],
        )
        for c in range(top, -1, -1)
    ]
    return (*upper, *(group for group in apart if group.size), lowest)


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


def among(groups: Sequence[Class], chosen: Indices) -> tuple[Class, ...]:
    """The classes of the chosen points (m,) only."""
    return tuple(replace(group, points=group.points[chosen]) for group in groups)


def _pale(colour: str) -> str:
    """A part of a colour in white."""
    return to_hex(tuple(1.0 - PALE * (1.0 - np.array(to_rgb(colour)))))


def _between(part: float) -> str:
    """The colour that is this part of the way from the lowest class to the highest."""
    low, high = np.array(to_rgb(FACES[BELOW])), np.array(to_rgb(FACES[ABOVE]))
    return to_hex(tuple((1 - part) * low + part * high))
