"""How good a design is, and a proof that no design is much better.

    A  = sum_i lambda_i phi_i phi_i' + ridge I        M   = sum_v w_v v v'  for a mixture w of targets
    s_v = v' A^-1 v                                   g_i = phi_i' A^-1 M A^-1 phi_i
    T  = tr(A^-1 M) = sum_v w_v s_v                   R   = tr(A^-2 M)

For any distributions lambda and w

    T^2 / (max_i g_i + ridge R)   <=   min over designs of max_v s_v   <=   max_v s_v,

since tr(B^-1 M) >= 2 tr(Y' M^1/2) - tr(Y' B Y) for every Y; take Y = c A^-1 M^1/2, maximise over the design in B and
then over c. The identity sum_i lambda_i g_i + ridge R = T gives R without another factorisation. The bound is one for
the average tr(B^-1 M) first, and so it certifies designs for a mixture that is held fixed as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError

from superlevel.arrays import Array, Indices
from superlevel.design.arms import Look, Root
from superlevel.design.information import Whitened, factor_of
from superlevel.design.mixtures import Mixture
from superlevel.design.problem import DesignProblem
from superlevel.design.targets import Variances, View


@dataclass(frozen=True, kw_only=True, eq=False)
class Proof:
    """What one design and one mixture prove."""

    look: Look
    """Of all arms."""
    average: float
    """T"""
    shrinkage: float
    """ridge R"""
    truncation: float
    """At most what the features miss of the value."""

    @property
    def gains(self) -> Array:
        """(n,) g, what measuring at an arm would take off T."""
        return self.look.gains

    @property
    def roots(self) -> Array:
        """(n, k) rows whose inner products are phi_i' A^-1 M A^-1 phi_j."""
        return self.look.roots.written()

    @property
    def kept(self) -> float:
        """The value in the features: here that of a mixture that is held fixed."""
        return self.average

    @property
    def value(self) -> float:
        return self.kept + self.truncation

    @cached_property
    def lower_bound(self) -> float:
        if self.average == 0:
            return 0.0  # a mixture of targets that are zero proves nothing
        return self.average**2 / (float(self.gains.max()) + self.shrinkage)

    @property
    def gap(self) -> float:
        return self.value / self.lower_bound - 1 if self.average > 0 else np.inf

    @property
    def kept_gap(self) -> float:
        """The gap without what the features miss."""
        return self.kept / self.lower_bound - 1 if self.average > 0 else np.inf

    def limited_by_features(self, rtol: float) -> bool:
        """Whether what the features miss is most of a gap that is wanted smaller."""
        return self.truncation > 0 and self.kept_gap <= rtol / 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation(Proof):
    """One full evaluation: every arm and every target, at one design and one mixture."""

    through: Whitened
    """The arms in coordinates where A is the identity."""
    view: View
    """The targets in those coordinates."""
    variances: Variances
    """s at the targets."""
    mixture: Mixture
    """The mixture's targets in those coordinates."""
    mixed_variances: Array
    """(m,) s at them."""

    @property
    def arms(self) -> Array:
        """(n, r)"""
        return self.through.arms.written()

    @property
    def mixed(self) -> Array:
        """(m, r) the mixture's targets."""
        return self.mixture.rows

    @property
    def kept(self) -> float:
        """The largest s."""
        return float(self.variances.values.max())


def evaluate(
    problem: DesignProblem,
    weights: Array,  # (n,)
    positions: Indices,  # (m,) the mixture's targets
    mixture: Array,  # (m,) their weights, with sum 1
) -> Evaluation:
    """Value and bound over all arms and targets. Raises LinAlgError where the design does not reach every arm."""
    factor = factor_of(problem.arms, weights, ridge=problem.ridge)
    through = Whitened(factor=factor, arms=problem.arms.whitened(factor))
    view = problem.targets.view(through)
    mixed = Mixture(view=view, positions=positions, weights=mixture, rank=len(factor))
    look = through.arms.look(_root(mixed))
    variances, mixed_variances = view.variances(look), mixed.variances
    average = float(mixed_variances @ mixture)
    return Evaluation(
        through=through,
        view=view,
        variances=variances,
        mixture=mixed,
        mixed_variances=mixed_variances,
        look=look,
        average=average,
        shrinkage=max(0.0, average - float(weights @ look.gains)),
        truncation=truncation(problem, weights, missed=problem.missed, kept=float(variances.values.max())),
    )


def _root(mixed: Mixture) -> Root:
    """Of M where A is the identity, with as few columns as M allows."""
    if mixed.few:
        return Root(matrix=mixed.weighted(), lower=False)
    try:
        return Root(matrix=mixed.lower(), lower=True)
    except LinAlgError:  # M is singular
        return Root(matrix=mixed.triangle(), lower=False)


def truncation(problem: DesignProblem, weights: Array, *, missed: float, kept: float) -> float:
    """At most what s = ``kept`` lacks of a target of which the features miss the squared length ``missed``.

    With phi = (kept, missed) and the Schur complement of A's kept block at least ridge I, the true s exceeds the
    kept one by at most |missed(v) - sum_i lambda_i missed(i) c_i|^2 / ridge, where sum_i lambda_i c_i^2 <= s. By
    Cauchy and Schwarz that is (sqrt(residual(v)) + sqrt(s sum_i lambda_i residual(i)))^2 / ridge. It is concave in
    (residual(v), s), so that their averages over a mixture bound the average.
    """
    if problem.residuals is None:
        return 0.0
    return float(np.sqrt(missed) + np.sqrt(float(weights @ problem.residuals) * kept)) ** 2 / problem.ridge
