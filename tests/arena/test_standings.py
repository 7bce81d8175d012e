"""Who is ahead: curves, places and counts, each by two roads, and the page that is made of them."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from sklearn.metrics import f1_score

from experiments.arena import page, pictures, sections, standings
from experiments.arena.environments import REFERENCE
from experiments.arena.problems import SPLITS
from experiments.arena.run import Bout, settings_of
from experiments.arena.standings import F1, MISLABELLED, Column, Place
from superlevel.reproduce.settings import Row, Setting
from tests.arena.small import Small


def column(**scores: list[float]) -> Column:
    numbered = {name: dict(enumerate(values)) for name, values in scores.items()}
    return Column(problem="p", samples=50, scores=numbered)


def test_places_by_hand() -> None:
    even = column(a=[1.0, 2.0, 3.0], b=[1.5, 2.5, 3.5])
    found = standings.standing(even, "a", ["b"], lower=True)
    assert found is not None
    assert (found.place, found.lead) == (Place.FIRST, -0.5)
    behind = standings.standing(even, "b", ["a"], lower=True)
    assert behind is not None
    # always behind by the same half: the paired difference has no error at all, however much seeds differ
    assert (behind.place, behind.lead, behind.error) == (Place.BEHIND, 0.5, 0.0)
    noisy = column(a=[1.0, 2.0, 3.0], b=[0.0, 3.0, 2.9])  # differences 1, -1, 0.1: mean 0.033, error 0.58
    within = standings.standing(noisy, "a", ["b"], lower=True)
    assert within is not None
    assert within.place is Place.WITHIN
    larger = standings.standing(noisy, "b", ["a"], lower=False)
    assert larger is not None
    assert larger.place is Place.WITHIN


def test_one_seed_says_nothing_of_its_error() -> None:
    found = standings.standing(column(a=[1.0], b=[0.9]), "a", ["b"], lower=True)
    assert found is not None
    assert (found.place, found.error, found.seeds) == (Place.BEHIND, None, 1)
    assert standings.standing(column(a=[1.0]), "a", ["b"], lower=True) is None


def test_only_seeds_that_both_have_are_compared() -> None:
    mixed = Column(problem="p", samples=50, scores={"a": {0: 1.0, 1: 9.0}, "b": {0: 2.0, 2: 0.0}})
    found = standings.standing(mixed, "a", ["b"], lower=True)
    assert found is not None
    assert (found.lead, found.seeds, found.place) == (-1.0, 1, Place.FIRST)


@pytest.mark.parametrize("lower", [True, False])
def test_counts_agree_with_a_plain_loop(lower: bool) -> None:
    rng = np.random.default_rng(8)
    names, listed = ["me", "x", "y", "z"], []
    for _ in range(60):
        effects = rng.normal(0, 0.3, 4)
        seeds = rng.normal(0, 1, 9)
        scores = effects[:, None] + seeds + rng.normal(0, 0.4, (4, 9))
        listed.append(column(**{name: row.tolist() for name, row in zip(names, scores, strict=True)}))
    places = [each.place for each in standings.standings(listed, "me", names, lower=lower)]
    expected = []
    for each in listed:
        table = np.array([list(each.scores[name].values()) for name in names])
        means = table.mean(axis=1) if lower else -table.mean(axis=1)
        best = 1 + int(np.argmin(means[1:]))
        difference = table[0] - table[best] if lower else table[best] - table[0]
        error = np.sqrt(((difference - difference.mean()) ** 2).sum() / 8 / 9)
        behind = difference.mean()
        expected.append(Place.FIRST if behind <= 0 else Place.WITHIN if behind <= error else Place.BEHIND)
    assert places == expected
    assert {*places} == {*Place}
    found = standings.standings(listed, "me", names, lower=lower)
    assert standings.share(found) == pytest.approx(1 - expected.count(Place.BEHIND) / 60)


def test_a_run_that_ended_keeps_its_last_number() -> None:
    curve = standings.at([20, 30], np.array([5.0, 7.0]), (10, 20, 25, 30, 40))
    np.testing.assert_array_equal(curve, [np.nan, 5.0, 5.0, 7.0, 7.0])


def test_f1_is_scikit_learn_s() -> None:
    rng = np.random.default_rng(2)
    truth, labels = rng.random(100) > 0.6, rng.integers(-1, 2, 100)
    values = {
        "right": [int(((labels > 0) & truth).sum()), 0],
        "above": [int((labels > 0).sum()), 0],
        "positives": int(truth.sum()),
    }
    np.testing.assert_allclose(standings.f1(values), [f1_score(truth, labels > 0), 0.0])
    assert standings.f1({"right": [0], "above": [0], "positives": 0}).tolist() == [1.0]


def test_averages_leave_out_problems_that_ended() -> None:
    found = pictures.averaged({"long": np.array([1.0, 2.0, 3.0]), "short": np.array([3.0])}, looks=4)
    np.testing.assert_array_equal(found, [2.0, 2.0, 3.0, np.nan])


def values_of(rng: np.random.Generator, looks: int) -> dict[str, object]:
    above = rng.integers(20, 40, looks)
    right = np.minimum(above, rng.integers(15, 30, looks))
    return {
        "samples": [10 * (k + 1) for k in range(looks)],
        "mislabelled": rng.integers(1, 200, looks).tolist(),
        "above": above.tolist(),
        "right": right.tolist(),
        "declared": (above + 50).tolist(),
        "wrong": (above - right).tolist(),
        "surest": above.tolist(),
        "surest_right": right.tolist(),
        "cpu": np.cumsum(rng.random(looks)).tolist(),
        "asks": list(range(looks)),
        "points": 900,
        "positives": 45,
    }


def test_the_page_has_the_numbers_of_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(SPLITS, "report", ("rbf", "stepped"))
    settings, rng = list(settings_of(("rbf", "stepped"), Console())), np.random.default_rng(1)
    entries = [e for e in page.known_entries("1") if e.label in ("melk", "straddle", REFERENCE, "AEPsych")]
    rows = [
        Bout(setting=setting, entry=entry, seed=seed) for setting in settings for entry in entries for seed in range(3)
    ]
    made = [
        Row(
            setting=task.setting.name,
            method=task.entry.label,
            seed=task.seed,
            digest=task.digest,
            seconds=1.0,
            values=values_of(rng, 20),
        )
        for task in rows
    ]
    stale = Row(setting="rbf", method="melk", seed=0, digest="old", seconds=1.0, values=values_of(rng, 20))
    failed = Row(**{**asdict(made[-1]), "seed": 3, "values": {"failed": "it | broke", "points": 900, "positives": 45}})
    out = tmp_path / "rows.jsonl"
    out.write_text("".join(json.dumps(asdict(row)) + "\n" for row in [*made, stale, failed]) + '{"torn', "utf-8")
    (tmp_path / "arena.md").write_text(f"before\n{page.BEGIN}\nstale words\n{page.END}\nafter\n", "utf-8")
    page.main(["--rows", str(out), "--docs", str(tmp_path), "--version", "1"])
    assert "from 25 rows" in capsys.readouterr().out.replace("\n", "")
    text = (tmp_path / "arena.md").read_text("utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "stale words" not in text
    assert "it / broke" in text
    own = [row.values["mislabelled"][9] / 900 for row in made if (row.setting, row.method) == ("stepped", "melk")]
    with (tmp_path / "arena.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    (line,) = [
        each
        for each in table
        if (each["measure"], each["problem"], each["measurements"], each["contestant"])
        == ("mislabelled", "stepped", "100", "melk")
    ]
    assert float(line["mean"]) == pytest.approx(np.mean(own), rel=1e-4)
    assert float(line["standard_error"]) == pytest.approx(np.std(own, ddof=1) / np.sqrt(3), rel=1e-2)
    assert sections.number(float(np.mean(own)), float(np.std(own, ddof=1) / np.sqrt(3))) in text
    for picture in ("arena.png", "arena-groups.png", "arena-promises.png"):
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")


def test_losses_are_printed_in_full() -> None:
    rng = np.random.default_rng(3)
    listed = [
        Column(
            problem=f"p{k}",
            samples=50,
            scores={name: dict(enumerate(rng.random(5))) for name in ("me", "x")},
        )
        for k in range(20)
    ]
    behind = [each for each in standings.standings(listed, "me", ["x"], lower=True) if each.place is Place.BEHIND]
    text = sections.losses([(MISLABELLED, listed)], "me", ["x"], "Losses")
    assert behind
    assert text.count("\n| mislabelled |") == len(behind)
    assert all(f"| {each.column.problem} |" in text for each in behind)
    assert "In no column." in sections.losses([(F1, [])], "me", ["x"], "Losses")


def test_every_contestant_is_ranked_against_all_others() -> None:
    """Two columns: "a" is first in one of them and far behind in the other, "b" the other way round."""
    listed = [
        Column(problem="p", samples=50, scores={"a": {0: 0.1, 1: 0.1}, "b": {0: 0.3, 1: 0.3}}),
        Column(problem="q", samples=50, scores={"a": {0: 0.5, 1: 0.5}, "b": {0: 0.3, 1: 0.3}, "c": {0: 0.4, 1: 0.4}}),
    ]
    text = sections.ranking([(MISLABELLED, listed)], ["a", "b", "c"])
    assert "| a | 30.0 | 1 | 50% |" in text
    assert "| b | 30.0 | 1 | 50% |" in text
    assert "| c | 40.0 | 0 | 0% |" in text


def test_what_was_promised_stands_beside_what_was_wrong() -> None:
    found = {"p": {"a": {0: np.array([0.0, 0.04])}, "b": {0: np.array([0.0, 0.0])}}}
    columns = [Column(problem="p", samples=50, scores={"a": {0: 0.9}, "b": {0: 0.5}})]
    text = sections.wrong(found, {"a": 0.01, "b": None, "c": 0.01}, [(F1, columns)])
    assert "| a | 1% | 2.00% | 2.0% | p | 1 of 1 | 90.0 |" in text
    assert "| b | by its own rule | 0.00% | 0.0% | p | - | 50.0 |" in text
    assert "| c |" not in text
    promised = page.promises(["melk", "melk declare 5 %", "stopping_LSE", "AEPsych"])
    assert list(promised.values()) == [0.01, 0.05, None, 0.01]


def test_a_contestant_that_lacks_a_problem_or_a_seed_is_left_out() -> None:
    runs = {"melk": "pppqqq", "all": "qqqqppp", "fewer": "pppqq", "some": "ppp"}
    rows = [
        Row(setting=problem, method=name, seed=seed, digest="", seconds=0.0, values={})
        for name, problems in runs.items()
        for seed, problem in enumerate(problems)
    ]
    assert page.complete_contestants(rows) == {"melk", "all"}


def test_a_ratio_is_taken_on_common_seeds() -> None:
    setting = Setting(name="p", world=Small(), samples=(10, 20))
    rows = [
        Row(setting="p", method=name, seed=seed, digest="", seconds=0.0, values=values)
        for name, seed, values in [
            ("a", 0, {"samples": [10, 20], "mislabelled": [10, 30], "points": 100}),
            ("a", 1, {"samples": [10], "mislabelled": [99], "points": 100}),
            (REFERENCE, 0, {"samples": [10, 20], "mislabelled": [20, 60], "points": 100}),
        ]
    ]
    found = standings.curves(rows, [setting], MISLABELLED)
    assert standings.area_ratio(found, "a", REFERENCE, "p") == pytest.approx(0.5)
    np.testing.assert_allclose(
        np.exp(standings.relative(found, "a", REFERENCE, {"p": 100})["p"]), [10.5 / 20.5, 30.5 / 60.5]
    )
    assert standings.area_ratio(found, "nobody", REFERENCE, "p") is None


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="arena: begin"):
        page.inserted("no marks", "text")
