"""When to stop before everything is decided: a part that `simulate(..., until=...)` takes, or that a loop asks itself.

The criterion of Ishibashi, Matsui, Kutsukake and Hino (2025, arXiv:2503.20272) stops when an (epsilon, delta)-accurate
answer is there. With p(x) = P(f(x) > alpha) and q(x) = P(|f(x) - alpha| < epsilon), every point is put where it most
likely is: above, below, or within the margin epsilon of the level. Each is wrong with probability

    r(x) = min{p(x), 1 - p(x), 1 - q(x)},

and at least one is with probability at most sum_x r(x). Nothing more is measured once that sum is at most delta. The
probabilities are those of the model, so the promise needs kernel and noise to be right. It holds at whatever moment the
campaign stops, because a posterior probability holds given all measurements. The paper's epsilon is the width of the
whole margin, twice the one here, and its delta is 1 - delta. `superlevel.rules.accurate` is the rule that goes with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtri

from superlevel.arrays import Array, Labels, as_count, as_number, frozen
from superlevel.errors import InputError
from superlevel.goals import ABOVE, BELOW, UNDECIDED
from superlevel.problem import Problem
from superlevel.records import State

CLASSES = np.array([ABOVE, BELOW, UNDECIDED], dtype=np.int8)


class Criterion(Protocol):
    """Whether a campaign may stop."""

    def reached(self, state: State, /) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class Accurate:
    """The labels are (epsilon, delta)-accurate; with several levels, for all of them at once."""

    epsilon: float
    """How far from the level a point may be that is left undecided, in the units of the measurements."""
    delta: float = 0.05
    """The largest probability that any point is in the wrong place."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", as_number("epsilon", self.epsilon, at_least=0.0))
        object.__setattr__(self, "delta", as_number("delta", self.delta, above=0.0, below=1.0))

    def reached(self, state: State, /) -> bool:
        """Whether the risk is at most delta; never before the pilot is complete."""
        return not state.belief.pilot and self.risk(state) <= self.delta

    def risk(self, state: State) -> float:
        """The sum of r: at least the probability that any point is in the wrong place."""
        return float((1 - self._chances(state).max(axis=0)).sum())

    def labels(self, state: State) -> Labels:
        """(n,) or (k, n): +1 above, -1 below, 0 within the margin, whichever is likeliest."""
        found = CLASSES[np.argmax(self._chances(state), axis=0)]
        return frozen(found[0] if len(found) == 1 else found)

    def _chances(self, state: State) -> Array:
        """(3, k, n) the probabilities of being above, below and within the margin."""
        levels = state.goal.levels
        if not levels:
            raise InputError("goal", repr(state.goal), "the criterion needs a given level: take a threshold")
        return np.stack([self._at(state, level) for level in levels], axis=1)

    def _at(self, state: State, level: float) -> Array:
        above, high, low = (state.belief.probability(level + shift) for shift in (0.0, self.epsilon, -self.epsilon))
        if above is None or high is None or low is None:
            raise InputError("confidence", "without a model of f", "give confidence='posterior'")
        return np.stack([above, 1 - above, low - high])


def margin(problem: Problem, *, delta: float = 0.05, repeats: int = 5) -> float:
    """The margin of the paper's appendix B.1: what `repeats` measurements of one point leave open, at level delta / n.

    epsilon = Phi^-1(1 - delta / (2 n)) sqrt(k / (1 + L k / sigma^2)),      k = max k(x, x),  L = repeats
    """
    if problem.noise is None or "kernel" in problem.fit:
        raise InputError("problem", "without kernel or noise", "give both, or choose epsilon yourself")
    prior, noise = float(problem.domain.diagonal().max()), float(np.max(problem.noise)) ** 2
    left = prior * noise / (noise + as_count("repeats", repeats) * prior)
    tail = as_number("delta", delta, above=0.0, below=1.0) / (2 * problem.domain.n)
    return float(-ndtri(tail) * np.sqrt(left))
