"""Trieste's expected feasibility (Bichon et al. 2008) on a discrete search space, with the model of `build_gpr`.

Kernel, mean and priors are Trieste's defaults; the noise is trained, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from trieste.acquisition.function import ExpectedFeasibility
from trieste.data import Dataset
from trieste.models.gpflow import GaussianProcessRegression, build_gpr
from trieste.space import DiscreteSearchSpace

from experiments.arena.peers.loop import Declared, Task, main


class Feasibility(Declared):
    def __init__(self, task: Task) -> None:
        tf.random.set_seed(task.seed)
        np.random.seed(task.seed)  # noqa: NPY002  gpflow's own source of random numbers
        self.points = tf.constant(task.points, dtype=tf.float64)
        self.space = DiscreteSearchSpace(self.points)

    def fit(self, places: Any, values: Any, level: float) -> None:
        self.level = level
        data = self._data(places, values)
        built = build_gpr(data, self.space, trainable_likelihood=True)
        self.model = GaussianProcessRegression(built)
        self.model.optimize(data)
        self.model.update(data)
        self.acquisition = ExpectedFeasibility(level).prepare_acquisition_function(self.model, data)

    def add(self, places: Any, values: Any) -> None:
        self.model.update(self._data(places, values))

    def posterior(self) -> tuple[Any, Any]:
        mean, variance = self.model.predict(self.points)
        return mean.numpy()[:, 0], np.sqrt(np.maximum(variance.numpy()[:, 0], 0.0))

    def choose(self) -> int:
        return int(tf.argmax(self.acquisition(self.points[:, None, :]))[0])

    def _data(self, places: Any, values: Any) -> Dataset:
        return Dataset(tf.gather(self.points, places), tf.constant(values[:, None], dtype=tf.float64))


if __name__ == "__main__":
    main(Feasibility)
