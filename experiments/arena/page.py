"""The tables and pictures of docs/arena.md, from the rows that are there.

    python -m experiments.arena.page                               # from out/arena/rows.jsonl
    python -m experiments.arena.page --rows ours.jsonl peers.jsonl --docs docs

It writes between the two marks of docs/arena.md and leaves the words around them alone. Besides it writes two pictures,
and docs/arena.csv with every contestant in every column.
"""

from __future__ import annotations

import argparse
import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console

import superlevel as sl
from experiments.arena import pictures, sections
from experiments.arena.environments import PEERS, REFERENCE, digest_of
from experiments.arena.ours import DECLARE, DEFAULT, OURS, RATES, UNIFORM
from experiments.arena.peers.loop import RATE
from experiments.arena.problems import SOURCES, SPLITS
from experiments.arena.run import ROWS, Bout, settings_of
from experiments.arena.standings import (
    F1,
    MISLABELLED,
    SUREST,
    WRONG,
    Column,
    Curves,
    Measure,
    columns,
    curves,
    read,
    relative,
)
from superlevel.reproduce.outcome import write_bytes
from superlevel.reproduce.settings import Entry, Row, Setting

BEGIN, END = "<!-- arena: begin -->", "<!-- arena: end -->"
DPI = 110
SEEDS = 3  # of every problem: contestants with fewer are not shown


@dataclass(frozen=True, kw_only=True, eq=False)
class Results:
    """Everything that the page shows."""

    settings: Sequence[Setting]
    rows: Sequence[Row]
    default: str
    peers: Sequence[str]
    ours: Sequence[str]
    """Our other contestants."""

    @property
    def contestants(self) -> list[str]:
        return [self.default, *self.peers, *self.ours]

    def curves(self, measure: Measure) -> Curves:
        return curves(self.rows, self.settings, measure)

    def columns(self, measure: Measure) -> list[Column]:
        return columns(self.curves(measure), self.settings)


def known_entries(version: str) -> list[Entry]:
    """All contestants as the runner would have them, whether they can be run here or not."""
    ours = [Entry(label=name, trial=replace(trial, version=version)) for name, trial in OURS.items()]
    peers = [
        Entry(label=name, trial=replace(peer, requirements=digest_of(peer.environment))) for name, peer in PEERS.items()
    ]
    return ours + peers


def gathered(paths: Iterable[Path], settings: Sequence[Setting], version: str, seeds: int) -> Results:
    """The rows of these problems, this version and these seeds."""
    entries = known_entries(version)
    digests = {
        (setting.name, entry.label): Bout(setting=setting, entry=entry, seed=0).digest
        for setting in settings
        for entry in entries
    }
    rows = read(paths, lambda row: row.seed < seeds and digests.get((row.setting, row.method)) == row.digest)
    complete = complete_contestants(rows)
    return Results(
        settings=settings,
        rows=[row for row in rows if row.method in complete],
        default=DEFAULT,
        peers=[name for name in PEERS if name in complete],
        ours=[name for name in OURS if name in complete and name != DEFAULT],
    )


def complete_contestants(rows: Iterable[Row]) -> set[str]:
    """Contestants with at least `SEEDS` runs of every problem that the default has.

    Means over fewer problems are not comparable, and the standard error of one or two runs says nothing.
    """
    runs = Counter((row.method, row.setting) for row in rows)
    problems = {problem for name, problem in runs if name == DEFAULT}
    return {name for name, _ in runs if all(runs[name, problem] >= SEEDS for problem in problems)}


# ------------------------------------------------------------------------------------------ writing


def text(results: Results) -> str:
    """All sections, in order."""
    mislabelled, declared = results.columns(MISLABELLED), results.columns(F1)
    both = [(MISLABELLED, mislabelled), (F1, declared)]
    equal = SUREST, results.columns(SUREST)
    declaring = DECLARE if DECLARE in results.ours else results.default
    judged = {results.default: [both[0], equal]}
    judged[declaring] = [*judged.get(declaring, []), (F1, declared), equal]
    judged |= {name: [(F1, declared)] for name in RATES if name in results.ours}
    rivals = {"other tools": results.peers, "all contestants": results.contestants, UNIFORM: [UNIFORM]}
    parts = [
        sections.counts(judged, rivals),
        sections.ranking([both[0], equal], results.contestants),
        sections.pictures(),
        *(sections.columns(measure, listed, results) for measure, listed in (*both, equal)),
        sections.losses(both, results.default, results.peers, "Where another tool is ahead, in full"),
        sections.losses(both, results.default, results.ours, "Where another method of ours is ahead, in full"),
        sections.wrong(results.curves(WRONG), promises(results.contestants), [(F1, declared), equal]),
        sections.areas(results.curves(MISLABELLED), results.contestants, groups(results.settings)),
        sections.seconds(results.rows, results.contestants),
        sections.failures(results.rows),
        sections.sources(results.rows),
    ]
    return "\n\n".join(part for part in parts if part)


