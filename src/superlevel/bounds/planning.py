"""How many measurements a campaign would take: what no method can beat, and what the methods with guarantees use.

A plan is for a guess or a pilot of f: every figure depends on how far f is from the level, and most of that is decided
by the few points nearest to it. Norms, bounds and noises are rarely known well: `sweep` goes through several.

To add an estimate, write a function from a `Case` to a `Row` and give it to `plan` with the others:
``plan(problem, values, estimates=(*ESTIMATES, mine))``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array
from superlevel.bounds.forecast import COUNTED, End, Expressed, Forecast, assumed, expressed, foretell
from superlevel.bounds.ideal_rounds import ROOM, Round, bound_of, checked, rounds
from superlevel.bounds.implicit_lower import implicit_by_share
from superlevel.bounds.lower import LowerBound, explicit
from superlevel.bounds.setting import as_ridge, needed
from superlevel.bounds.theorems import UpperBound, upper
from superlevel.confidence.rounds import Schedule
from superlevel.errors import InputError, SuperlevelError
from superlevel.methods.make import PAIRS
from superlevel.methods.table import row_of
from superlevel.problem import Problem

LOOSE = 0.05  # how closely the implicit lower bound is found: it is a bound in any case, and slow to sharpen


@dataclass(frozen=True, kw_only=True)
class Row:
    """One estimate."""

    name: str
    measurements: float
    """Infinite where no number of measurements is enough; NaN where nothing can be said."""
    ratio: float
    """measurements / lower bound; NaN where both are zero or both infinite, or where it would not be of the same f."""
    assumes: str
    """One phrase: what it takes for granted."""
    exceeded: bool = False
    """Whether counting ended at these measurements, so that it takes more."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """A problem and a function, and what the estimates share; each part is computed when it is first asked for."""

    problem: Problem
    values: Array
    """(n,) f"""
    ridge: float | None
    rtol: float

    @cached_property
    def lower(self) -> LowerBound | None:
        """The lower bound, with the ridge that weakens it least.

        None where some point has no noise, or all are within the tolerance.
        """
        problem, f = self.problem, self.values
        goal, noise, tolerance = problem.goal, problem.known_noise, problem.tolerance
        if np.min(noise) == 0.0 or (tolerance > 0.0 and not needed(goal, f, tolerance).any()):
            return None
        if not goal.implicit:
            return explicit(
                problem.domain,
                f,
                threshold=goal.levels,
                noise=noise,
                delta=problem.delta,
                tolerance=tolerance,
                rtol=self.rtol,
            )
        return implicit_by_share(
            problem.domain,
            f,
            goal.share,
            noise=noise,
            delta=problem.delta,
            mean=problem.mean,
            tolerance=tolerance,
            ridge=None,
            rtol=max(self.rtol, LOOSE),
        )

    @cached_property
    def upper(self) -> UpperBound:
        return upper(self.problem, self.values, ridge=self.ridge, rtol=self.rtol)

    def rounds(self, error: float, schedule: Schedule) -> tuple[Round, ...]:
        """The paper's algorithm, with estimates that are off by that many precisions."""
        return rounds(self.problem, self.values, error=error, schedule=schedule, ridge=self.ridge, rtol=self.rtol)

    @cached_property
    def guess(self) -> Expressed:
        """f as the kernel has it."""
        return expressed(self.problem, self.values)

    def forecast(self, *, at_worst: bool = False) -> Forecast:
        """MELK or MILK on the ridge confidence."""
        least = 0.0 if self.lower is None or self.guess.smoothed else self.lower.samples
        return _counted(self.problem, self.values, self.guess, least=least, at_worst=at_worst)

    @property
    def algorithm(self) -> str:
        """The paper's algorithm for this goal."""
        return row_of("melk", self.problem.goal)[0].upper()

    @property
    def ends(self) -> bool:
        """Whether enough rounds decide every point."""
        return max(self.upper.smallest_gap, self.problem.tolerance) > 0.0

    @property
    def about_the_bound(self) -> str:
        """What is said of B."""
        bound = bound_of(self.problem, self.values)
        if self.problem.bound is not None:
            return f"|f - mean| <= {bound:g}"
        return f"|f - mean| <= {bound:.4g}, {ROOM:g} times the largest given, as the problem has no bound"

    @property
    def about_the_norm(self) -> str:
        """What is said of S."""
        norm = assumed(self.problem, self.guess).norm
        if norm is None:
            return "no norm, so that the bound takes its place"
        if self.problem.norm is not None:
            return f"||f - mean|| <= {norm:g}"
        return f"||f - mean|| <= {norm:.4g}, {ROOM:g} times that of the guess, as the problem has no norm"

    @property
    def hidden(self) -> str:
        """What is said of what the ridge and the features hide."""
        gamma = as_ridge(self.problem.domain, self.problem.ridge if self.ridge is None else self.ridge)
        if gamma > 0.0 or self.problem.misspecification > 0.0:
            return "gaps beyond the resolution of ridge and misspecification"
        return "f in the space of the features"

    def row(self, name: str, measurements: float, assumes: str) -> Row:
        least = 0.0 if self.lower is None else self.lower.samples
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = float(np.divide(measurements, least))
        return Row(name=name, measurements=float(measurements), ratio=ratio, assumes=assumes)


