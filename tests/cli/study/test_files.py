"""`superlevel study plot`, `report` and `export`: files that are whole, or as they were before."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from superlevel.files import file_name
from superlevel.report import probabilities
from superlevel.report.campaign import Campaign
from superlevel.report.probabilities import draw_probabilities
from superlevel.study import Result, Study
from superlevel.study.events import chained
from superlevel.study.stopping import stopping
from superlevel.study.storage import open_storage
from tests.cli.study.terminal import GIVEN, Terminal, read

URL = "sqlite:///superlevel.db"


@pytest.fixture
def measured(terminal: Terminal) -> Terminal:
    terminal.measured().study("suggest", "harbour", "-n", 3)
    return terminal


def test_labels_are_those_of_the_study_and_numbers_are_exact(measured: Terminal) -> None:
    assert "wrote 36 lines of labels to labels.csv" in measured.study("export", "harbour", "--out", "labels.csv")
    rows = read(measured.folder / "labels.csv")
    study = Study.open(URL, "harbour")
    words = {1: "above", 0: "undecided", -1: "below"}
    assert [row["label"] for row in rows] == [words[label] for label in study.labels.tolist()]
    campaign = study.campaign()
    assert campaign.mean is not None
    assert [float(row["mean"]) for row in rows] == campaign.mean.tolist()
    assert [[float(row["east"]), float(row["north"])] for row in rows] == campaign.points.tolist()
    assert [int(row["measurements"]) for row in rows] == study.ledger.counts.tolist()


def test_stopping_is_when_each_point_was_decided_and_what_that_took(terminal: Terminal) -> None:
    terminal.measured(2)
    said = terminal.study("export", "harbour", "--out", "stopping.csv", "--what", "stopping")
    rows = read(terminal.folder / "stopping.csv")
    study = Study.open(URL, "harbour")
    found = stopping(study.knowledge)
    assert said.splitlines() == ["wrote 36 lines of stopping to stopping.csv", *str(found).splitlines()]
    assert "20 measurements; the lower bound" in said
    assert list(rows[0]) == ["east", "north", "label", "decided", "estimate", "lower", "upper", "interval", "log head"]
    assert [row["decided"] for row in rows] == ["" if when < 0 else str(when) for when in found.decided.tolist()]
    assert {row["decided"] for row in rows} == {"", "10", "20"}
    assert all((row["label"] == "undecided") == (row["decided"] == "") for row in rows)
    assert [float(row["estimate"]) for row in rows] == study.campaign().mean.tolist()  # type: ignore[union-attr]


def test_a_report_says_how_far_the_campaign_is(measured: Terminal) -> None:
    measured.study("report", "harbour")
    text = (measured.folder / "harbour.html").read_text(encoding="utf-8")
    assert "<h2>How far it is</h2>" in text
    assert f"<p>{stopping(Study.open(URL, 'harbour').knowledge).lines()[0]}" in text


def test_measurements_are_every_ticket_with_what_became_of_it(measured: Terminal) -> None:
    measured.study("withdraw", "harbour", 2, "--reason", "broken, twice")
    study = Study.open(URL, "harbour")
    study.tell([Result(ticket=11, value=None, reason="ice"), Result(point=0, value=1.5, noise=0.25)])
    measured.study("export", "harbour", "--out", "all.csv", "--what", "measurements")
    rows = read(measured.folder / "all.csv")
    assert list(rows[0]) == ["ticket", "east", "north", "value", "noise", "fate", "late", "reason", "told", "log head"]
    assert [int(row["ticket"]) for row in rows] == list(range(1, len(study.ledger.point) + 1))
    assert float(rows[0]["value"]) == study.ledger.value[0]
    assert (rows[0]["fate"], rows[0]["told"], rows[0]["late"], rows[0]["reason"]) == ("measured", "3", "", "")
    assert (rows[1]["fate"], rows[1]["reason"]) == ("withdrawn", "broken, twice")
    assert (rows[10]["fate"], rows[10]["value"], rows[10]["reason"]) == ("failed", "", "ice")
    assert rows[10]["late"] == "yes"  # told by another process than asked
    assert rows[11]["fate"] == "open"
    assert (rows[-1]["value"], rows[-1]["noise"], rows[-1]["fate"]) == ("1.5", "0.25", "measured")


def test_a_coordinate_may_be_called_like_a_column_of_measurements(terminal: Terminal) -> None:
    (terminal.folder / "points.csv").write_text("late,fate\n0,0\n1,1\n0,1\n")
    terminal.study("create", "odd", "--points", "points.csv", *GIVEN)
    terminal.study("suggest", "odd")
    terminal.study("export", "odd", "--out", "all.csv", "--what", "measurements")
    with (terminal.folder / "all.csv").open() as lines:
        header = next(csv.reader(lines))
    assert len(header) == len(set(header)) == 10


def test_the_log_is_every_entry_and_its_digests_can_be_computed_again(measured: Terminal) -> None:
    measured.study("export", "harbour", "--out", "log.jsonl", "--what", "log")
    lines = [json.loads(line) for line in (measured.folder / "log.jsonl").read_text().splitlines()]
    entries = open_storage(URL).read("harbour")
    assert [line["seq"] for line in lines] == [entry.seq for entry in entries]
    before = ""
    for line in lines:
        payload = json.dumps(line["payload"], separators=(",", ":"))
        before = chained(before, line["seq"], line["kind"], line["at"], payload)
        assert before == line["digest"]


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_a_picture_is_written(measured: Terminal, suffix: str) -> None:
    out = measured.folder / f"map.{suffix}"
    assert f"wrote map.{suffix}" in measured.study("plot", "harbour", "--out", out.name)
    begins = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
    assert out.read_bytes().startswith(begins[suffix])
    if suffix == "png":
        with Image.open(out) as image:
            assert image.width > 300


# --- probabilities


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_a_picture_of_the_probabilities_is_another_one(measured: Terminal, suffix: str) -> None:
    out = measured.folder / f"p.{suffix}"
    assert f"wrote p.{suffix}" in measured.study("plot", "harbour", "--probability", "--out", out.name)
    begins = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
    assert out.read_bytes().startswith(begins[suffix])
    measured.study("plot", "harbour", "--out", f"map.{suffix}")
    assert out.read_bytes() != (measured.folder / f"map.{suffix}").read_bytes()


def test_the_picture_has_the_probabilities_of_the_study(measured: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Campaign] = []

    def noticed(campaign: Campaign) -> Figure:
        drawn.append(campaign)
        return draw_probabilities(campaign)

    monkeypatch.setattr(probabilities, "draw_probabilities", noticed)
    measured.study("plot", "harbour", "--out", "map.png")
    assert not drawn
    measured.study("plot", "harbour", "--probability", "--out", "p.png")
    (campaign,) = drawn
    np.testing.assert_array_equal(campaign.chances, Study.open(URL, "harbour").campaign().chances)


def test_the_report_has_the_probabilities_with_the_number_that_is_expected_to_be_wrong(measured: Terminal) -> None:
    measured.study("report", "harbour")
    text = (measured.folder / "harbour.html").read_text(encoding="utf-8")
    doubtful = Study.open(URL, "harbour").campaign().doubtful
    assert doubtful is not None
    assert (
        "<figcaption>The probability of being above 20 at every point, decided or not; "
        f"{doubtful.sum():.1f} of 36 points are expected to be on the other side than their likelier one.</figcaption>"
    ) in text


NO_MODEL = {"ridge": (*GIVEN, "--norm", 3), "rips": (*GIVEN, "--bound", 4, "--confidence", "rips")}


@pytest.mark.parametrize("confidence", NO_MODEL)
def test_without_a_model_that_is_said_before_anything_is_written(terminal: Terminal, confidence: str) -> None:
    terminal.created("harbour", *NO_MODEL[confidence])
    (terminal.folder / "p.png").write_text("mine")
    ran = terminal("study", "plot", "harbour", "--probability", "--out", "p.png", "--force")
    assert ran.code == 2
    sentence = (
        f"--probability is on, but the confidence {confidence} has no model of f and so no probabilities: "
        "leave the option out, or create a study with --confidence posterior"
    )
    assert sentence in ran.err
    assert (terminal.folder / "p.png").read_text() == "mine"
    assert sorted(path.name for path in terminal.folder.iterdir()) == ["p.png", "points.csv", "superlevel.db"]


def test_before_there_is_an_estimate_that_is_said(terminal: Terminal) -> None:
    for name, options, left in (
        ("sea", ("--threshold", 20), "20 more measurements of the pilot"),
        ("top", ("--fraction-of-max", 0.1, *GIVEN[2:6]), "the first measurement"),
    ):
        terminal.created(name, *options)
        ran = terminal("study", "plot", name, "--probability", "--out", "p.png")
        assert ran.code == 2
        remedy = f"leave the option out until the study has {left}"
        assert f"--probability is on, but there is no estimate of f yet: {remedy}" in ran.err
        assert not (terminal.folder / "p.png").exists()
        terminal.study("plot", name, "--out", "map.png")


def test_the_help_of_plot_says_what_probabilities_are_and_who_has_none(terminal: Terminal) -> None:
    shown = " ".join(terminal("study", "plot", "--help").out.replace("│", " ").split())
    assert "--probability" in shown
    assert "the probability of being above each level at every point, decided or not" in shown
    assert "ridge and rips have no model of f" in shown


# --- whole or not at all


def test_the_page_is_called_like_the_study_with_nothing_that_a_folder_would_mind(terminal: Terminal) -> None:
    name = "../a b/ç.."
    terminal.created(name, *GIVEN)
    file = f"{file_name(name)}.html"
    assert file.startswith("a-b-ç-")
    assert f"wrote {file}" in terminal.study("report", name)
    page = (terminal.folder / file).read_text(encoding="utf-8")
    assert name in page
    terminal.study("report", name, "--out", "other.html")
    assert (terminal.folder / "other.html").exists()


@pytest.mark.parametrize("verb", ["plot", "report", "export"])
def test_a_file_that_cannot_be_written_is_said_before_anything_is_computed(terminal: Terminal, verb: str) -> None:
    suffix = {"plot": ".png", "report": ".html", "export": ".csv"}[verb]
    (terminal.folder / f"folder{suffix}").mkdir()
    for out in (f"none/x{suffix}", f"folder{suffix}"):
        ran = terminal("study", verb, "no such study", "--out", out)
        assert ran.code == 2
        assert f"--out is '{out}': it cannot be written" in ran.err
    if verb != "export":
        assert "--out is 'x.gif': end it in" in terminal("study", verb, "harbour", "--out", "x.gif").err


def test_what_fails_half_way_leaves_the_file_as_it_was(measured: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    (measured.folder / "labels.csv").write_text("mine")

    def failing(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("superlevel.formats.write", failing)
    ran = measured("study", "export", "harbour", "--out", "labels.csv", "--force")
    assert ran.code == 2
    assert "No space left on device" in ran.err
    assert (measured.folder / "labels.csv").read_text() == "mine"
    assert not list(measured.folder.glob(".*"))


def test_a_link_stays_a_link(measured: Terminal, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "labels.csv").symlink_to(tmp_path / "kept" / "labels.csv")
    measured.study("export", "harbour", "--out", "labels.csv")
    assert (tmp_path / "labels.csv").is_symlink()
    assert len(read(tmp_path / "kept" / "labels.csv")) == 36
