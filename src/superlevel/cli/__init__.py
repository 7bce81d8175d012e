"""The command line: one file a verb."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from superlevel import __version__
from superlevel.cli import demo, doctor, find, plan, reproduce, study
from superlevel.cli.commands import Group, Verb
from superlevel.errors import CacheWarning, CostWarning, SuperlevelError

_show_warning = warnings.showwarning
WRONG_INPUT, UNUSABLE_STORE, STOPPED = 2, 3, 130


class Program(Group):
    """All commands. Ctrl-C is a sentence and not a traceback."""

    def make_context(self, *given: Any, **more: Any) -> Any:
        with _stopping():
            return super().make_context(*given, **more)

    def invoke(self, ctx: Any) -> Any:
        with _stopping():
            return super().invoke(ctx)


@contextmanager
def _stopping() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("superlevel: stopped: what was stored stays stored, and nothing is half done", err=True)
        raise typer.Exit(STOPPED) from None


app = typer.Typer(
    name="superlevel",
    cls=Program,
    help="Find every point where an unknown function exceeds a level, from few noisy measurements, with a proof.",
    epilog="Exit codes: 0 all went well, 1 something speaks against it (verify, doctor), 2 the input is wrong, "
    "3 the store cannot be used, 130 stopped by Ctrl-C.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("demo", cls=Verb)(demo.run)
app.command("plan", cls=Verb)(plan.run)
app.command("find", cls=Verb)(find.run)
app.add_typer(study.app, name="study")
app.command("doctor", cls=Verb)(doctor.run)
app.command("reproduce", cls=Verb)(reproduce.run)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"superlevel {__version__}")
        raise typer.Exit


@app.callback()
def program(
    *,
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options that need no command."""


def main() -> None:
    """What the console script calls: a mistake in the input is a sentence, not a traceback."""
    warnings.showwarning = _shown
    try:
        with _stopping():
            app()
    except typer.Exit as stopped:
        sys.exit(stopped.exit_code)
    except SuperlevelError as error:
        typer.echo(f"superlevel: {error}", err=True)
        sys.exit(_code(error))


def _shown(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
    """Costs and caches are a sentence; all other warnings are for those who write code."""
    if issubclass(category, CacheWarning | CostWarning):
        typer.echo(f"superlevel: {message}", err=True)
    else:
        _show_warning(message, category, *place, **more)


def _code(error: SuperlevelError) -> int:
    # Where no store was opened the module is not there, and to import it would take longer than all the rest.
    storage = sys.modules.get("superlevel.study.storage.protocol")
    return UNUSABLE_STORE if storage is not None and isinstance(error, storage.StorageError) else WRONG_INPUT
