"""Designs on streamed features: every number by the road through an array as well."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, Matern, WhiteKernel

from superlevel import costs, linalg, passes, streamed
from superlevel.design import (
    FrankWolfe,
    Pairs,
    Rows,
    Status,
    Subset,
    active_set,
    arms,
    certify,
    information,
    mixtures,
    review,
    solve,
)
from superlevel.design.average import average_problem
from superlevel.design.certificate import evaluate
from superlevel.design.information import factor_of
from superlevel.design.problem import design_problem
from superlevel.errors import CostWarning, InputError
from superlevel.features import Features, embed, stream
from superlevel.streamed import Streamed

from .oracle import GRID, Array, Instance, kernel_inverse, uniform

KERNELS = {
    "rbf": RBF(0.3),
    "matern": 2.0 * Matern(0.5, nu=1.5),
    "white": RBF(0.3) + WhiteKernel(0.1),
    "linear": None,
}
POINTS = np.random.default_rng(0).random((60, 2))


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and samples of which 60 points need several."""
    monkeypatch.setattr(streamed, "PART", 17)
    monkeypatch.setattr(streamed, "SAMPLE", 25)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thresholds at which 400 arms are many."""
    for name, value in {"SMALL": 12, "ARMS": 2, "TARGETS": 2}.items():
        monkeypatch.setattr(active_set, name, value)


def written(found: Streamed) -> Features:
    """The same features as an array."""
    array = np.ascontiguousarray(found.at(np.arange(len(found.points))))
    return Features(array=array, residuals=found.residuals, pivots=found.pivots)


def close(one: Array, other: Array) -> None:
    np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-7 * float(np.abs(other).max()))


@given(
    st.integers(0, 2**31),
    st.integers(2, 40),
    st.sampled_from(sorted(KERNELS)),
    st.sampled_from([1e-4, 0.05]),
    st.sampled_from([1e-6, 0.01, 1.0]),
)
@settings(deadline=None, max_examples=40)
def test_an_evaluation_in_blocks_is_that_of_an_array(seed: int, n: int, name: str, tol: float, ridge: float) -> None:
    found, rng = stream(KERNELS[name], POINTS[:n], tol=tol), np.random.default_rng(seed)
    mask, scales = rng.random(n) < rng.random(), rng.choice([0.5, 1.0, 3.0], size=n)
    mask[rng.integers(n)] = True
    targets = Subset(mask, scales if rng.random() < 0.5 else None)
    weights, dual = rng.dirichlet(np.full(n, 0.2)), rng.dirichlet(np.full(mask.sum(), rng.choice([0.1, 3.0])))
    problems = (design_problem(each, targets, ridge=ridge) for each in (found, written(found)))
    blocks, whole = (evaluate(problem, weights, np.flatnonzero(mask), dual) for problem in problems)
    close(blocks.look.lengths, whole.look.lengths)
    close(blocks.gains, whole.gains)
    close(blocks.roots @ blocks.roots.T, whole.roots @ whole.roots.T)
    close(blocks.arms, whole.arms)
    close(blocks.variances.values, whole.variances.values)
    np.testing.assert_array_equal(blocks.variances.positions, whole.variances.positions)
    for field in ("value", "lower_bound", "truncation", "average"):
        assert getattr(blocks, field) == pytest.approx(getattr(whole, field), rel=1e-7)
    assert blocks.shrinkage == pytest.approx(whole.shrinkage, abs=1e-7 * whole.average)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("averaged", [False, True])
def test_value_and_bound_are_their_definitions(name: str, averaged: bool) -> None:
    found, rng = stream(KERNELS[name], POINTS, tol=1e-3), np.random.default_rng(1)
    scales, weights, dual = rng.uniform(0.5, 2, 60), rng.dirichlet(np.ones(60)), rng.dirichlet(np.full(60, 0.2))
    array = written(found).array
    instance = Instance(arms=array, rows=array / scales[:, None], ridge=0.05)
    value, bound = review(found, Subset(scales=scales), weights, dual, ridge=0.05, mixture=dual if averaged else None)
    kept = instance.average(weights, dual) if averaged else instance.value(weights)
    assert bound == pytest.approx(instance.bound(weights, dual), rel=1e-9)
    assert value >= kept * (1 - 1e-9)
    assert (value == pytest.approx(kept, rel=1e-9)) == (found.residual < 1e-9)


@pytest.mark.parametrize("kernel", [RBF(0.3), RBF(0.3) + WhiteKernel(0.005)], ids=["smooth", "white"])
def test_the_certificate_is_for_the_kernel_itself(kernel: Any) -> None:
    """From the whole kernel matrix: the value is at least that of the kernel, and the part in the features at most."""
    found, rng = stream(kernel, POINTS, tol=0.01), np.random.default_rng(2)
    for _ in range(10):
        weights = rng.dirichlet(np.full(60, 0.1))
        true = float(np.diag(kernel_inverse(np.asarray(kernel(POINTS)), weights, 0.1)).max())
        seen = evaluate(design_problem(found, None, ridge=0.1), weights, np.arange(60), uniform(60))
        assert seen.kept <= true * (1 + 1e-9)
        assert true <= seen.value * (1 + 1e-9)
        assert seen.truncation > 0


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("targets", [None, Subset(GRID[::2, 0] < 0.5, np.linspace(0.5, 2, 450))], ids=["all", "scaled"])
@pytest.mark.parametrize("averaged", [False, True])
def test_a_design_is_certified_and_an_array_confirms_it(targets: Any, averaged: bool) -> None:
    points = GRID[::2]
    mixture = np.random.default_rng(3).random(450) if averaged else None
    found = stream(RBF(0.3), points, tol=2e-5)
    design = solve(found, targets, ridge=0.01, rtol=0.02, mixture=mixture)
    assert design.status is Status.CERTIFIED
    assert design.evaluations < design.iterations  # most steps see an active set only
    for other in (written(found), embed(RBF(0.3), points, tol=1e-9)):
        value, bound = review(other, targets, design.weights, design.dual, ridge=0.01, mixture=mixture)
        assert value <= design.value * (1 + 1e-9)
        assert bound == pytest.approx(design.lower_bound, rel=1e-3)
        assert value <= 1.02 * bound * (1 + 1e-3)
    whole = solve(written(found), targets, ridge=0.01, rtol=0.02, mixture=mixture)
    assert whole.value == pytest.approx(design.value, rel=0.021)


@pytest.mark.usefixtures("tiny")
def test_evaluations_are_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    found = stream(RBF(0.3), GRID[::2], tol=2e-5)
    looks: list[int] = []
    over = passes.over

    def counted(*given_: Any, **named: Any) -> Any:
        looks.append(1)
        return over(*given_, **named)

    monkeypatch.setattr(passes, "over", counted)
    design = solve(found, ridge=0.01, rtol=0.02)
    assert len(looks) == design.evaluations
    again = certify(found, None, design.weights, design.dual, ridge=0.01)
    assert len(looks) == design.evaluations + 1
    assert again == pytest.approx(design.lower_bound, rel=1e-9)


@pytest.mark.parametrize("mixture", [None, uniform(60)], ids=["largest", "average"])
@pytest.mark.parametrize("method", [None, FrankWolfe(iterations=20)], ids=["default", "frank-wolfe"])
def test_few_arms_are_written_out(mixture: Any, method: Any) -> None:
    found = stream(RBF(0.3), POINTS, tol=1e-4)
    one, other = (solve(each, ridge=0.1, mixture=mixture, method=method) for each in (found, written(found)))
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-9)
    assert one.value == pytest.approx(other.value)
    assert one.truncation == pytest.approx(other.truncation) != 0
    assert one.status is other.status


@pytest.mark.usefixtures("tiny")
def test_vectors_may_be_targets_and_a_design_may_go_on() -> None:
    found = stream(RBF(0.3), GRID[::2], tol=2e-5)
    vectors = np.random.default_rng(4).normal(size=(70, found.rank))
    scales = np.linspace(0.5, 2, 70)
    one, other = (solve(each, Rows(vectors, scales), ridge=0.01, rtol=1e-3) for each in (found, written(found)))
    assert one.status is other.status is Status.CERTIFIED
    assert one.value == pytest.approx(other.value, rel=1.1e-3)
    warm = solve(found, Rows(vectors, scales), ridge=0.01, rtol=1e-4, start=one)
    assert warm.status is Status.CERTIFIED
    assert warm.value <= one.value * (1 + 1e-4)


@pytest.mark.parametrize("dual", [uniform(60), np.eye(60)[7], np.repeat([1.0, 0.0], 30) / 30])
@pytest.mark.parametrize("ridge", [1e-12, 0.1])
def test_many_arms_and_many_targets_come_in_blocks(dual: Array, ridge: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dual on equal points has a singular moment, and a small ridge a careful factor."""
    points = np.vstack([POINTS[:30], POINTS[:1].repeat(30, axis=0)])
    found = stream(RBF(0.3), points, tol=1e-3)
    rng = np.random.default_rng(5)
    weights = rng.dirichlet(np.ones(60))
    together = [review(found, None, weights, dual, ridge=ridge, mixture=mixture) for mixture in (None, dual)]
    monkeypatch.setattr(information, "BLOCK", 7 * found.rank)
    monkeypatch.setattr(mixtures, "BLOCK", 7 * found.rank)
    apart = [review(found, None, weights, dual, ridge=ridge, mixture=mixture) for mixture in (None, dual)]
    np.testing.assert_allclose(apart, together, rtol=1e-4 if ridge < 1e-6 else 1e-9)


