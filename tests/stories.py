"""The stories in docs/stories run as they stand: `python -m tests.stories` writes what they print, with times.

A block ```console has commands after "$ "; each is followed by what it prints and by the line "took ... s". A block
```python file=NAME is written to a file that can be run. Any other block ```python runs, and what it prints is in the
block ```text after it.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

from tests.guide import folder, run, settled

STORIES = Path(__file__).parent.parent / "docs" / "stories"
BLOCK = re.compile(r"```(console|python|python file=(\S+))\n(.*?)```(\n\n```text\n.*?```)?", re.DOTALL)
TOOK = re.compile(r"^took [\d.]+ s$", re.MULTILINE)


def replayed(text: str) -> str:
    """The page with what its commands print now, in the present folder."""

    def again(block: re.Match[str]) -> str:
        kind, name, body = block[1], block[2], block[3]
        if kind == "console":
            parts = re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]
            return f"```console\n{''.join(map(_shown, parts))}```"
        if name is not None:
            Path(name).write_text(body, encoding="utf-8")
            Path(name).chmod(0o755)
            return block[0]
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(body, "story", "exec"), {})
        return f"```python\n{body}```\n\n```text\n{printed.getvalue()}```"

    return BLOCK.sub(again, text)


def _shown(part: str) -> str:
    command = part.partition("\n")[0]
    began = time.monotonic()
    printed = "\n".join(line.rstrip() for line in run(command).strip("\n").splitlines())
    return f"$ {command}\n{printed}\ntook {time.monotonic() - began:.1f} s\n"


def compared(text: str) -> str:
    """A page without what differs from run to run."""
    return settled(TOOK.sub("took", text))


def main() -> None:
    for page in sorted(STORIES.glob("*.md")) if len(sys.argv) < 2 else map(Path, sys.argv[1:]):
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as path, folder(Path(path)):
            found = replayed(text)
        page.write_text(found, encoding="utf-8")
        sys.stdout.write(f"wrote {page.name}\n")


if __name__ == "__main__":
    main()
