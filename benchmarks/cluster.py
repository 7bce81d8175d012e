"""A pass over a large domain in threads of this machine, and on Dask workers of it: time, bytes, and the same numbers.

    python benchmarks/cluster.py                                          # 200,000 cells, 300 measurements
    python benchmarks/cluster.py --cells 1000000 --measurements 150

Every row uses two cores. Bytes are those of the loopback during a pass: what goes to the scheduler and from there to a
worker counts twice. Times are the shortest of some, relative to that of two threads in the same run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster
from sklearn.gaussian_process.kernels import Matern
from timing import timed

import superlevel as sl
from superlevel.arrays import Array, Indices
from superlevel.averaging.data import Data
from superlevel.averaging.estimate import average

NOISE, REPEAT = 0.1, 5
WAYS = {
    "2 threads, no cluster": None,
    "2 workers of 1 thread": [["--nthreads", "1", "--no-nanny"]] * 2,
    "1 worker of 2 threads": [["--nthreads", "2", "--no-nanny"]],
    "2 workers with nannies": [["--nthreads", "1"]] * 2,
}


@contextmanager
def cluster(workers: list[list[str]] | None) -> Iterator[str | None]:
    """A scheduler with workers that have these options; None where there is none."""
    if workers is None:
        yield None
        return
    with LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0") as made, ExitStack() as ending:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", made.scheduler_address, "--no-dashboard"]
        for options in workers:
            child = subprocess.Popen([*command, "--host", "127.0.0.1", *options], stderr=subprocess.DEVNULL)
            ending.callback(child.wait)
            ending.callback(child.terminate)
        with Client(made.scheduler_address, set_as_default=False) as client:
            client.wait_for_workers(len(workers), timeout=60)
        yield made.scheduler_address


def sent() -> int:
    """Bytes that the loopback has carried."""
    lines = Path("/proc/net/dev").read_text(encoding="ascii").splitlines()
    (found,) = (line.split()[1] for line in lines if line.strip().startswith("lo:"))
    return int(found)


def given(points: Array, at: Indices, values: Array) -> Callable[[], Array]:
    """A pass with a given kernel."""
    domain = sl.Domain(points, kernel=2.0 * Matern(0.1, nu=1.5))

    def run() -> Array:
        found = sl.posterior.begin(domain, noise=NOISE).told(at, values)
        return np.stack([found.mean, found.variance])

    return run


def estimated(points: Array, at: Indices, values: Array) -> Callable[[], Array]:
    """A pass with each kernel of an average."""
    problem = sl.Problem(sl.Domain(points), goal=sl.Threshold(0.5), fit=("kernel", "noise", "mean"))
    found = average(problem, Data(points=at, values=values, noise=np.full(len(at), np.nan)))
    everywhere = np.arange(len(points))
    return lambda: np.concatenate(
        [np.vstack([part.means, part.deviations]) for _, part in found.predict(everywhere).parts]
    )


def main() -> None:
    """Print a table for each kind of kernel."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=200_000)
    parser.add_argument("--measurements", type=int, default=300)
    options = parser.parse_args()
    axis, rng = np.linspace(0, 1, round(options.cells**0.5)), np.random.default_rng(0)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    at = rng.choice(len(points), options.measurements, replace=False)
    values = np.sin(9 * points[at, 0]) + np.cos(7 * points[at, 1]) + NOISE * rng.standard_normal(len(at))
    for name, kind in {"Matern 3/2, given": given, "kernels that are estimated": estimated}.items():
        print(f"\n{len(points):,} cells, {len(at)} measurements, {name}", flush=True)
        compare(kind(points, at, values))


def compare(run: Callable[[], Array]) -> None:
    """Time and bytes of every way."""
    known, first = run(), 0.0
    for way, workers in WAYS.items():
        with cluster(workers) as address:
            there: AbstractContextManager[None] = nullcontext() if address is None else sl.cluster(address)
            with there:
                run()  # connects
                before = sent()
                found, seconds = timed(run, REPEAT)
                carried = (sent() - before) / REPEAT
        first = first or seconds
        same = "the same numbers" if (found == known).all() else "OTHER NUMBERS"
        print(f"{way:24} {seconds:6.2f} s  {seconds / first:5.2f} times {carried / 1e6:6.1f} MB  {same}", flush=True)


if __name__ == "__main__":
    main()
