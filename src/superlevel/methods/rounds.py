"""MELK and MILK in rounds, as the paper's theorems have them: designs, N_t draws from each, and RIPS."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from superlevel import robust
from superlevel.arrays import Array
from superlevel.confidence.rips import Rips
from superlevel.confidence.rounds import Rounds, as_schedule
from superlevel.design.basis import basis
from superlevel.errors import InputError
from superlevel.features import Features, embed, tolerance
from superlevel.methods.loop import Method
from superlevel.problem import Problem
from superlevel.rules.design import DesignRule, unknown

RIDGE = 1e-7  # gamma of the paper's linear experiments, times the largest k(x, x)
MISSED = 1e-3  # part of the largest k(x, x) that the features may miss at most, however large the ridge is
BUDGET = 10**9  # measurements of a simulation that has no other budget: 16 GB of them


def in_rounds(name: str, problem: Problem, schedule: str, estimator: robust.Estimator, rtol: float) -> Method:
    """The method, with everything checked."""
    _check_problem(problem)
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
        budget=BUDGET,
    )


def _features(problem: Problem, ridge: float, rtol: float) -> Features:
    """phi(x) for every point. Without a ridge only the span matters, and its coordinates are orthonormal."""
    kernel, points = problem.domain.kernel, problem.domain.points
    if kernel is None and ridge > 0:
        return embed(None, turned(points))
    if ridge > 0:
        # However large the ridge is, the features are to be of some use.
        return embed(kernel, points, tol=min(tolerance(ridge, rtol), MISSED * float(problem.domain.diagonal().max())))
    found = embed(kernel, points, tol=0)
    coordinates = basis(found.array, ridge)
    return replace(found, array=coordinates.arms, residuals=np.zeros(len(points)))


def turned(points: Array) -> Array:
    """The points in orthonormal coordinates of their span, (n, rank): a ridge sees lengths and angles only."""
    _, sizes, axes = np.linalg.svd(points, full_matrices=False)
    rank = int(np.count_nonzero(sizes > max(points.shape) * np.finfo(float).eps * sizes[0]))
    return points if rank in {0, points.shape[1]} else points @ axes[:rank].T


def _check_problem(problem: Problem) -> None:
    if problem.bound is None:
        raise InputError("problem.bound", None, "the rips confidence needs B with |f(x) - mean| <= B at every point")
