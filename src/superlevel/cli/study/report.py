"""`superlevel study report`: how a campaign stands, as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from superlevel.cli.study import common
from superlevel.files import file_name, replacing


def run(
    name: common.Name,
    *,
    out: Annotated[Path | None, typer.Option(help="Page to write. Default: NAME.html.", show_default=False)] = None,
    unit: common.Unit = "",
    force: common.Force = False,
    store: common.Store = common.DEFAULT_STORE,
) -> None:
    """Write one HTML page with everything in it: the map, what comes next and why, how it stopped, what is claimed.

    Everything that is claimed is checked against the log first, as `superlevel study verify` does.

    Example: superlevel study report harbour --out harbour.html
    """
    page = Path(f"{file_name(name)}.html") if out is None else out
    common.check_writable("--out", page, suffixes=(".html", ".htm"), force=force)
    _, study = common.opened(store, name)
    working = common.working("checking everything against the log, and drawing")
    with working, replacing("--out", page, force=force) as beside:
        study.report(beside, unit=unit)
    common.say(common.screen(), f"wrote {page}")
