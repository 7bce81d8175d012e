"""Kernels that scikit-learn does not have, as classes of its kind: they add, multiply and fit like its own.

Tanimoto    k(x, y) = <x, y> / (|x|^2 + |y|^2 - <x, y>)          similarity of fingerprints
On          k(x, y) = base(x[columns], y[columns])               a kernel on some of the columns

Tanimoto's kernel is positive definite for all real vectors. With a = |x|^2 + |y|^2 and |<x, y>| <= a / 2 it is the
series sum_{m >= 1} <x, y>^m / a^m, where each factor is positive definite: a^-m is the integral over t > 0 of
t^(m - 1) e^(-t |x|^2) e^(-t |y|^2) / (m - 1)!. For zeros and ones see Ralaivola et al. 2005, Neural Networks 18:1093;
for counts and real numbers Tripp et al. 2023, NeurIPS 36. A row of zeros is like itself and like nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

from superlevel.arrays import Array


class Tanimoto(Kernel):  # type: ignore[misc]
    """Tanimoto's (Jaccard's) similarity of rows: of zeros and ones, the part of the bits that both have of those that
    either has. It has no parameters.

    >>> Tanimoto()(np.array([[1.0, 1, 0], [0, 1, 1]]))
    array([[1.        , 0.33333333],
           [0.33333333, 1.        ]])
    """

    def __init__(self) -> None:
        """scikit-learn reads the parameters from this signature."""

    def __call__(self, X: Array, Y: Array | None = None, eval_gradient: bool = False) -> Any:  # noqa: N803
        left = np.atleast_2d(X)
        right = left if Y is None else np.atleast_2d(Y)
        values = similarities(left, right)
        return (values, np.empty((*values.shape, 0))) if eval_gradient else values

    def diag(self, X: Array) -> Array:  # noqa: N803
        return np.ones(len(X))

    def is_stationary(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "Tanimoto()"


def similarities(left: Array, right: Array) -> Array:
    """(p, q) Tanimoto's kernel between the rows of left (p, d) and of right (q, d)."""
    both = left @ right.T
    either = np.add.outer(np.square(left).sum(axis=1), np.square(right).sum(axis=1)) - both
    return np.asarray(np.divide(both, either, out=np.ones_like(both), where=either > 0))


class On(Kernel):  # type: ignore[misc]
    """A kernel on some of the columns; the others do not matter to it. Sums and products of such are kernels of groups.

    >>> from sklearn.gaussian_process.kernels import RBF, ExpSineSquared
    >>> On([0, 1], RBF(0.3)) * On(2, ExpSineSquared(1.0, periodicity=365.0))
    On([0, 1], RBF(length_scale=0.3)) * On(2, ExpSineSquared(length_scale=1, periodicity=365))
    """

    def __init__(self, columns: int | Sequence[int], kernel: Any) -> None:
        self.columns = columns
        self.kernel = kernel

    @property
    def chosen(self) -> list[int]:
        """The columns as a list."""
        return [int(column) for column in np.atleast_1d(np.asarray(self.columns))]

    def __call__(self, X: Array, Y: Array | None = None, eval_gradient: bool = False) -> Any:  # noqa: N803
        left, right = np.atleast_2d(X)[:, self.chosen], None if Y is None else np.atleast_2d(Y)[:, self.chosen]
        return self.kernel(left, right, eval_gradient=True) if eval_gradient else self.kernel(left, right)

    def diag(self, X: Array) -> Any:  # noqa: N803
        return self.kernel.diag(np.atleast_2d(X)[:, self.chosen])

    def is_stationary(self) -> bool:
        return bool(self.kernel.is_stationary())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        found = {"columns": self.columns, "kernel": self.kernel}
        inside = self.kernel.get_params().items() if deep else ()
        return found | {f"kernel__{name}": value for name, value in inside}

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """Those of the kernel."""
        return [item._replace(name=f"kernel__{item.name}") for item in self.kernel.hyperparameters]

    @property
    def theta(self) -> Array:
        """Those of the kernel."""
        return np.asarray(self.kernel.theta)

    @theta.setter
    def theta(self, theta: Array) -> None:
        self.kernel.theta = theta

    @property
    def bounds(self) -> Array:
        """Those of the kernel."""
        return np.asarray(self.kernel.bounds)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, On) and self.chosen == other.chosen and self.kernel == other.kernel

    __hash__ = None  # type: ignore[assignment]  # as scikit-learn's kernels

    def __repr__(self) -> str:
        columns = self.chosen
        return f"On({columns[0] if len(columns) == 1 else columns}, {self.kernel!r})"


def columns_at(kernel: Any, path: str, points: Any) -> Any:
    """(n, d') the columns of points (n, d) that the part of a kernel sees at a path such as k1__kernel."""
    known, steps = kernel.get_params(), path.split("__") if path else []
    for end in range(len(steps) + 1):
        part = known["__".join(steps[:end])] if end else kernel
        points = points[:, part.chosen] if isinstance(part, On) else points
    return points
