"""What all commands share: flags without a type, mistakes that name what was typed, and the version."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
import typer

import superlevel as sl
from superlevel.cli import study
from superlevel.cli.commands import Verb, typed
from tests.cli.study.terminal import Terminal

COMMANDS = [
    (),
    ("demo",),
    ("plan",),
    ("doctor",),
    ("reproduce",),
    ("study",),
    *(("study", verb) for verb in study.VERBS),
]


def test_the_version_is_that_of_the_package(terminal: Terminal) -> None:
    ran = terminal("--version")
    assert (ran.code, ran.out) == (0, f"superlevel {sl.__version__}\n")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_flag_is_shown_with_a_type(terminal: Terminal, command: tuple[str, ...]) -> None:
    shown = terminal(*command, "--help").out
    assert "--help" in shown
    assert "bool" not in shown.lower()


def made(run: Any) -> Any:
    one = typer.Typer()
    one.command("one", cls=Verb)(run)
    return typer.main.get_command(one)


def test_fields_of_python_are_found_by_the_parameter_and_by_the_option() -> None:
    def run(
        name: Annotated[str, typer.Argument(metavar="NAME")],
        tickets: Annotated[list[int], typer.Argument(metavar="TICKET...")],
        *,
        count: Annotated[int, typer.Option("-n")] = 1,
        error_rate: Annotated[float, typer.Option("--error-rate", "-e")] = 0.1,
    ) -> None: ...

    found = typed(made(run).params)
    assert {key: found[key] for key in ("name", "ticket", "tickets", "n", "count", "error_rate", "e")} == {
        "name": "NAME",
        "ticket": "TICKET",
        "tickets": "TICKET",
        "n": "-n",
        "count": "-n",
        "error_rate": "--error-rate",
        "e": "--error-rate",
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("suggest", "harbour", "-n", 2_000_000), "superlevel: -n is 2,000,000"),
        (("suggest", "harbour", "--worker", " "), "superlevel: --worker is ' '"),
        (("status", "sea"), "superlevel: NAME is 'sea'"),
        (("status", "harbour", "--store", "nonsense"), "superlevel: --store is '***'"),
        (("withdraw", "harbour", 99, "--reason", "x"), "superlevel: TICKET is 99"),
        (("correct", "harbour", 99, "3.5", "--reason", "x"), "superlevel: TICKET is 99"),
    ],
)
def test_a_mistake_names_what_was_typed(terminal: Terminal, arguments: tuple[object, ...], said: str) -> None:
    terminal.measured()
    ran = terminal("study", *arguments)
    assert ran.code == 2
    assert ran.err.startswith(said)


def test_an_error_keeps_its_kind_its_value_and_its_remedy() -> None:
    error = sl.InputError("n", None, "give one").about("-n")
    assert (type(error), error.field, error.got, error.remedy) == (sl.InputError, "-n", "missing", "give one")
