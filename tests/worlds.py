"""Problems with known answers that several tests use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import superlevel as sl
from superlevel.arrays import Array
from superlevel.confidence.rips import RipsBelief
from superlevel.confidence.rips_estimate import Setting
from superlevel.records import Choice, Plan


def paper_arms(n: int = 100, d: int = 25, seed: int = 0) -> Array:
    """The arms of the paper's linear benchmark; theta is e_1, so that f(x) is the first coordinate."""
    angles = np.pi / 4 * (1 + np.random.default_rng(seed).uniform(-0.2, 0.2, n - 2))
    arms = np.zeros((n, d))
    arms[0, 0] = arms[1, 1] = 1.0
    arms[2:, 0], arms[2:, 1] = np.cos(angles), np.sin(angles)
    return arms


def paper_problem(goal: sl.Goal, *, seed: int = 0) -> sl.Problem:
    """n = 100, d = 25, sigma = B = 1, delta = 0.1."""
    return sl.Problem(sl.Domain(paper_arms(seed=seed)), goal=goal, noise=1.0, bound=1.0, delta=0.1)


def apart(values: list[float], *, goal: sl.Goal, **options: float) -> tuple[sl.Problem, sl.oracles.Oracle]:
    """Arms that have nothing to do with each other, x_i = e_i."""
    truth = np.array(values)
    given: dict[str, Any] = {"noise": 0.1, "bound": float(np.abs(truth).max()) or 1.0, **options}
    problem = sl.Problem(sl.Domain(np.eye(len(truth))), goal=goal, **given)
    return problem, sl.oracles.Gaussian(truth, noise=given["noise"])


def rips(method: sl.methods.Method) -> Setting:
    """The setting of a method in rounds: its features, its estimator and its rounds."""
    assert isinstance(method.prior, RipsBelief)
    return method.prior.setting


def proof(plan: Plan | Choice) -> sl.design.Design:
    """The certificate of a plan, or of a rule's choice, that has one."""
    assert plan.certificate is not None
    return plan.certificate


def promise(plan: Plan) -> float:
    """The precision of a round."""
    assert plan.precision is not None
    return plan.precision


def at(plan: Plan, points: list[int], origin: str) -> Plan:
    """A plan for other points, as if it had been asked for."""
    counts = np.bincount(points, minlength=len(plan.counts))
    return replace(plan, counts=counts, weights=counts / counts.sum(), origin=origin)
