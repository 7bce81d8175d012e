"""Every named method, as a composition of a rule, a confidence and a goal.

| method       | rule                                           | confidence         | goal            | batch       |
|--------------|------------------------------------------------|--------------------|-----------------|-------------|
| melk         | G-optimal design for the undecided points      | RIPS               | threshold       | rounds, N_t |
| melk         | the same, an average, or greedily              | posterior          | threshold       | fixed, 10   |
| milk         | XY-optimal design for the undecided pairs      | RIPS               | fraction of max | rounds, N_t |
| milk         | the same, an average, or greedily              | posterior          | fraction of max | fixed, 10   |
| lse          | largest ambiguity                              | posterior, or RKHS | threshold       | 1           |
| straddle     | ambiguity with 1.96 sigma                      | posterior          | threshold       | 1           |
| truvar       | largest drop of the undecided points' variance | posterior          | both            | 1           |
| rmile        | largest expected gain in points sure above     | posterior          | threshold       | 1           |
| lse-imp      | widest interval                                | posterior, or RKHS | fraction of max | 1           |
| uniform      | chance                                         | posterior          | both            | 1           |
| max-variance | largest variance                               | posterior          | both            | 1           |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from superlevel import posterior, robust
from superlevel.arrays import Array, as_count, as_number
from superlevel.confidence.posterior import Constant, PosteriorConfidence, Width
from superlevel.confidence.rips import Rips
from superlevel.confidence.rkhs import RkhsWidth
from superlevel.confidence.rounds import Rounds, as_schedule
from superlevel.design.basis import basis
from superlevel.errors import InputError
from superlevel.features import Features, embed, tolerance
from superlevel.goals import FractionByPoints, FractionOfMax, Goal, Reader, Threshold
from superlevel.methods.loop import Method, Rule
from superlevel.posterior import Posterior
from superlevel.problem import Problem
from superlevel.records import Batch
from superlevel.rules.ambiguity import Ambiguity, Straddle
from superlevel.rules.chance import Chance
from superlevel.rules.design import AverageRule, DesignRule, unknown, worth
from superlevel.rules.lookahead import Rmile
from superlevel.rules.sequential import Score, Sequential
from superlevel.rules.variance import Mislabelled, Undecided, VarianceReduction, Widest

RIDGE = 1e-7  # gamma of the paper's linear experiments, times the largest k(x, x)
BATCHED_RIDGE = 0.1  # gamma of the first batch in the paper's experiments, 1 / 10, times the largest k(x, x)
DESIGNS = 100  # batches for which the features of a batched design are exact to its rtol
RANK = 400  # and at most so many of them
MISSED = 1e-3  # part of the largest k(x, x) that the features may miss at most
LARGEST = 1e100
ROUNDS_BUDGET, BATCH_BUDGET = 10**9, 10**5  # measurements of a simulation that has no other budget
BETA = 3.0  # beta^1/2 of the paper's experiments
PAIRS = 6000  # points whose pairs fit the memory

Criterion: TypeAlias = Literal["greedy", "average", "worst"]
BOTH = (Threshold, FractionOfMax)


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a method may be combined with; the first confidence is its default."""

    goals: tuple[type[Goal], ...]
    confidences: tuple[str, ...] = ("posterior",)
    batch: int = 1
    intersected: bool = False


ROWS = {
    "melk": Row(goals=(Threshold,), confidences=("rips", "posterior"), batch=10),
    "milk": Row(goals=(FractionOfMax,), confidences=("rips", "posterior"), batch=10),
    "lse": Row(goals=(Threshold,), confidences=("posterior", "rkhs"), intersected=True),
    "lse-imp": Row(goals=(FractionOfMax,), confidences=("posterior", "rkhs"), intersected=True),
    "truvar": Row(goals=BOTH),
    "straddle": Row(goals=(Threshold,)),
    "rmile": Row(goals=(Threshold,)),
    "uniform": Row(goals=BOTH),
    "max-variance": Row(goals=BOTH),
}
NAMES = tuple(ROWS)
CONFIDENCES = ("rips", "posterior", "rkhs")


