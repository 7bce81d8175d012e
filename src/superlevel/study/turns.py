"""What a study appends in a turn: only what still holds when its turn comes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from superlevel.errors import InputError, SuperlevelError
from superlevel.study.events import Asked, Closed, Created, Payload, Placed, Programmed
from superlevel.study.ledger import Ledger

if TYPE_CHECKING:
    from superlevel.study.replay import Methods

CLOSED = "the study is closed"


def unchanged(seen: Ledger, plan: Asked | Placed, ledger: Ledger) -> Asked | Placed | None:
    """What was made from ``seen``; None where something came in since."""
    return plan if ledger.length == seen.length else None


def closing(seen: Ledger, closed: Closed, ledger: Ledger) -> Closed | None:
    """The end with the labels of ``seen``; None where something came in since."""
    if ledger.closed is not None:
        raise SuperlevelError(f"{CLOSED} already")
    return closed if ledger.changed == seen.changed else None


def programmed(name: str, program: str, ledger: Ledger, *, changed: bool) -> Programmed | None:
    """That this program answers from now on; None where it did before. An InputError where another one did."""
    if ledger.closed is not None or (ledger.program == program and not changed):
        return None
    if ledger.program and not changed:
        got = f"{name!r}, whose answers are those of {ledger.program!r} so far, and not of {program!r}"
        remedy = "give another name, or go on with changed=True (--changed-command), which the log notes"
        raise InputError("name", got, remedy)
    return Programmed(program=program)


def checked(given: Created) -> Methods:
    """That the method takes the problem, before anything is stored; and what was made for that."""
    from superlevel.study.replay import Methods  # noqa: PLC0415  slow to import

    makers = Methods()
    nothing = np.empty((0, len(given.names)))
    makers.of(given, None, refined=nothing, elsewhere=nothing)
    return makers


def check_places(makers: Methods, ledger: Ledger, said: Sequence[Payload]) -> None:
    """That the method takes measurements at the places that some entries add, before anything is stored."""
    further = [row for payload in said if isinstance(payload, Placed) for row in payload.points]
    if further:
        beside = np.concatenate([ledger.elsewhere, np.array(further)])
        makers.of(ledger.created, ledger.fit, refined=ledger.refined, elsewhere=beside)
