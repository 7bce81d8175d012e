"""What it costs not to know the kernel: functions drawn from known kernels, with the kernel given and estimated.

Both declare at an error rate of 1 %, in batches of 10, on 30 by 30 places with noise of a tenth of the deviation of f.
It prints how many points are declared after 100 and 200 measurements, and how many of them are wrong.

    python -m experiments.known                # ten minutes on one core
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.gaussian_process.kernels import RBF, Matern

import superlevel as sl
from superlevel.worker_setup import quiet

KERNELS: dict[str, Any] = {
    "Matern 1/2, length 0.4": Matern(0.4, nu=0.5),
    "Matern 3/2, length 0.3": Matern(0.3, nu=1.5),
    "Matern 5/2, length 0.2": Matern(0.2, nu=2.5),
    "RBF, length 0.2": RBF(0.2),
}
SIDE, NOISE, LEVEL, BATCH = 30, 0.1, 0.5, 10
SHOWN = (100, 200)

Looks = dict[int, tuple[float, float]]
"""Measurements, the share that is declared, and the share of those that are wrong."""


def campaign(name: str, seed: int, estimated: bool) -> tuple[str, bool, Looks]:
    """One run."""
    axis = np.linspace(0, 1, SIDE)
    places = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    kernel = KERNELS[name]
    factor = np.linalg.cholesky(kernel(places) + 1e-8 * np.eye(len(places)))
    values = factor @ np.random.default_rng([seed, 9]).standard_normal(len(places))
    goal, truth = sl.Threshold(LEVEL), values > LEVEL
    if estimated:
        problem = sl.Problem(sl.Domain(places), goal=goal, fit=("kernel", "noise", "mean"))
    else:
        problem = sl.Problem(sl.Domain(places, kernel), goal=goal, noise=NOISE)
    method = sl.methods.make("melk", problem, batch=BATCH, confidence=sl.Posterior(error_rate=0.01))
    found: Looks = {}
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.AssumptionWarning)

        def look(step: Any) -> None:
            declared = step.labels != 0
            wrong = declared & ((step.labels > 0) != truth)
            found[step.samples] = (float(declared.mean()), float(wrong.sum() / max(declared.sum(), 1)))

        sl.simulate(method, sl.oracles.Gaussian(values, noise=NOISE), max_samples=max(SHOWN), seed=seed, watch=look)
    return name, estimated, found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    tasks = [(name, seed, estimated) for name in KERNELS for seed in range(given.seeds) for estimated in (False, True)]
    found = Parallel(n_jobs=given.jobs, return_as="generator_unordered")(delayed(campaign)(*task) for task in tasks)
    runs = list(track(found, total=len(tasks), console=Console(stderr=True)))
    shown = Table(
        "kernel of f", "known or not", *(f"declared at {k}" for k in SHOWN), *(f"wrong at {k}" for k in SHOWN)
    )
    for name in KERNELS:
        for estimated in (False, True):
            mine = [looks for run, other, looks in runs if run == name and other == estimated]
            cells = [_mean(mine, k, column) for column in (0, 1) for k in SHOWN]
            shown.add_row(name, "estimated" if estimated else "given", *cells)
    Console(width=120).print(shown)


def _mean(runs: list[Looks], samples: int, column: int) -> str:
    """At the last look with no more measurements: one that has decided everything makes no more."""
    each = [looks[max(k for k in looks if k <= samples)][column] for looks in runs]
    return f"{np.mean(each):.1%}"


if __name__ == "__main__":
    main()
