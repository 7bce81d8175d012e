"""What the labels of a campaign rest on, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from superlevel.fields import FIELDS
from superlevel.kernels import phrase
from superlevel.records import Stop
from superlevel.study import norms

if TYPE_CHECKING:
    from superlevel.study.replay import Knowledge


def assumptions(known: Knowledge) -> tuple[tuple[str, str], ...]:
    """Name and value of everything that was given or estimated, used or not."""
    given, method = known.ledger.created, known.method
    confidence, fit = given.confidence["name"], known.ledger.fit
    values: dict[str, Any] = dict(given.problem) | ({"noise": fit.noise, "mean": fit.mean} if fit else {})
    rule = "" if given.rule is None else f", rule {given.rule['name']}"
    rows = [
        ("method", f"{given.method}{rule}, {confidence} confidence, seed {given.seed}"),
        ("kernel", _source(known, "kernel", phrase(fit.kernel if fit else given.kernel))),
    ]
    if known.ledger.program:
        rows.append(("program", known.ledger.program))
    scale = known.ledger.scale
    if scale.name:
        rows.append(("transform", f"{scale.name}: labels are computed from the {scale.noun} of every value"))
    for field in FIELDS:
        text = scale.described(field.name, field.show(values.get(field.name, field.default)))
        if field.name in ("noise", "mean"):
            text = _source(known, field.name, text)
        elif field.name not in method.confidence.uses and text != "none":
            text += f", which the {confidence} confidence does not use"
        rows.append((field.name, text))
    return tuple(rows)


def _source(known: Knowledge, name: str, text: str) -> str:
    """A value, and whether it was given or estimated."""
    ledger, estimated = known.ledger, known.state.belief.estimated
    if name not in ledger.created.fit:
        return f"{text}, given"
    if ledger.fit is not None:
        return f"{text}, estimated from {ledger.fit.samples:,} measurements by an earlier version"
    if name not in estimated:
        return "not estimated yet"
    return f"{estimated[name]}, estimated from {ledger.samples:,} measurements"


def guarantee(known: Knowledge) -> str:
    """In which sense the labels are right."""
    if known.stop is Stop.CONTRADICTED:
        return f"none: {known.stop}"
    promise, larger = known.method.confidence.guarantee(known.method.problem).promise, norms.sentence(known)
    return f"{promise}; {larger}" if larger else promise
