"""`superlevel study status`: how a campaign stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from superlevel.cli.study import common

if TYPE_CHECKING:
    from superlevel.study.status import Status


def run(
    name: common.Name,
    *,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Compute labels from everything that was told, which may take a while.")
    ] = False,
    store: common.Store = common.DEFAULT_STORE,
    as_json: common.Json = False,
) -> None:
    """How the study stands: what is decided, what was measured, what is open, and what to do next.

    Labels are as they were last computed, and it says so where results came in since.

    Example: superlevel study status harbour --fresh
    """
    storage, study = common.opened(store, name)
    with common.working("computing what is decided"):
        status = study.status(fresh=fresh)
    since = 0 if status.fresh else int((study.ledger.told > status.read).sum())
    if as_json:
        return common.answer({**status.model_dump(mode="json"), "results_since": since})
    console = common.screen()
    common.say(console, f"{name}: {study.ledger.goal.ask(status.points)}")
    console.print(common.facts(_rows(status)))
    if not status.fresh:
        common.say(console, f"as of entry {status.read}: {_missing(since)}")
    if status.contradicted:
        common.say(console, str(status.stop))
    common.say_lines(console, (f"doubt: {doubt}" for doubt in status.doubts))
    ways = common.way_out(store, storage, name) if status.contradicted else [f"next: {status.next}"]
    common.say_lines(console, ways)
    return None


def _missing(since: int) -> str:
    """What these counts do not know."""
    if not since:
        return "later entries may change these labels; run with --fresh to compute them again"
    return f"{common.plural(since, 'result')} since then {'is' if since == 1 else 'are'} not in these counts; " + (
        "--fresh includes them"
    )


def _rows(status: Status) -> list[tuple[str, str]]:
    measured = [f"{status.measurements:,} in {common.plural(status.batches, 'plan')}"]
    measured += [f"{status.elsewhere:,} at places that are not among the points"] * bool(status.elsewhere)
    for count, word in ((status.failed, "failed"), (status.withdrawn, "withdrawn"), (status.late, "late")):
        measured += [f"{count:,} {word}"] * bool(count)
    return [
        ("decided", common.in_words(status.groups)),
        *([] if status.outlook is None else status.outlook.rows),
        ("measurements", ", ".join(measured)),
        ("open tickets", f"{status.open:,} ({status.leased:,} reserved)"),
        ("method", status.method),
        ("kernel", status.kernel),
        ("noise", status.noise),
        *([("fit", status.tested)] if status.tested else []),
        ("began", common.when(status.began)),
        ("last entry", f"{common.when(status.changed)}, number {status.entries:,}"),
        ("head", status.head),
    ]
