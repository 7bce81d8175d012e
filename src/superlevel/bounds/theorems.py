"""How many measurements are enough: the appendix's bounds on MELK and MILK, as printed and as proved.

    Delta    distance from a level of the point nearest to one, or the tolerance if that is larger
    R        number of rounds, ceil(log2(4 B / Delta))
    H        complexity (`superlevel.bounds.complexity`)
    printed  256 (B^2 + sigma^2) H log(4 n^2 R^2 / delta) + 2 R log(n / delta)

The rounds run at precision B 2^-t; for B = 1 this is the printed formula. Its proof has two slips.

(a) It bounds the *average* over the rounds of 2^2t min max ||v||^2 by the largest term, and goes on as if that were the
sum: a factor R is missing, which the main text has as a logarithm.

(b) A direction is removed in round t if its estimate is beyond 2 B 2^-t, and estimates are within 2 B 2^-t. So all that
is known of a direction in A_(t+1) is |gap| <= 4 B 2^-t, which is 8 B 2^-(t+1) and not 4 B 2^-(t+1). The tolerance, too,
is below 8 B 2^-t in the last round and not below 4 B 2^-t. The constant 16 of the sum over rounds becomes 64.

Besides, N_t is rounded up, each design is within rtol of the best one, and Catoni's mean needs L measurements to exist
with the confidence of round R, a little more than the printed 2 log(n / delta). The proved figure has all of that:

    samples  R (1024 (1 + rtol) (B^2 + sigma^2) H' log(4 n^2 R^2 / delta) + L + 1)

H' is H with no scale above 4 B, which is all that is known in round 1, and for pairs with the sharp scales: it is no
more than H unless the level lies far outside [-B, B]. Both figures assume max(Delta_min, tolerance) >= beta-bar
(`superlevel.bounds.resolution`), so that the ridge and the misspecification do not decide anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, as_number
from superlevel.bounds.complexity import Complexity, complexity, milk_scales, sharp_scales
from superlevel.bounds.ideal_rounds import bound_of, checked, smallest_gap
from superlevel.bounds.setting import as_features, as_ridge
from superlevel.problem import Problem


@dataclass(frozen=True, kw_only=True, eq=False)
class UpperBound:
    """With probability 1 - delta the paper's algorithm is done after this many measurements."""

    samples: float
    """What the proof gives once its slips are mended."""
    printed: float
    """What the appendix prints. It is 4 R times smaller than what is proved, apart from small terms."""
    rounds: float
    """R of the proved figure: no run has more rounds. Infinite where nothing ends one."""
    smallest_gap: float
    """Delta_min"""
    complexity: Complexity
    """H as printed."""
    active: Complexity
    """H' of the proved figure."""


def upper(problem: Problem, values: ArrayLike, *, ridge: float | None = None, rtol: float = 0.01) -> UpperBound:
    """T_delta of MELK for given levels, of MILK for a fraction of the maximum.

    ``values`` (n,) is f at the points. Bound, noise and ridge are taken as `rounds` takes them. Infinite where a point
    is exactly at the level and there is no tolerance.
    """
    f, rtol = checked(problem, values), as_number("rtol", rtol, above=0.0)
    gamma = as_ridge(problem.domain, problem.ridge if ridge is None else ridge)
    features = as_features(problem.domain, ridge=gamma, rtol=rtol)
    bound, sigma, share = bound_of(problem, f), float(np.max(problem.known_noise)), problem.goal.share
    as_printed, as_proved = _scales(problem, f, bound)
    printed = complexity(features, share, as_printed, ridge=gamma, rtol=rtol)
    same = np.array_equal(as_printed, as_proved)
    proved = printed if same else complexity(features, share, as_proved, ridge=gamma, rtol=rtol)
    gap = smallest_gap(problem, f, features)
    shown, needed = _round_counts(bound, gap, problem.tolerance)
    energy = bound**2 + sigma**2
    log = float(np.log(problem.domain.n / problem.delta))
    return UpperBound(
        samples=needed
        * (1024.0 * (1.0 + rtol) * energy * proved.value * _log(problem, needed) + _fewest(problem, needed)),
        printed=256.0 * energy * printed.value * _log(problem, shown) + 2.0 * log * shown,
        rounds=needed,
        smallest_gap=gap,
        complexity=printed,
        active=proved,
    )


def _round_counts(bound: float, gap: float, tolerance: float) -> tuple[float, float]:
    """R as printed and as proved; there is always a first round.

    A gap of exactly 4 B 2^-t takes one round more than the printed ceiling: the test is for more than 2 B 2^-t.
    """
    by_gap = max(1.0, math.floor(math.log2(4.0 * bound / gap)) + 1.0) if gap > 0.0 else math.inf
    by_tolerance = max(1.0, math.ceil(math.log2(4.0 * bound / tolerance))) if tolerance > 0.0 else math.inf
    nearest = max(gap, tolerance)
    printed = max(1.0, math.ceil(math.log2(4.0 * bound / nearest))) if nearest > 0.0 else math.inf
    return printed, min(by_gap, by_tolerance)


def _fewest(problem: Problem, rounds: float) -> float:
    """L + 1, where L is the least N_t of the last round: `superlevel.confidence.rounds` says why."""
    if math.isinf(rounds):
        return 0.0
    union = math.log(2.0 * problem.domain.n**2 * rounds**2 / problem.delta)
    least = 32.0 * union * (union + math.log(2.0)) / (14.0 * union - 2.0 * math.log(2.0))
    return max(least, 2.0 * math.log(problem.domain.n / problem.delta)) + 1.0


def _log(problem: Problem, rounds: float) -> float:
    """log(4 n^2 R^2 / delta)."""
    return math.log(4.0 * problem.domain.n**2 * rounds**2 / problem.delta)


def _scales(problem: Problem, values: Array, bound: float) -> tuple[Array, Array]:
    """Of every direction, as printed and as proved."""
    share = problem.goal.share
    if share:
        printed = milk_scales(share, values, problem.tolerance)
        sharp = sharp_scales(share, values, problem.tolerance)
    else:
        printed = sharp = np.maximum(problem.goal.margins(values), problem.tolerance)
    return printed, np.minimum(sharp, 4.0 * bound)