Estimate: TypeAlias = Callable[[Case], Row]


def lower_bound(case: Case) -> Row:
    """What no algorithm can beat."""
    if case.lower is None:
        return case.row("lower bound", 0.0, "points without noise, or all within the tolerance")
    return case.row("lower bound", case.lower.samples, "any algorithm right for every f, on average")


def typical_ridge(case: Case) -> Row:
    """The method on the ridge confidence, on measurements without error."""
    return _affordable(case, "typical", False, "estimates without error")


def worst_ridge(case: Case) -> Row:
    """The same where every interval is as far off as it may be."""
    return _affordable(case, "at worst", True, "f at the far end of every interval")


def _affordable(case: Case, how: str, at_worst: bool, estimates: str) -> Row:
    name, n = f"{case.algorithm} with ridge, {how}", case.problem.domain.n
    if case.problem.goal.share and n > PAIRS:
        return Row(name=name, measurements=np.nan, ratio=np.nan, assumes=f"not counted beyond {PAIRS:,} points")
    found = case.forecast(at_worst=at_worst)
    if not found.decided:
        row = case.row(name, found.samples, found.reason)
        return replace(row, ratio=np.nan, exceeded=True) if found.exceeded else row
    scale = "|f - mean| <= bound" if found.norm is None else f"||f - mean|| <= {found.norm:.4g}"
    assumes = f"sub-Gaussian noise, {scale}; {estimates}"
    if not case.guess.smoothed:
        return case.row(name, found.samples, assumes)
    smoothed = f"{assumes}; the guess as the kernel smooths it, by {case.guess.moved:.3g} at most"
    return replace(case.row(name, found.samples, smoothed), ratio=np.nan)


def _counted(problem: Problem, f: Array, guess: Expressed, *, least: float, at_worst: bool = False) -> Forecast:
    """The forecast; nothing is counted where the lower bound is beyond counting."""
    if not COUNTED < least < np.inf:
        return foretell(problem, f, guess=guess, at_worst=at_worst)
    reason, norm = f"more than {COUNTED:,}, as the lower bound is", assumed(problem, guess).norm
    return Forecast(samples=COUNTED, end=End.EXCEEDED, reason=reason, norm=norm, needed=guess.norm)


def best_rounds(case: Case) -> Row:
    """The paper's algorithm, N_t as printed, on exact estimates."""
    return _run(case, "at best", 0.0, "scaled", "N_t as printed, estimates without error")


def worst_rounds(case: Case) -> Row:
    """The paper's algorithm, N_t as printed, where every estimate is as wrong as is likely."""
    return _run(case, "at worst", 2.0, "scaled", f"N_t as printed, estimates as wrong as is likely; {case.hidden}")


def best_tight_rounds(case: Case) -> Row:
    """The same with as many measurements as Catoni's mean needs, on exact estimates."""
    return _run(case, "tight, at best", 0.0, "tight", "N_t that Catoni's mean needs, estimates without error")


def worst_tight_rounds(case: Case) -> Row:
    """The same where every estimate is as wrong as is likely."""
    assumes = f"N_t that Catoni's mean needs, estimates as wrong as is likely; {case.hidden}"
    return _run(case, "tight, at worst", 2.0, "tight", assumes)


def _run(case: Case, how: str, error: float, schedule: Schedule, assumes: str) -> Row:
    name = f"{case.algorithm} {how}"
    if not case.ends:
        return case.row(name, np.inf, "a point is at the level and there is no tolerance: it never ends")
    try:
        found = case.rounds(error, schedule)
    except InputError:
        raise
    except SuperlevelError:  # a round that is too long to be counted
        return case.row(name, np.inf, "a point is so near to the level that one round takes more than 2^53")
    return case.row(name, sum(each.samples for each in found), assumes)


