"""Features against the kernel matrix that they never form."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Kernel,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

from superlevel import pivoted_cholesky
from superlevel.errors import InputError
from superlevel.features import Features, embed, tolerance

Array = NDArray[np.float64]

KERNELS = {
    "rbf": RBF(0.2),
    "rbf-wide": RBF(5.0),
    "rbf-anisotropic": RBF([0.1, 2.0]),
    "matern-rough": Matern(0.3, nu=0.5),
    "constant-matern": ConstantKernel(2.5) * Matern(0.3, nu=1.5),
    "tiny": ConstantKernel(1e-5) * RBF(0.3),
    "large": ConstantKernel(1e6) * RBF(0.3),
    "white": RBF(0.2) + WhiteKernel(0.1),
    "faint-white": RBF(0.2) + WhiteKernel(1e-9),
    "sum-of-three": RBF(0.5) + 0.3 * RBF(0.1) + WhiteKernel(0.01),
    "rational": RationalQuadratic(),
    "polynomial": DotProduct() ** 2,
    "constant": ConstantKernel(3.0),
}
kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


def points(count: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).random((count, 2))


def check(features: Features, kernel: Any, at: Array, *, tol: float) -> None:
    """Everything a record of features promises."""
    matrix = np.asarray(kernel(at))
    scale = float(np.diag(matrix).max())
    rounding = 1e-12 * len(at) * scale
    missed = matrix - features.array @ features.array.T
    assert (features.residuals >= 0).all()
    assert features.residual == features.residuals.max()
    assert features.residual <= max(tol, rounding)
    np.testing.assert_allclose(np.diag(missed), features.residuals, atol=rounding)
    allowed = np.sqrt(np.outer(features.residuals, features.residuals))
    assert (np.abs(missed) <= allowed + rounding).all()
    assert np.linalg.eigvalsh(missed).min() >= -rounding
    assert features.array.shape == (len(at), features.rank)
    assert features.array.flags.c_contiguous
    assert len(set(features.pivots.tolist())) == len(features.pivots) == features.rank
    np.testing.assert_allclose(features.residuals[features.pivots], 0, atol=rounding)


@kernels
@pytest.mark.parametrize("tol", [1e-8, 1e-3])
def test_the_kernel_comes_back_up_to_the_residual(kernel: Any, tol: float) -> None:
    at = points(120)
    scaled = tol * float(kernel.diag(at).max())
    check(embed(kernel, at, tol=scaled), kernel, at, tol=scaled)


@kernels
def test_without_tolerance_the_kernel_comes_back(kernel: Any) -> None:
    at = points(60)
    features = embed(kernel, at, tol=0)
    check(features, kernel, at, tol=0)
    scale = float(kernel.diag(at).max())
    np.testing.assert_allclose(features.array @ features.array.T, kernel(at), atol=1e-10 * scale)


@given(st.integers(1, 40), st.integers(0, 2**31), st.sampled_from(sorted(KERNELS)), st.sampled_from([0, 1e-6, 1e-2]))
@settings(deadline=None, max_examples=60)
def test_points_may_be_few_repeated_or_all_the_same(count: int, seed: int, name: str, tol: float) -> None:
    rng = np.random.default_rng(seed)
    distinct = rng.random((int(rng.integers(1, count + 1)), 2))
    at, kernel = distinct[rng.integers(len(distinct), size=count)], KERNELS[name]
    scaled = tol * float(kernel.diag(at).max())
    features = embed(kernel, at, tol=scaled)
    check(features, kernel, at, tol=scaled)
    if "white" not in name and name != "sum-of-three":  # noise tells equal points apart
        assert features.rank <= len(distinct)


def test_one_point() -> None:
    features = embed(RBF(0.1), [[0.3, 0.4]])
    np.testing.assert_allclose(features.array, [[1.0]])
    assert features.residual == 0
    assert features.pivots.tolist() == [0]


def test_one_point_repeated_has_rank_one() -> None:
    features = embed(RBF(0.1), np.full((300, 2), 0.5))
    assert features.rank == 1
    np.testing.assert_allclose(features.array, 1.0)


def test_noise_makes_equal_points_differ() -> None:
    features = embed(RBF(0.1) + WhiteKernel(0.5), np.full((20, 2), 0.5), tol=1e-9)
    assert features.rank == 20
    np.testing.assert_allclose(features.array @ features.array.T, 1 + 0.5 * np.eye(20), atol=1e-12)


def test_a_smaller_tolerance_needs_no_smaller_rank() -> None:
    at = points(400)
    ranks = [embed(RBF(0.15), at, tol=tol).rank for tol in (1e-1, 1e-3, 1e-6)]
    assert ranks == sorted(ranks)
    assert ranks[0] < ranks[-1] < 400


@pytest.mark.parametrize("max_rank", [1, 7, 100, 5000])
def test_the_rank_can_be_limited(max_rank: int) -> None:
    at = points(300)
    limited, free = embed(RBF(0.1), at, max_rank=max_rank), embed(RBF(0.1), at)
    assert limited.rank == min(max_rank, free.rank)
    check(limited, RBF(0.1), at, tol=1.0)
    if max_rank < free.rank:
        assert limited.residual > 1e-6


def test_the_rank_is_near_the_best_possible() -> None:
    """No rank below the number of eigenvalues above n tol could do; blocks of pivots cost little more."""
    at = points(400)
    features = embed(RBF(0.15), at, tol=1e-4)
    eigenvalues = np.linalg.eigvalsh(np.asarray(RBF(0.15)(at)))
    assert np.count_nonzero(eigenvalues > 400 * 1e-4) <= features.rank
    assert features.rank <= 1.6 * np.count_nonzero(eigenvalues > 1e-4)


class Recorded(Kernel):  # type: ignore[misc]
    """A kernel that writes down how much it was asked for."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.sizes: list[int] = []

    def __call__(self, left: Array, right: Array | None = None) -> Array:
        result = np.asarray(self.inner(left, right))
        self.sizes.append(result.size)
        return result

    def diag(self, at: Array) -> Array:
        return np.asarray(self.inner.diag(at))

    def is_stationary(self) -> bool:
        return True


