"""A certified design for a million points, all of them targets: passes, minutes and memory.

    python benchmarks/certified.py                # 1000 x 1000 points
    python benchmarks/certified.py --side 300     # a smaller grid

RBF(0.05) on a grid of the unit square, features that miss at most 1e-3, ridge 0.01, 5 %. The features are computed in
blocks when they are needed. At the end they are computed anew, and `review` recomputes value and bound from them, from
the weights and from the dual; then again with features that miss a tenth of that. Last, a small grid is solved in
blocks, and value and bound of its design are computed both in blocks and from the whole array of features.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from superlevel import design, features
from superlevel.arrays import Array
from superlevel.errors import CostWarning
from superlevel.features import Features
from superlevel.streamed import Streamed

KERNEL, TOL, RIDGE, RTOL = RBF(0.05), 1e-3, 0.01, 0.05
R = TypeVar("R")


def main() -> None:
    """Print what every step takes and finds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=1000, help="points along a side of the grid")
    parser.add_argument("--small", type=int, default=100, help="the same for the comparison with whole arrays")
    given = parser.parse_args()
    warnings.simplefilter("ignore", CostWarning)
    large(given.side)
    compared(given.small)


def large(side: int) -> None:
    """A certified design, and its certificate recomputed."""
    points = grid(side)
    print(f"{len(points):,} points, all of them arms and targets; RBF(0.05), tol {TOL:g}, ridge {RIDGE:g}, {RTOL:.0%}")
    arms = step("features", partial(streamed, points))
    print(f"  rank {arms.rank}, {arms.passes} passes over all points, largest residual {arms.residual:.3e}")
    whole = 8e-9 * len(points) * arms.rank
    print(f"  one array of these features would take {whole:.1f} GB, and a design has four of its size")
    found = step("design", partial(design.solve, arms, ridge=RIDGE, rtol=RTOL, watch=seen))
    print(f"  {found}, {found.evaluations} passes over all points")
    print(f"  value {found.value:.6f}, of which the features may miss {found.truncation:.4f}")
    print(f"  lower bound {found.lower_bound:.6f}, gap {found.gap:.3%}")
    anew = step("features anew", partial(streamed, points))
    again = step("review", partial(design.review, anew, None, found.weights, found.dual, ridge=RIDGE))
    off = max(abs(again.value / found.value - 1), abs(again.lower_bound / found.lower_bound - 1))
    print(f"  value {again.value:.6f}, lower bound {again.lower_bound:.6f}: off by {off:.0e} from those of the design")
    finer = step("features that miss a tenth", partial(streamed, points, tol=TOL / 10))
    print(f"  rank {finer.rank}, {finer.passes} passes")
    again = step("review", partial(design.review, finer, None, found.weights, found.dual, ridge=RIDGE))
    gap = again.value / again.lower_bound - 1
    print(f"  value {again.value:.6f}, lower bound {again.lower_bound:.6f}, gap {gap:.3%}")


def compared(side: int) -> None:
    """Value and bound in blocks and from whole arrays."""
    points = grid(side)
    arms = streamed(points)
    found = design.solve(arms, ridge=RIDGE, rtol=RTOL)
    same = Features(array=arms.at(np.arange(len(points))), residuals=arms.residuals, pivots=arms.pivots)
    others = features.embed(KERNEL, points, tol=TOL)
    print(f"{len(points):,} points: {found}, {found.evaluations} passes")
    for name, whole in (("the same features", same), ("features with other pivots", others)):
        value, bound = design.review(whole, None, found.weights, found.dual, ridge=RIDGE)
        off = f"{abs(value / found.value - 1):.0e} and {abs(bound / found.lower_bound - 1):.0e}"
        print(f"  value and bound from the array of {name}: off by {off}")
    print(f"  solved from that array: {design.solve(others, ridge=RIDGE, rtol=RTOL)}")


def streamed(points: Array, *, tol: float = TOL) -> Streamed:
    """Features computed when they are needed."""
    return features.stream(KERNEL, points, tol=tol)


def step(name: str, work: Callable[[], R]) -> R:
    """The result, after printing what it took."""
    wall, processor = time.perf_counter(), time.process_time()
    found = work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{name}: {wall / 60:.2f} minutes, {processor / 60:.2f} of the processor, at most {peak:.2f} GB so far")
    return found


def seen(best: design.Design) -> None:
    """Print the best design so far."""
    print(f"  after {best.evaluations} passes and {best.iterations} steps: gap {best.gap:.2%}", flush=True)


def grid(side: int) -> Array:
    """(side^2, 2)"""
    ticks = np.linspace(0, 1, side)
    return np.stack(np.meshgrid(ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 2)


if __name__ == "__main__":
    main()
