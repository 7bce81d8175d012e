"""A campaign as one record that JSON can hold: all that a status, a report, the command line or a web page shows.

>>> StudyView.model_validate_json(view.model_dump_json()) == view     # doctest: +SKIP
True
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from superlevel.arrays import Array
from superlevel.audits import Stratum
from superlevel.findings import Verdict
from superlevel.goals import classes
from superlevel.numerals import written
from superlevel.report.reliability import Reliability
from superlevel.scales import Cell
from superlevel.study import status
from superlevel.study.assumptions import assumptions, guarantee
from superlevel.study.auditing import Accuracy, accuracy
from superlevel.study.chances import chances, likelier
from superlevel.study.ledger import Ledger
from superlevel.study.picture import progress, reasons
from superlevel.study.reliability import reliability
from superlevel.study.replay import Knowledge
from superlevel.study.status import Status
from superlevel.study.stopping import since
from superlevel.study.storage.protocol import Lease

if TYPE_CHECKING:
    import pandas as pd


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class OpenTicket(_Record):
    """A measurement that waits for its result."""

    ticket: int
    point: int
    id: str = ""
    """What people call the point; empty where points have no names."""
    worker: str | None
    """Who it is reserved for; None where nobody has it."""
    until: float | None
    """When the reservation ends, in seconds since 1970."""
    serves: tuple[tuple[int, float], ...]
    """The undecided points that it serves most, and the share of each one's variance that it removes."""
    check: bool
    """Whether it was drawn at random, to check the model where it is sure."""
    repeat: bool = False
    """Whether its point was measured before, or is being measured."""


class Found(_Record):
    """What the measurements say of one assumption."""

    assumption: str
    verdict: Verdict
    number: float
    sentence: str


class Assumed(_Record):
    """A field of the problem or of the method, in words."""

    name: str
    value: str


class Progress(_Record):
    """How many points were undecided after so many measurements."""

    measurements: int
    undecided: int


class Audit(_Record):
    """What one audit proves of one level of its map."""

    audit: int
    level: float
    declared: bool
    draws: int
    waiting: int
    contradictions: int
    bound: float
    """The share of wrong labels is at most this, with probability 1 - delta."""
    delta: float
    area: tuple[float, float, float]
    """The share of the audited points above the level: estimate and interval."""
    strata: tuple[Stratum, ...]
    """The audited points by the doubt of their labels."""
    sentence: str


class Points(_Record):
    """One list for each column; all have n entries, in the order of the domain."""

    id: list[str] | None = None
    """What people call each point; None where points have no names."""
    coordinates: list[list[Cell]]
    label: list[str]
    """The name of the class, or undecided."""
    lowest: list[int]
    """The lowest class that is still possible, from 0."""
    highest: list[int]
    measurements: list[int]
    average: list[float | None]
    """The mean of the measurements."""
    estimate: list[float | None]
    lower: list[float | None]
    """The interval of f; None where there is none, or it has no end on that side."""
    upper: list[float | None]
    likelier: list[str] | None
    """The name of the class that the point is in if it had to be named now; None before there is an estimate."""
    probability: list[list[float]] | None
    """For each level, the probability that f is above it; None where the confidence has no model of f."""
    decided: list[int | None]
    """How many measurements there were when the point got its label; None where it is undecided."""


class Elsewhere(_Record):
    """One list for each column: the places of measurements that are not among the points."""

    coordinates: list[list[Cell]]
    measurements: list[int]
    average: list[float | None]


