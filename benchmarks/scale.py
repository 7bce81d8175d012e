"""A campaign on up to ten million cells through the command line: time and memory of each command.

    python benchmarks/scale.py                                      # 10^4, 10^5 and 10^6 cells, 500 measurements
    python benchmarks/scale.py --cells 100000 --pings 20 500 2000   # by the number of measurements
    python benchmarks/scale.py --cells 1000000 --kernel auto        # kernel, noise and mean are estimated
    python benchmarks/scale.py --relief /usr/share/ferret-vis/data/etopo5.cdf --pings 5000      # 9.3 million cells

The relief is a fixed random one with cliffs, or ETOPO5 (Debian's package ferret-datasets) with the level 20 m below the
sea. Every command is a process of its own, as for a user. Memory is the process's largest. The last column compares
processor seconds with those of the campaign before.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from scipy.io import netcdf_file

NOISE, LEVEL = 0.05, 0.5
COMMAND = [sys.executable, "-m", "superlevel"]


@dataclass(frozen=True)
class Cost:
    """What a command took."""

    seconds: float
    processor: float
    memory: float
    """In GB."""

    def __str__(self) -> str:
        return f"{self.seconds:7.1f} s {self.processor:7.1f} s {self.memory:6.2f} GB"


def relief(side: int) -> np.ndarray:
    """A fixed random surface of hills and basins of all sizes, with a cliff across it; deviation 1."""
    rng, axis = np.random.default_rng(0), np.linspace(0, 1, side)
    x, y = np.meshgrid(axis, axis)
    height = np.zeros_like(x)
    for _ in range(60):
        (east, north), width = rng.random(2), rng.uniform(0.03, 0.3)
        height += 3 * width * rng.normal() * np.exp(-((x - east) ** 2 + (y - north) ** 2) / (2 * width**2))
    height += 0.6 * (x + 0.3 * np.sin(6 * y) > 0.5)
    return np.asarray((height - height.mean()) / height.std())


def etopo(path: str) -> tuple[np.ndarray, float]:
    """Depth in units of its deviation, and the level of 20 m."""
    with netcdf_file(path, mmap=False) as file:
        name = next(key for key, found in file.variables.items() if len(found.shape) == 2)
        depth = -np.array(file.variables[name][:], dtype=np.float64)
    return depth / depth.std(), 20.0 / depth.std()


def run(folder: Path, *arguments: str) -> Cost:
    """One command in a process of its own."""
    start = time.perf_counter()
    child = subprocess.Popen([*COMMAND, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert child.stderr is not None
    said = child.stderr.read().decode()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{said[-2000:]}")
    return Cost(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6)


def fill(sheet: Path, height: np.ndarray, seed: int) -> None:
    """Write what an instrument would say into a sheet."""
    rng = np.random.default_rng([seed, 1])
    with sheet.open(newline="") as file:
        header, *rows = list(csv.reader(file))
    column, row, value = (header.index(name) for name in ("x", "y", "value"))
    for line in rows:
        if not line[value]:
            at = round(float(line[row])), round(float(line[column]))
            line[value] = repr(float(height[at] + NOISE * rng.standard_normal()))
    with sheet.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def batches(pings: int) -> dict[str, int]:
    """How many measurements each batch has."""
    if pings <= 60:
        return {"first": pings}
    half = (pings - 60) // 2
    return {"first": 20, "second": 20, "third": half, "fourth": pings - 60 - half, "last": 20}


def campaign(height: np.ndarray, level: float, *, pings: int, estimated: bool) -> Iterator[tuple[str, Cost]]:
    """The cost of each command: of the first of its kind, and of the last."""
    length = 0.1 * max(height.shape)
    given = [] if estimated else ["--kernel", f"1 * Matern({length:g}, nu=1.5)", "--noise", str(NOISE), "--mean", "0"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "relief.npy", height)
        create = ("study", "create", "s", "--points", "relief.npy", "--threshold", str(level), *given)
        yield "create", run(folder, *create)
        for number, (when, size) in enumerate(batches(pings).items()):
            asked = run(folder, "study", "suggest", "s", "-n", str(size), "--csv", "sheet.csv", "--force")
            yield f"suggest, {when}", asked
            fill(folder / "sheet.csv", height, number)
            yield f"tell, {when}", run(folder, "study", "tell", "s", "sheet.csv")
        yield "status", run(folder, "study", "status", "s", "--fresh")
        yield "plot", run(folder, "study", "plot", "s", "--out", "map.png")
        yield "report", run(folder, "study", "report", "s", "--out", "report.html")
        yield "export", run(folder, "study", "export", "s", "--out", "labels.csv")


def main() -> None:
    """Print a table for each domain."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, nargs="+", default=[10**4, 10**5, 10**6])
    parser.add_argument("--pings", type=int, nargs="+", default=[500])
    parser.add_argument("--kernel", choices=["given", "auto"], default="given")
    parser.add_argument("--relief", help="a netCDF file with heights in metres, instead of a random surface")
    given = parser.parse_args()
    domains = [(relief(round(count**0.5)), LEVEL) for count in given.cells] if given.relief is None else []
    domains += [etopo(given.relief)] if given.relief else []
    before: dict[str, Cost] = {}
    for (height, level), pings in product(domains, given.pings):
        sizes = ", ".join(map(str, batches(pings).values()))
        print(f"\n{height.size:,} cells, {sizes} measurements, kernel {given.kernel}", flush=True)
        print(f"{'':20} {'wall':>9} {'processor':>9} {'memory':>9}   {'of the one before':>20}", flush=True)
        found: dict[str, Cost] = {}
        for command, cost in campaign(height, level, pings=pings, estimated=given.kernel == "auto"):
            found[command] = cost
            grown = f"{cost.processor / before[command].processor:.1f} times" if command in before else ""
            print(f"{command:20} {cost}   {grown:>20}", flush=True)
        before = found


if __name__ == "__main__":
    main()
