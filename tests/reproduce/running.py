"""A figure that takes a second, with every kind of method in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from superlevel.reproduce import curves, runner
from superlevel.reproduce.engines import Engine, Processes
from superlevel.reproduce.outcome import Outcome
from superlevel.reproduce.settings import Figure, Row, Setting
from superlevel.reproduce.table import Recipe
from superlevel.reproduce.worlds import Gp


def settings() -> list[Setting]:
    worlds = [Gp(points=25, length=length, noise=0.5, above=0.2) for length in (0.1, 0.2)]
    return [Setting(name=f"length {world.length:g}", world=world, samples=(20, 40, 60)) for world in worlds]


def figure(quick: bool = False) -> Figure:
    return Figure(name="small", title="Small", settings=settings()[: 1 if quick else 2], entries=curves.ENTRIES)


def without_pictures(made: Figure, rows: Sequence[Row]) -> Outcome:
    """Drawing takes longer than everything else."""
    return replace(curves.read(made, rows), pictures={})


RECIPE = Recipe(figure=figure, read=without_pictures)


@dataclass
class Seen:
    """Whoever watches, and remembers."""

    total: int = 0
    kept: int = 0
    rows: list[Row] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)

    def begun(self, total: int, kept: int) -> None:
        self.total, self.kept = total, kept

    def done(self, row: Row) -> None:
        self.rows.append(row)

    def notify(self, sentence: str) -> None:
        self.sentences.append(sentence)


def make(
    out: Path, *, reps: int = 1, quick: bool = True, engine: Engine | None = None, recipe: Recipe = RECIPE
) -> Seen:
    """The small figure in a folder."""
    seen = Seen()
    with (engine or Processes(jobs=1)).running() as work:
        runner.make(recipe, out, work, reps=reps, seed=0, quick=quick, watch=seen)
    return seen


def csv(out: Path) -> bytes:
    return (out / "small" / "small.csv").read_bytes()
