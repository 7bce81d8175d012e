"""`superlevel plan`: how many measurements a campaign would take, before the first one."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from superlevel import kernels
from superlevel.arrays import Array
from superlevel.cli.goal import as_goal
from superlevel.domain import Domain, read_columns, read_values
from superlevel.errors import InputError
from superlevel.goals import Goal, Threshold
from superlevel.problem import Problem

if TYPE_CHECKING:
    from superlevel.bounds import Row


def run(
    points: Annotated[Path, typer.Argument(help="CSV file: one line a point, names in the first line.")],
    *,
    guess: Annotated[
        str,
        typer.Option(help="Column with a guess of f, or a pilot: blanks are filled in by the kernel."),
    ],
    noise: Annotated[float, typer.Option(help="Standard deviation of one measurement.")],
    threshold: Annotated[float | None, typer.Option(help="Find the points with f above this.")] = None,
    fraction: Annotated[
        float | None,
        typer.Option("--fraction-of-max", help="Find the points within this fraction of the maximum: 0.1 is 10 %."),
    ] = None,
    columns: Annotated[
        list[str] | None, typer.Option("--column", help="A coordinate; once for each. Default: all but the guess.")
    ] = None,
    kernel: Annotated[
        str,
        typer.Option(
            help="How values at two points go together, as in scikit-learn: RBF(0.4) is correlated over about 0.4, "
            "9 * RBF([0.4, 2]) has a standard deviation of 3 and a length for each coordinate."
        ),
    ] = "linear",
    mean: Annotated[float, typer.Option(help="Known mean of f, taken off first.")] = 0.0,
    bound: Annotated[
        float | None, typer.Option(help="B with |f - mean| <= B. Default: 1.5 times what the guess reaches.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Allowed probability of any wrong label.")] = 0.1,
    tolerance: Annotated[float, typer.Option(help="Points this near to the level may get either label.")] = 0.0,
    ridge: Annotated[float | None, typer.Option(help="Regularisation; larger is cheaper and blurs more.")] = None,
    out: Annotated[Path | None, typer.Option(help="Also write the table to this CSV file.")] = None,
) -> None:
    """How many measurements the problem needs, if f is as guessed: at least, as the methods run, and at most.

    The lower bound holds for every method. The others are what MELK (--threshold) or MILK (--fraction-of-max) take with
    the guarantees of the theory. Everything depends on how near to the level the guess comes: try --tolerance.

    Example: superlevel plan harbour.csv --guess depth --threshold 20 --noise 0.5 --mean 18 --kernel "9 * RBF(0.4)"
    --tolerance 1
    """
    goal = as_goal(threshold, fraction)
    if out is not None:
        _check_table(out)
    values = read_values(points, guess)
    chosen = columns or [name for name in read_columns(points) if name != guess]
    domain = Domain.read(points, columns=chosen)
    console = Console()
    with console.status("loading scipy and scikit-learn"):
        parsed = kernels.parse(kernel)
        from superlevel import bounds  # noqa: PLC0415  slow to import, and --help needs none of it

        problem = Problem(
            Domain(domain.points, parsed, names=domain.names),
            goal=goal,
            noise=noise,
            bound=bound,
            delta=delta,
            mean=mean,
            tolerance=tolerance,
            ridge=ridge,
        )
    known = int(np.isfinite(values).sum())
    with console.status(f"filling in {problem.domain.n - known} of {problem.domain.n} values"):
        filled = bounds.filled(problem, values)
    with console.status(f"solving the designs for {problem.domain.n} points"):
        found = bounds.plan(problem, filled)
    if known < problem.domain.n:
        console.print(f"{known} of {problem.domain.n} values are given; the kernel predicts the others.")
    console.print(_table(found.rows, filled, goal))
    console.print(f"With {found.case.about_the_bound} and a probability of error of {delta:g}.")
    if out is not None:
        _write(out, found.rows)
        console.print(f"wrote {out}")


def _table(rows: tuple[Row, ...], values: Array, goal: Goal) -> Table:
    level = goal.value if isinstance(goal, Threshold) else (1 - goal.epsilon) * float(values.max())
    above, nearest = int((values > level).sum()), float(np.abs(values - level).min())
    title = f"{len(values)} points, {above} above {level:g} by the guess, the nearest {nearest:.3g} from it"
    table = Table("", "measurements", "times the lower bound", "assumes", title=title)
    for row in rows:
        table.add_row(row.name, _count(row.measurements), _times(row.ratio), row.assumes)
    return table


def _count(number: float) -> str:
    return "never" if math.isinf(number) else f"{math.ceil(number):,}"


def _times(ratio: float) -> str:
    return "" if not math.isfinite(ratio) else f"{ratio:,.1f}" if ratio < 100 else f"{ratio:,.0f}"


def _check_table(out: Path) -> None:
    """Before anything is computed."""
    if out.suffix.lower() != ".csv":
        raise InputError("--out", repr(str(out)), "end it in .csv")
    if not out.parent.is_dir():
        raise InputError("--out", repr(str(out)), "name a file in a folder that exists")


def _write(out: Path, rows: tuple[Row, ...]) -> None:
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["estimate", "measurements", "ratio", "assumes"])
        writer.writerows([row.name, row.measurements, row.ratio, row.assumes] for row in rows)
