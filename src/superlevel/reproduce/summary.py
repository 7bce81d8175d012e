"""All settings of all figures together: which methods do well in general."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from superlevel.reproduce.outcome import Table


def overall(ranked: Table) -> list[Table]:
    """A table for each group of settings that compare the same methods: mean rank, mean area, how often 0.9 is reached.

    A setting that two figures share counts once. Best first.
    """
    groups: dict[tuple[str, ...], list[Sequence[Mapping[str, Any]]]] = {}
    seen = set()
    for lines in _settings(ranked):
        numbers = tuple(line["area"] for line in lines)
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
