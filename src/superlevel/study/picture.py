"""A campaign as `superlevel.report` shows it: where it stands, what comes next, and why there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from superlevel.arrays import Array, Indices, Labels, Mask
from superlevel.blocks import LARGE
from superlevel.goals import UNDECIDED, decided
from superlevel.report.campaign import UNDECIDED_CLASS, Campaign, Elsewhere, Reason
from superlevel.study.assumptions import assumptions
from superlevel.study.audit_summary import summary as audit_summary
from superlevel.study.auditing import accuracy
from superlevel.study.chances import chances, likelier
from superlevel.study.norms import norms
from superlevel.study.reliability import reliability
from superlevel.study.replay import Knowledge, as_labels
from superlevel.study.stopping import stopping
from superlevel.study.summary import summary

EXPLAINED = 50  # open tickets, at most
SERVED = 3  # points that each of them names


def campaign(name: str, known: Knowledge, unit: str = "") -> Campaign:
    """Everything that is shown; ``unit`` is that of the measured values."""
    ledger, found = known.ledger, stopping(known)
    shown = Campaign(
        name=name,
        question=ledger.goal.question,
        asked=ledger.goal.ask(ledger.n),
        unit=unit,
        names=ledger.coordinates.names,
        scales=ledger.coordinates.scales,
        points=ledger.places,
        ids=ledger.ids,
        id_name=ledger.created.id_name,
        labels=known.labels,
        counts=ledger.counts,
        averages=ledger.averages,
        elsewhere=_elsewhere(known),
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
        likelier=likelier(known),
        chances=chances(known),
        deviation=known.state.belief.deviation,
        norms=norms(known),
        reliability=reliability(ledger),
        audits=tuple(audit_summary(each) for each in accuracy(ledger)),
        summary=summary(known),
    )
    ahead = () if known.outlook is None else known.outlook.rows
    return replace(shown, facts=(*shown.facts, *_expected(shown), *ahead))


def _elsewhere(known: Knowledge) -> Elsewhere | None:
    """The places elsewhere that have a measurement which was not withdrawn."""
    counts, averages = known.ledger.further
    there = counts > 0
    if not there.any():
        return None
    return Elsewhere(points=known.ledger.elsewhere[there], counts=counts[there], averages=averages[there])


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
    return tuple(
        Reason(
            ticket=int(ticket),
            point=int(point),
            serves=served,
            check=int(point) in known.ledger.asked(int(ticket)).checks,
            repeat=bool(known.ledger.repeats[ticket - 1]),
        )
        for ticket, point, served in zip(tickets, points, _served(known, points), strict=True)
    )


def _served(known: Knowledge, points: Indices) -> Iterator[tuple[tuple[int, float], ...]]:
    """For each of some points, the undecided points that a measurement there serves most, and how much.

    In a large domain the points of its own block are looked at, which are those near it.
    """
    belief, domain, still = known.state.belief, known.method.problem.domain, ~decided(known.labels)
    if domain.n <= LARGE or not known.method.confidence.gaussian:
        for row in belief.relief(points):
            yield _most(row, np.arange(domain.n), still)
        return
    blocks, posterior = domain.blocks, belief.model.posterior
    for point in points:
        number = blocks.of[point]
        near = np.sort(blocks.order[blocks.starts[number] : blocks.starts[number + 1]])
        (row,) = posterior.relief(np.array([point]), near)
        yield _most(row, near, still)


def _most(shares: Array, points: Indices, still: Mask) -> tuple[tuple[int, float], ...]:
    """The undecided ones of some points (m,) with the largest shares (m,)."""
    left = np.where(still[points], shares, -1.0)
    return tuple((int(points[k]), float(left[k])) for k in largest(left, SERVED) if left[k] > 0)


def largest(values: Array, count: int) -> Indices:
    """The positions of so many of the largest values (n,), in descending order, the first of equal ones first."""
    least = np.partition(values, -min(count, values.size))[-min(count, values.size)]
    some = np.flatnonzero(values >= least)
    return np.asarray(some[np.argsort(-values[some], kind="stable")[:count]])


def _facts(known: Knowledge) -> tuple[tuple[str, str], ...]:
    ledger = known.ledger
    rows = [
        ("measurements", _measured(known)),
        ("plans", f"{len(ledger.askings):,}"),
        ("open tickets", f"{len(ledger.open):,}"),
        ("began", ledger.times[0]),
        ("last entry", ledger.times[1]),
        *assumptions(known),
    ]
    if known.stop is not None:
        rows.append(("ended because", known.stop.value))
    return tuple(rows)


def _measured(known: Knowledge) -> str:
    """How many measurements there are, and where."""
    ledger = known.ledger
    here, there = ledger.counts, ledger.further[0]
    text = f"{int(here.sum()):,} at {np.count_nonzero(here):,} points"
    if not there.any():
        return text
    return f"{text}, {int(there.sum()):,} at {np.count_nonzero(there):,} places that are not among the points"


def moments(known: Knowledge) -> list[tuple[int, Labels]]:
    """Measurements and labels as each plan found them, and now."""
    ledger = known.ledger
    plans = [
        (item.asked.samples, as_labels(item.asked.labels, ledger))
        for item in ledger.askings
        if ledger.has_been(item.asked.labels)
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
