"""A problem and a method as data, and back: what the first entry of a log holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from superlevel import __version__, kernels
from superlevel.arrays import Array, as_count, as_number, as_seed
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.goals import FractionOfMax, Goal, Threshold
from superlevel.problem import Problem
from superlevel.study.events import FORMAT, Created, Fit
from superlevel.study.sheets import check_names
from superlevel.study.storage.refusals import check_text

FITTED = ("kernel", "noise", "mean")
BATCH = 10
LEASE = 86400.0  # a day
LONGEST_LEASE = 3.2e9  # seconds, a hundred years: calendars end
LARGEST_PLAN = 10**6  # tickets
GUARANTEED = ("melk", "milk")  # methods that have the ridge confidence
OF_POSTERIOR = ("criterion", "beta", "intersected")  # options that only posteriors have
# Without growth: how many measurements come next is what people ask for.
OPTIONS = ("confidence", *OF_POSTERIOR, "permanent", "schedule", "rtol")


def created(
    problem: Problem,
    *,
    method: str,
    options: Mapping[str, Any],
    batch: int | None,
    fit: Sequence[str],
    seed: int,
    lease: float,
) -> Created:
    """The first entry, with everything checked that needs no solver."""
    if not isinstance(problem, Problem):
        raise InputError("problem", f"of type {type(problem).__name__}", "give Problem(domain, goal=..., noise=...)")
    if not isinstance(method, str):
        raise InputError("method", repr(method), "give the name of one, such as melk")
    goal, fitted, chosen = problem.goal, _checked_fit(fit), _checked_options(options)
    return Created(
        format=FORMAT,
        version=__version__,
        points=problem.domain.points.tolist(),
        names=_checked_names(problem.domain.names),
        threshold=goal.value if isinstance(goal, Threshold) else None,
        epsilon=goal.epsilon if isinstance(goal, FractionOfMax) else None,
        kernel=None if "kernel" in fitted else kernels.describe(problem.domain.kernel),
        noise=_plain(problem.noise),
        cost=_plain(problem.cost),
        bound=problem.bound,
        delta=problem.delta,
        mean=problem.mean,
        norm=problem.norm,
        misspecification=problem.misspecification,
        tolerance=problem.tolerance,
        ridge=problem.ridge,
        fit=fitted,
        method=method,
        options={"confidence": _confidence(problem, method, fitted, chosen)} | chosen,
        batch=BATCH if batch is None else _checked_batch(batch),
        seed=as_seed(seed),
        lease=as_lease(lease),
    )


def _confidence(problem: Problem, method: str, fitted: Sequence[str], options: Mapping[str, Any]) -> str:
    """For who asks for none: a guarantee where all that it rests on is given, and the posterior elsewhere.

    Rounds with the paper's guarantee are for who asks for them: people measure in batches.
    """
    limited = problem.norm is not None or problem.bound is not None
    believed = fitted or any(name in options for name in OF_POSTERIOR)
    return "ridge" if method in GUARANTEED and limited and not believed else "posterior"


def as_lease(seconds: float) -> float:
    """How long a ticket is kept for somebody."""
    return as_number("lease", seconds, above=0, below=LONGEST_LEASE)


def goal_of(given: Created) -> Goal:
    """What is asked."""
    if given.threshold is not None:
        return Threshold(given.threshold)
    assert given.epsilon is not None
    return FractionOfMax(given.epsilon)


def question(given: Created) -> str:
    """What is asked, in words."""
    if given.epsilon is not None:
        return f"within {100 * given.epsilon:g} % of the maximum"
    return f"above {given.threshold:g}"


def problem_of(given: Created, fit: Fit | None) -> Problem:
    """The problem, with what was estimated in place of what was given."""
    kernel, noise, mean = (given.kernel, given.noise, given.mean) if fit is None else (fit.kernel, fit.noise, fit.mean)
    domain = Domain(np.array(given.points), kernels.restore(kernel), names=given.names)
    return Problem(
        domain,
        goal=goal_of(given),
        noise=_array(noise),
        cost=_array(given.cost),
        bound=given.bound,
        delta=given.delta,
        mean=mean,
        norm=given.norm,
        misspecification=given.misspecification,
        tolerance=given.tolerance,
        ridge=given.ridge,
    )


def _plain(values: float | Array) -> float | list[float]:
    return values.tolist() if isinstance(values, np.ndarray) else float(values)


def _array(values: float | list[float]) -> float | Array:
    return np.array(values) if isinstance(values, list) else values


def _checked_names(names: tuple[str, ...]) -> list[str]:
    for k, name in enumerate(check_names(names)):
        check_text(f"names[{k}]", name)
    return list(names)


def _checked_batch(batch: object) -> int:
    count = as_count("batch", batch)
    if count > LARGEST_PLAN:
        raise InputError("batch", f"{count:,}", f"give at most {LARGEST_PLAN:,}")
    return count


def _checked_fit(fit: Sequence[str]) -> list[str]:
    if isinstance(fit, str) or not isinstance(fit, Iterable) or any(name not in FITTED for name in fit):
        raise InputError("fit", repr(fit), f"give a list out of {', '.join(FITTED)}")
    return [name for name in FITTED if name in fit]


def _checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in options.items():
        if name not in OPTIONS:
            raise InputError("options", repr(name), f"choose out of {', '.join(OPTIONS)}")
        if not isinstance(value, str | bool | int | float | None):
            raise InputError(name, f"of type {type(value).__name__}", "give text, a number, or True or False")
    return {name: value for name, value in options.items() if value is not None}
