"""`superlevel study restore`: what a backup holds, back in a store."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from superlevel.cli.study import common
from superlevel.cli.study.backup import ALL, Which

if TYPE_CHECKING:
    from superlevel.study.backups import Copied


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `backup` wrote.", show_default=False)],
    name: Which = ALL,
    *,
    force: Annotated[
        bool, typer.Option("--force", help="Drop entries of the store that the backup does not have.")
    ] = False,
    store: common.Store = common.DEFAULT_STORE,
    as_json: common.Json = False,
) -> None:
    """Put one study of a backup, or all of them, into a store, and say what that changed.

    A study of the store that has entries which the backup does not have is not replaced without --force, and then no
    study is restored. Processes that have read such entries are refused at their next call, and store nothing.

    Example: superlevel study restore monday.db
    """
    storage = common.storage_of(store)
    from superlevel.study.backups import restore  # noqa: PLC0415  slow to import, and --help needs none of it

    with common.working("checking and copying"), common.given_as("FILE"):
        found = restore(file, store, name=None if name == ALL else name, force=force)
    if as_json:
        return common.answer({"store": storage.url, "file": str(file), "studies": [asdict(item) for item in found]})
    common.say_lines(common.screen(), (_sentence(item) for item in found))
    common.say(common.screen(), f"next: {common.command(store, storage, 'study', 'list')}")
    return None


def _sentence(item: Copied) -> str:
    from superlevel.study.backups import Outcome  # noqa: PLC0415

    size = f"{item.entries:,} entries, {common.plural(item.measurements, 'measurement')}"
    done = {
        Outcome.RESTORED: f"restored study {item.name!r}: {size}",
        Outcome.EXTENDED: f"extended study {item.name!r}, which had the first entries already: {size}",
        Outcome.UNCHANGED: f"study {item.name!r} is unchanged: the store has all {size}",
        Outcome.REPLACED: f"replaced study {item.name!r}: {size}; dropped {item.dropped:,} that the backup has not",
    }
    return done[item.outcome]
