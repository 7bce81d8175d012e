"""Compressed samples: their moments, where they lie, and what they do to estimates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superlevel.arrays import Array
from superlevel.robust import Grouped, Products, catoni, catoni_deviation, catoni_reach, compression, mean

from .laws import GAUSS, LAWS, SKEWED, STUDENT, Law, products


def moments(sample: Grouped, groups: int) -> Array:
    """(4, groups) sums of the powers 0 to 3 over each group."""
    weights = np.ones(len(sample.values)) if sample.weights is None else sample.weights
    return np.stack([np.bincount(sample.groups, weights * sample.values**k, minlength=groups) for k in range(4)])


@st.composite
def clumped(draw: st.DrawFn) -> Grouped:
    """Samples of three groups, many of them equal or nearly so."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(60, 400))
    places = rng.normal(size=draw(st.integers(1, 8)))
    spread = draw(st.sampled_from([0.0, 1e-15, 1e-9, 1e-6, 1e-3, 1.0]))
    values = rng.choice(places, size=count) + spread * rng.normal(size=count)
    return Grouped(values=values, groups=rng.integers(0, 3, count))


@given(clumped(), st.floats(1e-3, 0.3), st.sampled_from([1e-2, 1e-4, 1e-6]))
@settings(max_examples=300)
def test_nodes_keep_four_moments_and_stay_among_their_samples(sample: Grouped, reach: float, rtol: float) -> None:
    short = sample.compressed([reach] * 3, rtol=rtol)
    width = min(compression.width(sample.count, logarithm=np.log(2), rtol=rtol) / reach, np.ptp(sample.values))
    np.testing.assert_allclose(moments(short, 3), moments(sample, 3), rtol=1e-9, atol=1e-8)
    for group in range(3):
        some, nodes = sample.values[sample.groups == group], short.values[short.groups == group]
        if len(some):
            slack = 1e-5 * width + 1e-12
            assert some.min() - slack <= nodes.min()
            assert nodes.max() <= some.max() + slack
    if short is not sample:
        assert short.weights is not None
        assert (short.weights > 0).all()
        assert short.count == sample.count
        assert 2 * len(short.values) <= len(sample.values)


@given(st.lists(st.floats(-0.5, 0.5), min_size=2, max_size=30))
def test_the_two_nodes_of_a_bin_are_gauss_s(offsets: list[float]) -> None:
    """They integrate every cubic exactly, and lie in the bin."""
    x = np.array(offsets)
    average, variance = x.mean(), x.var()
    if variance <= compression.THIN:
        return
    up, share = compression._split(*(np.array([m]) for m in (average, variance, np.mean((x - average) ** 3))))
    nodes = np.concatenate([average + np.sqrt(variance) * up, average - np.sqrt(variance) / up])
    weights = np.concatenate([share, 1 - share])
    assert (np.abs(nodes) <= 0.5 + 1e-12).all()
    for power in range(4):
        assert weights @ nodes**power == pytest.approx(np.mean(x**power), abs=1e-12)


@pytest.mark.parametrize("middle", [-0.02, -0.003, 0.0, 0.007, 0.3, 2.0])
@pytest.mark.parametrize("half", [0.003, 0.01, 0.05])
def test_the_error_of_a_bin_is_at_most_what_its_width_allows(middle: float, half: float) -> None:
    """|mean of psi over a bin - over its nodes| <= half^4 / 32; the arcsine law has the nodes +- half / sqrt(2)."""
    assert arcsine_error(middle, half) <= half**4 / 32 * (1 + 1e-6) + 1e-16


def test_the_bound_of_a_bin_is_reached_up_to_a_small_factor() -> None:
    """The fourth derivative is 3 just right of zero, and the mean square of the polynomial half its largest."""
    assert 0.4 < arcsine_error(0.01, 0.01) / (0.01**4 / 32) <= 0.5


def arcsine_error(middle: float, half: float) -> float:
    angles = (np.arange(20_000) + 0.5) * np.pi / 20_000
    means = []
    for offsets in (np.cos(angles), np.sqrt(0.5) * np.array([-1.0, 1.0])):
        u = middle + half * offsets
        means.append(np.mean(np.sign(u) * np.log1p(np.abs(u) + u**2 / 2)))
    return float(abs(means[0] - means[1]))


