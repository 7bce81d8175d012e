"""What a design must estimate well: directions v, each divided by a positive scale.

`Rows` are given as vectors, a `Subset` is some of the arms, and `Pairs` are phi(x) - (1 - epsilon) phi(x') for
ordered pairs of arms. A target is known by its position, a whole number: its row, its arm, or n x + x' for the pair
(x, x'). A mixture over targets is therefore two short arrays (positions, weights) whatever the kind, and pairs are
never written out: n arms have n^2 of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from superlevel import linalg
from superlevel.arrays import Array, Indices, Mask, as_floats, as_mask, as_matrix, as_number, as_positive
from superlevel.design.arms import Look, Seen
from superlevel.design.basis import Given
from superlevel.design.information import Whitened
from superlevel.errors import InputError

BLOCK = 2**21  # variances of pairs held at a time: 16 MB
GOLDEN = (5**0.5 - 1) / 2  # its multiples modulo 1 are spread evenly, however many there are

Dual: TypeAlias = Any
"""A mixture as users see it: an array of the targets' shape, sparse for pairs."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Variances:
    """s_v = v' A^-1 v at some targets, the worst one always among them."""

    positions: Indices
    values: Array


class View(Protocol):
    """Targets seen through one A = L L': in coordinates where A is the identity."""

    def rows(self, positions: Indices) -> Array:
        """(m, r) the targets at these positions, v' L^-T."""
        ...

    def variances(self, seen: Look) -> Variances:
        """The worst targets, after a look at the arms."""
        ...


class Targets(Protocol):
    """Directions tied to a set of arms, checked."""

    @property
    def mask(self) -> Mask:
        """Which targets count; its shape is that of a mixture."""
        ...

    def some(self, count: int) -> Indices:
        """Positions of about count targets, spread over all; all where few would be left."""
        ...

    def places(self) -> Indices:
        """Arms that are targets themselves."""
        ...

    def view(self, through: Whitened) -> View:
        """The targets seen through the same A as the arms."""
        ...

    def residual(self, residuals: Array) -> float:
        """The largest squared length that truncated features miss of a target, given what they miss of the arms."""
        ...

    def missed(self, residuals: Array, positions: Indices) -> Array:
        """(m,) the squared lengths that they miss of these targets, at most."""
        ...


# ------------------------------------------------------------------------------------- rows and arms


@dataclass(frozen=True, eq=False)
class Rows:
    """Targets given as vectors, in the coordinates of the arms."""

    vectors: ArrayLike
    """(p, r)"""
    scales: ArrayLike | None = None
    """(p,) positive; the design minimises the largest ||v||^2 / scale^2. None means 1."""
    mask: ArrayLike | None = None
    """(p,) which targets count. None means all."""

    def bind(self, basis: Given) -> Targets:
        vectors = as_matrix("targets", self.vectors)
        shape = (len(vectors),)
        mask = _mask(self.mask, shape)
        scaled = basis.express("targets", vectors * mask[:, None])  # what does not count need not be reached
        if self.scales is not None:
            scaled = scaled / as_positive("scales", self.scales, shape=shape)[:, None]
        _check_lengths(np.asarray(vectors.any(axis=1)), mask)
        return _Listed(vectors=np.ascontiguousarray(scaled), scales=None, mask=mask)


@dataclass(frozen=True, eq=False)
class Subset:
    """Targets that are arms themselves."""

    mask: ArrayLike | None = None
    """(n,) booleans, or positions of arms. None means all arms."""
    scales: ArrayLike | None = None
    """(n,) positive, one for every arm, used or not. None means 1."""

    def bind(self, basis: Given) -> Targets:
        count, _ = basis.lines.shape
        shape = (count,)
        mask = _mask(_from_positions(self.mask, count), shape)
        scales = None if self.scales is None else as_positive("scales", self.scales, shape=shape)
        _check_lengths(basis.lines.reached(), mask)
        return _Listed(vectors=None, scales=scales, mask=mask)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Listed:
    """Targets that can be listed: rows, or arms."""

    vectors: Array | None
    """(p, r) rows; None where the targets are the arms themselves."""
    scales: Array | None
    """(p,) by which they are still to be divided."""
    mask: Mask

    def some(self, count: int) -> Indices:
        return spread(np.flatnonzero(self.mask), count)

    def places(self) -> Indices:
        return np.flatnonzero(self.mask) if self.vectors is None else np.empty(0, dtype=np.int64)

    def view(self, through: Whitened) -> View:
        positions = np.flatnonzero(self.mask)
        if self.vectors is None:
            return _ArmsView(arms=through.arms, positions=positions, scales=self.scales)
        return _RowsView(rows_=linalg.whiten(through.factor, self.vectors), positions=positions)

    def residual(self, residuals: Array) -> float:
        return float(self.missed(residuals, np.flatnonzero(self.mask)).max())

    def missed(self, residuals: Array, positions: Indices) -> Array:
        if self.vectors is not None:
            return np.zeros(len(positions))  # vectors given in feature coordinates have no part outside them
        return residuals[positions] / (1.0 if self.scales is None else self.scales[positions] ** 2)


