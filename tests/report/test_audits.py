"""Audits on a page."""

from __future__ import annotations

from dataclasses import replace

from superlevel.report.audits import AuditSummary, Table, audit_section
from superlevel.report.page import page
from tests.report.test_campaign import example, lattice
from tests.report.test_page import ODD, Reader

FOUND = AuditSummary(
    heading=f"Audit 1, level 20 {ODD}",
    sentences=("At most 5 % are wrong.", ODD),
    tables=(
        Table(names=("draws", "measured above"), rows=(("map above", "31"), ("map below", "4"))),
        Table(names=("doubt of the label", "points"), rows=(("below 1.4 %", "1,200"),)),
    ),
)


def test_an_audit_is_a_heading_sentences_and_tables() -> None:
    text = page(replace(example(lattice(4, 4)), audits=(FOUND, FOUND)))
    reader = Reader(text)
    assert reader.text["h3"] == 2 * FOUND.heading
    assert text.count("<p>At most 5 % are wrong.</p>") == 2
    assert not reader.all("b")
    shown = [["draws", "measured above"], ["map above", "31"], ["map below", "4"]]
    assert reader.tables["Audit"] == 2 * [*shown, ["doubt of the label", "points"], ["below 1.4 %", "1,200"]]


def test_without_an_audit_there_is_no_section() -> None:
    assert audit_section(()) == ""
    assert "<h2>Audit</h2>" not in page(example(lattice(4, 4)))
