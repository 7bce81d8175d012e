"""A figure from its recipe: the rows that are in its file already, then the others, then what they come to."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from superlevel import __version__
from superlevel.reproduce import journal, outcome
from superlevel.reproduce.engines import Work
from superlevel.reproduce.outcome import Outcome
from superlevel.reproduce.settings import Figure, Row, Task
from superlevel.reproduce.table import Recipe

ROWS = "rows.jsonl"


class Watch(Protocol):
    """Whoever waits for a figure."""

    def begun(self, total: int, kept: int) -> None:
        """How many rows it has, and how many of them were there before."""

    def done(self, row: Row) -> None:
        """A new one."""

    def notify(self, sentence: str) -> None:
        """Something to know."""


@dataclass(frozen=True, kw_only=True)
class Made:
    """A figure, and where its files are."""

    figure: Figure
    rows: list[Row]
    outcome: Outcome
    paths: list[Path]


def make(
    recipe: Recipe, out: Path, work: Work, *, reps: int, seed: int, quick: bool, watch: Watch, force: bool = False
) -> Made:
    """All rows of a figure in ``out / its name``, and the files made of them."""
    figure = recipe.figure(quick)
    folder = out / figure.name
    folder.mkdir(parents=True, exist_ok=True)
    rows = complete(figure, folder / ROWS, work, reps=reps, seed=seed, watch=watch)
    found = recipe.read(figure, rows)
    header = {"figure": figure.name, "version": __version__, "reps": reps, "seed": seed, "quick": quick}
    paths = outcome.write(folder, figure.name, found, header, force=force)
    return Made(figure=figure, rows=rows, outcome=found, paths=paths)


def shuffled(tasks: list[Task]) -> list[Task]:
    """Always the same way: long and short tasks come mixed, so that what is done foretells how long the rest takes."""
    return sorted(tasks, key=lambda task: hashlib.sha256(repr(task.key).encode()).digest())


def complete(
    figure: Figure,
    path: Path,
    work: Work,
    *,
    reps: int,
    seed: int,
    watch: Watch,
    order: Callable[[list[Task]], list[Task]] = shuffled,
) -> list[Row]:
    """The rows of a figure, in the order of its tasks, whatever ``order`` they were run in."""
    tasks = figure.tasks(reps, seed)
    with journal.opened(path, watch.notify) as kept:
        known = {row.key: row for row in kept.rows}
        missing = [task for task in tasks if task.key not in known]
        watch.begun(len(tasks), len(tasks) - len(missing))
        for row in work(order(missing)):
            kept.append(row)
            known[row.key] = row
            watch.done(row)
    return [known[task.key] for task in tasks]
