"""How a campaign stopped, from its log: the labels of every plan say when each point was decided."""

from __future__ import annotations

import numpy as np

from superlevel.arrays import Indices, Labels
from superlevel.goals import Bounds
from superlevel.records import Stop
from superlevel.report.stopping import Stopping
from superlevel.simulation import settled
from superlevel.study.assumptions import guarantee
from superlevel.study.ledger import Ledger
from superlevel.study.replay import Knowledge, as_labels
from superlevel.study.turns import CLOSED


def stopping(known: Knowledge) -> Stopping:
    """When each point was decided, as the plans found it, and what that took; corrections do not change what was.

    The lower bound is for the noise that is given: what single measurements say of their own is not in it.
    """
    ledger, state = known.ledger, known.state
    bounds = _said(state.belief.bounds())
    return Stopping(
        names=ledger.coordinates.names,
        scales=ledger.coordinates.scales,
        points=ledger.places,
        ids=ledger.ids,
        id_name=ledger.created.id_name,
        problem=None if known.method.problem.fit else known.method.problem,
        labels=known.labels,
        decided=since(known),
        samples=ledger.samples,
        estimate=known.estimate,
        lower=None if bounds is None else bounds.lower,
        upper=None if bounds is None else bounds.upper,
        sources=state.belief.sources,
        ended=_ended(known),
        guarantee="" if known.stop is Stop.CONTRADICTED else guarantee(known),
    )


def since(known: Knowledge) -> Indices:
    """(n,) how many measurements there were when each point got its label; -1 where it is undecided."""
    return settled([*_moments(known.ledger), (known.ledger.samples, known.labels)])


def _moments(ledger: Ledger) -> list[tuple[int, Labels]]:
    """Measurements and labels of every moment that the log has labels of, in their order."""
    plans = sorted((item.asked for item in ledger.askings), key=lambda asked: asked.seen)
    found = [(asked.samples, asked.labels) for asked in plans]
    if ledger.closed is not None:  # nothing is planned after that
        found.append((ledger.closed.samples, ledger.closed.labels))
    return [(samples, as_labels(text, ledger)) for samples, text in found if ledger.has_been(text)]


def _said(bounds: Bounds) -> Bounds | None:
    """None where nothing is said of any point, as after a contradiction."""
    if not (np.isfinite(bounds.lower).any() or np.isfinite(bounds.upper).any()):
        return None
    return bounds


def _ended(known: Knowledge) -> str | None:
    if known.stop is not None:
        return known.stop.value
    return CLOSED if known.ledger.closed is not None else None
