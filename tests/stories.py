"""Runs the stories in docs/stories: every command in a process of its own, with what it prints and how long it took.

    python -m tests.stories [soil ...]     # writes what the commands print now, and their times, into the pages

Blocks are as in the guide (`tests.guide`). The last line that is shown below a command is its time.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.guide import BLOCK, WIDTH, folder, settled

STORIES = Path(__file__).parent.parent / "docs" / "stories"
PICTURES = {"soil": "zinc.png"}
"""The picture that a page shows, as its commands call it."""
TOOK = re.compile(r"^\[(\d+\.\d) s\]$", re.MULTILINE)


class Ran(NamedTuple):
    """A command of a page, with what it printed and its time as they are shown."""

    command: str
    printed: str


def ran(text: str) -> Iterator[Ran]:
    """The commands of a page, in order."""
    for kind, body in BLOCK.findall(text):
        if kind == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, printed = part.partition("\n")
                yield Ran(command, printed)


def seconds(step: Ran) -> float | None:
    """How long a command took; None where the page does not say it."""
    found = TOOK.search(step.printed)
    return None if found is None else float(found[1])


def without_times(step: Ran) -> str:
    """What does not differ from run to run."""
    return settled(TOOK.sub("", step.printed))


def run(command: str) -> str:
    """What a command prints on both streams, and its time."""
    words = shlex.split(command)
    if words[0] == "superlevel":
        words[:1] = [sys.executable, "-m", "superlevel"]
    environment = {
        **os.environ,
        "COLUMNS": WIDTH,
        "TERM": "dumb",
        "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)),
    }
    begun = time.perf_counter()
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=environment
    )
    printed = "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())
    return f"{printed}\n[{time.perf_counter() - begun:.1f} s]"


def replayed(text: str) -> str:
    """The page with what its commands print now."""
    names: dict[str, object] = {}

    def again(block: re.Match[str]) -> str:
        kind, body = block.groups()
        if kind == "python":
            exec(compile(body, "story", "exec"), names)
            return block.group(0)
        commands = [part.partition("\n")[0] for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]]
        return "```console\n" + "".join(f"$ {command}\n{run(command)}\n" for command in commands) + "```"

    return BLOCK.sub(again, text)


def main(names: list[str]) -> None:
    for name in names or sorted(PICTURES):
        page = STORIES / f"{name}.md"
        with tempfile.TemporaryDirectory() as path, folder(Path(path)):
            found = replayed(page.read_text(encoding="utf-8"))
            shutil.copy(PICTURES[name], page.with_suffix(".png"))
        page.write_text(found, encoding="utf-8")
        sys.stdout.write(f"wrote {page.name}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
