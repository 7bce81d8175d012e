"""`superlevel plan`: how many measurements a campaign would take, before the first one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from superlevel import formats, kernels
from superlevel.arrays import Array, as_number
from superlevel.cli.goal import HELP, as_goal
from superlevel.cli.options import option
from superlevel.cli.study import common
from superlevel.domain import Domain, read_columns, read_values
from superlevel.errors import InputError
from superlevel.files import replacing
from superlevel.goals import Goal
from superlevel.outputs import metadata
from superlevel.problem import Problem

if TYPE_CHECKING:
    from superlevel.bounds import Cell, Forecast, Plan, Row

LIMITS: dict[str, dict[str, float]] = {
    "noise": {"at_least": 0},
    "norm": {"above": 0},
    "bound": {"above": 0},
    "delta": {"above": 0, "below": 1},
    "tolerance": {"at_least": 0},
}
MOST = 100  # combinations
COLUMNS = 5  # norms side by side: more do not fit on a screen
NUMBERS = "NUMBER[,NUMBER...]"


def run(
    points: Annotated[Path, typer.Argument(help="CSV file: one line a point, names in the first line.")],
    *,
    guess: Annotated[
        str,
        typer.Option(help="Column with a guess of f, or a pilot: blanks are filled in by the kernel."),
    ],
    noise: Annotated[str, typer.Option(metavar=NUMBERS, help="Standard deviation of one measurement.")],
    threshold: Annotated[float | None, typer.Option(help="Find the points with f above this.")] = None,
    fraction: Annotated[
        float | None,
        typer.Option("--fraction-of-max", help="Find the points within this fraction of the maximum: 0.1 is 10 %."),
    ] = None,
    text: Annotated[str | None, typer.Option("--goal", metavar="TEXT", help=HELP)] = None,
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
    mean: Annotated[float, option("mean")] = 0.0,
    norm: Annotated[
        str | None,
        typer.Option(
            metavar=NUMBERS,
            help="S with ||f - mean|| <= S in the kernel's space, for the ridge confidence. Default: the bound takes "
            "its place, or without one 1.5 times the norm of the guess.",
        ),
    ] = None,
    bound: Annotated[
        str | None,
        typer.Option(metavar=NUMBERS, help="B with |f - mean| <= B. Default: 1.5 times what the guess reaches."),
    ] = None,
    delta: Annotated[str, option("delta", metavar=NUMBERS)] = "0.1",
    tolerance: Annotated[str, option("tolerance", metavar=NUMBERS)] = "0",
    ridge: Annotated[float | None, option("ridge")] = None,
    out: Annotated[Path | None, typer.Option(help="Also write everything to this CSV file.")] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw measurements against the norms, of which there are several, to this PNG.")
    ] = None,
    force: common.Force = False,
) -> None:
    """How many measurements the problem needs, if f is as guessed: at least, as the methods run, and at most.

    The lower bound holds for every method. The others are what MELK, or MILK for a fraction of the maximum, takes with
    its guarantee: "with ridge" for sub-Gaussian noise and a norm, the rest for any noise of that deviation. Everything
    depends on how near to a level the guess comes: try --tolerance.

    Nobody knows norm, bound and noise well: give several of each, with commas between them. The first table is for the
    first of each, a second one has every combination.

    Example: superlevel plan harbour.csv --guess depth --threshold 20 --noise 0.5 --mean 18 --kernel "9 * RBF(0.4)"
    --tolerance 1

    Example: superlevel plan harbour.csv --guess depth --goal "between 19 and 21" --noise 0.5 --mean 18
    --kernel "9 * RBF(0.4)" --tolerance 0.5

    Example: superlevel plan harbour.csv --guess depth --threshold 20 --noise 0.3,0.5,1 --norm 1,2,4,8 --mean 18
    --kernel "9 * RBF(0.4)" --tolerance 1 --picture norms.png
    """
    goal = as_goal(threshold, fraction, text)
    ranges = _ranges(noise=noise, norm=norm, bound=bound, delta=delta, tolerance=tolerance)
    _check_files(out, picture, ranges, force=force)
    values = read_values(points, guess)
    chosen = columns or [name for name in read_columns(points) if name != guess]
    domain = Domain.read(points, columns=chosen)
    console = common.screen()
    with common.working("loading scipy and scikit-learn"):
        parsed = kernels.parse(kernel)
        from superlevel import bounds  # noqa: PLC0415  slow to import, and --help needs none of it

        first: dict[str, Any] = {name: given[0] for name, given in ranges.items()}
        whole = domain.with_kernel(parsed)
        problem = Problem(whole, goal=goal, mean=mean, ridge=ridge, **first)
    n, known = problem.domain.n, int(np.isfinite(values).sum())
    with common.working(f"filling in {n - known} of {n} values"):
        filled = bounds.filled(problem, values)
    _check_bounds(ranges.get("bound", ()), filled - mean)
    with common.working(f"solving the designs for {n} points"):
        found = bounds.plan(problem, filled)
    if known < n:
        common.say(console, f"{known} of {n} values are given; the kernel predicts the others.")
    console.print(_table(found.rows, filled, goal), *map(Text, _remarks(found)), sep="\n")
    ranges = {name: sorted(numbers) for name, numbers in ranges.items()}
    cells = _swept(problem, filled, ranges)
    if cells:
        table = _second_table(cells, ranges, found.case.algorithm)
        console.print(table, *map(Text, _notes(cells, found)), sep="\n")
    if out is not None:
        _write(out, found, cells, force=force)
        common.say(console, f"wrote {out}")
    if picture is not None:
        _draw(picture, cells, ranges, found, force=force)
        common.say(console, f"wrote {picture}")


# ------------------------------------------------------------------------------------------ given


def _ranges(**texts: str | None) -> dict[str, list[float]]:
    """What was given of each, every number once and in its order."""
    found = {name: _numbers(name, text) for name, text in texts.items() if text is not None}
    combinations = math.prod(len(numbers) for numbers in found.values())
    if combinations > MOST:
        widest = max(found, key=lambda name: len(found[name]))
        got = f"one of several ranges, with {combinations:,} combinations"
        raise InputError(f"--{widest}", got, f"give fewer numbers, so that there are at most {MOST} combinations")
    return found


def _numbers(name: str, text: str) -> list[float]:
    option = f"--{name}"
    if not text.strip():
        raise InputError(option, "empty", "give a number, or several with commas between them")
    numbers = []
    for part in text.split(","):
        try:
            number = float("" if "_" in part else part)
        except ValueError as error:
            remedy = "give a number, or several with commas between them, such as 0.5,1,2"
            raise InputError(option, repr(text), remedy) from error
        numbers.append(as_number(option, number, **LIMITS[name]))
    return list(dict.fromkeys(numbers))


def _check_files(out: Path | None, picture: Path | None, ranges: Mapping[str, Sequence[float]], *, force: bool) -> None:
    """Before anything is computed."""
    if out is not None:
        common.check_writable("--out", out, suffixes=(".csv",), force=force)
    if picture is not None:
        common.check_writable("--picture", picture, suffixes=(".png",), force=force)
        if len(ranges.get("norm", ())) < 2:
            raise InputError("--picture", repr(str(picture)), "give several norms to draw, such as --norm 1,2,4")


def _check_bounds(given: Sequence[float], rises: Array) -> None:
    reached = float(np.abs(rises).max())
    if given and min(given) * (1.0 + 1e-9) < reached:
        raise InputError("--bound", min(given), f"give at least {reached:.6g}, the largest |guess - mean|")


# ----------------------------------------------------------------------------------------- tables


def _table(rows: tuple[Row, ...], values: Array, goal: Goal) -> Table:
    table = Table("", title=_title(values, goal))
    table.add_column("measurements", justify="right", no_wrap=True)
    table.add_column("times the\nlower bound", justify="right", no_wrap=True)
    table.add_column("assumes")
    for row in rows:
        count = f">{row.measurements:,.0f}" if row.exceeded else _count(row.measurements)
        table.add_row(row.name, count, _times(row.ratio), row.assumes)
    return table


def _title(values: Array, goal: Goal) -> str:
    """How many points are in each class by the guess, and how near the nearest is to a level."""
    counts = goal.counts(goal.signs(values))
    if len(goal.groups) == 2:
        (level,) = goal.levels_at(values)
        classes, what = f"{counts[goal.groups[1]]} above {level:g}", "it"
    else:
        classes, what = ", ".join(f"{name}: {counts[name]}" for name in reversed(goal.groups)), "its level"
    return f"{len(values)} points, {classes} by the guess, the nearest {goal.margins(values).min():.3g} from {what}"


def _count(number: float) -> str:
    return "" if math.isnan(number) else "never" if math.isinf(number) else f"{math.ceil(number):,}"


def _times(ratio: float) -> str:
    return "" if not math.isfinite(ratio) else f"{ratio:,.1f}" if ratio < 100 else f"{ratio:,.0f}"


def _remarks(found: Plan) -> tuple[str, str]:
    """What the first table is for."""
    case = found.case
    return (
        f"With {case.about_the_bound} and a probability of error of {case.problem.delta:g}.",
        f"The ridge confidence has {case.about_the_norm}.",
    )


def _swept(problem: Problem, values: Array, ranges: Mapping[str, Sequence[float]]) -> tuple[Cell, ...]:
    """Every combination; none where there is one only."""
    given: dict[str, Any] = {name: numbers for name, numbers in ranges.items() if len(numbers) > 1}
    if not given:
        return ()
    from superlevel import bounds  # noqa: PLC0415

    with Console(stderr=True).status("") as status:
        return bounds.sweep(
            problem,
            values,
            **given,
            watch=lambda done, total: status.update(f"combination {done + 1} of {total}"),
        )


def _second_table(cells: Sequence[Cell], ranges: Mapping[str, Sequence[float]], algorithm: str) -> Table:
    """Norms, or bounds, side by side where one more thing varies at most; or else one line a combination."""
    varied = [name for name, numbers in ranges.items() if len(numbers) > 1]
    across = [name for name in ("norm", "bound") if name in varied]
    down = [name for name in varied if name not in across[:1]]
    title = f"{algorithm} with ridge, typical"
    if across and len(down) <= 1 and len(ranges[across[0]]) <= COLUMNS:
        return _grid(cells, across[0], down, ranges, title)
    table = Table(*varied, title=title)
    for heading in ("lower bound", "measurements", "times"):
        table.add_column(heading, justify="right")
    for cell in cells:
        texts = [f"{getattr(cell.problem, name):g}" for name in varied]
        table.add_row(*texts, _count(cell.lower), _forecast(cell.forecast), _times(_ratio(cell)))
    return table


def _grid(
    cells: Sequence[Cell], across: str, down: Sequence[str], ranges: Mapping[str, Sequence[float]], title: str
) -> Table:
    """The lower bound knows neither norm nor bound: it is one for each line."""
    table = Table(*down, title=title)
    for heading in ("lower bound", *(f"{across} {number:g}" for number in ranges[across])):
        table.add_column(heading, justify="right")
    for row in ranges[down[0]] if down else [None]:
        line = [cell for cell in cells if row is None or getattr(cell.problem, down[0]) == row]
        head = [] if row is None else [f"{row:g}"]
        table.add_row(*head, _count(line[0].lower), *(_forecast(cell.forecast) for cell in line))
    return table


def _forecast(forecast: Forecast) -> str:
    if forecast.exceeded:
        return f">{forecast.samples:,.0f}"
    return "too small" if forecast.too_small else _count(forecast.samples)


def _ratio(cell: Cell) -> float:
    return cell.forecast.samples / cell.lower if cell.forecast.decided and cell.lower else math.nan


def _notes(cells: Sequence[Cell], found: Plan) -> list[str]:
    """What stands behind the second table."""
    notes = []
    needed = dict.fromkeys(f"{cell.forecast.needed:.4g}" for cell in cells if cell.forecast.too_small)
    if needed:
        own = " or ".join(needed)
        notes.append(f"too small: the guess itself has a norm of {own}, so that nothing would be guaranteed.")
    if found.case.guess.smoothed:
        notes.append(f"All of it is for the guess as the kernel smooths it, by {found.case.guess.moved:.3g} at most.")
    forecasts = [cell.forecast for cell in cells if not cell.forecast.too_small]
    reasons = dict.fromkeys(each.reason for each in forecasts if math.isinf(each.samples))
    return notes + [f"never: {reason}." for reason in reasons]


# ------------------------------------------------------------------------------------------ files


def _write(out: Path, found: Plan, cells: Sequence[Cell], *, force: bool) -> None:
    """The rows of the first table, and two for each combination."""
    names = tuple(LIMITS)
    header = ["estimate", "measurements", "ratio", "assumes", "exceeded", *names]
    rows: list[list[object]] = []
    for row in found.rows:
        numbers = [getattr(found.case.problem, name) for name in names]
        rows.append([row.name, row.measurements, row.ratio, row.assumes, row.exceeded, *numbers])
    for cell in cells:
        numbers = [getattr(cell.problem, name) for name in names]
        rows.append(["range: lower bound", cell.lower, 1.0, "any algorithm", False, *numbers])
        name, forecast = f"range: {found.case.algorithm} with ridge, typical", cell.forecast
        rows.append([name, forecast.samples, _ratio(cell), forecast.reason, forecast.exceeded, *numbers])
    with replacing("--out", out, force=force) as beside:
        formats.write(beside, formats.table_of(header, rows))


def _draw(
    picture: Path, cells: Sequence[Cell], ranges: Mapping[str, Sequence[float]], found: Plan, *, force: bool
) -> None:
    """One line for each combination of all but the norm."""
    with common.working("drawing"):
        from superlevel.report.forecasts import Prospect, draw_forecasts  # noqa: PLC0415  matplotlib

        others = [name for name, numbers in ranges.items() if name != "norm" and len(numbers) > 1]
        lines: dict[tuple[float, ...], list[Cell]] = {}
        for cell in cells:
            lines.setdefault(tuple(getattr(cell.problem, name) for name in others), []).append(cell)
        prospects = [
            Prospect(
                label=", ".join(f"{name} {number:g}" for name, number in zip(others, numbers, strict=True))
                or "forecast",
                norms=np.array([cell.problem.norm for cell in line]),
                measurements=np.array([cell.forecast.samples for cell in line]),
                beyond=np.array([cell.forecast.exceeded for cell in line]),
                lower=line[0].lower,
            )
            for numbers, line in lines.items()
        ]
        title = f"{found.case.algorithm} with ridge on {found.case.problem.domain.n:,} points"
        figure = draw_forecasts(prospects, title=title, norm=found.case.guess.norm or None)
        with replacing("--picture", picture, force=force) as beside:
            figure.savefig(beside, dpi=150, bbox_inches="tight", metadata=metadata(picture))
