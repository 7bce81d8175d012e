"""A rule for large domains: another rule on few of the points, those that can win and those that stand for the others.

Scores of all points, and sums over all points for each of them, would take hours on a million points. 2,048 points take
part instead:

- candidates: of every block of near points the one that is nearest to the level in deviations of f, and the one of the
  largest deviation, as long as there is room. A rule that scores each point by itself finds its best point or one
  beside it.
- a sample of all points. Half of it has chances in proportion to how likely a point is mislabelled, (1 + h^2)^-3 with h
  its distance from the level in deviations, and half in proportion to the variance of undecided points: these are what
  rules sum over. A point that had the chance p stands for 1 / p points in sums.

Points that are being measured already take part too. Covariances among these points come from all measurements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from superlevel.arrays import Array, Indices
from superlevel.design import Design, Review
from superlevel.goals import Goal
from superlevel.problem import Problem
from superlevel.records import Choice, View
from superlevel.rules.ambiguity import STRADDLE
from superlevel.rules.protocol import Rule
from superlevel.rules.variance import close, sampled
from superlevel.sizes import Growing

EACH = 512  # candidates by each of the rankings
SAMPLED = 1024  # points of the sample
NARROWING = 5  # sets these random numbers apart from those of draws, measurements, samples, checks and widths


@dataclass(frozen=True)
class Narrowed(Rule):
    """Another rule, on some of the points."""

    rule: Rule

    def check(self, problem: Problem, goal: Goal, /) -> None:
        self.rule.check(problem, goal)

    def choose(self, view: View) -> Choice:
        points, small = _narrowed(view)
        choice = self.rule.choose(small)
        design = choice.certificate
        return replace(
            choice,
            weights=_spread(choice.weights, points, view.n),
            counts=_spread(choice.counts, points, view.n),
            certificate=None if design is None else _widened(design, points, view.n),
        )

    def review(self, view: View, found: Design, /) -> Review | None:
        points, small = _narrowed(view)
        return self.rule.review(small, replace(found, weights=found.weights[points], dual=found.dual[points]))


def _narrowed(view: View) -> tuple[Indices, View]:
    """The points that take part, ascending, and the view of them."""
    out = np.union1d(view.pending, view.failed)
    chosen = np.union1d(out, np.concatenate([*_candidates(view)])).astype(np.int64)
    sizes = _sizes(view)
    sizes[chosen] = 0.0
    drawn, shares = sampled(sizes, SAMPLED, view.rng(NARROWING))
    points, standing = np.concatenate([chosen, drawn]), np.concatenate([np.ones(len(chosen)), shares])
    order = np.argsort(points)
    batch = Growing(first=view.samples())  # counted on all points
    return points[order], replace(view.among(points[order], standing[order]), sizes=batch)


def _candidates(view: View) -> Iterator[Indices]:
    """The best point of every block by each ranking, as many as there is room for."""
    model, blocks = view.belief.model, view.problem.domain.blocks
    width = view.goal.margins(model.centre)
    rankings = [STRADDLE * model.spread - width, model.spread]
    if view.goal.implicit:
        rankings.append(model.centre + STRADDLE * model.spread)
    for scores in rankings:
        best = np.array([members[np.argmax(scores[members])] for members in blocks])
        yield best[np.argsort(-scores[best], kind="stable")[:EACH]]


def _sizes(view: View) -> Array:
    """(n,) chances of being in the sample, up to a factor."""
    model = view.belief.model
    variance = np.square(model.spread)
    near = reduce(np.maximum, [share * close(gap, variance) for share, gap in view.goal.critical(model.centre)])
    sizes = np.zeros(view.n)
    for part in (near, view.undecided * variance):
        sizes += part / max(float(part.sum()), np.finfo(float).tiny)
    return sizes


def _spread(values: Array | Indices, points: Indices, n: int) -> np.ndarray:
    """(n,) the values at these points, zero elsewhere."""
    found = np.zeros(n, dtype=values.dtype)
    found[points] = values
    return found


def _widened(design: Design, points: Indices, n: int) -> Design:
    """A design on some of the points, as one on all n."""
    return replace(design, weights=_spread(design.weights, points, n), dual=_spread(design.dual, points, n))
