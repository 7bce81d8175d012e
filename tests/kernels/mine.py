"""Kernel classes as users write them, in a module that can be imported."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF, Kernel

NOT_A_CLASS = 3


class Scaled(RBF):  # type: ignore[misc]
    """An RBF kernel with a parameter more."""

    def __init__(self, length_scale: Any = 1.0, length_scale_bounds: Any = (1e-5, 1e5), word: str = "plain") -> None:
        super().__init__(length_scale, length_scale_bounds)
        self.word = word


class Around(Kernel):  # type: ignore[misc]
    """Another kernel, twice."""

    def __init__(self, kernel: Any, degree: int = 2, flags: Any = ()) -> None:
        self.kernel = kernel
        self.degree = degree
        self.flags = flags

    def __call__(self, X: Any, Y: Any = None) -> Any:  # noqa: N803
        return self.degree * self.kernel(X, Y)

    def diag(self, X: Any) -> Any:  # noqa: N803
        return self.degree * self.kernel.diag(X)

    def is_stationary(self) -> bool:
        return False


class Refusing(RBF):  # type: ignore[misc]
    """Its constructor fails."""

    def __init__(self) -> None:
        raise RuntimeError("no licence")


class NotAKernel:
    """It has what a kernel has, and is none of scikit-learn's."""

    def __call__(self, left: Any, right: Any = None) -> Any:
        return np.ones((len(left), len(left if right is None else right)))

    def diag(self, points: Any) -> Any:
        return np.ones(len(points))
