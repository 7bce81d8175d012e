from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import superlevel as sl
from superlevel.report.audits import AuditSummary, Table
from superlevel.report.campaign import Campaign, Reason
from superlevel.report.decided import draw_decided
from superlevel.report.page import DOUBTFUL, POINTS, SUGGESTED, page
from superlevel.report.places import SHOWN
from superlevel.report.reliability import compare
from superlevel.report.stopping import Stopping
from tests.report.test_campaign import bare, example, lattice
from tests.report.test_probabilities import likely

VOID = {"meta", "img", "br", "link", "input", "hr"}
ODD = '<b>&"'


class Reader(HTMLParser):
    """A page as it is nested, with the cells of its tables; tags that do not match are refused."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, str] = {}
        self.tables: dict[str, list[list[str]]] = {}
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs)
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "h2":
            self.text["h2"] = ""
        if tag == "tr":
            self.tables.setdefault(self.text["h2"], []).append([])
        if tag in ("td", "th"):
            self.tables[self.text["h2"]][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.text[tag] = self.text.get(tag, "") + data
        if self.open and self.open[-1] in ("td", "th"):
            self.tables[self.text["h2"]][-1][-1] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def body(self, heading: str) -> Sequence[list[str]]:
        return self.tables[heading][1:]


def stopped(campaign: Campaign, **given: Any) -> Campaign:
    """The same, where the points were decided one after the other, and the first before anything was measured."""
    n = len(campaign.points)
    problem = sl.Problem(
        sl.Domain(campaign.points + 1.0), goal=sl.Threshold(campaign.levels[0] if campaign.levels else 0.0), noise=2.0
    )
    fields: dict[str, Any] = {
        "names": campaign.names,
        "points": campaign.points,
        "problem": problem,
        "labels": campaign.labels,
        "decided": np.where(campaign.labels == 0, -1, 20 * np.arange(n)),
        "samples": 30 * n,
        "estimate": campaign.mean,
        "lower": campaign.lower,
        "upper": campaign.upper,
        "sources": None,
        "ended": None,
        "guarantee": "all labels are right",
    }
    return replace(campaign, stopping=Stopping(**(fields | given)))


def judged(campaign: Campaign) -> Campaign:
    """The same, with predictions at two levels and an audit."""
    predicted = np.arange(40) / 39
    audit = AuditSummary(heading="Audit 1", sentences=("It is so.",), tables=(Table(names=("draws",), rows=(("1",),)),))
    found = tuple(compare(level, predicted, np.arange(40) % 2 > 0) for level in (1.0, 2.0))
    return replace(campaign, reliability=found, audits=(audit,))


CAMPAIGNS = {
    "judged": judged(stopped(example(lattice(4, 5)))),
    "stopped": stopped(example(lattice(5, 6))),
    "unknown": stopped(bare(lattice(3, 3))),
    "map": example(lattice(8, 7)),
    "large map": example(lattice(60, 60)),
    "profile": example(np.linspace(0, 1, 30)[:, None]),
    "ranking": example(np.random.default_rng(0).random((40, 9))),
    "bars": example(np.random.default_rng(0).random((40, 3)), mean=None, lower=None, upper=None),
    "probabilities": likely(lattice(8, 7)),
    "probabilities of levels": likely(np.random.default_rng(0).random((30, 2)), 0.5, 0.75, 1.0),
    "bare": bare(lattice(3, 3)),
    "one": bare(np.zeros((1, 2))),
}


@pytest.mark.parametrize("campaign", CAMPAIGNS.values(), ids=CAMPAIGNS)
def test_a_page_is_whole_and_needs_nothing_else(campaign: Campaign) -> None:
    text = page(campaign, [("claim", "check", "holds")])
    reader = Reader(text)
    assert text.startswith("<!DOCTYPE html>\n")
    assert reader.all("html") == [{"lang": "en"}]
    assert {"charset": "utf-8"} in reader.all("meta")
    assert any(meta.get("name") == "viewport" for meta in reader.all("meta"))
    assert len(reader.all("title")) == len(reader.all("h1")) == len(reader.all("main")) == 1
    assert "<script" not in text
    assert "http" not in text
    assert "@import" not in text
    assert not {tag for tag, _ in reader.tags} & {"link", "iframe", "object", "a", "base", "form"}
    for tag, attributes in reader.tags:
        assert not any(name.startswith("on") for name in attributes)
        source = attributes.get("src") or ""
        assert tag == "img" or not source
        assert not source or source.startswith("data:image/png;base64,")
    text.encode()


@pytest.mark.parametrize("campaign", CAMPAIGNS.values(), ids=CAMPAIGNS)
def test_every_picture_is_told_in_words_and_refers_to_itself_only(campaign: Campaign) -> None:
    reader = Reader(page(campaign))
    for attributes in reader.all("img"):
        assert attributes["alt"]
    for attributes in reader.all("svg"):
        assert attributes["role"] == "img"
        assert attributes["aria-label"]
    drawn = campaign.stopping is not None and bool((campaign.stopping.decided > 0).any())
    pictures = 1 + (len(campaign.progress) > 1) + drawn + bool(campaign.reliability) + (campaign.chances is not None)
    assert len(reader.all("img")) + len(reader.all("svg")) == pictures
    names = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(set(names)) == len(names)
    values = [str(value) for _, attributes in reader.tags for value in attributes.values()]
    wanted = {name for value in values for name in re.findall(r"url\(#([^)]+)\)", value)}
    wanted |= {str(attributes["href"])[1:] for _, attributes in reader.tags if "href" in attributes}
    assert wanted <= set(names)
    assert not any("xlink" in name for _, attributes in reader.tags for name in attributes)


def test_small_pictures_are_drawn_and_large_ones_are_images() -> None:
    assert not Reader(page(CAMPAIGNS["map"])).all("img")
    assert len(Reader(page(CAMPAIGNS["large map"])).all("img")) == 1


def test_a_page_is_the_same_each_time() -> None:
    for name in ("map", "large map"):
        assert page(CAMPAIGNS[name]) == page(CAMPAIGNS[name])


def test_names_are_text_wherever_they_are() -> None:
    campaign = example(
        lattice(4, 4),
        name=ODD,
        question=f"above {ODD}",
        names=(ODD, "<i>"),
        facts=((ODD, ODD),),
        doubts=(f"Something about {ODD}.",),
        next=np.array([3]),
    )
    text = page(campaign, [(ODD, f"1 {ODD}", f"2 {ODD}")])
    reader = Reader(text)
    assert not reader.all("b")
    assert not reader.all("i")
    assert reader.text["h1"] == ODD
    assert reader.text["title"] == f"{ODD}: above {ODD}"
    assert f"Something about {ODD}." in reader.text["li"]
    assert reader.tables["Facts"] == [[ODD, ODD]]
    assert reader.body("What is claimed") == [[ODD, f"1 {ODD}", f"2 {ODD}"]]
    assert reader.tables["Points"][0][1:3] == [ODD, "<i>"]
    assert ODD in reader.tables["Next batch"][0][1]
    assert ODD not in text
    assert unescape(text).count(ODD) >= 10


def test_characters_that_no_page_may_have_are_replaced() -> None:
    reader = Reader(page(example(lattice(2, 2), name="a\x00b\ud800c\u202ed")))
    assert reader.text["h1"] == "a\ufffdb\ufffdc\ufffdd"


def test_the_head_counts_labels_points_and_measurements() -> None:
    labels = np.array([1, 1, 1, 0, 0, -1], dtype=np.int8)
    counts = np.array([0, 3, 0, 4, 0, 0])
    text = page(example(lattice(3, 2), labels=labels, counts=counts))
    assert "3 above, 2 undecided, 1 below: 6 points, 7 measurements at 2 of them<" in text
    assert "0 above, 1 undecided, 0 below: 1 point, 0 measurements<" in page(CAMPAIGNS["one"])


def test_sections_are_there_where_they_have_something() -> None:
    def headings(campaign: Campaign, *statement: tuple[str, str, str]) -> list[str]:
        return re.findall("<h2>(.*?)</h2>", page(campaign, statement))

    everything = ["Facts", "Progress", "Next batch", "What is claimed", "Points"]
    assert headings(CAMPAIGNS["map"], ("a", "b", "c")) == everything
    judgement = ["Were the predictions right?", "Audit", "Points"]
    assert headings(CAMPAIGNS["judged"]) == ["Facts", "Progress", "How far it is", "Next batch", *judgement]
    assert headings(CAMPAIGNS["bare"]) == ["Next batch", "Points"]
    assert headings(CAMPAIGNS["unknown"]) == ["How far it is", "Next batch", "Points"]
    assert "Progress" not in headings(example(lattice(2, 2), progress=((0, 4),)))
    assert "No ticket is open." in page(CAMPAIGNS["bare"])
    assert 'class="doubts"' in page(CAMPAIGNS["map"])
    assert 'class="doubts"' not in page(CAMPAIGNS["bare"])


def test_tables_have_what_was_given() -> None:
    statement = [("all labels are right", "with probability 95 %", "holds"), ("noise 0.1", "residuals", "doubtful")]
    reader = Reader(page(CAMPAIGNS["map"], statement))
    assert reader.tables["Facts"] == [["method", "MELK"], ["noise", "0.1"]]
    assert reader.tables["What is claimed"] == [["claim", "assumption or check", "verdict"], *map(list, statement)]


# --- how it stopped


def test_a_page_says_how_far_it_is_or_how_it_stopped() -> None:
    campaign = example(lattice(5, 6))
    far = page(stopped(campaign))
    assert "<h2>How far it is</h2>" in far
    assert "guarantee: all labels are right" in far
    ended = page(stopped(campaign, ended="every point is <decided>", guarantee=""))
    assert "<h2>How it stopped</h2>" in ended
    assert "<p>every point is &lt;decided&gt;</p>" in ended
    assert "guarantee:" not in ended
    stopping = stopped(campaign).stopping
    assert stopping is not None
    for line in stopping.lines():
        assert f"<p>{line}</p>" in far


def test_the_table_of_points_says_when_they_were_decided() -> None:
    campaign = stopped(example(lattice(5, 6), names=("decided", "y")))
    head, *lines = Reader(page(campaign)).tables["Points"]
    decided = np.where(campaign.labels == 0, "", [f"{20 * k:,}" for k in range(30)])
    assert [line[-1] for line in lines] == decided.tolist()
    assert head[-1] == "decided"
    assert len(set(head)) == len(head)


def test_bands_of_points_grow_to_what_is_decided_in_the_end() -> None:
    stopping = CAMPAIGNS["stopped"].stopping
    assert stopping is not None
    axes = draw_decided(stopping).axes[0]
    bands = {band.get_label(): band.get_paths()[0].get_extents() for band in axes.collections}
    n = len(stopping.labels)
    assert bands["above"].y1 == n
    assert n - bands["above"].y0 == (stopping.labels == 1).sum()
    assert bands["below"].y1 == (stopping.labels == -1).sum()
    assert bands["undecided"].height == n - (stopping.decided == 0).sum()
    (line,) = axes.lines
    assert stopping.lower_bound is not None
    assert line.get_xdata()[0] == stopping.lower_bound.samples  # type: ignore[index]
    left, right = axes.get_xlim()
    assert left < stopping.lower_bound.samples < right
    assert left < 20
    assert right > stopping.samples
    unknown = draw_decided(replace(stopping, problem=None)).axes[0]
    assert len(unknown.lines) == 0


# --- next batch


def suggestions(**given: Any) -> list[list[str]]:
    points = np.column_stack([np.arange(8) / 10, np.arange(8) / 5])
    return list(Reader(page(example(points, **given))).body("Next batch"))


def test_a_suggestion_says_whom_it_serves() -> None:
    reasons = (
        Reason(ticket=17, point=3, serves=((1, 0.34), (2, 0.126), (3, 0.0042), (4, 0.001))),
        Reason(ticket=18, point=5, serves=()),
    )
    assert suggestions(next=np.array([3, 5]), reasons=reasons) == [
        ["17", "(0.3, 0.6)", "serves (0.1, 0.2) by 34 %, (0.2, 0.4) by 13 %, itself by less than 1 %"],
        ["18", "(0.5, 1)", ""],
    ]


def test_every_next_measurement_is_told_with_a_reason_or_without() -> None:
    reasons = (Reason(ticket=7, point=3, serves=((1, 0.5),)), Reason(ticket=9, point=3, serves=((1, 0.4),)))
    assert suggestions(next=np.array([3, 3, 3, 3, 6]), reasons=reasons) == [
        ["7", "(0.3, 0.6)", "serves (0.1, 0.2) by 50 %"],
        ["9", "(0.3, 0.6)", "serves (0.1, 0.2) by 40 %"],
        ["", "(0.3, 0.6)", "2 measurements"],
        ["", "(0.6, 1.2)", ""],
    ]


def test_a_long_batch_is_cut_and_says_so() -> None:
    campaign = example(lattice(20, 20), next=np.arange(SUGGESTED + 25), reasons=())
    text = page(campaign)
    assert len(Reader(text).body("Next batch")) == SUGGESTED
    assert "25 more lines are left out" in text


def test_coordinates_are_as_exact_as_their_extent_needs() -> None:
    points = np.column_stack([512_000 + 10.5 * np.arange(4), 1e-9 * np.arange(4), np.full(4, 0.1), np.arange(4) / 3])
    campaign = example(points, next=np.array([1]), reasons=())
    assert Reader(page(campaign)).body("Next batch")[0][1] == "(512010.5, 1e-09, 0.1, 0.3333)"


# --- points


def test_a_table_of_few_points_has_them_all_in_their_order() -> None:
    campaign = example(lattice(20, 25))
    reader = Reader(page(campaign))
    lines = reader.body("Points")
    assert reader.tables["Points"][0] == [
        *("point", "x0", "x1", "label", "measurements", "average", "mean", "lower", "upper")
    ]
    assert len(lines) == POINTS == len(campaign.points)
    assert [int(line[0]) for line in lines] == list(range(POINTS))
    np.testing.assert_allclose([[float(cell) for cell in line[1:3]] for line in lines], campaign.points, atol=6e-5)
    assert [int(line[4]) for line in lines] == campaign.counts.tolist()
    assert campaign.lower is not None
    np.testing.assert_allclose([float(line[7]) for line in lines], campaign.lower, rtol=1e-5)
    assert [line[5] == "" for line in lines] == (campaign.counts == 0).tolist()
    assert "left out" not in page(campaign)


@pytest.mark.parametrize("undecided", [0, 120, 700])
def test_a_table_of_many_points_has_the_next_batch_undecided_points_and_the_most_measured(undecided: int) -> None:
    rng = np.random.default_rng(1)
    labels = rng.permutation(np.where(np.arange(900) < undecided, 0, 1)).astype(np.int8)
    counts = rng.integers(0, 50, 900)
    campaign = example(lattice(30, 30), labels=labels, counts=counts)
    text = page(campaign)
    shown = np.array([int(line[0]) for line in Reader(text).body("Points")])
    assert len(set(shown.tolist())) == len(shown) == POINTS
    assert "500 points: those of the next batch, undecided ones and those with most measurements" in text
    assert "400 more points are left out" in text
    assert "<code>export</code> has all" in text
    following = np.unique(campaign.next)
    np.testing.assert_array_equal(shown[: len(following)], following)
    rest = shown[len(following) :]
    assert (labels[rest[: max(0, min(undecided, DOUBTFUL) - len(following))]] == 0).all()
    assert counts[shown[-200:]].min() >= counts[np.setdiff1d(np.arange(900), shown)].max()


def test_the_doubtful_points_of_a_table_are_those_that_the_model_doubts_most() -> None:
    campaign = likely(lattice(30, 30), next=np.empty(0, dtype=np.int64), reasons=())
    shown = np.array([int(line[0]) for line in Reader(page(campaign)).body("Points")])[:DOUBTFUL]
    assert campaign.doubtful is not None
    np.testing.assert_array_equal(shown, np.argsort(-campaign.doubtful, kind="stable")[:DOUBTFUL])


@pytest.mark.parametrize("scatter", [0.0, 0.3], ids=["grid", "scattered"])
def test_a_page_of_very_many_points_is_small_and_has_images(scatter: float) -> None:
    points = lattice(400, 300) + scatter / 400 * np.random.default_rng(0).random((120_000, 2))
    text = page(likely(points))
    assert len(text) < 5_000_000
    assert len(Reader(text).all("img")) >= 2
    assert "119,500 more points are left out" in text


def test_columns_have_something_and_a_name_of_their_own() -> None:
    reader = Reader(page(CAMPAIGNS["bare"]))
    assert reader.tables["Points"][0] == ["point", "x0", "x1", "label", "measurements"]
    alike = Reader(page(example(lattice(2, 2), names=("mean", "y")))).tables["Points"][0]
    assert alike[1:3] == ["mean (coordinate)", "y"]
    assert len(set(alike)) == len(alike)


def test_of_many_coordinates_the_first_are_shown() -> None:
    text = page(CAMPAIGNS["ranking"])
    assert f"Coordinates after the first {SHOWN} are left out" in text
    reader = Reader(text)
    assert reader.tables["Points"][0][: SHOWN + 2] == ["point", *(f"x{at}" for at in range(SHOWN)), "label"]
    assert reader.tables["Next batch"][0][1] == "point (x0, x1, x2, x3, x4, x5, …)"


# --- progress


def staircase(*progress: tuple[int, int]) -> tuple[list[float], list[float]]:
    """Where the line of progress goes, from its start: by x and by y."""
    text = page(example(lattice(2, 2), progress=progress))
    figure = text[text.index('<figure class="progress">') :]
    (path,) = re.findall(r'd="(M[^"]+)" fill="none"', figure)
    start, *steps = path.split(" H")
    x, y = start[1:].split()
    moves = [step.split(" V") for step in steps]
    return [float(x), *(float(move[0]) for move in moves)], [float(y), *(float(move[1]) for move in moves)]


def test_the_staircase_goes_right_with_measurements_and_down_with_decisions() -> None:
    across, down = staircase((0, 100), (10, 50), (20, 50), (40, 25))
    assert len(across) == 4  # nothing was decided at 20; the last is where it ends
    steps = np.diff(across) / (across[-1] - across[0])
    np.testing.assert_allclose(steps, [0.25, 0.75, 0.0], atol=1e-3)
    falls = np.diff(down) / (down[-1] - down[0])
    np.testing.assert_allclose(falls, [2 / 3, 1 / 3, 0.0], atol=5e-3)
    assert down[-1] > down[0]


def test_progress_that_is_none_can_be_drawn() -> None:
    assert staircase((0, 0), (0, 0))[0] == [70.0, 70.0]
    across, down = staircase((0, 9), (30, 9))
    assert across[1] > across[0]
    assert down[1] == down[0]
    text = page(example(lattice(2, 2), progress=((1, 9), (1200, 4))))
    assert "Undecided points: 9 after 1 measurement, 4 after 1,200." in text


def test_a_page_begins_with_its_summary() -> None:
    lines = (("Result", "2 <are> above."), ("How sure", "Very."))
    text = page(example(lattice(2, 2), summary=lines))
    shown = '<dl class="summary"><dt>Result</dt><dd>2 &lt;are&gt; above.</dd><dt>How sure</dt><dd>Very.</dd></dl>'
    assert text.index(shown) < text.index('<p class="counts">') < text.index("<figure")
    assert 'class="summary"' not in page(example(lattice(2, 2)))


def test_the_next_batch_calls_a_repeat_a_repeat() -> None:
    reasons = (Reason(ticket=1, point=0, serves=((1, 0.5),), repeat=True), Reason(ticket=2, point=1, serves=()))
    campaign = example(lattice(2, 2), next=np.array([0, 1]), reasons=reasons)
    told = [row[-1] for row in Reader(page(campaign)).body("Next batch")]
    assert told[0].startswith("a repeat; serves (")
    assert told[1] == ""
