"""The complexities H of the paper's upper bounds: how hard a function is for MELK and MILK, in squared widths.

    A        sum_i lambda_i phi_i phi_i' + gamma I
    s_v      v' A^-1 v for a direction v: phi(x), or phi(x) - share phi(x') where share = 1 - eps
    c_v      the scale of a direction, at least the tolerance
    H        min over designs lambda of max_v s_v / c_v^2

    MELK     c_x = |f(x) - alpha|, alpha the nearest level
    MILK     c_xx' = |g_xx'| for x in the set, |g_xx*| for x outside, whatever x' is
    sharp    c_xx' = the largest of |g_xx'|, |g_xx*| if x is outside, |g_x'x*| if x' is outside

The sharp scales are those of the pairs that MILK can still be looking at: a pair (x, x') leaves with x', too, and x' is
put out as soon as its own pair with x* is clear. On independent arms the printed H is not within any constant of the
complexity of (ST)^2, although the appendix says so, since it asks for every x' at the precision of the point nearest to
the level; the sharp one is, between eps^2 and 10 times (`st2`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, as_number
from superlevel.bounds.setting import (
    as_features,
    as_levels,
    as_ridge,
    as_share,
    as_values,
    check_maximum,
    from_levels,
    from_maximum,
    pair_gaps,
)
from superlevel.design import Design, solve, targets
from superlevel.domain import Domain
from superlevel.features import Features

_LARGE = 1e50  # squares of squares of it are numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class Complexity:
    """H between two proven numbers.

    Where a direction is exactly at its level and no tolerance ends the tie, both are infinite, and the design is the
    one for the directions that are tied: all effort goes there as a gap goes to zero.
    """

    value: float
    """What the design reaches: H is no larger."""
    lower_bound: float
    """No design does better: H is no smaller."""
    design: Design

    @property
    def gap(self) -> float:
        """value / lower_bound - 1."""
        return 0.0 if np.isinf(self.lower_bound) else self.value / self.lower_bound - 1.0

    @property
    def weights(self) -> Array:
        """(n,) where to measure, in which proportions."""
        return self.design.weights


def melk(
    domain: Domain,
    values: ArrayLike,
    *,
    threshold: float | Sequence[float],
    tolerance: float = 0.0,
    ridge: float | None = None,
    rtol: float = 0.01,
) -> Complexity:
    """H^MELK = min over lambda of max_x ||phi(x)||^2 / max(|f(x) - alpha|, tolerance)^2 in the norm of A^-1.

    ``values`` (n,) is f at the points. Of several levels the one nearest to f(x) counts. ``ridge`` None is 0 for the
    linear kernel, else 1e-7 of the largest k(x, x).
    """
    nearest = from_levels(as_levels(threshold), as_values(domain, values)).min(axis=0)
    scales = np.maximum(nearest, as_number("tolerance", tolerance, at_least=0.0))
    return _complexity(domain, 0.0, scales, ridge=ridge, rtol=rtol)


def milk(
    domain: Domain,
    values: ArrayLike,
    *,
    epsilon: float,
    tolerance: float = 0.0,
    ridge: float | None = None,
    rtol: float = 0.01,
) -> Complexity:
    """H^MILK as printed: the pairs of the points in the set at their own gaps, all others at the gap of (x, x*)."""
    share = as_share(epsilon)
    scales = milk_scales(share, as_values(domain, values), as_number("tolerance", tolerance, at_least=0.0))
    return _complexity(domain, share, scales, ridge=ridge, rtol=rtol)


def milk_sharp(
    domain: Domain,
    values: ArrayLike,
    *,
    epsilon: float,
    tolerance: float = 0.0,
    ridge: float | None = None,
    rtol: float = 0.01,
) -> Complexity:
    """H^MILK over the pairs that can still be active when the precision is that fine: never above `milk`."""
    share = as_share(epsilon)
    scales = sharp_scales(share, as_values(domain, values), as_number("tolerance", tolerance, at_least=0.0))
    return _complexity(domain, share, scales, ridge=ridge, rtol=rtol)


def milk_scales(share: float, values: Array, tolerance: float) -> Array:
    """(n, n) c_xx' as the theorem prints it."""
    check_maximum(values)
    own, above = np.abs(pair_gaps(share, values)), from_maximum(share, values)
    scales = np.where(above[:, None] > 0.0, own, np.abs(above)[:, None])
    return np.asarray(np.maximum(scales, tolerance))


def sharp_scales(share: float, values: Array, tolerance: float) -> Array:
    """(n, n) the precision, up to its factor, until which MILK can look at the pair."""
    check_maximum(values)
    until = np.maximum(-from_maximum(share, values), 0.0)  # a point in the set is never put out
    scales = np.maximum(np.abs(pair_gaps(share, values)), np.maximum.outer(until, until))
    return np.asarray(np.maximum(scales, tolerance))


def _complexity(domain: Domain, share: float, scales: Array, *, ridge: float | None, rtol: float) -> Complexity:
    gamma = as_ridge(domain, ridge)
    return complexity(as_features(domain, ridge=gamma, rtol=rtol), share, scales, ridge=gamma, rtol=rtol)


def complexity(features: Features, share: float, scales: Array, *, ridge: float, rtol: float) -> Complexity:
    """min over designs of the largest s_v / c_v^2, certified: over the points, or over the pairs if share > 0.

    Directions with an infinite c_v do not count.
    """
    counted = features.reached(share) & np.isfinite(scales)
    scales = np.where(counted, scales, 1.0)
    tied = counted & (scales == 0.0)
    if tied.any():
        design = solve(features, targets(share, tied), ridge=ridge, rtol=rtol)
        return Complexity(value=np.inf, lower_bound=np.inf, design=design)
    unit = _unit(scales[counted]) if counted.any() else 1.0
    design = solve(features, targets(share, counted & (scales > 0.0), scales / unit), ridge=ridge, rtol=rtol)
    return Complexity(value=design.value / unit**2, lower_bound=design.lower_bound / unit**2, design=design)


def _unit(scales: Array) -> float:
    """What to measure c_v in, so that fourth powers of c_v, which a design has, are numbers too."""
    smallest = float(scales.min())
    return 1.0 if 1.0 / _LARGE <= smallest <= _LARGE else min(max(smallest, _LARGE**-2), _LARGE**2)
