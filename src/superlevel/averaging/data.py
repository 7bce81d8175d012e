"""Measurements from which kernels are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superlevel.arrays import Array, Indices


@dataclass(frozen=True, kw_only=True, eq=False)
class Data:
    """Measurements, in any order and with repeats."""

    points: Indices
    """(N,)"""
    values: Array
    """(N,)"""
    noise: Array
    """(N,) the standard deviation of each, NaN where it has none of its own."""

    def __getitem__(self, at: Indices) -> Data:
        return Data(points=self.points[at], values=self.values[at], noise=self.noise[at])

    def __len__(self) -> int:
        return len(self.points)

    def joined(self, other: Data) -> Data:
        """These, and then others."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in ("points", "values", "noise"))
        points, values, noise = (np.concatenate(pair) for pair in pairs)
        return Data(points=points, values=values, noise=noise)


NO_DATA = Data(points=np.empty(0, dtype=np.int64), values=np.empty(0), noise=np.empty(0))


def some(data: Data, most: int) -> Indices:
    """(N',) all measurements, or those at so many of the points, evenly spread in their order."""
    different = np.unique(data.points)
    if len(different) <= most:
        return np.arange(len(data))
    chosen = different[np.linspace(0, len(different) - 1, most).astype(np.int64)]
    return np.flatnonzero(np.isin(data.points, chosen))
