"""Guarantees on the command line: who gets one, what contradicts it, and the way out, with the commands it names."""

from __future__ import annotations

import json
import math
import shlex

import pytest

from superlevel.confidence.ridge import SPANNED
from tests.cli.study.terminal import GIVEN, Terminal, depth, fill, read, write, write_points
from tests.cli.study.test_create import first_entry

NORM = ("--norm", 3)  # that of the harbour is 2.4
KERNEL = ("--threshold", 20, "--kernel", "9 * RBF(0.7)", "--mean", 20)
COLUMNS = b"ticket,east,north,value,noise,fate,late,reason,told\n"
CONTRADICTED = "the measurements contradict what is assumed: nothing is declared"
BOUND = ("--bound", 4, "--misspecification", 0.01)
WRONG = {
    "norm": ((*GIVEN, "--norm", 0.3), "norm is 0.3, but what was measured needs"),
    "bound": ((*GIVEN, "--bound", 0.3, "--misspecification", 0.001), "bound is 0.3, but what was measured needs"),
    "noise": ((*KERNEL, "--noise", 0.03, *NORM), "farther from every function that is allowed than the noise explains"),
}


def wrong(terminal: Terminal, what: str) -> str:
    """The harbour with something ten times too small, measured until that is noticed; what `tell` said then."""
    options, _ = WRONG[what]
    terminal.created("harbour", *options)
    told = ""
    while CONTRADICTED not in told:
        assert terminal.entries() < 12, told
        told = terminal.batch()
    return told


def way_out(shown: str) -> list[list[str]]:
    """The commands that are named, as they would be typed."""
    return [shlex.split(line, comments=True) for line in shown.splitlines() if line.startswith("  superlevel study ")]


# --- who gets one


@pytest.mark.parametrize(
    ("options", "confidence", "said"),
    [
        ((*GIVEN, *NORM), "ridge", False),
        ((*GIVEN, *NORM, "--bound", 4), "ridge", False),
        ((*GIVEN, "--bound", 4, "--misspecification", 0.01), "ridge", True),
        ((*GIVEN, "--bound", 4), "posterior", False),
        (("--threshold", 20, "--kernel", "linear", "--noise", 1, "--bound", 30), "ridge", False),
        (("--fraction-of-max", 0.1, *GIVEN[2:6], *NORM), "ridge", False),
        (GIVEN, "posterior", False),
        ((*GIVEN, *NORM, "--confidence", "posterior", "--rule", "greedy"), "posterior", False),
        ((*KERNEL, *NORM), "posterior", False),
        (("--threshold", 20, "--noise", 0.3, *NORM), "posterior", False),
        ((*GIVEN, *NORM, "--method", "lse"), "posterior", False),
        ((*GIVEN, "--bound", 4, "--confidence", "rips"), "rips", False),
        ((*GIVEN, "--bound", 4, "--confidence", "posterior"), "posterior", False),
    ],
)
def test_a_guarantee_is_the_default_where_all_that_it_rests_on_is_given(
    terminal: Terminal, options: tuple[object, ...], confidence: str, said: bool
) -> None:
    write_points(terminal.folder / "points.csv")
    shown = terminal.study("create", "harbour", "--points", "points.csv", *options)
    assert first_entry(terminal.folder / "superlevel.db")["confidence"]["name"] == confidence
    assert ("all labels are right at every moment with probability 0.9" in shown) == (confidence == "ridge")
    assert (SPANNED in shown) == said


def test_where_json_is_asked_for_the_remark_is_beside_it(terminal: Terminal) -> None:
    write_points(terminal.folder / "points.csv")
    ran = terminal("study", "create", "harbour", "--points", "points.csv", *GIVEN, *BOUND, "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["contradicted"] is False
    assert SPANNED in ran.err


def test_a_mean_that_is_forgotten_is_measured_against_before_anything_is_declared(terminal: Terminal) -> None:
    """The norm leaves no room for 20 m above a mean of 0."""
    write_points(terminal.folder / "points.csv")
    options = ("--threshold", 20, "--kernel", "RBF(0.7)", "--noise", 0.3, *NORM)
    terminal.study("create", "harbour", "--points", "points.csv", *options)
    terminal.study("suggest", "harbour", "--csv", "sheet.csv")
    fill(terminal.folder / "sheet.csv")
    assert CONTRADICTED in terminal.study("tell", "harbour", "sheet.csv")
    assert "norm is 3, but what was measured needs" in terminal.study("status", "harbour")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((*GIVEN, "--confidence", "ridge"), "--norm is missing: the ridge confidence needs S"),
        ((*KERNEL, *NORM, "--confidence", "ridge"), "--noise is auto: a guarantee needs kernel, noise and mean"),
        (
            (*GIVEN, *NORM, "--confidence", "ridge", "--rule", "worst"),
            "--rule is 'worst': melk on the ridge confidence has",
        ),
        ((*GIVEN, *NORM, "--rule", "greedy"), "--rule is 'greedy': melk on the ridge confidence has gap-weighted"),
        ((*GIVEN, "--norm", 0), "--norm is 0.0: give a number > 0"),
    ],
)
def test_what_makes_no_guarantee_is_one_sentence(
    terminal: Terminal, options: tuple[object, ...], sentence: str
) -> None:
    write_points(terminal.folder / "points.csv")
    ran = terminal("study", "create", "harbour", "--points", "points.csv", *options)
    assert ran.code == 2
    assert sentence in ran.err


