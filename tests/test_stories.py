"""The stories show what their commands really print, and how long each took."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guide import folder
from tests.stories import PICTURES, STORIES, ran, replayed, seconds, without_times

PAGES = sorted(PICTURES)


@pytest.mark.parametrize("name", PAGES)
def test_a_story_goes_from_a_file_to_a_report_and_has_the_time_of_every_command(name: str) -> None:
    steps = list(ran((STORIES / f"{name}.md").read_text(encoding="utf-8")))
    assert (STORIES / f"{name}.png").stat().st_size
    for verb in ("create", "suggest", "tell", "report"):
        assert any(step.command.startswith(f"superlevel study {verb}") for step in steps)
    assert all((seconds(step) or 0.0) > 0.0 for step in steps)
    assert not any("Traceback" in step.printed for step in steps)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_every_command_of_a_story_prints_what_the_page_shows(name: str, tmp_path: Path) -> None:
    text = (STORIES / f"{name}.md").read_text(encoding="utf-8")
    with folder(tmp_path):
        found = replayed(text)
    for before, now in zip(ran(text), ran(found), strict=True):
        assert without_times(before) == without_times(now), before.command
