"""The complexity of (ST)^2 (Mason et al. 2020), the best known for independent arms and a fraction of the maximum.

    mu_i      value of arm i, mu_1 the largest
    alpha~    min over arms in the set of mu_i - (1 - eps) mu_1
    beta~     min over arms outside of (1 - eps) mu_1 - mu_i
    H         sum_i 1 / min of |(1 - eps) mu_1 - mu_i|, mu_1 + alpha~/(1 - eps) - mu_i, mu_1 + beta~/(1 - eps) - mu_i,
              squared; without the last where no arm is outside

`milk` on the points e_i is never below eps^2 H. The appendix also says that it is at most a constant times H. It is
not: it asks for every arm at the precision beta~, also for arms far below the level, and with many of those it exceeds
H by any factor. `milk_sharp`, which lets go of the pairs of an arm that is out, is between eps^2 H and 10 H:

* The design lambda_i proportional to the terms of H has 1/lambda_i <= H g_i1^2 and (1-eps)^2/lambda_j <= H g_kj^2, k
  the lowest arm of the set, so a pair of an arm in the set costs at most 2 H. For i outside the first half of the pair
  costs at most H, and the second H ((1-eps)(mu_1 - mu_j) + beta~)^2 / c_ij^2, where the bracket is at most 3 c_ij.
* Each term of H is at most that of one pair, but for the first of arm 1, of which (1, 1) gives eps^2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, as_floats, as_vector
from superlevel.bounds.setting import as_share, check_maximum, from_maximum
from superlevel.errors import InputError


def st2(values: ArrayLike, epsilon: float) -> float:
    """H of (ST)^2 for independent arms with these values (n,). Infinite where an arm is exactly at the level.

    >>> round(st2([1.0, 0.2], 0.5), 3)      # alpha~ = 0.5, beta~ = 0.3: max(4, 1, 2.78) + max(11.11, 0.31, 0.51)
    15.111
    """
    share, mu = as_share(epsilon), _arms(values)
    check_maximum(mu)
    top, above = float(mu.max()), from_maximum(share, mu)
    margin, within = np.abs(above), above > 0.0
    if (margin == 0.0).any():
        return np.inf
    nearest = np.minimum(margin, top + margin[within].min() / share - mu)
    if not within.all():
        nearest = np.minimum(nearest, top + margin[~within].min() / share - mu)
    return float(np.sum(nearest**-2.0))


def _arms(values: ArrayLike) -> Array:
    given = as_floats("values", values)
    if given.ndim != 1 or given.size == 0:
        raise InputError("values", f"of shape {given.shape}", "give one value for each arm")
    return as_vector("values", given, length=len(given))
