"""A campaign as `superlevel.report` shows it: where it stands, what comes next, and why there."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from superlevel.arrays import Array, Labels
from superlevel.goals import UNDECIDED, classes, decided
from superlevel.report.campaign import UNDECIDED_CLASS, Campaign, Reason
from superlevel.study.assumptions import assumptions
from superlevel.study.audit_summary import summary
from superlevel.study.auditing import accuracy
from superlevel.study.reliability import reliability
from superlevel.study.replay import Knowledge, as_labels
from superlevel.study.stopping import stopping

EXPLAINED = 50  # open tickets, at most
SERVED = 3  # points that each of them names


def campaign(name: str, known: Knowledge) -> Campaign:
    """Everything that is shown."""
    ledger, found = known.ledger, stopping(known)
    shown = Campaign(
        name=name,
        question=ledger.goal.question,
        names=tuple(ledger.created.names),
        points=ledger.places,
        ids=tuple(ledger.created.ids),
        id_name=ledger.created.id_name,
        labels=known.labels,
        counts=ledger.counts,
        averages=ledger.averages,
        mean=known.estimate,
        lower=found.lower,
        upper=found.upper,
        levels=known.levels,
        groups=ledger.goal.groups,
        next=ledger.point[ledger.open - 1],
        reasons=reasons(known),
        facts=_facts(known),
        doubts=known.doubts,
        progress=progress(known),
        revisions=revisions(known),
        stopping=found,
        likelier=None if known.estimate is None else classes(known.method.guess(known.state))[0],
        chances=chances(known),
        reliability=reliability(ledger),
        audits=tuple(summary(each) for each in accuracy(ledger)),
    )
    return replace(shown, facts=(*shown.facts, *_expected(shown)))


def chances(known: Knowledge) -> Array | None:
    """(k, n) the probability of being above each level; None where there is no model of f."""
    found = [known.state.belief.probability(level) for level in known.levels]
    return None if not found or any(each is None for each in found) else np.array(found)


def _expected(shown: Campaign) -> list[tuple[str, str]]:
    """How many points are probably wrong, as a fact."""
    doubtful = shown.doubtful
    if doubtful is None:
        return []
    known = shown.classes != UNDECIDED_CLASS
    parts = f"{doubtful[known].sum():.1f} of {known.sum():,} declared points, {doubtful.sum():.1f} of all"
    return [("expected to be wrong", f"{parts} {len(doubtful):,} by the likelier side, as the model has it")]


def reasons(known: Knowledge) -> tuple[Reason, ...]:
    """For each open ticket that the rule planned, the undecided points that it serves most, or that it is a check."""
    tickets = known.ledger.claimable[:EXPLAINED]
    if not len(tickets) or known.state.belief.pilot:
        return ()
    points = known.ledger.point[tickets - 1]
    shares = known.state.belief.relief(points)
    shares[:, decided(known.labels)] = -1.0
    best = np.argsort(-shares, axis=1, kind="stable")[:, :SERVED]
    return tuple(
        Reason(
            ticket=int(ticket),
            point=int(point),
            serves=tuple((int(y), float(row[y])) for y in chosen if row[y] > 0),
            check=int(point) in known.ledger.asked(int(ticket)).checks,
        )
        for ticket, point, row, chosen in zip(tickets, points, shares, best, strict=True)
    )


def _facts(known: Knowledge) -> tuple[tuple[str, str], ...]:
    ledger = known.ledger
    rows = [
        ("measurements", f"{ledger.samples:,} at {np.count_nonzero(ledger.counts):,} points"),
        ("plans", f"{len(ledger.askings):,}"),
        ("open tickets", f"{len(ledger.open):,}"),
        ("began", ledger.times[0]),
        ("last entry", ledger.times[1]),
        *assumptions(known),
    ]
    if known.stop is not None:
        rows.append(("ended because", known.stop.value))
    return tuple(rows)


def moments(known: Knowledge) -> list[tuple[int, Labels]]:
    """Measurements and labels as each plan found them, and now."""
    ledger = known.ledger
    plans = [
        (item.asked.samples, as_labels(item.asked.labels, ledger))
        for item in ledger.askings
        if len(item.asked.labels) == ledger.labels
    ]
    return [*plans, (ledger.samples, known.labels)]


def progress(known: Knowledge) -> tuple[tuple[int, int], ...]:
    """Undecided points over measurements."""
    return tuple((samples, int((~decided(labels)).sum())) for samples, labels in moments(known))


def revisions(known: Knowledge) -> tuple[tuple[int, int, int], ...]:
    """Measurements, undecided points, and points whose label changed sides or was withdrawn; where there are any."""
    found = []
    for (_, before), (samples, labels) in pairwise(moments(known)):
        changed = np.atleast_2d((before != UNDECIDED) & (labels != before)).any(axis=0)
        found.append((samples, int((~decided(labels)).sum()), int(changed.sum())))
    return tuple(moment for moment in found if moment[2])
