"""`superlevel study`: a campaign of measurements from the first point to the last label, one file a verb."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from inspect import getdoc
from typing import Any

import typer
from typer.core import TyperCommand

from superlevel.cli.commands import Group, Verb
from superlevel.cli.study import on_cluster

_FILE = {"list": "list_"}  # where that is not the verb's own name
VERBS = (
    *("create", "suggest", "tell", "status", "plot", "report", "export", "verify"),
    *("audit", "refine", "list", "correct", "withdraw", "close", "certificate", "backup", "restore", "key"),
)
_SETTINGS = {"correct": {"ignore_unknown_options": True}}  # a value may be -3.5


class Verbs(Group):
    """Commands that are read when they are needed: the options of all of them take as long as everything before."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """What a list of commands shows, without options."""
        self.commands = self.commands or {verb: _listed(verb) for verb in VERBS}
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command itself."""
        if args[0] in VERBS:
            return args[0], _command(args[0]), args[1:]
        return super().resolve_command(ctx, args)


def _listed(verb: str) -> Any:
    return TyperCommand(verb, callback=_run(verb), help=getdoc(_run(verb)))


@cache
def _command(verb: str) -> Any:
    one = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    run = on_cluster.on_cluster(_run(verb)) if verb in on_cluster.VERBS else _run(verb)
    one.command(verb, cls=Verb, context_settings=_SETTINGS.get(verb))(run)
    return typer.main.get_command(one)


def _run(verb: str) -> Any:
    return import_module(f"{__name__}.{_FILE.get(verb, verb)}").run


app = typer.Typer(
    cls=Verbs,
    help="Campaigns of measurements that last: suggest where to measure, tell what came of it, see what is decided.",
    no_args_is_help=True,
    epilog="Example: superlevel study create harbour --points harbour.csv --threshold 20, then "
    "superlevel study suggest harbour --csv sheet.csv; fill it in, and superlevel study tell harbour sheet.csv",
)
