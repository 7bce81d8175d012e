"""Every method on the Gaussian posterior, in batches of a fixed size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from superlevel import posterior
from superlevel.confidence.posterior import Constant, PosteriorConfidence, Width
from superlevel.confidence.rkhs import RkhsWidth
from superlevel.errors import InputError
from superlevel.features import embed, tolerance
from superlevel.goals import FractionByPoints, FractionOfMax, Reader, Threshold
from superlevel.methods.loop import Method, Rule
from superlevel.methods.rounds import MISSED
from superlevel.posterior import GaussianPosterior
from superlevel.problem import Problem
from superlevel.records import Batch
from superlevel.rules.ambiguity import Ambiguity, Straddle
from superlevel.rules.chance import Chance
from superlevel.rules.covariances import AverageRule, SampledWorst
from superlevel.rules.design import DesignRule, Worth, worth
from superlevel.rules.lookahead import Rmile
from superlevel.rules.sequential import Score, Sequential
from superlevel.rules.variance import LargestVariance, Mislabelled, Undecided, VarianceReduction, Widest

FIRST_RIDGE = 0.1  # gamma of the first batch in the paper's experiments, 1 / 10, times the largest k(x, x)
DESIGNS = 100  # batches for which the features of a batched design are exact to its rtol
RANK = 400  # and at most so many of them: a rough kernel has more than points can be chosen by
BUDGET = 10**5  # measurements of a simulation that has no other budget
PAIRS = 6000  # points whose pairs are bounded at once: 2 GB

Criterion: TypeAlias = Literal["greedy", "average", "worst"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a method works on the posterior."""

    batch: int
    beta: float
    criterion: Criterion
    intersected: bool
    permanent: bool
    rtol: float


def on_posterior(name: str, problem: Problem, confidence: str, options: Options) -> Method:
    """Every method on the Gaussian posterior, in batches of a fixed size."""
    reader = _reader(name, problem)
    prior = posterior.begin(problem.domain, noise=problem.noise, mean=problem.mean)
    widths: Width = _rkhs(problem, prior) if confidence == "rkhs" else _constant(problem, options)
    return Method(
        name=name,
        problem=problem,
        reader=reader,
        rule=_rule(name, problem, prior, options),
        sizes=Batch(size=options.batch),
        confidence=PosteriorConfidence(
            reader=reader, prior=prior, widths=widths, intersected=options.intersected, tolerance=problem.tolerance
        ),
        permanent=options.permanent,
        options=(confidence, options),
        budget=BUDGET,
    )


def _reader(name: str, problem: Problem) -> Reader:
    """Pairs for MILK's design for pairs; one interval a point for all else."""
    goal = problem.goal
    if not isinstance(goal, FractionOfMax):
        return goal
    if name != "milk":
        return FractionByPoints(goal.epsilon, problem.tolerance)
    if problem.domain.n > PAIRS:
        remedy = f"milk looks at all pairs: give at most {PAIRS:,} points, or take truvar or lse-imp"
        raise InputError("problem.domain", f"of {problem.domain.n:,} points", remedy)
    return goal


def _constant(problem: Problem, options: Options) -> Constant:
    return Constant(value=options.beta, misspecification=problem.misspecification)


def _rkhs(problem: Problem, prior: GaussianPosterior) -> RkhsWidth:
    if problem.norm is None:
        raise InputError("problem.norm", None, "the rkhs confidence needs S with ||theta|| <= S")
    return RkhsWidth(
        norm=problem.norm,
        rank=prior.rank,
        largest=float(prior.variance.max()),
        noise=float(np.sqrt(prior.noise.min())),
        delta=problem.delta,
        misspecification=problem.misspecification,
    )


def _rule(name: str, problem: Problem, prior: GaussianPosterior, options: Options) -> Rule:
    """The table's column."""
    cost = np.broadcast_to(problem.cost, problem.domain.n)
    level = problem.goal.value if isinstance(problem.goal, Threshold) else np.nan
    scores: dict[str, Score] = {
        "lse": Ambiguity(level=level),
        "straddle": Straddle(level=level),
        "rmile": Rmile(level=level),
        "truvar": VarianceReduction(weights=Undecided(), cost=cost),
        "lse-imp": Widest(),
        "max-variance": LargestVariance(),
    }
    if name in scores:
        return Sequential(score=scores[name])
    return Chance() if name == "uniform" else _batched(problem, prior, options)


def _batched(problem: Problem, prior: GaussianPosterior, options: Options) -> Rule:
    """MELK's and MILK's batch."""
    n = problem.domain.n
    differing = worth(problem.noise, problem.cost, n)
    match options.criterion:
        case "greedy":
            cost = np.broadcast_to(problem.cost, n)
            return Sequential(score=VarianceReduction(weights=Mislabelled(goal=problem.goal), cost=cost))
        case "average":
            return AverageRule(
                weights=Mislabelled(goal=problem.goal), noise=prior.noise, rtol=options.rtol, worth=differing
            )
        case "worst":
            return _worst(problem, options, differing)


def _worst(problem: Problem, options: Options, differing: Worth | None) -> Rule:
    """The paper's batched design: gamma = 1 / (10 i), in units of the kernel, unless the problem has a ridge."""
    if differing is not None and isinstance(problem.goal, FractionOfMax):
        got = "'worst' with unequal noise or cost for the design of pairs"
        raise InputError("criterion", got, "give 'greedy' or 'average', which weigh them")
    if problem.ridge == 0:
        raise InputError("problem.ridge", 0, "a design of a posterior's batch needs one: leave it out, or give one > 0")
    scale, shrinking = float(problem.domain.diagonal().max()), problem.ridge is None
    first = FIRST_RIDGE * scale if problem.ridge is None else problem.ridge
    tol = min(tolerance(first / DESIGNS if shrinking else first, options.rtol), MISSED * scale)
    kernel, points = problem.domain.kernel, problem.domain.points
    features = embed(kernel, points, tol=tol, max_rank=min(len(points), RANK))
    if features.residual > tol and features.rank == RANK and isinstance(problem.goal, Threshold):
        return SampledWorst(domain=problem.domain, ridge=first, rtol=options.rtol, shrinking=shrinking, worth=differing)
    return DesignRule(
        goal=problem.goal,
        features=features,
        ridge=first,
        rtol=options.rtol,
        shrinking=shrinking,
        worth=differing,
    )
