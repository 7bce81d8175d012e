"""Does the ridge confidence err no more often than it says? Counted where it can fail.

One point of f is at the level, a hair above or below it, and the true norm is the one that is given. The places of the
measurements are chosen by the method's own rule, which sees where estimates are, or by an adversary who knows all the
noise so far: it measures where that noise leans, and challenges the points where it leans most, for the wrong side and
for random shares of delta. After every batch all intervals are compared with f: a crossing is a run in which one was
ever wrong, whether or not it decides a label.

    python -m experiments.validity          # 2,000 runs of each kind: twenty minutes on two cores
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table
from scipy.stats import binomtest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.arrays import Array
from superlevel.challenge import Challenge
from superlevel.confidence.ridge import RidgeBelief
from superlevel.errors import AssumptionWarning
from superlevel.methods import Method
from superlevel.records import Batch, State

RUNS, BATCHES, NOISE, HAIR = 2000, 20, 0.5, 1e-6


class Crossed(NamedTuple):
    """What a run showed."""

    interval: bool
    """Whether f was ever outside an interval."""
    label: bool
    """Whether a label was ever wrong."""
    challenges: int


def problem(kind: str, seed: int, *, delta: float) -> tuple[sl.Problem, Array]:
    """Linear arms in three dimensions, or points on a line; norm 1, and the level at one of the values of f (n,)."""
    rng = np.random.default_rng([seed, 0])
    if kind == "linear":
        points = rng.standard_normal((10, 3))
        domain = sl.Domain(points / np.linalg.norm(points, axis=1)[:, None])
        theta = rng.standard_normal(3)
        f = domain.points @ theta / np.linalg.norm(theta)
    else:
        domain, kernel = sl.Domain(np.linspace(0, 1, 16)[:, None], RBF(0.25)), RBF(0.25)
        centres, heights = rng.random((4, 1)), rng.standard_normal(4)
        f = kernel(domain.points, centres) @ heights / np.sqrt(heights @ kernel(centres) @ heights)
    at = np.sort(f)[len(f) // 2]
    hair = HAIR if seed % 2 else -HAIR
    return sl.Problem(domain, goal=sl.Threshold(float(at + hair)), noise=NOISE, norm=1.0, delta=delta), np.asarray(f)


def run(kind: str, chooser: str, seed: int, delta: float) -> Crossed:
    """One campaign."""
    warnings.simplefilter("ignore", AssumptionWarning)
    posed, f = problem(kind, seed, delta=delta)
    method = sl.methods.make("melk", posed, confidence=sl.Ridge(growth=1.3))
    signs = posed.goal.signs(f)
    state, rng = method.init(seed=seed), np.random.default_rng([seed, 1])
    noise, interval, label = np.zeros(len(f)), False, False
    for _ in range(BATCHES):
        if state.stop is not None:
            break
        batch = _own(method, state) if chooser == "own rule" else _worst(method, state, noise, rng)
        errors = NOISE * rng.standard_normal(len(batch.points))
        np.add.at(noise, batch.points, errors / NOISE**2)
        state, _ = method.update(state, replace(batch, values=f[batch.points] + errors))
        found = state.belief.bounds()
        interval |= bool(((found.lower > f + 1e-9) | (found.upper < f - 1e-9)).any())
        label |= bool((state.labels == -signs).any())
    return Crossed(interval, label, len(_belief(state).challenges.tests))


def _own(method: Method, state: State) -> Batch:
    plan = method.ask(state)
    return Batch(points=plan.indices, values=np.zeros(plan.total), plan=plan, whole=True)


def _worst(method: Method, state: State, noise: Array, rng: np.random.Generator) -> Batch:
    """A plan at places where the noise leans, which challenges up to three points for the side to which it leans."""
    plan, belief = method.ask(state), _belief(state)
    features, information = belief.setting.own.array, belief.statistics.information
    matrix = (features.T * information) @ features + np.eye(features.shape[1])
    leaning = features @ np.linalg.solve(matrix, features.T @ noise)
    chances = np.abs(leaning) + 1e-6
    size = int(rng.integers(5, 10 + plan.total))
    counts = rng.multinomial(size, chances / chances.sum()).astype(np.int64)
    free, points = belief.challenges.free, np.argsort(-chances)[: rng.integers(1, 4)]
    shares = rng.dirichlet(np.ones(len(points))) + 1e-3
    challenge = Challenge(
        points=points,
        others=np.full(len(points), -1),
        signs=np.where(leaning[points] >= 0, 1.0, -1.0),
        gaps=np.maximum(np.abs(leaning[points]), 1e-3) * rng.uniform(0.5, 2.0, len(points)),
        deltas=rng.uniform(0.2, 1.0) * free * shares / shares.sum(),
    )
    begins = state.samples > 0 and free > 1e-3 * belief.challenges.delta
    made = replace(plan, counts=counts, weights=counts / size, challenge=challenge if begins else None)
    return Batch(points=made.indices, values=np.zeros(size), plan=made, whole=True)


def _belief(state: State) -> RidgeBelief:
    assert isinstance(state.belief, RidgeBelief)
    return state.belief


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    table = Table(
        *("problem", "places", "delta", "runs", "crossings", "rate", "95 % interval", "a label wrong", "challenges"),
        title="Intervals that were ever wrong, looked at after every batch",
    )
    for kind in ("linear", "RBF"):
        for chooser in ("own rule", "adversary"):
            for delta in (0.1, 0.5):
                found = Parallel(n_jobs=-1)(delayed(run)(kind, chooser, seed, delta) for seed in range(runs))
                crossings = sum(each.interval for each in found)
                interval = binomtest(crossings, runs).proportion_ci(0.95, method="exact")
                table.add_row(
                    *(kind, chooser, f"{delta:g}", f"{runs:,}", f"{crossings}", f"{crossings / runs:.4f}"),
                    f"{interval.low:.4f} to {interval.high:.4f}",
                    f"{sum(each.label for each in found)}",
                    f"{np.mean([each.challenges for each in found]):.1f}",
                )
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
