"""`superlevel study list`: the campaigns of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from superlevel.cli.study import common

if TYPE_CHECKING:
    from superlevel.study.storage.protocol import Storage


def run(*, store: common.Store = common.DEFAULT_STORE, as_json: common.Json = False) -> None:
    """Every study of the store: what it looks for, how much was measured, and when something last happened.

    Example: superlevel study list --store sqlite:///survey.db
    """
    storage = common.storage_of(store)
    found = [_summary(storage, name) for name in storage.names()]
    if as_json:
        return common.answer({"store": storage.url, "studies": found})
    console = common.screen()
    if not found:
        common.say(console, f"no study in {storage.url} yet")
        return None
    keys = ("study", "question", "points", "measurements", "open", "closed", "last entry")
    rows = [_cells(summary) for summary in found]
    console.print(common.table(keys, rows))
    for summary in found:
        if "error" in summary:
            common.say(console, f"{summary['name']}: {summary['error']}")
    return None


def _summary(storage: Storage, name: str) -> dict[str, Any]:
    """From the log alone."""
    from superlevel.study import snapshots  # noqa: PLC0415  slow to import, and --help needs none of it
    from superlevel.study.storage.protocol import StorageError  # noqa: PLC0415

    try:
        ledger = snapshots.opened(storage, name)
    except StorageError as error:  # one that is damaged hides none of the others
        return {"name": name, "error": str(error)}
    return {
        "name": name,
        "question": ledger.goal.question,
        "method": ledger.created.method,
        "points": ledger.n,
        "measurements": ledger.samples,
        "open": len(ledger.open),
        "closed": ledger.closed is not None,
        "entries": ledger.length,
        "began": ledger.times[0],
        "changed": ledger.times[1],
    }


def _cells(summary: dict[str, Any]) -> list[str]:
    if "error" in summary:
        return [summary["name"], "damaged: see below", "", "", "", "", ""]
    counts = [f"{summary[key]:,}" for key in ("points", "measurements", "open")]
    return [summary["name"], summary["question"], *counts, "yes" * summary["closed"], common.when(summary["changed"])]
