"""A certificate of a study: its log, what is stated of it, and the numbers that prove that, as data.

A stranger checks it with `superlevel.certificates.check`, which shares no code with this package. docs/certificate.md
has the format. Everything that is stated here is what the study itself says: nothing is asked of the second verifier.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from superlevel import findings
from superlevel.arrays import Array
from superlevel.errors import InputError
from superlevel.goals import Bounds
from superlevel.study import rounds
from superlevel.study.auditing import Accuracy, accuracy
from superlevel.study.events import parted
from superlevel.study.ledger import Ledger
from superlevel.study.replay import Knowledge
from superlevel.study.signs import as_text
from superlevel.study.storage.protocol import Entry

FORMAT = 1
KERNELS = "linear, RBF, Matern with nu 0.5, 1.5, 2.5 or inf, ConstantKernel, and sums and products of these"
"""Those that the second verifier knows."""
ASSUMPTIONS = ("study", "goal", "kernel", "problem", "confidence", "fit")  # fields of the first entry


def certificate(entries: Sequence[Entry], known: Knowledge) -> dict[str, Any]:
    """The certificate of a log, as JSON holds it; an InputError where there is nothing to state."""
    _check_kind(known.ledger)
    statements = [*_labels(known), *_audits(known.ledger)]
    if not statements:
        raise InputError("certificate", "asked for a study that proves nothing yet", _remedy(known))
    first = _said(entries[0])
    return {
        "format": FORMAT,
        "head": {"entries": len(entries), "digest": entries[-1].digest},
        "assumptions": {name: first.get(name) for name in ASSUMPTIONS},
        "statements": statements,
        "entries": [
            {"seq": entry.seq, "kind": entry.kind, "at": entry.at, "payload": entry.payload, "digest": entry.digest}
            for entry in entries
        ],
    }


def _check_kind(ledger: Ledger) -> None:
    """An InputError for a study that the second verifier does not know."""
    for there, what in (
        (ledger.created.transform, f"the transform {ledger.created.transform!r} of the values"),
        (len(ledger.elsewhere), "measurements at places that are not on the list"),
        (ledger.n > len(ledger.created.points), "points that were added later"),
        (ledger.created.points.reference, f"as many as {ledger.n:,} points"),
    ):
        if there:
            remedy = "the second verifier does not know them: `superlevel study verify` checks this study"
            raise InputError("certificate", f"asked for a study with {what}", remedy)


def _labels(known: Knowledge) -> list[dict[str, Any]]:
    """The labels that follow from the intervals of the points; none if something was estimated or contradicted."""
    belief, goal = known.state.belief, known.ledger.goal.by_points()
    given = known.ledger.created
    if _estimated(known) or _contradicted(known) or given.scales or not _knows(given.kernel):
        return []
    if not known.state.samples:
        return []
    bounds = _bounds(known)
    if np.isnan(bounds.lower).any():  # rounds for pairs of points bound no point by itself
        return []
    labels = goal.read(goal.unread(known.ledger.n), bounds, tolerance=belief.tolerance).labels
    if not labels.any():
        return []
    ends = {"lower": _packed(bounds.lower), "upper": _packed(bounds.upper)}
    return [{"kind": "labels", "labels": as_text(labels), **ends, **belief.hints}]


def _bounds(known: Knowledge) -> Bounds:
    """(n,) the interval of f at each point; in rounds, that of the last round which was planned for the point."""
    method, ledger = known.method, known.ledger
    if not method.confidence.in_rounds:
        return known.state.belief.bounds()
    state = method.init(seed=ledger.created.seed)
    lower, upper = np.full(ledger.n, -np.inf), np.full(ledger.n, np.inf)
    fixed = state.belief.fixed(ledger.goal.share)
    for after in rounds.states(method, state, ledger):
        found, planned = after.belief.bounds(), state.undecided
        if ledger.goal.share:
            return found
        lower, upper = np.where(planned, found.lower, lower), np.where(planned, found.upper, upper)
        state = after
    if fixed is not None:
        known_already = ~np.isnan(fixed.lower)
        lower, upper = np.where(known_already, fixed.lower, lower), np.where(known_already, fixed.upper, upper)
    return Bounds(lower=lower, upper=upper)


def _audits(ledger: Ledger) -> list[dict[str, Any]]:
    """What the audits prove, level by level; those that bound nothing are left out."""
    levels = list(ledger.goal.levels)
    return [
        _audit(found, levels.index(found.level))
        for found in accuracy(ledger)
        if found.result.most < found.result.points
    ]


def _audit(found: Accuracy, row: int) -> dict[str, Any]:
    result = found.result
    counts = {"draws": result.draws, "contradictions": result.contradictions}
    return {"kind": "audit", "audit": found.audit, "level": row, **counts, "bound": result.bound}


def _remedy(known: Knowledge) -> str:
    """What would give something to state."""
    if _estimated(known):
        return "labels of an estimated kernel are as right as the estimate: audit the map, and its accuracy is proved"
    if known.ledger.created.scales:
        return (
            "the second verifier does not know kernels on scaled coordinates: audit the map, and its accuracy is proved"
        )
    if not _knows(known.ledger.created.kernel):
        return f"the second verifier knows the kernels {KERNELS}: audit the map, and its accuracy is proved"
    if _contradicted(known):
        return "the measurements contradict what was assumed (`superlevel study verify` says what): correct that first"
    return "no label follows from the interval of a point alone yet: measure more, or audit the map"


def _knows(kernel: Any) -> bool:
    """Whether the second verifier can compute a kernel, which is described as the first entry of a log does."""
    if kernel is None:
        return True
    match kernel["kernel"]:
        case "Sum" | "Product":
            return all(part is not None and _knows(part) for part in (kernel["k1"], kernel["k2"]))
        case "Matern":
            return kernel.get("nu", 1.5) in ("inf", 0.5, 1.5, 2.5)
        case name:
            return name in ("RBF", "ConstantKernel")


def _estimated(known: Knowledge) -> bool:
    return bool(known.ledger.created.fit) or known.ledger.fit is not None


def _contradicted(known: Knowledge) -> bool:
    """Whether the measurements contradict an assumption of the intervals."""
    return bool(findings.contradicting(known.state.belief.findings))


def _said(entry: Entry) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(parted(entry.payload)[0])
    return said


def _packed(array: Array) -> str:
    """Base64 of little-endian float64."""
    return base64.b64encode(np.asarray(array, dtype="<f8").tobytes()).decode()
