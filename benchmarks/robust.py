"""Catoni's mean of many directions at once: ours, the same without compression, and plain numpy. Prints ratios.

usage: python benchmarks/robust.py [--samples 10000000] [--repeat 3]

Times are the shortest of --repeat runs of ours, checks included, and of one run of the others. Those look at every
sample for every direction, so they are timed on few directions and multiplied: the table says how many. The plain one
is Newton's method on one direction after the other, with whole arrays. Memory is the peak of a process that does
nothing but draw the samples and estimate.
"""

from __future__ import annotations

import argparse
import re
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits
from timing import timed

from superlevel import robust
from superlevel.arrays import Array

DELTA = 0.01
GROUPS = 50
STREAMED, PLAIN = 8, 3  # directions that the slow ways are timed on
console = Console(width=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=10**7)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        peak = pool.submit(peak_memory, given.samples, 100).result()
    console.print(f"{given.samples:,} samples x 100 directions: peak memory of the process {peak:.0f} MB")
    table = Table(
        "samples",
        "directions",
        "law",
        "kept",
        "ours (s)",
        f"all samples, tiled, {STREAMED} directions: ratio",
        f"plain numpy, {PLAIN} directions: ratio",
        "largest move, in deviations",
        title=f"Catoni's mean at delta = {DELTA:g}, {GROUPS} points",
    )
    with threadpool_limits(1):
        for count, directions, law in (
            (given.samples, 100, "student"),
            (given.samples, 100, "gauss"),
            (given.samples // 100, 10_000, "student"),
            (given.samples // 100, 10_000, "gauss"),
        ):
            table.add_row(f"{count:,}", f"{directions:,}", law, *compare(count, directions, law, given.repeat))
    console.print(table)


def compare(count: int, directions: int, law: str, repeat: int) -> list[str]:
    products, variance = draw(count, directions, law)
    ours, seconds = timed(partial(robust.catoni, products, variance=variance, delta=DELTA), repeat)
    few = robust.Products(factors=products.factors[:, :STREAMED], sample=products.sample)
    exact, streamed = timed(partial(robust.catoni, few, variance=variance[:STREAMED], delta=DELTA, exact=True), 1)
    alone, slow = timed(partial(plain, products, variance, PLAIN), 1)
    deviations = robust.catoni_deviation(count, variance=variance, delta=DELTA)
    moved = np.abs(ours[:STREAMED] - exact) / deviations[:STREAMED]
    differs = np.abs(ours[:PLAIN] - alone) / deviations[:PLAIN]
    reach = robust.catoni_reach(products.factors, count=count, variance=variance, delta=DELTA)
    kept = products.sample.compressed(reach, delta=DELTA)
    return [
        f"{len(kept.values):,}",
        f"{seconds:.2f}",
        f"{streamed / STREAMED * directions / seconds:.0f}",
        f"{slow / PLAIN * directions / seconds:.0f}",
        f"{max(moved.max(), differs.max()):.0e}",
    ]


def plain(products: robust.Products, variance: Array, directions: int) -> Array:
    """Catoni's mean as one would write it down."""
    values, groups = products.sample.values, products.sample.groups
    found = np.empty(directions)
    for v in range(directions):
        alpha = robust.catoni_scale(len(values), variance=float(variance[v]), delta=DELTA)
        deviation = robust.catoni_deviation(len(values), variance=float(variance[v]), delta=DELTA)
        z = products.factors[groups, v] * values
        mean, step = z.mean(), np.inf
        while abs(step) > 1e-6 * deviation:
            u = alpha * (z - mean)
            size = np.abs(u)
            psi = np.sign(u) * np.log(1 + size + u**2 / 2)
            slope = (1 + size) / (1 + size + u**2 / 2)
            step = psi.sum() / (alpha * slope.sum())
            mean += step
        found[v] = mean
    return found


def draw(count: int, directions: int, law: str) -> tuple[robust.Products, Array]:
    """Samples at random points, and the directions' variances."""
    rng = np.random.default_rng(0)
    values = rng.standard_t(2.5, count) if law == "student" else rng.standard_normal(count) * np.sqrt(5)
    values += 1
    factors = rng.standard_normal((GROUPS, directions))
    sample = robust.Grouped(values=values, groups=rng.integers(0, GROUPS, count))
    return robust.Products(factors=factors, sample=sample), 6 * np.square(factors).mean(axis=0)


def peak_memory(count: int, directions: int) -> float:
    """In MB, of this process."""
    products, variance = draw(count, directions, "student")
    robust.catoni(products, variance=variance, delta=DELTA)
    # Linux carries ru_maxrss over from the parent; the high-water mark of the address space starts afresh.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024


if __name__ == "__main__":
    main()
