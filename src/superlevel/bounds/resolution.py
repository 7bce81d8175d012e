"""beta-bar: how near to the level the paper's algorithms can still be right.

    c          sqrt(gamma) ||theta|| + h: what the ridge hides and what the features cannot express
    F(beta)    4 c (2 + sqrt(min over designs of the largest ||v||^2 over the directions with |gap| <= beta))
    beta-bar   min {beta > 0: F(beta) <= beta}

F is a step function that does not decrease, so its least fixed point is reached from below: from no directions at all
to those within F of that, and so on. It is constant between two gaps: a set that stays the same ends it.

The theorems' proofs use more than the definition gives: that F(beta) <= beta at every beta *above* beta-bar, since the
rounds come down from precision B to it. A step of F may well be above the diagonal again further up. `safe` is the
smallest beta from which on it is not, the greatest fixed point, reached from above.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, Mask, as_number
from superlevel.bounds.setting import as_features, as_ridge, as_values, check_maximum, distances
from superlevel.design import Design, solve, targets
from superlevel.domain import Domain
from superlevel.features import Features
from superlevel.goals import Goal


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """Gaps below this are not resolved. Both numbers are computed from certified values and err on the large side."""

    value: float
    """beta-bar as printed, the least beta with F(beta) <= beta."""
    safe: float
    """The least beta with F(beta') <= beta' for all beta' >= beta."""


def resolution(
    domain: Domain,
    values: ArrayLike,
    *,
    goal: Goal,
    norm: float,
    misspecification: float = 0.0,
    ridge: float | None = None,
    rtol: float = 0.01,
) -> Resolution:
    """beta-bar of MELK for given levels, of MILK for a fraction of the maximum; 0 without ridge and misspecification.

    Args:
        domain: n points and a kernel.
        values: (n,) f at the points.
        goal: any goal; of several levels the nearest counts.
        norm: ||theta||, or a bound on it.
        misspecification: h >= 0 with |f(x) - mean - <theta, phi(x)>| <= h.
        ridge: None is 0 for the linear kernel and 1e-7 of the largest k(x, x) for others.
        rtol: how closely each design is solved.
    """
    f, gamma = as_values(domain, values), as_ridge(domain, ridge)
    if goal.implicit:
        check_maximum(f)
    hidden = float(np.sqrt(gamma)) * as_number("norm", norm, above=0.0)
    hidden += as_number("misspecification", misspecification, at_least=0.0)
    if hidden == 0.0:
        return Resolution(value=0.0, safe=0.0)
    features = as_features(domain, ridge=gamma, rtol=rtol)
    gaps = np.where(features.reached(goal.share), distances(goal, f), np.inf)
    steps = _steps(features, goal.share, hidden, ridge=gamma, rtol=rtol)
    value = _from_below(gaps, steps)
    return Resolution(value=value, safe=max(value, _from_above(gaps, steps)))


def _steps(features: Features, share: float, hidden: float, *, ridge: float, rtol: float) -> Callable[[Mask], float]:
    """F as a function of the set of directions. The sets are nested, so their sizes tell them apart."""
    known: dict[int, float] = {0: 8.0 * hidden}
    last: Design | None = None

    def step(near: Mask) -> float:
        nonlocal last
        size = int(np.count_nonzero(near))
        if size not in known:
            last = solve(features, targets(share, near), ridge=ridge, rtol=rtol, start=last)
            known[size] = 4.0 * hidden * (2.0 + float(np.sqrt(last.value)))
        return known[size]

    return step


def _from_below(gaps: Array, step: Callable[[Mask], float]) -> float:
    near = np.zeros(gaps.shape, dtype=np.bool_)
    beta = step(near)
    while not np.array_equal(wider := gaps <= beta, near):
        near, beta = wider, max(beta, step(wider))  # certified values may decrease a little where F does not
    return beta


def _from_above(gaps: Array, step: Callable[[Mask], float]) -> float:
    near = np.isfinite(gaps)
    beta = step(near)
    while not np.array_equal(narrower := near & (gaps <= beta), near):
        near, beta = narrower, min(beta, step(narrower))
    return beta
