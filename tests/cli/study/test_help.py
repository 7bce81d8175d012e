"""Help that teaches and comes at once, Ctrl-C, and pipes that nobody reads any more."""

from __future__ import annotations

from inspect import signature
from typing import get_type_hints

import pytest

from superlevel.cli import study
from superlevel.cli.study import common, create
from superlevel.fields import FIELDS, Field
from tests.cli.study.terminal import Terminal, start
from tests.test_docs import ROOT

SLOW = ("scipy", "sklearn", "matplotlib", "pandas", "sqlalchemy", "alembic")  # typer has pydantic already


@pytest.mark.parametrize("verb", [*study.VERBS, ""])
def test_the_help_of_every_verb_has_an_example(terminal: Terminal, verb: str) -> None:
    ran = terminal("study", *([verb] if verb else []), "--help")
    assert ran.code == 0
    assert f"Example: superlevel study {verb or 'create'} " in ran.out
    assert "--store" in ran.out or verb in ("", "key")


PYTHON_ONLY = ("cost",)  # an array with a number for each point: a problem in Python takes it


@pytest.mark.parametrize("field", [field for field in FIELDS if field.name not in PYTHON_ONLY], ids=lambda f: f.name)
def test_every_field_of_a_problem_is_an_option_of_create_whose_help_begins_with_its_meaning(
    terminal: Terminal, field: Field
) -> None:
    (option,) = get_type_hints(create.run, include_extras=True)[field.name].__metadata__
    assert option.help.startswith(field.meaning)
    assert signature(create.run).parameters[field.name].default in (field.default, create.AUTO, None)
    shown = " ".join(terminal("study", "create", "--help").out.replace("│", " ").split())
    assert f"--{field.name} " in shown


@pytest.mark.parametrize("name", PYTHON_ONLY)
def test_a_field_for_python_only_is_no_option_and_the_page_of_fields_says_so(terminal: Terminal, name: str) -> None:
    assert name in [field.name for field in FIELDS]
    assert f"--{name}" not in terminal("study", "create", "--help").out
    page = " ".join((ROOT / "docs/problem.md").read_text(encoding="utf-8").split())
    assert f"The exception is `{name}`" in page
    assert "only Python takes it" in page


def test_the_help_of_the_program_says_what_exit_codes_mean(terminal: Terminal) -> None:
    shown = terminal("--help").out
    for words in ("study", "doctor", "Exit codes: 0 all went well", "3 the store cannot be used", "130 stopped"):
        assert words in shown


@pytest.mark.parametrize("arguments", [[], ["study"], ["study", "create"], ["doctor"]])
def test_help_imports_nothing_slow(arguments: list[str]) -> None:
    shown, imported = start(*arguments, "--help").communicate(timeout=60)
    assert "--help" in shown
    assert not [slow for slow in SLOW if f"'{slow}'" in imported]


def test_a_verb_that_is_misspelt_is_put_right(terminal: Terminal) -> None:
    ran = terminal("study", "tel")
    assert ran.code == 2
    assert "Did you mean 'tell'?" in ran.err


def test_ctrl_c_is_a_sentence_and_exit_code_130(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(common, "storage_of", interrupted)
    ran = terminal("study", "list")
    assert ran.code == 130
    assert ran.err == "superlevel: stopped: what was stored stays stored, and nothing is half done\n"


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_pipe_that_nobody_reads_is_no_traceback(terminal: Terminal, options: list[str]) -> None:
    terminal.measured(0)
    process = start("study", "list", *options)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == common.CLOSED_PIPE
    assert "Traceback" not in said
    assert "BrokenPipe" not in said
