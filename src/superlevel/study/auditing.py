"""Audits of a campaign: the labels are frozen, points are drawn at random, and what is measured there judges the map.

An audit is a plan in the log. It holds the map as it was, the doubt that made the chances, and the draws, one ticket
each; everything else follows from that. `superlevel.audits` has the statistics and their proof. Which results count is
decided by the order of the draws: up to the first ticket that is still open or was withdrawn. A ticket that failed
counts as a contradiction, because whatever made it fail may depend on the value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel import audits
from superlevel.arrays import Array, Indices, Mask, as_count, as_number
from superlevel.audits import Audit, AuditResult, Stratum
from superlevel.errors import InputError
from superlevel.goals import decided
from superlevel.study.events import AUDIT, Asked, Audited
from superlevel.study.ledger import Asking, Fate, Ledger
from superlevel.study.long import packed, unpacked
from superlevel.study.replay import Knowledge, as_labels
from superlevel.study.signs import as_text

STEPS = "0123456789abcdefghijklmnopqrstuvwxyz"  # of doubt, from none to one half
EDGES = tuple(steps / (2.0 * len(STEPS)) for steps in (0, 1, 9, 18, 36))  # of the strata: 0, 1.4, 12.5, 25, 50 %
AUDITING = 4  # sets the random numbers of audits apart from all others
BOUND, DELTA = 0.05, 0.05  # of the share of wrong labels, and of the probability that the bound fails


@dataclass(frozen=True, kw_only=True, eq=False)
class Accuracy:
    """What one audit says of one level of the map."""

    audit: int
    """Which audit, from 1."""
    level: float
    declared: bool
    """Whether it is of the declared points only, as they were then; otherwise of the likelier side of every point."""
    samples: int
    """Measurements from which the map was made."""
    result: AuditResult
    strata: tuple[Stratum, ...]
    """The audited points by the doubt of their labels; one stratum if all labels were alike."""

    def __str__(self) -> str:
        noun = "declared points" if self.declared else "points"
        found = self.result
        waiting = f", {found.waiting:,} to come" if found.waiting else ""
        contradictions = f"{found.contradictions:,} contradiction{'s' * (found.contradictions != 1)}"
        return f"{found.sentence(noun=noun)} ({found.draws:,} draws, {contradictions}{waiting})"


def planned(
    known: Knowledge, *, size: int | None, declared: bool, delta: float, bound: float, tolerance: float | None
) -> Asked:
    """The next audit. Without a size it is as large as it takes for the bound, if nothing contradicts the map."""
    ledger, method, state = known.ledger, known.method, known.state
    levels = ledger.goal.levels
    if not levels:
        remedy = "an audit compares measurements with a level: it needs a goal with given levels"
        raise InputError("goal", repr(ledger.goal), remedy)
    if state.belief.pilot:
        raise InputError("audit", "asked for before there is a map", f"{state.belief.pilot} measurements come first")
    mask = decided(known.labels) if declared else np.ones(ledger.n, dtype=np.bool_)
    if not mask.any():
        raise InputError("declared", True, "no point is declared yet: audit the likelier side of all points")
    plan = Audited(
        guess=as_text(method.guess(state)),
        doubt=_as_steps(_doubt(known), mask),
        delta=as_number("delta", delta, above=0.0, below=1.0),
        tolerance=ledger.created.problem["tolerance"] if tolerance is None else tolerance,  # type: ignore[arg-type]
        declared=declared,
    )
    audit, number = _audits(ledger, plan)[0], 1 + len(audits_of(ledger))
    count = audits.needed(bound, kappa=audit.kappa, delta=audit.delta, spread=audit.spread)
    count = count if size is None else as_count("size", size)
    return Asked(
        seen=ledger.length,
        purpose=AUDIT,
        phase=number,
        points=drawn(ledger, plan, number=number, size=count).tolist(),
        samples=ledger.samples,
        labels=as_text(known.labels),
        audit=plan,
    )


def drawn(ledger: Ledger, plan: Audited, *, number: int, size: int) -> Indices:
    """(size,) the points of an audit, from the seed of the campaign: nobody chose them."""
    rng = np.random.default_rng([ledger.created.seed, number, AUDITING])
    return audits.draw(_chances(plan), size, rng)


def audits_of(ledger: Ledger) -> list[Asking]:
    """The audits of a log, in order."""
    return [item for item in ledger.askings if item.audits]


def accuracy(ledger: Ledger) -> tuple[Accuracy, ...]:
    """What every audit says, level by level."""
    found = []
    for number, item in enumerate(audits_of(ledger), start=1):
        plan = item.asked.audit
        if plan is None:
            continue
        doubt, _ = _frozen_doubt(plan)
        for audit in _audits(ledger, plan):
            points, values = item.asked.points, _values(ledger, item, audit)
            found.append(
                Accuracy(
                    audit=number,
                    level=audit.level,
                    declared=plan.declared,
                    samples=item.asked.samples,
                    result=audit.judge(points, values),
                    strata=audits.by_doubt(audit, points, values, doubt=doubt, edges=EDGES),
                )
            )
    return tuple(found)


def _audits(ledger: Ledger, plan: Audited) -> list[Audit]:
    """One audit for each level, which share delta."""
    levels, chances = ledger.goal.levels, _chances(plan)
    guess = np.atleast_2d(as_labels(plan.guess, ledger))[:, : len(chances)]  # without points that were added since
    return [
        Audit(
            labels=row,
            chances=chances,
            level=level,
            tolerance=plan.tolerance,
            delta=plan.delta / len(levels),
            noise=_noise(ledger, plan.tolerance),
        )
        for level, row in zip(levels, guess, strict=True)
    ]


def _noise(ledger: Ledger, tolerance: float) -> audits.Noise:
    """Its median is zero; where it is given and there is a tolerance, it shows more of the wrong labels than that.

    A transform keeps medians, but a noise that is given for transformed values is none of the values themselves.
    """
    given = None if "noise" in ledger.created.fit else ledger.created.problem["noise"]
    if given is None or not tolerance or ledger.created.transform:
        return audits.MedianZero()
    return audits.SubGaussian(float(np.max(given)), median_zero=True)


def _values(ledger: Ledger, item: Asking, audit: Audit) -> Array:
    """(N,) in the order of the draws: NaN for one that is open or withdrawn, a contradiction for one that failed."""
    at = np.arange(item.first - 1, item.first - 1 + len(item.asked.points))
    fate, labels = ledger.fate[at], audit.labels[ledger.point[at]]
    values = np.where(fate == Fate.MEASURED, ledger.value[at], np.nan)
    return np.where(fate == Fate.FAILED, -labels * np.inf, values)


# -------------------------------------------------------------------------------------------- doubts


def _doubt(known: Knowledge) -> Array:
    """(n,) how likely the likelier label is wrong, at any level; zeros where there is no model."""
    belief = known.state.belief
    chances = [belief.probability(level) for level in known.ledger.goal.levels]
    wrong = [np.minimum(chance, 1.0 - chance) for chance in chances if chance is not None]
    return np.max(wrong, axis=0) if wrong else np.zeros(known.ledger.n)


def _as_steps(doubt: Array, mask: Mask) -> str:
    """A letter for each point, a dash for one that is not audited: a log need not hold more digits."""
    steps = np.minimum((doubt * 2 * len(STEPS)).astype(np.int64), len(STEPS) - 1)
    letters = np.frombuffer(STEPS.encode(), dtype=np.uint8)[steps]
    return packed(np.where(mask, letters, ord("-")).astype(np.uint8).tobytes().decode("ascii"))


def _chances(plan: Audited) -> Array:
    """(n,) the chances of being drawn."""
    return audits.chances(*_frozen_doubt(plan))


def _frozen_doubt(plan: Audited) -> tuple[Array, Mask]:
    """(n,) the doubts as `_as_steps` wrote them, each the smallest of its step, and which points are audited."""
    step_of = np.full(256, -1)
    step_of[np.frombuffer(STEPS.encode(), dtype=np.uint8)] = np.arange(len(STEPS))
    letters = step_of[np.frombuffer(unpacked(plan.doubt).encode("ascii", "replace"), dtype=np.uint8)]
    return np.maximum(letters, 0) / (2.0 * len(STEPS)), letters >= 0