def test_help_says_what_each_confidence_needs(terminal: Terminal) -> None:
    shown = " ".join(terminal("study", "create", "--help").out.replace("│", " ").split())
    for words in (
        "for ridge, rips and rkhs",
        "for ridge and rkhs",
        "for rips, and for ridge where there is no norm",
    ):
        assert words in shown
    assert "all labels right at every moment with probability 1 - delta" in shown


# --- a campaign


def test_a_campaign_with_a_guarantee_from_points_to_labels(terminal: Terminal) -> None:
    terminal.created("harbour", *GIVEN, *NORM, "--tolerance", 1, "--batch", 20)
    sizes: list[int] = []
    while terminal.data("study", "status", "harbour")["stop"] is None:
        assert len(sizes) < 7
        full = 20 + 0.2 * sum(sizes)
        sizes.append(len(terminal.data("study", "suggest", "harbour")["tickets"]))
        assert math.ceil(full / 10) <= sizes[-1] <= math.ceil(full)  # less where less is missing
        assert "newly decided" in terminal.batch()
    assert sum(sizes) <= 20 + 24 + 29
    status = terminal.data("study", "status", "harbour")
    assert (status["measurements"], status["undecided"]) == (sum(sizes), 0)
    assert status["contradicted"] is False
    terminal.study("export", "harbour", "--out", "labels.csv")
    for row in read(terminal.folder / "labels.csv"):
        height = depth(float(row["east"]), float(row["north"])) - 20
        assert row["label"] != ("below" if height > 1 else "above" if height < -1 else "")
        assert float(row["lower"]) <= height + 20 <= float(row["upper"])
    shown = terminal.study("verify", "harbour", "--labels", "labels.csv")
    assert f"||theta|| <= 3 explains all {sum(sizes)} measurements" in shown
    assert "a norm as given, except within 1 of the level" in shown


# --- contradiction


@pytest.mark.parametrize("what", WRONG)
def test_what_is_ten_times_too_small_is_said_by_every_verb_and_the_way_out_works(terminal: Terminal, what: str) -> None:
    told, sentence = wrong(terminal, what), WRONG[what][1]
    entries = terminal.entries()
    shown = [told, terminal.study("status", "harbour"), terminal.study("suggest", "harbour", "--csv", "more.csv")]
    ran = terminal("study", "verify", "harbour")
    assert ran.code == 1
    shown.append(ran.out)
    for page in shown:
        assert CONTRADICTED in page
        assert sentence in page
        assert "create another study with what is right and tell it these measurements" in page
        assert way_out(page) == way_out(told)
    assert "nothing to measure now" in shown[2]
    assert terminal.entries() == entries
    assert not (terminal.folder / "more.csv").exists()
    checks = {
        check["assumption"]: check["verdict"] for check in terminal.data("study", "verify", "harbour", code=1)["checks"]
    }
    assert checks[what] == "CONTRADICTED"
    assert all(checks[sound] == "holds" for sound in ("log", "labels", "designs"))

    correct, export, create, tell = (words[1:] for words in way_out(told))
    assert correct[:3] == ["study", "correct", "harbour"]
    assert terminal(*export).code == 0
    create[create.index("POINTS.csv")] = "points.csv"
    assert terminal(*create, *map(str, (*GIVEN, *NORM))).code == 0
    samples = terminal.data("study", "status", "harbour")["measurements"]
    found = terminal.data(*tell)
    assert (found["stored"], found["unplanned"], found["contradicted"]) == (samples, samples, False)
    assert terminal.data(*tell)["stored"] == 0
    assert terminal.data("study", "verify", "harbour-2")["ok"]
    tickets = terminal.data("study", "suggest", "harbour-2")["tickets"]
    assert len(tickets) == math.ceil(10 + 0.2 * samples)  # the first batch, and a fifth of all before


def test_documents_say_it_too(terminal: Terminal) -> None:
    wrong(terminal, "norm")
    fields = {}
    for verb, code in (("status", 0), ("suggest", 0), ("verify", 1)):
        found = terminal.data("study", verb, "harbour", code=code)
        assert found["contradicted"] is True
        fields[verb] = found["doubts"]
    assert fields["status"] == fields["suggest"] == fields["verify"]
    assert any("norm is 0.3" in doubt for doubt in fields["status"])
    assert terminal.data("study", "tell", "harbour", "sheet.csv")["doubts"] == fields["status"]


