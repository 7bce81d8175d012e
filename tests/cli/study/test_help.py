"""Help that teaches and comes at once, Ctrl-C, and pipes that nobody reads any more."""

from __future__ import annotations

import pytest

from superlevel.cli import study
from superlevel.cli.study import common
from tests.cli.study.terminal import Terminal, start

SLOW = ("scipy", "sklearn", "matplotlib", "pandas", "sqlalchemy", "alembic")  # typer has pydantic already


@pytest.mark.parametrize("verb", [*study.VERBS, ""])
def test_the_help_of_every_verb_has_an_example(terminal: Terminal, verb: str) -> None:
    ran = terminal("study", *([verb] if verb else []), "--help")
    assert ran.code == 0
    assert f"Example: superlevel study {verb or 'create'} " in ran.out
    assert "--store" in ran.out or not verb


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