def printed_theorem(case: Case) -> Row:
    """The theorem, with the appendix's constants."""
    return case.row("theorem as printed", case.upper.printed, "nothing more than the next, but its proof has slips")


def proved_theorem(case: Case) -> Row:
    """The theorem, with the constants that its proof gives."""
    return case.row("theorem as proved", case.upper.samples, f"probability 1 - delta; {case.hidden}")


ESTIMATES: tuple[Estimate, ...] = (
    lower_bound,
    typical_ridge,
    worst_ridge,
    best_tight_rounds,
    worst_tight_rounds,
    best_rounds,
    worst_rounds,
    printed_theorem,
    proved_theorem,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """What a campaign would take."""

    rows: tuple[Row, ...]
    """One for each estimate, in the order in which these were given."""
    case: Case
    """What they were computed from: `case.lower.weights` is where the best algorithm measures."""


def plan(
    problem: Problem,
    values: ArrayLike,
    *,
    ridge: float | None = None,
    rtol: float = 0.01,
    estimates: Sequence[Estimate] = ESTIMATES,
) -> Plan:
    """How many measurements this problem needs if f is as given.

    Args:
        problem: goal, noise, delta, tolerance, bound, norm. Without a bound, 1.5 times the largest |values - mean| is
            taken; without norm and bound, 1.5 times the norm of the guess for the ridge confidence. Unequal noise
            counts point by point for the lower bound and the ridge confidence, and as the largest for the rest.
        values: (n,) a guess or a pilot of f at the points.
        ridge: of the algorithms; None is the problem's, or else 0 for the linear kernel and very small for others. The
            lower bound has the last of these in any case, because a ridge weakens it.
        rtol: how closely every design is solved.
        estimates: what to compute, each from a `Case` to a `Row`.
    """
    case = Case(problem=problem, values=checked(problem, values), ridge=ridge, rtol=rtol)
    return Plan(rows=tuple(estimate(case) for estimate in estimates), case=case)


# ------------------------------------------------------------------------------------------- ranges


@dataclass(frozen=True, kw_only=True, eq=False)
class Cell:
    """What one combination of assumptions would take."""

    problem: Problem
    """With norm, noise, bound, delta and tolerance of this combination; the norm also where it comes from the guess."""
    lower: float
    """What no algorithm can beat, for the guess as the kernel has it."""
    forecast: Forecast
    """MELK or MILK on the ridge confidence."""


def sweep(
    problem: Problem,
    values: ArrayLike,
    *,
    noise: Sequence[float] = (),
    norm: Sequence[float] = (),
    bound: Sequence[float] = (),
    delta: Sequence[float] = (),
    tolerance: Sequence[float] = (),
    rtol: float = 0.01,
    watch: Callable[[int, int], None] | None = None,
) -> tuple[Cell, ...]:
    """The ridge confidence's forecast and the lower bound for every combination of what is not known well.

    What has no range is as in the problem. The last range runs fastest. ``watch`` is told how many combinations are
    done, and of how many, before each of them.
    """
    f = checked(problem, values)
    given = {"noise": noise, "norm": norm, "bound": bound, "delta": delta, "tolerance": tolerance}
    for name, numbers in given.items():
        if isinstance(numbers, str) or not hasattr(numbers, "__len__"):
            raise InputError(name, repr(numbers), "give a list of numbers")
    ranges = {name: tuple(numbers) for name, numbers in given.items() if len(numbers)}
    choices: list[dict[str, Any]] = [dict(zip(ranges, chosen, strict=True)) for chosen in product(*ranges.values())]
    problems = [replace(problem, **choice) for choice in choices]
    guesses = {each.tolerance: expressed(each, f) for each in problems}
    lowest: dict[tuple[object, ...], float] = {}
    cells = []
    for done, each in enumerate(problems):
        if watch is not None:
            watch(done, len(problems))
        guess, key = guesses[each.tolerance], (np.asarray(each.noise).tobytes(), each.delta, each.tolerance)
        if key not in lowest:
            found = Case(problem=each, values=guess.values, ridge=None, rtol=rtol).lower
            lowest[key] = 0.0 if found is None else found.samples
        forecast = _counted(each, f, guess, least=lowest[key])
        cells.append(Cell(problem=assumed(each, guess), lower=lowest[key], forecast=forecast))
    return tuple(cells)
