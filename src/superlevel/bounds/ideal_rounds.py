"""MELK and MILK without noise: the rounds that the algorithms would run if every estimate were exact, or at worst.

    t            round, from 1
    B 2^-t       precision of round t: the paper's 2^-t, for a function bounded by B
    A_t          directions that are still undecided
    g_t          min over designs of the largest ||v||^2 in A_t
    N_t          measurements of round t, by one of the schedules of `superlevel.confidence.rounds`

After round t a pair is decided if its estimate is more than 2 B 2^-t from zero, and a point if its estimate is as far
from every level. The algorithms end when nothing is undecided, or after round ceil(log2(4 B / tolerance)), and there is
always a first one.

With probability 1 - delta the estimates are within 2 B 2^-t, half of which is the noise's and half the ridge's. A run
in which all of them err by that much towards the levels decides as late as can be: what is undecided in any other run
is undecided in it. So no run takes more measurements, up to how closely each design is solved. That is a sharper bound
than the theorem's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, as_number
from superlevel.bounds.setting import as_features, as_ridge, as_values, check_maximum, check_units
from superlevel.confidence.rounds import Rounds, Schedule
from superlevel.design import Design, solve, targets
from superlevel.errors import InputError
from superlevel.features import Features
from superlevel.goals import Bounds, Reading, decided
from superlevel.problem import Problem
from superlevel.robust import CATONI
from superlevel.sizes import Need

ROOM = 1.5  # a function is taken to stay within this times its largest value, where no bound is given


@dataclass(frozen=True, kw_only=True, eq=False)
class Round:
    """One round of a run without noise."""

    t: int
    precision: float
    """B 2^-t"""
    undecided: int
    """Number of directions in A_t."""
    design: Design
    """Its value is g_t."""
    samples: int
    """N_t"""


def rounds(
    problem: Problem,
    values: ArrayLike,
    *,
    error: float = 0.0,
    schedule: Schedule = "scaled",
    ridge: float | None = None,
    rtol: float = 0.01,
) -> tuple[Round, ...]:
    """The rounds of MELK for given levels, of MILK for a fraction of the maximum.

    Args:
        problem: goal, noise, delta, tolerance. Its bound B is 1.5 times the largest |f - mean| where it has none. With
            unequal noise the largest counts.
        values: (n,) f at the points.
        error: of every estimate, towards the level, in units of the precision B 2^-t: 0 for exact ones, 1 for the most
            that is likely without a ridge, 2 for the most that is likely with one.
        schedule: "scaled" is N_t as printed, for f / B; "tight" is what Catoni's mean needs.
        ridge: None is the problem's, or else the default of `explicit`.
        rtol: how closely each design is solved.
    """
    wrong = 2.0 + as_number("error", error, at_least=0.0)
    f, sigma = checked(problem, values), float(np.max(problem.known_noise))
    goal = problem.goal
    gamma = as_ridge(problem.domain, problem.ridge if ridge is None else ridge)
    features = as_features(problem.domain, ridge=gamma, rtol=rtol)
    if problem.tolerance == 0.0 and smallest_gap(problem, f, features) == 0.0:
        at = int(goal.margins(f).argmin())
        raise InputError(
            f"values[{at}]", "exactly at the level", "give the problem a tolerance > 0: no round decides it"
        )
    bound, last = bound_of(problem, f), last_round(problem, f)
    sizes = Rounds(
        n=problem.domain.n,
        second_moment=bound**2 + sigma**2,
        delta=problem.delta,
        unit=bound,
        tolerance=problem.tolerance,
        schedule=schedule,
        estimator=CATONI,
    )
    value = goal.combine(f)
    reading = Reading(labels=goal.unread(problem.domain.n).labels, undecided=features.reached(goal.share))
    done: list[Round] = []
    design: Design | None = None
    while reading.undecided.any() and not decided(reading.labels).all() and len(done) < last:
        t = len(done) + 1
        precision = sizes.precision(t)
        design = solve(features, targets(goal.share, reading.undecided), ridge=gamma, rtol=rtol, start=design)
        undecided = int(np.count_nonzero(reading.undecided))
        taken = sum(each.samples for each in done)
        count = sizes.samples(Need(phase=t, value=design.value, directions=undecided, begun=taken))
        done.append(Round(t=t, precision=precision, undecided=undecided, design=design, samples=count))
        reading = goal.read(reading, Bounds(lower=value - wrong * precision, upper=value + wrong * precision))
    return tuple(done)


def checked(problem: Problem, values: ArrayLike) -> Array:
    """f, with a positive maximum where the goal needs one."""
    check_units(problem)
    f = as_values(problem.domain, values)
    if problem.goal.implicit:
        check_maximum(f)
    return f


def bound_of(problem: Problem, values: Array) -> float:
    """B: the problem's, if f keeps it, or ROOM times what f reaches."""
    reached = float(np.abs(values - problem.mean).max())
    if problem.bound is None:
        if reached == 0.0:
            raise InputError("bound", None, "give the problem one: f equals its mean everywhere and suggests none")
        return ROOM * reached
    if reached > problem.bound * (1.0 + 1e-9):
        raise InputError(
            "bound", problem.bound, f"give the problem one of at least {reached:g}, the largest |f - mean|"
        )
    return problem.bound


def last_round(problem: Problem, values: Array) -> float:
    """ceil(log2(4 B / tolerance)), and at least 1: the last round there can be; infinite without a tolerance."""
    if problem.tolerance == 0.0:
        return np.inf
    return max(1.0, float(np.ceil(np.log2(4.0 * bound_of(problem, values) / problem.tolerance))))


def smallest_gap(problem: Problem, values: Array, features: Features) -> float:
    """Delta_min: the distance from a level of the point nearest to one.

    Where the level is given, points with zero features do not count. Where it is a part of the maximum, it is unknown
    and they do.
    """
    margins = problem.goal.margins(values)
    counted = margins if problem.goal.implicit else margins[features.reached()]
    return float(counted.min(initial=np.inf))
