"""The lower bound for a fraction of the maximum as the paper prints it, for comparison with `implicit`.

    r_xx'(lambda)   ||phi(x) - (1 - eps) phi(x')||^2 / g_xx'^2 in the norm of A(lambda)^-1
    H               min over lambda of the larger of max over x in the set, x' of r_xx'
                    and max over x outside of min over x' of r_xx'

A minimum of convex functions is not convex. For one choice of an x' for each x outside the problem is a design, and H
is the smallest over the choices: where these are few, all are tried. Otherwise designs and choices are improved in
turns from several starts, which gives a value that H does not exceed, and the bound from below is that of the convex
problem in which each x outside may choose any v in the hull of its y_xx' / g_xx'.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, Indices, Mask
from superlevel.bounds.alternatives import Instance, evaluate_pairs
from superlevel.bounds.implicit_lower import make_instance
from superlevel.bounds.lower import LowerBound, information, scaled
from superlevel.bounds.saddle import saddle
from superlevel.bounds.setting import as_noise, as_share, as_values, from_maximum
from superlevel.design import Rows, Status, solve
from superlevel.domain import Domain

FEW = 300  # choices that are all tried
STARTS = 6  # random designs from which the turns begin, otherwise
TURNS = 50  # at most, from each
FINER = 0.2  # part of rtol to which each design problem is solved


@dataclass(frozen=True, kw_only=True, eq=False)
class PrintedBound(LowerBound):
    """The printed figure between two proven numbers. It is not always a bound: `samples` may be more than is needed."""

    choices: Indices
    """(n,) the x' of every point x outside at the weights; -1 for the points of the set."""
    enumerated: bool
    """Whether all choices were tried. If not, `complexity` is an upper estimate and the gap may stay wide."""


def implicit_printed(
    domain: Domain,
    values: ArrayLike,
    *,
    epsilon: float,
    noise: float | ArrayLike,
    delta: float = 0.1,
    mean: float = 0.0,
    ridge: float | None = None,
    rtol: float = 0.01,
) -> PrintedBound:
    """Theorem 2 as printed, with the arguments of `implicit`."""
    share, given = as_share(epsilon), as_values(domain, values)
    sound = as_noise(noise, domain.n)
    unit = information(sound.sigma, delta)
    instance = make_instance(domain, given, share, loudness=sound.loudness, mean=mean, ridge=ridge, rtol=rtol)
    everyone = np.flatnonzero(
        from_maximum(share, given) <= 0.0
    )  # the printed term asks for all of them, movable or not
    instance = _Either(**vars(replace(instance, outside=everyone)))
    options = [np.flatnonzero(instance.gaps[x]) for x in instance.outside]
    few = float(np.prod([float(len(some)) for some in options])) <= FEW
    found = _enumerate(instance, options, rtol) if few else _take_turns(instance, rtol)
    choices = np.full(domain.n, -1, dtype=np.int64)
    choices[instance.outside] = found.choices
    return PrintedBound(
        samples=scaled(unit, found.lower_bound),
        complexity=found.value,
        lower_bound=found.lower_bound,
        weights=found.weights,
        status=Status.CERTIFIED if found.value <= (1.0 + rtol) * found.lower_bound else Status.ITERATIONS,
        choices=choices,
        enumerated=few,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Either(Instance):
    """A point outside is done with one x', on whichever side of it: its v is one y / g or, relaxed, in their hull."""

    def obstacles(self) -> Mask:
        return np.asarray(self.gaps != 0.0)

    def constraints(self, x: int, white: Array) -> tuple[Array, Array]:
        """The d with d'y / g <= -1 for all x': as far from 0 as the hull's shortest v is short."""
        counts = self.gaps[x] != 0.0
        divisor = np.where(counts, -self.gaps[x], 1.0)[:, None]
        rows = (white[x] - self.share * white) / divisor
        return np.where(counts[:, None], rows, 0.0), np.where(counts, 1.0, -1.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Found:
    weights: Array
    value: float
    lower_bound: float
    choices: Indices
    """(q,) x' for each of the points outside."""


def _enumerate(instance: Instance, options: list[Indices], rtol: float) -> _Found:
    best: _Found | None = None
    pairs: Indices = np.empty(0, dtype=np.int64)
    bound = np.inf
    for chosen in product(*options):
        here, pairs = _fixed(instance, np.array(chosen, dtype=np.int64), pairs, rtol)
        bound = min(bound, here.lower_bound)
        best = here if best is None or here.value < best.value else best
    assert best is not None  # without points outside there is one choice, the empty one
    return replace(best, lower_bound=bound)


def _take_turns(instance: Instance, rtol: float) -> _Found:
    relaxed = saddle(instance, rtol=rtol)
    n = len(instance.arms)
    rng = np.random.default_rng(0)
    starts = [relaxed.weights, np.full(n, 1.0 / n), *rng.dirichlet(np.ones(n), size=STARTS)]
    best: _Found | None = None
    pairs: Indices = np.empty(0, dtype=np.int64)
    for start in starts:
        weights, reached = start, np.inf
        for _ in range(TURNS):
            chosen = evaluate_pairs(instance, weights).choices
            here, pairs = _fixed(instance, chosen, pairs, rtol)
            best = here if best is None or here.value < best.value else best
            if here.value >= (1.0 - FINER * rtol) * reached:
                break
            weights, reached = here.weights, here.value
    assert best is not None
    return replace(best, lower_bound=relaxed.lower_bound)


def _fixed(instance: Instance, chosen: Indices, pairs: Indices, rtol: float) -> tuple[_Found, Indices]:
    """The best design for one choice, and the pairs of the set that it had to look at."""
    mine = instance.directions(instance.outside * len(instance.arms) + chosen)
    best = evaluate_pairs(instance, np.full(len(instance.arms), 1.0 / len(instance.arms)), chosen)
    here, bound = best, 0.0
    for _ in range(TURNS):
        pairs = np.union1d(pairs, here.pairs)
        rows = np.vstack([instance.directions(pairs), mine])
        design = solve(instance.arms, Rows(rows[rows.any(axis=1)]), ridge=instance.ridge, rtol=FINER * rtol)
        here, bound = evaluate_pairs(instance, design.weights, chosen), max(bound, design.lower_bound)
        best = here if here.value < best.value else best
        if best.value <= (1.0 + rtol) * bound or np.isin(here.pairs, pairs).all():
            break
    free = evaluate_pairs(instance, best.weights)  # at these weights another choice may be better still
    return _Found(weights=free.weights, value=free.value, lower_bound=bound, choices=free.choices), pairs
