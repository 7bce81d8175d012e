"""Runs the stories in docs/stories: every command in a process of its own, with what it prints and how long it took.

    python -m tests.stories [raster ...]   # writes what the commands print now, and their times, into the pages

A block ```console has commands after `$ `. Below each is what it prints, and its time as the last line. A block
```python file=NAME is written to a file that can be run. Any other block ```python runs where it stands, and what it
prints is in the block ```text after it.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

from tests.guide import WIDTH, folder, settled

STORIES = Path(__file__).parent.parent / "docs" / "stories"
PAGES = sorted(page.stem for page in STORIES.glob("*.md"))
PICTURES = {"compounds": "potency.png", "raster": "warm.png", "soil": "zinc.png"}
"""The picture that a page shows, as its commands call it."""
BLOCK = re.compile(
    r"^```(console|python)(?: file=(\S+))?\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE
)
TOOK = re.compile(r"^\[(\d+\.\d) s\]$", re.MULTILINE)


class Ran(NamedTuple):
    """A command of a page, with what it printed and its time as they are shown; or Python, which has no time."""

    command: str
    printed: str


def commands(text: str) -> Iterator[Ran]:
    """The commands of a page, in order."""
    for kind, _, body, _ in BLOCK.findall(text):
        if kind == "console":
            yield from _parts(body)


def ran(text: str) -> Iterator[Ran]:
    """All that prints something on a page, in order."""
    for kind, name, body, printed in BLOCK.findall(text):
        if kind == "console":
            yield from _parts(body)
        elif not name:
            yield Ran(body, printed)


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
    """The page with what its commands print now, in the present folder."""
    names: dict[str, object] = {}

    def again(block: re.Match[str]) -> str:
        kind, name, body, _ = block.groups()
        if kind == "console":
            return "```console\n" + "".join(f"$ {step.command}\n{run(step.command)}\n" for step in _parts(body)) + "```"
        if name is not None:
            Path(name).write_text(body, encoding="utf-8")
            Path(name).chmod(0o755)
            return block[0]
        with redirect_stdout(io.StringIO()) as printed:
            exec(compile(body, "story", "exec"), names)
        shown = printed.getvalue()
        return f"```python\n{body}```" + (f"\n\n```text\n{shown}```" if shown else "")

    return BLOCK.sub(again, text)


def _parts(body: str) -> Iterator[Ran]:
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield Ran(command, printed)


def main(names: list[str]) -> None:
    for name in names or PAGES:
        page = STORIES / f"{name}.md"
        with tempfile.TemporaryDirectory() as path, folder(Path(path)):
            found = replayed(page.read_text(encoding="utf-8"))
            if name in PICTURES:
                shutil.copy(PICTURES[name], page.with_suffix(".png"))
        page.write_text(found, encoding="utf-8")
        sys.stdout.write(f"wrote {page.name}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