@pytest.mark.parametrize("ridge", [0, 1e-14, 1e-3])
def test_a_factor_from_blocks_is_that_of_all_rows(ridge: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, weights = np.random.default_rng(6).normal(size=(40, 5)), uniform(40)
    monkeypatch.setattr(information, "BLOCK", 5 * 6)
    factor = factor_of(arms.Written(rows), weights, ridge=ridge)
    np.testing.assert_allclose(factor @ factor.T, rows.T @ rows / 40 + ridge * np.eye(5), atol=1e-13)
    assert (np.diag(factor) > 0).all()


def test_folding_costs_no_accuracy() -> None:
    """Two triangular solves, one after the other, against one with the product of the factors."""
    found = stream(RBF(1.0), POINTS, tol=1e-10)
    factor = information.information_factor(written(found).array, uniform(60), ridge=1e-8)
    folded = design_problem(found, None, ridge=1e-8).arms.whitened(factor).written()
    twice = linalg.whiten(factor, found.at(np.arange(60)))
    np.testing.assert_allclose(linalg.squared_norms(folded), linalg.squared_norms(twice), rtol=1e-7)


def test_what_can_be_averaged_has_a_root_of_few_rows() -> None:
    found = stream(RBF(0.3), POINTS, tol=1e-3)
    mixture = np.random.default_rng(7).dirichlet(np.ones(60))
    roots = [average_problem(design_problem(each, None, ridge=0.1), mixture).root for each in (found, written(found))]
    assert len(roots[0]) <= found.rank
    np.testing.assert_allclose(roots[0].T @ roots[0], roots[1].T @ roots[1], atol=1e-12)


def test_an_arm_of_which_nothing_is_in_the_features_is_no_target() -> None:
    """Its prior variance is below the tolerance, and no pivot tells anything of it."""
    found = stream(None, np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 1.0]]))
    with pytest.raises(InputError, match=re.escape("targets[1] is zero: leave it out")):
        solve(found, ridge=0.1)
    assert solve(found, Subset([0, 2]), ridge=0.1).status is Status.CERTIFIED


def test_what_streamed_features_cannot_do_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = stream(RBF(0.3), POINTS, tol=1e-3)
    with pytest.raises(
        InputError, match=r"^targets is Pairs of streamed features, 60 points of which make 3,600 pairs"
    ):
        solve(found, Pairs(0.2), ridge=0.1)
    with pytest.raises(InputError, match=r"^ridge is 0.0: truncated features say nothing without one"):
        solve(found, ridge=0)
    exact = replace(found, residuals=np.zeros(60))
    with pytest.raises(InputError, match=r"^ridge is 0.0: streamed features need one: give a ridge > 0"):
        review(exact, None, uniform(60), uniform(60), ridge=0)
    with pytest.raises(InputError, match=r"^targets is with 2 columns: give \d+ columns, as many as the arms have$"):
        solve(found, np.eye(2), ridge=0.1)
    with pytest.raises(InputError, match=r"^weights is of shape \(3,\): give shape \(60,\)$"):
        certify(found, None, uniform(3), uniform(60), ridge=0.1)
    monkeypatch.setattr(costs, "LARGE", 1e4)
    with pytest.warns(CostWarning, match="an optimal design for 60 arms with .* features take about"):
        solve(found, ridge=0.1)
