"""All settings together: each counts once, and the best method is first."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from superlevel.reproduce.reading import area_table
from superlevel.reproduce.summary import overall
from tests.reproduce.small import gp_figure, gp_rows

Line = Mapping[str, Any]


def lines(figure: str, setting: str, **methods: tuple[float, float, int | None]) -> list[Line]:
    """Area, rank and measurements to 0.9 of each method."""
    return [
        {"figure": figure, "setting": setting, "method": method, "area": area, "rank": rank, "samples_to_0.9": reached}
        for method, (area, rank, reached) in methods.items()
    ]


def by_method(table: Sequence[Line]) -> dict[str, Line]:
    return {line["method"]: line for line in table}


THREE = [
    *lines("gp", "one", a=(0.5, 2, 160), b=(0.75, 1, 40), c=(0.25, 3, None)),
    *lines("gp", "two", a=(0.5, 1, 60), b=(0.25, 2.5, None), c=(0.25, 2.5, None)),
    *lines("cosine", "one", a=(0.9, 1, 20), b=(0.8, 2, 300), c=(0.7, 3, None)),
]


def test_means_are_over_settings() -> None:
    (table,) = overall(THREE)
    found = by_method(table)
    for method in "abc":
        own = [line for line in THREE if line["method"] == method]
        assert found[method]["settings"] == 3
        assert found[method]["mean_rank"] == pytest.approx(statistics.mean(line["rank"] for line in own))
        assert found[method]["mean_area"] == pytest.approx(statistics.mean(line["area"] for line in own))


def test_the_best_rank_comes_first() -> None:
    (table,) = overall(THREE)
    assert [line["method"] for line in table] == ["a", "b", "c"]
    assert table[0]["figures"] == "gp cosine"


def test_how_often_and_when_it_is_reached() -> None:
    found = by_method(overall(THREE)[0])
    assert [(found[m]["settings_with_0.9"], found[m]["median_samples_to_0.9"]) for m in "abc"] == [
        (3, 60.0),
        (2, 170.0),
        (0, None),
    ]


def test_equal_ranks_keep_their_order() -> None:
    (table,) = overall(lines("gp", "one", b=(0.5, 1.5, None), a=(0.5, 1.5, None)))
    assert [line["method"] for line in table] == ["b", "a"]


def test_a_setting_that_two_figures_share_counts_once() -> None:
    again = [{**line, "figure": "appendix-gp"} for line in THREE[:3]]
    (table,) = overall([*THREE, *again])
    assert {line["settings"] for line in table} == {3}
    assert table == overall(THREE)[0]


def test_different_settings_with_equal_areas_count_each() -> None:
    nothing = {"a": (0.0, 1.5, None), "b": (0.0, 1.5, None)}
    (table,) = overall([*lines("gp", "noise 1", **nothing), *lines("gp", "noise 2", **nothing)])
    assert {line["settings"] for line in table} == {2}


def test_figures_with_other_methods_have_a_table_of_their_own() -> None:
    other = lines("linear", "arms", a=(0.1, 2, None), d=(0.2, 1, 1000))
    tables = overall([*THREE, *other])
    assert [table[0]["figures"] for table in tables] == ["gp cosine", "linear"]
    assert [line["method"] for line in tables[1]] == ["d", "a"]


def test_nothing_has_no_tables() -> None:
    assert overall([]) == []


def test_the_ranks_of_a_small_run_have_their_mean_in_the_middle() -> None:
    (table,) = overall(area_table(gp_figure(), gp_rows()))
    assert len(table) == 9
    assert {line["settings"] for line in table} == {2}
    assert statistics.mean(line["mean_rank"] for line in table) == pytest.approx(5)
    assert [line["mean_rank"] for line in table] == sorted(line["mean_rank"] for line in table)
