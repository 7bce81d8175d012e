"""A problem and a method as data, and back: what the first entry of a log holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from superlevel import __version__, goals, kernels
from superlevel.arrays import Array, as_count, as_number, as_seed
from superlevel.coordinates import Coordinates
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.fields import FIELDS
from superlevel.goals import Goal
from superlevel.identifiers import continued
from superlevel.problem import Problem
from superlevel.sizes import usual_batch
from superlevel.study.events import FORMAT, Created, Fit
from superlevel.study.long import Places
from superlevel.study.sheets import check_names
from superlevel.study.storage.refusals import check_text

LEASE = 86400.0  # a day
LONGEST_LEASE = 3.2e9  # seconds, a hundred years: calendars end
LARGEST_PLAN = 10**6  # tickets


def created(
    problem: Problem,
    *,
    method: str,
    confidence: Any,
    rule: Any,
    objective: str | None,
    permanent: bool | None,
    batch: int | None,
    seed: int,
    lease: float,
) -> Created:
    """The first entry, with everything checked that needs no solver."""
    from superlevel.confidence.posterior import as_flag  # noqa: PLC0415
    from superlevel.methods.make import choose_confidence, describe, describe_rule, rule_for  # noqa: PLC0415
    from superlevel.methods.table import row_of  # noqa: PLC0415

    if not isinstance(problem, Problem):
        raise InputError("problem", f"of type {type(problem).__name__}", "give Problem(domain, goal=..., noise=...)")
    if not isinstance(method, str):
        raise InputError("method", repr(method), "give the name of one, such as melk")
    name, row = row_of(method, problem.goal)
    pairing, chosen = choose_confidence(name, row, problem, confidence)
    where = rule_for(objective, rule, pairing, name)
    return Created(
        format=FORMAT,
        version=__version__,
        points=Places.of(problem.domain.places),
        names=_checked_names(problem.domain),
        scales=_scales(problem.domain.coordinates),
        reference=problem.domain.reference,
        ids=_checked_ids(problem.domain.ids),
        id_name=problem.domain.id_name if problem.domain.ids else "",
        goal=problem.goal.describe(),
        kernel=None if "kernel" in problem.fit else kernels.describe(problem.domain.kernel),
        problem={field.name: _plain(getattr(problem, field.name)) for field in FIELDS},
        transform=problem.scale.name,
        fit=list(problem.fit),
        method=name,
        confidence=describe(chosen),
        rule=None if where is None else describe_rule(where),
        permanent=None if permanent is None else as_flag("permanent", permanent),
        batch=usual_batch(estimating=bool(problem.fit)) if batch is None else _checked_batch(batch),
        seed=as_seed(seed),
        lease=as_lease(lease),
    )


def as_lease(seconds: float) -> float:
    """How long a ticket is reserved for a worker."""
    return as_number("lease", seconds, above=0, below=LONGEST_LEASE)


def goal_of(given: Created) -> Goal:
    """What is asked."""
    return goals.restore(given.goal)


def problem_of(
    given: Created, fit: Fit | None, *, refined: Array | None = None, elsewhere: Array | None = None
) -> Problem:
    """The problem, with what was estimated in place of what was not given.

    Added are further points (r, d), and places (m, d) beside the points.
    """
    fields = {name: _array(value) for name, value in given.problem.items()}
    kernel, left = given.kernel, tuple(given.fit)
    if fit is not None:
        kernel, left = fit.kernel, ()
        fields |= {"noise": _array(fit.noise), "mean": fit.mean}
    shown = given.coordinates
    known = given.points.known
    points = known if refined is None or not len(refined) else np.concatenate([known, refined])
    domain = Domain(
        points,
        kernels.restore(kernel),
        names=shown.names,
        scales=shown.scales,
        elsewhere=elsewhere,
        reference=given.reference,
        ids=continued(given.ids, len(points) - len(given.points)),
        id_name=given.id_name or None,
    )
    return Problem(domain, goal=goal_of(given), fit=left, transform=given.transform, **fields)


def _plain(values: float | Array | None) -> float | list[float] | None:
    if values is None:
        return None
    return values.tolist() if isinstance(values, np.ndarray) else float(values)


def _array(values: Any) -> Any:
    return np.array(values) if isinstance(values, list) else values


def _scales(coordinates: Coordinates) -> list[dict[str, Any]]:
    """Empty where all are plain numbers."""
    return [] if coordinates.is_plain else [scale.describe() for scale in coordinates.scales]


def _checked_names(domain: Domain) -> list[str]:
    for k, name in enumerate(check_names(domain.names, id_name=domain.id_name if domain.ids else "")):
        check_text(f"names[{k}]", name)
    return list(domain.names)


def _checked_ids(ids: tuple[str, ...]) -> list[str]:
    for k, name in enumerate(ids):
        check_text(f"ids[{k}]", name)
    return list(ids)


def _checked_batch(batch: object) -> int:
    count = as_count("batch", batch)
    if count > LARGEST_PLAN:
        raise InputError("batch", f"{count:,}", f"give at most {LARGEST_PLAN:,}")
    return count
