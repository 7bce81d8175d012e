"""How much rougher or calmer f is here than elsewhere, as the errors of nearby predictions show it.

A kernel of one length takes f for equally rough everywhere. Real fields have fronts and plains. Each measured point i
has a deviate z_i: how far it is from what all others predict. Let g be the mean square of all deviates, and N(x) the k
measured points that are nearest to x, without x itself. Then

    s_a(x)^2 = (a g + sum over N(x) of z_j^2) / (a g + k g)

is the local scale of f if the neighbours have to outvote a measurements of the average kind. The deviates themselves
say how large a has to be: the scales are averaged over a with the weights

    w_a  ~  product over i of N(z_i; 0, g s_a(x_i)^2),

and a = infinity, which is the same scale everywhere, is one of the choices. Functions drawn from a single kernel get
scales near 1. Squares count up to `LARGEST`, so that one outlier does not make a region rough.
"""

from __future__ import annotations

import math

import numpy as np
from sklearn.neighbors import NearestNeighbors

from superlevel.arrays import Array

NEIGHBOURS = 16  # k
AGAINST = (math.inf, 64.0, 32.0, 16.0, 8.0, 4.0)  # a
LARGEST = 9.0  # a square counts as no more than that
FEWEST = 20  # measured points that can show a difference


def scales(measured: Array, deviates: Array, places: Array) -> Array:
    """(n,) the local scale at places (n, d), from deviates (q,) at measured places (q, d), in one metric."""
    squares = np.minimum(np.square(deviates), LARGEST)
    mean = float(squares.mean()) if len(squares) else 0.0
    if len(squares) < FEWEST or mean == 0.0 or not places.shape[1]:
        return np.ones(len(places))
    relative, k = squares / mean, min(NEIGHBOURS, len(squares) - 1)
    search = NearestNeighbors(n_neighbors=k).fit(measured)
    beside = relative[search.kneighbors(return_distance=False)].sum(axis=1)  # each without itself
    near = relative[search.kneighbors(places, return_distance=False)].sum(axis=1)
    logs = np.array([_log_likelihood(relative, _squared(beside, k, against)) for against in AGAINST])
    weights = np.exp(logs - logs.max())
    squared = np.stack([_squared(near, k, against) for against in AGAINST])
    return np.asarray(np.sqrt(weights @ squared / weights.sum()))


def _squared(sums: Array, count: int, against: float) -> Array:
    """s_a^2 from sums of ``count`` squares, relative to their mean."""
    return np.ones_like(sums) if math.isinf(against) else (against + sums) / (against + count)


def _log_likelihood(relative: Array, squared: Array) -> float:
    return -0.5 * float((np.log(squared) + relative / squared).sum())