class StudyView(_Record):
    """Everything that is shown of a campaign, as of one entry of its log."""

    status: Status
    head: str
    """The digest of the last entry that it is from."""
    goal: dict[str, Any]
    levels: tuple[float, ...]
    """Where the levels are, or are estimated to be."""
    groups: tuple[str, ...]
    """The name of each class, from the lowest."""
    names: tuple[str, ...]
    """Of the coordinates."""
    id_name: str = ""
    """What the column of the points' names is called; empty where they have none."""
    points: Points
    elsewhere: Elsewhere
    tickets: tuple[OpenTicket, ...]
    guarantee: str
    """In which sense the labels are right."""
    assumptions: tuple[Assumed, ...]
    findings: tuple[Found, ...]
    doubts: tuple[str, ...]
    progress: tuple[Progress, ...]
    audits: tuple[Audit, ...] = ()
    reliability: tuple[Reliability, ...] = ()
    """For each given level, the forecasts of the plans beside the measurements; empty if there are no forecasts."""

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame with a line for every point."""
        import pandas as pd  # noqa: PLC0415  an optional package

        columns = self.points.model_dump(exclude={"id", "coordinates", "probability"}, exclude_none=True)
        for level, above in zip(self.levels, self.points.probability or [], strict=False):
            columns[f"probability above {written(level)}"] = above
        named = pd.DataFrame({} if self.points.id is None else {self.id_name: self.points.id})
        frame = pd.DataFrame(self.points.coordinates, columns=list(self.names))
        return pd.concat([named, frame, pd.DataFrame(columns)], axis=1)


def view(name: str, known: Knowledge, leases: Mapping[int, Lease | None]) -> StudyView:
    """What is known, and who holds which open ticket."""
    ledger = known.ledger
    return StudyView(
        status=status.of(name, ledger, leases, status.reading(known)),
        head=ledger.head,
        goal=ledger.created.goal,
        levels=known.levels,
        groups=ledger.goal.groups,
        names=tuple(ledger.created.names),
        id_name=ledger.created.id_name,
        points=_points(known),
        elsewhere=_elsewhere(ledger),
        tickets=_tickets(known, leases),
        guarantee=guarantee(known),
        assumptions=tuple(Assumed(name=field, value=value) for field, value in assumptions(known)),
        findings=tuple(Found(**vars(finding)) for finding in known.state.belief.findings),
        doubts=known.doubts,
        progress=tuple(Progress(measurements=count, undecided=left) for count, left in progress(known)),
        audits=tuple(_audit(found) for found in accuracy(ledger)),
        reliability=reliability(ledger),
    )


def _elsewhere(ledger: Ledger) -> Elsewhere:
    counts, averages = ledger.further
    return Elsewhere(
        coordinates=[list(ledger.cells(ledger.n + k)) for k in range(len(ledger.elsewhere))],
        measurements=counts.tolist(),
        average=_numbers(averages, len(counts)),
    )


def _audit(found: Accuracy) -> Audit:
    result = found.result
    return Audit(
        audit=found.audit,
        level=found.level,
        declared=found.declared,
        draws=result.draws,
        waiting=result.waiting,
        contradictions=result.contradictions,
        bound=result.bound,
        delta=result.delta,
        area=(result.area.estimate, result.area.low, result.area.high),
        strata=found.strata,
        sentence=str(found),
    )


def _points(known: Knowledge) -> Points:
    ledger, state = known.ledger, known.state
    lowest, highest = classes(known.labels)
    words = [ledger.goal.groups[c] if c == d else "undecided" for c, d in zip(lowest, highest, strict=True)]
    bounds = state.belief.bounds()
    return Points(
        id=list(ledger.ids) or None,
        coordinates=[list(ledger.cells(point)) for point in range(ledger.n)],
        label=words,
        lowest=lowest.tolist(),
        highest=highest.tolist(),
        measurements=ledger.counts.tolist(),
        average=_numbers(ledger.averages, ledger.n),
        estimate=_numbers(known.estimate, ledger.n),
        lower=_numbers(bounds.lower, ledger.n),
        upper=_numbers(bounds.upper, ledger.n),
        likelier=_likelier(known),
        probability=_probabilities(known),
        decided=[None if when < 0 else when for when in since(known).tolist()],
    )


def _likelier(known: Knowledge) -> list[str] | None:
    named = likelier(known)
    return None if named is None else [known.ledger.goal.groups[c] for c in named.tolist()]


def _probabilities(known: Knowledge) -> list[list[float]] | None:
    found = chances(known)
    return None if found is None else found.tolist()


def _tickets(known: Knowledge, leases: Mapping[int, Lease | None]) -> tuple[OpenTicket, ...]:
    known_reasons = {reason.ticket: reason for reason in reasons(known)}
    found = []
    for ticket in known.ledger.open.tolist():
        lease, reason = leases.get(ticket), known_reasons.get(ticket)
        found.append(
            OpenTicket(
                ticket=ticket,
                point=int(known.ledger.point[ticket - 1]),
                id=known.ledger.id_of(int(known.ledger.point[ticket - 1])),
                worker=None if lease is None else lease.worker,
                until=None if lease is None else lease.until,
                serves=() if reason is None else reason.serves,
                check=reason is not None and reason.check,
                repeat=bool(known.ledger.repeats[ticket - 1]),
            )
        )
    return tuple(found)


def _numbers(values: Array | None, n: int) -> list[float | None]:
    """None where there is no number, or an infinite one: JSON has neither."""
    if values is None:
        return [None] * n
    return [float(value) if np.isfinite(value) else None for value in values]
