"""Coordinates: without a ridge the answer does not depend on them, and what is out of reach is named."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superlevel.design import Pairs, Rows, solve
from superlevel.design.basis import Span, basis
from superlevel.errors import InputError

from .oracle import Array, pairs


def low_rank(n: int, r: int, rank: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, r))


@given(st.integers(1, 12), st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**31))
@settings(deadline=None)
def test_without_a_ridge_the_arms_are_orthonormal_and_come_back(n: int, r: int, rank: int, seed: int) -> None:
    arms = low_rank(n, r, rank, seed)
    span = basis(arms, 0.0)
    assert isinstance(span, Span)
    k = min(n, r, rank)
    assert span.arms.shape == (n, k)
    np.testing.assert_allclose(span.arms.T @ span.arms, np.eye(k), atol=1e-10)
    np.testing.assert_allclose(span.arms @ span.triangle, arms[:, span.order], atol=1e-10)


@given(st.integers(1, 12), st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**31))
@settings(deadline=None)
def test_what_the_arms_reach_is_expressed_exactly(n: int, r: int, rank: int, seed: int) -> None:
    arms = low_rank(n, r, rank, seed)
    span = basis(arms, 0.0)
    assert isinstance(span, Span)
    rows = np.random.default_rng(seed + 1).normal(size=(4, n)) @ arms
    coordinates = span.express("targets", rows)
    np.testing.assert_allclose(coordinates @ span.triangle, rows[:, span.order], atol=1e-8 * np.abs(rows).max())
    np.testing.assert_allclose(span.express("targets", arms), span.arms, atol=1e-6)


def test_with_a_ridge_coordinates_stay_as_given() -> None:
    arms = low_rank(5, 4, 2, 0)
    given_ = basis(arms, 0.1)
    assert given_.arms is arms
    rows = np.eye(4)
    assert given_.express("targets", rows) is rows


@pytest.mark.parametrize("ridge", [0, 0.1])
def test_rows_have_as_many_columns_as_the_arms(ridge: float) -> None:
    sentence = "targets is with 3 columns: give 4 columns, as many as the arms have"
    with pytest.raises(InputError, match="^" + re.escape(sentence) + "$"):
        basis(low_rank(5, 4, 4, 0), ridge).express("targets", np.ones((2, 3)))


def test_without_a_ridge_only_the_span_matters() -> None:
    """Columns may be mixed by any invertible matrix, and repeated: v' A^-1 v stays."""
    rng = np.random.default_rng(1)
    arms, vectors = rng.normal(size=(20, 3)), rng.normal(size=(6, 3))
    plain = solve(arms, vectors, ridge=0, rtol=1e-7).value
    for mixing in (rng.normal(size=(3, 3)), rng.normal(size=(3, 7)), np.diag([1.0, 1e-5, 1e5])):
        other = solve(arms @ mixing, vectors @ mixing, ridge=0, rtol=1e-7)
        assert other.value == pytest.approx(plain, rel=1e-6)


def test_pairs_are_expressed_with_their_arms() -> None:
    arms = low_rank(12, 5, 3, 2)
    by_pairs = solve(arms, Pairs(0.4), ridge=0, rtol=1e-6)
    written = solve(arms, pairs(arms, 0.4), ridge=0, rtol=1e-6)
    assert by_pairs.value == pytest.approx(written.value, rel=2e-6)


@pytest.mark.parametrize("which", [0, 2])
def test_a_target_that_no_arm_reaches_is_named(which: int) -> None:
    arms = np.eye(4)[:3]
    rows = np.ones((3, 4)) * [1, 1, 1, 0]
    rows[which, 3] = 1e-3
    sentence = (
        f"targets[{which}] is outside the span of the arms: with ridge = 0 no measurement reaches it: "
        "give a ridge > 0, add arms or leave that target out"
    )
    for targets in (rows, Rows(rows, np.full(3, 1e-6))):
        with pytest.raises(InputError, match="^" + re.escape(sentence) + "$"):
            solve(arms, targets, ridge=0)
        assert np.isfinite(solve(arms, targets, ridge=1e-3).value)


def test_rounding_is_not_out_of_reach() -> None:
    arms = low_rank(20, 6, 3, 3)
    rows = np.random.default_rng(4).normal(size=(5, 20)) @ arms
    rows += 1e-13 * np.random.default_rng(5).normal(size=rows.shape)
    assert solve(arms, rows, ridge=0).gap <= 0.01
