"""`superlevel demo`: a noisy sonar over a real strait, and the question where it is deep enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

if TYPE_CHECKING:
    from superlevel.demo import Record, Survey
    from superlevel.demo.survey import Watch

SUFFIXES = (".png", ".pdf", ".svg")
STOPPED = 130
MEANINGS = (
    "mislabelled: the likelier side of a cell, declared or not, is the wrong one",
    "declared: 3 deviations from the level, as right as the kernel is; it expects no cliffs, and `verify` says so",
    "one seed is one story: over seeds 0 to 4, 400 pings mislabel 309 ± 12 cells with MELK, 343 ± 16 with LSE, "
    "528 ± 35 with chance (mean and standard deviation)",
)


def run(
    *,
    out: Annotated[Path, typer.Option(help="Picture to write: .png, .pdf or .svg.")] = Path("superlevel-demo.png"),
    pings: Annotated[int, typer.Option(help="Of each method: 60 of a pilot, and whole batches.")] = 400,
    batch: Annotated[int, typer.Option(help="Pings that are chosen at once.")] = 20,
    depth: Annotated[float, typer.Option(help="Where is it at least that deep, in metres?")] = 20.0,
    noise: Annotated[
        float, typer.Option(help="Standard deviation of a ping in metres where it is that deep; it grows like a root.")
    ] = 2.7,
    seed: Annotated[int, typer.Option(help="Everything random comes from it.")] = 0,
    store: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where the studies are kept. Default: a SQLite file beside the picture."),
    ] = None,
) -> None:
    """Find where the Strait of Georgia is at least 20 m deep, from few pings of a noisy sonar: about a minute.

    MELK chooses where to ping, in batches, and so do LSE and chance, with the same sonar and the same number of pings.
    Each is a study in one store. Stopped and started again, or started with more pings, they go on where they were; a
    second run of the same command only draws. Depths are real: the sample data of matplotlib.

    Example: superlevel demo --pings 600 --seed 1 --out strait.png
    """
    _check_out(out)
    console = common.screen()
    storage = common.storage_of(f"sqlite:///{out.with_suffix('.db')}" if store is None else store)
    with common.working("loading scipy, scikit-learn and matplotlib"):  # slow to import, and --help needs none of them
        from superlevel import demo  # noqa: PLC0415
    survey = demo.Survey(depth=depth, noise=noise, pings=pings, batch=batch, seed=seed)
    sea = demo.load()
    demo.check(sea, survey)
    for sentence in demo.said(sea, survey):
        common.say(console, sentence)
    try:
        with _bar(survey) as watch:
            records = demo.run(sea, survey, storage, watch=watch)
    except KeyboardInterrupt:
        common.say(console, f"stopped: every batch is kept in {storage.url}, and the same command goes on from there")
        raise typer.Exit(STOPPED) from None
    with common.working("drawing"), replacing("--out", out) as beside:
        demo.drawn(sea, survey, records).savefig(beside, dpi=150, bbox_inches="tight")
    console.print(as_table(records, survey))
    for meaning in MEANINGS:
        common.say(console, meaning)
    common.say(console, f"wrote {out}; the three studies are in {storage.url}, for example:")
    for verb in ("status", "verify", "report"):
        common.say(console, f"  {common.command(storage.url, storage, 'study', verb, records[0].study)}")


@contextmanager
def _bar(survey: Survey) -> Iterator[Watch]:
    """Over all pings of all methods."""
    from superlevel.demo import LABELS  # noqa: PLC0415

    before = {label: k * survey.pings for k, label in enumerate(LABELS)}
    columns = (TextColumn("{task.description:<7}"), BarColumn(), MofNCompleteColumn(), TextColumn("pings"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(LABELS) * survey.pings)
        yield lambda label, done: progress.update(task, completed=before[label] + done, description=label)


def as_table(records: Sequence[Record], survey: Survey) -> Table:
    """How each stood after about a quarter of the pings, a half, three quarters, and all."""
    counts = [score.pings for score in max(records, key=lambda record: len(record.scores)).scores]
    quarters = (survey.pings * k / 4 for k in range(1, 5))
    shown = sorted({min(counts, key=lambda count: abs(count - wanted)) for wanted in quarters})
    table = Table("pings", "method", title=f"Where is it at least {survey.depth:g} m deep? Seed {survey.seed}")
    for heading in ("mislabelled", "undecided", "declared", "of them wrong"):
        table.add_column(heading, justify="right")
    for count in shown:
        for record in records:
            score = record.at(count)
            numbers = (score.mislabelled, score.undecided, score.declared, score.wrong)
            table.add_row(f"{score.pings}", record.label, *(f"{number:,}" for number in numbers))
        table.add_section()
    return table


def _check_out(out: Path) -> None:
    """Before anything is computed."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("--out", repr(str(out)), f"its folder cannot be made ({error.strerror})") from error
    common.check_writable("--out", out, suffixes=SUFFIXES)
