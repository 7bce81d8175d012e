"""The linear figures in three readings of the paper, side by side, and who is ahead in each.

`superlevel.reproduce.linear` says what the readings are. A label that RIPS or the RKHS widths have declared stays, so
the wrong labels at the end of a run are all that were ever wrong in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure as Picture

from superlevel.reproduce.claims import Above, Claim, judge
from superlevel.reproduce.drawing.curves import Curve, Panel, draw_panels
from superlevel.reproduce.outcome import Table, error_of, scores, standard_error
from superlevel.reproduce.settings import Figure, Row

FAR = 2.0  # times as many measurements are "far" more


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A form of the paper's method and a form of its rival, by what their labels add to the names."""

    name: str
    ours: str
    rival: str
    source: str
    """"paper", or "here" for what the paper does not say."""


READINGS = (
    Reading(name="algorithm as printed", ours="", rival="", source="paper"),
    Reading(name="appendix as printed", ours=", experiments", rival=", d log t", source="paper"),
    Reading(name="appendix, equal steps", ours=", equal steps", rival=", d log t", source="paper"),
    Reading(name="what is needed", ours=", tight", rival=", rank 2", source="here"),
)
ACROSS = (
    *((", experiments", rival) for rival in ("", ", rank 2")),
    *((", tight", rival) for rival in (", d log t", "")),
    ("", ", d log t"),
)
"""Forms of different readings that are compared as well."""


@dataclass(frozen=True, kw_only=True)
class Contest:
    """What the paper says of a figure: who is ahead of whom, and by how much."""

    ours: str
    rival: str
    factor: float
    """The rival takes more than so many times as many measurements."""
    far: str


EXPLICIT = Contest(ours="MELK", rival="LSE", factor=1.0, far="ahead")
IMPLICIT = Contest(ours="MILK", rival="LSE-imp", factor=FAR, far="far ahead")


def contest(figure: Figure) -> Contest:
    """The one of a figure."""
    return {"linear-explicit": EXPLICIT, "linear-implicit": IMPLICIT}[figure.name]


def claims(figure: Figure, rows: Sequence[Row]) -> list[Claim]:
    """The paper's method is ahead of its rival: in every reading, and then across readings."""
    found = [judge_reading(figure, rows, reading) for reading in READINGS]
    return found + [judge_ahead(figure, rows, ours, rival, source="here") for ours, rival in ACROSS]


def judge_reading(figure: Figure, rows: Sequence[Row], reading: Reading) -> Claim:
    """The paper's claim in one reading."""
    return judge_ahead(figure, rows, reading.ours, reading.rival, source=reading.source)


def judge_ahead(figure: Figure, rows: Sequence[Row], ours: str, rival: str, *, source: str) -> Claim:
    """Whether the rival takes more than the contest's factor times as many measurements to the last correct label."""
    said, setting = contest(figure), figure.settings[0]
    ours, rival = said.ours + ours, said.rival + rival
    lasts = scores(rows, "last")
    first, second = (lasts[setting.name, method] for method in (ours, rival))
    missing = {method: int(np.isnan(last).sum()) for method, last in ((ours, first), (rival, second))}
    # A run that never had all labels right needs more than the budget: a bound that can speak for one side only.
    first, second = (np.where(np.isnan(last), setting.samples[-1], last) for last in (first, second))
    ratios = np.log10(second / first)
    return judge(
        f"{ours} {said.far} of {rival}".lower().replace(", ", "-").replace(" ", "-"),
        f"{ours} is {said.far} of {rival}.",
        {setting.name: ratios},
        Above(float(np.log10(said.factor)), may_confirm=missing[ours] == 0, may_refute=missing[rival] == 0),
        measure=f"log10 of the measurements to the last correct label, {rival} over {ours}",
        source=source,
        measured={
            "mean_samples": {ours: float(first.mean()), rival: float(second.mean())},
            "geometric_mean_ratio": float(10 ** ratios.mean()),
            "runs_counted_at_the_budget": missing,
        },
    )


def reading_table(figure: Figure, rows: Sequence[Row]) -> Table:
    """Two lines for each reading, ours with the verdict and the rival.

    right is the number of runs with all labels right, mean and error their measurements to the last one, and
    wrong_labels the sum over all runs; ratio is the geometric mean of the rival's measurements over ours.
    """
    said, setting = contest(figure), figure.settings[0]
    lasts, wrong = scores(rows, "last"), scores(rows, "wrong")
    lines = []
    for reading in READINGS:
        claim = judge_reading(figure, rows, reading)
        found = {"ratio": claim.measured["geometric_mean_ratio"], "verdict": str(claim.verdict)}
        for label, verdict in ((said.ours + reading.ours, found), (said.rival + reading.rival, dict.fromkeys(found))):
            last = lasts[setting.name, label]
            there = last[np.isfinite(last)]
            lines.append(
                {
                    "figure": figure.name,
                    "reading": reading.name,
                    "method": label,
                    "runs": len(last),
                    "right": len(there),
                    "wrong_labels": int(wrong[setting.name, label].sum()),
                    "mean": float(there.mean()) if len(there) else None,
                    "error": error_of(there),
                    **verdict,
                }
            )
    return lines


def drawn(figure: Figure, rows: Sequence[Row], *, lines: Sequence[tuple[str, float]]) -> Callable[[], Picture]:
    """A panel for each reading, with the two that it compares."""
    said, setting = contest(figure), figure.settings[0]
    found = scores(rows, figure.score.field)
    samples = np.array(setting.samples, dtype=np.float64)

    def curve(label: str) -> Curve:
        values = found[setting.name, label]
        return Curve(label=label, samples=samples, mean=values.mean(axis=0), error=standard_error(values))

    def draw() -> Picture:
        panels = [
            Panel(
                title=f"{reading.name}: {judge_reading(figure, rows, reading).verdict}",
                curves=[curve(said.ours + reading.ours), curve(said.rival + reading.rival)],
                lines=lines,
            )
            for reading in READINGS
        ]
        title = f"{figure.title}: {said.ours} {said.far} of {said.rival}?"
        return draw_panels(panels, columns=2, title=title, ylabel=figure.score.label, logarithmic=figure.logarithmic)

    return draw
