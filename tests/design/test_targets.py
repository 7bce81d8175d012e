"""Rows, subsets and pairs: each against the same directions written out."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from superlevel.arrays import Mask
from superlevel.design import Pairs, Rows, Status, Subset, certify, solve, targets
from superlevel.design.arms import Root, Written
from superlevel.design.basis import basis
from superlevel.design.information import Whitened
from superlevel.design.targets import as_dual, as_targets, from_dual, spread
from superlevel.errors import InputError

from .oracle import Array, Instance, pairs, rounding, small_instances

EYE = np.eye(3)
NONE = np.zeros(3, dtype=bool)
ARMS = np.random.default_rng(0).normal(size=(30, 4))


def options(count: int, *, masked: bool, scaled: bool) -> tuple[Mask, Array]:
    """A mask and scales for count arms."""
    rng = np.random.default_rng(1)
    mask = rng.random((count, count)) < (0.4 if masked else 2)
    return mask, rng.uniform(0.3, 3, size=(count, count)) if scaled else np.ones((count, count))


# ------------------------------------------------------------------------------------------ pairs


@pytest.mark.parametrize("epsilon", [0.2, 0.7])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("ridge", [0, 0.05])
def test_pairs_are_their_directions_written_out(epsilon: float, masked: bool, scaled: bool, ridge: float) -> None:
    mask, scales = options(30, masked=masked, scaled=scaled)
    rows = (pairs(ARMS, epsilon) / scales.reshape(-1, 1))[mask.ravel()]
    short = Pairs(epsilon, mask if masked else None, scales if scaled else None)
    design, written = solve(ARMS, short, ridge=ridge, rtol=1e-5), solve(ARMS, rows, ridge=ridge, rtol=1e-5)
    assert design.status is written.status is Status.CERTIFIED
    assert design.value == pytest.approx(written.value, rel=2e-5)
    assert design.lower_bound <= written.value
    assert written.lower_bound <= design.value
    assert design.value == pytest.approx(Instance(arms=ARMS, rows=rows, ridge=ridge).value(design.weights), rel=1e-9)
    proof = design.dual.toarray().ravel()[mask.ravel()]
    assert certify(ARMS, rows, design.weights, proof, ridge=ridge) == pytest.approx(design.lower_bound, rel=1e-9)


def test_a_cone_solver_agrees_on_pairs() -> None:
    arms = ARMS[:7, :2]
    optimum = Instance(arms=arms, rows=pairs(arms, 0.3), ridge=0.1).optimum()
    design = solve(arms, Pairs(0.3), ridge=0.1, rtol=1e-6)
    assert design.lower_bound <= optimum * (1 + 1e-7)
    assert optimum * (1 - 1e-7) <= design.value <= optimum * (1 + 1.1e-6)


@pytest.mark.parametrize("masked", [False, True])
def test_the_dual_of_pairs_is_sparse_and_on_the_mask(masked: bool) -> None:
    mask, _ = options(30, masked=masked, scaled=False)
    design = solve(ARMS, Pairs(0.3, mask), ridge=0.1, rtol=1e-3)
    assert sparse.issparse(design.dual)
    assert design.dual.shape == (30, 30)
    assert design.dual.sum() == pytest.approx(1)
    assert design.dual.data.min() >= 0
    assert not design.dual.toarray()[~mask].any()


@pytest.mark.parametrize("block", [1, 7, 29, 30, 60, 100, 10**6])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_variances_of_pairs_do_not_depend_on_the_blocks(
    block: int, masked: bool, scaled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worst pair of each x and of each x' is among what is returned, at its dense value."""
    monkeypatch.setattr(import_module("superlevel.design.targets"), "BLOCK", block)  # the function hides it
    mask, scales = options(30, masked=masked, scaled=scaled)
    mask[4] = mask[:, 9] = False  # an x and an x' without any pair
    bound = as_targets(Pairs(0.3, mask, scales), basis(ARMS, 1.0))
    arms, nothing = Written(ARMS), Root(matrix=np.zeros((1, 4)), lower=False)
    seen = bound.view(Whitened(factor=np.eye(4, order="F"), arms=arms)).variances(arms.look(nothing))
    dense = (pairs(ARMS, 0.3) ** 2).sum(axis=1).reshape(30, 30) / scales**2
    np.testing.assert_allclose(seen.values, dense.ravel()[seen.positions])
    assert mask.ravel()[seen.positions].all()
    masked_out = np.where(mask, dense, -np.inf)
    found = np.full((30, 30), -np.inf)
    found.ravel()[seen.positions] = seen.values
    np.testing.assert_allclose(found.max(axis=1), masked_out.max(axis=1))
    np.testing.assert_allclose(found.max(axis=0), masked_out.max(axis=0))