def make(
    name: str,
    problem: Problem,
    *,
    batch: int | None = None,
    confidence: str | None = None,
    criterion: str | None = None,
    beta: float | None = None,
    intersected: bool | None = None,
    permanent: bool | None = None,
    schedule: str | None = None,
    estimator: robust.Estimator | None = None,
    rtol: float = 0.01,
) -> Method:
    """The method of this name for a problem.

    ``confidence`` is "rips" (rounds with the paper's guarantee), "posterior" (a Gaussian process, fixed batches) or
    "rkhs" (the same with frequentist widths). MELK and MILK take "rips" unless a batch or another option of the
    posterior is given; all others take "posterior".

    With "posterior" and "rkhs": ``batch`` is the number of measurements a phase, 10 for MELK and MILK and 1 for the
    others. ``criterion`` says which batch MELK and MILK take: "worst", the paper's, draws from the optimal design for
    the undecided directions with ridge 1 / (10 i); "average" draws from the design with the least expected
    mislabelling; "greedy" (default) takes one point after the other by that. ``beta`` is the half-width of a posterior
    interval in deviations, beta^1/2 = 3. ``intersected`` keeps intervals from growing, as LSE does by default.
    ``permanent`` keeps a label once it is given; otherwise, and by default with "posterior", labels are read anew from
    all measurements each time.

    With "rips": ``schedule`` sets how many measurements a round takes: "scaled" (default) and "paper" with the
    constants as printed, "tight" with those that the robust mean needs. ``estimator`` is that mean, by default
    Catoni's; others need "tight", because the printed constants are Catoni's.

    ``rtol`` is how far from the best each design may be.
    """
    asked = {
        "batch": batch,
        "criterion": criterion,
        "beta": beta,
        "intersected": intersected,
        "permanent": permanent,
        "schedule": schedule,
        "estimator": estimator,
    }
    given = {field for field, value in asked.items() if value is not None}
    chosen = _check_problem(name, problem, confidence, given)
    rtol = as_number("rtol", rtol, above=0)
    if chosen == "rips":
        return _in_rounds(name, problem, schedule or "scaled", estimator or robust.CATONI, rtol)
    row = ROWS[name]
    options = _Options(
        batch=row.batch if batch is None else as_count("batch", batch),
        beta=BETA if beta is None else as_number("beta", beta, above=0),
        criterion=_as_criterion("greedy" if criterion is None else criterion),
        intersected=row.intersected if intersected is None else _as_flag("intersected", intersected),
        permanent=chosen == "rkhs" if permanent is None else _as_flag("permanent", permanent),
        rtol=rtol,
    )
    return _on_posterior(name, problem, chosen, options)


# ------------------------------------------------------------------------------------------ checks

POSTERIOR_ONLY = {"batch", "criterion", "beta", "intersected", "permanent"}
RIPS_ONLY = {"schedule", "estimator"}


def _check_problem(name: str, problem: Problem, confidence: str | None, given: set[str]) -> str:
    """The confidence, after a look at what the method and it need of a problem."""
    if name not in NAMES:
        raise InputError("name", repr(name), f"choose out of {', '.join(NAMES)}")
    row = ROWS[name]
    if confidence is not None and confidence not in row.confidences:
        raise InputError(
            "confidence", repr(confidence), f"{name} has {' and '.join(row.confidences)}: give one of them"
        )
    if not isinstance(problem, Problem):
        raise InputError("problem", f"of type {type(problem).__name__}", "give Problem(domain, goal=..., noise=...)")
    if not isinstance(problem.goal, row.goals):
        wanted = " or ".join(f"{goal.__name__}(...)" for goal in row.goals)
        raise InputError("problem.goal", repr(problem.goal), f"{name} is for {wanted}")
    chosen = confidence or row.confidences["rips" in row.confidences and bool(given & POSTERIOR_ONLY)]
    _check_options(name, chosen, given)
    if chosen == "rips":
        _check_rips(problem)
    return chosen


def _check_options(name: str, chosen: str, given: set[str]) -> None:
    for field in sorted(given & (POSTERIOR_ONLY if chosen == "rips" else RIPS_ONLY)):
        other = 'confidence="posterior"' if chosen == "rips" else 'confidence="rips"'
        raise InputError(field, "given", f"the {chosen} confidence has no such option: leave it out, or give {other}")
    if "criterion" in given and "rips" not in ROWS[name].confidences:
        raise InputError("criterion", "given", f"{name} has one rule only: leave it out, or take melk or milk")
    if "intersected" in given and name == "milk":
        raise InputError("intersected", "given", "milk bounds pairs, which are not intersected: leave it out")
    if "beta" in given and chosen == "rkhs":
        raise InputError("beta", "given", "the rkhs confidence computes it: leave it out")


def _check_rips(problem: Problem) -> None:
    if problem.bound is None:
        raise InputError("problem.bound", None, "the rips confidence needs B with |f(x) - mean| <= B at every point")
    # Numbers whose squares and logarithms are numbers too.
    for field, size in (("bound", problem.bound), ("noise", float(np.max(problem.noise)))):
        if size > LARGEST:
            raise InputError(f"problem.{field}", size, f"rescale the measurements: give at most {LARGEST:g}")
    if problem.delta < 1 / LARGEST:
        raise InputError("problem.delta", problem.delta, f"give at least {1 / LARGEST:g}")


def _as_criterion(given: object) -> Criterion:
    for known in get_args(Criterion):
        if given == known:
            return known  # type: ignore[no-any-return]
    raise InputError("criterion", repr(given), f"choose out of {', '.join(get_args(Criterion))}")


def _as_flag(field: str, given: object) -> bool:
    if not isinstance(given, bool):
        raise InputError(field, repr(given), "give True or False")
    return given


# ------------------------------------------------------------------------------------------ rounds


