"""The paper's GP experiment for every method: F1 of the declared set after 200 to 1,000 noisy measurements.

f ~ GP on 200 points of [0, 1], RBF of length 0.05, noise variance 1, a level with 10 % of the points above it, batches
of 10, beta^1/2 = 3, 25 functions. A label stays once it is given, as in the paper.

    python -m experiments.gp                # about four minutes on two cores
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from experiments.common import Entry, Row, at, compare, declared, draw, f1, save, show

RUNS = 25
COLUMNS = (200, 400, 600, 800, 1000)
POINTS, LENGTH, NOISE, ABOVE, BATCH = 200, 0.05, 1.0, 0.1, 10


def entry(label: str, name: str, **options: object) -> Entry:
    """A method with the paper's permanent elimination."""
    return Entry(label=label, name=name, options={"batch": BATCH, "permanent": True, **options})


ENTRIES = (
    entry("MELK (paper)", "melk", criterion="worst"),
    entry("MELK, average", "melk", criterion="average"),
    entry("MELK, greedy", "melk", criterion="greedy"),
    entry("TruVar", "truvar"),
    entry("TruVar, batch 1", "truvar", batch=1),
    entry("LSE", "lse"),
    entry("LSE, batch 1", "lse", batch=1),
    entry("Straddle", "straddle"),
    entry("RMILE", "rmile"),
    entry("uniform", "uniform"),
    entry("max. variance", "max-variance"),
)
REREAD = (
    entry("MELK (paper)", "melk", criterion="worst", permanent=False),
    entry("TruVar", "truvar", permanent=False),
)


def work(entry: Entry, seed: int) -> list[float]:
    """F1 of one run."""
    places = np.linspace(0, 1, POINTS)
    kernel = RBF(LENGTH)
    covariance = kernel(places[:, None]) + 1e-10 * np.eye(POINTS)
    f = np.linalg.cholesky(covariance) @ np.random.default_rng(seed).standard_normal(POINTS)
    level = float(np.quantile(f, 1 - ABOVE))
    problem = sl.Problem(sl.Domain(places, kernel=kernel), goal=sl.Threshold(level), noise=NOISE)
    oracle = sl.oracles.Gaussian(f, noise=NOISE)
    run = sl.simulate(entry.make(problem), oracle, max_samples=COLUMNS[-1], seed=seed)
    return at(run, COLUMNS, lambda step: f1(declared(step.labels), f > level))


def main() -> None:
    rows = compare(ENTRIES, RUNS, work, title="labels kept")
    show(rows, COLUMNS, title="F1 of the declared set, mean ± standard error of 25 functions", digits=3)
    save(rows, COLUMNS, Path("out/gp.csv"))
    title = "GP of length 0.05, noise variance 1, 10 % above, 25 functions"
    draw(rows, COLUMNS, Path("out/gp.png"), title=title, label="F1 of the declared set")
    difference = Row(label="MELK less TruVar", scores=rows[0].scores - rows[3].scores)
    reread = compare(REREAD, RUNS, work, title="labels read anew")
    show([difference], COLUMNS, title="Paired difference", digits=3)
    show(reread, COLUMNS, title="The same with labels read anew from all measurements each time", digits=3)


if __name__ == "__main__":
    main()
