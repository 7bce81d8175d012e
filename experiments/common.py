"""What experiments share: a method with its options, many runs side by side, and a table of what came out."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track
from rich.table import Table

import superlevel as sl
from superlevel.arrays import Array, Labels, Mask


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A method as an experiment names it."""

    label: str
    name: str
    options: dict[str, Any] = field(default_factory=dict)

    def make(self, problem: sl.Problem) -> sl.methods.Method:
        return sl.methods.make(self.name, problem, **self.options)


@dataclass(frozen=True, kw_only=True, eq=False)
class Row:
    """One line of a table: a score at some numbers of measurements, for every run."""

    label: str
    scores: Array
    """(runs, columns)"""

    @property
    def mean(self) -> Array:
        return np.asarray(self.scores.mean(axis=0))

    @property
    def error(self) -> Array:
        """Standard errors of the means."""
        runs = len(self.scores)
        return np.asarray(self.scores.std(axis=0, ddof=min(1, runs - 1)) / np.sqrt(runs))


def at(run: sl.Run, samples: Sequence[int], score: Callable[[Any], float]) -> list[float]:
    """The score of a run's last step within each number of measurements; a run that ended keeps its last."""
    return [score(max((s for s in run.trace if s.samples <= limit), key=lambda s: s.samples)) for limit in samples]


def f1(declared: Mask, truth: Mask) -> float:
    """2 TP / (2 TP + FP + FN); 1 where nothing is and nothing was declared."""
    total = int(declared.sum() + truth.sum())
    return 2 * int((declared & truth).sum()) / total if total else 1.0


def declared(labels: Labels) -> Mask:
    return np.asarray(labels == 1)


def side_by_side(work: Callable[..., list[float]], jobs: Iterable[tuple[Any, ...]], *, title: str) -> list[list[float]]:
    """Each job's result, on all cores, with a progress bar."""
    listed = list(jobs)
    found = Parallel(n_jobs=-1, return_as="generator")(delayed(_quiet)(work, *job) for job in listed)
    return list(track(found, description=title, total=len(listed), console=Console(stderr=True)))


def _quiet(work: Callable[..., list[float]], *job: Any) -> list[float]:
    with warnings.catch_warnings():
        # A simulated function may well contradict its model; the table shows what that costs.
        warnings.simplefilter("ignore", sl.AssumptionWarning)
        return work(*job)


def compare(entries: Sequence[Entry], runs: int, work: Callable[[Entry, int], list[float]], *, title: str) -> list[Row]:
    """Every method on every seed."""
    jobs = [(entry, seed) for entry in entries for seed in range(runs)]
    scores = np.array(side_by_side(work, jobs, title=title)).reshape(len(entries), runs, -1)
    return [Row(label=entry.label, scores=score) for entry, score in zip(entries, scores, strict=True)]


def show(rows: Sequence[Row], columns: Sequence[int], *, title: str, digits: int) -> None:
    """The table, means and standard errors, on the terminal."""
    table = Table(title=title)
    table.add_column("method")
    for column in columns:
        table.add_column(f"{column:,}", justify="right")
    for row in rows:
        cells = [f"{m:.{digits}f} ± {e:.{digits}f}" for m, e in zip(row.mean, row.error, strict=True)]
        table.add_row(row.label, *cells)
    Console(width=100).print(table)


def save(rows: Sequence[Row], columns: Sequence[int], path: Path) -> None:
    """Every run's scores as CSV: method, run and one column for each number of measurements."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["method", "run", *columns])
        for row in rows:
            writer.writerows([row.label, k, *(float(x) for x in scores)] for k, scores in enumerate(row.scores))


STYLES = ("-", "--", "-.", ":")
MARKERS = "osD^v<>PX*dh"


def draw(rows: Sequence[Row], columns: Sequence[int], path: Path, *, title: str, label: str) -> None:
    """Curves of the means with their standard errors; ours are thick, and markers tell the rest apart in grey."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
    for k, row in enumerate(rows):
        ours = row.label.startswith(("MELK", "MILK"))
        axes.errorbar(
            columns,
            row.mean,
            yerr=row.error,
            label=row.label,
            color="black" if ours else f"{0.2 + 0.04 * k:.2f}",
            linestyle=STYLES[k % len(STYLES)],
            linewidth=2.2 if ours else 1.0,
            marker=MARKERS[k % len(MARKERS)],
            markersize=6 if ours else 5,
            markerfacecolor="black" if ours else "white",
            capsize=2,
            elinewidth=0.8,
        )
    axes.set_title(title, loc="left", fontsize="medium")
    axes.set(xlabel="measurements", ylabel=label, xticks=columns)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", fontsize="small", frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
