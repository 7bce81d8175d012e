"""What experiments share with the figures of the paper: the runner, and how rows become tables and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from superlevel.cli.reproduce import Bar, as_table
from superlevel.reproduce import runner
from superlevel.reproduce.engines import Processes, cores
from superlevel.reproduce.outcome import Outcome, Table
from superlevel.reproduce.reading import curve_table, pictures
from superlevel.reproduce.settings import Entry, Figure, Row
from superlevel.reproduce.table import Recipe
from superlevel.reproduce.trials import Simulated

OUT = Path("out/experiments")


def entry(label: str, method: str, *, trial: type[Simulated] = Simulated, **options: Any) -> Entry:
    """A method with its options, in the one picture that there is."""
    return Entry(label=label, trial=trial(method=method, options=tuple(options.items())), paper=True)


def run(figure: Figure, columns: Sequence[int], *, reps: int) -> list[Row]:
    """Compute what is missing, then write the curves and print them at some numbers of measurements."""
    console = Console(width=120)
    recipe = Recipe(figure=lambda _: figure, read=lambda made, rows: _read(made, rows, columns))
    with Bar(figure.name) as bar, Processes(jobs=cores()).running() as work:
        made = runner.make(recipe, OUT, work, reps=reps, seed=0, quick=False, watch=bar)
    console.print(as_table(made.outcome.shown, title=f"{figure.title}: {figure.score.label}"))
    console.print(f"wrote {', '.join(str(path) for path in made.paths)}")
    return made.rows


def _read(figure: Figure, rows: Sequence[Row], columns: Sequence[int]) -> Outcome:
    curves = curve_table(figure, rows)
    shown = pictures(figure, rows)
    return Outcome(tables={"": curves}, pictures={"": shown[""]}, claims=[], shown=_at(figure, curves, columns))


def _at(figure: Figure, curves: Table, columns: Sequence[int]) -> Table:
    """A line for each method: mean and standard error at each column."""
    lines: dict[str, dict[str, Any]] = {}
    for line in curves:
        if line["samples"] in columns:
            mean, error = line[f"mean_{figure.score.field}"], line["standard_error"]
            cell = f"{mean:.3g} ± {error:.2g}"
            lines.setdefault(line["method"], {"method": line["method"]})[f"{line['samples']:,}"] = cell
    return list(lines.values())
