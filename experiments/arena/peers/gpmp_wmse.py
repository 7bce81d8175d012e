"""gpmp and gpmp-contrib: the weighted mean squared error of an excursion set (Picheny et al. 2010, Bect et al. 2012).

Constant mean, Matern 5/2 with a length for each coordinate, and everything estimated by restricted maximum likelihood,
as gpmp-contrib does by default. Its ready models know no noise or a given one: the noise is one more parameter here.
"""

from __future__ import annotations

import warnings
from typing import Any

import gpmp as gp
import gpmp.num as gnp
import numpy as np
from gpmpcontrib.samplingcriteria import excursion_wMSE
from scipy.special import gammaln

from experiments.arena.peers.loop import Declared, Task, main

SMOOTHNESS = 2  # p of nu = p + 1/2
START = 0.01  # of the noise's variance, as a share of the other one


def covariance(x: Any, y: Any, parameters: Any, pairwise: bool = False) -> Any:
    """Parameters: the logarithms of noise, variance and inverse lengths. Only measurements have noise."""
    found = gp.kernel.maternp_covariance(x, y, SMOOTHNESS, parameters[1:], pairwise)
    if (y is x or y is None) and not pairwise:
        found = found + gnp.exp(parameters[0]) * gnp.eye(x.shape[0])
    return found


def constant(x: Any, _parameters: Any) -> Any:
    return gnp.ones((x.shape[0], 1))


class Gpmp(Declared):
    def __init__(self, task: Task) -> None:
        warnings.simplefilter("ignore")
        self.points = gnp.asarray(task.points)
        self.model = gp.core.Model(constant, covariance)

    def fit(self, places: Any, values: Any, level: float) -> None:
        self.level = level
        measured, told = self.points[places], gnp.asarray(values)
        d = self.points.shape[1]
        # gpmp's own first guess, for the box of all points: some coordinates may not vary among the measured ones.
        length = np.exp(gammaln(d / 2 + 1) / d) / np.sqrt(np.pi)
        start = gnp.asarray([np.log(START), 0.0, *[-np.log(length)] * d])
        self.model, _ = gp.kernel.select_parameters_with_criterion(
            self.model, gp.kernel.negative_log_restricted_likelihood, measured, told, covparam0=start
        )
        self.add(places, values)

    def add(self, places: Any, values: Any) -> None:
        self.mean, self.variance = self.model.predict(self.points[places], gnp.asarray(values), self.points)

    def posterior(self) -> tuple[Any, Any]:
        return self.mean, np.sqrt(np.maximum(self.variance, 0.0))

    def choose(self) -> int:
        mean, variance = gnp.asarray(self.mean), gnp.asarray(np.maximum(self.variance, 0.0))
        return int(gnp.argmax(excursion_wMSE(self.level, mean, variance)))


if __name__ == "__main__":
    main(Gpmp)
