"""`make`: a method from its name, with the one default that studies and the command line have too."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any, cast

import numpy as np

from superlevel import costs
from superlevel.arrays import as_count
from superlevel.blocks import LARGE
from superlevel.confidence.estimated import Estimated
from superlevel.confidence.posterior import OnPosterior, as_flag
from superlevel.confidence.protocol import AnyConfidence, describe
from superlevel.confidence.transformed import Transformed
from superlevel.errors import InputError, NotInstalledError
from superlevel.methods.loop import Method
from superlevel.methods.table import CONFIDENCES, GUARANTEED, Pairing, Row, row_of
from superlevel.one_thread import one_thread
from superlevel.problem import Problem
from superlevel.rules.checked import Checked
from superlevel.rules.narrowed import Narrowed
from superlevel.rules.pilot import Piloted
from superlevel.rules.protocol import Rule
from superlevel.transforms import IDENTITY

LARGEST = 1e100
WIDEST = 1e150  # extent of a coordinate: its square is a number
PAIRS = 6000  # points whose pairs are bounded at once: 2 GB


@one_thread
def make(
    name: str,
    problem: Problem,
    *,
    batch: int | None = None,
    confidence: str | AnyConfidence | None = None,
    rule: str | Rule | None = None,
    objective: str | None = None,
    permanent: bool | None = None,
) -> Method:
    """The method of this name for a problem.

    Args:
        name: melk, milk, lse, ... A goal relative to the maximum makes milk of melk and lse-imp of lse.
        problem: points, goal, and what is assumed. What it leaves open is estimated from the measurements.
        batch: measurements of a phase: 10 for MELK and MILK, 5 if something is estimated, 1 for the others. With the
            ridge confidence it is the first phase, and those after it grow. Rounds of the rips confidence know how long
            they are.
        confidence: ``Posterior(beta=3)``, ``Ridge(growth=1.2)``, ``Rips(schedule="tight")``, ``Rkhs()``, or the name of
            one. By default it is ridge, a guarantee at every moment, if the method has it and kernel, noise and a norm
            are given, or a bound with a linear kernel or a misspecification; otherwise it is posterior.
        rule: where to measure: one of the method's by its name, or any `superlevel.rules.Rule`. On the posterior MELK
            and MILK have "label" and "declare", which are objectives too; "greedy" (like "label", with absolute instead
            of relative variances), "average" (the best design for that) and "worst" (the paper's design).
        objective: what MELK and MILK aim at on the posterior. "label" (default): as few points as possible on the wrong
            side of the level, decided or not. "declare": as many points as possible decided. Each names a rule.
        permanent: whether a label stays once it is given. By default it does with rips and rkhs; otherwise labels are
            read anew from all measurements each time.
    """
    if not isinstance(problem, Problem):
        raise InputError("problem", f"of type {type(problem).__name__}", "give Problem(domain, goal=..., noise=...)")
    used, row = row_of(name, problem.goal)
    pairing, chosen = choose_confidence(used, row, problem, confidence)
    if problem.fit and chosen.given_only:
        raise InputError("fit", repr(problem.fit), "a guarantee needs kernel, noise and mean to be given")
    posed = problem.transformed
    _check_sizes(posed)
    goal = problem.goal.by_points() if row.by_points else problem.goal
    if goal.share:
        _check_pairs(used, problem, chosen)
    where = as_rule(rule_for(objective, rule, pairing, used), pairing, used)
    where.check(posed, posed.goal if problem.scale is not IDENTITY else goal)
    if problem.domain.n > LARGE and chosen.gaussian and where.compares:
        where = Narrowed(where)
    size = row.batch if batch is None else as_count("batch", batch)
    if problem.fit:
        where = Piloted(Checked(where) if "kernel" in problem.fit else where)
        chosen = Estimated(cast(OnPosterior, chosen))  # the others want all to be given
    if problem.scale is not IDENTITY:
        chosen = Transformed(chosen)
    prior = chosen.prior(problem)
    return Method(
        name=used,
        problem=problem,
        goal=goal,
        rule=where,
        sizes=chosen.sizes(problem, size),
        confidence=chosen,
        prior=prior,
        permanent=chosen.permanent if permanent is None else as_flag("permanent", permanent),
    )


def default_confidence(name: str, problem: Problem) -> str:
    """The name of the confidence that a method has for a problem unless it is told otherwise."""
    _, row = row_of(name, problem.goal)
    guaranteed = GUARANTEED in row.confidences and problem.limited and not problem.fit
    return GUARANTEED if guaranteed else row.pairings[0].confidence.name


def as_confidence(given: str | Mapping[str, Any] | AnyConfidence) -> AnyConfidence:
    """A confidence from its name, from what `describe` wrote, or as it is."""
    if isinstance(given, str):
        given = {"name": given}
    if not isinstance(given, Mapping):
        return given
    parameters = dict(given)
    kind = CONFIDENCES.get(str(parameters.pop("name", None)))
    if kind is None:
        raise InputError("confidence", repr(given.get("name")), f"choose out of {', '.join(CONFIDENCES)}")
    try:
        return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()})
    except TypeError as error:
        raise InputError("confidence", repr(dict(given)), f"give what describe() wrote ({error})") from error


def choose_confidence(
    name: str, row: Row, problem: Problem, given: str | AnyConfidence | None
) -> tuple[Pairing, AnyConfidence]:
    """What a method has for a confidence, and the confidence itself: as it is given, or as the method has it."""
    known = row.confidences
    wanted = default_confidence(name, problem) if given is None else given
    found = wanted if isinstance(wanted, str) else getattr(wanted, "name", None)
    if found not in known:
        got = repr(wanted) if found is None or isinstance(wanted, str) else repr(found)
        raise InputError("confidence", got, f"{name} has {' and '.join(known)}: give one of them")
    return known[found], known[found].confidence if isinstance(wanted, str) else wanted


def _check_pairs(name: str, problem: Problem, chosen: AnyConfidence) -> None:
    """That a method which bounds all pairs of points can do so."""
    if problem.domain.n > PAIRS:
        remedy = f"{name} looks at all pairs: give at most {PAIRS:,} points, or take truvar or lse-imp"
        raise InputError("problem.domain", f"of {problem.domain.n:,} points", remedy)
    instead = "give fewer points, or take truvar or lse-imp"
    pairs = f"the intervals of all pairs of {problem.domain.n:,} points"
    costs.announce("problem.domain", pairs, costs.of_pairs(problem.domain.n), instead=instead)
    if getattr(chosen, "intersected", False):
        remedy = f"{name} bounds pairs, which are not intersected over time: leave 'intersected' out"
        raise InputError("confidence", repr(chosen), remedy)


def _check_sizes(problem: Problem) -> None:
    """Numbers whose squares and logarithms are numbers too."""
    sizes = {
        "bound": problem.bound or 1.0,
        "noise": 1.0 if problem.noise is None else float(np.max(problem.noise)),
        "cost": float(np.max(problem.cost) / np.min(problem.cost)),
        "domain.kernel": float(problem.domain.diagonal().max()),
    }
    for field, size in sizes.items():
        if size > LARGEST:
            raise InputError(f"problem.{field}", size, f"rescale the measurements: give at most {LARGEST:g}")
    if "kernel" in problem.fit:
        _check_extents(problem)
    if problem.delta < 1 / LARGEST:
        raise InputError("problem.delta", problem.delta, f"give at least {1 / LARGEST:g}")


def _check_extents(problem: Problem) -> None:
    """That squares of distances are numbers, and not zero: an estimate measures each coordinate in its own unit."""
    lowest, highest = problem.domain.points.min(axis=0), problem.domain.points.max(axis=0)
    with np.errstate(over="ignore"):
        extents = (highest - lowest).tolist()
    for name, extent in zip(problem.domain.columns, extents, strict=True):
        if extent and not 1 / WIDEST <= extent <= WIDEST:
            remedy = f"give that coordinate in another unit, in which its values are {1 / WIDEST:g} to {WIDEST:g} apart"
            raise InputError(f"problem.domain, coordinate {name!r}", f"at most {extent:g} apart", remedy)


# --------------------------------------------------------------------------------------------- rules


def rule_for(objective: str | None, rule: str | Rule | None, pairing: Pairing, method: str) -> str | Rule | None:
    """The rule that is named after an objective; without an objective, the rule that is given."""
    if objective is None:
        return rule
    if rule is not None:
        raise InputError("objective", repr(objective), "it names a rule: give an objective or a rule, not both")
    if objective not in pairing.objectives:
        known = " or ".join(map(repr, pairing.objectives)) or "none: leave it out"
        remedy = f"{method} on the {pairing.confidence.name} confidence has {known}"
        raise InputError("objective", repr(objective), remedy)
    return objective


def as_rule(given: str | Rule | None, pairing: Pairing, method: str) -> Rule:
    """A rule from its name, or as it is; None is the method's own."""
    if given is None:
        return next(iter(pairing.rules.values()))
    if isinstance(given, str):
        if given not in pairing.rules:
            known = ", ".join(pairing.rules)
            remedy = f"{method} on the {pairing.confidence.name} confidence has {known}: give one, or a Rule"
            raise InputError("rule", repr(given), remedy)
        return pairing.rules[given]
    return _as_object(given)


def _as_object(given: object) -> Rule:
    if not isinstance(given, Rule):
        remedy = "give a name, or an object of a class that derives from superlevel.rules.Rule"
        raise InputError("rule", f"of type {type(given).__name__}", remedy)
    return given


def describe_rule(rule: str | Rule) -> dict[str, Any]:
    """A rule as data that JSON can hold: a name, or the class's import path with its parameters."""
    if isinstance(rule, str):
        return {"name": rule}
    kind: Any = type(_as_object(rule))
    known = [item.name for item in fields(kind) if item.init] if is_dataclass(kind) else []
    parameters = {name: getattr(rule, name) for name in known}
    for name, value in parameters.items():
        if not isinstance(value, str | bool | int | float | None):
            remedy = "give text, a number, or True or False: a study stores it as JSON"
            raise InputError(f"rule.{name}", f"of type {type(value).__name__}", remedy)
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"rule.{name}", value, "give a finite number: a study stores it as JSON")
    if "<locals>" in kind.__qualname__ or kind.__module__ == "__main__":
        remedy = "define the class at the top of a module that can be imported, so that the study opens again"
        raise InputError("rule", f"{kind.__module__}:{kind.__qualname__}", remedy)
    return {"name": f"{kind.__module__}:{kind.__qualname__}", **parameters}


def restore_rule(described: Mapping[str, Any]) -> str | Rule:
    """The rule that `describe_rule` wrote; a sentence where it cannot be imported."""
    parameters = dict(described)
    name = str(parameters.pop("name"))
    if ":" not in name:
        return name
    module, _, path = name.partition(":")
    try:
        kind: Any = import_module(module)
        for part in path.split("."):
            kind = getattr(kind, part)
        # A log may come from anybody: it must not name any other function to be called with its parameters.
        if not isinstance(kind, type) or not issubclass(kind, Rule):
            raise InputError("rule", name, "it is not a class that derives from superlevel.rules.Rule")
        rule: Rule = kind(**parameters)
    except (ImportError, AttributeError, TypeError) as error:
        remedy = (
            f"this study's rule cannot be loaded ({error}): install the package that has it, or put it on PYTHONPATH"
        )
        raise NotInstalledError("rule", name, remedy) from error
    return rule


__all__ = [
    "as_confidence",
    "as_rule",
    "choose_confidence",
    "default_confidence",
    "describe",
    "describe_rule",
    "make",
    "restore_rule",
    "rule_for",
]
