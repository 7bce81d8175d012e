"""All settings of all figures together: which methods do well in general."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from superlevel import outputs
from superlevel.reproduce.outcome import Table, as_csv, write_output


def write(out: Path, ranked: Table, *, force: bool = False) -> list[Table]:
    """summary.csv, a line for each setting and method, and overall.csv, a line for each method; the tables of these."""
    kept = out / "summary.csv"
    everything = merged(kept, ranked) if outputs.look(kept) is outputs.Found.OURS else ranked
    tables = overall(everything)
    write_output(out / "summary.csv", as_csv(everything).encode(), force=force)
    write_output(out / "overall.csv", as_csv([line for table in tables for line in table]).encode(), force=force)
    return tables


def merged(path: Path, ranked: Table) -> Table:
    """These lines, and those of other figures that a summary had before."""
    figures = {line["figure"] for line in ranked}
    if not path.exists():
        return ranked
    with path.open(newline="", encoding="utf-8") as file:
        before = [_line(line) for line in csv.DictReader(file) if line["figure"] not in figures]
    return [*before, *ranked]


def _line(texts: Mapping[str, str]) -> dict[str, Any]:
    """A line as it was before it was written."""
    names = {"figure", "setting", "method"}
    return {name: text if name in names else float(text) if text else None for name, text in texts.items()}


def overall(ranked: Table) -> list[Table]:
    """A table for each group of settings that compare the same methods: mean rank, mean area, how often 0.9 is reached.

    A setting that two figures share counts once. Best first.
    """
    groups: dict[tuple[str, ...], list[Sequence[Mapping[str, Any]]]] = {}
    seen = set()
    for lines in _settings(ranked):
        numbers = (lines[0]["setting"], *(line["area"] for line in lines))
        if numbers not in seen:
            seen.add(numbers)
            groups.setdefault(tuple(line["method"] for line in lines), []).append(lines)
    return [_table(methods, settings) for methods, settings in groups.items()]


def _settings(ranked: Table) -> list[list[Mapping[str, Any]]]:
    """Lines by figure and setting."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for line in ranked:
        found.setdefault((line["figure"], line["setting"]), []).append(line)
    return list(found.values())


def _table(methods: tuple[str, ...], settings: Sequence[Sequence[Mapping[str, Any]]]) -> Table:
    figures = list(dict.fromkeys(lines[0]["figure"] for lines in settings))
    lines = []
    for k, method in enumerate(methods):
        own = [setting[k] for setting in settings]
        reached = [line["samples_to_0.9"] for line in own if line["samples_to_0.9"] is not None]
        lines.append(
            {
                "figures": " ".join(figures),
                "method": method,
                "settings": len(own),
                "mean_rank": float(np.mean([line["rank"] for line in own])),
                "mean_area": float(np.mean([line["area"] for line in own])),
                "settings_with_0.9": len(reached),
                "median_samples_to_0.9": float(np.median(reached)) if reached else None,
            }
        )
    return sorted(lines, key=lambda line: line["mean_rank"])
