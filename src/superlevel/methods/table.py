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

from dataclasses import dataclass
from typing import get_args

import numpy as np

from superlevel import robust
from superlevel.arrays import as_count, as_number
from superlevel.errors import InputError
from superlevel.goals import FractionOfMax, Goal, Threshold
from superlevel.methods.batches import Criterion, Options, on_posterior
from superlevel.methods.loop import Method
from superlevel.methods.rounds import in_rounds
from superlevel.problem import Problem

LARGEST = 1e100
BETA = 3.0  # beta^1/2 of the paper's experiments
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
    the undecided directions with ridge 1 / (10 i); "average" draws from the design that leaves the least variance, each
    point weighted by how likely it is mislabelled; "greedy" (default) takes one point after the other by that. ``beta``
    is the half-width of a posterior interval in deviations, beta^1/2 = 3. ``intersected`` keeps intervals from growing,
    as LSE does by default. ``permanent`` keeps a label once it is given; otherwise, and by default with "posterior",
    labels are read anew from all measurements each time.

    With "rips": ``schedule`` sets how many measurements a round takes: "scaled" (default) and "paper" with the
    constants as printed, "tight" with those that the robust mean needs. ``estimator`` is that mean, by default
    Catoni's; others need "tight", because the printed constants are Catoni's.

    ``rtol`` is how far from the best each design may be; its certificate says what was reached.
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
        return in_rounds(name, problem, schedule or "scaled", estimator or robust.CATONI, rtol)
    row = ROWS[name]
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
    for field in sorted(given & (POSTERIOR_ONLY if chosen == "rips" else RIPS_ONLY)):
        others = [
            f'confidence="{other}"' for other in ROWS[name].confidences if (other == "rips") != (chosen == "rips")
        ]
        remedy = ", or give ".join(["leave it out", *others])
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
