"""Options of the command line whose words come from the table of a problem's fields."""

from __future__ import annotations

from typing import Any

import typer

from superlevel.fields import BY_NAME


def option(name: str, more: str = "", **given: Any) -> Any:
    """The option of a problem's field, with what it means for its help."""
    return typer.Option(help=f"{BY_NAME[name].meaning} {more}".rstrip(), **given)
