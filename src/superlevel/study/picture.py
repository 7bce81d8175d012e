"""A campaign as `superlevel.report` shows it: where it stands, what comes next, and why there."""

from __future__ import annotations

import numpy as np

from superlevel import linalg
from superlevel.arrays import Array, Indices
from superlevel.confidence.ridge import Ridge
from superlevel.design import information_factor
from superlevel.report.campaign import Campaign, Reason
from superlevel.rules.design import DesignRule
from superlevel.study.assumptions import assumptions
from superlevel.study.configuration import question
from superlevel.study.replay import Knowledge
from superlevel.study.stopping import stopping

EXPLAINED = 50  # open tickets, at most
SERVED = 3  # points that each of them names


def campaign(name: str, known: Knowledge) -> Campaign:
    """Everything that is shown."""
    ledger, found = known.ledger, stopping(known)
    return Campaign(
        name=name,
        question=question(ledger.created),
        names=tuple(ledger.created.names),
        points=np.array(ledger.created.points),
        labels=known.labels,
        counts=ledger.counts,
        averages=ledger.averages,
        mean=known.mean,
        lower=found.lower,
        upper=found.upper,
        level=known.level,
        next=ledger.point[ledger.open - 1],
        reasons=reasons(known),
        facts=_facts(known),
        doubts=known.doubts,
        progress=_progress(known),
        stopping=found,
    )


def reasons(known: Knowledge) -> tuple[Reason, ...]:
    """For each open ticket, the undecided points that it serves most."""
    tickets = known.ledger.open[:EXPLAINED]
    if not len(tickets) or known.state is None:
        return ()
    points = known.ledger.point[tickets - 1]
    shares = _shares(known, points)
    if shares is None:
        return ()
    shares[:, known.labels != 0] = -1.0
    best = np.argsort(-shares, axis=1, kind="stable")[:, :SERVED]
    return tuple(
        Reason(
            ticket=int(ticket),
            point=int(point),
            serves=tuple((int(y), float(row[y])) for y in chosen if row[y] > 0),
        )
        for ticket, point, row, chosen in zip(tickets, points, shares, best, strict=True)
    )


def _shares(known: Knowledge, points: Indices) -> Array | None:
    """(m, n) the share of y's variance that a measurement at x takes away."""
    assert known.state is not None
    posterior = known.state.posterior
    if posterior is not None:
        columns = posterior.columns(points)
        drops = columns**2 / (posterior.variance[points] + posterior.noise[points])[:, None]
        return np.divide(drops, posterior.variance, out=np.zeros_like(drops), where=posterior.variance > 0)
    confidence = None if known.method is None else known.method.confidence
    return _on_ridge(known, confidence, points) if isinstance(confidence, Ridge) else _in_rounds(known, points)


def _on_ridge(known: Knowledge, ridge: Ridge, points: Indices) -> Array:
    """v_xy^2 / (v_y (v_x + sigma_x^2)), v_xy = phi_x' (I + sum of phi phi' / sigma^2)^-1 phi_y where ||theta|| <= 1."""
    assert known.state is not None
    assert known.state.learned is not None
    arms = ridge.features.array
    information = linalg.moment(arms, known.state.learned.evidence.information)
    linalg.add_to_diagonal(information, 1.0)
    seen = linalg.whiten(linalg.cholesky(information), arms)
    lengths = linalg.squared_norms(seen)
    drops = linalg.inner(seen[points], seen) ** 2 / (lengths[points] + ridge.deviations[points] ** 2)[:, None]
    return np.divide(drops, lengths, out=np.zeros_like(drops), where=lengths > 0)


def _in_rounds(known: Knowledge, points: Indices) -> Array | None:
    """(phi_y' A^-1 phi_x)^2 / (phi_y' A^-1 phi_y . phi_x' A^-1 phi_x), A that of the round's design."""
    begun = known.round
    if begun is None or known.method is None:
        return None
    rule = known.method.rule
    if not isinstance(rule, DesignRule):
        return None
    arms = rule.features.array
    factor = information_factor(arms, begun.choice(known.ledger).weights, ridge=rule.ridge)
    seen = linalg.whiten(factor, arms)
    lengths = linalg.squared_norms(seen)
    products = linalg.inner(seen[points], seen) ** 2
    scale = np.outer(lengths[points], lengths)
    return np.divide(products, scale, out=np.zeros_like(products), where=scale > 0)


def _facts(known: Knowledge) -> tuple[tuple[str, str], ...]:
    ledger = known.ledger
    rows = [
        ("measurements", f"{ledger.samples:,} at {np.count_nonzero(ledger.counts):,} points"),
        ("plans", f"{len(ledger.askings):,}"),
        ("open tickets", f"{len(ledger.open):,}"),
        ("began", ledger.times[0]),
        ("last entry", ledger.times[1]),
        *assumptions(ledger, known),
    ]
    if known.stop is not None:
        rows.append(("ended because", known.stop.value))
    return tuple(rows)


def _progress(known: Knowledge) -> tuple[tuple[int, int], ...]:
    """Undecided points over measurements, as each plan found them, and now."""
    seen = [(item.asked.samples, item.asked.labels.count("?")) for item in known.ledger.askings]
    return (*seen, (known.ledger.samples, int((known.labels == 0).sum())))
