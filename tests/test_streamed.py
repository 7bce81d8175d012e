"""Features that are computed when they are needed, against the kernel matrix and against the array of `embed`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from superlevel import costs, passes, streamed
from superlevel.errors import CostWarning, InputError
from superlevel.features import embed, stream
from superlevel.streamed import Streamed

from .test_features import KERNELS, kernels, points

Array = NDArray[np.float64]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and samples of which 120 points need several."""
    monkeypatch.setattr(streamed, "PART", 17)
    monkeypatch.setattr(streamed, "SAMPLE", 25)


def check(found: Streamed, kernel: Any, at: Array, *, tol: float) -> None:
    """Everything that a record of streamed features promises, from the whole kernel matrix."""
    matrix, everyone = np.asarray(kernel(at)), np.arange(len(at))
    scale = float(np.diag(matrix).max())
    rounding = 1e-9 * scale  # the factor's condition is up to scale / tol
    array = found.at(everyone)
    assert array.shape == (len(at), found.rank)
    assert found.residual == found.residuals.max()
    assert found.residual <= max(tol, rounding)
    assert (found.residuals >= 0).all()
    missed = matrix - array @ array.T
    np.testing.assert_allclose(np.diag(missed), found.residuals, atol=rounding)
    np.testing.assert_allclose(np.square(array).sum(axis=1), found.squares, atol=rounding)
    allowed = np.sqrt(np.outer(found.residuals, found.residuals))
    assert (np.abs(missed) <= allowed + rounding).all()
    assert len(set(found.pivots.tolist())) == len(found.pivots) == found.rank
    np.testing.assert_allclose(found.factor, np.tril(found.factor))
    among = matrix[np.ix_(found.pivots, found.pivots)]
    np.testing.assert_allclose(found.factor @ found.factor.T, among, atol=rounding)


@pytest.mark.usefixtures("short")
@kernels
@pytest.mark.parametrize("tol", [1e-8, 1e-3])
def test_the_kernel_comes_back_up_to_the_residual(kernel: Any, tol: float) -> None:
    at = points(120)
    scaled = tol * float(kernel.diag(at).max())
    check(stream(kernel, at, tol=scaled), kernel, at, tol=scaled)


@pytest.mark.usefixtures("short")
@kernels
def test_without_tolerance_the_kernel_comes_back(kernel: Any) -> None:
    at = points(60)
    check(stream(kernel, at, tol=0), kernel, at, tol=0)


@given(st.integers(1, 40), st.integers(0, 2**31), st.sampled_from(sorted(KERNELS)), st.sampled_from([0, 1e-6, 1e-2]))
@settings(deadline=None, max_examples=60)
def test_points_may_be_few_repeated_or_all_the_same(count: int, seed: int, name: str, tol: float) -> None:
    rng = np.random.default_rng(seed)
    distinct = rng.random((int(rng.integers(1, count + 1)), 2))
    at, kernel = distinct[rng.integers(len(distinct), size=count)], KERNELS[name]
    scaled = tol * float(kernel.diag(at).max())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamed, "PART", 7)
        patch.setattr(streamed, "SAMPLE", 5)
        found = stream(kernel, at, tol=scaled)
    check(found, kernel, at, tol=scaled)
    if "white" not in name and name != "sum-of-three":  # noise tells equal points apart
        assert found.rank <= len(distinct)


def test_one_point() -> None:
    found = stream(RBF(0.1), [[0.3, 0.4]])
    np.testing.assert_allclose(found.at(np.array([0])), [[1.0]])
    assert found.residual == 0
    assert found.pivots.tolist() == [0]
    assert found.passes == 1


def test_one_sample_gives_the_features_of_embed() -> None:
    """Up to the largest sample every point is in it: pivots are then the same, and so are the features."""
    at = points(300)
    found, whole = stream(RBF(0.1), at, tol=1e-4), embed(RBF(0.1), at, tol=1e-4)
    np.testing.assert_array_equal(found.pivots, whole.pivots)
    np.testing.assert_allclose(found.at(np.arange(300)), whole.array, atol=1e-10)
    np.testing.assert_allclose(found.residuals, whole.residuals, atol=1e-12)
    assert found.passes == 1


@pytest.mark.usefixtures("short")
def test_points_outside_the_sample_get_pivots_of_their_own() -> None:
    """Far from all others, few points: no sample is sure to have them."""
    far = np.vstack([points(400), 50.0 + points(3, seed=1)])
    found = stream(RBF(0.3), far, tol=1e-3)
    assert found.residual <= 1e-3
    assert (found.pivots >= 400).any()
    assert found.passes == 2
    assert found.rank <= 1.3 * embed(RBF(0.3), far, tol=1e-3).rank


@pytest.mark.usefixtures("short")
def test_a_pivot_has_the_features_of_its_own_noise() -> None:
    """A WhiteKernel is on the diagonal alone, also where two points are equal."""
    at = np.vstack([points(30), points(30)[:5]])
    kernel = RBF(0.2) + WhiteKernel(0.3)
    found = stream(kernel, at, tol=1e-9)
    assert found.rank == 35
    some = np.array([3, 33, 20, 30])
    np.testing.assert_allclose(found.at(some) @ found.at(some).T, kernel(at)[np.ix_(some, some)], atol=1e-12)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("max_rank", [1, 30, 60, 5000])
def test_the_rank_can_be_limited(max_rank: int) -> None:
    at = points(200)
    limited = stream(RBF(0.1), at, tol=1e-3, max_rank=max_rank)
    assert limited.rank <= max_rank
    assert (limited.residual > 1e-3) == (limited.rank == max_rank)
    check(limited, RBF(0.1), at, tol=1.0)


def test_linear_features_are_the_points() -> None:
    at = points(50)
    found = stream(None, at)
    np.testing.assert_array_equal(found.at(np.array([4, 2])), at[[4, 2]])
    assert (found.rank, found.residual, found.passes) == (2, 0.0, 0)


@pytest.mark.usefixtures("short")
def test_features_do_not_depend_on_the_threads() -> None:
    at = points(200)
    first = stream(RBF(0.1), at, tol=1e-4)
    with passes.running(lambda jobs, function: map(function, jobs)):
        again = stream(RBF(0.1), at, tol=1e-4)
    np.testing.assert_array_equal(first.residuals, again.residuals)
    np.testing.assert_array_equal(first.pivots, again.pivots)


@pytest.mark.parametrize(
    ("given_", "sentence"),
    [
        ({"tol": -1.0}, "tol is -1.0: give a number >= 0"),
        ({"max_rank": 0}, "max_rank is 0: give a whole number >= 1"),
        ({"points": [1.0, 2.0]}, "points is of shape (2,): give a 2-d array"),
        ({"tol": 2.0}, "kernel is at most tol on every point: give a tol below 1"),
    ],
)
def test_what_gives_no_features_is_named(given_: dict[str, Any], sentence: str) -> None:
    arguments = {"kernel": RBF(0.1), "points": points(5), **given_}
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        stream(**arguments)


def test_many_features_are_announced_and_too_many_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "LARGE", 1e5)
    with pytest.warns(CostWarning, match=r"streamed features on 2,000 points take about .* larger tol, a max_rank"):
        stream(RBF(0.1), points(2000), tol=1e-2)
    monkeypatch.setattr(costs, "memory", lambda: 1e6)
    with pytest.raises(InputError, match=r"^points is too large for this machine"):
        stream(RBF(0.001), points(2000), tol=1e-6)
