"""`superlevel study export`: what a campaign holds, as files for other programs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from superlevel.cli.study import common
from superlevel.files import replacing
from superlevel.tables import write_table

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
            help="labels: a CSV line for every point; stopping: a CSV line for every point, with how many measurements "
            "there were when it was decided; measurements: a CSV line for every ticket, with what became of it; log: a "
            "JSON line for every entry, with its digest."
        ),
    ] = What.LABELS,
    force: common.Force = False,
    store: common.Store = common.DEFAULT_STORE,
) -> None:
    """Write labels, when they were given, measurements or the log to a file; numbers are exact, and the file is whole.

    Example: superlevel study export harbour --out labels.csv
    """
    common.check_writable("--out", out, force=force)
    storage, study = common.opened(store, name)
    said: list[str] = []
    with common.working(f"writing {what}"), replacing("--out", out, force=force) as beside:
        match what:
            case What.LABELS:
                count = _write_labels(study, beside)
            case What.STOPPING:
                count, said = _write_stopping(study, beside)
            case What.MEASUREMENTS:
                count = _write_measurements(study.ledger, beside)
            case What.LOG:
                count = _write_log(storage.read(name), beside)
        if what is not What.LOG:  # whose every line has a digest
            _add_head(study.ledger, beside)
    for sentence in (f"wrote {common.plural(count, 'line')} of {what} to {out}", *said):
        common.say(common.screen(), sentence)


def _add_head(ledger: Ledger, path: Path) -> None:
    from superlevel.study.heads import headed  # noqa: PLC0415

    table = headed(path.read_bytes().decode(), ledger)  # bytes, so that the ends of lines stay as they are
    path.write_bytes(table.encode())


def _write_labels(study: Study, path: Path) -> int:
    from superlevel.report.campaign import write_csv  # noqa: PLC0415

    campaign = study.campaign()
    write_csv(campaign, path)
    return len(campaign.points)


def _write_stopping(study: Study, path: Path) -> tuple[int, list[str]]:
    """How many lines, and what the lines do not say."""
    from superlevel.study.stopping import stopping  # noqa: PLC0415

    found = stopping(study.knowledge)
    found.write(path)
    return len(found.points), found.lines()


def _write_measurements(ledger: Ledger, path: Path) -> int:
    names = [f"{name} (coordinate)" if name in BEFORE + AFTER else name for name in ledger.created.names]
    with path.open("w", encoding="utf-8", newline="") as lines:
        write_table(lines, [[*BEFORE, *names, *AFTER], *_tickets(ledger)])
    return len(ledger.point)


def _tickets(ledger: Ledger) -> Iterator[list[Any]]:
    from superlevel.study.ledger import Fate  # noqa: PLC0415

    columns = (ledger.point, ledger.value, ledger.noise, ledger.fate, ledger.late, ledger.told)
    for at, (point, value, noise, fate, late, told) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        yield [
            at + 1,
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
