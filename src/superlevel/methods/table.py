"""Every named method, as a composition of a rule, a confidence and a goal.

| method       | rule                                           | confidence         | goal            | batch       |
|--------------|------------------------------------------------|--------------------|-----------------|-------------|
| melk         | G-optimal design for the undecided points      | RIPS               | threshold       | rounds, N_t |
| melk         | the same, an average, or greedily              | posterior          | threshold       | fixed, 10   |
| melk         | design weighted by the estimated gaps          | ridge              | threshold       | growing     |
| milk         | XY-optimal design for the undecided pairs      | RIPS               | fraction of max | rounds, N_t |
| milk         | the same, an average, or greedily              | posterior          | fraction of max | fixed, 10   |
| milk         | design weighted by the estimated gaps          | ridge              | fraction of max | growing     |
| lse          | largest ambiguity                              | posterior, or RKHS | threshold       | 1           |
| straddle     | ambiguity with 1.96 sigma                      | posterior          | threshold       | 1           |
| truvar       | largest drop of the undecided points' variance | posterior          | both            | 1           |
| rmile        | largest expected gain in points sure above     | posterior          | threshold       | 1           |
| lse-imp      | widest interval                                | posterior, or RKHS | fraction of max | 1           |
| uniform      | chance                                         | posterior          | both            | 1           |
| max-variance | largest variance                               | posterior          | both            | 1           |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np

from superlevel import robust
from superlevel.arrays import as_count, as_number
from superlevel.errors import InputError
from superlevel.goals import FractionOfMax, Goal, Threshold
from superlevel.methods.affordable import Options as Affordable
from superlevel.methods.affordable import on_ridge
from superlevel.methods.batches import Criterion, Options, on_posterior
from superlevel.methods.loop import Method
from superlevel.methods.rounds import in_rounds
from superlevel.problem import Problem

LARGEST = 1e100
BETA = 3.0  # beta^1/2 of the paper's experiments
GROWTH = 1.2  # of a batch over the one before: a fifth more than was needed at most, and a tenth on average
LARGEST_GROWTH = 10.0
DESIGN = {"rips": 0.01, "posterior": 0.01, "rkhs": 0.01, "ridge": 0.05}  # whose guarantee is in its intervals
BOTH = (Threshold, FractionOfMax)


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a method may be combined with; the first confidence is its default."""

    goals: tuple[type[Goal], ...]
    confidences: tuple[str, ...] = ("posterior",)
    batch: int = 1
    intersected: bool = False


ROWS = {
    "melk": Row(goals=(Threshold,), confidences=("rips", "posterior", "ridge"), batch=10),
    "milk": Row(goals=(FractionOfMax,), confidences=("rips", "posterior", "ridge"), batch=10),
    "lse": Row(goals=(Threshold,), confidences=("posterior", "rkhs"), intersected=True),
    "lse-imp": Row(goals=(FractionOfMax,), confidences=("posterior", "rkhs"), intersected=True),
    "truvar": Row(goals=BOTH),
    "straddle": Row(goals=(Threshold,)),
    "rmile": Row(goals=(Threshold,)),
    "uniform": Row(goals=BOTH),
    "max-variance": Row(goals=BOTH),
}
NAMES = tuple(ROWS)
CONFIDENCES = ("rips", "posterior", "ridge", "rkhs")


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
    growth: float | None = None,
    rtol: float | None = None,
) -> Method:
    """The method of this name for a problem.

    ``confidence`` is "rips" (rounds with the paper's guarantee), "ridge" (all measurements, with a guarantee at every
    moment), "posterior" (a Gaussian process, fixed batches) or "rkhs" (the same with frequentist widths). MELK and MILK
    take "rips" unless a batch or another option of the posterior is given; all others take "posterior".

    With "posterior" and "rkhs": ``batch`` is the number of measurements a phase, 10 for MELK and MILK and 1 for the
    others. ``criterion`` says which batch MELK and MILK take: "worst", the paper's, draws from the optimal design for
    the undecided directions with ridge 1 / (10 i); "average" draws from the design that leaves the least variance, each
    point weighted by how likely it is mislabelled; "greedy" (default) takes one point after the other by that. ``beta``
    is the half-width of a posterior interval in deviations, beta^1/2 = 3. ``intersected`` keeps intervals from growing,
    as LSE does by default. ``permanent`` keeps a label once it is given; otherwise, and by default with "posterior",
    labels are read anew from all measurements each time.

    With "rips": ``schedule`` sets how many measurements a round takes: "scaled" (default) and "paper" with the
    constants as printed, "tight" with those that the robust mean needs. ``estimator`` is that mean, by default
    Catoni's; others need "tight", because the printed constants are Catoni's.

    With "ridge": ``batch`` is the size of the first phase, 10, and ``growth`` how many times larger each is than the
    one before, 1.2. ``permanent`` is as above; either way all labels are right at all times with probability 1 - delta.

    ``rtol`` is how far from the best each design may be, 0.01 and for "ridge" 0.05; its certificate says what was
    reached.
    """
    asked = {
        "batch": batch,
        "criterion": criterion,
        "beta": beta,
        "intersected": intersected,
        "permanent": permanent,
        "schedule": schedule,
        "estimator": estimator,
        "growth": growth,
    }
    given = {field for field, value in asked.items() if value is not None}
    chosen = _check_problem(name, problem, confidence, given)
    rtol = DESIGN[chosen] if rtol is None else as_number("rtol", rtol, above=0)
    if chosen == "rips":
        return in_rounds(name, problem, schedule or "scaled", estimator or robust.CATONI, rtol)
    row = ROWS[name]
    if chosen == "ridge":
        affordable = Affordable(
            batch=row.batch if batch is None else as_count("batch", batch),
            growth=GROWTH if growth is None else as_number("growth", growth, at_least=1.0, below=LARGEST_GROWTH),
            permanent=False if permanent is None else _as_flag("permanent", permanent),
            rtol=rtol,
        )
        return on_ridge(name, problem, affordable)
    options = Options(
        batch=row.batch if batch is None else as_count("batch", batch),
        beta=BETA if beta is None else as_number("beta", beta, above=0),
        criterion=_as_criterion("greedy" if criterion is None else criterion),
        intersected=row.intersected if intersected is None else _as_flag("intersected", intersected),
        permanent=chosen == "rkhs" if permanent is None else _as_flag("permanent", permanent),
        rtol=rtol,
    )
    return on_posterior(name, problem, chosen, options)


