"""Programs that are called like functions."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from superlevel import Command, InputError
from superlevel.commands import CallFailedError


def program(text: str) -> Command:
    """A Python program that gets one argument."""
    return Command(f"{sys.executable} -c {text!r} {{x}}", timeout=20)


def test_values_are_written_exactly_and_stay_within_their_word() -> None:
    command = Command("./simulate --heat={t} '{metal} and {metal}' {{braces}} {n:03d} {t:.1f}")
    words = command.arguments(t=0.1 + 0.2, metal="a; rm -rf $HOME `x` \"'", n=7)
    metal = "a; rm -rf $HOME `x` \"'"
    assert words == ["./simulate", "--heat=0.30000000000000004", f"{metal} and {metal}", "{braces}", "007", "0.3"]
    assert command.fields == {"t", "metal", "n"}


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("3.5", 3.5),
        ("step 1 2 3\\nyield: -1.5e-3 m2\\n", -1.5e-3),
        ("version 1.2.3, answer=.5;", 0.5),
        ("the answer is 42.", 42.0),
        ("+1E5", 1e5),
    ],
)
def test_the_last_number_counts(printed: str, value: float) -> None:
    assert program(f'print("{printed}")')(x=1.0) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import sys; sys.exit(3)", "exit code 3"),
        ('import sys; print(1); sys.exit("no convergence")', "exit code 1: no convergence"),
        ("import os; os.kill(os.getpid(), 9)", "ended by signal 9"),
        ("pass", "printed nothing"),
        ('print("m2")', "printed no number: 'm2'"),
    ],
)
def test_a_call_without_a_number_says_why(text: str, reason: str) -> None:
    with pytest.raises(CallFailedError, match=reason):
        program(text)(x=1.0)


def test_a_call_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    noted = tmp_path / "child"
    script = tmp_path / "slow"
    script.write_text(f"#!/bin/sh\nsleep 60 &\necho $! > {noted}\nwait\n")
    script.chmod(0o755)
    began = time.monotonic()
    with pytest.raises(CallFailedError, match=r"no answer within 0\.5 s"):
        Command(f"{script} {{x}}", timeout=0.5)(x=1.0)
    assert time.monotonic() - began < 20
    child = int(noted.read_text())
    for _ in range(100):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        if "State:\tZ" in Path(f"/proc/{child}/status").read_text(encoding="ascii"):
            return  # it has ended, and nobody has asked how
        time.sleep(0.05)
    pytest.fail("the child is still there")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Command(""), "give a program and its arguments"),
        (lambda: Command("./simulate 'x"), "check its quotes"),
        (lambda: Command("./simulate {x"), "write a brace that is not around a name twice"),
        (lambda: Command("sh {x}", timeout=0), "timeout is 0: give a number > 0"),
        (lambda: Command("sh {x} {y}").check(["x"]), r"one with {y}: the coordinates are x"),
        (lambda: Command("sh {x}").check(["x", "ph"]), r"one without {ph}"),
        (lambda: Command("sh {x.real}").check(["x"]), r"one with {x\.real}"),
        (lambda: Command("./is-not-there {x}").check(["x"]), "begins with './is-not-there'"),
    ],
)
def test_a_bad_command_gets_a_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()


def test_a_program_that_has_gone_is_a_call_that_failed(tmp_path: Path) -> None:
    with pytest.raises(CallFailedError, match="could not be started"):
        Command(f"{tmp_path}/gone {{x}}")(x=1.0)
