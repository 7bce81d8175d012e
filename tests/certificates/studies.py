"""Small studies whose certificates are checked, one for each confidence and seed."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

import superlevel as sl
from superlevel.study import Study
from superlevel.study.storage import Memory

KERNELS = (RBF(0.2), Matern(0.4, nu=1.5), Matern(0.5, nu=2.5), ConstantKernel(2.0) * RBF(0.3), RBF(0.3) + RBF(0.6))
GOALS = (sl.Threshold(0.23), sl.Band(-0.5, 0.4), sl.Levels([-0.3, 0.3]))
CONFIDENCES = {
    "posterior": ("melk", "posterior"),
    "error rate": ("melk", sl.Posterior(error_rate=0.05)),
    "intersected": ("lse", "posterior"),
    "ridge": ("melk", "ridge"),
    "rkhs": ("lse", "rkhs"),
    "rips": ("melk", "rips"),
}
PLACES, NOISE = np.linspace(0, 1, 30), 0.3
TRUTH = np.sin(6 * PLACES)
"""At these places: what `begun` is about."""


def study(confidence: str, seed: int, *, steps: int = 6, **options: Any) -> Study:
    """A study of a function on a line, in memory; kernel, goal and points depend on the seed."""
    rng = np.random.default_rng([seed, 18])
    places = np.sort(rng.random(int(rng.integers(8, 24))))
    truth = np.sin(6 * places + rng.random())
    method, chosen = CONFIDENCES[confidence]
    domain = sl.Domain(places, options.pop("kernel", KERNELS[seed % len(KERNELS)]))
    goal = options.pop("goal", GOALS[seed % len(GOALS)])
    given = {"noise": 0.1, "norm": 6.0, "tolerance": 0.02 * (seed % 2)} | options
    if confidence == "rips":
        given |= {"bound": 1.5, "tolerance": 0.3}
        domain, truth = _linear(rng)
        steps = 2
    problem = sl.Problem(domain, goal=goal, delta=0.1, **given)
    batch = None if confidence == "rips" else 6
    made = Study.create(Memory(), "sea", problem, method=method, confidence=chosen, batch=batch, seed=seed)
    for _ in range(steps):
        measure(made, truth, rng)
    return made


def measure(made: Study, truth: Any, rng: np.random.Generator, noise: float = 0.1) -> None:
    """One plan, with the truth and noise."""
    tickets = made.ask()
    if len(tickets):
        points = np.array([ticket.point for ticket in tickets])
        made.tell(tickets.measured((truth[points] + noise * rng.standard_normal(len(points))).tolist()))


def _linear(rng: np.random.Generator) -> tuple[sl.Domain, Any]:
    """Points of three coordinates, and a linear function of them: rounds are short there."""
    places = rng.standard_normal((9, 3))
    places /= np.linalg.norm(places, axis=1)[:, None]
    return sl.Domain(places), places @ np.array([0.9, -0.6, 0.4])


def begun(batch: int = 150, kernel: Any = None, goal: Any = None, confidence: Any = "ridge", **given: Any) -> Study:
    """A study of a function on a line, before the first measurement."""
    domain = sl.Domain(PLACES, RBF(0.2) if kernel is None else kernel)
    posed = {"noise": NOISE, "norm": 6.0, "tolerance": 0.02, "delta": 0.1} | given
    problem = sl.Problem(domain, goal=sl.Threshold(0.23) if goal is None else goal, **posed)
    return Study.create(Memory(), "sea", problem, method="melk", confidence=confidence, batch=batch, seed=0)


def measured(made: Study, seed: int = 0, steps: int = 8, truth: Any = TRUTH) -> Study:
    """With whole batches, until everything is decided."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        if not (made.labels == 0).any():
            break
        measure(made, truth, rng, noise=NOISE)
    return made
