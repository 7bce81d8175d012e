"""How a campaign stands, in numbers: from the log alone, and labels from what was last computed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from superlevel.fields import BY_NAME
from superlevel.kernels import phrase
from superlevel.study.events import REST, ROUND
from superlevel.study.heads import head_of
from superlevel.study.ledger import Asking, Fate, Ledger
from superlevel.study.long import length_of
from superlevel.study.outlook import Outlook
from superlevel.study.signs import as_rows
from superlevel.study.storage.protocol import Lease, Note

if TYPE_CHECKING:
    from superlevel.study.replay import Knowledge

LAYOUT = 2
"""Of what is kept beside the log: change it with the intervals of a confidence, whose labels change with them."""
WAY_OUT = (
    "correct what was told wrongly, or create another study with what is right and tell it these measurements: "
    "none of them is lost, but only new measurements give it a guarantee"
)


class Reading(BaseModel):
    """What was known after some entries."""

    model_config = ConfigDict(frozen=True)

    layout: int = 1
    entries: int
    head: str = ""
    """The digest of the last of them."""
    samples: int
    labels: str
    """+, ? or - for each point."""
    stop: str | None = None
    contradicted: bool = False
    """Whether what was measured cannot be if what is assumed is so."""
    doubts: tuple[str, ...] = ()
    estimated: dict[str, str] = Field(default_factory=dict)
    """What was estimated, and what came out, in words."""
    tested: str = ""
    """What came of these tests, in a sentence."""
    outlook: Outlook | None = None
    """How many labels are expected to be wrong, now and later; None without a model of f, or where it was not computed.
    """


class Status(BaseModel):
    """What a person wants to see first."""

    model_config = ConfigDict(frozen=True)

    name: str
    question: str
    method: str
    points: int
    above: int
    """Points above the level, or above all levels."""
    undecided: int
    below: int
    """Points below the level, or below all levels."""
    groups: dict[str, int]
    """Points that are decided to be in each class of the goal, and undecided ones."""
    entries: int
    """Of the log."""
    head: str
    """The last of them, as `superlevel study verify --witness` takes it."""
    read: int
    """How many of them the labels are from."""
    fresh: bool
    """Whether the labels are from everything that was told."""
    measurements: int
    elsewhere: int
    """Of these, how many are at places that are not among the points."""
    failed: int
    withdrawn: int
    late: int
    open: int
    """Tickets that wait for a result."""
    leased: int
    """Of these, kept for somebody now."""
    batches: int
    kernel: str
    """The estimate that holds now, or what was given."""
    noise: str
    tested: str
    """What the measurements say of an estimated kernel; empty where it is given."""
    began: str
    changed: str
    stop: str | None
    """Why nothing more is to be measured."""
    contradicted: bool
    """Whether that is because the measurements contradict what is assumed; the doubts say which."""
    closed: bool
    outlook: Outlook | None
    """How many labels are expected to be wrong, now and later; None without a model of f, or where it was not computed.
    """
    next: str
    """What to do now."""
    doubts: tuple[str, ...]


def reading(known: Knowledge) -> Reading:
    """What is known, to be kept."""
    from superlevel.records import Stop  # noqa: PLC0415  slow to import
    from superlevel.study.signs import as_text  # noqa: PLC0415

    return Reading(
        layout=LAYOUT,
        entries=known.ledger.length,
        head=known.ledger.head,
        samples=known.ledger.samples,
        labels=as_text(known.labels),
        stop=None if known.stop is None else known.stop.value,
        contradicted=known.stop is Stop.CONTRADICTED,
        doubts=known.doubts,
        estimated=dict(known.state.belief.estimated),
        tested=_tested(known),
        outlook=known.outlook,
    )


def _tested(known: Knowledge) -> str:
    """What the measurements say of a kernel that is estimated; empty where it is given."""
    if not known.method.problem.fit:
        return ""
    return next(found.sentence for found in known.state.belief.findings if found.assumption == "kernel")


def earlier(ledger: Ledger, noted: Note | None) -> Reading | None:
    """The latest that was computed before, unless something was corrected since; None if nothing was."""
    found = []
    note = None if noted is None else kept(noted)
    if note is not None and ledger.revised <= note.entries <= ledger.length:
        found.append(note)
    if ledger.askings and ledger.askings[-1].asked.seen >= ledger.revised:
        last = ledger.askings[-1]
        found.insert(0 if last.asked.fit else len(found), _planned(last))  # with its estimate it is the later of equals
    found = [item for item in found if length_of(item.labels) == ledger.labels]
    return max(found, key=lambda item: item.entries, default=None)


def _planned(item: Asking) -> Reading:
    """What was known when a plan was made, with the estimate that came with it."""
    asked = item.asked
    entries = item.seq if asked.fit is not None and asked.seen == item.seq - 1 else asked.seen
    doubts = () if asked.fit is None else tuple(asked.fit.doubts)
    return Reading(entries=entries, samples=asked.samples, labels=asked.labels, doubts=doubts)


def kept(noted: Note) -> Reading | None:
    """What was kept; None where another version did, or it is spoilt, so that it is computed again."""
    try:
        found = Reading.model_validate_json(noted.text)
    except (ValidationError, TypeError):
        return None
    return found if (found.entries, found.layout) == (noted.seq, LAYOUT) else None


def of(name: str, ledger: Ledger, leases: Mapping[int, Lease | None], known: Reading) -> Status:
    """The log in numbers."""
    now = time.time()
    fates = {fate: int((ledger.fate == fate).sum()) for fate in Fate}
    fit, created = ledger.fit, ledger.created
    groups = counts(known.labels, ledger)
    return Status(
        name=name,
        question=ledger.goal.question,
        method=created.method,
        points=ledger.n,
        above=next(iter(groups.values())),
        undecided=groups["undecided"],
        below=list(groups.values())[-1],
        groups=groups,
        entries=ledger.length,
        head=str(head_of(ledger)),
        read=known.entries,
        fresh=known.entries >= ledger.changed,
        measurements=fates[Fate.MEASURED],
        elsewhere=int(ledger.further[0].sum()),
        failed=fates[Fate.FAILED],
        withdrawn=fates[Fate.WITHDRAWN],
        late=int(ledger.late.sum()),
        open=fates[Fate.OPEN],
        leased=sum(lease is not None and lease.until >= now for lease in leases.values()),
        batches=len(ledger.askings),
        kernel=_estimated(ledger, known, "kernel") or phrase(fit.kernel if fit else created.kernel),
        noise=_estimated(ledger, known, "noise")
        or ledger.scale.described("noise", BY_NAME["noise"].show(_noise(ledger))),
        tested=known.tested,
        began=ledger.times[0],
        changed=ledger.times[1],
        stop=known.stop,
        contradicted=known.contradicted,
        closed=ledger.closed is not None,
        outlook=known.outlook,
        next=next_step(ledger, known, fates[Fate.OPEN]),
        doubts=known.doubts,
    )


def next_step(ledger: Ledger, known: Reading, open_tickets: int) -> str:
    """What to do now, in words."""
    if known.contradicted:
        return WAY_OUT
    if ledger.closed is not None:
        return "nothing: the study is closed"
    if known.stop is not None:
        return f"verify and report: {known.stop}"
    if open_tickets:
        in_round = ledger.askings[-1].asked.purpose in (ROUND, REST)
        more = "" if in_round else ", or suggest more"
        return f"tell the results of {open_tickets:,} open ticket{'s' * (open_tickets > 1)}{more}"
    return "suggest the next batch"


def _estimated(ledger: Ledger, known: Reading, name: str) -> str | None:
    """In words, where this version estimates it."""
    if name not in ledger.created.fit or ledger.fit is not None:
        return None
    return known.estimated.get(name, "not estimated yet")


def _noise(ledger: Ledger) -> float | list[float] | None:
    return ledger.fit.noise if ledger.fit is not None else ledger.created.problem["noise"]


def counts(labels: str, ledger: Ledger) -> dict[str, int]:
    """How many points are in each class, from a sign for each label, row after row."""
    return ledger.goal.counts(as_rows(labels, ledger.n))
