"""The probability of each side of every level, as a campaign's model of f has it."""

from __future__ import annotations

import numpy as np

from superlevel.arrays import Array, Labels
from superlevel.goals import classes
from superlevel.report.campaign import wrong
from superlevel.study.replay import Knowledge


def chances(known: Knowledge) -> Array | None:
    """(k, n) the probability of being above each level; None where there is no model of f."""
    found = [known.state.belief.probability(level) for level in known.levels]
    return None if not found or any(each is None for each in found) else np.array(found)


def likelier(known: Knowledge) -> Labels | None:
    """(n,) the class of each point if it had to be named now; None before there is an estimate."""
    return None if known.estimate is None else classes(known.method.guess(known.state))[0]


def doubtful(known: Knowledge) -> Array | None:
    """(n,) the probability that the likelier class is not the right one; None where there is no model of f."""
    above, named = chances(known), likelier(known)
    return None if above is None or named is None else wrong(above, named)
