"""What the labels of a campaign rest on, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from superlevel.fields import FIELDS
from superlevel.kernels import phrase
from superlevel.study.ledger import Ledger

if TYPE_CHECKING:
    from superlevel.methods import Method
    from superlevel.study.replay import Knowledge

PILOT = "none yet: the pilot comes first"


def assumptions(ledger: Ledger, known: Knowledge) -> tuple[tuple[str, str], ...]:
    """Name and value of everything that was given or estimated, used or not."""
    given, fit = ledger.created, known.fit
    confidence = given.confidence["name"]
    values: dict[str, Any] = dict(given.problem) | ({"noise": fit.noise, "mean": fit.mean} if fit else {})
    rule = "" if given.rule is None else f", rule {given.rule['name']}"
    rows = [
        ("method", f"{given.method}{rule}, {confidence} confidence, seed {given.seed}"),
        ("kernel", _source(known, "kernel", phrase(fit.kernel if fit else given.kernel))),
    ]
    uses = None if known.method is None else known.method.confidence.uses
    for field in FIELDS:
        text = field.show(values.get(field.name, field.default))
        if field.name in ("noise", "mean"):
            text = _source(known, field.name, text)
        elif uses is not None and field.name not in uses and text != "none":
            text += f", which the {confidence} confidence does not use"
        rows.append((field.name, text))
    return tuple(rows)


def _source(known: Knowledge, name: str, text: str) -> str:
    """A value, and whether it was given or estimated."""
    if name not in known.ledger.created.fit:
        return f"{text}, given"
    return "not estimated yet" if known.fit is None else f"{text}, estimated from {known.fit.samples:,} measurements"


def guarantee(method: Method | None) -> str:
    """In which sense the labels are right."""
    return PILOT if method is None else method.confidence.guarantee(method.problem).promise
