"""The arms of a design, however they are stored: as an array, or as features that are computed in blocks.

    x      (r,) an arm's row; in coordinates with a factor L it is phi' L^-T
    Y      (r, k) a root: the gain of an arm is |Y' x|^2

A look at all arms needs two numbers of each, |x|^2 and its gain. Rows are needed of few. An array is whitened at once
and kept. Streamed features are looked at in one pass (`superlevel.passes`), which keeps only these two numbers. In it
the factor of the features and that of the information are folded into one: (L_K L_A)^-1 k = L_A^-1 phi. Folding costs
no accuracy: for small ridges and tolerances values with it and without it differ no more than those with other pivots.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol

import numpy as np

from superlevel import costs, linalg
from superlevel.arrays import Array, Indices, Mask
from superlevel.streamed import Basis, Block, Streamed

HELD = 4  # arrays (n, r) that there are at once where arms are an array


@dataclass(frozen=True, kw_only=True, eq=False)
class Root:
    """A root of A^-1 M A^-1 in the coordinates of the arms."""

    matrix: Array
    """(k, r) rows Y', or (r, r) Y itself, lower."""
    lower: bool

    def of(self, rows: Array) -> Array:
        """(m, k) the rows (m, r) times Y."""
        return linalg.colour(self.matrix, rows) if self.lower else linalg.inner(rows, self.matrix)


class Lines(Protocol):
    """Rows, stored or computed when they are needed."""

    def at(self, positions: Indices) -> Array:
        """(m, r) those at positions that are all different; if they are all there are, sorted."""
        ...

    def written(self) -> Array:
        """(n, r) all of them, as one array: of few."""
        ...


class Look(Protocol):
    """What one look at all arms sees."""

    @property
    def lengths(self) -> Array:
        """(n,) |x|^2"""
        ...

    @property
    def gains(self) -> Array:
        """(n,) |Y' x|^2"""
        ...

    @property
    def roots(self) -> Lines:
        """(n, k) Y' x"""
        ...


class Seen(Lines, Protocol):
    """Arms in some coordinates."""

    def look(self, root: Root) -> Look: ...


class Arms(Seen, Protocol):
    """Arms in the coordinates of their features."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def longest(self) -> float:
        """The largest squared length."""
        ...

    @property
    def held(self) -> float:
        """Bytes that looking at all of them takes."""
        ...

    def reached(self) -> Mask:
        """(n,) which are not zero."""
        ...

    def whitened(self, factor: Array) -> Seen:
        """In coordinates where A = L L' is the identity."""
        ...


# --------------------------------------------------------------------------------------------- arrays


@dataclass(frozen=True, eq=False)
class Written:
    """Rows in an array."""

    array: Array
    """(n, r)"""

    @property
    def shape(self) -> tuple[int, int]:
        count, rank = self.array.shape
        return count, rank

    @property
    def longest(self) -> float:
        return float(linalg.squared_norms(self.array).max())

    @property
    def held(self) -> float:
        return float(costs.NUMBER * HELD * self.array.size)

    def reached(self) -> Mask:
        return np.asarray(self.array.any(axis=1))

    def at(self, positions: Indices) -> Array:
        if len(positions) == len(self.array):
            return self.array  # positions are sorted: these are all of them, and a copy would hide that
        return self.array[positions]

    def written(self) -> Array:
        return self.array

    def whitened(self, factor: Array) -> Written:
        return Written(linalg.whiten(factor, self.array))

    def look(self, root: Root) -> Look:
        roots = root.of(self.array)
        return _Whole(array=self.array, roots=Written(roots), gains=linalg.squared_norms(roots))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Whole:
    array: Array
    roots: Written
    gains: Array

    @cached_property
    def lengths(self) -> Array:
        return linalg.squared_norms(self.array)


# ------------------------------------------------------------------------------------------- streamed


@dataclass(frozen=True, kw_only=True, eq=False)
class _Folded:
    """Streamed features in coordinates with a factor."""

    source: Streamed
    factor: Array
    """(r, r) F, lower: a row is k(x, P)' F^-T."""

    def at(self, positions: Indices) -> Array:
        return self.source.basis(self.factor).rows(self.source.block(positions))

    def written(self) -> Array:
        return self.at(np.arange(len(self.source.points)))

    def look(self, root: Root) -> Look:
        everywhere = np.arange(len(self.source.points))
        lengths, gains = self.source.over(everywhere, partial(_looked, self.source.basis(self.factor), root))
        return _Passed(lengths=lengths, gains=gains, roots=_Roots(arms=self, root=root))


@dataclass(frozen=True, kw_only=True, eq=False)
class InBlocks(_Folded):
    """Streamed features as arms: their factor is that of their source."""

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.source.points), self.source.rank

    @property
    def longest(self) -> float:
        return float(self.source.squares.max())

    @property
    def held(self) -> float:
        (n, rank), d = self.shape, self.source.points.shape[1]
        return costs.of_pass(n, d, rank).bytes

    def reached(self) -> Mask:
        return np.asarray(self.source.squares > 0)

    def whitened(self, factor: Array) -> Seen:
        folded = linalg.colour(factor, np.ascontiguousarray(self.factor))  # L_K L_A
        return _Folded(source=self.source, factor=np.asfortranarray(folded))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Passed:
    lengths: Array
    gains: Array
    roots: Lines


@dataclass(frozen=True, kw_only=True, eq=False)
class _Roots:
    arms: _Folded
    root: Root

    def at(self, positions: Indices) -> Array:
        return self.root.of(self.arms.at(positions))

    def written(self) -> Array:
        return self.root.of(self.arms.written())


def _looked(basis: Basis, root: Root, block: Block) -> Array:
    """(2, m) lengths and gains."""
    rows = basis.rows(block)
    return np.stack([linalg.squared_norms(rows), linalg.squared_norms(root.of(rows))])