@dataclass(frozen=True, kw_only=True, eq=False)
class _RowsView:
    rows_: Array
    positions: Indices

    def rows(self, positions: Indices) -> Array:
        if len(positions) == len(self.rows_):
            return self.rows_  # positions are sorted: these are all of them
        return self.rows_[positions]

    def variances(self, _seen: Look) -> Variances:
        return Variances(positions=self.positions, values=linalg.squared_norms(self.rows_)[self.positions])


@dataclass(frozen=True, kw_only=True, eq=False)
class _ArmsView:
    arms: Seen
    positions: Indices
    scales: Array | None

    def rows(self, positions: Indices) -> Array:
        if self.scales is None:
            return self.arms.at(positions)
        return self.arms.at(positions) / self.scales[positions, None]

    def variances(self, seen: Look) -> Variances:
        values = seen.lengths
        if self.scales is not None:
            values = values / self.scales**2
        return Variances(positions=self.positions, values=values[self.positions])


# --------------------------------------------------------------------------------------------- pairs


@dataclass(frozen=True, eq=False)
class Pairs:
    """Targets phi(x) - (1 - epsilon) phi(x') for ordered pairs of arms: the directions Y^eps of MILK."""

    epsilon: float
    """In (0, 1)."""
    mask: ArrayLike | None = None
    """(n, n) which pairs (row x, column x') count. None means all."""
    scales: ArrayLike | None = None
    """(n, n) positive. None means 1."""

    def bind(self, basis: Given) -> Targets:
        epsilon = as_number("epsilon", self.epsilon, above=0, below=1)
        count, _ = basis.lines.shape
        shape = (count, count)
        scales = None if self.scales is None else as_positive("scales", self.scales, shape=shape)
        return _BoundPairs(share=1 - epsilon, scales=scales, mask=_mask(self.mask, shape))


@dataclass(frozen=True, kw_only=True, eq=False)
class _BoundPairs:
    share: float
    """1 - epsilon"""
    scales: Array | None
    mask: Mask

    def places(self) -> Indices:
        return np.empty(0, dtype=np.int64)

    def some(self, count: int) -> Indices:
        """For each of some x, one x': another place of its row each time."""
        if np.count_nonzero(self.mask) <= 1.5 * count:
            return np.flatnonzero(self.mask)
        first = spread(np.flatnonzero(self.mask.any(axis=1)), count)
        choices = [np.flatnonzero(self.mask[x]) for x in first]
        second = np.array([row[int(GOLDEN * k % 1 * len(row))] for k, row in enumerate(choices)])
        return np.asarray(first * len(self.mask) + second, dtype=np.int64)

    def view(self, through: Whitened) -> View:
        return _PairsView(arms=through.arms.written(), targets=self)

    def residual(self, residuals: Array) -> float:
        # |r(x) - share r(x')|^2 <= (|r(x)| + share |r(x')|)^2 for the missed parts r; all pairs are bounded at once.
        smallest = 1.0 if self.scales is None else float(self.scales[self.mask].min())
        return float(((1 + self.share) * np.sqrt(residuals.max()) / smallest) ** 2)

    def missed(self, residuals: Array, positions: Indices) -> Array:
        first, second = np.divmod(positions, len(self.mask))
        lengths = np.sqrt(residuals[first]) + self.share * np.sqrt(residuals[second])
        return np.square(lengths / (1.0 if self.scales is None else self.scales[first, second]))


