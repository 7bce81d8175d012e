"""Coordinates in which the arms span everything.

Without a ridge the criterion v' A^-1 v is the same in every basis of the arms' span, and only there is it finite.
An orthonormal one keeps A well conditioned however nearly dependent the arms' columns are. With a ridge the
coordinates matter and stay as they were given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from superlevel.arrays import Array, Indices
from superlevel.design.arms import Arms, Written
from superlevel.errors import InputError

REACH = 1e-8  # part of a target's length that may lie outside the arms' span and still count as rounding


@dataclass(frozen=True, kw_only=True, eq=False)
class Given:
    """The coordinates as given, for ridge > 0."""

    lines: Arms
    """(n, r)"""

    @property
    def arms(self) -> Array:
        """(n, r) as one array."""
        return self.lines.written()

    def express(self, field: str, rows: Array) -> Array:
        """The rows in these coordinates."""
        width = self.lines.shape[1]
        if rows.shape[1] != width:
            raise InputError(field, f"with {rows.shape[1]} columns", f"give {width} columns, as many as the arms have")
        return rows


@dataclass(frozen=True, kw_only=True, eq=False)
class Span(Given):
    """An orthonormal basis of the arms' span, for ridge = 0: given[:, order] = arms @ triangle."""

    triangle: Array
    """(k, r) upper trapezoidal, k the rank of the arms."""
    order: Indices
    """(r,) the columns' order after pivoting."""

    def express(self, field: str, rows: Array) -> Array:
        """The coordinates c of each row, row[order] = c @ triangle; an error where there are none."""
        width, rank = len(self.order), len(self.triangle)
        if rows.shape[1] != width:
            raise InputError(field, f"with {rows.shape[1]} columns", f"give {width} columns, as many as the arms have")
        permuted = rows[:, self.order]
        coordinates = solve_triangular(self.triangle[:, :rank], permuted[:, :rank].T, trans="T").T
        outside = np.linalg.norm(permuted - coordinates @ self.triangle, axis=1)
        beyond = outside > REACH * np.linalg.norm(rows, axis=1)
        if beyond.any():
            raise InputError(
                f"{field}[{np.argmax(beyond)}]",
                "outside the span of the arms",
                "with ridge = 0 no measurement reaches it: give a ridge > 0, add arms or leave that target out",
            )
        return np.ascontiguousarray(coordinates)


def basis(arms: Array, ridge: float) -> Given:
    """The coordinates to solve in."""
    if not arms.any():
        raise InputError("arms", "zero everywhere", "give some arm that is not zero: these measure nothing")
    if ridge > 0:
        return Given(lines=Written(arms))
    orthonormal, triangle, order = qr(arms, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    rank = int(np.count_nonzero(sizes > max(arms.shape) * np.finfo(float).eps * sizes[0]))
    return Span(
        lines=Written(np.ascontiguousarray(orthonormal[:, :rank])),
        triangle=np.asarray(triangle[:rank], dtype=np.float64),
        order=order.astype(np.int64),
    )
