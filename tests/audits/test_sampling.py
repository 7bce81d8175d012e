"""Chances and draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chisquare

import superlevel as sl
from superlevel.arrays import Array
from superlevel.audits import chances, draw
from superlevel.audits.betting import LOG_WEIGHTS, SHARES
from superlevel.audits.sampling import DOUBTFUL

DOUBTS = arrays(np.float64, st.integers(1, 30), elements=st.floats(0.0, 1.0))


@given(DOUBTS, st.data())
def test_chances_are_a_distribution_on_the_mask_with_a_small_spread(doubt: Array, data: st.DataObject) -> None:
    mask = data.draw(arrays(np.bool_, doubt.shape).filter(lambda m: bool(m.any())))
    q = chances(doubt, mask)
    assert q.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(q > 0, mask)
    assert (1 / (mask.sum() * q[mask])).max() <= 1 / (1 - DOUBTFUL) + 1e-9


@given(DOUBTS)
def test_more_doubt_is_drawn_more_often(doubt: Array) -> None:
    q = chances(doubt)
    order = np.argsort(doubt)
    assert (np.diff(q[order]) >= -1e-12).all()


def test_equal_doubt_and_no_doubt_are_uniform() -> None:
    np.testing.assert_allclose(chances(np.full(4, 0.3)), 0.25)
    np.testing.assert_allclose(chances(np.zeros(4)), 0.25)
    mask = np.array([True, False, True])
    np.testing.assert_allclose(chances(np.array([0.0, 0.9, 0.0]), mask), [0.5, 0.0, 0.5])


def test_no_other_mixture_with_the_uniform_has_less_variance_in_its_limit() -> None:
    """The part that follows the doubt minimises sum e / q: two roads, by the formula and by trying others."""
    rng = np.random.default_rng(0)
    doubt = rng.random(6)
    best = (chances(doubt) - (1 - DOUBTFUL) / 6) / DOUBTFUL
    least = (doubt / best).sum()
    assert least == pytest.approx(np.sqrt(doubt).sum() ** 2)
    assert all((doubt / other).sum() >= least for other in rng.dirichlet(np.ones(6), size=200))


def test_draws_follow_the_chances() -> None:
    q = np.array([0.1, 0.0, 0.4, 0.5])
    points = draw(q, 20_000, np.random.default_rng(3))
    counts = np.bincount(points, minlength=4)
    assert counts[1] == 0
    assert chisquare(counts[q > 0], 20_000 * q[q > 0]).pvalue > 1e-3
    assert points.dtype == np.int64


def test_draws_depend_on_the_generator_alone() -> None:
    q = np.full(50, 0.02)
    np.testing.assert_array_equal(draw(q, 9, np.random.default_rng([1, 2])), draw(q, 9, np.random.default_rng([1, 2])))


def test_one_point_is_always_drawn() -> None:
    assert draw(chances(np.array([0.2])), 3, np.random.default_rng(0)).tolist() == [0, 0, 0]


def test_the_usual_bets_without_replacement_are_not_valid_with_noise() -> None:
    """Why draws are with replacement: the bets take X for a fixed number of each point."""
    rng = np.random.default_rng(6)
    n, runs, delta = 50, 400, 0.05
    p = np.where(np.arange(n) < 20, 0.5, 0.0)  # 20 wrong labels, each shown by half of its measurements
    order = rng.permuted(np.tile(np.arange(n), (runs, 1)), axis=1)
    seen = (rng.random((runs, n)) < p[order]).astype(float)
    before = np.column_stack([np.zeros(runs), seen.cumsum(axis=1)[:, :-1]])
    left = np.clip((p.sum() - before) / (n - np.arange(n)), 0.0, 1 - 1e-9)
    factors = 1 - SHARES + SHARES * ((1 - seen) / (1 - left))[..., None]
    paths = np.log(np.maximum(factors, 1e-300)).cumsum(axis=1) + LOG_WEIGHTS
    failed = (np.logaddexp.reduce(paths, axis=2) >= -np.log(delta)).any(axis=1)
    assert failed.mean() > 5 * delta


def test_what_cannot_be_drawn_from_is_refused() -> None:
    with pytest.raises(sl.InputError, match="mask is empty: give at least one point to audit"):
        chances(np.zeros(3), np.zeros(3, dtype=bool))
    with pytest.raises(sl.InputError, match="doubt is empty: give at least one point to audit"):
        chances(np.empty(0))
    with pytest.raises(sl.InputError, match=r"doubt\[1\] is 1.5: give probabilities, from 0 to 1"):
        chances(np.array([0.5, 1.5]))
    with pytest.raises(sl.InputError, match=r"mask is of shape \(2,\): give shape \(3,\)"):
        chances(np.zeros(3), np.ones(2, dtype=bool))
    with pytest.raises(sl.InputError, match="size is 0: give a whole number >= 1"):
        draw(np.ones(1), 0, np.random.default_rng(0))
    with pytest.raises(sl.InputError, match=r"chances is of sum 0.5"):
        draw(np.array([0.25, 0.25]), 5, np.random.default_rng(0))
