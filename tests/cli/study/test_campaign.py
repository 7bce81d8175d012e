"""Whole campaigns, from a file of points to a page, with nothing but the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from tests.cli.study.terminal import GIVEN, Terminal, depth, fill, read, write


def test_a_campaign_with_a_given_kernel_from_points_to_the_report(terminal: Terminal, tmp_path: Path) -> None:
    terminal.created()
    before = 36
    for _ in range(4):
        terminal.batch()
        status = terminal.data("study", "status", "harbour")
        assert status["above"] + status["undecided"] + status["below"] == 36
        assert status["fresh"]
        if status["stop"]:
            break
    assert status["undecided"] < before / 2
    terminal.study("export", "harbour", "--out", "labels.csv")
    decided = [row for row in read(tmp_path / "labels.csv") if row["label"] != "undecided"]
    assert len(decided) == status["above"] + status["below"]
    for row in decided:  # all right: 3 deviations
        assert (row["label"] == "above") == (depth(float(row["east"]), float(row["north"])) > 20)
    assert "Nothing in the log speaks against this." in terminal.study("verify", "harbour", "--labels", "labels.csv")
    assert "wrote harbour.html" in terminal.study("report", "harbour")
    assert (tmp_path / "harbour.html").read_text().lstrip().lower().startswith("<!doctype html")
    terminal.study("plot", "harbour", "--out", "harbour.png")
    with Image.open(tmp_path / "harbour.png") as image:
        assert image.width > 300
    assert "closed study 'harbour'" in terminal.study("close", "harbour", "--reason", "enough")
    assert "nothing to measure now: the study is closed" in terminal.study("suggest", "harbour")
    assert terminal.data("study", "verify", "harbour")["ok"]


def test_a_campaign_that_estimates_everything_begins_with_a_pilot(terminal: Terminal) -> None:
    terminal.created("sea", "--threshold", 20, "--batch", 10)
    status = terminal.data("study", "status", "sea")
    assert status["kernel"] == status["noise"] == "not estimated yet"
    shown = terminal.study("suggest", "sea", "--csv", "sheet.csv")
    assert "pilot" in shown
    while status["kernel"] == "not estimated yet":
        terminal.batch("sea")
        terminal.study("suggest", "sea")
        status = terminal.data("study", "status", "sea")
    assert status["measurements"] == 20
    assert 0.05 < float(status["noise"]) < 2
    assert "nothing is declared before that" in status["tested"]
    assert "why here" in terminal.study("suggest", "sea", "--csv", "sheet.csv")
    for _ in range(3):  # a pilot is too small to be trusted with the kernel
        told = terminal.batch("sea")
        assert "newly decided" in told
        assert "estimated noise: " in told
        assert "fit: " in told
    assert terminal.data("study", "status", "sea")["undecided"] < 36
    verified = terminal.data("study", "verify", "sea")
    assert verified["ok"]
    assert "estimated from" in verified["assumptions"]["kernel"]


def test_every_verb_says_why_nothing_is_declared_after_a_fit_that_fails(terminal: Terminal) -> None:
    terminal.created("sea", "--threshold", 20, "--batch", 10)
    for batch in range(6):
        terminal.study("suggest", "sea", "--csv", "sheet.csv")
        fill(terminal.folder / "sheet.csv")
        if batch > 1:  # the pilot was smooth and precise, and what follows is neither
            rows = read(terminal.folder / "sheet.csv")
            for place, row in enumerate(rows):
                row["value"] = repr(20.0 + (-1) ** place * 10.0 ** (batch + 1))
            write(terminal.folder / "sheet.csv", rows)
        told = terminal.study("tell", "sea", "sheet.csv")
    sentence = terminal.data("study", "status", "sea")["tested"]
    assert "nothing is declared while the fit fails this test" in sentence
    assert terminal.data("study", "status", "sea")["undecided"] == 36
    shown = {
        "tell": told,
        "status": terminal.study("status", "sea"),
        "suggest": terminal.study("suggest", "sea", "--csv", "sheet.csv", "--force"),
        "verify": terminal("study", "verify", "sea").out,
    }
    terminal.study("report", "sea")
    shown["report"] = (terminal.folder / "sea.html").read_text()
    for verb, text in shown.items():
        assert " ".join(sentence.split()) in " ".join(text.split()), verb


def test_sqlite_and_postgresql_suggest_the_same(terminal: Terminal, postgres_url: str) -> None:
    suggested = {}
    for store in ("sqlite:///campaign.db", postgres_url):
        terminal.created("harbour", *GIVEN, "--store", store)
        (terminal.folder / "sheet.csv").unlink(missing_ok=True)
        points = []
        for _ in range(3):
            tickets = terminal.data("study", "suggest", "harbour", "--store", store)["tickets"]
            points.append([(ticket["ticket"], ticket["point"]) for ticket in tickets])
            terminal.batch(options=("--store", store))
        status = terminal.data("study", "status", "harbour", "--store", store)
        verified = terminal.data("study", "verify", "harbour", "--store", store)
        counts = {key: status[key] for key in ("above", "undecided", "below", "measurements", "entries")}
        suggested[store] = json.dumps([points, counts, verified["claim"], verified["checks"]])
    assert len(set(suggested.values())) == 1


def test_the_store_may_be_named_or_come_from_the_environment(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal.created("harbour", *GIVEN, "--store", "sqlite:///other.db")
    assert (tmp_path / "other.db").exists()
    assert not (tmp_path / "superlevel.db").exists()
    shown = terminal.study("suggest", "harbour", "--csv", "sheet.csv", "--store", "sqlite:///other.db")
    assert "superlevel study tell harbour sheet.csv --store sqlite:///other.db" in shown
    monkeypatch.setenv("SUPERLEVEL_STORE", "sqlite:///other.db")
    shown = terminal.study("suggest", "harbour", "--csv", "sheet.csv")
    assert "superlevel study tell harbour sheet.csv\n" in shown
