"""`superlevel reproduce`: the figures of the paper, run again, with a verdict on every claim."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from superlevel.arrays import as_count, as_seed
from superlevel.errors import InputError, SuperlevelError
from superlevel.reproduce.names import ALL, NAMES, QUICK_REPS, REPS

if TYPE_CHECKING:
    from superlevel.reproduce.engines import Engine
    from superlevel.reproduce.runner import Made
    from superlevel.reproduce.settings import Row


def run(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help=f"Any of {', '.join(NAMES)}, or {ALL}.", show_default=False),
    ] = None,
    *,
    reps: Annotated[
        int | None,
        typer.Option(help=f"Repetitions of everything, each with its own seed. Default {REPS}; {QUICK_REPS} if quick."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Processes of this machine. Default: as many as it has cores.")
    ] = None,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://cluster:8786, to run on instead.")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for rows, tables, pictures and claims; what is quick goes to OUT/quick.")
    ] = Path("out/reproduce"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Small problems, to see that everything works: minutes instead of an hour.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The first seed; repetition k has this plus k.")] = 0,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite files of these names that superlevel did not write.")
    ] = False,
) -> None:
    """Run figures of the paper again, draw them, and say which of its claims they bear out.

    Every run becomes one line of OUT/NAME/rows.jsonl as soon as it is there. Killed and started again, or started with
    more repetitions, only what is missing is computed; the numbers do not depend on how many jobs there are. Each
    figure gets its curves as CSV, a PNG and a PDF of the methods the paper shows and of all methods, and claims.json:
    every claim with what was measured, the test, and confirmed, refuted or undecided.

    Example: superlevel reproduce gp cosine --reps 10 --jobs 4
    """
    chosen = _chosen(names or [])
    reps = as_count("--reps", (QUICK_REPS if quick else REPS) if reps is None else reps)
    seed = as_seed(seed, "--seed")
    _check_engine(jobs, dask)
    out = out / "quick" if quick else out  # small problems must not overwrite an hour's figures
    _check_folder(out)
    console = Console()
    with console.status("loading scipy, scikit-learn and matplotlib"):  # slow to import, and --help needs none of them
        from superlevel.reproduce import runner, summary  # noqa: PLC0415
        from superlevel.reproduce.table import FIGURES  # noqa: PLC0415
    made: list[Made] = []
    with _interruptible(console, out), _engine(jobs, dask).running() as work:
        for name in chosen:
            with Bar(name) as bar, _writing(out):
                recipe = FIGURES[name]
                made.append(runner.make(recipe, out, work, reps=reps, seed=seed, quick=quick, watch=bar, force=force))
            console.print(as_table(made[-1].outcome.shown, title=made[-1].figure.title))
            if made[-1].outcome.readings:
                title = f"{made[-1].figure.title}: the paper's claim in its readings"
                console.print(as_table(made[-1].outcome.readings, title=title))
    ranked = [line for figure in made for line in figure.outcome.ranked]
    if ranked:
        with _writing(out):
            tables = summary.write(out, ranked, force=force)
        for table in tables:
            console.print(as_table(table, title=f"All {table[0]['settings']} settings of {table[0]['figures']}"))
    console.print(verdicts(made))
    if quick:
        console.print("quick: these are smaller problems with few runs, so the verdicts are not on the paper's own")
    _say(console, f"wrote {sum(len(figure.paths) for figure in made)} files under {out}")


class Bar:
    """The progress of one figure, with the time that is left."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(elapsed_when_finished=False),
            console=Console(stderr=True),
            speed_estimate_period=300,  # rows take from a tenth of a second to half a minute
        )
        self._task = self._progress.add_task(name, total=None)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def begun(self, total: int, kept: int) -> None:
        """What was there before is taken off, so that the speed is that of the new ones."""
        if kept:
            self.notify(f"{self._name}: {kept} of {total} rows were there already")
        self._progress.update(self._task, total=total - kept)

    def done(self, row: Row) -> None:  # noqa: ARG002  all rows look the same from here
        self._progress.advance(self._task)

    def notify(self, sentence: str) -> None:
        _say(self._progress.console, sentence)


def _say(console: Console, sentence: str) -> None:
    """As it is: a path may hold anything, brackets too, and is copied in one piece."""
    console.print(sentence, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def _interruptible(console: Console, out: Path) -> Iterator[None]:
    """Ctrl-C, and what batch systems send, end it with a sentence."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        _say(console, f"stopped: what was computed is kept in {out}, and the same command goes on from there")
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _writing(out: Path) -> Iterator[None]:
    """A disk that is full, or a file where a folder should be."""
    try:
        yield
    except OSError as error:
        where = error.filename or out
        raise SuperlevelError(
            f"{where} cannot be written ({error.strerror}): what was computed so far is kept in {out}, and the same "
            "command goes on from there"
        ) from error


# ------------------------------------------------------------------------------------------ what is shown


WHERE = {"figure", "figures", "setting"}


def as_table(lines: Sequence[Mapping[str, Any]], *, title: str) -> Table:
    """Names of figures and settings are left out where there is only one."""
    table = Table(title=title)
    columns = [name for name in lines[0] if name not in WHERE or len({line[name] for line in lines}) > 1]
    for name in columns:
        table.add_column(name.replace("_", " "), justify="left" if isinstance(lines[0][name], str) else "right")
    for line in lines:
        table.add_row(*(_cell(line[name]) for name in columns))
    return table


def _cell(value: object) -> str:
    match value:
        case None:
            return "-"
        case float() if abs(value) >= 100 or value == round(value):
            return f"{value:,.0f}"
        case float():
            return f"{value:.3f}"
        case int():
            return f"{value:,}"
        case _:
            return str(value)


def verdicts(made: Sequence[Made]) -> Table:
    """Every claim with what came of it."""
    table = Table("figure", "claim", "of", "verdict", title="Claims")
    for figure in made:
        for claim in figure.outcome.claims:
            table.add_row(figure.figure.name, claim.claim, claim.source, claim.counts)
    return table


# ------------------------------------------------------------------------------------------ checks


def _chosen(names: Sequence[str]) -> list[str]:
    """In the order of the table, each once."""
    if not names:
        raise InputError("NAME", "missing", f"choose out of {', '.join(NAMES)}, or {ALL}")
    for name in names:
        if name not in (*NAMES, ALL):
            raise InputError("NAME", repr(name), f"choose out of {', '.join(NAMES)}, or {ALL}")
    return [name for name in NAMES if name in names or ALL in names]


def _engine(jobs: int | None, dask: str | None) -> Engine:
    from superlevel.reproduce import engines  # noqa: PLC0415

    if dask is not None:
        return engines.Dask(address=dask)
    return engines.Processes(jobs=engines.cores() if jobs is None else jobs)


def _check_engine(jobs: int | None, dask: str | None) -> None:
    if jobs is not None:
        as_count("--jobs", jobs)
    if jobs is not None and dask is not None:
        raise InputError("--jobs", f"{jobs} together with --dask", "leave one out: a cluster has its own workers")


def _check_folder(out: Path) -> None:
    """That it can be made and written to, before anything is computed."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        remedy = f"it cannot be written to ({error.strerror}): name a folder of yours"
        raise InputError("--out", repr(str(out)), remedy) from error
