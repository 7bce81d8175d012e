"""What people see on a terminal while something takes long: a sentence, and the time that is left of a pass.

Nothing is shown where stderr is no terminal.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

SOON = 2.0  # seconds: a pass that ends within that has no bar


@contextmanager
def working(sentence: str) -> Iterator[None]:
    """Something that takes a while, and the passes over a large domain in it."""
    from superlevel.passes import watching  # noqa: PLC0415  slow to import, and --help needs none of it

    console, shown = Console(stderr=True), Table.grid(padding=(0, 2))
    progress = Progress(BarColumn(), TextColumn("left:"), TimeRemainingColumn(), console=console)
    shown.add_row(Text(printable(sentence)), progress)
    with console.status(shown), watching(PassBar(progress)):
        yield


class PassBar:
    """The bar of one pass after the other."""

    def __init__(self, progress: Progress, name: str = "") -> None:
        self._progress, self._name = progress, name
        self._begun = 0.0
        self._task: TaskID | None = None

    def __call__(self, done: int, total: int) -> None:
        """See `superlevel.passes.Watch`."""
        if not done:
            self._end()
            self._begun = time.monotonic()
            self._task = self._progress.add_task(self._name, total=total, visible=False)
        elif self._task is not None:
            late = time.monotonic() - self._begun >= SOON
            self._progress.update(self._task, completed=done, visible=late and done < total)

    def _end(self) -> None:
        """Of the bar of the pass before."""
        if self._task is not None:
            self._progress.remove_task(self._task)


def printable(text: str) -> str:
    """Without what no terminal can show: names of files may be any bytes."""
    return text.encode(errors="backslashreplace").decode()
