"""Real and rough: the sea floor off British Columbia, cells at least 20 m deep, from noisy soundings.

4,841 sea cells of a grid of real depths (matplotlib's sample data), on the square root of depth, which makes
shallow and deep water comparable: Matern 3/2 of length 0.1 (the grid is 1 by 1) and deviation 5, noise 0.3, batches of
10, five seeds. Counted are the cells whose likelier side is wrong.

    python -m experiments.sea               # some ten minutes on two cores
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib import cbook
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

import superlevel as sl
from experiments.common import Entry, at, compare, draw, save, show
from superlevel.arrays import Array

RUNS = 5
COLUMNS = (100, 200, 400, 600)
DEPTH, NOISE, BATCH = 20.0, 0.3, 10

ENTRIES = (
    Entry(label="MELK (default)", name="melk", options={"batch": BATCH}),
    Entry(label="MELK, average", name="melk", options={"batch": BATCH, "criterion": "average", "rtol": 0.1}),
    Entry(label="MELK, worst (paper)", name="melk", options={"batch": BATCH, "criterion": "worst", "rtol": 0.1}),
    Entry(label="Straddle", name="straddle", options={"batch": BATCH}),
    Entry(label="LSE", name="lse", options={"batch": BATCH}),
    Entry(label="LSE, plain intervals", name="lse", options={"batch": BATCH, "intersected": False}),
    Entry(label="TruVar", name="truvar", options={"batch": BATCH}),
    Entry(label="RMILE", name="rmile", options={"batch": BATCH}),
    Entry(label="uniform", name="uniform", options={"batch": BATCH}),
    Entry(label="max. variance", name="max-variance", options={"batch": BATCH}),
)


def sea_cells() -> tuple[Array, Array]:
    """Places (n, 2) of the sea cells in the unit square, and the square root of depth (n,) there."""
    with np.load(cbook.get_sample_data("topobathy.npz", asfileobj=False)) as file:
        depth = -file["topo"].astype(np.float64)
    across, up = np.meshgrid(*(np.linspace(0, 1, size) for size in depth.shape[::-1]))
    sea = depth > 0
    return np.stack([across[sea], up[sea]], axis=1), np.sqrt(depth[sea])


def problem() -> sl.Problem:
    """Where is it at least 20 m deep?"""
    places, _ = sea_cells()
    kernel = ConstantKernel(25.0, "fixed") * Matern(0.1, "fixed", nu=1.5)
    domain = sl.Domain(places, kernel=kernel, names=["east", "north"])
    # A depth of exactly 20 m counts as deep: the level is just below it.
    return sl.Problem(domain, goal=sl.Threshold(np.sqrt(DEPTH) * (1 - 1e-9)), noise=NOISE)


def work(entry: Entry, seed: int) -> list[float]:
    """Mislabelled cells of one run."""
    posed = problem()
    _, f = sea_cells()
    run = sl.simulate(entry.make(posed), sl.oracles.Gaussian(f, noise=NOISE), max_samples=COLUMNS[-1], seed=seed)
    deep = f > np.sqrt(DEPTH) * (1 - 1e-9)
    return at(run, COLUMNS, lambda step: float(((step.guess == 1) != deep).sum()))


def main() -> None:
    rows = compare(ENTRIES, RUNS, work, title="sea floor, 5 seeds")
    show(rows, COLUMNS, title="Mislabelled of 4,841 cells, mean ± standard error of 5 seeds", digits=0)
    save(rows, COLUMNS, Path("out/sea.csv"))
    title = "Where is the sea at least 20 m deep? 4,841 cells, batches of 10"
    draw(rows, COLUMNS, Path("out/sea.png"), title=title, label="mislabelled cells")


if __name__ == "__main__":
    main()