def test_open_tickets_are_shown_again_and_told_but_no_new_ones_are_suggested(terminal: Terminal) -> None:
    terminal.created("harbour", *GIVEN, "--norm", 0.3)
    terminal.study("suggest", "harbour", "--csv", "sheet.csv")
    fill(terminal.folder / "sheet.csv")
    rows = read(terminal.folder / "sheet.csv")
    write(terminal.folder / "some.csv", rows[:8])
    assert CONTRADICTED in terminal.study("tell", "harbour", "some.csv")
    shown = terminal.study("suggest", "harbour", "-n", 30)
    assert f"these were open already, and nothing new is suggested: {CONTRADICTED}" in shown
    assert "asks for more" not in shown
    assert len(terminal.data("study", "suggest", "harbour", "-n", 30)["tickets"]) == 2
    assert "2 results stored" in terminal.study("tell", "harbour", "sheet.csv")
    assert "nothing to measure now" in terminal.study("suggest", "harbour")


def test_a_mistake_that_is_corrected_ends_it(terminal: Terminal) -> None:
    terminal.created("harbour", *GIVEN, *NORM)
    terminal.study("suggest", "harbour", "--csv", "sheet.csv")
    fill(terminal.folder / "sheet.csv")
    rows = read(terminal.folder / "sheet.csv")
    right, rows[4]["value"] = rows[4]["value"], "225.0"
    write(terminal.folder / "sheet.csv", rows)
    told = terminal.study("tell", "harbour", "sheet.csv")
    assert CONTRADICTED in told
    assert "at point" in told
    assert CONTRADICTED not in terminal.study("correct", "harbour", 5, right, "--reason", "the decimal point")
    assert terminal.data("study", "verify", "harbour")["ok"]
    assert "next: suggest" in terminal.study("status", "harbour")


# --- what is exported can be told elsewhere


def test_only_what_counts_is_told_elsewhere_and_with_its_own_noise(terminal: Terminal) -> None:
    terminal.measured(2).study("withdraw", "harbour", 3, "--reason", "two\nlines")
    terminal.study("correct", "harbour", 4, "22.5", "--noise", "0.7", "--reason", "a typing mistake")
    terminal.study("suggest", "harbour")
    terminal.study("export", "harbour", "--what", "measurements", "--out", "all.csv")
    terminal.created("other", *GIVEN, *NORM)
    shown = terminal.study("tell", "other", "all.csv", "--exported", "--dry-run")
    assert "19 results stored, 19 unplanned" in shown
    assert "left open" not in shown
    assert "mean nothing here" not in shown
    terminal.study("tell", "other", "all.csv", "--exported")
    terminal.study("export", "other", "--what", "measurements", "--out", "again.csv")
    columns = ("east", "north", "value", "noise", "reason")
    before, after = (
        [[row[name] for name in columns] for row in read(terminal.folder / file) if row["fate"] == "measured"]
        for file in ("all.csv", "again.csv")
    )
    assert before == after
    assert [row[3] for row in after if row[3]] == ["0.7"]


def test_a_coordinate_that_is_called_like_a_column_finds_its_place(terminal: Terminal) -> None:
    (terminal.folder / "points.csv").write_text("late,fate\n0,0\n1,0\n0,1\n1,1\n")
    for name in ("one", "two"):
        terminal.study("create", name, "--points", "points.csv", *GIVEN, *NORM)
    (terminal.folder / "sheet.csv").write_text("late,fate,value\n1,0,21.5\n0,1,18.5\n")
    terminal.study("tell", "one", "sheet.csv")
    terminal.study("export", "one", "--what", "measurements", "--out", "all.csv")
    assert "2 results stored" in terminal.study("tell", "two", "all.csv", "--exported")
    labels = terminal.data("study", "status", "one"), terminal.data("study", "status", "two")
    assert [found["above"] for found in labels] == [labels[0]["above"]] * 2


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"ticket,east,north,value\n1,0,0,3\n", "has no columns ticket, fate, late, told"),
        (b"", "line 1 is empty"),
        (b"\xe4", "line 1 is not UTF-8 text: save the file as CSV in UTF-8"),
        (COLUMNS + b"1,0,0,3\n", "line 2, column 'noise' is missing"),
        (COLUMNS + b'1,0,0,3,,measured,,"', "check its quotes"),
        (
            COLUMNS + b"1,0,0.1,3,,measured,,,2\n",
            "give a point of the domain",
        ),
        (COLUMNS + b"1,0,0,3,,open,,,\n", "followed by no results"),
    ],
)
def test_a_file_that_was_not_exported_is_refused(terminal: Terminal, content: bytes, sentence: str) -> None:
    terminal.created("harbour", *GIVEN, *NORM)
    (terminal.folder / "all.csv").write_bytes(content)
    ran = terminal("study", "tell", "harbour", "all.csv", "--exported")
    assert ran.code == 2
    assert sentence in ran.err
    assert terminal.entries() == 1


def test_who_forgets_that_it_was_exported_is_told_so(terminal: Terminal) -> None:
    terminal.measured(1).study("export", "harbour", "--what", "measurements", "--out", "all.csv")
    terminal.created("other", *GIVEN, *NORM)
    ran = terminal("study", "tell", "other", "all.csv")
    assert ran.code == 2
    assert "there is no ticket yet" in ran.err
    assert "lines of another study's measurements, as `export` writes them, are told with --exported" in ran.err
