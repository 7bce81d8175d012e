"""What to measure next: a pilot that is spread out, batches, rounds, and what is missing of a round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel.arrays import Indices
from superlevel.errors import InputError
from superlevel.methods import Method
from superlevel.records import Choice, State, View
from superlevel.sizes import Growing
from superlevel.study import challenged, designs, forecasts
from superlevel.study.configuration import LARGEST_PLAN as LARGEST
from superlevel.study.events import BATCH, PILOT, REST, ROUND, Asked
from superlevel.study.ledger import Fate, Ledger
from superlevel.study.replay import Knowledge
from superlevel.study.rounds import fingerprint
from superlevel.study.signs import as_text


@dataclass(frozen=True, kw_only=True, eq=False)
class Waiting:
    """Nothing can be planned before results are told."""

    reason: str


def next_plan(known: Knowledge, count: int | None) -> Asked | Waiting:
    """A plan of about ``count`` measurements, or of as many as the method takes, from what is known."""
    if known.method.confidence.in_rounds:
        return _round(known, known.method, known.state)
    left, out = known.state.belief.pilot, len(known.ledger.claimable)
    if left and out >= left and count is None:
        return Waiting(reason=f"{out:,} results of the pilot are out: the kernel is estimated from them")
    return _batch(known, known.method, known.state, count=count)


def _asked(known: Knowledge, purpose: str, points: Indices, phase: int, **more: object) -> Asked:
    ledger = known.ledger
    if len(points) > LARGEST:
        remedy = (
            "give a tolerance, a larger ridge or delta, the 'tight' schedule, or confidence='posterior'; "
            "`superlevel plan` says what each costs"
        )
        raise InputError(f"round {phase}", f"one of {len(points):,} measurements", remedy)
    return Asked(
        seen=ledger.length,
        purpose=purpose,
        phase=phase,
        points=points.tolist(),
        samples=ledger.samples,
        labels=as_text(known.labels),
        **more,  # type: ignore[arg-type]
    )


# ------------------------------------------------------------------------------------------ batches


def _batch(known: Knowledge, method: Method, state: State, *, count: int | None) -> Asked:
    """By the method's rule, as if open tickets were measured already, and those that failed too.

    Without the latter a point that cannot be measured would be suggested for ever.
    """
    if count is not None:
        _check_count(count)
    phase = _next_batch(known.ledger)
    choice = method.choose(state, seen(method, state, known.ledger, phase=phase, count=count))
    purpose = PILOT if state.belief.pilot else BATCH
    forecast = None if choice.forecast is None else forecasts.stored(choice.forecast)
    challenge = None if choice.challenge is None else challenged.stored(choice.challenge)
    return _asked(
        known,
        purpose,
        _repeated(choice.counts),
        phase,
        design=_design(choice),
        forecast=forecast,
        challenge=challenge,
        checks=choice.checks.tolist(),
    )


def seen(method: Method, state: State, ledger: Ledger, *, phase: int, count: int | None) -> View:
    """What the rule looks at for a batch: tickets that are open or failed count as being measured."""
    failed = ledger.fate == Fate.FAILED
    out = ledger.point[failed | (ledger.fate == Fate.OPEN)]
    sizes = None if count is None else Growing(first=count)
    return method.view(state, phase=phase, pending=out, failed=ledger.point[failed], sizes=sizes)


def _check_count(count: int) -> None:
    """Before anything is computed: a rule that takes one point after the other takes as long as there are."""
    if count > LARGEST:
        raise InputError("n", f"{count:,}", f"ask for at most {LARGEST:,} at once")


def _next_batch(ledger: Ledger) -> int:
    return 1 + sum(item.asked.purpose in (PILOT, BATCH) for item in ledger.askings)


def _design(choice: Choice) -> object:
    return None if choice.certificate is None else designs.stored(choice.certificate)


def _repeated(counts: Indices) -> Indices:
    return np.repeat(np.arange(len(counts)), counts)


# ------------------------------------------------------------------------------------------- rounds


def _round(known: Knowledge, method: Method, state: State) -> Asked | Waiting:
    """The next round, or what is missing of the present one."""
    ledger, begun = known.ledger, known.round
    if begun is None:
        choice = method.choose(state, method.view(state, phase=state.phase))
        return _asked(
            known,
            ROUND,
            _repeated(choice.counts),
            state.phase,
            weights=designs.thin(choice.weights),
            design=_design(choice),
            undecided=fingerprint(state.undecided),
        )
    missing = begun.missing(ledger)
    if missing.any():
        return _asked(known, REST, _repeated(missing), state.phase, completes=begun.asking.seq)
    left = len(ledger.open)
    return Waiting(reason=f"round {state.phase} waits for {left:,} results: where the next one measures depends on all")
