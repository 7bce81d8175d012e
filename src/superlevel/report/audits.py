"""What audits found, in words and tables: for a page, and for the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from superlevel.report.markup import Numeral, section, table, text


@dataclass(frozen=True, kw_only=True)
class Table:
    """Cells as they are shown."""

    names: tuple[str, ...]
    """Of the columns."""
    rows: tuple[tuple[str, ...], ...]
    """The first cell of each is a word, the others are numbers."""


@dataclass(frozen=True, kw_only=True)
class AuditSummary:
    """What one audit found at one level."""

    heading: str
    """Which audit, which level and which map."""
    sentences: tuple[str, ...]
    """The bound first."""
    tables: tuple[Table, ...]
    """The confusion matrix, and the points by doubt if the chances of being drawn depend on it."""


def audit_section(found: Sequence[AuditSummary]) -> str:
    """Sentences and tables of each audit; empty if there was none."""
    return section("Audit", "\n".join(_shown(each) for each in found)) if found else ""


def _shown(found: AuditSummary) -> str:
    told = [f"<p>{text(sentence)}</p>" for sentence in found.sentences]
    tables = [
        table(each.names, [(word, *map(Numeral, numbers)) for word, *numbers in each.rows]) for each in found.tables
    ]
    return "\n".join([f"<h3>{text(found.heading)}</h3>", *told, *tables])
