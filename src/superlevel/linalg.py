"""Dense linear algebra through one BLAS.

numpy's and scipy's wheels each carry their own OpenBLAS with its own pool of spinning threads. Code that
alternates between the two makes the pools fight for the cores: on two cores a Gram matrix, a product and a
Cholesky factorisation take three times as long when numpy does the first two and scipy the third. scipy has the
triangular routines that numpy lacks, so inner loops call scipy's BLAS for everything. Row-major arrays are
passed as their transposes, which BLAS reads without a copy. Single and double precision both work, and a result
has the precision of its arguments.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, get_blas_funcs, get_lapack_funcs, qr

F = TypeVar("F", bound=np.floating[Any])


@cache
def _blas(name: str, dtype: str) -> Any:
    """The routine of this precision; looking it up takes as long as a product of small matrices."""
    return get_blas_funcs(name, dtype=dtype)


@cache
def _lapack(name: str, dtype: str) -> Any:
    return get_lapack_funcs(name, dtype=dtype)


def gram(
    rows: NDArray[F],  # (m, r)
) -> NDArray[F]:  # (m, m), column-major
    """The lower triangle of ``rows @ rows.T``; zeros above it."""
    syrk = _blas("syrk", rows.dtype.char)
    return np.asarray(syrk(1.0, rows.T, trans=1, lower=1))


def moment(
    rows: NDArray[F],  # (m, r)
    weights: NDArray[F],  # (m,), none negative
) -> NDArray[F]:  # (r, r), column-major
    """The lower triangle of ``sum_i weights_i rows_i rows_i'``; zeros above it."""
    syrk = _blas("syrk", rows.dtype.char)
    return np.asarray(syrk(1.0, (rows * np.sqrt(weights)[:, None]).T, lower=1))


def inner(
    left: NDArray[F],  # (m, r)
    right: NDArray[F],  # (p, r)
) -> NDArray[F]:  # (m, p), row-major
    """``left @ right.T``."""
    if len(left) == 1 and right.size:
        return times(right, left[0])[None]  # a product with a vector is half as long as one with a matrix of one row
    gemm = _blas("gemm", left.dtype.char)
    return np.asarray(gemm(1.0, right.T, left.T, trans_a=1)).T


def times(
    matrix: NDArray[F],  # (m, p), row-major
    vector: NDArray[F],  # (p,)
) -> NDArray[F]:  # (m,)
    """``matrix @ vector``."""
    gemv = _blas("gemv", matrix.dtype.char)
    return np.asarray(gemv(1.0, matrix.T, vector, trans=1))


def transposed_times(
    matrix: NDArray[F],  # (m, p), row-major
    vector: NDArray[F],  # (m,)
) -> NDArray[F]:  # (p,)
    """``matrix.T @ vector``."""
    gemv = _blas("gemv", matrix.dtype.char)
    return np.asarray(gemv(1.0, matrix.T, vector))


def cholesky(
    matrix: NDArray[F],  # (r, r), column-major, symmetric; its lower triangle is read
) -> NDArray[F]:  # (r, r)
    """The lower factor L, ``matrix = L L'``. Raises LinAlgError where there is none."""
    potrf = _lapack("potrf", matrix.dtype.char)
    factor, fault = potrf(matrix, lower=1, clean=1)
    if fault or not np.isfinite(factor[-1, -1]):
        raise LinAlgError(f"leading minor {fault} of {len(matrix)} is not positive")
    return np.asarray(factor)


def cholesky_of_moment(
    rows: NDArray[F],  # (m, r), m >= r and of full rank
) -> NDArray[F]:  # (r, r)
    """The lower factor of ``rows.T @ rows`` without forming it: slower, and exact where that would not be."""
    (triangle,) = qr(rows, mode="r", check_finite=False)
    triangle = triangle[: rows.shape[1]]
    return np.asfortranarray((triangle * np.where(np.diag(triangle) < 0, -1, 1)[:, None]).T)


def cholesky_solve(
    factor: NDArray[F],  # (r, r)
    right: NDArray[F],  # (r,) or (r, k)
) -> NDArray[F]:
    """The x of ``L L' x = right``."""
    potrs = _lapack("potrs", factor.dtype.char)
    solution, _ = potrs(factor, right, lower=1)
    return np.asarray(solution)


def whiten(
    factor: NDArray[F],  # (r, r), lower
    rows: NDArray[F],  # (m, r)
) -> NDArray[F]:  # (m, r), row-major
    """``rows @ inv(L).T``: its inner products are those of ``rows`` under the inverse of ``L L'``."""
    trsm = _blas("trsm", factor.dtype.char)
    return np.asarray(trsm(1.0, factor, rows.T, lower=1)).T


def colour(
    factor: NDArray[F],  # (r, r), lower
    rows: NDArray[F],  # (m, r)
) -> NDArray[F]:  # (m, r), row-major
    """``rows @ L``: its inner products are those of ``rows`` under ``L L'``."""
    trmm = _blas("trmm", factor.dtype.char)
    return np.asarray(trmm(1.0, factor, rows.T, lower=1, trans_a=1)).T


def solve_lower(
    factor: NDArray[F],  # (m, m), lower
    right: NDArray[F],  # (m, n), row-major
) -> NDArray[F]:  # (m, n), row-major
    """``inv(L) @ right``."""
    trsm = _blas("trsm", factor.dtype.char)
    return np.asarray(trsm(1.0, factor, right.T, side=1, lower=1, trans_a=1)).T


def less_gram(
    matrix: NDArray[F],  # (n, n), symmetric, row-major
    rows: NDArray[F],  # (m, n), row-major
) -> NDArray[F]:  # (n, n), row-major
    """``matrix - rows.T @ rows``."""
    gemm = _blas("gemm", matrix.dtype.char)
    return np.asarray(gemm(-1.0, rows.T, rows.T, beta=1.0, c=matrix.T, trans_b=1)).T


def squared_norms(
    rows: NDArray[F],  # (m, r)
) -> NDArray[F]:  # (m,)
    """Row sums of squares."""
    return np.asarray(np.vecdot(rows, rows))


def add_to_diagonal(
    matrix: NDArray[F],  # (r, r), changed in place
    values: float | NDArray[F],
) -> None:
    """``matrix += diag(values)``."""
    np.einsum("ii->i", matrix)[...] += values
