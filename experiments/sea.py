"""Real and rough: the sea floor off British Columbia, cells at least 20 m deep, from noisy soundings.

4,841 sea cells of a grid of real depths (matplotlib's sample data), on the square root of depth, which makes
shallow and deep water comparable: Matern 3/2 of length 0.1 (the grid is 1 by 1) and deviation 5, noise 0.3, batches of
10, five seeds. Counted are the cells whose likelier side is wrong.

    python -m experiments.sea               # some ten minutes on two cores; killed, it goes on where it was
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

import superlevel as sl
from experiments.common import entry, run
from experiments.strait import load
from superlevel.arrays import Array
from superlevel.reproduce.settings import Figure, Score, Setting, Values
from superlevel.reproduce.trials import Simulated, at
from superlevel.reproduce.worlds import World
from superlevel.rules.covariances import AverageCase
from superlevel.rules.design import WorstCase

COLUMNS = (100, 200, 400, 600)
BATCH = 10


@dataclass(frozen=True, kw_only=True)
class Mislabelled(Simulated):
    """Counts the cells whose likelier side is wrong, instead of those that are declared."""

    def __call__(self, setting: Setting, seed: int) -> Values:
        world = setting.world(seed)
        method = self.make(world.problem)
        run = sl.simulate(method, world.oracle, max_samples=setting.samples[-1], seed=seed)
        guesses = at(run, setting.samples, lambda step: step.guess)
        return {"mislabelled": [int(((guess == 1) != world.truth).sum()) for guess in guesses]}


ENTRIES = (
    entry("MELK, greedy", "melk", trial=Mislabelled, batch=BATCH, rule="greedy"),
    entry("MELK, average", "melk", trial=Mislabelled, batch=BATCH, rule=AverageCase(rtol=0.1)),
    entry("MELK", "melk", trial=Mislabelled, batch=BATCH, rule=WorstCase(rtol=0.1)),
    entry("Straddle", "straddle", trial=Mislabelled, batch=BATCH),
    entry("LSE", "lse", trial=Mislabelled, batch=BATCH),
    entry("LSE, plain intervals", "lse", trial=Mislabelled, batch=BATCH, confidence=sl.Posterior()),
    entry("TruVar", "truvar", trial=Mislabelled, batch=BATCH),
    entry("RMILE", "rmile", trial=Mislabelled, batch=BATCH),
    entry("uniform", "uniform", trial=Mislabelled, batch=BATCH),
    entry("max. variance", "max-variance", trial=Mislabelled, batch=BATCH),
)


@dataclass(frozen=True, kw_only=True)
class SeaFloor:
    """Where is it at least that deep?"""

    depth: float
    noise: float

    def __call__(self, seed: int) -> World:  # noqa: ARG002  there is one sea floor
        places, values = sea_cells()
        kernel = ConstantKernel(25.0, "fixed") * Matern(0.1, "fixed", nu=1.5)
        domain = sl.Domain(places, kernel=kernel, names=["east", "north"])
        # A depth of exactly 20 m counts as deep: the level is just below it.
        goal = sl.Threshold(np.sqrt(self.depth) * (1 - 1e-9))
        return World(problem=sl.Problem(domain, goal=goal, noise=self.noise), values=values)


def sea_cells() -> tuple[Array, Array]:
    """Places (n, 2) of the sea cells in the unit square, and the square root of depth (n,) there."""
    sea = load()
    across, up = np.meshgrid(*(np.linspace(0, 1, size) for size in sea.depth.shape[::-1]))
    return np.stack([across[sea.wet], up[sea.wet]], axis=1), sea.roots


def main() -> None:
    setting = Setting(name="at least 20 m", world=SeaFloor(depth=20.0, noise=0.3), samples=tuple(range(50, 601, 50)))
    figure = Figure(
        name="sea",
        title="A sea floor of 4,841 cells, batches of 10",
        settings=[setting],
        entries=ENTRIES,
        score=Score(field="mislabelled", label="mislabelled cells"),
    )
    run(figure, COLUMNS, reps=5)


if __name__ == "__main__":
    main()
