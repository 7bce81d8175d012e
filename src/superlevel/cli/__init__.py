"""The command line: one file a verb."""

from __future__ import annotations

import sys

import typer

from superlevel.cli import demo, plan, reproduce
from superlevel.errors import SuperlevelError

app = typer.Typer(
    name="superlevel",
    help="Find every point where an unknown function exceeds a level, from few noisy measurements, with a proof.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo.run)
app.command("plan")(plan.run)
app.command("reproduce")(reproduce.run)


def main() -> None:
    """What the console script calls: a mistake in the input is a sentence, not a traceback."""
    try:
        app()
    except SuperlevelError as error:
        typer.echo(f"superlevel: {error}", err=True)
        sys.exit(2)
