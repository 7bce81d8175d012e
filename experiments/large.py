"""Do the intervals of a large domain cover under adaptive sampling? Few neighbours beside all of them.

Functions are drawn from the kernel, and MELK chooses 150 points in batches of ten by the intervals that it has. Blocks
are conditioned on 25 measured points, or on all of them. A small domain stands for a large one: 1,600 points in blocks
of 64.

    python -m experiments.large --campaigns 200
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.gaussian_process.kernels import Matern

import superlevel as sl
from superlevel import blocks
from superlevel.arrays import Array
from superlevel.posterior import covariance
from superlevel.rules import narrowed

SIDE, MEASURED, BATCH, NOISE = 40, 150, 10, 0.1
FORMS = {"25 neighbours": 25, "exact": MEASURED}


class Outcome(NamedTuple):
    """Of one campaign."""

    beyond_two: float
    """The share of points whose value is more than two deviations from the mean; 4.6 % if the intervals are right."""
    beyond_three: float
    """The same for three; 0.27 %."""
    square: float
    """The mean square of the distances in deviations; 1."""
    declared: float
    wrong: float
    """Of the declared points."""


def shrink(neighbours: int) -> None:
    """Make a domain of 1,600 points a large one, with so many measured points for each block."""
    for module in (blocks, covariance, import_module("superlevel.methods.make")):
        vars(module)["LARGE"] = 1000
    covariance.STORED = covariance.ROOM = 0
    blocks.SIZE, blocks.FEWEST, blocks.WORK = 64, neighbours, 0
    narrowed.EACH, narrowed.SAMPLED = 60, 120


def campaign(domain: sl.Domain, f: Array, seed: int) -> Outcome:
    """One campaign on a function."""
    level = float(np.quantile(f, 0.7))
    method = sl.methods.make("melk", sl.Problem(domain, goal=sl.Threshold(level), noise=NOISE), batch=BATCH)
    state, oracle = method.init(seed=seed), sl.oracles.Gaussian(f, noise=NOISE)
    while state.samples < MEASURED and state.stop is None:
        plan = method.ask(state)
        values = oracle.measure(plan.indices, np.random.default_rng([seed, state.phase]))
        state, _ = method.tell(state, plan, values)
    belief = state.belief
    distances = np.abs(f - belief.estimate) / belief.posterior.deviation
    known = state.labels != 0
    wrong = known & ((state.labels > 0) != (f > level))
    return Outcome(
        float((distances > 2).mean()),
        float((distances > 3).mean()),
        float(np.square(distances).mean()),
        float(known.mean()),
        float(wrong.sum() / max(known.sum(), 1)),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print means with their standard errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=200)
    given = parser.parse_args(arguments)
    axis = np.linspace(0, 1, SIDE)
    places = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    kernel = Matern(0.2, nu=1.5)
    factor = np.linalg.cholesky(kernel(places) + 1e-9 * np.eye(len(places)))
    table = Table(
        "", "beyond 2", "beyond 3", "mean square", "declared", "wrong of these", title=f"{given.campaigns} runs"
    )
    for name, neighbours in FORMS.items():
        shrink(neighbours)
        domain = sl.Domain(places, kernel=kernel)
        found = []
        for seed in track(range(given.campaigns), description=name):
            f = factor @ np.random.default_rng([seed, 9]).standard_normal(len(places))
            found.append(campaign(domain, f, seed))
        means, errors = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found))
        table.add_row(name, *(f"{mean:.4f} ± {error:.4f}" for mean, error in zip(means, errors, strict=True)))
    Console().print(table)


if __name__ == "__main__":
    main()
