"""The arms and targets that a solver works on: where it begins, and which others must enter.

An optimal design needs few of many arms, and few targets decide it. Steps are taken on an active set; a full
evaluation says which arms and targets outside contradict it, and those enter. The rest of a large problem costs one
evaluation each time and nothing in between.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from superlevel import linalg
from superlevel.arrays import Array, Indices, normalised
from superlevel.design.certificate import Evaluation, Proof
from superlevel.design.problem import DesignProblem
from superlevel.design.result import Design
from superlevel.design.targets import from_dual, listed, spread

ARMS = 2  # arms to begin with, for each feature
TARGETS = 4  # targets to begin with, for each feature
SMALL = 700  # arms, and targets, up to which all are taken
RESUMED = 0.1  # uniform part of a design that is taken up again: a weight of zero could never grow
APART = (
    0.03  # what enters together keeps this part of the largest length given the others, so neighbours do not crowd in
)
UNIFORM = 0.1  # uniform part with which the best point so far is started from again


@dataclass(frozen=True, kw_only=True, eq=False)
class ActiveSet:
    """A design and a mixture on an active set; positions are sorted."""

    arms: Indices
    """(m,)"""
    targets: Indices
    """(p,)"""
    weights: Array
    """(m,) > 0, a distribution."""
    mixture: Array
    """(p,) > 0, a distribution."""
    thinned: bool = False
    """Whether arms that do little were left out. Those that come back stay, or they might come and go for ever."""

    def covers(self, problem: DesignProblem) -> bool:
        """Whether this is everything."""
        return len(self.arms) == len(problem.arms) and len(self.targets) == np.count_nonzero(problem.targets.mask)

    def everywhere(self, problem: DesignProblem) -> Array:
        """(n,) the weights of all arms."""
        weights = np.zeros(len(problem.arms))
        weights[self.arms] = self.weights
        return weights


def begin(problem: DesignProblem) -> ActiveSet:
    """Uniform on arms and targets that lie apart, on all where they are few.

    Where the arms are many and the targets few and among them, the best arms are near: it begins there.
    """
    count, rank = problem.arms.shape
    arms, most = problem.targets.places(), max(SMALL, TARGETS * rank)
    targets = spread(arms, most, problem.pivots) if len(arms) else problem.targets.some(most)
    if problem.ridge == 0 or not 0 < len(arms) < rank <= count / 3:
        arms = spread(np.arange(count), max(SMALL, ARMS * rank), problem.pivots)
    return ActiveSet(arms=arms, targets=targets, weights=_uniform(len(arms)), mixture=_uniform(len(targets)))


def resume(problem: DesignProblem, start: Design) -> ActiveSet:
    """Where another design ended, on its support and on what one would begin with."""
    first = begin(problem)
    positions, mixture = from_dual(problem.targets, start.dual)
    if not len(positions):  # none of its targets counts any more
        positions, mixture = first.targets, first.mixture
    support = start.support
    arms, targets = np.union1d(first.arms, support), np.union1d(first.targets, positions)
    return ActiveSet(
        arms=arms,
        targets=targets,
        weights=blend(arms, support, start.weights[support], RESUMED),
        mixture=blend(targets, positions, normalised(mixture), RESUMED),
    )


def part(problem: DesignProblem, active: ActiveSet) -> DesignProblem:
    """The problem with nothing but the active set, its targets written out."""
    arms = problem.arms[active.arms]
    rows = problem.directions().rows(active.targets)
    return DesignProblem(
        arms=arms, targets=listed(rows), ridge=problem.ridge, residuals=None, pivots=np.empty(0, dtype=np.int64)
    )


def enter(active: ActiveSet, seen: Evaluation) -> ActiveSet | None:
    """With the arms that gain more than any in the active set, and the targets that are worse than any in it.

    None where there are none. At most as many enter as were there.
    """
    arms = entering(active.arms, seen, most=len(active.arms))
    worst = float(seen.mixed_variances.max())
    targets = np.sort(seen.variances.positions[_largest(seen.variances.values, worst, len(active.targets))])
    targets = np.union1d(active.targets, targets[_apart(seen.view.rows(targets))])
    if len(arms) == len(active.arms) and len(targets) == len(active.targets):
        return None
    uniform = min(RESUMED, seen.gap)
    return ActiveSet(
        arms=arms,
        targets=targets,
        weights=blend(arms, active.arms, active.weights, uniform),
        mixture=blend(targets, active.targets, active.mixture, uniform),
    )


def entering(arms: Indices, seen: Proof, *, most: int) -> Indices:
    """These arms, and those that gain more than any of them, at most so many."""
    others = _largest(seen.gains, float(seen.gains[arms].max()), most)
    return np.union1d(arms, others[_apart(seen.roots[others])])


def blurred(distribution: Array) -> Array:
    """With a small uniform part."""
    return (1 - UNIFORM) * distribution + UNIFORM / len(distribution)


def _largest(values: Array, above: float, count: int) -> Indices:
    """Where the largest values are, those above a level, count at most."""
    found = np.flatnonzero(values > above)
    return found[np.argsort(-values[found])[:count]]


def _apart(rows: Array) -> Indices:
    """Rows that are long and stay long given each other: the first pivots of their Gram matrix."""
    if len(rows) <= 1:
        return np.arange(len(rows))
    matrix = linalg.gram(rows)
    _, order, rank, _ = lapack.dpstrf(matrix, tol=APART * float(np.diag(matrix).max()), lower=1)
    return np.asarray(order[: max(rank, 1)] - 1, dtype=np.int64)


def blend(positions: Indices, some: Indices, weights: Array, uniform: float) -> Array:
    """A distribution on sorted positions: the given one on some of them, and a uniform part on all."""
    blended = np.full(len(positions), uniform / len(positions))
    blended[np.searchsorted(positions, some)] += (1 - uniform) * weights
    return normalised(blended)


def _uniform(count: int) -> Array:
    return np.full(count, 1 / count)
