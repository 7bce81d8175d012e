"""What a figure is made of: settings x entries x seeds, each of which gives one row.

Everything here is data with a readable repr: a worker in another process gets all it needs, and two tasks are the
same task if they read the same.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from superlevel import __version__
from superlevel.reproduce.worlds import World

Values: TypeAlias = Mapping[str, Any]
"""What a trial measured: JSON."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One panel of a figure."""

    name: str
    world: Callable[[int], World]
    """The function of a seed."""
    samples: tuple[int, ...]
    """Numbers of measurements at which a score is taken; the last one is the budget."""


class Trial(Protocol):
    """One run: the setting's function of that seed, and what came out."""

    def __call__(self, setting: Setting, seed: int) -> Values: ...


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is compared, under the name it has in every figure."""

    label: str
    trial: Trial
    paper: bool = False
    """Whether the paper's figure has it too."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What is kept of a task: one line of a file."""

    setting: str
    method: str
    seed: int
    digest: str
    seconds: float
    values: Values

    @property
    def key(self) -> tuple[str, str, int, str]:
        return (self.setting, self.method, self.seed, self.digest)


@dataclass(frozen=True, kw_only=True)
class Task:
    """One row to come."""

    setting: Setting
    entry: Entry
    seed: int

    @property
    def digest(self) -> str:
        """Of the setting, the trial and the version: a row of another budget or with other options is another row."""
        return hashlib.sha256(repr((__version__, self.setting, self.entry.trial)).encode()).hexdigest()[:16]

    @property
    def key(self) -> tuple[str, str, int, str]:
        return (self.setting.name, self.entry.label, self.seed, self.digest)

    def run(self) -> Row:
        """The row."""
        began = time.perf_counter()
        values = self.entry.trial(self.setting, self.seed)
        return Row(
            setting=self.setting.name,
            method=self.entry.label,
            seed=self.seed,
            digest=self.digest,
            seconds=round(time.perf_counter() - began, 3),
            values=values,
        )


@dataclass(frozen=True, kw_only=True)
class Score:
    """What the curves of a figure show."""

    field: str
    """Of a row's values: a list with a number for each of the setting's samples."""
    label: str
    """Of the axis."""


F1 = Score(field="f1", label="F1 of the declared set")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of the paper, or one like it."""

    name: str
    title: str
    settings: Sequence[Setting]
    entries: Sequence[Entry]
    score: Score = F1
    logarithmic: bool = False
    """Whether measurements are on a logarithmic axis."""

    def tasks(self, reps: int, seed: int) -> list[Task]:
        """In the order in which everything is written and drawn."""
        return [
            Task(setting=setting, entry=entry, seed=seed + k)
            for setting in self.settings
            for entry in self.entries
            for k in range(reps)
        ]
