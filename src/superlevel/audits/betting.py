"""Confidence sequences for a mean, by betting (Waudby-Smith and Ramdas 2024, JRSS B 86:1), and sizes of audits.

X_t <= top are random variables with E[X_t | past] >= mu for every t. Somebody claims that mu >= m, for an m < top. A
gambler who doubts it stakes the share s of the capital on every draw:

    K_t(m, s) = prod_{i <= t} (1 - s + s (top - X_i) / (top - m)),        K_t(m) = sum_s w_s K_t(m, s),

with a fixed grid of shares 0 < s <= 1 and weights w_s of sum 1.

Validity. Every factor is >= 0, and for m = mu its conditional expectation is at most 1 - s + s = 1. So K_t(mu) is a
supermartingale that starts at 1 and is never negative, and Ville's inequality says that K_t(mu) ever reaches 1 / delta
with probability delta at most. Every factor increases with m. So the m with K_t(m) < 1 / delta are all m below one
number, the bound at t, and with probability at least 1 - delta

    mu <= bound at t        for all t at once,

hence also at a t that somebody chose after looking at the results. The X_t need no lower limit. They need not be
independent.

Two properties. The capital does not depend on the order of the X_i. By Jensen's inequality K_t(m) <= 1 for m = mean of
the X_i, so the bound is never below the mean. The smallest bound of the past would be valid too, but it can be below
the mean, so it is not used.

The grid. For X in {0, 1} with mean p the best share is s = 1 - p / m. A third of the capital is on s = 1, which is best
as long as every X is 0. The rest is spread over s = 1 - v^2 with v uniform on (0, 1): the density of v^2 = p / m is
then in proportion to (p / m)^-1/2, Jeffreys's prior of a Poisson rate. Bounds for delta = 0.05, and those of Clopper
and Pearson, which are valid at one size that is fixed beforehand:

    X = 1 in              0 of 60   1 of 60   3 of 60   0 of 200   15 of 200   45 of 600
    betting                 0.056     0.113     0.177      0.017       0.147       0.115
    Clopper and Pearson     0.049     0.077     0.124      0.015       0.113       0.095
"""

from __future__ import annotations

import numpy as np

from superlevel.arrays import Array, as_number
from superlevel.errors import InputError

ATOMS = 32  # shares besides s = 1; the smallest one, about 1 / ATOMS, limits how close a bound comes to the mean
_ROOTS = (np.arange(ATOMS) + 0.5) / ATOMS
SHARES = np.concatenate([[1.0], 1.0 - _ROOTS**2])
LOG_WEIGHTS = np.log(np.concatenate([[1.0 / 3.0], np.full(ATOMS, 2.0 / 3.0 / ATOMS)]))
HALVINGS = 50
LARGEST = 10**9  # draws that `needed` considers


def upper(values: Array, *, top: float, delta: float) -> float:
    """The upper bound, valid at all times, for the mean of variables of which ``values`` (N,) were observed.

    No value may exceed ``top``. Without values the bound is ``top``. With g = top - m the bound is top - g for the
    largest g that has K >= 1 / delta; a bisection finds it from below, so rounding never makes the bound too small.
    """
    if not len(values):
        return top
    gaps, repeats = np.unique(top - values, return_counts=True)
    counts = repeats.astype(np.float64)
    if gaps[-1] <= 0.0:
        return top
    low, high = 0.0, float(gaps @ counts) / len(values)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        enough = middle > 0.0 and _log_capital(gaps / middle, counts) >= -np.log(delta)
        low, high = (middle, high) if enough else (low, middle)
    return top - low


def lower(values: Array, *, bottom: float, delta: float) -> float:
    """The lower bound, valid at all times, for the mean of variables that are at least ``bottom``."""
    return -upper(-values, top=-bottom, delta=delta)


def needed(bound: float, *, kappa: float, delta: float = 0.05, rate: float = 0.0, spread: float = 1.0) -> int:
    """The number of draws after which an audit has the wanted bound on the share of wrong labels.

    ``rate`` is the expected share of contradictions, 0 for none. ``kappa`` and ``spread`` are those of the `Audit`. If
    contradictions come at exactly this rate, and each has the largest weight, the audit reaches the bound at this size.
    They come at random, so some audits need more. Contradictions of smaller weight count less.

    >>> needed(0.1, kappa=0.5), needed(0.1, kappa=1.0), needed(0.1, kappa=0.5, rate=0.01)
    (67, 33, 174)
    """
    share = as_number("bound", bound, above=0.0, below=1.0)
    power = as_number("kappa", kappa, above=0.0)
    largest = as_number("spread", spread, at_least=1.0)
    log_wanted = -np.log(as_number("delta", delta, above=0.0, below=1.0))
    if power > 1.0:
        raise InputError("kappa", kappa, "give a probability > 0 and <= 1")
    mean, hits = share * power / largest, as_number("rate", rate, at_least=0.0) / largest
    with np.errstate(divide="ignore"):
        losses = hits * np.log1p(-SHARES) if hits else np.zeros_like(SHARES)
    growth = losses + (1.0 - hits) * np.log1p(SHARES * mean / (1.0 - mean))
    if hits >= mean or growth.max() * LARGEST < log_wanted - LOG_WEIGHTS.min():
        raise InputError("rate", rate, f"give a bound well above {rate / power:g}, the share that this rate stands for")
    # The capital is a sum of exponentials in the size, so convex, and 1 without draws: it reaches 1 / delta once.
    low, high = 0, LARGEST
    while high - low > 1:
        middle = (low + high) // 2
        enough = np.logaddexp.reduce(LOG_WEIGHTS + middle * growth) >= log_wanted
        low, high = (low, middle) if enough else (middle, high)
    return high


def _log_capital(ratios: Array, counts: Array) -> float:
    """log K for ``counts`` (k,) draws with each ratio (top - X) / (top - m) (k,)."""
    with np.errstate(divide="ignore"):  # s = 1 loses everything where X = top
        logs = np.log(1.0 - SHARES[:, None] + SHARES[:, None] * ratios)
    return float(np.logaddexp.reduce(LOG_WEIGHTS + logs @ counts))
