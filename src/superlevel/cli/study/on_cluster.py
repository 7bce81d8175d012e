"""The option --dask, of all commands that compute something of every point."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

VERBS = (
    *("suggest", "tell", "status", "plot", "report", "export", "verify"),
    *("audit", "refine", "correct", "withdraw", "close", "certificate"),
)
VARIABLE = "SUPERLEVEL_DASK"
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        envvar=VARIABLE,
        metavar="ADDRESS",
        help="A Dask scheduler, such as tcp://cluster:8786, whose workers compute large domains. The labels are the "
        "same.",
        show_default=False,
    ),
]
BEFORE = "store"  # the option that stands after it in --help


def on_cluster(run: Callable[..., None]) -> Callable[..., None]:
    """The command with the option --dask, which says where passes over a large domain are made."""

    @wraps(run)
    def there(*, ctx: typer.Context, dask: str | None, **given: Any) -> None:
        if not dask:
            return run(**given)
        from superlevel.clusters import cluster  # noqa: PLC0415  slow to import, and --help needs none of it

        source = ctx.get_parameter_source("dask")
        typed = VARIABLE if source is not None and source.name == "ENVIRONMENT" else "--dask"
        with cluster(dask, field=typed):
            return run(**given)

    there.__signature__ = _with_dask(inspect.signature(run, eval_str=True))  # type: ignore[attr-defined]
    there.__annotations__ = {name: one.annotation for name, one in inspect.signature(there).parameters.items()}
    return there


def _with_dask(given: inspect.Signature) -> inspect.Signature:
    """All parameters by keyword, as typer gives them, and two more."""
    named = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in given.parameters.values()]
    at = list(given.parameters).index(BEFORE)
    dask = inspect.Parameter("dask", inspect.Parameter.KEYWORD_ONLY, annotation=Dask, default=None)
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    return given.replace(parameters=[context, *named[:at], dask, *named[at:]])