def test_the_pairs_to_begin_with_differ_in_both_points() -> None:
    arms = np.random.default_rng(2).normal(size=(200, 3))
    positions = as_targets(Pairs(0.3), basis(arms, 1.0)).some(20)
    first, second = np.divmod(positions, 200)
    assert 15 <= len(positions) <= 30
    assert len(set(first)) == len(first)
    assert len(set(second)) >= len(second) / 2


@pytest.mark.parametrize("masked", [False, True])
def test_few_pairs_are_all_begun_with(masked: bool) -> None:
    mask, _ = options(6, masked=masked, scaled=False)
    positions = as_targets(Pairs(0.3, mask), basis(ARMS[:6], 1.0)).some(36)
    np.testing.assert_array_equal(positions, np.flatnonzero(mask))


@pytest.mark.parametrize("ridge", [0, 1e-3, 0.1])
@pytest.mark.parametrize("epsilon", [0.05, 0.2, 0.7])
@pytest.mark.parametrize("order", [[0, 1, 0], [0, 0, 1], [0, 1, 0, 1], [1, 0, 0, 0]])
def test_points_of_pairs_may_be_equal(order: list[int], epsilon: float, ridge: float) -> None:
    """Then some pairs are short, epsilon phi(x), and a solver that begins with them begins far away."""
    arms = np.eye(2)[order]
    design = solve(arms, Pairs(epsilon), ridge=ridge, rtol=1e-3)
    # The pair of two different points is worst, at s = (1 + (1 - eps)^2) / (1/2 + ridge) by symmetry.
    assert design.status is Status.CERTIFIED
    assert design.value == pytest.approx((1 + (1 - epsilon) ** 2) / (0.5 + ridge), rel=1.1e-3)


@given(small_instances(), st.sampled_from([0.05, 0.2, 0.7, 0.95]), st.sampled_from([0.1, 1e-4]))
@settings(deadline=None, max_examples=100)
def test_an_answer_for_pairs_is_what_it_says(instance: Instance, epsilon: float, rtol: float) -> None:
    arms, ridge, slack = instance.arms, instance.ridge, 10 * rounding(instance)
    design = solve(arms, Pairs(epsilon), ridge=ridge, rtol=rtol)
    written = replace(instance, rows=pairs(arms, epsilon))
    written = replace(written, rows=written.rows[written.rows.any(axis=1)])
    assert (design.weights >= 0).all()
    assert design.weights.sum() == pytest.approx(1, abs=1e-12)
    assert design.dual.sum() == pytest.approx(1, abs=1e-12)
    assert design.value == pytest.approx(written.value(design.weights), rel=slack)
    assert (design.status is Status.CERTIFIED) == (design.gap <= rtol)
    again = certify(arms, Pairs(epsilon), design.weights, design.dual, ridge=ridge)
    assert again == pytest.approx(design.lower_bound, rel=slack)
    assert design.lower_bound <= solve(arms, written.rows, ridge=ridge, rtol=0.1).value * (1 + slack)


def test_the_pairs_to_begin_with_are_on_the_mask() -> None:
    mask, _ = options(30, masked=True, scaled=False)
    mask[3] = False
    positions = as_targets(Pairs(0.3, mask), basis(ARMS, 1.0)).some(8)
    assert mask.ravel()[positions].all()
    assert (np.diff(positions) > 0).all()


@pytest.mark.parametrize(
    ("arms", "mask"),
    [
        ([[0.0], [1.0]], [[True, False], [False, False]]),
        ([[0.75], [1.0]], [[False, True], [False, False]]),
        ([[0.0], [0.0], [1.0]], [[True, True, False], [True, True, False], [False, False, False]]),
    ],
    ids=["a-zero-arm", "parallel-arms", "two-zero-arms"],
)
def test_pairs_that_are_all_zero_are_named(arms: Any, mask: Any) -> None:
    """0.75 - (1 - 0.25) 1 is nothing to measure; as for rows, that is an error in a sentence."""
    with pytest.raises(InputError, match="zero"):
        solve(arms, Pairs(0.25, mask), ridge=1.0)


