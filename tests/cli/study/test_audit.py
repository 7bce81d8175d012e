"""`superlevel study audit` as people type it."""

from __future__ import annotations

import re

from tests.cli.study.terminal import GIVEN, Terminal, fill


def test_an_audit_from_its_sheet_to_its_statement(terminal: Terminal) -> None:
    terminal.created("harbour", *GIVEN)
    for _ in range(3):
        terminal.batch()
    assert "there was no audit yet" in terminal.study("audit", "harbour")
    shown = terminal.study("audit", "harbour", "--size", 60, "--csv", "audit.csv", "--tolerance", 1)
    assert "60 places were drawn at random" in shown
    assert "tell harbour audit.csv" in shown
    fill(terminal.folder / "audit.csv")
    assert "60 results stored" in terminal.study("tell", "harbour", "audit.csv")
    said = terminal.study("audit", "harbour")
    assert "With confidence 95 %, at most" in said
    assert "wrong by more than 1, whatever the kernel" in said
    assert "measured above" in said
    assert "audited points above the level (95 % interval:" in said
    (data,) = terminal.data("study", "audit", "harbour")["audits"]
    assert (data["draws"], data["waiting"]) == (60, 0)
    assert sum(stratum["points"] for stratum in data["strata"]) == 36
    assert sum(stratum["draws"] for stratum in data["strata"]) == 60
    rows = re.findall(r"(?:below|to) \S+ %\s*│\s*(\d+)\s*│\s*(\d+)\s*│\s*(\d+)\s*│", said)
    assert rows == [
        tuple(str(stratum[name]) for name in ("points", "draws", "contradictions")) for stratum in data["strata"]
    ]
    assert 0 < data["bound"] < 1
    assert "audit 1" in terminal.study("verify", "harbour")
    terminal.study("report", "harbour")
    page = (terminal.folder / "harbour.html").read_text()
    assert "<h2>Audit</h2>" in page
    assert f"<p>{data['sentence']}</p>" in page
    assert page.count("doubt of the label") == said.count("doubt of the label") == 1


def test_mistakes_name_the_option(terminal: Terminal) -> None:
    terminal.created("harbour", *GIVEN)
    terminal.batch()
    for options, sentence in (
        (("--size", "many"), "--size is 'many': give a whole number, or auto"),
        (("--csv", "audit.csv"), "--csv is 'audit.csv': say with --size how many places the audit draws"),
        (("--sheet", "audit.xlsx"), "--sheet is 'audit.xlsx': say with --size how many places the audit draws"),
        (("--sheet", "audit.xlsx", "--csv", "audit.csv"), "--sheet is given together with --csv: give one of them"),
        (("--size", 5, "--delta", 2), "--delta is 2.0"),
        (("--size", 0), "--size is 0"),
    ):
        ran = terminal("study", "audit", "harbour", *options)
        assert ran.code == 2
        assert sentence in ran.err
