"""ActiveSet sets: large problems agree with small ones, and a design is taken up again where it ended."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from superlevel.design import Design, Pairs, Rows, Status, Subset, active_set, solve
from superlevel.design.certificate import evaluate
from superlevel.design.minimax import Minimax
from superlevel.design.problem import design_problem
from superlevel.design.targets import AnyTargets
from superlevel.errors import InputError
from superlevel.features import Features, embed, tolerance

from .oracle import GRID, Array, Instance, pairs

ARMS = np.random.default_rng(0).normal(size=(300, 5))
VECTORS = np.random.default_rng(1).normal(size=(200, 5))
LEFT = GRID[:, 0] < 0.5


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thresholds at which 300 arms are many."""
    for name, value in {"SMALL": 12, "ARMS": 3, "TARGETS": 3}.items():
        monkeypatch.setattr(active_set, name, value)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("ridge", [0, 1e-3, 0.5])
@pytest.mark.parametrize(
    "targets",
    [None, VECTORS, Subset(np.arange(0, 300, 2)), Rows(VECTORS, np.linspace(0.5, 2, 200)), Pairs(0.3)],
    ids=["arms", "rows", "subset", "scaled-rows", "pairs"],
)
def test_generated_arms_and_targets_lead_to_the_same_optimum(
    targets: Any, ridge: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    arms = ARMS[:40] if isinstance(targets, Pairs) else ARMS
    generated = solve(arms, targets, ridge=ridge, rtol=1e-4)
    assert generated.evaluations < generated.iterations  # most steps see an active set only
    monkeypatch.setattr(active_set, "SMALL", 10**6)
    everything = solve(arms, targets, ridge=ridge, rtol=1e-4)
    assert generated.status is everything.status is Status.CERTIFIED
    assert generated.value == pytest.approx(everything.value, rel=1.1e-4)
    assert generated.lower_bound <= everything.value
    assert everything.lower_bound <= generated.value
    # An active set that covered everything would be no test of generation: the support stays small.
    assert len(generated.support) < len(arms)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("ridge", [0, 0.01])
def test_a_few_targets_among_many_arms_begin_near_them(ridge: float) -> None:
    design = solve(ARMS, Subset([3, 77]), ridge=ridge, rtol=1e-3)
    instance = Instance(arms=ARMS, rows=ARMS[[3, 77]], ridge=ridge)
    assert design.status is Status.CERTIFIED
    assert design.value == pytest.approx(instance.value(design.weights))


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("ridge", [0, 0.1])
@pytest.mark.parametrize("targets", [None, VECTORS, Pairs(0.3)], ids=["arms", "rows", "pairs"])
def test_an_active_set_is_a_distribution_on_arms_that_span(ridge: float, targets: Any) -> None:
    problem = design_problem(ARMS, targets, ridge=ridge)
    first = active_set.begin(problem)
    criterion = Minimax(problem=problem)
    assert not criterion.covers(first)
    assert np.linalg.matrix_rank(problem.arms.at(first.arms)) == 5
    for weights, positions in ((first.weights, first.arms), (first.mixture, first.targets)):
        assert (weights > 0).all()
        assert weights.sum() == pytest.approx(1)
        assert (np.diff(positions) > 0).all()
    everywhere = first.everywhere(problem)
    np.testing.assert_array_equal(np.flatnonzero(everywhere), first.arms)
    rows = pairs(ARMS, 0.3) if isinstance(targets, Pairs) else ARMS if targets is None else VECTORS
    instance = Instance(arms=ARMS[first.arms], rows=rows[first.targets], ridge=ridge)
    seen = criterion.inner(first, aim=0.1, budget=1).evaluate(first)
    assert seen.value == pytest.approx(instance.value(first.weights))
    assert seen.lower_bound == pytest.approx(instance.bound(first.weights, first.mixture))


@pytest.mark.usefixtures("tiny")
def test_what_contradicts_an_active_set_enters_it() -> None:
    problem = design_problem(ARMS, VECTORS, ridge=0.1)
    active = active_set.begin(problem)
    seen = evaluate(problem, active.everywhere(problem), active.targets, active.mixture)
    wider = Minimax(problem=problem).enter(active, seen)
    assert wider is not None
    assert np.isin(active.arms, wider.arms).all()
    assert np.isin(active.targets, wider.targets).all()
    assert seen.gains.argmax() in wider.arms
    assert seen.variances.positions[seen.variances.values.argmax()] in wider.targets
    fresh = np.setdiff1d(wider.arms, active.arms)
    assert (seen.gains[fresh] > seen.gains[active.arms].max()).all()
    assert len(wider.arms) <= 2 * len(active.arms)
    assert (wider.weights > 0).all()
    assert wider.weights.sum() == pytest.approx(1)
    assert wider.mixture.sum() == pytest.approx(1)


def test_nothing_enters_what_is_everything() -> None:
    problem = design_problem(ARMS[:20], None, ridge=0.1)
    active = active_set.begin(problem)
    assert Minimax(problem=problem).covers(active)
    seen = evaluate(problem, active.everywhere(problem), active.targets, active.mixture)
    assert Minimax(problem=problem).enter(active, seen) is None


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("kept", [0.26, 0.28, 0.299])
def test_what_the_features_miss_cannot_keep_the_solver_from_ending(kept: float) -> None:
    """The active set holds all that matters, so nothing ever enters it, and the features miss most of the gap.

    Its own gap is then too small to be worked on and may still be too large to blame the features.
    """
    faint = 0.05 * np.random.default_rng(2).normal(size=(100, 3)) / np.sqrt(3)
    arms, ridge = np.vstack([np.diag([1.0, 0.9, 0.7]), faint]), 0.1
    exact = Features(array=arms, residuals=np.zeros(len(arms)), pivots=np.arange(3))
    gaps: list[float] = []
    best = solve(exact, ridge=ridge, rtol=1e-5, watch=lambda design: gaps.append(design.gap)).value
    rtol = gaps[0] / kept  # the first active set's gap is this part of what is asked for
    missing = 0.9 * rtol * best * ridge / (1 + np.sqrt(best)) ** 2
    features = replace(exact, residuals=np.full(len(arms), missing))
    seen: list[Design] = []

    def count(design: Design) -> None:
        seen.append(design)
        assert len(seen) < 300, f"gap {design.gap:.3g}, truncation {design.truncation:.3g}, rtol {rtol:.3g}"

    design = solve(features, ridge=ridge, rtol=rtol, watch=count)
    assert design.status is (Status.CERTIFIED if design.gap <= rtol else Status.FEATURES)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("seed", range(10))
def test_a_watcher_sees_the_best_so_far(seed: int) -> None:
    """What enters an active set may make its next answer worse for a while; what is shown never is."""
    rng = np.random.default_rng(seed)
    arms = rng.normal(size=(200, 4)) * rng.choice([0.05, 1.0], p=[0.95, 0.05], size=(200, 1))
    seen: list[Design] = []
    design = solve(arms, ridge=0.01, rtol=1e-4, watch=seen.append)
    gaps = [each.gap for each in seen]
    assert gaps == sorted(gaps, reverse=True)
    assert [each.evaluations for each in seen] == sorted({each.evaluations for each in seen})
    assert seen[-1].value == design.value
    assert seen[-1].iterations == design.iterations


# ------------------------------------------------------------------------------------- warm starts


@pytest.mark.parametrize("ridge", [0, 0.01])
@pytest.mark.parametrize("kind", ["subset", "rows", "pairs"])
def test_targets_that_are_done_are_forgotten(kind: str, ridge: float) -> None:
    arms = ARMS[:60]
    half = np.arange(60) < 30
    aims: dict[str, tuple[AnyTargets, AnyTargets]] = {
        "subset": (Subset(), Subset(half)),
        "rows": (Rows(arms), Rows(arms, mask=half)),
        "pairs": (Pairs(0.3), Pairs(0.3, np.outer(half, half))),
    }
    before, after = aims[kind]
    start = solve(arms, before, ridge=ridge, rtol=1e-3)
    warm, cold = solve(arms, after, ridge=ridge, rtol=1e-4, start=start), solve(arms, after, ridge=ridge, rtol=1e-4)
    assert warm.status is cold.status is Status.CERTIFIED
    assert warm.value == pytest.approx(cold.value, rel=1.1e-4)
    dual = warm.dual.toarray() if kind == "pairs" else warm.dual
    assert not dual[~half].any()


def test_on_halves_of_the_papers_grid_warm_starts_save_iterations() -> None:
    """A cold start takes 6 to 9 steps here and the old design is up to twice the new optimum: a quarter is saved."""
    features = embed(RBF(0.1), GRID, tol=tolerance(0.001, 0.01))
    start = solve(features, ridge=0.001, rtol=0.01)
    cold, warm = 0, 0
    for half in (LEFT, ~LEFT, GRID[:, 1] < 0.5, np.random.default_rng(0).permutation(len(GRID)) < len(GRID) // 2):
        again = solve(features, Subset(half), ridge=0.001, rtol=0.01, start=start)
        afresh = solve(features, Subset(half), ridge=0.001, rtol=0.01)
        assert again.status is afresh.status is Status.CERTIFIED
        cold, warm = cold + afresh.iterations, warm + again.iterations
    assert warm < cold


@pytest.mark.parametrize("many", [False, True])
def test_a_start_whose_targets_are_all_done_still_works(many: bool, request: pytest.FixtureRequest) -> None:
    if many:
        request.getfixturevalue("tiny")
    start = solve(ARMS, Subset([0, 1, 2]), ridge=0.1)
    design = solve(ARMS, Subset(np.arange(200, 260)), ridge=0.1, rtol=1e-3, start=start)
    assert design.status is Status.CERTIFIED
    assert not design.dual[:200].any()


def test_a_start_on_one_arm_spreads_again() -> None:
    """A weight of zero could never grow by itself."""
    arms = ARMS[:50]
    alone = np.eye(50)[7]
    start = replace(solve(arms, ridge=0.1), weights=alone, dual=alone)
    design = solve(arms, ridge=0.1, rtol=1e-4, start=start)
    assert design.status is Status.CERTIFIED
    assert design.value == pytest.approx(solve(arms, ridge=0.1, rtol=1e-4).value, rel=1.1e-4)


def test_a_finished_start_needs_no_more_than_a_few_iterations() -> None:
    start = solve(ARMS, VECTORS, ridge=0.1, rtol=1e-4)
    assert solve(ARMS, VECTORS, ridge=0.1, rtol=0.01, start=start).iterations <= start.iterations / 2


def test_a_start_for_other_arms_is_named() -> None:
    start = solve(ARMS[:10], ridge=0.1)
    with pytest.raises(InputError, match=r"^start is for 10 arms: give a design for 11$"):
        solve(ARMS[:11], ridge=0.1, start=start)


def test_a_start_for_other_targets_is_named() -> None:
    start = solve(ARMS[:10], VECTORS[:4], ridge=0.1)
    with pytest.raises(InputError, match=r"is of shape \(4,\): give shape \(5,\), as the targets have$"):
        solve(ARMS[:10], VECTORS[:5], ridge=0.1, start=start)


def test_the_weights_of_a_start_are_left_as_they_were() -> None:
    start = solve(ARMS[:10], ridge=0.1)
    weights: Array = start.weights.copy()
    solve(ARMS[:10], Subset([0, 1]), ridge=0.1, rtol=1e-5, start=start)
    np.testing.assert_array_equal(start.weights, weights)
