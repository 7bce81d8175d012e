"""A campaign in five lines, for whoever pays: result, how sure, cost so far, what is left, what to do next."""

from __future__ import annotations

import numpy as np

from superlevel.study.assumptions import guarantee
from superlevel.study.replay import Knowledge
from superlevel.study.status import counts, next_step, reading


def summary(known: Knowledge) -> tuple[tuple[str, str], ...]:
    """Name and sentence of each line."""
    ledger, read = known.ledger, reading(known)
    groups = counts(read.labels, ledger)
    undecided = groups.pop("undecided")
    decided = ", ".join(f"{count:,} {'is' if count == 1 else 'are'} {name}" for name, count in groups.items())
    return (
        ("Result", f"{_sentence(ledger.goal.ask(ledger.n))[:-1]}? {decided}, and {undecided:,} are undecided."),
        ("How sure", _sentence(_sure(known))),
        ("Cost so far", f"{_cost(known)}."),
        ("What is left", _sentence(_left(known, undecided))),
        ("What to do next", _sentence(next_step(ledger, read, len(ledger.open)))),
    )


def _sure(known: Knowledge) -> str:
    found = known.outlook
    if found is None:
        return guarantee(known)
    return f"{guarantee(known)}; on the whole map {found.expected[0]} labels are expected to be wrong"


def _cost(known: Knowledge) -> str:
    ledger, cost = known.ledger, np.asarray(known.method.problem.cost, dtype=np.float64)
    points = int(np.count_nonzero(ledger.counts))
    told = f"{_many(ledger.samples, 'measurement')} at {_many(points, 'point')}"
    if (cost == 1.0).all():
        return told
    return f"{told}, which cost {float((np.broadcast_to(cost, ledger.n) * ledger.counts).sum()):,.6g}"


def _left(known: Knowledge, undecided: int) -> str:
    points = f"{_many(undecided, 'undecided point')}"
    if known.stop is not None:
        return f"{points}: {known.stop.value}"
    found = known.outlook
    if found is None:
        return points
    wanted = f"at most {100 * found.rate:g} % of all labels wrong"
    if found.latest == 0:
        return f"{points}; {wanted}: reached"
    return f"{points}; until {wanted}: {found.missing}"


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'s' * (count != 1)}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
