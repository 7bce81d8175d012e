"""MELK and MILK on the paper's linear benchmark: what a run costs beside drawing its measurements.

usage: python benchmarks/melk.py [--repeat 5]

n = 100 arms in 25 dimensions, threshold 0.5 (MELK) or half of the maximum (MILK), sigma = B = 1, delta = 0.1. The ratio
is the whole run, designs, measurements and robust means, divided by what numpy takes to draw as many standard normals;
both are the shortest of --repeat runs.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.gaussian_process.kernels import RBF
from timing import timed

import superlevel as sl
from superlevel.arrays import Array
from superlevel.simulation import Run

console = Console(width=140)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--skip-large", action="store_true", help="leave out MILK on 400 points")
    given = parser.parse_args()
    linear(given.repeat)
    if not given.skip_large:
        large()


def linear(repeat: int) -> None:
    arms = linear_arms()
    truth = arms[:, 0]
    oracle = sl.oracles.Gaussian(truth, noise=1.0)
    table = Table("method", "schedule", "rounds", "measurements", "correct", "run (ms)", "normals (ms)", "ratio")
    rounds = Table("method", "schedule", "t", "undecided", "g", "gap", "N_t", "printed N_t at g", title="Rounds")
    for name, goal in (("melk", sl.Threshold(0.5)), ("milk", sl.FractionOfMax(0.5))):
        for schedule in ("paper", "tight"):
            problem = sl.Problem(sl.Domain(arms), goal=goal, noise=1.0, bound=1.0, delta=0.1)
            method = sl.methods.make(name, problem, confidence=sl.Rips(schedule=schedule))
            run = sl.simulate(method, oracle)
            _, took = timed(partial(sl.simulate, method, oracle), repeat)
            rng = np.random.default_rng(0)
            _, drawing = timed(partial(rng.standard_normal, run.samples), 3 * repeat)
            correct = int((run.labels == np.where(truth > 0.5, 1, -1)).sum())
            table.add_row(
                name,
                schedule,
                f"{len(run.trace)}",
                f"{run.samples:,}",
                f"{correct} of {len(truth)}",
                f"{1e3 * took:.0f}",
                f"{1e3 * drawing:.1f}",
                f"{took / drawing:.1f}",
            )
            add_rounds(rounds, run, schedule, len(truth), pairs=name == "milk")
    console.print(table)
    console.print(rounds)


def add_rounds(table: Table, run: Run, schedule: str, n: int, *, pairs: bool) -> None:
    before, undecided = 0, n**2 if pairs else n
    for step in run.trace:
        t = step.phase
        printed = 16 * 4**t * step.value * 2 * math.log(2 * t**2 * n**2 / 0.1)
        gap = step.value / step.lower_bound - 1
        table.add_row(
            run.method,
            schedule,
            f"{t}",
            f"{undecided:,}",
            f"{step.value:.4f}",
            f"{gap:.2%}",
            f"{step.samples - before:,}",
            f"{math.ceil(printed):,}",
        )
        before, undecided = step.samples, step.directions


def large() -> None:
    """MILK on 400 points: 160,000 pairs, never written out."""
    side = np.linspace(0, 1, 20)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    kernel = RBF(0.3)
    truth = kernel(points, np.array([[0.3, 0.3], [0.8, 0.7]])) @ np.array([1.0, 0.6])
    bound = float(np.abs(truth).max())
    problem = sl.Problem(
        sl.Domain(points, kernel),
        goal=sl.FractionOfMax(0.5),
        noise=0.1,
        bound=bound,
        delta=0.1,
        tolerance=0.5,
        ridge=1e-4,
    )
    started = time.perf_counter()
    run = sl.simulate(sl.methods.make("milk", problem, confidence="rips"), sl.oracles.Gaussian(truth, noise=0.1))
    took = time.perf_counter() - started
    _, drawing = timed(partial(np.random.default_rng(0).standard_normal, run.samples), 3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    console.print(run)
    console.print(f"400 points, ratio to drawing the normals {took / drawing:.0f}, peak memory {peak:.2f} GB")


def linear_arms(n: int = 100, d: int = 25, seed: int = 0) -> Array:
    angles = np.pi / 4 * (1 + np.random.default_rng(seed).uniform(-0.2, 0.2, n - 2))
    arms = np.zeros((n, d))
    arms[0, 0] = arms[1, 1] = 1.0
    arms[2:, 0], arms[2:, 1] = np.cos(angles), np.sin(angles)
    return arms


if __name__ == "__main__":
    main()