@dataclass(frozen=True, kw_only=True, eq=False)
class _PairsView:
    arms: Array
    targets: _BoundPairs

    def rows(self, positions: Indices) -> Array:
        first, second = np.divmod(positions, len(self.arms))
        rows = self.arms[first] - self.targets.share * self.arms[second]
        scales = self.targets.scales
        return rows if scales is None else rows / scales[first, second][:, None]

    def variances(self, seen: Look) -> Variances:
        """The worst pair of each x and of each x', so that what is returned is spread over the domain.

        With G = Phi A^-1 Phi', s(x, x') = G_xx - 2 (1-eps) G_xx' + (1-eps)^2 G_x'x', in blocks of rows.
        """
        count, share = len(self.arms), self.targets.share
        lengths = seen.lengths
        step = max(1, BLOCK // count)
        best_row = np.empty(count, dtype=np.int64)
        best_column = np.zeros(count, dtype=np.int64)
        top = np.full(count, -np.inf)
        everyone = np.arange(count)
        for start in range(0, count, step):
            block = slice(start, min(start + step, count))
            values = linalg.inner(self.arms[block], self.arms)
            values *= -2 * share
            values += lengths[block, None]
            values += share**2 * lengths
            if self.targets.scales is not None:
                values /= self.targets.scales[block] ** 2
            values[~self.targets.mask[block]] = -np.inf
            best_row[block] = values.argmax(axis=1)
            here = values.argmax(axis=0)
            better = values[here, everyone] > top
            best_column[better] = here[better] + start
            top[better] = values[here[better], everyone[better]]
        positions = np.union1d(everyone * count + best_row, best_column * count + everyone)
        positions = positions[self.targets.mask.ravel()[positions]]
        return Variances(positions=positions, values=linalg.squared_norms(self.rows(positions)))


# ------------------------------------------------------------------------------------------- helpers

AnyTargets: TypeAlias = Rows | Subset | Pairs


def targets(share: float, mask: Mask, scales: Array | None = None) -> Subset | Pairs:
    """The targets f(x) - share f(x') that a mask selects, each divided by its scale.

    If ``share`` is 0 they are points and the mask is (n,), otherwise pairs and (n, n). Scales have the shape of the
    mask; what they are outside it does not matter.

    >>> targets(0.0, np.array([True, False]))
    Subset(mask=array([ True, False]), scales=None)
    >>> targets(0.75, np.eye(2, dtype=bool)).epsilon
    0.25
    """
    share = as_number("share", share, at_least=0, below=1)
    used = None if scales is None else np.where(mask, scales, 1.0)
    return Subset(mask, used) if share == 0 else Pairs(1 - share, mask, used)


def as_targets(targets: AnyTargets | ArrayLike | None, basis: Given) -> Targets:
    """Targets in any of their forms, checked against the arms. None means all arms."""
    if targets is None:
        targets = Subset()
    if not isinstance(targets, Rows | Subset | Pairs):
        targets = Rows(targets)
    return targets.bind(basis)


def listed(rows: Array) -> Targets:
    """Targets in the coordinates of the arms, scaled and checked already."""
    return _Listed(vectors=rows, scales=None, mask=np.ones(len(rows), dtype=np.bool_))


def as_dual(targets: Targets, positions: Indices, weights: Array) -> Dual:
    """A mixture in the form in which users see it."""
    if targets.mask.ndim == 1:
        dual = np.zeros(targets.mask.shape)
        dual[positions] = weights
        return dual
    return sparse.csr_array((weights, np.divmod(positions, len(targets.mask))), shape=targets.mask.shape)


def from_dual(targets: Targets, dual: Dual, field: str = "dual") -> tuple[Indices, Array]:
    """Positions and weights of a mixture, without the targets that no longer count. Weights are not rescaled."""
    if not sparse.issparse(dual):
        dual = as_floats(field, dual)
    mask = targets.mask
    if dual.shape != mask.shape:
        raise InputError(field, f"of shape {dual.shape}", f"give shape {mask.shape}, as the targets have")
    if sparse.issparse(dual):
        entries = dual.tocoo()
        positions = np.ravel_multi_index(entries.coords, mask.shape).astype(np.int64)
        weights = entries.data
    else:
        flat = dual.ravel()
        positions = np.flatnonzero(flat)
        weights = flat[positions]
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        raise InputError(
            field, f"with a weight of {weights[wrong][0]}", "give weights that are finite and not negative"
        )
    counts = mask.ravel()[positions] & (weights > 0)
    return positions[counts], np.asarray(weights[counts], dtype=np.float64)


def spread(positions: Indices, count: int, first: Indices | None = None) -> Indices:
    """About count of the sorted positions, these first, then evenly through the rest; all where few would be left."""
    if len(positions) <= 1.5 * count:
        return positions
    kept = np.empty(0, dtype=np.int64) if first is None else first[np.isin(first, positions)][:count]
    rest = np.setdiff1d(positions, kept)
    return np.union1d(kept, rest[np.linspace(0, len(rest) - 1, count - len(kept)).astype(np.int64)])


def _mask(given: ArrayLike | None, shape: tuple[int, ...]) -> Mask:
    return np.ones(shape, dtype=np.bool_) if given is None else as_mask("mask", given, shape=shape)


def _check_lengths(reached: Mask, mask: Mask) -> None:
    empty = mask & ~reached
    if empty.any():
        which = int(np.argmax(empty))
        raise InputError(f"targets[{which}]", "zero", "leave it out: its value is known without measuring")


def _from_positions(given: ArrayLike | None, count: int) -> ArrayLike | None:
    """Booleans pass; positions of arms become booleans."""
    positions = np.asarray(given if given is not None else True)
    if positions.dtype == np.bool_:
        return given
    if positions.size == 0:
        raise InputError("mask", "empty", "leave at least one target")
    if not np.issubdtype(positions.dtype, np.integer) or positions.ndim != 1:
        raise InputError("mask", f"of type {positions.dtype} and shape {positions.shape}", "give booleans or positions")
    if not (positions.min() >= 0 and positions.max() < count):
        raise InputError("mask", f"up to {positions.max()}", f"give positions from 0 to {count - 1}")
    mask = np.zeros(count, dtype=np.bool_)
    mask[positions] = True
    return mask
