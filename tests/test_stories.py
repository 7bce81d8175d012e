"""The stories show what their commands really print, and how long each took."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guide import folder
from tests.stories import PAGES, PICTURES, STORIES, TOOK, commands, ran, replayed, seconds, without_times


@pytest.mark.parametrize("name", PAGES)
def test_every_command_of_a_story_has_its_time(name: str) -> None:
    steps = list(commands((STORIES / f"{name}.md").read_text(encoding="utf-8")))
    assert len(steps) > 5
    assert all(seconds(step) is not None for step in steps)
    assert not any("Traceback" in step.printed for step in steps)


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_a_survey_goes_from_a_file_to_a_report(name: str) -> None:
    steps = list(commands((STORIES / f"{name}.md").read_text(encoding="utf-8")))
    assert (STORIES / f"{name}.png").stat().st_size
    for verb in ("create", "suggest", "tell", "report"):
        assert any(step.command.startswith(f"superlevel study {verb}") for step in steps)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_every_command_of_a_story_prints_what_the_page_shows(name: str, tmp_path: Path) -> None:
    text = (STORIES / f"{name}.md").read_text(encoding="utf-8")
    with folder(tmp_path):
        found = replayed(text)
    for before, now in zip(ran(text), ran(found), strict=True):
        assert without_times(before) == without_times(now), before.command


def test_a_story_is_replayed(tmp_path: Path) -> None:
    page = (
        "```python file=twice\n#!/bin/sh\necho $(($1 * 2))\n```\n\n```console\n$ ./twice 21\nold\n[9.9 s]\n```\n\n"
        "```python\nprint(6 * 7)\n```\n\n```text\n41\n```\n"
    )
    with folder(tmp_path):
        found = replayed(page)
    assert "$ ./twice 21\n42\n[0." in found
    assert found.endswith("```python\nprint(6 * 7)\n```\n\n```text\n42\n```\n")
    before, now, later = (list(map(without_times, ran(text))) for text in (page, found, TOOK.sub("[1.0 s]", found)))
    assert before == ["old", "41"]
    assert now == later == ["42", "42"]
