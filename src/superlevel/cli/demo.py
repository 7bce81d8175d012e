"""`superlevel demo`: where is the ground above 600 m? Real elevations, a noisy instrument, nothing set by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from superlevel.cli.study import common
from superlevel.errors import InputError
from superlevel.files import replacing
from superlevel.outputs import metadata

if TYPE_CHECKING:
    from superlevel.demo import Record, Survey
    from superlevel.demo.survey import Watch

SUFFIXES = (".png", ".pdf", ".svg")
STOPPED = 130
OPTIONS = {name: f"--{name}" for name in ("level", "noise", "measurements", "batch", "seed")}
MISLABELLED = "Mislabelled: the likelier side of a cell, declared or not, is the wrong one."


def run(
    *,
    out: Annotated[Path, typer.Option(help="Picture to write: .png, .pdf or .svg.")] = Path("superlevel-demo.png"),
    measurements: Annotated[int, typer.Option(help="20 of a pilot, and whole batches. The audit has 100 more.")] = 300,
    batch: Annotated[int, typer.Option(help="Measurements that are chosen at once.")] = 10,
    level: Annotated[float, typer.Option(help="Where is the ground above this, in metres?")] = 600.0,
    noise: Annotated[
        float, typer.Option(help="Standard deviation of a measurement in metres. The study does not know it.")
    ] = 8.0,
    seed: Annotated[int, typer.Option(help="Everything random comes from it.")] = 0,
    force: common.Force = False,
    store: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where the study is kept. Default: a SQLite file beside the picture."),
    ] = None,
) -> None:
    """Find where the ground is above 600 m, from 300 noisy measurements and nothing set by hand: a minute or two.

    A study estimates kernel, noise and mean, chooses where to measure, and declares cells above or below the level.
    Then measurements at random places audit what it declared, and the truth is shown beside it. Elevations are real:
    the sample data of matplotlib. Stopped and started again, the study goes on where it was; a second run of the same
    command only draws.

    Example: superlevel demo --level 500 --seed 1 --out hills.png
    """
    _check_out(out, force)
    console = common.screen()
    storage = common.storage_of(f"sqlite:///{out.with_suffix('.db')}" if store is None else store)
    with common.working("loading scipy, scikit-learn and matplotlib"):  # slow to import, and --help needs none of them
        from superlevel import demo  # noqa: PLC0415
    hills = demo.load()
    with common.given_as("--out", **OPTIONS):
        survey = demo.Survey(level=level, noise=noise, measurements=measurements, batch=batch, seed=seed)
        demo.check(hills, survey)
    common.say_lines(console, demo.said(hills, survey))
    try:
        with _bar(survey) as watch:
            study = demo.run(hills, survey, storage, watch=watch)
        with common.working("comparing the labels with the truth"):
            record = demo.read(study, hills, survey)
    except KeyboardInterrupt:
        common.say(console, f"stopped: every batch is kept in {storage.url}, and the same command goes on from there")
        raise typer.Exit(STOPPED) from None
    with common.working("drawing"), replacing("--out", out, force=force) as beside:
        demo.drawn(hills, survey, record).savefig(beside, dpi=150, metadata=metadata(out))
    console.print(as_table(record))
    common.say_lines(console, (MISLABELLED, *demo.found(record)))
    common.say(console, f"wrote {out}; the study is in {storage.url}, with the measurements of the audit; for example:")
    for verb in ("status", "verify", "report"):
        common.say(console, f"  {common.command(storage.url, storage, 'study', verb, record.study)}")


@contextmanager
def _bar(survey: Survey) -> Iterator[Watch]:
    """Over all measurements before the audit."""
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("measurements"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=survey.measurements)
        yield lambda done: progress.update(task, completed=done)


def as_table(record: Record) -> Table:
    """A row for each look."""
    table = Table(title=f"{len(record.labels):,} cells")
    for heading in ("measurements", "declared", "of them wrong", "mislabelled"):
        table.add_column(heading, justify="right")
    for score in record.scores:
        numbers = (score.measurements, score.declared, score.wrong, score.mislabelled)
        table.add_row(*(f"{number:,}" for number in numbers))
    return table


def _check_out(out: Path, force: bool) -> None:
    """Before anything is computed."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("--out", repr(str(out)), f"its folder cannot be made ({error.strerror})") from error
    common.check_writable("--out", out, suffixes=SUFFIXES, force=force)
