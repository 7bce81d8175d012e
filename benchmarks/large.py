"""A suggestion of ten points on 10,920: how long the first one takes, how long the next ones, and how much memory.

    python benchmarks/large.py

The whole topobathy grid, 120 by 91 points, with the kernel of `experiments.sea` and with a smooth one. Each method runs
in a process of its own, so that the memory is its own; times are printed against those of a plain product of two
matrices of 2,000 rows in the same process, because machines differ.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
import warnings

import numpy as np
from matplotlib import cbook
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from timing import timed

import superlevel as sl
from superlevel.rules.covariances import AverageCase
from superlevel.rules.design import WorstCase

KERNELS = {"rough": ConstantKernel(25.0) * Matern(0.1, nu=1.5), "smooth": ConstantKernel(25.0) * RBF(0.05)}
CASES = (
    ("melk", "greedy"),
    ("melk", "average"),
    ("melk", "worst"),
    *((n, "") for n in ("straddle", "lse", "truvar", "rmile")),
)
RULES = {"average": AverageCase(rtol=0.1), "worst": WorstCase(rtol=0.1)}
WARM = 5


def one(name: str, rule: str, kernel: str) -> str:
    """Times and memory of one method."""
    with np.load(cbook.get_sample_data("topobathy.npz", asfileobj=False)) as file:
        height = file["topo"].astype(np.float64)
    across, up = np.meshgrid(*(np.linspace(0, 1, size) for size in height.shape[::-1]))
    places = np.stack([across.ravel(), up.ravel()], axis=1)
    f = np.sign(-height.ravel()) * np.sqrt(np.abs(height.ravel()))
    square = np.random.default_rng(0).standard_normal((2000, 2000))
    _, unit = timed(lambda: square @ square, 3)
    oracle = sl.oracles.Gaussian(f, noise=0.3)
    start = time.perf_counter()
    domain = sl.Domain(places, kernel=KERNELS[kernel])
    problem = sl.Problem(domain, goal=sl.Threshold(np.sqrt(20.0)), noise=0.3)
    method = sl.methods.make(name, problem, batch=10, rule=RULES.get(rule, rule or None))
    state = method.init()
    plan = method.ask(state)
    first = time.perf_counter() - start
    seconds = []
    for _ in range(WARM):
        state, _ = method.tell(state, plan, oracle.measure(plan.indices, np.random.default_rng(state.phase)))
        start = time.perf_counter()
        plan = method.ask(state)
        seconds.append(time.perf_counter() - start)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return (
        f"{kernel:6} {name:9}{rule:8} first {first:5.2f} s ({first / unit:4.0f} products), "
        f"then {np.median(seconds):5.2f} s ({np.median(seconds) / unit:4.0f}), {memory:.2f} GB"
    )


def main() -> None:
    if len(sys.argv) > 1:
        warnings.simplefilter("ignore", sl.AssumptionWarning)
        print(one(*sys.argv[1:]))
        return
    for kernel in KERNELS:
        for name, rule in CASES:
            subprocess.run([sys.executable, __file__, name, rule, kernel], check=True)


if __name__ == "__main__":
    main()
