"""Does the bound of an audit hold, and how large is it? Many audits of maps whose wrong labels are known.

Maps of 5,000 points, of which 0.5 % (good) or 15 % (bad) have a wrong label. Four in five wrong labels are in the
doubtful fifth of the map. The cases are the sharpest ones: a wrong label is wrong by hardly more than the tolerance, so
its measurement contradicts it with probability kappa exactly, and right labels are never contradicted.

    Gaussian     N(0, 1), of which the audit knows that the median is zero; tolerance 0, kappa = 1/2
    skewed       exponential minus its median, known in the same way; the mean is 0.31
    known sigma  N(0, 1), known as such; tolerance 2, margin 1, kappa = 0.84

The table has the share of audits whose bound is below the true share after 60, 200 and 600 draws, and at any of the
first 3,000 draws: that many fail if somebody stops when the bound is smallest. It also has the mean bound after 60, 200
and 600 draws.

    python -m experiments.audit [--runs 2000]     # a minute and a half on one core
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import binomtest

from superlevel import audits
from superlevel.arrays import Array, Indices, Mask
from superlevel.audits.betting import LOG_WEIGHTS, SHARES

POINTS, LEVEL, DELTA = 5000, 10.0, 0.05
SIZES = (60, 200, 600)
HORIZON = 3000  # draws in which somebody may stop; the bound of a good map cannot fail before about 800
MAPS = {"good": 0.005, "bad": 0.15}
DOUBTFUL, CAUGHT = 0.2, 0.8  # the doubtful part of the map has this share of the wrong labels
FAR, TINY = 50.0, 1e-9  # how far right labels are from the level, and wrong ones beyond the tolerance
SHOWN = 500  # audits over which bounds are averaged


@dataclass(frozen=True, kw_only=True)
class Law:
    """Noise, and what an audit is told of it."""

    draw: Callable[[np.random.Generator, tuple[int, int]], Array]
    told: audits.Noise
    tolerance: float


LAWS = {
    "Gaussian": Law(draw=lambda rng, shape: rng.normal(size=shape), told=audits.MedianZero(), tolerance=0.0),
    "skewed": Law(
        draw=lambda rng, shape: rng.exponential(size=shape) - np.log(2.0), told=audits.MedianZero(), tolerance=0.0
    ),
    "known sigma": Law(draw=lambda rng, shape: rng.normal(size=shape), told=audits.Gaussian(1.0), tolerance=2.0),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """A map with its truth."""

    audit: audits.Audit
    values: Array
    """(n,) f at every point."""
    wrong: Mask
    """(n,) the wrong labels."""

    @property
    def share(self) -> float:
        """Share of wrong labels."""
        return float(self.wrong.mean())


@dataclass(frozen=True, kw_only=True)
class Row:
    """What many audits of one world gave."""

    share: float
    failed: tuple[float, ...]
    """Share of audits whose bound fails after each of SIZES."""
    ever: int
    """Audits whose bound fails at any time."""
    bounds: tuple[float, ...]
    """Mean bound after each of SIZES."""


def world(share: float, law: Law, *, doubted: bool, rng: np.random.Generator) -> World:
    """A map with a share of wrong labels; the chances follow the doubt, or are uniform."""
    doubtful = np.arange(POINTS) < DOUBTFUL * POINTS
    rates = np.where(doubtful, share * CAUGHT / DOUBTFUL, share * (1 - CAUGHT) / (1 - DOUBTFUL))
    wrong = np.zeros(POINTS, dtype=np.bool_)
    for part in (doubtful, ~doubtful):
        places = np.flatnonzero(part)
        wrong[rng.choice(places, size=round(float(rates[places].sum())), replace=False)] = True
    labels = rng.choice([-1, 1], size=POINTS).astype(np.int8)
    beyond = np.where(wrong, law.tolerance + TINY, -FAR)  # on the other side of the level
    chances = audits.chances(rates if doubted else np.zeros(POINTS))
    audit = audits.Audit(
        labels=labels, chances=chances, level=LEVEL, tolerance=law.tolerance, delta=DELTA, noise=law.told
    )
    return World(audit=audit, values=np.asarray(LEVEL - labels * beyond, dtype=np.float64), wrong=wrong)


def capitals(values: Array, mean: float, top: float) -> Array:
    """(runs, N) the logarithm of the capital against the mean after every draw, for values (runs, N)."""
    found = np.empty(values.shape)
    with np.errstate(divide="ignore"):
        for run, ratios in enumerate((top - values) / (top - mean)):  # one run fits into the cache
            paths = np.log(1.0 - SHARES[:, None] + SHARES[:, None] * ratios).cumsum(axis=1)
            paths += LOG_WEIGHTS[:, None]
            largest = paths.max(axis=0)
            found[run] = largest + np.log(np.exp(paths - largest).sum(axis=0))
    return found


def simulate(setting: World, law: Law, runs: int, rng: np.random.Generator) -> Row:
    """Audits of one world. A bound is below the share s if the capital against kappa s reaches 1 / delta."""
    audit = setting.audit
    points: Indices = audits.draw(audit.chances, runs * HORIZON, rng).reshape(runs, HORIZON)
    values = setting.values[points] + law.draw(rng, points.shape)
    seen = audit.weights[points] * audit.contradicted(points, values)
    failing = capitals(seen, audit.kappa * setting.share, audit.spread) >= -np.log(DELTA)
    bounds = [
        np.mean([audit.judge(points[run, :size], values[run, :size]).bound for run in range(min(runs, SHOWN))])
        for size in SIZES
    ]
    return Row(
        share=setting.share,
        failed=tuple(float(failing[:, size - 1].mean()) for size in SIZES),
        ever=int(failing.any(axis=1).sum()),
        bounds=tuple(float(bound) for bound in bounds),
    )


def main(arguments: list[str] | None = None) -> None:
    """Simulate the audits and print the table."""
    parser = argparse.ArgumentParser(description="Coverage and size of the bounds of audits.")
    parser.add_argument("--runs", type=int, default=2000, help="audits for each row (default: 2000)")
    runs = parser.parse_args(arguments).runs
    table = Table(title=f"{runs:,} audits of each map, delta = {DELTA:g}: how often a bound fails, and the mean bound")
    for name in ("map", "noise", "chances"):
        table.add_column(name)
    for name in (*(f"fails, {size}" for size in SIZES), "ever", *(f"bound, {size}" for size in SIZES), "within delta"):
        table.add_column(name, justify="right")
    plans = list(product(MAPS.items(), LAWS.items(), (False, True)))
    for at, ((kind, share), (noise, law), doubted) in enumerate(track(plans, console=Console(stderr=True))):
        rng = np.random.default_rng([7, at])
        row = simulate(world(share, law, doubted=doubted, rng=rng), law, runs, rng)
        against = binomtest(row.ever, runs, DELTA, alternative="greater").pvalue
        table.add_row(
            f"{kind}, {100 * row.share:.3g} %",
            noise,
            "by doubt" if doubted else "uniform",
            *(f"{100 * failed:.2f} %" for failed in row.failed),
            f"{100 * row.ever / runs:.2f} %",
            *(f"{100 * bound:.2f} %" for bound in row.bounds),
            "yes" if against > 1e-3 else "NO",
        )
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
