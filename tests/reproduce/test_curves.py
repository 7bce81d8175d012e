"""The figures with F1 against measurements: the paper's settings, and what is said of MELK, TruVar and LSE."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from superlevel import design
from superlevel.arrays import Array
from superlevel.features import embed
from superlevel.reproduce import curves
from superlevel.reproduce.claims import Verdict
from superlevel.reproduce.outcome import write
from superlevel.reproduce.settings import Figure, Row
from superlevel.reproduce.trials import Simulated
from superlevel.reproduce.worlds import Cosine, Gp, Plane
from superlevel.rules.design import WorstCase
from superlevel.sizes import Growing
from tests.reproduce.small import GP, gp_figure, gp_rows, normal, row, strictly, told
from tests.worlds import proof

CONFIRMED, REFUTED, UNDECIDED = Verdict
FIGURES: dict[str, Callable[[bool], Figure]] = {
    "gp": curves.gp,
    "cosine": curves.cosine,
    "appendix-gp": curves.appendix_gp,
    "appendix-cosine": curves.appendix_cosine,
    "appendix-2d": curves.appendix_2d,
}


def trial(label: str) -> Simulated:
    (found,) = (entry.trial for entry in curves.ENTRIES if entry.label == label)
    assert isinstance(found, Simulated)
    return found


# ------------------------------------------------------------------------------------------ settings


def test_the_gp_is_the_papers() -> None:
    for quick in (True, False):
        (found,) = curves.gp(quick).settings
        assert found.world == Gp(points=200, length=0.05, noise=1.0, above=0.1)


def test_the_cosine_is_the_papers() -> None:
    (found,) = curves.cosine(False).settings
    assert found.world == Cosine(points=700, length=0.1, noise=0.2, above=0.3)
    (quick,) = curves.cosine(True).settings
    assert quick.world == Cosine(points=200, length=0.1, noise=0.2, above=0.3)


@pytest.mark.parametrize(
    ("name", "kind", "points", "above"),
    [("appendix-gp", Gp, 200, 0.1), ("appendix-cosine", Cosine, 700, 0.3), ("appendix-2d", Plane, 20, 0.3)],
)
def test_an_appendix_is_a_grid_of_lengths_and_noises(name: str, kind: type[Any], points: int, above: float) -> None:
    whole: list[Any] = [setting.world for setting in FIGURES[name](False).settings]
    lengths, noises = sorted({w.length for w in whole}), sorted({w.noise for w in whole})
    assert [(w.length, w.noise) for w in whole] == list(product(lengths, noises))
    assert (len(lengths), noises) == (3, [0.2, 0.5, 1.0])
    assert {(type(w), w.points, w.above) for w in whole} == {(kind, points, above)}
    corners: list[Any] = [setting.world for setting in FIGURES[name](True).settings]
    assert [(w.length, w.noise) for w in corners] == list(product(lengths[::2], noises[::2]))


def test_the_appendices_contain_the_figures_of_the_text() -> None:
    for name in ("gp", "cosine"):
        (main,) = FIGURES[name](False).settings
        assert main in FIGURES[f"appendix-{name}"](False).settings


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", FIGURES)
def test_scores_are_taken_every_twenty_measurements_up_to_the_budget(name: str, quick: bool) -> None:
    figure = FIGURES[name](quick)
    assert figure.name == name
    assert not figure.logarithmic
    for setting in figure.settings:
        assert set(np.diff(setting.samples)) == {20}
        assert (setting.samples[0], setting.samples[-1]) == (20, 300 if quick else 1000)
        world: Any = setting.world
        assert setting.name == f"length {world.length:g}, noise {world.noise:g}"


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", FIGURES)
def test_the_promised_share_is_above_the_level_and_no_point_is_at_it(name: str, quick: bool) -> None:
    for setting in FIGURES[name](quick).settings[:1]:
        found, promised = setting.world(0), vars(setting.world)["above"]
        assert abs(found.truth.mean() - promised) < 1 / len(found.truth)
        assert np.abs(found.values - found.problem.goal.levels[0]).min() > 1e-6


# ------------------------------------------------------------------------------------------ methods


def test_melk_is_the_papers_batched_one() -> None:
    found = trial("MELK")
    assert found.method == "melk"
    assert dict(found.options) == {"permanent": True, "batch": 10, "rule": WorstCase(rtol=0.05)}
    method = found.make(GP(0).problem)
    assert method.rule == WorstCase(rtol=0.05)
    state = method.init()
    for phase in (1, 2):
        plan = method.ask(state)
        made = proof(plan)
        kernel, points = method.problem.domain.kernel, method.problem.domain.points
        arms, wanted = embed(kernel, points, tol=0), design.targets(0.0, state.undecided)
        exact = design.review(arms, wanted, made.weights, made.dual, ridge=0.1 / phase)
        assert made.value == pytest.approx(exact.value, rel=0.01)
        state, _ = method.tell(state, plan, np.zeros(plan.total))
    assert method.permanent
    assert method.sizes == Growing(first=10)


def test_the_papers_methods_are_melk_truvar_and_lse() -> None:
    assert [entry.label for entry in curves.ENTRIES if entry.paper] == ["MELK", "TruVar", "LSE"]


def test_every_method_keeps_its_labels_and_has_intervals_of_three_deviations() -> None:
    problem = GP(0).problem
    for entry in curves.ENTRIES:
        method = trial(entry.label).make(problem)
        assert method.permanent
        confidence: Any = method.confidence
        assert confidence.deviations == 3.0
        ours = entry.label.startswith("MELK")
        assert method.sizes == Growing(first=10 if ours else 1)
        assert trial(entry.label).budget is None


# ------------------------------------------------------------------------------------------ claims


def rows_of(areas: Mapping[str, Array], at: str = "small") -> list[Row]:
    """Runs with these areas, on curves that rise."""
    return [
        row(method, seed, at=at, f1=[area - 0.125, area, area + 0.125])
        for method, given in areas.items()
        for seed, area in enumerate(given.tolist())
    ]


def areas(runs: int = 12, *, truvar: float = 0.0, lse: float = -0.2) -> dict[str, Array]:
    """Functions differ much, methods on one function little."""
    each = np.linspace(0.2, 0.8, runs)
    return {
        "MELK": each,
        "TruVar": each + truvar + normal(1, runs, deviation=0.01),
        "LSE": each + lse + normal(2, runs, deviation=0.01),
    }


def verdicts(rows: Sequence[Row]) -> list[Verdict]:
    return [claim.verdict for claim in curves.claims(rows)]


def test_claims_are_that_melk_is_like_truvar_and_both_are_above_lse() -> None:
    found = curves.claims(rows_of(areas()))
    assert [claim.name for claim in found] == ["melk-like-truvar", "melk-above-lse", "truvar-above-lse"]
    assert {claim.source for claim in found} == {"paper"}


@pytest.mark.parametrize(
    ("truvar", "lse", "expected"),
    [
        (0.0, -0.2, [CONFIRMED, CONFIRMED, CONFIRMED]),
        (0.2, -0.2, [REFUTED, CONFIRMED, CONFIRMED]),
        (-0.2, 0.2, [REFUTED, REFUTED, REFUTED]),
        (0.04, 0.04, [CONFIRMED, REFUTED, UNDECIDED]),
    ],
)
def test_verdicts_are_on_the_differences_of_areas_function_by_function(
    truvar: float, lse: float, expected: list[Verdict]
) -> None:
    assert verdicts(rows_of(areas(truvar=truvar, lse=lse))) == expected


def test_evidence_is_the_paired_test_of_the_areas() -> None:
    given = areas()
    like, melk, truvar = curves.claims(rows_of(given))
    for claim, method in ((melk, "MELK"), (truvar, "TruVar")):
        expected = stats.ttest_rel(given[method], given["LSE"], alternative="greater").pvalue
        assert claim.evidence[0].p_for == pytest.approx(expected, rel=1e-6)
    assert like.evidence[0].mean == pytest.approx(np.mean(given["MELK"]) - np.mean(given["TruVar"]))


def test_areas_and_their_order_are_told() -> None:
    given = areas()
    measured = told(curves.claims(rows_of(given))[0])["measured"]
    assert measured["area"] == {"small": {m: pytest.approx(a.mean(), abs=1e-4) for m, a in given.items()}}
    assert measured["order"] == {"small": " > ".join(sorted(given, key=lambda m: -given[m].mean()))}


def test_settings_are_judged_one_by_one() -> None:
    rows = [*rows_of(areas(), "one"), *rows_of(areas(lse=0.2), "two")]
    _, melk, _ = curves.claims(rows)
    assert [(e.setting, e.verdict) for e in melk.evidence] == [("one", CONFIRMED), ("two", REFUTED)]
    assert melk.verdict is REFUTED


def test_equal_areas_are_alike_and_not_above() -> None:
    same = np.linspace(0.25, 0.75, 9)
    assert verdicts(rows_of({"MELK": same, "TruVar": same, "LSE": same})) == [CONFIRMED, UNDECIDED, UNDECIDED]


@pytest.mark.parametrize("runs", [1, 2, 5])
def test_few_runs_decide_nothing(runs: int) -> None:
    rows = rows_of({method: given[:runs] for method, given in areas().items()})
    assert verdicts(rows) == [UNDECIDED] * 3
    for claim in curves.claims(rows):
        assert told(claim)["evidence"][0]["runs"] == runs


# ------------------------------------------------------------------------------------------ a small run


def test_a_small_run_is_read_into_curves_areas_and_claims() -> None:
    figure, rows = gp_figure(), gp_rows()
    found = curves.read(figure, rows)
    assert list(found.tables) == [""]
    assert len(found.tables[""]) == 2 * 9 * 3
    assert len(found.ranked) == len(found.shown) == 2 * 9
    assert {line["runs"] for line in found.ranked} == {6}
    for setting in ("quiet", "noisy"):
        assert sum(line["rank"] for line in found.ranked if line["setting"] == setting) == 45
    for claim in found.claims:
        assert [e["setting"] for e in told(claim)["evidence"]] == ["quiet", "noisy"]


def test_areas_of_a_small_run_are_those_of_its_rows() -> None:
    rows = gp_rows()
    own = {m: [np.mean(r.values["f1"]) for r in rows if (r.setting, r.method) == ("quiet", m)] for m in ("MELK", "LSE")}
    _, melk, _ = curves.claims(rows)
    assert melk.evidence[0].mean == pytest.approx(np.mean(own["MELK"]) - np.mean(own["LSE"]))
    assert np.ptp(own["MELK"]) > 0


def test_the_files_of_a_small_run_are_strict_json_and_named_after_it(tmp_path: Path) -> None:
    found = curves.read(gp_figure(), gp_rows())
    write(tmp_path, "gp", replace(found, pictures={}), {"reps": 6})
    assert [claim["name"] for claim in strictly((tmp_path / "claims.json").read_bytes())["claims"]] == [
        "melk-like-truvar",
        "melk-above-lse",
        "truvar-above-lse",
    ]
    assert list(found.pictures) == ["", "-all"]


def test_a_figure_in_which_nobody_reaches_anything_is_read_too() -> None:
    figure = gp_figure()
    rows = [row(task.entry.label, task.seed, at=task.setting.name, f1=[0.0, 0.0, 0.0]) for task in figure.tasks(6, 0)]
    found = curves.read(figure, rows)
    assert {(line["rank"], line["samples_to_0.9"], line["area"]) for line in found.ranked} == {(5.0, None, 0.0)}
    assert [claim.verdict for claim in found.claims] == [CONFIRMED, UNDECIDED, UNDECIDED]
    assert all(told(claim) for claim in found.claims)
