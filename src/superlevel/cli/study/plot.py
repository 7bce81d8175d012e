"""`superlevel study plot`: how a campaign stands, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from superlevel.cli.study import common
from superlevel.files import replacing


def run(
    name: common.Name,
    *,
    out: Annotated[Path, typer.Option(help="Picture to write: .png, .pdf or .svg.", show_default=False)],
    store: common.Store = common.DEFAULT_STORE,
) -> None:
    """Draw what is decided, what was measured and what comes next.

    A map of two coordinates, a profile along one, a ranking of the points where there are more.

    Example: superlevel study plot harbour --out harbour.png
    """
    common.check_writable("--out", out, suffixes=(".png", ".pdf", ".svg"))
    _, study = common.opened(store, name)
    with common.working("drawing"):
        from superlevel.report.drawing import draw  # noqa: PLC0415  slow to import, and --help needs none of it

        figure = draw(study.campaign())
        with replacing("--out", out) as beside:
            figure.savefig(beside, dpi=150, bbox_inches="tight")
    common.say(common.screen(), f"wrote {out}")
