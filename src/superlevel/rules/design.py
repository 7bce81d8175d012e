"""The paper's rule: the optimal design for the undecided directions.

For a threshold the directions are points, a G-optimal design (Algorithm 1); for a fraction of the maximum they are
pairs, an XY-optimal one (Algorithm 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from superlevel import design
from superlevel.arrays import Mask
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.features import Features, embed, tolerance
from superlevel.goals import Goal
from superlevel.problem import Problem
from superlevel.records import Choice, View
from superlevel.rules.covariances import SampledWorst
from superlevel.rules.protocol import DesignRule, Rule
from superlevel.rules.worth import Worth, numbers, scaled, worth

FIRST_RIDGE = 0.1  # gamma of the first batch in the paper's experiments, 1 / 10, times the largest k(x, x)
DESIGNS = 100  # batches for which the features of a batched design are exact to its rtol
RANK = 400  # and at most so many of them: a rough kernel has more than points can be chosen by
MISSED = 1e-3  # part of the largest k(x, x) that the features may miss at most, however large the ridge is


class Posed(NamedTuple):
    """A design problem."""

    arms: Features
    targets: design.Subset | design.Pairs
    ridge: float


@dataclass(frozen=True, kw_only=True)
class OptimalDesign(DesignRule):
    """The paper's rounds: lambda_t = argmin over designs of g(lambda; A_t; gamma), in the confidence's features."""

    certifies: ClassVar[bool] = True

    def choose(self, view: View) -> Choice:
        """As many draws from lambda_t as the phase takes."""
        found = self.solved(view)
        counts = design.draw(found.weights, view.samples(found.value), rng=view.rng())
        return Choice(weights=found.weights, counts=counts, certificate=found)

    def solved(self, view: View) -> design.Design:
        """lambda_t, within rtol of the best."""
        arms, wanted, ridge = self.posed(view)
        return design.solve(arms, wanted, ridge=ridge, rtol=self.rtol, start=view.start)

    def review(self, view: View, found: design.Design, /) -> design.Review:
        arms, wanted, ridge = self.posed(view)
        return design.review(arms, wanted, found.weights, found.dual, ridge=ridge)

    def posed(self, view: View) -> Posed:
        """The design problem of this view."""
        model = view.belief.linear
        wanted = reachable(view.undecided, model.features, view.goal.share)
        return Posed(model.features, design.targets(view.goal.share, wanted), model.ridge)


@dataclass(frozen=True, kw_only=True)
class WorstCase(DesignRule):
    """The paper's batched design: gamma = 1 / (10 i), in units of the kernel, unless the problem has a ridge.

    A kernel that needs too many features is sampled instead (`superlevel.rules.covariances.SampledWorst`).
    """

    certifies: ClassVar[bool] = True

    def check(self, problem: Problem, goal: Goal, /) -> None:
        known = 1.0 if problem.noise is None else problem.noise  # what is estimated is one number for all points
        if goal.share and worth(known, problem.cost, problem.domain.n) is not None:
            got = "'worst' with unequal noise or cost for the design of pairs"
            raise InputError("rule", got, "give 'greedy' or 'average', which weigh them")
        if problem.ridge == 0:
            remedy = "a design of a posterior's batch needs one: leave it out, or give one > 0"
            raise InputError("problem.ridge", 0, remedy)

    def choose(self, view: View) -> Choice:
        return self._posed(view).choose(view)

    def review(self, view: View, found: design.Design, /) -> design.Review | None:
        return self._posed(view).review(view, found)

    def _posed(self, view: View) -> Rule:
        """The rule for this batch, in features if there are few enough of them."""
        problem, share = view.problem, view.goal.share
        self.check(problem, view.goal)
        differing = worth(problem.known_noise, problem.cost, view.n)
        shrinking, first = problem.ridge is None, problem.ridge or _first_ridge(problem.domain)
        found = _features(problem.domain, first / DESIGNS if shrinking else first, self.rtol)
        ridge = first / view.phase if shrinking else first
        if found.features.rank == RANK and found.features.residual > found.tol and not share:
            return SampledWorst(ridge=ridge, rtol=self.rtol, worth=differing)
        return _InFeatures(features=found.features, ridge=ridge, rtol=self.rtol, worth=differing)


@dataclass(frozen=True, kw_only=True, eq=False)
class _InFeatures(Rule):
    """A design for the undecided directions in given features."""

    features: Features
    ridge: float
    rtol: float
    worth: Worth | None

    def choose(self, view: View) -> Choice:
        arms, wanted, ridge = self._posed(view)
        found = design.solve(arms, wanted, ridge=ridge, rtol=self.rtol, start=view.start)
        weights = numbers(found, self.worth)
        counts = design.draw(weights, view.samples(), rng=view.rng())
        return Choice(weights=weights, counts=counts, certificate=found)

    def review(self, view: View, found: design.Design, /) -> design.Review:
        arms, wanted, ridge = self._posed(view)
        return design.review(arms, wanted, found.weights, found.dual, ridge=ridge)

    def _posed(self, view: View) -> Posed:
        share = view.goal.share
        wanted = reachable(view.undecided, self.features, share)
        if self.worth is None:
            return Posed(self.features, design.targets(share, wanted), self.ridge)
        scales = np.where(wanted, self.worth.roots, 1.0)
        return Posed(scaled(self.features, self.worth.roots), design.targets(share, wanted, scales), self.ridge)


class _Embedded(NamedTuple):
    features: Features
    tol: float


def _first_ridge(domain: Domain) -> float:
    return FIRST_RIDGE * float(domain.diagonal().max())


@lru_cache(maxsize=2)
def _features(domain: Domain, ridge: float, rtol: float) -> _Embedded:
    """Features for designs with this ridge. They do not change in a campaign, and take a while."""
    tol = min(tolerance(ridge, rtol), MISSED * float(domain.diagonal().max()))
    return _Embedded(embed(domain.kernel, domain.points, tol=tol, max_rank=min(domain.n, RANK)), tol)


def reachable(undecided: Mask, features: Features, share: float) -> Mask:
    """The undecided points whose features are not zero; where none is left, all such points. Pairs stay as they are."""
    if share:
        return undecided
    told = features.reached()
    return np.asarray(undecided & told if (undecided & told).any() else told)
