"""The guide shows what its commands really print."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guide import GUIDE, Shown, alike, folder, replayed, run, settled, steps

TEXT = GUIDE.read_text(encoding="utf-8")


def test_every_command_of_the_guide_prints_what_the_guide_shows(tmp_path: Path) -> None:
    with folder(tmp_path):
        found = replayed(TEXT)
    shown, printed = ([step for step in steps(text) if isinstance(step, Shown)] for text in (TEXT, found))
    assert len(shown) > 15
    for before, now in zip(shown, printed, strict=True):
        assert before.command == now.command
        if not alike(before, now):  # the assertion below shows the difference
            assert settled(before.printed) == settled(now.printed), before.command


def test_what_differs_from_run_to_run_is_not_compared() -> None:
    assert settled("until 2026-11-17 09:16; more  \n\n") == settled("until 2031-01-01 00:00; more")
    assert settled("13 above") != settled("14 above")
    assert settled("22.335135968926902") == settled("22.335135968926874")
    assert settled("22.3351359") != settled("22.3351358")


@pytest.mark.parametrize(("command", "same"), [("superlevel plan pilot.csv", True), ("superlevel study status", False)])
def test_only_the_counts_of_a_forecast_may_differ_by_a_batch(command: str, same: bool) -> None:
    shown = Shown(command, "MELK   1,214 measurements")
    assert alike(shown, Shown(command, "MELK     970 measurements")) is same
    assert not alike(shown, Shown(command, "MELK     600 measurements"))
    assert not alike(shown, Shown(command, "LSE    1,214 measurements"))


def test_a_mistake_in_a_command_is_shown_as_people_see_it(tmp_path: Path) -> None:
    with folder(tmp_path):
        assert run("superlevel study status sea").startswith("superlevel: --store is")


@pytest.mark.parametrize("verb", ["create", "suggest", "tell", "status", "verify", "plot", "report", "export", "list"])
def test_the_guide_shows_every_verb_of_a_campaign(verb: str) -> None:
    commands = [step.command for step in steps(TEXT) if isinstance(step, Shown)]
    assert any(command.startswith(f"superlevel study {verb}") for command in commands)
