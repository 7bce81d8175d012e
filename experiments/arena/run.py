"""The arena: our methods and other people's tools on the same problems, with everything estimated by each tool.

    python -m experiments.arena                                    # everything, 25 seeds: days on two cores
    python -m experiments.arena --seeds 1 --problems sids meuse    # a minute
    python -m experiments.arena --methods peers --jobs 1           # other people's tools alone
    python -m experiments.arena.page                               # tables and pictures from the rows that are there

Every run becomes one line of the journal as soon as it is there. Killed and started again, only what is missing is
computed. Rows of other people's tools stay when our version changes, and ours are kept apart by version.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from rich.console import Console

import superlevel as sl
from experiments.arena.environments import ENVIRONMENTS, PEERS, Peer, UnavailableError, digest_of, python_of
from experiments.arena.ours import OURS, Named, looks_of
from experiments.arena.peers.loop import LOOK
from experiments.arena.problems import SOURCES, SPLITS
from experiments.fields import MissingError
from superlevel.cli.reproduce import Bar
from superlevel.reproduce import runner
from superlevel.reproduce.engines import Processes
from superlevel.reproduce.settings import Entry, Figure, Row, Setting, Task

ROWS = Path("out/arena/rows.jsonl")
GROUPS = {"ours": tuple(OURS), "peers": tuple(PEERS)}


@dataclass(frozen=True, kw_only=True)
class Bout(Task):
    """One run. What it depends on is in the repr of the trial: the version of our library, or of a peer."""

    @property
    def digest(self) -> str:
        return sha256(repr((self.setting, self.entry.trial)).encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class Arena(Figure):
    """All runs, one seed after the other: whenever it ends, all contestants have had nearly the same seeds."""

    name: str = "arena"
    title: str = "Arena"
    settings: Sequence[Setting] = field(default=())
    entries: Sequence[Entry] = field(default=())

    def tasks(self, reps: int, seed: int) -> list[Task]:
        return [
            Bout(setting=setting, entry=entry, seed=seed + k)
            for k in range(reps)
            for setting in self.settings
            for entry in self.entries
        ]


def settings_of(names: Sequence[str], console: Console, budget: int | None = None) -> Iterator[Setting]:
    """Problems whose data are here."""
    for name in names:
        try:
            looks = looks_of(name)
        except MissingError as error:
            console.print(f"{name} is left out: {error}", markup=False)
            continue
        yield Setting(name=name, world=Named(name=name), samples=tuple(k for k in looks if k <= (budget or k)))


def entries_of(names: Sequence[str], version: str, console: Console, folder: Path = ENVIRONMENTS) -> Iterator[Entry]:
    """Contestants that can be run here."""
    for name in names:
        if name in OURS:
            trial = replace(OURS[name], version=version)
            lacking = trial.lacking()
            if lacking:
                console.print(f"{name} is left out: {lacking}", markup=False)
            else:
                yield Entry(label=name, trial=trial)
            continue
        try:
            yield Entry(label=name, trial=installed(PEERS[name], console, folder))
        except UnavailableError as error:
            console.print(f"{name} is left out: its environment could not be made ({error})", markup=False)


def installed(peer: Peer, console: Console, folder: Path) -> Peer:
    """The peer with the Python of its environment."""
    with console.status(f"environment {peer.environment}"):
        python = python_of(peer.environment, folder)
    return replace(peer, python=python, requirements=digest_of(peer.environment))


def run(settings: Sequence[Setting], entries: Sequence[Entry], path: Path, *, seeds: int, jobs: int) -> list[Row]:
    """All rows, those that are there and the others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure = Arena(settings=settings, entries=entries)
    with Bar("arena") as bar, Processes(jobs=jobs).running() as work:
        return runner.complete(figure, path, work, reps=seeds, seed=0, watch=bar, order=list)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m experiments.arena",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--problems", nargs="+", choices=list(SOURCES), metavar="NAME", help="instead of a split")
    made.add_argument("--split", choices=list(SPLITS), default="report")
    known = [*GROUPS, *OURS, *PEERS]
    made.add_argument("--methods", nargs="+", choices=known, metavar="NAME", help=f"out of {', '.join(known)}")
    made.add_argument("--seeds", type=int, default=25)
    made.add_argument("--jobs", type=int, default=2)
    made.add_argument(
        "--budget", type=int, help=f"measurements at most, in steps of {LOOK}; by default a problem's own"
    )
    made.add_argument("--version", default=sl.__version__, help="of our library, as rows name it")
    made.add_argument("--out", type=Path, default=ROWS, help="the journal")
    made.add_argument("--envs", type=Path, default=ENVIRONMENTS, help="folder of the peers' environments")
    return made


def chosen(methods: Sequence[str] | None) -> list[str]:
    """Labels, each once; the names of groups stand for all of theirs."""
    wanted = methods or list(GROUPS)
    return list(dict.fromkeys(label for name in wanted for label in GROUPS.get(name, (name,))))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, and say where it is."""
    given = parser().parse_args(arguments)
    console = Console(soft_wrap=True)
    settings = list(settings_of(given.problems or SPLITS[given.split], console, given.budget))
    entries = list(entries_of(chosen(given.methods), given.version, console, given.envs))
    if not settings or not entries:
        console.print("nothing is left to run")
        return
    rows = run(settings, entries, given.out, seeds=given.seeds, jobs=given.jobs)
    failed = [row for row in rows if "failed" in row.values]
    for row in failed:
        console.print(f"{row.method} failed on {row.setting}, seed {row.seed}: {row.values['failed']}", markup=False)
    console.print(f"{len(rows)} rows, {len(failed)} failed, in {given.out}", markup=False)
