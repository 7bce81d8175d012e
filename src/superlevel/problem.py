"""A level-set problem: the points, what is wanted of them, and what is assumed of the function and the noise.

f(x) = mean + <theta, phi(x)> + misspecification,    y = f(x) + noise

With a transform t of the values these hold for t(f) and t(y): noise, mean, bound, norm and misspecification are those
of t(f). Levels and tolerance are in the user's units, and so are the values that are told.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from superlevel.arrays import Array, Indices
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.fields import FIELDS
from superlevel.goals import Goal
from superlevel.transforms import IDENTITY, Transform, as_transform

FITTED = ("kernel", "noise", "mean")


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything a method may know before the first measurement.

    >>> from superlevel.goals import Threshold
    >>> problem = Problem(Domain([0.0, 0.5, 1.0]), goal=Threshold(20.0), noise=0.5, bound=1.0, delta=0.1)
    >>> problem.goal
    Threshold(value=20.0)
    """

    domain: Domain
    """The points that may be measured, and the kernel on them."""
    _: KW_ONLY
    goal: Goal
    """Which points are looked for: one of `superlevel.goals`."""
    noise: float | Array | None = None
    """Standard deviation sigma >= 0 of one measurement, or (n,) deviations, one for each point; read-only. None: it is
    estimated from the measurements."""
    bound: float | None = None
    """B > 0 with |f(x) - mean| <= B at every point. Needed by the rips confidence."""
    delta: float = 0.1
    """Allowed probability 0 < delta < 1 that anything declared is wrong."""
    mean: float = 0.0
    """Known mean of f; it is subtracted before anything is estimated."""
    norm: float | None = None
    """S > 0 with ||theta|| <= S. Needed by the ridge and rkhs confidences."""
    misspecification: float = 0.0
    """h >= 0 with |f(x) - mean - <theta, phi(x)>| <= h at every point."""
    tolerance: float = 0.0
    """Distance >= 0 from the level within which a point may be declared either way; it ends ties."""
    ridge: float | None = None
    """Regularisation gamma >= 0 of designs and estimates; None lets the method choose."""
    cost: float | Array = 1.0
    """What one measurement costs, > 0, or (n,) costs, one for each point; only their ratios matter. TruVar weighs them,
    and so do MELK and MILK on the posterior; the other methods do not know costs."""
    fit: tuple[str, ...] = ()
    """Which of kernel, noise and mean to estimate from the measurements; what is given of them is not used then."""
    transform: Transform | str | None = None
    """"log", "sqrt" or "box-cox 0.3": methods compute with the logarithm, the square root or the Box-Cox transform of
    every value. None: with the values. `superlevel.transforms.fitted_box_cox` estimates the parameter from a pilot."""

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):
            raise InputError("domain", f"of type {type(self.domain).__name__}", "give Domain(points, kernel=...)")
        if not isinstance(self.goal, Goal):
            remedy = "give a goal such as Threshold(20.0), Band(10.0, 20.0) or FractionOfMax(0.1)"
            raise InputError("goal", reprlib.repr(self.goal), remedy)
        for field in FIELDS:
            object.__setattr__(self, field.name, field.check(getattr(self, field.name), self.domain.n))
        object.__setattr__(self, "fit", _as_fit(self.fit, self.noise))
        object.__setattr__(self, "transform", as_transform(self.transform))
        _check_goal(self.goal, self.scale)

    @property
    def scale(self) -> Transform:
        """The transform of the values; one that changes nothing where none is given."""
        return as_transform(self.transform)

    @cached_property
    def transformed(self) -> Problem:
        """The problem that methods solve: t(f) with transformed levels; itself where there is no transform."""
        scale, goal = self.scale, self.goal
        if scale is IDENTITY:
            return self
        room = scale.tolerance(goal.levels, self.tolerance)
        return replace(self, goal=goal.moved(scale), tolerance=room, transform=None)

    @cached_property
    def everywhere(self) -> Problem:
        """The problem with the places elsewhere as points; itself where there are none.

        A noise that is given for each point says nothing of other places. The largest is assumed there, unless a
        measurement has its own.
        """
        further = len(self.domain.elsewhere)
        if not further:
            return self
        noise, cost = (_extended(values, further) for values in (self.noise, self.cost))
        return replace(self, domain=self.domain.everywhere, noise=noise, cost=cost)

    def among(self, points: Indices) -> Problem:
        """The problem of some of the points (m,)."""
        noise, cost = (_chosen(values, points) for values in (self.noise, self.cost))
        return replace(self, domain=self.domain.among(points), noise=noise, cost=cost)

    @property
    def limited(self) -> bool:
        """Whether enough is given to limit f: a norm, or a bound where f is in the span of the features up to h.

        For a kernel that is not linear, a bound says nothing of what is outside the span of the computed features.
        """
        spanned = self.domain.kernel is None or self.misspecification > 0
        return self.norm is not None or (self.bound is not None and spanned)

    @property
    def known_noise(self) -> float | Array:
        """The noise; an InputError where it is not given."""
        if self.noise is None:
            raise InputError(
                "noise", None, "give the standard deviation of one measurement: it cannot be estimated here"
            )
        return self.noise

    @property
    def deviations(self) -> Array:
        """(n,) the standard deviation of one measurement at each point."""
        return np.broadcast_to(np.asarray(self.known_noise, dtype=np.float64), self.domain.n)


def _chosen(values: Any, points: Indices) -> Any:
    """One number as it is, and of (n,) numbers those of some points."""
    return values[points] if isinstance(values, np.ndarray) else values


def _extended(values: Any, further: int) -> Any:
    """One number as it is, and (n,) numbers with the largest of them for further places."""
    return np.append(values, np.full(further, values.max())) if isinstance(values, np.ndarray) else values


def _check_goal(goal: Goal, scale: Transform) -> None:
    """That the goal means the same for transformed values."""
    if scale is IDENTITY:
        return
    if goal.implicit:
        remedy = f"a fraction of the maximum is not that of the {scale.noun}: give a level, or leave the transform out"
        raise InputError("goal", goal.question, remedy)
    for level in goal.levels:
        if not scale.takes(np.array(level)):
            raise InputError("goal", goal.question, f"the {scale.noun} needs levels {scale.wanted}")


def _as_fit(given: object, noise: object) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable) or any(name not in FITTED for name in given):
        raise InputError("fit", repr(given), f"give a list out of {', '.join(FITTED)}")
    wanted = {*given, *(["noise"] if noise is None else [])}
    return tuple(name for name in FITTED if name in wanted)
