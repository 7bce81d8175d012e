"""For how large a norm are labels right? The statement of the ridge confidence, counted where it can fail.

RBF of length 0.15 on 60 points, noise 0.5, delta = 0.1, functions of a known norm. Each campaign is given the true
norm, or half of it, or a tenth. After every batch each label comes with the largest norm for which it is right: the
statement fails if a label is wrong although the true norm is not larger than that. A norm that is too small is
contradicted in many runs, and then nothing is stated.

    python -m experiments.norms          # five minutes on one core
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table
from scipy.stats import binomtest

import superlevel as sl
from superlevel.errors import AssumptionWarning
from superlevel.records import Stop
from superlevel.reproduce.worlds import Bumps

RUNS, SEED, BUDGET, DELTA = 500, 1000, 30_000, 0.1
WORLD = Bumps(points=60, length=0.15, noise=0.5)


class Found(NamedTuple):
    """What a campaign showed."""

    failed: bool
    """Whether a label was ever wrong although the true norm is within its statement."""
    wrong: bool
    """Whether a label was ever wrong."""
    stop: str
    least: float
    """The least of the largest norms in the end, over the true one; NaN unless all is decided."""
    middle: float
    """The median of them."""


def campaign(seed: int, part: float) -> Found:
    """With a part of the true norm as the norm."""
    warnings.simplefilter("ignore", AssumptionWarning)
    world = WORLD(seed)
    true = world.problem.norm or 0.0
    method = sl.methods.make("melk", replace(world.problem, norm=part * true), confidence="ridge")
    state, rng = method.init(seed=seed), np.random.default_rng([seed, 1])
    failed = wrong = False
    norms = np.full(len(world.values), np.nan)
    while state.stop is None and state.samples < BUDGET:
        plan = method.ask(state)
        state, _ = method.tell(state, plan, world.oracle.measure(plan.indices, rng))
        if state.stop is Stop.CONTRADICTED:
            break
        found = state.belief.norms(method.goal, state.labels)
        assert found is not None
        norms, off = found, state.labels == -world.signs
        wrong |= bool(off.any())
        failed |= bool((off & (norms >= true)).any())
    least, middle = (norms.min() / true, np.median(norms) / true) if state.stop is Stop.DECIDED else (np.nan, np.nan)
    return Found(failed, wrong, "the budget" if state.stop is None else state.stop.name, float(least), float(middle))


def main() -> None:
    table = Table(
        *("given", "runs", "statement failed", "95 % interval", "a label wrong", "contradicted", "all decided"),
        *("least over true norm", "median over true norm", "median at least twice"),
        title=f"The largest norm, looked at after every batch, delta = {DELTA}",
    )
    for part in (1.0, 0.5, 0.1):
        runs = Parallel(n_jobs=-1)(delayed(campaign)(seed, part) for seed in range(SEED, SEED + RUNS))
        failed = sum(run.failed for run in runs)
        interval = binomtest(failed, RUNS).proportion_ci(0.95, method="exact")
        decided = [run for run in runs if np.isfinite(run.least)]
        least, middle = (np.array([getattr(run, name) for run in decided]) for name in ("least", "middle"))
        table.add_row(
            *(f"{part:g} of the norm", f"{RUNS}", f"{failed}", f"{interval.low:.3f} to {interval.high:.3f}"),
            f"{sum(run.wrong for run in runs)}",
            f"{sum(run.stop == Stop.CONTRADICTED.name for run in runs)}",
            f"{len(least)}",
            *(
                (f"{np.median(least):.2f}", f"{np.median(middle):.2f}", f"{(middle >= 2).mean():.0%}")
                if decided
                else ()
            ),
        )
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
