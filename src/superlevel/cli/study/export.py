"""`superlevel study export`: what a campaign holds, as files for other programs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from superlevel import formats
from superlevel.cli.study import common
from superlevel.files import replacing

if TYPE_CHECKING:
    from superlevel.study.ledger import Ledger
    from superlevel.study.storage.protocol import Entry
    from superlevel.study.study import Study

BEFORE, AFTER = ("ticket",), ("value", "noise", "fate", "late", "reason", "told")


class What(StrEnum):
    """What can be exported."""

    LABELS = "labels"
    STOPPING = "stopping"
    MEASUREMENTS = "measurements"
    LOG = "log"


def run(
    name: common.Name,
    *,
    out: Annotated[Path, typer.Option(help="File to write.", show_default=False)],
    what: Annotated[
        What,
        typer.Option(
            help="labels: a line for every point; stopping: a line for every point, with how many measurements "
            "there were when it was decided; measurements: a line for every ticket, with what became of it; log: a "
            "JSON line for every entry, with its digest."
        ),
    ] = What.LABELS,
    force: common.Force = False,
    store: common.Store = common.DEFAULT_STORE,
) -> None:
    """Write labels, when they were given, measurements or the log to a file; numbers are exact, and the file is whole.

    The ending of the file says what it is: .csv, .xlsx, .parquet, .gpkg, .geojson or .tif.

    Example: superlevel study export harbour --out labels.csv
    """
    common.check_writable("--out", out, force=force)
    storage, study = common.opened(store, name)
    from superlevel.study.heads import headed  # noqa: PLC0415  slow to import
    from superlevel.study.maps import on_map  # noqa: PLC0415

    said: list[str] = []
    with common.working(f"writing {what}"), replacing("--out", out, force=force) as beside:
        if what is What.LOG:  # whose every line has a digest
            count = _write_log(storage.read(name), beside)
        else:
            table, said = _table(study, what)
            formats.write(beside, headed(on_map(table, study.ledger), study.ledger))
            count = len(table)
    for sentence in (f"wrote {common.plural(count, 'line')} of {what} to {out}", *said):
        common.say(common.screen(), sentence)


def _table(study: Study, what: What) -> tuple[formats.Table, list[str]]:
    """A table, and what its lines do not say."""
    from superlevel.report.campaign import as_table  # noqa: PLC0415  slow to import
    from superlevel.study.stopping import stopping  # noqa: PLC0415

    if what is What.LABELS:
        return as_table(study.campaign()), []
    if what is What.STOPPING:
        found = stopping(study.knowledge)
        return found.as_table(), found.lines()
    return _measurements(study.ledger), []


def _measurements(ledger: Ledger) -> formats.Table:
    names = [f"{name} (coordinate)" if name in BEFORE + AFTER else name for name in ledger.created.names]
    called = [ledger.created.id_name] if ledger.ids else []
    return formats.table_of([*BEFORE, *called, *names, *AFTER], _tickets(ledger))


def _tickets(ledger: Ledger) -> Iterator[list[Any]]:
    from superlevel.study.ledger import Fate  # noqa: PLC0415

    columns = (ledger.point, ledger.value, ledger.noise, ledger.fate, ledger.late, ledger.told)
    for at, (point, value, noise, fate, late, told) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        yield [
            at + 1,
            *([ledger.id_of(point)] if ledger.ids else []),
            *ledger.cells(point),
            *("" if math.isnan(number) else number for number in (value, noise)),
            Fate(fate).name.lower(),
            "yes" if late else "",
            ledger.reasons.get(at + 1, ""),
            told or "",
        ]


def _write_log(entries: list[Entry], path: Path) -> int:
    with path.open("w", encoding="utf-8") as lines:
        for entry in entries:
            payload = json.loads(entry.payload)
            line = {"seq": entry.seq, "kind": entry.kind, "at": entry.at, "payload": payload, "digest": entry.digest}
            lines.write(json.dumps(line) + "\n")
    return len(entries)
