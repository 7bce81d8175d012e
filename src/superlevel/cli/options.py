"""Options of the command line whose words come from the table of a problem's fields."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import typer

from superlevel.fields import BY_NAME


def option(name: str, more: str = "", **given: Any) -> Any:
    """The option of a problem's field, with what it means for its help."""
    return typer.Option(help=f"{BY_NAME[name].meaning} {more}".rstrip(), **given)


Geographic: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--geographic",
        help="Two columns are longitude and latitude in degrees: distances are measured on the sphere, and lengths "
        "of the kernel are km.",
    ),
]
