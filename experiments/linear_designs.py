"""How good Frank-Wolfe's designs are on the paper's linear benchmark, and what they cost.

The appendix gives MELK and MILK a step size of 0.5 and 2,000 iterations (`superlevel.reproduce.solvers`). MELK and MILK
run with the schedule "experiments" and certified designs. In every round both kinds of Frank-Wolfe solve the same
problem, and their values are divided by the certified lower bound on the best one.

    python -m experiments.linear_designs     # two minutes on one core
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from superlevel import methods
from superlevel.arrays import Array
from superlevel.confidence.rips import Rips
from superlevel.reproduce import linear
from superlevel.reproduce.settings import Figure
from superlevel.reproduce.solvers import DecreasingSteps, EqualSteps
from superlevel.rules.design import OptimalDesign
from superlevel.worker_setup import quiet

KINDS = {"falling steps": DecreasingSteps(), "equal steps": EqualSteps()}
BEST = OptimalDesign(rtol=1e-3)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One run."""

    samples: int
    ratios: Array
    """(rounds, kinds) Frank-Wolfe's value over the certified lower bound."""


def measured(figure: Figure, name: str, seed: int) -> Measured:
    """A run with certified designs, and Frank-Wolfe's value in each of its rounds."""
    world = figure.settings[0].world(seed)
    method = methods.make(name, world.problem, confidence=Rips(schedule="experiments"), rule=BEST)
    state, ratios = method.init(seed=seed), []
    while state.stop is None:
        view, plan = method.view(state, phase=state.phase), method.ask(state)
        assert plan.certificate is not None
        ratios.append([kind.solved(view).value / plan.certificate.lower_bound for kind in KINDS.values()])
        values = world.oracle.measure(plan.indices, np.random.default_rng([seed, plan.phase]))
        state, _ = method.tell(state, plan, values)
    return Measured(samples=state.samples, ratios=np.array(ratios))


def table(name: str, runs: list[Measured]) -> Table:
    """A line for each round, with the mean and the largest ratio over the runs that have it."""
    mean = np.mean([run.samples for run in runs])
    columns = [column for kind in KINDS for column in (f"{kind}, mean", "largest")]
    shown = Table("round", "runs", *columns, title=f"{name}: {mean:,.0f} measurements with certified designs")
    for t in range(max(len(run.ratios) for run in runs)):
        ratios = np.array([run.ratios[t] for run in runs if len(run.ratios) > t])
        cells = [f"{cell:.3f}" for pair in zip(ratios.mean(axis=0), ratios.max(axis=0), strict=True) for cell in pair]
        shown.add_row(str(t + 1), str(len(ratios)), *cells)
    return shown


def main(reps: int = 25) -> None:
    for name, figure in (("melk", linear.explicit(quick=False)), ("milk", linear.implicit(quick=False))):
        with quiet():
            runs = [measured(figure, name, seed) for seed in range(reps)]
        Console().print(table(name.upper(), runs))


if __name__ == "__main__":
    main()
