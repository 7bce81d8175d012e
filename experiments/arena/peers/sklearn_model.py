"""A Gaussian process of scikit-learn with its own defaults: Matern 3/2 with a length for each coordinate, and noise."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from experiments.arena.peers.loop import Declared, Task

RESTARTS = 2


class Model(Declared):
    """Everything but where to measure. The estimate is by maximum likelihood."""

    def __init__(self, task: Task) -> None:
        self.points = task.points
        self.rng = np.random.default_rng([task.seed, 12])
        self.seed = task.seed

    def fit(self, places: Any, values: Any, level: float) -> None:
        self.level = level
        start = ConstantKernel() * Matern(np.ones(self.points.shape[1])) + WhiteKernel()
        regression = GaussianProcessRegressor(start, n_restarts_optimizer=RESTARTS, random_state=self.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a length of a coordinate that does not matter
            regression.fit(self.points[places], values)
        self.signal, self.noise = regression.kernel_.k1, regression.kernel_.k2.noise_level
        self.variances = self.signal.diag(self.points)
        self.add(places, values)

    def add(self, places: Any, values: Any) -> None:
        measured = self.points[places]
        inner = self.signal(measured) + (self.noise + 1e-10) * np.eye(len(places))
        factor = cholesky(inner, lower=True)
        cross = self.signal(measured, self.points)
        reached = solve_triangular(factor, cross, lower=True)
        self.mean = cross.T @ cho_solve((factor, True), values)
        self.deviation = np.sqrt(np.maximum(self.variances - np.einsum("ij,ij->j", reached, reached), 0.0))

    def posterior(self) -> tuple[Any, Any]:
        return self.mean, self.deviation
