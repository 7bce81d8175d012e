"""Designs side by side: our solver, the paper's Frank-Wolfe, cvxpy with Clarabel. Prints ratios from one run.

usage: python benchmarks/design.py [--threads 2] [--repeat 5] [--skip-large]

Times are the shortest of --repeat runs (of half as many for Frank-Wolfe, of one for cvxpy), all with the same number of
BLAS threads. Ours include the embedding of the kernel; the Frank-Wolfe of the paper is given its features for nothing.
"""

from __future__ import annotations

import argparse
import re
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import cbook
from rich.console import Console
from rich.table import Table
from sklearn.gaussian_process.kernels import RBF
from threadpoolctl import threadpool_limits
from timing import timed

from superlevel import design, features
from superlevel.arrays import Array, Mask

RIDGES = (0.1, 0.01, 0.001, 1e-5)
RTOL = 0.01
console = Console(width=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--skip-large", action="store_true", help="leave out the 10,920 points and the pairs")
    given = parser.parse_args()
    with threadpool_limits(given.threads):
        against_frank_wolfe(given.repeat)
        accuracy()
        against_cvxpy(given.repeat)
        warm_starts()
        if not given.skip_large:
            pairs()
            large()


def against_frank_wolfe(repeat: int) -> None:
    kernel, points = RBF(0.1), grid(30)
    near = near_level(kernel, points)
    table = Table(
        "targets",
        "ridge",
        "rank",
        "ours (ms)",
        "gap",
        "Frank-Wolfe, 500 steps (ms)",
        "above optimum",
        "ratio",
        title=f"RBF(0.1) on a 30 x 30 grid, ours to a certificate of {RTOL:.0%} for the kernel itself",
    )
    ratios: dict[str, list[float]] = {"all 900": [], f"{near.sum()} near a level": []}
    for (name, found), mask in zip(ratios.items(), (None, near), strict=True):
        for ridge in RIDGES:
            targets = design.Subset(mask)
            best, seconds = timed(partial(ours, kernel, points, targets, ridge), repeat)
            embedded = features.embed(kernel, points, tol=features.tolerance(ridge, RTOL))
            optimum = design.solve(embedded.array, targets, ridge=ridge, rtol=1e-5)
            paper = partial(design.solve, embedded.array, targets, ridge=ridge, method=design.FrankWolfe())
            wolfe, slow = timed(paper, max(1, repeat // 2))
            found.append(slow / seconds)
            table.add_row(
                name,
                f"{ridge:g}",
                f"{embedded.rank}",
                f"{1e3 * seconds:.0f}",
                f"{best.gap:.2%}",
                f"{1e3 * slow:.0f}",
                f"{wolfe.value / optimum.value - 1:.1%}",
                f"{slow / seconds:.1f}",
            )
    console.print(table)
    for name, found in ratios.items():
        console.print(f"  {name}: geometric mean {geometric(found):.1f}, least {min(found):.1f}")
    both = [ratio for found in ratios.values() for ratio in found]
    console.print(f"  all rows: geometric mean {geometric(both):.1f}, least {min(both):.1f}")


def ours(kernel: Any, points: Array, targets: design.Subset, ridge: float) -> design.Design:
    embedded = features.embed(kernel, points, tol=features.tolerance(ridge, RTOL))
    return design.solve(embedded, targets, ridge=ridge, rtol=RTOL)


def accuracy() -> None:
    kernel, points = RBF(0.1), grid(30)
    table = Table("ridge", "rtol", "value", "gap", "iterations", "status", title="The same grid, for the kernel itself")
    for ridge in RIDGES:
        for rtol in (1e-2, 1e-4):
            embedded = features.embed(kernel, points, tol=features.tolerance(ridge, rtol))
            found = design.solve(embedded, ridge=ridge, rtol=rtol)
            table.add_row(
                f"{ridge:g}", f"{rtol:g}", f"{found.value:.5g}", f"{found.gap:.4%}", f"{found.iterations}", found.status
            )
    console.print(table)


def against_cvxpy(repeat: int) -> None:
    import cvxpy  # noqa: PLC0415  slow to import

    table = Table("instance", "ours at 1 % (ms)", "at 1e-6 (ms)", "cvxpy (ms)", "ratio at 1 %", "at 1e-6", "agree to")
    for count, rank, wanted in ((60, 10, 40), (100, 20, 100)):
        rng = np.random.default_rng(count)
        arms, targets = rng.normal(size=(count, rank)), rng.normal(size=(wanted, rank))
        times = []
        for rtol in (1e-2, 1e-6):
            found, seconds = timed(partial(design.solve, arms, targets, ridge=0.01, rtol=rtol), repeat)
            times.append(seconds)
        value, slow = timed(partial(with_cvxpy, cvxpy, arms, targets, 0.01), 1)
        table.add_row(
            f"{count} arms in R^{rank}, {wanted} targets",
            *(f"{1e3 * t:.1f}" for t in times),
            f"{1e3 * slow:.0f}",
            *(f"{slow / t:.0f}" for t in times),
            f"{abs(found.value / value - 1):.0e}",
        )
    console.print(table)


def with_cvxpy(cvxpy: Any, arms: Array, targets: Array, ridge: float) -> float:
    """minimise t subject to v' A^-1 v <= t, by Clarabel."""
    weights, level = cvxpy.Variable(len(arms), nonneg=True), cvxpy.Variable()
    information = arms.T @ cvxpy.diag(weights) @ arms + ridge * np.eye(arms.shape[1])
    limits = [cvxpy.matrix_frac(v, information) <= level for v in targets]
    problem = cvxpy.Problem(cvxpy.Minimize(level), [cvxpy.sum(weights) == 1, *limits])
    return float(problem.solve(solver="CLARABEL"))


def warm_starts() -> None:
    kernel, points = RBF(0.1), grid(30)
    rng = np.random.default_rng(0)
    function = draw(kernel, points)
    halves = {
        "one side": points[:, 0] < 0.5,
        "random": rng.permutation(len(points)) < len(points) // 2,
        "near a level": np.abs(function) < np.median(np.abs(function)),
        "above a level": function > np.median(function),
    }
    table = Table("half kept", *(f"ridge {r:g}: cold, warm" for r in RIDGES), title="Iterations after half is dropped")
    for name, mask in halves.items():
        cells = []
        for ridge in RIDGES:
            arms = features.embed(kernel, points, tol=features.tolerance(ridge, RTOL)).array
            start = design.solve(arms, ridge=ridge, rtol=RTOL)
            cold = design.solve(arms, design.Subset(mask), ridge=ridge, rtol=RTOL)
            warm = design.solve(arms, design.Subset(mask), ridge=ridge, rtol=RTOL, start=start)
            cells.append(f"{cold.iterations}, {warm.iterations}")
        table.add_row(name, *cells)
    console.print(table)


def pairs() -> None:
    """In a process of its own, so that its peak memory is its own."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        console.print(pool.submit(_pairs).result())


def _pairs() -> str:
    embedded = features.embed(RBF(0.15), grid(20), tol=features.tolerance(0.01, 0.02))
    found, seconds = timed(partial(design.solve, embedded, design.Pairs(0.2), ridge=0.01, rtol=0.02), 1)
    # Linux carries ru_maxrss over from the parent; the high-water mark of the address space starts afresh.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024
    return (
        f"160,000 pairs, 20 x 20 grid, RBF(0.15), epsilon 0.2, ridge 0.01: {found}, "
        f"{found.evaluations} full evaluations, {seconds:.2f} s, peak memory of the process {peak:.0f} MB"
    )


def large() -> None:
    survey: Any = cbook.get_sample_data("topobathy.npz")
    points = np.stack(np.meshgrid(survey["longitude"], survey["latitude"]), axis=-1).reshape(-1, 2)
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0).max()
    embedded, seconds = timed(partial(features.embed, RBF(0.05), points, tol=1e-3), 1)
    console.print(f"{len(points):,} points, RBF(0.05), tol 1e-3: rank {embedded.rank}, {seconds:.2f} s")
    for name, arms in (("the features", embedded.array), ("the kernel itself", embedded)):
        found, seconds = timed(partial(design.solve, arms, ridge=0.01, rtol=0.05), 1)
        console.print(f"  for {name}: {found}, {found.evaluations} full evaluations, {seconds:.2f} s")


def grid(side: int) -> Array:
    ticks = np.arange(side) / side
    return np.stack(np.meshgrid(ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 2)


def draw(kernel: Any, points: Array) -> Array:
    """A random function of the kernel's space."""
    embedded = features.embed(kernel, points, tol=1e-6)
    return np.asarray(embedded.array @ np.random.default_rng(0).normal(size=embedded.rank))


def near_level(kernel: Any, points: Array) -> Mask:
    """The fifth of the points where a random function is nearest to 0."""
    function = np.abs(draw(kernel, points))
    return np.asarray(function <= np.quantile(function, 0.2))


def geometric(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


if __name__ == "__main__":
    main()
