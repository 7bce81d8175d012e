"""Each helper against plain numpy, in both precisions and for any shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from superlevel import linalg

Floats = NDArray[Any]

precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64])
shapes = pytest.mark.parametrize("shape", [(1, 1), (1, 4), (7, 1), (7, 4), (4, 7), (200, 33)])


def normal(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def definite(size: int, dtype: Any) -> Floats:
    """A positive definite matrix, column-major."""
    root = normal((size, 2 * size + 1), np.float64, seed=1)
    return np.asfortranarray(root @ root.T / size + np.eye(size), dtype=dtype)


def check(result: Floats, expected: Floats, dtype: Any) -> None:
    """To rounding, in the precision of the arguments."""
    assert result.dtype == dtype
    assert result.shape == expected.shape
    tolerance = 200 * np.finfo(dtype).eps
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max(initial=1))


@precisions
@shapes
def test_gram(shape: tuple[int, int], dtype: Any) -> None:
    rows = normal(shape, dtype)
    check(linalg.gram(rows), np.tril(rows @ rows.T), dtype)


@precisions
@shapes
def test_moment(shape: tuple[int, int], dtype: Any) -> None:
    rows, weights = normal(shape, dtype), np.abs(normal(shape[:1], dtype, seed=2))
    weights[0] = 0
    check(linalg.moment(rows, weights), np.tril(rows.T @ np.diag(weights) @ rows), dtype)


@precisions
@shapes
@pytest.mark.parametrize("count", [1, 5])
def test_inner(shape: tuple[int, int], count: int, dtype: Any) -> None:
    left, right = normal(shape, dtype), normal((count, shape[1]), dtype, seed=2)
    result = linalg.inner(left, right)
    check(result, left @ right.T, dtype)
    assert result.flags.c_contiguous


@precisions
@shapes
def test_times_and_transposed_times(shape: tuple[int, int], dtype: Any) -> None:
    matrix = normal(shape, dtype)
    short, long = normal(shape[1:], dtype, seed=2), normal(shape[:1], dtype, seed=3)
    check(linalg.times(matrix, short), matrix @ short, dtype)
    check(linalg.transposed_times(matrix, long), matrix.T @ long, dtype)


@precisions
@pytest.mark.parametrize("size", [1, 2, 33])
def test_cholesky(size: int, dtype: Any) -> None:
    matrix = definite(size, dtype)
    given = matrix.copy(order="F")
    check(linalg.cholesky(matrix), np.linalg.cholesky(matrix), dtype)
    np.testing.assert_array_equal(matrix, given)
    lower = np.asfortranarray(np.tril(matrix))
    np.testing.assert_array_equal(linalg.cholesky(lower), linalg.cholesky(matrix))


@precisions
@pytest.mark.parametrize("columns", [None, 1, 3])
@pytest.mark.parametrize("size", [1, 33])
def test_cholesky_solve(size: int, columns: int | None, dtype: Any) -> None:
    matrix = definite(size, dtype)
    right = normal((size,) if columns is None else (size, columns), dtype, seed=2)
    check(linalg.cholesky_solve(linalg.cholesky(matrix), right), np.linalg.solve(matrix, right), dtype)


@precisions
@shapes
def test_whiten_and_colour(shape: tuple[int, int], dtype: Any) -> None:
    rows, matrix = normal(shape, dtype), definite(shape[1], dtype)
    factor = linalg.cholesky(matrix)
    white, coloured = linalg.whiten(factor, rows), linalg.colour(factor, rows)
    check(white @ white.T, rows @ np.linalg.inv(matrix) @ rows.T, dtype)
    check(coloured @ coloured.T, rows @ matrix @ rows.T, dtype)
    check(linalg.colour(factor, rows), rows @ factor, dtype)
    np.testing.assert_allclose(white @ factor.T, rows, rtol=1e-3 if dtype == np.float32 else 1e-9)
    assert white.flags.c_contiguous
    assert coloured.flags.c_contiguous


@precisions
@shapes
def test_solve_lower(shape: tuple[int, int], dtype: Any) -> None:
    right, factor = normal(shape, dtype), linalg.cholesky(definite(shape[0], dtype))
    result = linalg.solve_lower(factor, right)
    check(result, np.linalg.solve(factor, right), dtype)
    assert result.flags.c_contiguous


@precisions
@shapes
def test_less_gram(shape: tuple[int, int], dtype: Any) -> None:
    rows, matrix = normal(shape, dtype), np.ascontiguousarray(definite(shape[1], dtype))
    result = linalg.less_gram(matrix, rows)
    check(result, matrix - rows.T @ rows, dtype)
    assert result.flags.c_contiguous


@precisions
@shapes
def test_squared_norms(shape: tuple[int, int], dtype: Any) -> None:
    rows = normal(shape, dtype)
    check(linalg.squared_norms(rows), (rows**2).sum(axis=1), dtype)


@precisions
@pytest.mark.parametrize("order", ["C", "F"])
def test_add_to_diagonal(order: Any, dtype: Any) -> None:
    matrix = np.array(normal((4, 4), dtype), order=order)
    expected = matrix + np.diag(np.full(4, 2)).astype(dtype)
    linalg.add_to_diagonal(matrix, 2.0)
    check(matrix, expected, dtype)
    values = normal((4,), dtype, seed=2)
    linalg.add_to_diagonal(matrix, values)
    check(matrix, expected + np.diag(values), dtype)


@precisions
@pytest.mark.parametrize(
    "matrix",
    [-np.eye(2), np.zeros((3, 3)), [[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.0], [0.0, np.nan]], [[np.inf]], [[np.nan]]],
    ids=["negative", "zero", "indefinite", "nan", "infinite", "only-nan"],
)
def test_what_has_no_factor_is_an_error(matrix: Any, dtype: Any) -> None:
    with pytest.raises(LinAlgError, match="is not positive"):
        linalg.cholesky(np.asfortranarray(matrix, dtype=dtype))


@precisions
def test_arguments_are_left_as_they_were(dtype: Any) -> None:
    rows, weights, matrix = normal((6, 4), dtype), np.abs(normal((6,), dtype)), definite(4, dtype)
    factor = linalg.cholesky(matrix)
    copies = [array.copy() for array in (rows, weights, matrix, factor)]
    linalg.gram(rows)
    linalg.moment(rows, weights)
    linalg.whiten(factor, rows)
    linalg.colour(factor, rows)
    linalg.inner(rows, rows)
    linalg.cholesky_solve(factor, np.ascontiguousarray(rows.T))
    linalg.solve_lower(factor, np.ascontiguousarray(rows.T))
    linalg.less_gram(matrix.T, rows)
    for array, copy in zip((rows, weights, matrix, factor), copies, strict=True):
        np.testing.assert_array_equal(array, copy)
