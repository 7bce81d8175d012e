"""How many labels will be wrong after more measurements, as a Gaussian model of f has it.

a      (n,)  distance of f's estimate from the level, in deviations of f
rho    (n,)  part of a point's variance that the further measurements leave

Whatever the further measurements say, the variance that they leave is known beforehand, and the estimate moves as a
normal variable with the variance that they take away. So the estimate of then and f are jointly normal, and the
probability that they are on different sides of the level is

    e(rho) = 2 T(a, sqrt(rho / (1 - rho))),        T(h, b) = 1/(2 pi) int_0^b exp(-h^2 (1 + x^2) / 2) / (1 + x^2) dx

with Owen's T (Owen 1956, Ann. Math. Statist. 27:1075). It is Phi(-a) for rho = 1 and 0 for rho = 0.

The places of the further measurements are chosen greedily by the default rule's score. To be quick, candidates and the
points whose labels are counted are two random samples of the domain, drawn apart: then a sampled point is measured
itself as often as any other point.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy.special import owens_t

from superlevel.arrays import Array, Indices
from superlevel.methods import Method
from superlevel.one_thread import one_thread
from superlevel.records import State
from superlevel.rules.variance import Doubtful

SAMPLED = 400  # points that are counted, and candidates
COVARIANCES = 2**24  # held at a time, at most: fewer candidates where there are very many points
STEP = 10  # further measurements between two numbers of a curve


@dataclass(frozen=True, kw_only=True, eq=False)
class Decline:
    """How the expected number of wrong labels falls."""

    more: Indices
    """(k,) further measurements, from 0."""
    parts: Array
    """(k,) of the expected number now: 1 at first."""


def wrong_after(distances: Array, left: Array) -> Array:
    """The probability that a label is wrong after measurements that leave the part ``left`` of a point's variance.

    ``distances`` are those of the estimate from the level now, in deviations.

    >>> wrong_after(np.array([0.0, 1.0]), np.array([1.0, 1.0])).round(4).tolist()      # Phi(-a)
    [0.5, 0.1587]
    """
    kept = np.clip(left, 0.0, 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(2.0 * owens_t(distances, np.sqrt(kept / (1.0 - kept))))


@one_thread
def decline(method: Method, state: State, *, most: int) -> Decline:
    """The curve for up to ``most`` further measurements; an InputError where the confidence has no Gaussian model."""
    view = method.view(state, phase=state.phase)
    model, posterior = view.belief.model, view.planned
    weights, rough = Doubtful().at(view)
    n, rng = len(weights), view.rng(use=7)
    targets = np.sort(rng.permutation(n)[:SAMPLED])
    candidates = np.sort(rng.permutation(n)[: int(np.clip(COVARIANCES // n, 50, SAMPLED))])
    columns = posterior.columns(candidates)
    between, among = columns[:, targets], columns[:, candidates]
    noise, spread = posterior.noise[candidates] + rough[candidates], model.spread[targets]
    gaps = [np.abs(gap[targets]) for _, gap in view.goal.critical(model.centre)]
    with np.errstate(divide="ignore", invalid="ignore"):
        distances = [np.nan_to_num(gap / spread, posinf=np.inf) for gap in gaps]
    before = posterior.variance[targets] + rough[targets]
    taken = np.zeros(len(targets))
    more, parts = [], []
    for k in range(most + 1):
        if k % STEP == 0:
            left = np.divide(before - taken, before, out=np.zeros_like(before), where=before > 0)
            more.append(k)
            parts.append(float(reduce(np.add, [wrong_after(each, left) for each in distances]).sum()))
        own = np.maximum(np.einsum("ii->i", among), 0.0) + noise
        chosen = int(np.argmax((np.square(between) @ weights[targets]) / own))
        row, column = between[chosen] / np.sqrt(own[chosen]), among[chosen] / np.sqrt(own[chosen])
        taken = taken + np.square(row)
        between = between - np.outer(column, row)
        among = among - np.outer(column, column)
    total = parts[0] or 1.0
    return Decline(more=np.array(more), parts=np.array(parts) / total)