@pytest.mark.parametrize("scale", [0.05, 0.3])
def test_the_kernel_matrix_is_never_formed(scale: float) -> None:
    kernel = Recorded(RBF(scale))
    features = embed(kernel, points(1000), tol=1e-3)
    assert max(kernel.sizes) <= 1000 * 200
    # r rows of the matrix, and the small matrices of the candidates
    assert sum(kernel.sizes) <= 1000 * features.rank + len(kernel.sizes) * 200**2


def test_without_a_kernel_features_are_the_points() -> None:
    at = points(7)
    features = embed(None, at)
    np.testing.assert_array_equal(features.array, at)
    assert features.residual == 0
    assert features.rank == 2
    np.testing.assert_array_equal(embed(None, at.tolist()).array, at)


def test_linear_features_and_the_linear_kernel_agree() -> None:
    at = points(50)
    plain, kernel = embed(None, at).array, embed(DotProduct(sigma_0=0.0), at).array
    assert kernel.shape[1] == 2
    np.testing.assert_allclose(plain @ plain.T, kernel @ kernel.T, atol=1e-12)


# ------------------------------------------------------------------------------------- directions


@given(st.integers(2, 8), st.floats(0.05, 0.95), st.integers(0, 2**31))
def test_directions_are_reached_unless_they_are_zero(count: int, share: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    at = rng.normal(size=(count, 2)) * rng.integers(0, 2, (count, 1))  # some are zero
    at[-1] = share * at[0]
    features = embed(None, at)
    np.testing.assert_array_equal(features.reached(), [bool(row.any()) for row in at])
    expected = [[bool((np.abs(one - share * other) > 1e-12).any()) for other in at] for one in at]
    np.testing.assert_array_equal(features.reached(share), expected)
    assert not features.reached(share)[-1, 0]


@pytest.mark.parametrize("short", [1e-7, 1e-10])
def test_a_pair_that_is_short_and_not_zero_is_reached(short: float) -> None:
    """The product form of its squared length would be lost in rounding."""
    features = embed(None, [[1.0, 0.0], [1.0, short]])
    np.testing.assert_array_equal(features.reached(1 - short), [[True, True], [True, True]])
    equal = embed(None, [[1.0, 0.0], [0.5, 0.0]])
    np.testing.assert_array_equal(equal.reached(0.5), [[True, True], [False, True]])


# ---------------------------------------------------------------------------------------- errors


class Signed(Kernel):  # type: ignore[misc]
    """x'Jy with J = diag(1, -1, ...): symmetric, and not positive definite."""

    def __init__(self, shift: float = 0.0) -> None:
        self.shift = shift

    def __call__(self, left: Array, right: Array | None = None) -> Array:
        right = left if right is None else right
        return np.asarray(self.shift + left @ np.diag([1.0, -1.0]) @ right.T)

    def diag(self, at: Array) -> Array:
        return np.asarray(self.shift + at[:, 0] ** 2 - at[:, 1] ** 2)

    def is_stationary(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "Signed"


@pytest.mark.parametrize("shift", [0.0, 1.0], ids=["on-the-diagonal", "only-off-the-diagonal"])
def test_a_kernel_that_is_not_positive_definite_is_named(shift: float) -> None:
    with pytest.raises(InputError, match=r"^kernel is Signed: it must be positive definite, but a residual is -"):
        embed(Signed(shift), points(30))


def test_a_kernel_that_is_not_finite_is_named() -> None:
    with pytest.raises(InputError, match=r"^kernel is .*: it gives numbers that are not finite on these points$"):
        embed(ConstantKernel(np.inf), points(3))


def test_a_kernel_that_is_zero_is_named() -> None:
    with pytest.raises(InputError, match=r"^kernel is .*: it must be positive definite"):
        embed(DotProduct(sigma_0=0.0), np.zeros((3, 2)))


def test_a_tolerance_above_the_kernel_is_named() -> None:
    with pytest.raises(InputError, match=r"^kernel is at most tol on every point: give a tol below 1$"):
        embed(RBF(0.1), points(5), tol=2.0)


@pytest.mark.parametrize("kernel", [None, RBF(0.1)], ids=["linear", "rbf"])
@pytest.mark.parametrize(
    ("at", "options", "sentence"),
    [
        ([[0.0]], {"tol": -1e-3}, "tol is -0.001: give a number >= 0"),
        ([[0.0]], {"tol": np.nan}, "tol is nan: give a number >= 0"),
        ([[np.nan]], {}, "points[0, 0] is nan: give finite numbers or leave that row out"),
        ([[0.0, np.inf]], {}, "points[0, 1] is inf: give finite numbers or leave that row out"),
        (np.empty((0, 2)), {}, "points is of shape (0, 2): give at least one row and one column"),
        ([0.0, 1.0], {}, "points is of shape (2,): give a 2-d array, one row for each point"),
    ],
)
def test_bad_input_is_named(kernel: Any, at: Any, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(sentence) + "$"):
        embed(kernel, at, **options)


@pytest.mark.parametrize("max_rank", [0, -1, 2.5, np.nan])
def test_a_limit_that_is_no_count_is_named(max_rank: Any) -> None:
    with pytest.raises(InputError, match=f"^max_rank is {max_rank}: give a whole number >= 1$"):
        embed(RBF(0.1), points(5), max_rank=max_rank)


@pytest.mark.parametrize(
    ("ridge", "rtol", "sentence"),
    [
        (0, 0.01, "ridge is 0: give a number > 0"),
        (-1, 0.01, "ridge is -1: give a number > 0"),
        (0.1, 0, "rtol is 0: give a number > 0"),
        (0.1, np.nan, "rtol is nan: give a number > 0"),
    ],
)
def test_a_tolerance_needs_a_ridge_and_a_gap(ridge: float, rtol: float, sentence: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(sentence) + "$"):
        tolerance(ridge, rtol)


@pytest.mark.parametrize("ridge", [1e-4, 0.1])
def test_a_tolerance_grows_with_the_ridge_and_the_gap(ridge: float) -> None:
    assert tolerance(2 * ridge, 0.01) == pytest.approx(2 * tolerance(ridge, 0.01))
    assert tolerance(ridge, 0.02) == pytest.approx(2 * tolerance(ridge, 0.01))


@kernels
def test_the_features_do_not_depend_on_how_many_points_are_computed_together(
    kernel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = points(120)
    together = embed(kernel, at, tol=1e-6 * float(kernel.diag(at).max()))
    monkeypatch.setattr(pivoted_cholesky, "PART", 50)
    apart = embed(kernel, at, tol=1e-6 * float(kernel.diag(at).max()))
    np.testing.assert_array_equal(apart.pivots, together.pivots)
    np.testing.assert_allclose(apart.array, together.array, rtol=0, atol=1e-7 * np.abs(together.array).max())
    check(apart, kernel, at, tol=1e-6 * float(kernel.diag(at).max()))
