"""What an audit found, in words and tables: the report and the command line show the same."""

from __future__ import annotations

import math

from superlevel.audits import AuditResult, Proportion, Stratum
from superlevel.report.audits import AuditSummary, Table
from superlevel.study.auditing import Accuracy


def summary(found: Accuracy) -> AuditSummary:
    """The bound; after the first draw also the area above the level, the confusion matrix and the strata."""
    heading = f"Audit {found.audit}, level {found.level:g}, map of {found.samples:,} measurements"
    if not found.result.draws:
        return AuditSummary(heading=heading, sentences=(str(found),), tables=())
    by_doubt = [_by_doubt(found.strata)] if len(found.strata) > 1 else []
    return AuditSummary(
        heading=heading,
        sentences=(str(found), _area(found.result)),
        tables=(_confusion(found.result), *by_doubt),
    )


def _area(result: AuditResult) -> str:
    area = result.area
    inside = f"{_confidence(result)} interval: {_range(area.low, area.high)}"
    return (
        f"The measurements put {_percent(area.estimate)} of the {result.points:,} audited points above the level "
        f"({inside}); the map has {_percent(area.labelled)} there."
    )


def _confusion(result: AuditResult) -> Table:
    """Draws by label and measured class, with user's accuracies on the right and producer's below."""
    found = result.confusion
    (first, second), users = found.counts.tolist(), found.users
    return Table(
        names=("draws", "measured above", "measured below", f"user's accuracy ({_confidence(result)} interval)"),
        rows=(
            ("map above", *(f"{count:,}" for count in first), _proportion(users[0])),
            ("map below", *(f"{count:,}" for count in second), _proportion(users[1])),
            ("producer's accuracy", *map(_proportion, found.producers), f"overall {_proportion(found.overall)}"),
        ),
    )


def _by_doubt(strata: tuple[Stratum, ...]) -> Table:
    """A line for each stratum, from the smallest doubt."""
    return Table(
        names=("doubt of the label", "points", "draws", "contradictions"),
        rows=tuple(
            (
                _range(each.low, each.high) if each.low else f"below {_percent(each.high)}",
                *(f"{count:,}" for count in (each.points, each.draws, each.contradictions)),
            )
            for each in strata
        ),
    )


def _proportion(found: Proportion) -> str:
    """'95.2 % (77.3 to 99.2 %)'"""
    if math.isnan(found.estimate):
        return "unknown"
    return f"{_percent(found.estimate)} ({_range(found.low, found.high)})"


def _percent(share: float) -> str:
    return f"{round(100 * share, 1):g} %"


def _range(low: float, high: float) -> str:
    return f"{round(100 * low, 1):g} to {_percent(high)}"


def _confidence(result: AuditResult) -> str:
    return f"{100 * (1 - result.delta):.4g} %"
