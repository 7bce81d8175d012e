"""A guess of f everywhere, from measurements at some of the points."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import DotProduct

from superlevel.arrays import Array, as_floats
from superlevel.errors import InputError
from superlevel.problem import Problem

JITTER = 1e-10  # of the largest k(x, x), where the measurements have no noise


def filled(problem: Problem, values: ArrayLike) -> Array:
    """(n,) the values, with NaN replaced by the Gaussian posterior mean given the others.

    The prior has the problem's mean and kernel, the measurements its noise. Values that are given stay as they are.
    """
    given = as_floats("values", values)
    n = problem.domain.n
    if given.shape != (n,):
        raise InputError("values", f"of shape {given.shape}", f"give shape ({n},)")
    if np.isinf(given).any():
        at = int(np.argmax(np.isinf(given)))
        raise InputError(f"values[{at}]", given[at], "give finite numbers, or NaN where f is not known")
    known = ~np.isnan(given)
    if known.all():
        return given.copy()
    if not known.any():
        raise InputError("values", "NaN everywhere", "give a guess or a measurement for at least one point")
    points, kernel = problem.domain.points, problem.domain.kernel
    noise = problem.deviations[known] ** 2 + JITTER * float(problem.domain.diagonal().max())
    prior = DotProduct(0.0, "fixed") if kernel is None else kernel
    model = GaussianProcessRegressor(prior, alpha=noise, optimizer=None)
    model.fit(points[known], given[known] - problem.mean)
    whole = given.copy()
    whole[~known] = problem.mean + model.predict(points[~known])
    return whole
