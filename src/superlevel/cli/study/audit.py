"""`superlevel study audit`: how many labels are wrong, whatever the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from superlevel.arrays import as_count, as_number
from superlevel.cli.study import common
from superlevel.cli.study.sheet_file import AnySheet, Csv, as_sheet, check_overwriting, write_sheet
from superlevel.errors import InputError

if TYPE_CHECKING:
    from superlevel.study.auditing import Accuracy

AUTO = "auto"
NEAR = (
    "without a --tolerance noise contradicts right labels near the level too: an audit with one gives a smaller bound"
)


def run(
    name: common.Name,
    *,
    size: Annotated[
        str | None,
        typer.Option(metavar="N", help="Begin an audit of so many draws; auto: as many as prove --bound."),
    ] = None,
    csv: Csv = None,
    any_sheet: AnySheet = None,
    declared: Annotated[
        bool, typer.Option("--declared", help="Audit the declared points only. Default: the likelier side of all.")
    ] = False,
    bound: Annotated[
        float, typer.Option(metavar="SHARE", help="With --size auto: the share of wrong labels to be proved.")
    ] = 0.05,
    delta: Annotated[float, typer.Option(help="Probability with which the statement may fail.")] = 0.05,
    tolerance: Annotated[
        float | None,
        typer.Option(help="A label counts as wrong if f is beyond the level by more than this. Default: the study's."),
    ] = None,
    force: common.Force = False,
    sign: common.Sign = None,
    store: common.Store = common.DEFAULT_STORE,
    as_json: common.Json = False,
) -> None:
    """How many labels are wrong, from measurements at random places: a statement that needs no kernel.

    With --size the labels are frozen as they are, and places are drawn at random. Measure all of them and tell the
    results. Without --size, it says what the audits of the study prove so far, which is valid whenever one stops. The
    measurements count in the study like all others.

    Example: superlevel study audit harbour --size 60 --csv audit.csv, then superlevel study tell harbour audit.csv
    """
    sheet = as_sheet(csv, any_sheet)
    if sheet is not None and size is None:
        raise InputError(sheet.option, repr(str(sheet.path)), "say with --size how many places the audit draws")
    storage, study = common.opened(store, name, sign=sign)
    console = common.screen(as_json)
    if size is not None:
        if sheet is not None:
            check_overwriting(study, sheet, force=force)
        given = as_number("--bound", bound, above=0.0, below=1.0)
        count = None if size.strip().lower() == AUTO else as_count("--size", _whole(size))
        with common.working("computing the map"), common.given_as("--size", delta="--delta", tolerance="--tolerance"):
            tickets = study.audit(count, declared=declared, delta=delta, bound=given, tolerance=tolerance)
        common.say(console, f"the labels are frozen; {len(tickets):,} places were drawn at random: measure all of them")
        if sheet is not None:
            write_sheet(sheet, tickets, study, force=force)
            common.say(console, f"wrote {sheet.path}")
            common.say(
                console, f"next: fill it in, and {common.command(store, storage, 'study', 'tell', name, sheet.path)}"
            )
    found = study.accuracy()
    if as_json:
        return common.answer(
            {"study": name, "audits": [audit.model_dump(mode="json") for audit in study.view().audits]}
        )
    if size is None:
        _show(console, found)
    return None


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError("--size", repr(text), "give a whole number, or auto") from None


def _show(console: Console, found: tuple[Accuracy, ...]) -> None:
    from superlevel.study.audit_summary import summary  # noqa: PLC0415  slow to import

    if not found:
        common.say(console, "there was no audit yet: --size 60 --csv audit.csv begins one")
    for accuracy in found:
        told, result = summary(accuracy), accuracy.result
        common.say(console, told.heading)
        common.say_lines(console, (f"  {sentence}" for sentence in told.sentences))
        for shown in told.tables:
            console.print(common.table(shown.names, shown.rows))
        if result.contradictions and not result.tolerance:
            common.say(console, f"  {NEAR}")