def promises(contestants: Iterable[str]) -> dict[str, float | None]:
    """By contestant: the share of wrong labels that its declared set aims at; None if it has its own rule."""
    own = {name for name, peer in PEERS.items() if peer.declares}
    return {name: None if name in own else RATES.get(name, RATE) for name in contestants}


def groups(settings: Iterable[Setting]) -> dict[str, list[str]]:
    """Names of problems by group."""
    found: dict[str, list[str]] = {}
    for setting in settings:
        found.setdefault(SOURCES[setting.name].group, []).append(setting.name)
    return found


def inserted(page: str, content: str) -> str:
    """The page with new content between its marks."""
    before, found, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not (found and ended):
        raise ValueError(f"the page has no {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{content}\n\n{END}{after}"


def drawings(results: Results) -> dict[str, Figure]:
    """The pictures by the names of their files."""
    found, declared = results.curves(MISLABELLED), results.curves(F1)
    points = {row.setting: row.values["points"] for row in results.rows}
    shown = [results.default, REFERENCE, *(name for name in results.peers if name != REFERENCE)]
    ratios = {name: relative(found, name, REFERENCE, points) for name in shown}
    means = {
        name: {
            problem: np.mean(list(each[name].values()), axis=0) for problem, each in declared.items() if name in each
        }
        for name in shown
    }
    there = [setting for setting in results.settings if setting.name in ratios[results.default]]
    promised = [name for name in (DECLARE, *RATES) if name in results.ours]
    return {
        "arena-promises.png": pictures.promises(found_and_wrong(results), [results.default, *promised]),
        "arena.png": pictures.summary(ratios, means, REFERENCE),
        "arena-groups.png": pictures.by_group(ratios, groups(there), REFERENCE),
    }


def found_and_wrong(results: Results) -> dict[str, tuple[float, float]]:
    """By contestant: the mean share of wrong labels among the declared ones, and the mean F1, over all columns."""
    wrong, declared = results.columns(WRONG), results.columns(F1)
    shown = [results.default, *results.peers, DECLARE, *RATES, UNIFORM]
    return {
        name: (_mean(wrong, name), _mean(declared, name))
        for name in shown
        if any(name in column.scores for column in declared)
    }


def _mean(listed: Iterable[Column], name: str) -> float:
    return float(np.mean([column.mean(name) for column in listed if name in column.scores]))


def table(results: Results) -> str:
    """Every contestant in every column as CSV: means and standard errors."""
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(["measure", "problem", "split", "measurements", "contestant", "seeds", "mean", "standard_error"])
    for measure in (MISLABELLED, F1, SUREST, WRONG):
        for column in results.columns(measure):
            split = "tuning" if column.problem in SPLITS["tuning"] else "report"
            for name in results.contestants:
                if name in column.scores:
                    error = column.error(name)
                    numbers = [f"{column.mean(name):.6g}", "" if error is None else f"{error:.3g}"]
                    seeds = len(column.scores[name])
                    writer.writerow([measure.name, column.problem, split, column.samples, name, seeds, *numbers])
    return content.getvalue()


def write(results: Results, docs: Path) -> list[Path]:
    """The page, the table and the pictures."""
    page = docs / "arena.md"
    written = [write_bytes(page, inserted(page.read_text(encoding="utf-8"), text(results)).encode())]
    written.append(write_bytes(docs / "arena.csv", table(results).encode()))
    for name, figure in drawings(results).items():
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=DPI)
        written.append(write_bytes(docs / name, content.getvalue()))
    return written


def main(arguments: Sequence[str] | None = None) -> None:
    """Write everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", type=Path, default=[ROWS])
    parser.add_argument("--docs", type=Path, default=Path("docs"))
    parser.add_argument("--split", choices=list(SPLITS), default="report")
    parser.add_argument("--version", default=sl.__version__)
    parser.add_argument("--seeds", type=int, default=25)
    given = parser.parse_args(arguments)
    console = Console(soft_wrap=True)
    settings = list(settings_of(SPLITS[given.split], console))
    results = gathered(given.rows, settings, given.version, given.seeds)
    if not any(row.method == DEFAULT for row in results.rows):
        console.print(f"there is no row of {DEFAULT} of version {given.version}: run python -m experiments.arena")
        return
    written = write(results, given.docs)
    console.print(f"wrote {', '.join(str(path) for path in written)} from {len(results.rows)} rows", markup=False)


if __name__ == "__main__":
    main()
