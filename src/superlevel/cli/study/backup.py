"""`superlevel study backup`: a copy of studies that is complete, while others use the store."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from superlevel.cli.study import common

ALL = "all"
Which = Annotated[str, typer.Argument(metavar="[NAME|all]", help="The study, or all of them.", show_default=False)]


def run(
    name: Which = ALL,
    *,
    to: Annotated[Path, typer.Option("--to", metavar="FILE", help="File to write.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there already.")] = False,
    store: common.Store = common.DEFAULT_STORE,
    as_json: common.Json = False,
) -> None:
    """Copy one study, or all of them, to a SQLite file, and check every entry of the copy by its digest.

    Others may measure and tell meanwhile: the copy is of one moment. A copy of the .db file itself is no backup: the
    last results may be in another file. The copy is a store: every command reads it with --store sqlite:///FILE.

    Example: superlevel study backup all --to monday.db
    """
    storage = common.storage_of(store)
    from superlevel.study.backups import backup  # noqa: PLC0415  slow to import, and --help needs none of it

    with common.working("copying"), common.given_as("--to"):
        found = backup(store, to, name=None if name == ALL else name, force=force)
    if as_json:
        return common.answer({"store": storage.url, "file": str(to), "studies": [asdict(item) for item in found]})
    console = common.screen()
    for item in found:
        size = f"{item.entries:,} entries, {common.plural(item.measurements, 'measurement')}"
        common.say(console, f"saved study {item.name!r}: {size}, every digest checked, head {item.head}")
    common.say(console, f"wrote {to}; to bring it back: {common.command(store, storage, 'study', 'restore', to)}")
    return None
