"""Pictures, pages and exports of 1e4, 1e5 and 1e6 points: how long each takes, and how much memory.

    python benchmarks/maps.py

A campaign on a grid of cells, with 500 measured ones and 20 open tickets, is made up; nothing of it is estimated. Each
job runs in a process of its own, so that the memory is its own: that of importing and of the campaign is subtracted.
Seconds
of the processor are printed against those of the smallest campaign and for each point: other programs do not change
them. Name a job or sizes for
these only: `python benchmarks/maps.py page 1000000`.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.special import ndtr

from superlevel import formats
from superlevel.arrays import Array
from superlevel.report.campaign import Campaign, as_table
from superlevel.report.drawing import draw
from superlevel.report.page import page
from superlevel.report.probabilities import draw_probabilities
from superlevel.report.stopping import Stopping

SIZES = (10_000, 100_000, 1_000_000)
MEASURED, OPEN, LEVEL, DECLARED = 500, 20, 20.0, 0.98
REFERENCE = "EPSG:25832"


def relief(side: int) -> Array:
    """(side, side) heights with cliffs: smooth hills, and steps between them."""
    rng = np.random.default_rng(20)
    hills = gaussian_filter(rng.standard_normal((side, side)), side / 25, mode="wrap")
    hills /= hills.std()
    return np.asarray(20.0 + 4.0 * hills + 6.0 * np.sign(gaussian_filter(hills, side / 60) - 0.5))


def campaign(points: int, *, on_grid: bool = True) -> Campaign:
    """Midway: sure near the measured cells, and where the ground is far from the level."""
    side = round(points**0.5)
    rng = np.random.default_rng(points)
    rows, columns = np.divmod(np.arange(side * side), side)
    heights = relief(side).ravel()
    n = heights.size
    places = np.column_stack([500_000.0 + 10 * columns, 5_000_000.0 + 10 * (side - rows)])
    if not on_grid:
        places += rng.uniform(-5.0, 5.0, places.shape)
    measured, following = np.split(rng.choice(n, MEASURED + OPEN, replace=False), [MEASURED])
    counts = np.zeros(n, dtype=np.int64)
    counts[measured] = rng.integers(1, 4, MEASURED)
    deviation = 0.5 + 2.5 * rng.random(n)
    mean = heights + 0.3 * deviation * rng.standard_normal(n)
    chances = ndtr((mean - LEVEL) / deviation)[None]
    labels = ((chances[0] > DECLARED).astype(np.int8) - (chances[0] < 1 - DECLARED)).astype(np.int8)
    lower, upper, names = mean - 3 * deviation, mean + 3 * deviation, ("east (m)", "north (m)")
    stopping = Stopping(
        names=names,
        points=places,
        labels=labels,
        lower=lower,
        upper=upper,
        problem=None,
        decided=np.where(labels == 0, -1, rng.integers(0, MEASURED, n)),
        samples=int(counts.sum()),
        estimate=mean,
        sources=None,
        ended=None,
    )
    return Campaign(
        names=names,
        points=places,
        labels=labels,
        lower=lower,
        upper=upper,
        name="relief",
        question=f"above {LEVEL:g}",
        asked=f"which of {n:,} points are above {LEVEL:g}",
        unit="m",
        counts=counts,
        averages=np.where(counts > 0, heights, np.nan),
        mean=mean,
        levels=(LEVEL,),
        next=following,
        reasons=(),
        facts=(("method", "MELK"),),
        doubts=(),
        progress=((0, n), (int(counts.sum()), int((labels == 0).sum()))),
        stopping=stopping,
        likelier=(chances[0] > 0.5).astype(np.int8),
        deviation=deviation,
        chances=chances,
    )


def plot(shown: Campaign, folder: Path) -> Path:
    """The map as `study plot` writes it."""
    draw(shown).savefig(folder / "map.png", dpi=150, bbox_inches="tight")
    return folder / "map.png"


def plot_probability(shown: Campaign, folder: Path) -> Path:
    """The map as `study plot --probability` writes it."""
    draw_probabilities(shown).savefig(folder / "probability.png", dpi=150, bbox_inches="tight")
    return folder / "probability.png"


def report(shown: Campaign, folder: Path) -> Path:
    """The page as `study report` writes it."""
    (folder / "page.html").write_text(page(shown), encoding="utf-8")
    return folder / "page.html"


def export_csv(shown: Campaign, folder: Path) -> Path:
    """The labels as `study export` writes them."""
    formats.write(folder / "labels.csv", as_table(shown))
    return folder / "labels.csv"


def export_tif(shown: Campaign, folder: Path) -> Path:
    """The same as a raster."""
    from dataclasses import replace  # noqa: PLC0415

    table = replace(as_table(shown), reference=REFERENCE, coordinates=shown.names)
    formats.write(folder / "labels.tif", table)
    return folder / "labels.tif"


JOBS: dict[str, Callable[[Campaign, Path], Path]] = {
    "plot": plot,
    "probability": plot_probability,
    "page": report,
    "csv": export_csv,
    "tif": export_tif,
}


def peak() -> float:
    """The largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(job: str, points: int, *, on_grid: bool, keep: str = "") -> tuple[float, float, float, float]:
    """Seconds, seconds of the processor, further memory, and the size of the file, both in MB.

    A campaign of few points comes first, which loads packages and fonts.
    """
    with TemporaryDirectory() as folder:
        JOBS[job](campaign(900), Path(folder))
        shown = campaign(points, on_grid=on_grid)
        before, start, used = peak(), time.perf_counter(), time.process_time()
        written = JOBS[job](shown, Path(folder))
        seconds, processor = time.perf_counter() - start, time.process_time() - used
        memory, size = peak() - before, written.stat().st_size / 1e6
        if keep:
            copyfile(written, Path(keep) / f"{job}-{points}{'' if on_grid else '-scattered'}{written.suffix}")
        return seconds, processor, memory, size


def main() -> None:
    chosen = [word for word in sys.argv[1:] if word in JOBS] or list(JOBS)
    sizes = [int(word) for word in sys.argv[1:] if word.isdecimal()] or list(SIZES)
    print("job                     points  seconds  processor of smallest  µs each point  memory MB  file MB")
    for kind in ("grid", "scattered"):
        for job in chosen:
            if (job, kind) == ("tif", "scattered"):  # a raster needs a grid
                continue
            first = None
            for points in sizes:
                ran = [sys.executable, __file__, "--one", job, str(points), kind]
                found = subprocess.run(ran, check=True, capture_output=True).stdout.split()
                seconds, processor, memory, size = map(float, found)
                first = first or processor
                line = f"{job:11} {kind:9} {points:9,} {seconds:8.2f} {processor:10.2f} {processor / first:10.1f}x"
                print(f"{line} {1e6 * processor / points:14.2f} {memory:10.0f} {size:8.2f}", flush=True)


if __name__ == "__main__":
    if "--one" in sys.argv:
        job, points, kind, *keep = sys.argv[2:]
        print(*measure(job, int(points), on_grid=kind == "grid", keep="".join(keep)))
    else:
        main()
