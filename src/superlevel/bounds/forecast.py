"""MELK and MILK on the ridge confidence without noise: how many measurements they would take if f were as guessed.

The method's own loop, `Method.update`, runs on measurements that are f itself. Its intervals are as wide as those of
noisy measurements:

typical     what the intervals decide, whose middle is then about f
at worst    what they decide where f is at the far end of each of them: [a, b] becomes [f - (b - a), f + (b - a)],
            within what norm and bound alone say. While intervals hold, none of that width decides later.

A function that the kernel cannot express contradicts the norm sooner or later. So the guess is taken as the kernel has
it, <theta, phi(x)>, and ||theta|| is its norm: by least squares for the linear kernel; for others by ridge regression.
Its ridge is the one that the marginal likelihood of the guess likes best, very small for what is smooth and larger for
a pilot, whose noise it leaves out; or a larger one that changes nothing that matters, where no point moves by more than
the misspecification and a tenth of the tolerance. Norms of what is a little too rough for a kernel are huge otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from superlevel import linalg, methods
from superlevel.arrays import Array, as_count
from superlevel.bounds.ideal_rounds import ROOM, bound_of, checked, smallest_gap
from superlevel.bounds.setting import as_values, check_units
from superlevel.confidence.unit_features import unit_features
from superlevel.errors import InputError
from superlevel.features import Features
from superlevel.findings import bad
from superlevel.goals import Bounds, Reading, decided
from superlevel.methods import Method
from superlevel.problem import Problem
from superlevel.records import Batch, State

COUNTED = 10**7  # measurements: nobody makes more
RIDGES = 10.0 ** np.linspace(-10, 2, 49)  # of the largest k(x, x)
ROUNDING = 1e-10  # of the largest: singular values below are none
SLACK = 1e-6  # of a norm: what a fit may be off by
SLIGHT = 0.01  # of the largest |f - mean|: a guess that is moved by less is the guess
MATTERS = 0.1  # of the tolerance: what moves by less is the same
BLIND = 3.0  # e, in deviations, from which on what is missed is as large as the noise
PATIENCE, STUCK = 10, 0.9  # times the measurements, and part of the width: without what is missed it would be a third


class End(StrEnum):
    """How a forecast ends, in words."""

    DECIDED = "every point is decided"
    EXCEEDED = "more measurements than are counted"
    TIED = "a point is at the level and there is no tolerance: it never ends"
    MISSED = "what kernel and features miss leaves intervals wider than the gaps: more do not help"
    SMALL = "the norm is smaller than that of the guess"
    CONTRADICTED = "the guess contradicts what is assumed"


@dataclass(frozen=True, kw_only=True, eq=False)
class Expressed:
    """A guess as the kernel has it."""

    values: Array
    """(n,) mean + <theta, phi(x)>, or the guess itself where the misspecification allows it."""
    norm: float
    """||theta||"""
    moved: float
    """How far <theta, phi> is from the guess at most."""
    smoothed: bool
    """Whether that is farther than misspecification and tolerance let pass."""


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """How many measurements it takes to decide every point."""

    samples: float
    """Infinite where it never ends; where it takes more than are counted, how many were."""
    end: End
    reason: str
    """The same in a sentence."""
    norm: float | None
    """S that was assumed; None where a bound takes its place."""
    needed: float
    """The norm of the guess."""

    @property
    def decided(self) -> bool:
        return self.end is End.DECIDED

    @property
    def exceeded(self) -> bool:
        return self.end is End.EXCEEDED

    @property
    def too_small(self) -> bool:
        """Whether the norm is."""
        return self.end is End.SMALL


def norm_of(problem: Problem, values: ArrayLike) -> float:
    """The norm of a function with these values (n,) in the space of the problem's kernel, as far as the points show it.

    >>> from superlevel import Domain, Threshold
    >>> norm_of(Problem(Domain([[3.0, 0.0], [0.0, 2.0]]), goal=Threshold(0.0), noise=1.0), [9.0, 8.0])  # theta = (3, 4)
    5.0
    """
    return expressed(problem, values).norm


def expressed(problem: Problem, values: ArrayLike) -> Expressed:
    """The guess (n,) as the kernel has it."""
    check_units(problem)
    f = as_values(problem.domain, values)
    features, _ = unit_features(replace(problem, norm=1.0))
    passing = problem.misspecification + MATTERS * problem.tolerance
    rises = f - problem.mean
    theta = _fitted(features, rises, passing=None if problem.domain.kernel is None else passing)
    fit = linalg.times(features.array, theta)
    moved = float(np.abs(rises - fit).max())
    return Expressed(
        values=f if moved <= problem.misspecification else problem.mean + fit,
        norm=float(np.linalg.norm(theta)),
        moved=moved,
        smoothed=moved > max(passing, SLIGHT * float(np.abs(rises).max())),
    )


def assumed(problem: Problem, guess: Expressed) -> Problem:
    """With what the ridge confidence needs: where nothing limits f, ROOM times the norm of the guess."""
    if problem.limited:
        return problem
    if guess.norm == 0.0:
        raise InputError("norm", None, "give the problem one: nothing of the guess is in the kernel's space")
    return replace(problem, norm=ROOM * guess.norm)


def foretell(
    problem: Problem,
    values: ArrayLike,
    *,
    at_worst: bool = False,
    max_samples: int = COUNTED,
    guess: Expressed | None = None,
) -> Forecast:
    """How many measurements ``methods.make("melk", problem, confidence="ridge")`` takes: MILK if the level is relative.

    Args:
        problem: where nothing limits f, 1.5 times the norm of the guess is taken.
        values: (n,) a guess of f.
        at_worst: where f is at the far end of every interval, rather than about its middle.
        max_samples: how far to count.
        guess: what `expressed` made of the values, where it is known already.
    """
    most, f = as_count("max_samples", max_samples), checked(problem, values)
    if problem.bound is not None:
        bound_of(problem, f)
    guess = expressed(problem, f) if guess is None else guess
    problem = assumed(problem, guess)
    method = methods.make("melk", problem, confidence="ridge")
    if problem.norm is not None and guess.norm > problem.norm * (1.0 + SLACK):
        reason = f"norm is {problem.norm:.4g}, but the guess has one of {guess.norm:.4g}"
        samples, end = np.inf, End.SMALL
    elif problem.tolerance == 0.0 and smallest_gap(problem, f, method.prior.linear.features) == 0.0:
        samples, end, reason = np.inf, End.TIED, End.TIED.value
    else:
        samples, end, reason = _Run(method=method, f=guess.values, at_worst=at_worst, most=most).count()
    return Forecast(samples=samples, end=end, reason=reason, norm=problem.norm, needed=guess.norm)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Run:
    """A method on exact measurements."""

    method: Method
    f: Array
    """(n,)"""
    at_worst: bool
    most: int

    def count(self) -> tuple[float, End, str]:
        """Measurements to the last decision, and how it ended."""
        method, state = self.method, self.method.init()
        before, history = method.prior.bounds(method.goal.share), list[tuple[int, int, float]]()
        while not decided(state.labels).all():
            plan = method.ask(state)
            if state.samples + plan.total > self.most:
                return float(self.most), End.EXCEEDED, f"not decided after {self.most:,}, where counting ends"
            batch = Batch(points=plan.indices, values=self.f[plan.indices], plan=plan, whole=True)
            state, info = method.update(state, batch)
            if state.belief.contradicted:
                return np.inf, End.CONTRADICTED, bad(state.belief.findings)[0].sentence
            if self.at_worst:
                state = replace(state, reading=self._at_worst(info.bounds, before), stop=None)
            if self._stuck(state, info.bounds, history):
                return np.inf, End.MISSED, End.MISSED.value
        return float(state.samples), End.DECIDED, End.DECIDED.value

    def _at_worst(self, bounds: Bounds, before: Bounds) -> Reading:
        """What bounds of that width decide where f is at their far end, within those that need no measurement."""
        goal, tolerance = self.method.goal, self.method.problem.tolerance
        value, width = goal.combine(self.f), bounds.upper - bounds.lower
        shifted = Bounds(lower=np.maximum(value - width, before.lower), upper=np.minimum(value + width, before.upper))
        return goal.read(goal.unread(len(self.f)), shifted, tolerance=tolerance)

    def _stuck(self, state: State, bounds: Bounds, history: list[tuple[int, int, float]]) -> bool:
        """Whether ten times the measurements decided nothing and made the widest interval no narrower.

        Only what is missed can do that, once it is more than the noise: it is in all intervals and adds up.
        """
        undecided = int(np.count_nonzero(state.undecided))
        if not undecided:
            return False
        width = float((bounds.upper - bounds.lower)[state.undecided].max())
        information, _ = state.belief.averages
        missed = float(information @ self._misses**2)
        history.append((state.samples, undecided, width))
        earlier = [past for samples, *past in history if PATIENCE * samples <= state.samples]
        return missed > BLIND**2 and bool(earlier) and earlier[-1][0] == undecided and width > STUCK * earlier[-1][1]

    @cached_property
    def _misses(self) -> Array:
        """(n,) how far f may be from what the features express."""
        return np.asarray(self.method.problem.misspecification + np.sqrt(self.method.prior.linear.features.residuals))


def _fitted(features: Features, values: Array, *, passing: float | None) -> Array:
    """(r,) the theta whose <theta, phi> is nearest to values (n,), or smooth and near to them where ``passing`` says
    how far any of them may be off."""
    left, sizes, right = np.linalg.svd(features.array, full_matrices=False)
    parts, real = left.T @ values, sizes > ROUNDING * sizes[0]
    ridge = 0.0
    if passing is not None and values.any():
        ridges = RIDGES * float(linalg.squared_norms(features.array).max())
        smooth = parts * (sizes**2 / (sizes**2 + ridges[:, None]))
        alike = np.abs(values - linalg.inner(smooth, left)).max(axis=1) <= passing
        ridge = max(_likeliest(ridges, sizes**2, parts, values), float(ridges[alike].max(initial=0.0)))
    return np.asarray(right.T @ np.divide(sizes * parts, sizes**2 + ridge, out=np.zeros_like(parts), where=real))


def _likeliest(ridges: Array, eigenvalues: Array, parts: Array, values: Array) -> float:
    """The smallest of the ridges for which values ~ N(0, s^2 (K + ridge)) are likeliest, with the best s for each."""
    n, rank = len(values), len(eigenvalues)
    sizes = eigenvalues + ridges[:, None]
    rest = max(0.0, float(values @ values - parts @ parts))  # outside of the span of the features
    squares = (parts**2 / sizes).sum(axis=1) + rest / ridges
    losses = n * np.log(squares) + np.log(sizes).sum(axis=1) + (n - rank) * np.log(ridges)
    return float(ridges[np.argmax(losses <= losses.min() + SLACK)])
