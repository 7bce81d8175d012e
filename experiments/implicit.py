"""Within a fraction of the unknown maximum: a cosine on 200 points, epsilon = 0.2, every method for that goal.

f = 2 + cos(8 pi x) has its maximum 3 five times over, the ends included; the set is where f > 2.4. RBF of length 0.1,
noise 0.2, batches of 10, 25 seeds: F1 of the declared set, and how many points were ever declared wrongly.

    python -m experiments.implicit          # two minutes on two cores
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import superlevel as sl
from experiments.common import Entry, Row, at, compare, declared, draw, f1, save, show

RUNS = 25
COLUMNS = (50, 100, 200, 400, 800)
POINTS, LENGTH, NOISE, EPSILON, BATCH = 200, 0.1, 0.2, 0.2, 10

ENTRIES = (
    Entry(label="MILK, worst (paper)", name="milk", options={"batch": BATCH, "criterion": "worst"}),
    Entry(label="MILK, average", name="milk", options={"batch": BATCH, "criterion": "average"}),
    Entry(label="MILK, greedy", name="milk", options={"batch": BATCH}),
    Entry(label="TruVar", name="truvar", options={"batch": BATCH}),
    Entry(label="LSE-imp", name="lse-imp", options={"batch": BATCH}),
    Entry(label="uniform", name="uniform", options={"batch": BATCH}),
    Entry(label="max. variance", name="max-variance", options={"batch": BATCH}),
)


def work(entry: Entry, seed: int) -> list[float]:
    """F1 at every column, then the declared points that were wrong at every column."""
    places = np.linspace(0, 1, POINTS)
    f = 2 + np.cos(8 * np.pi * places)
    domain = sl.Domain(places, kernel=ConstantKernel(1.0) * RBF(LENGTH))
    problem = sl.Problem(domain, goal=sl.FractionOfMax(EPSILON), noise=NOISE, mean=2.0)
    oracle = sl.oracles.Gaussian(f, noise=NOISE)
    run = sl.simulate(entry.make(problem), oracle, max_samples=COLUMNS[-1], seed=seed)
    truth = f > (1 - EPSILON) * f.max()
    scores = at(run, COLUMNS, lambda step: f1(declared(step.labels), truth))
    sides = np.where(truth, 1, -1)
    return scores + at(run, COLUMNS, lambda step: float(((step.labels != 0) & (step.labels != sides)).sum()))


def main() -> None:
    rows = compare(ENTRIES, RUNS, work, title="cosine, 25 seeds")
    halves = len(COLUMNS)
    found = [Row(label=row.label, scores=row.scores[:, :halves]) for row in rows]
    wrong = [Row(label=row.label, scores=row.scores[:, halves:]) for row in rows]
    show(found, COLUMNS, title="F1 of the declared set, mean ± standard error of 25 seeds", digits=3)
    show(wrong, COLUMNS, title="Points declared wrongly", digits=2)
    save(found, COLUMNS, Path("out/implicit.csv"))
    title = "Within 20 % of an unknown maximum, 25 seeds"
    draw(found, COLUMNS, Path("out/implicit.png"), title=title, label="F1 of the declared set")


if __name__ == "__main__":
    main()