# --------------------------------------------------------------------------------- rows and subsets


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("ridge", [0, 0.05])
def test_subsets_are_their_arms_written_out(scaled: bool, ridge: float) -> None:
    rng = np.random.default_rng(3)
    mask, scales = rng.random(30) < 0.4, rng.uniform(0.3, 3, 30) if scaled else np.ones(30)
    rows = (ARMS / scales[:, None])[mask]
    written = solve(ARMS, rows, ridge=ridge, rtol=1e-6)
    for some in (mask, np.flatnonzero(mask), list(np.flatnonzero(mask)[::-1])):
        design = solve(ARMS, Subset(some, scales if scaled else None), ridge=ridge, rtol=1e-6)
        assert design.value == pytest.approx(written.value, rel=2e-6)
        assert design.dual.shape == (30,)
        assert not design.dual[~mask].any()
        assert design.value == pytest.approx(Instance(arms=ARMS, rows=rows, ridge=ridge).value(design.weights))


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("ridge", [0, 0.05])
def test_masked_rows_do_not_count(scaled: bool, ridge: float) -> None:
    rng = np.random.default_rng(4)
    vectors, mask, scales = rng.normal(size=(12, 4)), rng.random(12) < 0.5, rng.uniform(0.3, 3, 12)
    scales = scales if scaled else np.ones(12)
    vectors[~mask] *= 100
    design = solve(ARMS, Rows(vectors, scales if scaled else None, mask), ridge=ridge, rtol=1e-6)
    rows = (vectors / scales[:, None])[mask]
    assert design.value == pytest.approx(solve(ARMS, rows, ridge=ridge, rtol=1e-6).value, rel=2e-6)
    assert design.dual.shape == (12,)
    assert not design.dual[~mask].any()


def test_a_masked_row_may_be_zero() -> None:
    design = solve(EYE, Rows(np.diag([1.0, 0.0, 0.0]), mask=[True, False, False]), ridge=0)
    assert design.value == pytest.approx(1, rel=0.01)


def test_a_masked_row_may_lie_outside_the_span_of_the_arms() -> None:
    """It does not count, as a masked zero does not."""
    design = solve([[1.0, 0.0]], Rows([[1.0, 0.0], [0.0, 1.0]], mask=[True, False]), ridge=0)
    assert design.value == pytest.approx(1)


# ---------------------------------------------------------------------------------------- helpers


