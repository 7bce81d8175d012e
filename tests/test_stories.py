"""The stories show what their commands really print, and how long each took."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.guide import folder
from tests.stories import STORIES, TOOK, compared, replayed

PAGES = [STORIES / "simulator.md"]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_story_prints_what_the_story_shows(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    with folder(tmp_path):
        found = replayed(text)
    assert compared(found) == compared(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_story_has_its_time(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    commands = re.findall(r"^\$ ", text, re.MULTILINE)
    assert len(commands) == len(TOOK.findall(text)) > 5


def test_a_story_is_replayed(tmp_path: Path) -> None:
    page = (
        "```python file=twice\n#!/bin/sh\necho $(($1 * 2))\n```\n\n```console\n$ ./twice 21\nold\ntook 9.9 s\n```\n\n"
        "```python\nprint(6 * 7)\n```\n\n```text\n41\n```\n"
    )
    with folder(tmp_path):
        found = replayed(page)
    assert "$ ./twice 21\n42\ntook 0." in found
    assert found.endswith("```python\nprint(6 * 7)\n```\n\n```text\n42\n```\n")
    assert compared(found) != compared(page)
    assert compared(found) == compared(TOOK.sub("took 1.0 s", found))
