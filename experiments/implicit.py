"""Within a fraction of the unknown maximum: a cosine on 200 points, epsilon = 0.2, every method for that goal.

f = 2 + cos(8 pi x) has its maximum 3 five times over, the ends included; the set is where f > 2.4. RBF of length 0.1,
noise 0.2, batches of 10, 25 seeds: F1 of the declared set.

    python -m experiments.implicit          # two minutes on two cores
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import superlevel as sl
from experiments.common import entry, run
from superlevel.reproduce.settings import Figure, Setting
from superlevel.reproduce.worlds import World

COLUMNS = (50, 100, 200, 400, 800)
BATCH = 10

ENTRIES = (
    entry("MILK", "milk", batch=BATCH, rule="worst"),
    entry("MILK, average", "milk", batch=BATCH, rule="average"),
    entry("MILK, greedy", "milk", batch=BATCH, rule="greedy"),
    entry("TruVar", "truvar", batch=BATCH),
    entry("LSE-imp", "lse-imp", batch=BATCH),
    entry("uniform", "uniform", batch=BATCH),
    entry("max. variance", "max-variance", batch=BATCH),
)


@dataclass(frozen=True, kw_only=True)
class Raised:
    """2 + cos(8 pi x)"""

    points: int
    length: float
    noise: float
    epsilon: float

    def __call__(self, seed: int) -> World:  # noqa: ARG002  only the measurements are random
        places = np.linspace(0, 1, self.points)
        domain = sl.Domain(places, kernel=ConstantKernel(1.0) * RBF(self.length))
        problem = sl.Problem(domain, goal=sl.FractionOfMax(self.epsilon), noise=self.noise, mean=2.0)
        return World(problem=problem, values=2 + np.cos(8 * np.pi * places))


def main() -> None:
    world = Raised(points=200, length=0.1, noise=0.2, epsilon=0.2)
    setting = Setting(name="within 20 % of the maximum", world=world, samples=tuple(range(10, 801, 10)))
    title = "2 + cos(8πx), within 20 % of an unknown maximum"
    run(Figure(name="implicit", title=title, settings=[setting], entries=ENTRIES), COLUMNS, reps=25)


if __name__ == "__main__":
    main()
