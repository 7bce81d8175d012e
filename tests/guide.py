"""Runs the guide: every command that it shows, in a folder of its own, with what each prints.

    python -m tests.guide            # writes what the commands print now into docs/guide.md

A block ```console holds commands after `$ ` and below each what it prints; a block ```python is run where it stands.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from typer.testing import CliRunner

from superlevel.cli import app
from superlevel.errors import SuperlevelError

GUIDE = Path(__file__).parent.parent / "docs" / "guide.md"
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
DATE = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(\+00:00|Z)?")
LONG = re.compile(r"-?\d+\.\d{10,}(?:e[+-]\d+)?")  # the last digits depend on the processor
DIGEST = re.compile(r"\b(?:[0-9a-f]{8} \([0-9a-f]{32}\)|[0-9a-f]{32})")  # of times, too
COUNT = re.compile(r"(\d[\d,]*\.?\d*)")
ONE_BATCH = 1.3
WIDTH = "100"


class Shown(NamedTuple):
    """A command of the guide."""

    command: str
    printed: str


def steps(text: str) -> Iterator[Shown | str]:
    """Commands with what they are said to print, and Python to run, in order."""
    for kind, body in BLOCK.findall(text):
        if kind == "python":
            yield body
            continue
        for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield Shown(command, printed)


def run(command: str) -> str:
    """What a command prints, on both streams."""
    words = shlex.split(command)
    if words[0] != "superlevel":
        return subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout
    try:
        done = CliRunner().invoke(app, words[1:], env={"COLUMNS": WIDTH, "TERM": "dumb"}, catch_exceptions=False)
    except SuperlevelError as error:
        return f"superlevel: {error}"
    return str(done.output)


def settled(text: str) -> str:
    """Without what differs from run to run or from one processor to another, and blanks at the ends of lines."""
    rounded = LONG.sub(lambda number: f"{float(number[0]):.9g}", DIGEST.sub("DIGEST", DATE.sub("DATE", text)))
    return "\n".join(line.rstrip() for line in rounded.strip().splitlines())


def alike(step: Shown, now: Shown) -> bool:
    """Whether a command prints what the guide shows. The counts of a forecast may differ by one batch.

    A forecast runs a campaign whose batches grow by a fifth. Where a rounding decides which batch is the last one,
    another processor may need one batch more or less.
    """
    if not step.command.startswith("superlevel plan"):
        return settled(step.printed) == settled(now.printed)
    before, after = (re.split(COUNT, " ".join(settled(text).split())) for text in (step.printed, now.printed))
    return before[::2] == after[::2] and all(map(_near, before[1::2], after[1::2]))


def _near(one: str, other: str) -> bool:
    smaller, larger = sorted(float(text.replace(",", "")) for text in (one, other))
    return larger <= ONE_BATCH * smaller


@contextmanager
def folder(path: Path) -> Iterator[None]:
    """Work there, with the default store."""
    before, store = Path.cwd(), os.environ.pop("SUPERLEVEL_STORE", None)
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)
        if store is not None:
            os.environ["SUPERLEVEL_STORE"] = store


def replayed(text: str) -> str:
    """The guide with what its commands print now."""
    names: dict[str, object] = {}

    def again(block: re.Match[str]) -> str:
        kind, body = block.groups()
        if kind == "python":
            exec(compile(body, "guide", "exec"), names)
            return block.group(0)
        parts = []
        for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            command = part.partition("\n")[0]
            printed = "\n".join(line.rstrip() for line in run(command).strip("\n").splitlines())
            parts.append(f"$ {command}\n{printed}\n" if printed else f"$ {command}\n")
        return f"```console\n{''.join(parts)}```"

    return BLOCK.sub(again, text)


def main() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as path, folder(Path(path)):
        found = replayed(text)
        shutil.copy("harbour.png", GUIDE.with_suffix(".png"))
    GUIDE.write_text(found, encoding="utf-8")
    sys.stdout.write(f"wrote {GUIDE.name}\n")


if __name__ == "__main__":
    main()
