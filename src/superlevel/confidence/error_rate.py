"""How sure a label must be, so that of all declared labels only a given share is wrong on average.

Declare the labels whose probability of being wrong is at most t. If the probabilities are right, the share of wrong
labels among the declared ones is their mean in expectation: the posterior expected false discovery proportion (Genovese
and Wasserman 2003; Mueller, Parmigiani and Rice 2007). `tail` is the largest t for which that mean is at most the rate.
"""

from __future__ import annotations

import numpy as np

from superlevel.arrays import Array

RATE = 0.01  # of wrong labels among the declared ones
WORST = 5.0  # times the rate: no single label may be less sure than that,
SUREST = 1e-6  # and none need be surer than that


def tail(wrong: Array, rate: float) -> float:
    """The largest probability of being wrong that a declared label may have.

    ``wrong`` (n,) or (k, n) is the probability that the likelier label of each point is wrong, a row for each of k
    levels. The rate is kept at every level.
    """
    return min(_tail(row, rate) for row in np.atleast_2d(wrong))


def _tail(wrong: Array, rate: float) -> float:
    ordered = np.sort(wrong)
    means = np.cumsum(ordered) / np.arange(1, len(ordered) + 1)
    count = int(np.searchsorted(means, rate, side="right"))
    if 0 < count < len(ordered) and ordered[count] == ordered[count - 1]:  # points that are alike go together
        count = int(np.searchsorted(ordered, ordered[count], side="left"))
    reached = float(ordered[count - 1]) if count else 0.5 * float(ordered[0])
    return min(max(reached, SUREST * rate), WORST * rate)
