"""What measurements say against norm, noise and bound: each finding has a probability of ALARM if they are as given.

Those that compare with intervals of f also err where these do, which has probability delta.

Noise that is sub-Gaussian with sigma_t has, whatever chose the places,

    |eta_t|  <=  sigma_t (2 log(2 t (t + 1) / alarm))^1/2        for all t at once, and
    sum eta_t^2 / sigma_t^2  <=  N + 2 (N L)^1/2 + 2 L,          L = log(N (N + 1) / alarm), for all N at once

(the second as for chi-squared variables, whose exponential moments are larger: Laurent and Massart 2000, Ann. Statist.
28:1302, Lemma 1). With a ridge of 1, sum (y - f-hat)^2 / sigma^2 + ||theta-hat||^2 is at most the same sum for the true
theta, which has ||theta|| <= 1.

Outliers speak of heavy tails, a large sum of squares of noise or features that are not as given, and an ellipsoid that
does not meet the ball ||theta|| <= 1 of the norm.
"""

from __future__ import annotations

import numpy as np

from superlevel.arrays import Array, Indices
from superlevel.confidence.ellipsoids import Spectrum
from superlevel.findings import Finding, Verdict
from superlevel.goals import Bounds
from superlevel.sufficient_statistics import Statistics

ALARM = 1e-3  # probability with which each check doubts what is as given
HALVINGS, LARGEST = 12, 1e12  # of the search for the least norm: to a part in a thousand, and where it ends


def outliers(points: Indices, residuals: Array, count: int) -> Finding | None:
    """Whether a residual (N,), in its sigma and beyond the interval of f, is too large for one of ``count``."""
    if not len(residuals):
        return None
    allowed = float(np.sqrt(2.0 * np.log(2.0 * count * (count + 1.0) / ALARM)))
    worst = int(np.argmax(residuals))
    if residuals[worst] <= allowed:
        return None
    return _contradicted(
        "noise",
        float(residuals[worst]),
        f"a measurement at point {points[worst]} is {residuals[worst]:.3g} times the noise away from f, where "
        f"sub-Gaussian noise reaches {allowed:.3g} times in {count:,}: it has heavy tails, or is larger than given; "
        "correct it if it is a mistake, give a larger noise, or take the rips confidence, which needs a variance only",
    )


def too_much_noise(spectrum: Spectrum, statistics: Statistics) -> Finding | None:
    """Whether all measurements together lie farther from the best fit than the noise allows."""
    count = statistics.count
    if not count:
        return None
    fitted = spectrum.estimate()
    squares = statistics.scatter + float((statistics.information * np.square(statistics.means - fitted)).sum())
    squares += float(np.square(spectrum.coefficients()).sum()) - 1.0
    level = np.log(count * (count + 1.0) / ALARM)
    allowed = (np.sqrt(count + 2.0 * np.sqrt(count * level) + 2.0 * level) + spectrum.blur) ** 2
    if squares <= allowed:
        return None
    times = float(np.sqrt(squares / allowed))
    return _contradicted(
        "noise",
        times,
        f"{count:,} measurements lie farther from every function that is allowed than the noise explains: it is at "
        f"least {times:.4g} times what is given, or the kernel does not fit; give a larger noise, a rougher kernel or "
        "a misspecification",
    )


def too_large(spectrum: Spectrum, name: str, given: float) -> Finding | None:
    """Whether no theta of the ball explains the measurements; its radius 1 stands for what was given by this name."""
    if not _empty(spectrum):
        return None
    least = given * smallest_norm(spectrum)
    return _contradicted(
        name,
        least,
        f"{name} is {given:.4g}, but what was measured needs {least:.4g} at least: give a larger one, or a larger "
        "noise",
    )


def smallest_norm(spectrum: Spectrum) -> float:
    """The least radius, in units of the ball's, of one that meets its ellipsoids; gammas go with it. By bisection."""
    low, high = 1.0, 2.0
    while _empty(spectrum.scaled(high)) and high < LARGEST:
        low, high = high, 2.0 * high
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if _empty(spectrum.scaled(middle)) else (low, middle)
    return low


def _empty(spectrum: Spectrum) -> bool:
    """Whether some ellipsoid has nothing in common with the ball."""
    return float(spectrum.ellipsoids(ALARM).squared.min()) < 0.0


def outside(found: Bounds, bound: float) -> Finding | None:
    """Whether some interval (n,) of f - mean has nothing in common with |f - mean| <= bound."""
    beyond = np.maximum(found.lower, -found.upper) - bound
    worst = int(np.argmax(beyond))
    if beyond[worst] <= 0.0:
        return None
    return _contradicted(
        "bound",
        float(bound + beyond[worst]),
        f"bound is {bound:g}, but f - mean at point {worst} is between {found.lower[worst]:.4g} and "
        f"{found.upper[worst]:.4g}: give a larger one",
    )


def apart(found: Bounds, delta: float, *, limit: str, farthest: str) -> Finding | None:
    """Whether kinds of interval (n,) that hold at once with probability 1 - delta exclude each other somewhere.

    ``limit`` is what limits f: norm or bound. ``farthest`` says which measurement is farthest from the fit: one mistake
    is enough.
    """
    empty = found.lower > found.upper
    if not empty.any():
        return None
    point = int(np.argmax(empty))
    return _contradicted(
        limit,
        float(point),
        f"nothing is left of the interval of point {point}, which happens with probability {delta:g} "
        f"if {limit}, noise and kernel are as given: correct a mistake (farthest from the fit is {farthest}), or give "
        f"a larger {limit} or noise, or a rougher kernel",
    )


def _contradicted(assumption: str, number: float, sentence: str) -> Finding:
    return Finding(assumption=assumption, verdict=Verdict.CONTRADICTED, number=number, sentence=sentence)