def _in_rounds(name: str, problem: Problem, schedule: str, estimator: robust.Estimator, rtol: float) -> Method:
    """MELK and MILK as the paper's theorems have them."""
    chosen = as_schedule(schedule)
    if not isinstance(estimator, robust.Estimator):
        raise InputError("estimator", repr(estimator), "give robust.CATONI, MEDIAN_OF_MEANS or TRIMMED_MEAN")
    if estimator is not robust.CATONI and chosen != "tight":
        raise InputError("schedule", repr(schedule), "the printed constants are for Catoni's mean: give 'tight'")
    assert problem.bound is not None
    ridge = RIDGE * float(problem.domain.diagonal().max()) if problem.ridge is None else problem.ridge
    features = _features(problem, ridge, rtol)
    rounds = Rounds(
        n=problem.domain.n,
        second_moment=problem.bound**2 + float(np.max(problem.noise)) ** 2,
        delta=problem.delta,
        unit=1.0 if chosen == "paper" else problem.bound,
        tolerance=problem.tolerance,
        schedule=chosen,
        estimator=estimator,
    )
    return Method(
        name=name,
        problem=problem,
        reader=problem.goal,
        rule=DesignRule(goal=problem.goal, features=features, ridge=ridge, rtol=rtol),
        sizes=rounds,
        confidence=Rips(
            goal=problem.goal,
            features=features,
            ridge=ridge,
            mean=problem.mean,
            rounds=rounds,
            norm=problem.norm,
            misspecification=problem.misspecification,
            unknown=unknown(problem.goal, features),
        ),
        permanent=True,
        options=("rips", chosen, estimator.name, ridge, rtol),
        budget=ROUNDS_BUDGET,
    )


def _features(problem: Problem, ridge: float, rtol: float) -> Features:
    """phi(x) for every point. Without a ridge only the span matters, and its coordinates are orthonormal."""
    kernel, points = problem.domain.kernel, problem.domain.points
    if kernel is None and ridge > 0:
        return embed(None, _turned(points))
    if ridge > 0:
        # However large the ridge is, the features are to be of some use.
        return embed(kernel, points, tol=min(tolerance(ridge, rtol), MISSED * float(problem.domain.diagonal().max())))
    found = embed(kernel, points, tol=0)
    coordinates = basis(found.array, ridge)
    return replace(found, array=coordinates.arms, residuals=np.zeros(len(points)))


def _turned(points: Array) -> Array:
    """The points in orthonormal coordinates of their span, (n, rank): a ridge sees lengths and angles only."""
    _, sizes, axes = np.linalg.svd(points, full_matrices=False)
    rank = int(np.count_nonzero(sizes > max(points.shape) * np.finfo(float).eps * sizes[0]))
    return points if rank in {0, points.shape[1]} else points @ axes[:rank].T


# --------------------------------------------------------------------------------------- posterior


@dataclass(frozen=True, kw_only=True)
class _Options:
    """How a method works on the posterior."""

    batch: int
    beta: float
    criterion: Criterion
    intersected: bool
    permanent: bool
    rtol: float


def _on_posterior(name: str, problem: Problem, confidence: str, options: _Options) -> Method:
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
        budget=BATCH_BUDGET,
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


def _constant(problem: Problem, options: _Options) -> Constant:
    return Constant(value=options.beta, misspecification=problem.misspecification)


def _rkhs(problem: Problem, prior: Posterior) -> RkhsWidth:
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


def _rule(name: str, problem: Problem, prior: Posterior, options: _Options) -> Rule:
    """The table's column."""
    cost = np.broadcast_to(problem.cost, problem.domain.n)
    level = problem.goal.value if isinstance(problem.goal, Threshold) else np.nan
    scores: dict[str, Score] = {
        "lse": Ambiguity(level=level),
        "straddle": Straddle(level=level),
        "rmile": Rmile(level=level),
        "truvar": VarianceReduction(weights=Undecided(), cost=cost),
        "lse-imp": Widest(),
        "max-variance": Widest(everywhere=True),
    }
    if name in scores:
        return Sequential(score=scores[name])
    return Chance() if name == "uniform" else _batched(problem, prior, options)


def _batched(problem: Problem, prior: Posterior, options: _Options) -> Rule:
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
            if differing is not None and isinstance(problem.goal, FractionOfMax):
                got = "unequal noise or cost for the design of pairs"
                raise InputError("criterion", f"'worst' with {got}", "give 'greedy' or 'average', which weigh them")
            scale = float(problem.domain.diagonal().max())
            first = BATCHED_RIDGE * scale if problem.ridge is None else problem.ridge
            ridge = first if problem.ridge is not None else first / DESIGNS
            tol = min(tolerance(ridge, options.rtol), MISSED * scale) if ridge > 0 else 0.0
            points = problem.domain.points
            return DesignRule(
                goal=problem.goal,
                features=embed(problem.domain.kernel, points, tol=tol, max_rank=min(n, RANK)),
                ridge=first,
                rtol=options.rtol,
                shrinking=problem.ridge is None,
                worth=differing,
            )
