"""Where MELK measures: distances, complexities and rounds by a second road, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from superlevel import bounds
from superlevel.arrays import Array
from superlevel.bounds.setting import as_features
from superlevel.features import Features
from superlevel.reproduce import allocations
from superlevel.reproduce.allocations import Rounds, complexity, distance
from superlevel.reproduce.claims import Verdict
from superlevel.reproduce.settings import Row
from superlevel.reproduce.worlds import Surface
from tests.reproduce.small import normal, row, surface_figure, surface_rows, told

CONFIRMED, REFUTED, UNDECIDED = Verdict
PAIRS = hnp.arrays(np.float64, (2, 6), elements=st.floats(0.01, 1)).map(lambda w: w / w.sum(axis=1, keepdims=True))


def a_row(seed: int = 0) -> Any:
    return surface_rows()[seed].values


def world(seed: int = 0) -> Any:
    return surface_figure().settings[0].world(seed)


# ------------------------------------------------------------------------------------------ formulas


@given(PAIRS)
@settings(max_examples=30)
def test_distance_is_what_two_distributions_do_not_share(weights: Array) -> None:
    first, second = weights
    assert distance(first, second) == pytest.approx(1 - np.minimum(first, second).sum())
    assert distance(first, second) == pytest.approx(max(0.0, (first - second)[first > second].sum()))
    assert (distance(first, first), distance(second, first)) == (0.0, distance(first, second))


def test_distributions_without_a_common_point_are_at_distance_one() -> None:
    assert distance(np.array([0.5, 0.5, 0, 0]), np.array([0, 0, 0.25, 0.75])) == 1.0


@pytest.mark.parametrize("ridge", [1e-7, 0.1])
def test_complexity_is_the_largest_variance_over_squared_gaps(ridge: float) -> None:
    phi, gaps = normal(0, 36).reshape(12, 3), np.abs(normal(1, 12)) + 0.1
    weights = np.abs(normal(2, 12))
    weights /= weights.sum()
    information = sum(w * np.outer(x, x) for w, x in zip(weights, phi, strict=True)) + ridge * np.eye(3)
    inverse = np.linalg.inv(information)
    expected = max(x @ inverse @ x / gap**2 for x, gap in zip(phi, gaps, strict=True))
    given_ = Features(array=phi, residuals=np.zeros(12), pivots=np.arange(3))
    assert complexity(given_, weights, gaps, ridge) == pytest.approx(expected)


def test_complexity_of_separate_points_is_least_for_weights_like_squared_gaps() -> None:
    gaps = np.array([0.2, 0.5, 1.0])
    features = Features(array=np.eye(3), residuals=np.zeros(3), pivots=np.arange(3))
    best = gaps**-2 / (gaps**-2).sum()
    assert complexity(features, best, gaps, 0.0) == pytest.approx((gaps**-2).sum())
    assert complexity(features, np.full(3, 1 / 3), gaps, 0.0) == pytest.approx(3 / 0.2**2)


# ------------------------------------------------------------------------------------------ rounds


def test_the_figure_is_the_papers() -> None:
    figure = allocations.figure(False)
    (setting,), (entry,) = figure.settings, figure.entries
    assert setting.world == Surface(side=30, length=0.1, noise=1.0)
    assert setting.world(0).problem.goal.levels == (0.0,)
    assert (entry.label, entry.paper, entry.trial) == ("MELK", True, Rounds(ridge=1e-7, rtol=0.01))


@pytest.mark.parametrize("seed", range(3))
def test_a_point_is_undecided_while_its_value_is_within_twice_the_precision(seed: int) -> None:
    values = np.abs(world(seed).values)
    found = a_row(seed)
    rounds = len(found["t"])
    expected = [len(values), *(int((values <= 2 * values.max() / 2**t).sum()) for t in range(1, rounds))]
    assert found["t"] == list(range(1, rounds + 1))
    assert found["undecided"] == expected
    assert (values > 2 * values.max() / 2**rounds).all()


@pytest.mark.parametrize("seed", range(3))
def test_every_number_of_a_row_follows_from_its_designs(seed: int) -> None:
    found, values = a_row(seed), np.abs(world(seed).values)
    designs, best = np.array(found["designs"]), np.array(found["optimum"])
    near = pytest.approx
    np.testing.assert_allclose(designs.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(found["values"], world(seed).values, atol=1e-7)
    assert found["tv_round"] == near([1 - np.minimum(d, best).sum() for d in designs], abs=1e-5)
    assert found["tv_uniform"] == near(1 - np.minimum(1 / len(best), best).sum(), abs=1e-5)
    assert found["spread"] == near([1 / sum(w * w for w in d) for d in designs], rel=1e-4)
    assert found["mean_gap"] == near([sum(w * g for w, g in zip(d, values, strict=True)) for d in designs], abs=1e-5)
    nearest = np.argsort(values)[: int(np.ceil(0.1 * (len(values) - 1)))]
    assert found["boundary"] == near([d[nearest].sum() for d in designs], abs=1e-5)
    for t in range(1, len(designs) + 1):
        total = np.sum([2 ** (2 * (k + 1)) * designs[k] for k in range(t)], axis=0)
        assert found["tv_sum"][t - 1] == near(1 - np.minimum(total / total.sum(), best).sum(), abs=1e-5)
    np.testing.assert_allclose(found["weighted"], total / total.sum(), atol=1e-6)


def test_measured_weighs_each_round_by_its_measurements() -> None:
    given_ = world()
    found = bounds.rounds(given_.problem, given_.values, ridge=1e-7)
    total = np.sum([r.samples * r.design.weights for r in found], axis=0)
    best = np.array(a_row()["optimum"])
    assert a_row()["tv_measured"] == pytest.approx(1 - np.minimum(total / total.sum(), best).sum(), abs=1e-4)
    assert a_row()["tv_measured"] != pytest.approx(a_row()["tv_sum"][-1], abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_below_the_best_and_the_best_is_the_best(seed: int) -> None:
    found, given_ = a_row(seed), world(seed)
    assert set(found["times_best"]) == {"weighted", "measured", "uniform"}
    assert min(found["times_best"].values()) > 1 - 1e-6
    best = bounds.explicit(given_.problem.domain, given_.values, threshold=0.0, noise=1.0, ridge=1e-7)
    features = as_features(given_.problem.domain, ridge=1e-7, rtol=0.01)
    gaps, uniform = np.abs(given_.values), np.full(25, 1 / 25)
    assert complexity(features, best.weights, gaps, 1e-7) <= 1.011 * best.lower_bound
    expected = complexity(features, uniform, gaps, 1e-7) / best.lower_bound
    assert found["times_best"]["uniform"] == pytest.approx(expected, rel=1e-3)


# ------------------------------------------------------------------------------------------ made-up rows


def made(seed: int = 0, *, rounds: int = 6, **values: Any) -> Row:
    """A function with that many rounds, from spread out to near lambda*."""
    ts = list(range(1, rounds + 1))
    usual = {
        "t": ts,
        "undecided": [10 - t for t in ts],
        "tv_round": [1 / t for t in ts],
        "tv_sum": [0.5 / t + 0.01 * seed for t in ts],
        "tv_measured": 0.02,
        "tv_uniform": 0.8 + 0.01 * seed,
        "spread": [9.0 / t for t in ts],
        "mean_gap": [1 / t for t in ts],
        "boundary": [t / 10 for t in ts],
        "times_best": {"weighted": 1.5 + seed, "measured": 1.2, "uniform": 20.0},
        "values": [0.1] * 10,
    }
    return row("MELK", seed, **{**usual, **values})


def verdict(name: str, rows: Sequence[Row]) -> Verdict:
    (found,) = (claim for claim in allocations.claims(surface_figure(), rows) if claim.name.startswith(name))
    assert told(found)["verdict"] == found.verdict.value
    return found.verdict


def test_a_round_is_averaged_over_the_functions_that_had_it() -> None:
    lines = allocations.round_table([made(0, rounds=2), made(1, rounds=3), made(2, rounds=3)])
    assert [(line["round"], line["functions"]) for line in lines] == [("1", 3), ("2", 3), ("3", 2), ("total", 3)]
    assert lines[1]["tv_sum"] == pytest.approx(0.25 + 0.01)
    assert lines[2]["tv_sum"] == pytest.approx(0.5 / 3 + 0.015)
    assert [lines[k]["tv_uniform"] for k in (0, 2)] == pytest.approx([0.81, 0.815])
    assert lines[2]["tv_sum_standard_error"] == pytest.approx(stats.sem([0.01, 0.02]))


def test_the_total_is_over_the_last_sum_of_every_function() -> None:
    *_, total = allocations.round_table([made(0, rounds=2), made(1, rounds=5)])
    assert total["tv_sum"] == pytest.approx((0.25 + 0.11) / 2)
    assert total["tv_uniform"] == pytest.approx(0.805)


def test_one_function_has_a_table_without_errors() -> None:
    lines = allocations.round_table([made()])
    assert [line["round"] for line in lines] == ["1", "2", "3", "4", "5", "6", "total"]
    assert {line["tv_sum_standard_error"] for line in lines} == {None}


def test_the_first_design_is_spread_out_if_it_has_half_of_the_points() -> None:
    for effective, expected in ((9.0, CONFIRMED), (5.0, UNDECIDED), (2.0, REFUTED)):
        rows = [made(seed, spread=[effective + 0.1 * (-1) ** seed, 1.0]) for seed in range(14)]
        assert verdict("spread-out", rows) is expected


def test_rounds_that_fall_steadily_move_to_the_smallest_gaps() -> None:
    falling, rising = [[5.0, 4.0, 3.0, 2.0 + k / 100, 1.0] for k in range(14)], [[1.0, 2.0, 3.0, 4.0, 5.0]] * 14
    for gaps, expected in ((falling, CONFIRMED), (rising, REFUTED)):
        rows = [made(seed, rounds=5, mean_gap=gaps[seed]) for seed in range(14)]
        assert verdict("towards", rows) is expected


def test_the_sum_is_nearly_optimal_if_a_tenth_of_the_measurements_would_have_to_move() -> None:
    for tv, expected in ((0.05, CONFIRMED), (0.1, UNDECIDED), (0.2, REFUTED)):
        rows = [made(seed, tv_sum=[0.9, tv + 0.001 * (-1) ** seed]) for seed in range(14)]
        assert verdict("weighted-sum", rows) is expected
    rows = [made(seed, tv_measured=0.2 + 0.001 * (-1) ** seed) for seed in range(14)]
    assert verdict("measured-sum", rows) is REFUTED


def test_claims_tell_the_means_that_belong_to_them() -> None:
    rows = [made(seed, rounds=4 + seed) for seed in range(3)]
    found = {claim.name: told(claim)["measured"] for claim in allocations.claims(surface_figure(), rows)}
    assert found["spread-out-at-first"] == {"mean": pytest.approx(0.9)}
    weighted = found["weighted-sum-nearly-optimal"]
    assert weighted["total_variation"] == pytest.approx(np.mean([0.5 / 4, 0.5 / 5 + 0.01, 0.5 / 6 + 0.02]))
    assert weighted["median_times_the_least_complexity"] == {"weighted": 2.5, "uniform": 20.0}
    ends = found["towards-the-smallest-gaps"]["share_on_the_tenth_nearest_to_the_level"]
    assert ends == {"first round": pytest.approx(0.1), "last round": pytest.approx(0.5)}


def test_only_the_paper_s_weights_are_the_papers_claim() -> None:
    sources = {claim.name: claim.source for claim in allocations.claims(surface_figure(), [made()])}
    assert [name for name, source in sources.items() if source == "here"] == ["measured-sum-nearly-optimal"]


def test_a_function_that_two_rounds_decide_is_strict_json_too() -> None:
    rows = [made(seed, rounds=2, mean_gap=[0.5, 0.5]) for seed in range(14)]
    for claim in allocations.claims(surface_figure(), rows):
        assert told(claim)["evidence"]


# ------------------------------------------------------------------------------------------ a small run


@pytest.mark.parametrize("reps", [1, 7])
def test_a_small_run_is_read_and_strict_json(reps: int) -> None:
    rows = surface_rows()[:reps]
    found = allocations.read(surface_figure(), rows)
    assert len(found.tables[""]) == 1 + max(len(each.values["t"]) for each in rows)
    assert [line["round"] for line in found.shown] == [line["round"] for line in found.tables[""]]
    for claim in found.claims:
        (evidence,) = told(claim)["evidence"]
        assert evidence["runs"] == reps
        assert reps > 1 or claim.verdict is UNDECIDED
    assert not found.ranked


def test_the_picture_has_the_function_every_round_the_sum_and_the_best() -> None:
    rows = [replace(surface_rows()[0], seed=17), surface_rows()[1]]
    picture = allocations.read(surface_figure(), rows).pictures[""]()
    titles = [axes.get_title() for axes in picture.axes if axes.get_title()]
    seen = rows[0].values
    expected = [f"round {t}, {left} undecided" for t, left in zip(seen["t"], seen["undecided"], strict=True)]
    assert titles == ["function", *expected, f"weighted sum, TV {seen['tv_sum'][-1]:.2f}", "λ* of the lower bound"]
    assert "seed 17" in picture.get_suptitle()
