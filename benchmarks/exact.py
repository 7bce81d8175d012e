"""A large domain's posterior against the exact one, where both can be computed.

    python benchmarks/exact.py

20,164 cells with measurements of a function drawn from the kernel, four out of five of them near the level. Each block
is conditioned on k of 800: as many as a block takes on a domain of eight million cells, of a million, and of 400,000.
Then on as many of 3,000 as it takes on a domain of this size. The exact posterior is that in which every block is
conditioned on all.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from sklearn.gaussian_process.kernels import Matern

from superlevel import blocks
from superlevel.arrays import Array
from superlevel.domain import Domain
from superlevel.posterior import begin

SIDE, NOISE, BETA = 142, 0.1, 3.0
KERNELS = ((1.5, 0.1), (1.5, 0.3), (2.5, 0.1), (0.5, 0.1))
CASES = ((800, 64), (800, 185), (800, 300), (3000, blocks.neighbours(SIDE**2)))
WAVES = 300


def main() -> None:
    """Print a line for each kernel and each k."""
    print(f"{SIDE**2:,} cells, labels at {BETA:g} deviations")
    for (nu, length), (measured, k) in product(KERNELS, CASES):
        found = compared(nu, length, measured, k)
        print(f"Matern nu = {nu:g}, length {length:g}, {k:,} of {measured:,}: {found}", flush=True)


def compared(nu: float, length: float, measured: int, k: int) -> str:
    """How far the posterior from k neighbours is from the exact one."""
    axis, rng = np.linspace(0, 1, SIDE), np.random.default_rng(0)
    places = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    f = drawn(places, nu, length, rng)
    level = float(np.quantile(f, 0.7))
    near = np.argsort(np.abs(f - level))[: len(f) // 10]
    many = measured * 4 // 5
    points = np.concatenate([rng.choice(near, many), rng.integers(0, len(f), measured - many)])
    values = f[points] + NOISE * rng.standard_normal(measured)
    moments = []
    for neighbours in (measured, k):
        blocks.FEWEST, blocks.WORK = neighbours, 0
        found = begin(Domain(places, kernel=Matern(length, nu=nu)), noise=NOISE).told(points, values)
        moments.append((found.mean, found.deviation))
    (exact, narrow), (mean, wide) = moments
    same = labels(exact, narrow, level) == labels(mean, wide, level)
    ratios, off = wide / narrow, np.abs(mean - exact) / narrow
    return (
        f"labels equal {same.mean():.3%}, deviations {ratios.min():.4f} to {ratios.max():.3f} times, "
        f"means off by at most {off.max():.2f} deviations"
    )


def drawn(places: Array, nu: float, length: float, rng: np.random.Generator) -> Array:
    """A function drawn from the kernel, by waves of its spectrum: Student's t with 2 nu degrees of freedom."""
    scale = np.sqrt(rng.chisquare(2 * nu, size=(WAVES, 1)) / (2 * nu))
    waves = rng.standard_normal((WAVES, 2)) / (scale * length)
    phases = rng.uniform(0, 2 * np.pi, WAVES)
    return np.asarray(np.sqrt(2 / WAVES) * np.cos(places @ waves.T + phases).sum(axis=1))


def labels(mean: Array, deviation: Array, level: float) -> Array:
    """1 above, -1 below, 0 undecided."""
    return np.sign(mean - level) * (np.abs(mean - level) > BETA * deviation)


if __name__ == "__main__":
    main()
