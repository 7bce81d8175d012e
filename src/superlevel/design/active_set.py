"""The arms and targets that a solver works on: where it begins, and which others must enter.

An optimal design needs few of many arms, and few targets decide it. Steps are taken on an active set; a full
evaluation says which arms and targets outside contradict it, and those enter. The rest of a large problem costs one
evaluation each time and nothing in between.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lapack

from superlevel import linalg
from superlevel.arrays import Array, Indices, normalised
from superlevel.design.certificate import Proof
from superlevel.design.problem import DesignProblem
from superlevel.design.targets import spread

ARMS = 2  # arms to begin with, for each feature
TARGETS = 4  # targets to begin with, for each feature
SMALL = 700  # arms, and targets, up to which all are taken
APART = 0.03  # part of the largest length that what enters together keeps given the others: neighbours do not crowd in
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

    def everywhere(self, problem: DesignProblem) -> Array:
        """(n,) the weights of all arms."""
        weights = np.zeros(problem.arms.shape[0])
        weights[self.arms] = self.weights
        return weights

    def on_arms(self, arms: Indices, uniform: float) -> ActiveSet:
        """On these arms, its own among them, with a uniform part on all."""
        return replace(self, arms=arms, weights=_blend(arms, self.arms, self.weights, uniform))

    def on_targets(self, targets: Indices, uniform: float) -> ActiveSet:
        """On these targets, its own among them, with a uniform part on all."""
        return replace(self, targets=targets, mixture=_blend(targets, self.targets, self.mixture, uniform))


def first_sizes(problem: DesignProblem) -> tuple[int, int]:
    """Arms and targets to begin with, at most."""
    count, rank = problem.arms.shape
    return min(count, max(SMALL, ARMS * rank)), min(problem.targets.mask.size, max(SMALL, TARGETS * rank))


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


def entering(arms: Indices, seen: Proof, *, most: int) -> Indices:
    """These arms, and those that gain more than any of them, at most so many."""
    others = largest(seen.gains, float(seen.gains[arms].max()), most)
    return np.union1d(arms, others[apart(seen.look.roots.at(others))])


def blurred(distribution: Array) -> Array:
    """With a small uniform part."""
    return (1 - UNIFORM) * distribution + UNIFORM / len(distribution)


def largest(values: Array, above: float, count: int) -> Indices:
    """Where the largest values are, those above a level, count at most."""
    found = np.flatnonzero(values > above)
    return found[np.argsort(-values[found])[:count]]


def apart(rows: Array) -> Indices:
    """Rows that are long and stay long given each other: the first pivots of their Gram matrix."""
    if len(rows) <= 1:
        return np.arange(len(rows))
    matrix = linalg.gram(rows)
    _, order, rank, _ = lapack.dpstrf(matrix, tol=APART * float(np.diag(matrix).max()), lower=1)
    return np.asarray(order[: max(rank, 1)] - 1, dtype=np.int64)


def _blend(positions: Indices, some: Indices, weights: Array, uniform: float) -> Array:
    """A distribution on sorted positions: the given one on some of them, and a uniform part on all."""
    blended = np.full(len(positions), uniform / len(positions))
    blended[np.searchsorted(positions, some)] += (1 - uniform) * weights
    return normalised(blended)


def _uniform(count: int) -> Array:
    return np.full(count, 1 / count)
