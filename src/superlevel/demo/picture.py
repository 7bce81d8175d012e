"""A survey in words and as a picture."""

from __future__ import annotations

from matplotlib.figure import Figure

from superlevel.confidence.error_rate import RATE
from superlevel.demo.hills import Hills
from superlevel.demo.maps import Bar, Chart, draw_survey
from superlevel.demo.scores import Record
from superlevel.demo.survey import AUDITED, TOLERANCE, Survey


def said(hills: Hills, survey: Survey) -> list[str]:
    """The question, what is known, and what is promised, in sentences."""
    across, up = hills.cell
    return [
        f"Where is the ground above {survey.level:g} m? {hills.n:,} cells of {across:.2g} by {up:.2g} km around the "
        f"Jacksboro fault have real elevations of {hills.heights.min():,g} to {hills.heights.max():,g} m.",
        f"The study knows the places and the level only. It chooses {survey.measurements:,} measurements in batches of "
        f"{survey.batch}, and estimates kernel, noise and mean from them. The simulated instrument has a normal error "
        f"of {survey.noise:g} m (standard deviation).",
        f"The study declares cells above or below the level. It promises that at most {100 * RATE:g} % of the declared "
        "cells are wrong on average, as far as the measurements confirm its model. Then "
        f"{AUDITED} measurements at random places audit the declared cells.",
    ]


def found(record: Record) -> list[str]:
    """What the audit proves, and the truth beside it, in sentences."""
    if record.accuracy is None:
        return ["Nothing is declared yet, so there is nothing to audit: give more measurements."]
    last, result = record.last, record.accuracy.result
    beyond, wrong = (f"{count:,} ({_percent(count, last.declared)})" for count in (record.beyond, last.wrong))
    return [
        f"Audit of {result.draws:,} random draws: {result.sentence(noun='declared cells', unit='m')}",
        f"Truth: {beyond} are wrong by more than {TOLERANCE:g} m, and {wrong} are wrong at all.",
    ]


def drawn(hills: Hills, survey: Survey, record: Record) -> Figure:
    """The maps and the bars."""
    chart = Chart(
        east=hills.east,
        north=hills.north,
        elevation=hills.elevation,
        level=survey.level,
        chance=record.chance.reshape(hills.elevation.shape),
        labels=record.labels.reshape(hills.elevation.shape),
        places=hills.places[record.measured],
    )
    return draw_survey(chart, _bars(record), title=_title(survey, record))


def _title(survey: Survey, record: Record) -> str:
    last = record.last
    question = f"Where is the ground above {survey.level:g} m?"
    if not last.declared:
        return f"{question} {last.measurements:,} measurements declare nothing yet"
    return (
        f"{question} {last.measurements:,} noisy measurements declare {_percent(last.declared, len(record.labels), 0)} "
        f"of the map, and {_percent(last.wrong, last.declared)} of that is wrong"
    )


def _bars(record: Record) -> dict[str, list[Bar]]:
    """The promise and the audit, each beside the truth, by their headings."""
    declared = max(record.last.declared, 1)
    bars = {
        "Wrong among the declared cells": [
            Bar(name="promised on average", share=RATE, bound=True),
            Bar(name="truth", share=record.last.wrong / declared),
        ]
    }
    if record.accuracy is not None:
        result = record.accuracy.result
        name = f"audit, whatever the kernel ({100 * (1 - result.delta):g} % confidence)"
        bars[f"Wrong by more than {TOLERANCE:g} m"] = [
            Bar(name=name, share=result.most / result.points, bound=True),
            Bar(name="truth", share=record.beyond / declared),
        ]
    return bars


def _percent(part: int, whole: int, digits: int = 1) -> str:
    return f"{100 * part / whole:.{digits}f} %"
