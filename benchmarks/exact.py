"""A large domain's posterior against the exact one, where both can be computed.

    python benchmarks/exact.py

20,164 cells with 800 measurements of a function drawn from the kernel, four out of five of them near the level. Each
block is conditioned on k of them: as many as a block has at most on a domain of eight million cells, of a million, and
of 400,000. The exact posterior is that in which every block is conditioned on all.
"""

from __future__ import annotations

import numpy as np
from sklearn.gaussian_process.kernels import Matern

from superlevel import blocks
from superlevel.arrays import Array
from superlevel.domain import Domain
from superlevel.posterior import begin

SIDE, MEASURED, NOISE, BETA = 142, 800, 0.1, 3.0
KERNELS = ((1.5, 0.1), (1.5, 0.3), (2.5, 0.1), (0.5, 0.1))
NEIGHBOURS = (64, 185, 300)
WAVES = 300


def main() -> None:
    """Print a line for each kernel and each k."""
    print(f"{SIDE**2:,} cells, {MEASURED} measurements, labels at {BETA:g} deviations")
    for nu, length in KERNELS:
        for k in NEIGHBOURS:
            print(f"Matern nu = {nu:g}, length {length:g}, k = {k:3}: {compared(nu, length, k)}", flush=True)


def compared(nu: float, length: float, k: int) -> str:
    """How far the posterior from k neighbours is from the exact one."""
    axis, rng = np.linspace(0, 1, SIDE), np.random.default_rng(0)
    places = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    f = drawn(places, nu, length, rng)
    level = float(np.quantile(f, 0.7))
    near = np.argsort(np.abs(f - level))[: len(f) // 10]
    many = MEASURED * 4 // 5
    points = np.concatenate([rng.choice(near, many), rng.integers(0, len(f), MEASURED - many)])
    values = f[points] + NOISE * rng.standard_normal(MEASURED)
    moments = []
    for neighbours in (MEASURED, k):
        blocks.FEWEST, blocks.WORK = neighbours, 0
        found = begin(Domain(places, kernel=Matern(length, nu=nu)), noise=NOISE).told(points, values)
        moments.append((found.mean, found.deviation))
    (exact, narrow), (mean, wide) = moments
    same = labels(exact, narrow, level) == labels(mean, wide, level)
    ratios, off = wide / narrow, np.abs(mean - exact) / narrow
    return (
        f"labels equal {same.mean():.3%}, deviations {ratios.min():.6f} to {ratios.max():.4f} times, "
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
