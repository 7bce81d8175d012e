"""Predictions beside measurements: the numbers by brute force, how often intervals hold, and what a page shows."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from superlevel.arrays import Array
from superlevel.report.page import page
from superlevel.report.reliability import BINS, ENOUGH, Reliability, compare, interval
from superlevel.report.reliability_diagram import HEADING, draw_reliability, reliability_section, sentences
from tests.report.test_campaign import example, lattice


def simulated(seed: int, count: int = 200, *, power: float = 1.0, level: float = 0.5) -> Reliability:
    """Measurements that are above with the probability p**power, where p was predicted."""
    rng = np.random.default_rng(seed)
    predicted = rng.random(count)
    return compare(level, predicted, rng.random(count) < predicted**power)


# --- the numbers


@pytest.mark.parametrize("count", [1, 2, 7, 30, 1000])
def test_intervals_are_those_of_scipy(count: int) -> None:
    for hits in {0, 1, count // 3, count // 2, count - 1, count}:
        by_scipy = binomtest(hits, count).proportion_ci(0.95, method="exact")
        assert interval(hits, count) == pytest.approx((by_scipy.low, by_scipy.high), abs=1e-12)


@given(
    st.lists(
        st.tuples(st.one_of(st.floats(0.0, 1.0), st.sampled_from([k / BINS for k in range(BINS + 1)])), st.booleans()),
        min_size=1,
    )
)
def test_bins_are_what_a_loop_over_the_measurements_finds(pairs: list[tuple[float, bool]]) -> None:
    found = compare(3.0, np.array([p for p, _ in pairs]), np.array([above for _, above in pairs]))
    assert (found.level, found.measurements) == (3.0, len(pairs))
    groups: dict[int, list[tuple[float, bool]]] = {}
    for p, above in pairs:
        groups.setdefault(min(math.floor(p * BINS), BINS - 1), []).append((p, above))
    assert [each.low for each in found.bins] == [k / BINS for k in sorted(groups)]
    for each, (k, members) in zip(found.bins, sorted(groups.items()), strict=True):
        assert each.high == (k + 1) / BINS
        assert each.measurements == len(members)
        assert each.above == sum(above for _, above in members)
        assert each.share == each.above / len(members)
        assert each.forecast == pytest.approx(sum(p for p, _ in members) / len(members))
        assert each.interval == interval(each.above, each.measurements)
        assert 0.0 <= each.interval[0] <= each.share <= each.interval[1] <= 1.0


@pytest.mark.parametrize(("p", "above", "share"), [(1.0, True, 1.0), (0.0, False, 0.0), (0.55, True, 1.0)])
def test_measurements_that_are_all_alike_are_one_bin(p: float, above: bool, share: float) -> None:
    found = compare(0.0, np.full(50, p), np.full(50, above))
    (only,) = found.bins
    assert found.largest == only
    assert (only.measurements, only.share) == (50, share)
    assert only.forecast == pytest.approx(p)
    assert only.agrees == (p in (0.0, 1.0))  # 50 of 50 where 55 % were expected is no chance
    assert found.agreeing == only.agrees


def test_intervals_of_right_predictions_hold_in_about_95_percent_of_the_bins() -> None:
    found = [each for seed in range(400) for each in simulated(seed).bins]
    held = np.mean([each.agrees for each in found])
    # Because counts are whole numbers, an exact interval holds in more than 95 %: with 20 measurements in a bin, in
    # 98 %. The standard deviation of this mean over 4,000 bins is 0.2 %.
    assert 0.97 < held < 0.99
    many = [each for seed in range(100) for each in simulated(seed, 10_000).bins]
    # With 1,000 measurements in a bin it is 95.7 %; the standard deviation over 1,000 bins is 0.7 %.
    assert 0.935 < np.mean([each.agrees for each in many]) < 0.975


def test_intervals_of_wrong_predictions_do_not_hold() -> None:
    found = [each for seed in range(20) for each in simulated(seed, 2000, power=0.5).bins]
    assert np.mean([each.agrees for each in found]) < 0.5


# --- what a page shows


def test_sentences_say_what_the_largest_group_shows() -> None:
    predicted = np.concatenate([np.full(25, 0.22), np.full(10, 0.61)])
    above = np.arange(35) % 25 < 6  # 6 of the first 25, and 6 of the last 10
    found = (compare(20.0, predicted, above),)
    assert sentences(found) == (
        "35 measurements were predicted before they were made.",
        "Of the 25 that were predicted to be above the level with a probability between 20 and 30 %, "
        "24 % were above it.",
        "In 2 of 2 groups, the 95 % interval of the measured share contains the mean of the predictions.",
    )
    both = sentences((*found, compare(30.0, predicted, np.zeros(35, dtype=np.bool_))))
    assert "above the level 20 with" in both[1]
    assert both[2].startswith("In 2 of 4 groups")  # none of 25 and none of 10 are too few for 22 % and 61 %


def test_few_predictions_are_not_shown() -> None:
    assert reliability_section(()) == ""
    assert reliability_section((simulated(0, ENOUGH - 1),)) == ""
    assert HEADING in reliability_section((simulated(0, ENOUGH),))


def lines(found: Reliability, label: str) -> list[tuple[Array, Array]]:
    (axes,) = draw_reliability([found]).axes
    return [
        (np.asarray(line.get_xdata()), np.asarray(line.get_ydata())) for line in axes.lines if line.get_label() == label
    ]


def test_the_figure_has_a_point_an_interval_and_a_count_for_each_bin() -> None:
    found = simulated(1, 300, power=0.4)
    assert 0 < found.agreeing < len(found.bins)
    shares, intervals = lines(found, "share"), lines(found, "interval")
    np.testing.assert_allclose(shares, [([each.forecast], [each.share]) for each in found.bins])
    np.testing.assert_allclose(intervals, [([each.forecast] * 2, each.interval) for each in found.bins])
    (axes,) = draw_reliability([found]).axes
    (counts,) = axes.child_axes
    assert [label.get_text() for label in counts.get_xticklabels()] == [str(each.measurements) for each in found.bins]
    open_ones = [line.get_markerfacecolor() == "white" for line in axes.lines if line.get_label() == "share"]
    assert open_ones == [not each.agrees for each in found.bins]


@pytest.mark.parametrize(("levels", "rows"), [(1, 1), (2, 1), (3, 1), (4, 2), (7, 3)])
def test_every_level_has_a_panel(levels: int, rows: int) -> None:
    figure = draw_reliability([simulated(0, level=float(k)) for k in range(levels)])
    assert len(figure.axes) == levels
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ([""] if levels == 1 else [f"level {k}" for k in range(levels)])
    assert len({axes.get_subplotspec().rowspan.start for axes in figure.axes}) == rows  # type: ignore[union-attr]


def test_the_page_has_the_sentences_and_the_figure() -> None:
    found = (simulated(0, 271, level=20.0),)
    campaign = example(lattice(5, 5))
    text = page(replace(campaign, reliability=found))
    start = text.index(f"<h2>{HEADING}</h2>")
    part = text[start : text.index("</section>", start)]
    assert "<p>271 measurements were predicted before they were made.</p>" in part
    assert all(f"<p>{sentence}</p>" in part for sentence in sentences(found))
    assert len(re.findall("<svg|<img", part)) == 1
    assert HEADING not in page(campaign)
    assert text == page(replace(campaign, reliability=found))
