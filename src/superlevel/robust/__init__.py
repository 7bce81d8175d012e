"""Means of samples that may have heavy tails, of one direction or of very many at once.

An estimate holds with probability 1 - delta for each direction by itself: a union bound is the caller's.

>>> samples = [1.0] * 60 + [2.0] * 39 + [1000.0]
>>> round(catoni(samples, variance=1.0, delta=0.05), 2)  # the plain mean is 11.4
1.8
"""

from superlevel.robust.alternatives import (
    mean,
    mean_deviation,
    median_of_means,
    median_of_means_deviation,
    trimmed_mean,
    trimmed_mean_deviation,
)
from superlevel.robust.estimators import CATONI, MEAN, MEDIAN_OF_MEANS, TRIMMED_MEAN, Estimator, as_estimator
from superlevel.robust.influence import catoni, catoni_deviation, catoni_reach, catoni_scale
from superlevel.robust.samples import Grouped, Products

__all__ = [
    "CATONI",
    "MEAN",
    "MEDIAN_OF_MEANS",
    "TRIMMED_MEAN",
    "Estimator",
    "Grouped",
    "Products",
    "as_estimator",
    "catoni",
    "catoni_deviation",
    "catoni_reach",
    "catoni_scale",
    "mean",
    "mean_deviation",
    "median_of_means",
    "median_of_means_deviation",
    "trimmed_mean",
    "trimmed_mean_deviation",
]
