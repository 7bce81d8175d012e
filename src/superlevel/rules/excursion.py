"""SUR: stepwise reduction of the uncertainty about the excursion set {f > alpha}, and so about its volume.

The uncertainty is sum_j p_j (1 - p_j) with p_j = P(f_j > alpha), the integrated variance of the indicator. Given a
measurement at x two independent copies of f_j are correlated by rho = r_jx^2, so E p_j+^2 = Phi_2(a_j, a_j; rho), and

    E p_j+ (1 - p_j+) = Phi(a_j) - Phi_2(a_j, a_j; rho) = 2 T(a_j, sqrt((1 - rho) / (1 + rho)))

with Owen's T. The rule takes the largest drop of the sum (Bect, Ginsbourger, Li, Picheny and Vazquez 2012, Statistics
and Computing 22:773; in closed form by Chevalier et al. 2014, Technometrics 56:455). With several levels the sums are
added. The variance of the excursion volume, as a share of all points, is at most the mean of p (1 - p).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, owens_t

from superlevel.arrays import Array
from superlevel.rules.correlations import LabelGain


@dataclass(frozen=True)
class Sur(LabelGain):
    """The largest expected drop of sum p (1 - p)."""

    def gain(self, a: Array, rho: Array) -> Array:
        return np.asarray(ndtr(a) * ndtr(-a) - 2 * owens_t(a, np.sqrt((1 - rho) / (1 + rho))))
