"""`superlevel study verify`: whether the log bears out what is claimed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from superlevel import formats
from superlevel.arrays import Indices, Labels
from superlevel.cli import waiting
from superlevel.cli.study import common
from superlevel.errors import InputError

if TYPE_CHECKING:
    from superlevel.findings import Finding
    from superlevel.study.ledger import Ledger
    from superlevel.study.storage.protocol import Storage
    from superlevel.study.verification import Verification, Watch
    from superlevel.study.witnesses import Witness

CONTRADICTED = 1
STYLES = {"holds": "green", "CONTRADICTED": "bold red"}  # by the word of a verdict
LABEL = "label"


def run(
    name: common.Name,
    *,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also check labels that somebody shows: a CSV file as `export` writes it."),
    ] = None,
    witness: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|HEAD",
            help="Also compare with a head that was written down earlier: a report, an export, a sheet, a note, or the "
            "head itself; once for each.",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="PUBLIC",
            help="The public key that all entries must be signed with, as `superlevel study key` prints it.",
            show_default=False,
        ),
    ] = None,
    store: common.Store = common.DEFAULT_STORE,
    as_json: common.Json = False,
) -> None:
    """Compute every label and every design's bound anew from the log, and test what is assumed against the data.

    Prints one page: what is claimed, in which sense, under which assumptions, and what came of each check. The exit
    code is 0 if nothing speaks against it, and 1 if something does. A log that somebody rewrote as a whole is sound in
    itself: only a head that was written down elsewhere, or a signature, shows that.

    Example: superlevel study verify harbour --labels labels.csv
    """
    storage = common.storage_of(store)
    if labels is not None:
        with common.given_as("--labels"):  # a file that cannot be read is said before everything is computed
            formats.read(labels).checked()
    witnesses, public = _given(witness or [], key)
    with _bar() as watch:
        from superlevel.study.verification import verify  # noqa: PLC0415  slow to import

        found = verify(name, storage, watch=watch, witnesses=witnesses, key=public)
    if labels is not None and found.labels is not None:
        found = replace(found, checks=(*found.checks, _shown(storage, found, found.labels, labels)))
    if as_json:
        common.answer(_document(found))
    else:
        _show(common.screen(), found)
        common.say_lines(common.screen(), common.way_out(store, storage, name) if found.contradicted else ())
    if not found.ok:
        raise typer.Exit(CONTRADICTED)


def _given(witnesses: list[str], key: str | None) -> tuple[list[Witness], str | None]:
    """What it is to be compared with, before everything is computed."""
    from superlevel.study.signatures import as_public, check_installed  # noqa: PLC0415
    from superlevel.study.witnesses import witness  # noqa: PLC0415

    with common.given_as("path", witness="--witness", key="--key", sign="--key"):
        if key is not None:
            check_installed()
        return [witness(each) for each in witnesses], None if key is None else as_public(key)


@contextmanager
def _bar() -> Iterator[Watch]:
    from superlevel.passes import watching  # noqa: PLC0415  slow to import

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(
        *columns, TextColumn("left:"), TimeRemainingColumn(), console=Console(stderr=True), transient=True
    ) as progress:
        task = progress.add_task("plans checked", total=None)
        with watching(waiting.PassBar(progress, "blocks computed")):
            yield lambda done, total: progress.update(task, completed=done, total=total)


def _show(console: Console, found: Verification) -> None:
    common.say(console, f"Study {found.name!r}")
    page = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for what, text, verdict in found.statement:
        page.add_row(Text(what, style="dim"), Text(text), Text(verdict, style=STYLES.get(verdict, "dim")))
    console.print(page)
    common.say_lines(console, (f"doubt: {doubt}" for doubt in found.doubts))
    outcome = "Nothing in the log speaks against this." if found.ok else "The log CONTRADICTS this: see above."
    common.say(console, outcome)


def _document(found: Verification) -> dict[str, object]:
    return {
        "study": found.name,
        "ok": found.ok,
        "contradicted": found.contradicted,
        "head": None if found.head is None else str(found.head),
        "claim": found.claim,
        "guarantee": found.guarantee,
        "assumptions": dict(found.assumptions),
        "checks": [asdict(check) for check in found.checks],
        "doubts": list(found.doubts),
    }


# ---------------------------------------------------------------------------------------- labels that are shown


def _shown(storage: Storage, found: Verification, labels: Labels, file: Path) -> Finding:
    """What a file says of some or all points, against the log.

    A file has the class of each point, and says nothing of the levels that are decided at an undecided one.
    """
    import numpy as np  # noqa: PLC0415

    from superlevel.goals import classes  # noqa: PLC0415
    from superlevel.report.campaign import UNDECIDED_CLASS, headings  # noqa: PLC0415
    from superlevel.study.ledger import fold  # noqa: PLC0415
    from superlevel.study.verification import against  # noqa: PLC0415

    ledger = fold(storage.read(found.name))
    places, claimed = _claimed(file, ledger, headings(ledger.created.names))
    lowest, highest = classes(labels)
    logged = np.where(lowest == highest, lowest, UNDECIDED_CLASS).astype(np.int8)
    every = logged.copy()
    every[places] = claimed
    some = f", {len(places):,} of {ledger.n:,} points" if len(places) < ledger.n else ""
    return against(logged, every, what=f"labels in {file}{some}")


def _claimed(file: Path, ledger: Ledger, names: tuple[str, ...]) -> tuple[Indices, Labels]:
    """Which points a file speaks of, and (m,) the class that it gives each of them."""
    import numpy as np  # noqa: PLC0415

    from superlevel.report.campaign import UNDECIDED_CLASS  # noqa: PLC0415
    from superlevel.study.matching import match  # noqa: PLC0415

    table, points, groups = formats.read(file).checked(), ledger.places, ledger.goal.groups
    (column,) = table.places([LABEL])
    for place, scale in zip(table.places(names), ledger.coordinates.scales, strict=True):
        if scale.spelling:
            table = table.spelled(place, scale.numeral)
    coordinates = table.numbers(table.places(names))
    possible = {groups[c]: c for c in range(len(groups) - 1, 0, -1)} | {"undecided": UNDECIDED_CLASS, groups[0]: 0}
    claimed = []
    for line, word in zip(table.lines, table.texts(column), strict=True):
        if word.lower() not in possible:
            raise table.error(line, formats.Fault(LABEL, repr(word), f"give {', '.join(possible)}"))
        claimed.append(possible[word.lower()])
    if coordinates.shape == points.shape and np.array_equal(coordinates, points):
        places = np.arange(len(points))  # in the order of the study, where equal points are told apart
    else:
        places = match(points, coordinates)
    seen: set[int] = set()
    for line, place in zip(table.lines, places.tolist(), strict=True):
        if place < 0 or place in seen:
            got = "at no point of the study" if place < 0 else "at a point that an earlier line has"
            raise InputError(f"{file}, line {line}", got, "give the file as `superlevel study export` writes it")
        seen.add(place)
    return places, np.array(claimed, dtype=np.int8)
