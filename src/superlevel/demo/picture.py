"""The surveys in words and as a picture."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from superlevel.demo.maps import Chart, Panel, draw_sea
from superlevel.demo.scores import Record
from superlevel.demo.sea import Sea
from superlevel.demo.survey import PILOT, Survey
from superlevel.goals import ABOVE

WIDTH = 68  # letters of a caption's line
DEEPER = 10  # times the depth in question: there the error is told once more


def said(sea: Sea, survey: Survey) -> list[str]:
    """What there is and what is assumed, in sentences."""
    unknown = int((sea.depths == 1.0).sum())
    deeper = DEEPER * survey.depth
    there = survey.error_at(deeper)
    return [
        f"{sea.n:,} cells of a real sea floor, {sea.width:.2g} km wide; land is left out. {unknown:,} of them are 1 m "
        "deep to the digit, which looks like the source's mark for unknown: they are taken for 1 m.",
        f"A ping is off by {survey.noise:.2g} m where it is {survey.depth:g} m deep, by {there:.2g} m at {deeper:g} m "
        "(one deviation): the same everywhere on the square root of depth, which is what is modelled.",
        f"{PILOT} pings of a pilot, spread out and the same for all, set the kernel; then each method chooses "
        f"{survey.pings - PILOT}, {survey.batch} at a time.",
    ]


def drawn(sea: Sea, survey: Survey, records: Sequence[Record]) -> Figure:
    """A map for each, their curves, and what is assumed."""
    chart = Chart(longitude=sea.longitude, latitude=sea.latitude, depth=sea.depth, level=survey.depth)
    title = f"Where is the Strait of Georgia at least {survey.depth:g} m deep? {survey.pings} noisy pings each"
    sentences = ["Maps show the likelier side of every cell.", *said(sea, survey)]
    sentences.append(f"Kernel: {records[0].kernel}. Declared: 3 deviations from the level. Seed {survey.seed}.")
    caption = "\n".join(textwrap.fill(sentence, WIDTH) for sentence in sentences)
    return draw_sea(chart, [_panel(sea, record) for record in records], pilot=PILOT, title=title, caption=caption)


def _panel(sea: Sea, record: Record) -> Panel:
    last = record.scores[-1]
    return Panel(
        label=record.label,
        detail=f"{last.declared:,} declared, {last.wrong:,} of them wrongly",
        deep=sea.on_map(record.guess) == ABOVE,
        pings=sea.degrees[record.pinged],
        counts=np.array([score.pings for score in record.scores]),
        mislabelled=np.array([score.mislabelled for score in record.scores]),
    )
