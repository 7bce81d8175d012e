"""Curves and the areas under them, from the rows of a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure as Picture
from scipy.stats import rankdata

from superlevel.arrays import Array
from superlevel.reproduce.drawing.curves import Curve, Panel, draw_panels
from superlevel.reproduce.outcome import Drawings, Table, error_of, scores, standard_error
from superlevel.reproduce.settings import Figure, Row, Setting

REACHED = 0.9  # the F1 that counts as found


def curve_table(figure: Figure, rows: Sequence[Row]) -> Table:
    """One line for each place of each curve."""
    return [
        {
            "figure": figure.name,
            "setting": setting.name,
            "method": method,
            "samples": samples,
            "runs": len(values),
            f"mean_{figure.score.field}": mean,
            "standard_error": error if len(values) > 1 else None,
        }
        for setting, curves in _curves(figure, rows)
        for method, values in curves.items()
        for samples, mean, error in zip(
            setting.samples, values.mean(axis=0).tolist(), standard_error(values).tolist(), strict=True
        )
    ]


def pictures(figure: Figure, rows: Sequence[Row], *, lines: Mapping[str, float] | None = None) -> Drawings:
    """The paper's methods, and all."""
    paper = {entry.label for entry in figure.entries if entry.paper}
    return {
        "": lambda: _picture(figure, rows, paper, lines or {}),
        "-all": lambda: _picture(figure, rows, {entry.label for entry in figure.entries}, lines or {}),
    }


def _picture(figure: Figure, rows: Sequence[Row], methods: set[str], lines: Mapping[str, float]) -> Picture:
    panels = [
        Panel(
            title=setting.name,
            curves=[
                Curve(
                    label=method,
                    samples=np.array(setting.samples, dtype=np.float64),
                    mean=values.mean(axis=0),
                    error=standard_error(values),
                )
                for method, values in curves.items()
                if method in methods
            ],
            lines=list(lines.items()),
        )
        for setting, curves in _curves(figure, rows)
    ]
    columns = len(panels) if len(panels) < 4 else round(len(panels) ** 0.5)
    return draw_panels(
        panels, columns=columns, title=figure.title, ylabel=figure.score.label, logarithmic=figure.logarithmic
    )


def _curves(figure: Figure, rows: Sequence[Row]) -> list[tuple[Setting, dict[str, Array]]]:
    """For each setting the scores (runs, places) of each method that has any, in the figure's order."""
    found = scores(rows, figure.score.field)
    labels = [entry.label for entry in figure.entries]
    return [(s, {m: found[s.name, m] for m in labels if (s.name, m) in found}) for s in figure.settings]


def area_table(figure: Figure, rows: Sequence[Row]) -> Table:
    """For each setting and method: the area under F1, its rank, and the measurements to an F1 of 0.9."""
    lines = []
    for setting, curves in _curves(figure, rows):
        areas = np.array([values.mean() for values in curves.values()])
        for (method, values), area, rank in zip(curves.items(), areas, rankdata(-areas), strict=True):
            lines.append(
                {
                    "figure": figure.name,
                    "setting": setting.name,
                    "method": method,
                    "runs": len(values),
                    "area": float(area),
                    "standard_error": error_of(values.mean(axis=1)),
                    "rank": float(rank),
                    "samples_to_0.9": reached(values.mean(axis=0), setting.samples),
                }
            )
    return lines


def reached(curve: Array, samples: Sequence[int]) -> int | None:
    """Measurements from which on a mean curve is at 0.9 or above; None if it never is."""
    short = np.flatnonzero(curve < REACHED)
    first = 0 if len(short) == 0 else int(short[-1]) + 1
    return samples[first] if first < len(samples) else None