@given(st.integers(1, 60), st.integers(1, 40), st.integers(0, 2**31))
@settings(deadline=None)
def test_spread_takes_about_as_many_as_asked_the_first_ones_first(count: int, wanted: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    positions = np.flatnonzero(rng.random(count) < 0.7)
    first = rng.permutation(count)[: rng.integers(0, count + 1)]
    some = spread(positions, wanted, first)
    assert np.isin(some, positions).all()
    assert (np.diff(some) > 0).all()
    if len(positions) <= wanted:
        np.testing.assert_array_equal(some, positions)
    assert min(wanted, len(positions)) / 2 <= len(some) <= 1.5 * wanted
    assert np.isin([i for i in first if i in positions][:wanted], some).all()


@given(st.integers(1, 8), st.booleans(), st.integers(0, 2**31))
@settings(deadline=None)
def test_a_mixture_survives_the_form_in_which_users_see_it(count: int, paired: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    bound = as_targets(Pairs(0.5) if paired else None, basis(rng.normal(size=(count, 2)), 1.0))
    positions = np.flatnonzero(rng.random(bound.mask.size) < 0.6)
    weights = rng.random(len(positions)) + 0.1
    back, mixture = from_dual(bound, as_dual(bound, positions, weights))
    np.testing.assert_array_equal(back, positions)
    np.testing.assert_array_equal(mixture, weights)


# ---------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("aims", "sentence"),
    [
        (Pairs(0), "epsilon is 0: give a number > 0 and < 1"),
        (Pairs(1), "epsilon is 1: give a number > 0 and < 1"),
        (Pairs(-0.1), "epsilon is -0.1: give a number > 0 and < 1"),
        (Pairs(1.5), "epsilon is 1.5: give a number > 0 and < 1"),
        (Pairs(np.nan), "epsilon is nan: give a number > 0 and < 1"),
        (Pairs(0.5, np.ones(3, dtype=bool)), "mask is of shape (3,): give shape (3, 3)"),
        (Pairs(0.5, np.zeros((3, 3), dtype=bool)), "mask is False everywhere: leave at least one target"),
        (Pairs(0.5, EYE), "mask is of type float64: give booleans"),
        (Pairs(0.5, scales=-EYE), "scales[0, 0] is -1.0: give finite numbers > 0"),
        (Pairs(0.5, scales=EYE), "scales[0, 1] is 0.0: give finite numbers > 0"),
        (Pairs(0.5, scales=[1.0, 1.0, 1.0]), "scales is of shape (3,): give shape (3, 3)"),
        (Subset(NONE), "mask is False everywhere: leave at least one target"),
        (Subset([True, False]), "mask is of shape (2,): give shape (3,)"),
        (Subset([0.5, 1.0]), "mask is of type float64 and shape (2,): give booleans or positions"),
        (Subset([0, 3]), "mask is up to 3: give positions from 0 to 2"),
        (Subset([[0, 1]]), "mask is of type int64 and shape (1, 2): give booleans or positions"),
        (Subset(scales=[1.0, 0.0, 1.0]), "scales[1] is 0.0: give finite numbers > 0"),
        (Subset(scales=[1.0, 1.0, np.inf]), "scales[2] is inf: give finite numbers > 0"),
        (Rows(EYE, mask=NONE), "mask is False everywhere: leave at least one target"),
        (Rows(EYE, mask=[0, 1, 1]), "mask is of type int64: give booleans"),
        (Rows(EYE, mask=[True]), "mask is of shape (1,): give shape (3,)"),
        (Rows(EYE, [1.0, -2.0, 1.0]), "scales[1] is -2.0: give finite numbers > 0"),
        (Rows(EYE, [1.0]), "scales is of shape (1,): give shape (3,)"),
        (Rows(EYE, [1.0, np.nan, 1.0]), "scales[1] is nan: give finite numbers > 0"),
        (Rows([EYE[0], 0 * EYE[0]]), "targets[1] is zero: leave it out: its value is known without measuring"),
    ],
)
@pytest.mark.parametrize("ridge", [0, 0.1])
def test_bad_targets_are_named(aims: Any, ridge: float, sentence: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(sentence) + "$"):
        solve(EYE, aims, ridge=ridge)


def test_pairs_of_zero_arms_are_named() -> None:
    with pytest.raises(InputError, match=r"^arms is zero everywhere: "):
        solve(np.zeros((3, 2)), Pairs(0.5), ridge=1.0)


def test_a_subset_without_arms_is_named() -> None:
    with pytest.raises(InputError, match=r"^mask is empty: leave at least one target$"):
        solve(ARMS, Subset([]), ridge=1.0)


def test_zero_pairs_to_begin_with_do_not_hide_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The active set is then nothing to measure, but the problem is not."""
    arms = np.array([[0.75, 0.0], [1.0, 0.0], [0.0, 1.0]])  # (0, 1) is zero at epsilon 0.25
    whole = solve(arms, Pairs(0.25), ridge=0.1, rtol=1e-6)
    kind = type(as_targets(Pairs(0.25), basis(arms, 0.1)))
    monkeypatch.setattr(kind, "some", lambda *_: np.array([1]))
    begun = solve(arms, Pairs(0.25), ridge=0.1, rtol=1e-6)
    assert begun.value == pytest.approx(whole.value, rel=2e-6)
    assert begun.status.value == "certified"


# ---------------------------------------------------------------------------- directions by a share


@pytest.mark.parametrize("share", [0.0, 0.6])
@pytest.mark.parametrize("scaled", [False, True])
def test_a_share_says_whether_targets_are_points_or_pairs(share: float, scaled: bool) -> None:
    """Against the directions f(x) - share f(x') written out. Scales outside the mask may be anything."""
    mask, scales = options(30, masked=True, scaled=scaled)
    rows = pairs(ARMS, 1 - share)
    if share == 0:
        mask, scales, rows = mask[0], scales[0], ARMS
    given_scales = np.where(mask, scales, 0.0) if scaled else None
    found = targets(share, mask, given_scales)
    assert isinstance(found, Subset if share == 0 else Pairs)
    written = (rows / scales.reshape(-1, 1))[mask.ravel()]
    design = solve(ARMS, found, ridge=0.1, rtol=1e-4)
    assert design.value == pytest.approx(Instance(arms=ARMS, rows=written, ridge=0.1).value(design.weights), rel=1e-9)


@pytest.mark.parametrize("share", [-0.1, 1.0, np.nan])
def test_a_share_that_is_none_is_named(share: float) -> None:
    with pytest.raises(InputError, match=r"^share is "):
        targets(share, np.ones(3, dtype=bool))