# ------------------------------------------------------------------------------------------ checks

TAKEN = {  # by each confidence, besides rtol
    "rips": {"schedule", "estimator"},
    "ridge": {"batch", "growth", "permanent"},
    "posterior": {"batch", "criterion", "beta", "intersected", "permanent"},
    "rkhs": {"batch", "criterion", "beta", "intersected", "permanent"},
}


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
    chosen = confidence or row.confidences[0]
    if confidence is None and chosen == "rips" and given & TAKEN["posterior"]:
        chosen = "posterior"
    _check_options(name, chosen, given)
    _check_sizes(problem)
    return chosen


def _check_sizes(problem: Problem) -> None:
    """Numbers whose squares and logarithms are numbers too."""
    sizes = {
        "bound": problem.bound or 1.0,
        "noise": float(np.max(problem.noise)),
        "cost": float(np.max(problem.cost) / np.min(problem.cost)),
        "domain.kernel": float(problem.domain.diagonal().max()),
    }
    for field, size in sizes.items():
        if size > LARGEST:
            raise InputError(f"problem.{field}", size, f"rescale the measurements: give at most {LARGEST:g}")
    if problem.delta < 1 / LARGEST:
        raise InputError("problem.delta", problem.delta, f"give at least {1 / LARGEST:g}")


def _check_options(name: str, chosen: str, given: set[str]) -> None:
    for field in sorted(given - TAKEN[chosen]):
        others = [f'confidence="{other}"' for other in ROWS[name].confidences if field in TAKEN[other]]
        remedy = ", or give ".join(["leave it out", " or ".join(others)] if others else ["leave it out"])
        raise InputError(field, "given", f"the {chosen} confidence has no such option: {remedy}")
    if "criterion" in given and "rips" not in ROWS[name].confidences:
        raise InputError("criterion", "given", f"{name} has one rule only: leave it out, or take melk or milk")
    if "intersected" in given and name == "milk":
        raise InputError("intersected", "given", "milk bounds pairs, which are not intersected: leave it out")
    if "beta" in given and chosen == "rkhs":
        raise InputError("beta", "given", "the rkhs confidence computes it: leave it out")


def _as_criterion(given: object) -> Criterion:
    for known in get_args(Criterion):
        if given == known:
            return known  # type: ignore[no-any-return]
    raise InputError("criterion", repr(given), f"choose out of {', '.join(get_args(Criterion))}")


def _as_flag(field: str, given: object) -> bool:
    if not isinstance(given, bool | np.bool_):
        raise InputError(field, repr(given), "give True or False")
    return bool(given)
