"""Further points of a box where the boundary is thought to be.

    z_i = (estimate_i - level) / (upper_i - lower_i)       how far each point is from a level, in units of its interval

Candidates are spread over the whole box. At each of them z is interpolated between the nearest points, and those where
|z| is smallest are added: there f is nearest to a level, or least is known of it.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from superlevel import boxes
from superlevel.arrays import Array
from superlevel.errors import InputError
from superlevel.study.events import Placed
from superlevel.study.ledger import Ledger
from superlevel.study.matching import match
from superlevel.study.replay import Knowledge
from superlevel.study.turns import CLOSED

CANDIDATES = 16  # for each point that is wanted
ROUNDING = 1e-9  # of a variance
REFINING = 5  # sets the random numbers of candidates apart from those of plans


def refined(known: Knowledge, count: int) -> Placed:
    """The entry that adds at most ``count`` points."""
    _check(known)
    ledger = known.ledger
    places = _candidates(ledger, count)
    nearest = np.argsort(np.abs(_interpolated(known, places)), kind="stable")[:count]
    return Placed(points=places[np.sort(nearest)].tolist(), targets=True)


def _check(known: Knowledge) -> None:
    ledger = known.ledger
    if ledger.closed is not None:
        raise InputError("study", "closed", f"begin another one: {CLOSED}")
    if known.method.confidence.in_rounds:
        raise InputError("confidence", known.method.confidence.name, "rounds are of the points that they began with")
    if known.method.confidence.ordered and known.method.confidence.guarantee(known.method.problem).at_all_times:
        remedy = (
            "its challenges are of the features that they began with: begin a study with sl.Ridge(shares=(1.0, 0.0))"
        )
        raise InputError("confidence", known.method.confidence.name, remedy)
    if known.method.confidence.guarantee(known.method.problem).at_all_times and np.ptp(_variances(known)) > 0:
        remedy = (
            "its intervals are in units of the largest variance of the points that it began with, which new points may "
            "exceed: take a kernel that is the same everywhere"
        )
        raise InputError(
            "kernel", f"with variances from {np.min(_variances(known)):g} to {np.max(_variances(known)):g}", remedy
        )
    if known.estimate is None or not known.levels or not ledger.samples:
        raise InputError(
            "study", "without an estimate yet", "tell more results first: nothing is known of the boundary"
        )
    for name, value in ledger.created.problem.items():
        if isinstance(value, list):
            raise InputError(name, "given for each point", "give one number for all points: new ones have none")


def _variances(known: Knowledge) -> Array:
    """(n,) k(x, x), with differences that are rounding left out."""
    found = known.method.problem.domain.diagonal()
    return np.where(np.isclose(found, found[0], rtol=ROUNDING), found[0], found)


def _candidates(ledger: Ledger, count: int) -> Array:
    """(m, d) places of the box that are no points yet."""
    added = len(ledger.refined)
    seed = np.random.SeedSequence([ledger.created.seed, added, REFINING]).generate_state(1)
    most = min(CANDIDATES * count, boxes.MOST)
    places = boxes.sobol(ledger.coordinates, count=most, seed=int(seed[0]))
    places = places[match(ledger.places, places) < 0]
    if not len(places):
        raise InputError("study", "one with every place of its box", "there is nothing to add")
    return places


def _interpolated(known: Knowledge, places: Array) -> Array:
    """(m,) z at the nearest of the levels, with weights of inverse squared distances."""
    ledger, estimate = known.ledger, known.estimate
    bounds = known.state.belief.bounds()
    widths = bounds.upper - bounds.lower
    finite = np.isfinite(widths) & (widths > 0)
    usual = float(np.median(widths[finite])) if finite.any() else 1.0
    z = (estimate - np.array(known.levels)[:, None]) / np.where(finite, widths, usual)
    points, there = (ledger.coordinates.forward(each) for each in (ledger.places, places))
    units = points.std(axis=0)
    units[units == 0] = 1.0
    around = min(2 * points.shape[1], ledger.n)
    distances, nearest = cKDTree(points / units).query(there / units, k=range(1, around + 1))
    weights = 1.0 / np.maximum(np.square(distances), 1e-12)
    found = (z[:, nearest] * weights).sum(axis=-1) / weights.sum(axis=-1)
    return np.asarray(found[np.argmin(np.abs(found), axis=0), np.arange(len(places))])