# ------------------------------------------------------------------------------------- estimates


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("count", [50, 2000, 100_000])
@pytest.mark.parametrize("delta", [0.5, 1e-6])
@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_no_estimate_moves_by_more_than_was_asked(law: Law, count: int, delta: float, rtol: float) -> None:
    given_, variance = products(law, count=count, groups=5, directions=12)
    reach = catoni_reach(given_.factors, count=count, variance=variance, delta=delta)
    short = Products(factors=given_.factors, sample=given_.sample.compressed(reach, delta=delta, rtol=rtol))
    exact = catoni(given_, variance=variance, delta=delta, exact=True)
    moved = np.abs(catoni(short, variance=variance, delta=delta) - exact)
    assert (moved <= (rtol + 2e-10) * catoni_deviation(count, variance=variance, delta=delta)).all()
    np.testing.assert_allclose(mean(short), mean(given_), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("law", [GAUSS, STUDENT, SKEWED], ids=["gauss", "student", "skewed"])
def test_groups_may_differ_in_scale_and_place(law: Law) -> None:
    """Noise of 1e-3 to 1e3 about values of up to 1e6, factors that make up for some of it, and an empty group."""
    rng = np.random.default_rng(7)
    count, groups = 50_000, rng.choice([0, 1, 2, 4], 50_000)
    scales, places = np.array([1e-3, 1.0, 1e3, 1.0, 30.0]), np.array([2.0, 1e6, -1e4, 0.0, 0.0])
    sample = Grouped(values=places[groups] + scales[groups] * law.draw(rng, count), groups=groups)
    factors = rng.normal(size=(5, 10)) / (scales + np.abs(places))[:, None] * 10.0 ** rng.integers(-2, 3, (5, 10))
    z = factors[groups] * sample.values[:, None]
    variance, delta = z.var(axis=0) * 1.5, 1e-3
    given_ = Products(factors=factors, sample=sample)
    short = sample.compressed(catoni_reach(factors, count=count, variance=variance, delta=delta))
    assert len(short.values) < count / 20
    moved = catoni(given_, variance=variance, delta=delta) - catoni(z, variance=variance, delta=delta)
    assert (np.abs(moved) <= 1e-6 * catoni_deviation(count, variance=variance, delta=delta)).all()


def test_large_samples_become_few_and_a_smaller_delta_fewer() -> None:
    given_, variance = products(GAUSS, count=10**6, groups=20, directions=10)
    sizes = []
    for delta in (0.5, 1e-3, 1e-12):
        reach = catoni_reach(given_.factors, count=given_.count, variance=variance, delta=0.5)
        sizes.append(len(given_.sample.compressed(reach, delta=delta).values))
    assert 40 <= sizes[2] <= sizes[1] <= sizes[0] <= 1000
    assert len(given_.sample.compressed(reach).values) >= sizes[0]


def test_what_does_not_shrink_is_returned_as_it_is() -> None:
    rng = np.random.default_rng(8)
    few = Grouped(values=rng.normal(size=30), groups=np.arange(30) % 10)
    wide = Grouped(values=1e6 * rng.normal(size=1000), groups=np.zeros(1000, dtype=int))
    assert few.compressed(np.full(10, 0.1)) is few
    assert wide.compressed([1.0]) is wide
    short = Grouped(values=rng.normal(size=1000), groups=np.zeros(1000, dtype=int)).compressed([0.05])
    assert short.weights is not None
    assert short.compressed([1e-3]) is short


def test_samples_far_from_the_others_stay_as_they_are() -> None:
    rng = np.random.default_rng(9)
    values = np.append(rng.normal(size=5000), [1e3, -2e9, 1e90])
    sample = Grouped(values=values, groups=rng.integers(0, 2, 5003))
    short = sample.compressed([0.01, 0.01])
    assert short.weights is not None
    assert len(short.values) < 1000
    for value in (1e3, -2e9, 1e90):
        assert short.weights[short.values == value].tolist() == [1.0]


def test_a_group_that_no_direction_sees_may_have_the_reach_zero() -> None:
    sample = Grouped(values=np.random.default_rng(10).normal(size=400), groups=np.arange(400) % 2)
    short = sample.compressed([0.0, 0.01], rtol=1e-3)
    assert short.count == 400
    np.testing.assert_allclose(moments(short, 2), moments(sample, 2))
    assert np.count_nonzero(short.groups == 0) <= 6


@pytest.mark.parametrize("block", [7, 100, 2**16])
def test_blocks_do_not_change_the_nodes(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given_, _ = products(STUDENT, count=3000, groups=3, directions=2)
    whole = given_.sample.compressed([0.01] * 3, rtol=1e-4)
    monkeypatch.setattr(compression, "SMALLEST_BLOCK", block)
    monkeypatch.setattr(compression, "LARGEST_BLOCK", block)
    parts = given_.sample.compressed([0.01] * 3, rtol=1e-4)
    np.testing.assert_allclose(parts.values, whole.values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(parts.weights, whole.weights, rtol=1e-9)  # type: ignore[arg-type]
