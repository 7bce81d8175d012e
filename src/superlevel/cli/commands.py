"""What all commands share: flags without a type in --help, and mistakes that name what was typed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

from typer.core import TyperCommand, TyperGroup

from superlevel.errors import InputError, SuperlevelError

CLOSED_PIPE = 141  # what shells make of SIGPIPE


class Group(TyperGroup):
    """Several commands."""

    def get_params(self, ctx: Any) -> Any:
        return _plain(super().get_params(ctx))


class Verb(TyperCommand):
    """A command whose mistakes name the option that was typed, as JSON too where JSON was asked for."""

    def get_params(self, ctx: Any) -> Any:
        return _plain(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except SuperlevelError as error:
            named = _named(error, typed(super().get_params(ctx)))
            if ctx.params.get("as_json"):
                answer({"error": str(named)})
            raise named from error


def typed(params: Any) -> dict[str, str]:
    """What a person types for each field of Python: the longest form of an option, or the argument's name in capitals.

    A field has the name of the parameter or that of the option without its dashes.
    """
    found: dict[str, str] = {}
    for param in params:
        if param.param_type_name == "argument":
            shown = (param.metavar or param.name).partition("|")[0].strip("[]{}.").upper()
            names = [param.name, param.name.removesuffix("s"), shown.lower()]
        else:
            shown = max(param.opts, key=len)
            names = [param.name, *(option.lstrip("-").replace("-", "_") for option in param.opts)]
        found |= dict.fromkeys(names, shown)
    return found


def _named(error: SuperlevelError, options: Mapping[str, str]) -> SuperlevelError:
    """The same mistake with the name of its option; any other error as it is."""
    if not isinstance(error, InputError) or error.field not in options:
        return error
    return error.about(options[error.field])


def _plain(params: Any) -> Any:
    """A flag takes no value, so that no type is shown beside it."""
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params


def answer(document: Mapping[str, Any]) -> None:
    """The one document on stdout."""
    try:
        sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        let_go(sys.stdout.fileno())


def let_go(stream: int) -> NoReturn:
    """End quietly: nobody reads this stream any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)  # or Python would complain when it flushes at its end
    raise SystemExit(CLOSED_PIPE)
