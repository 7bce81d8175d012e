"""The paper's solver: Frank-Wolfe by the kernel trick (its last appendix), for faithfulness and comparison.

With lambda on s arms, k_lambda(x)_i = sqrt(lambda_i) k(x_i, x) and (K_lambda)_ij = sqrt(lambda_i lambda_j) k(x_i, x_j),

    phi(x)' A^-1 phi(y) = k(x, y) / ridge - k_lambda(x)' (K_lambda + ridge I)^-1 k_lambda(y) / ridge.

The paper prints this lemma without the inverse on the right and on A; its algorithm with norms in A, the arg max of the
gradient, the worst x over all arms and "+ eta" alone. Meant, and done here: norms in A^-1, the worst target over the
undecided set, the arm j with the largest (v' A^-1 phi_j)^2 and lambda <- (1 - eta) lambda + eta e_j.

The method follows a subgradient of a maximum, so nothing makes it converge: after 500 steps on the paper's grid it is
some per cent above the optimum, and more the smaller the ridge. The dual it leaves behind is the average of the worst
targets it met, with the weights of their steps. With a mixture of targets held fixed there is a gradient, and it does
converge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from superlevel import linalg
from superlevel.arrays import Array, Indices, as_count, as_number
from superlevel.costs import Cost, of_frank_wolfe
from superlevel.design.average import AverageProblem
from superlevel.design.certificate import evaluate
from superlevel.design.problem import DesignProblem
from superlevel.design.result import Design, Status, Watch, found
from superlevel.errors import InputError


@dataclass(frozen=True)
class FrankWolfe:
    """``iterations`` steps of size ``step`` / (t + 2), t = 1, 2, ..."""

    iterations: int = 500
    """The paper takes 500 in its kernel experiments and 2,000 in its linear ones."""
    step: float = 1.0
    """The paper takes 1 in its kernel experiments and 0.5 in its linear ones."""

    def __post_init__(self) -> None:
        as_count("iterations", self.iterations)
        as_number("step", self.step, above=0, below=3)  # a first step of step / 3 may not reach 1

    def eta(self, t: int) -> float:
        """The size of step t, from 1."""
        return self.step / (t + 2)

    def cost(self, problem: DesignProblem) -> Cost:
        """About what `run` takes."""
        count = int(np.count_nonzero(problem.targets.mask))
        return of_frank_wolfe(problem.arms.shape, count, self.iterations)

    def run(
        self,
        problem: DesignProblem | AverageProblem,
        *,
        rtol: float,
        start: Design | None = None,
        watch: Watch | None = None,
    ) -> Design:
        """The design after all iterations, with the gap it has; rtol only decides what its status says."""
        problem = problem.written()
        average = problem if isinstance(problem, AverageProblem) else None
        whole = problem.problem if isinstance(problem, AverageProblem) else problem
        if whole.ridge == 0:
            raise InputError("ridge", 0, "FrankWolfe divides by it: give a ridge > 0 or use InteriorPoint")
        weights = np.zeros(whole.arms.shape[0])
        weights[0] = 1.0  # e_1, as printed
        if start is not None:
            weights = start.weights.copy()
        design = self._worst(whole, weights) if average is None else self._average(average, weights)
        if watch is not None:
            watch(design)
        status = Status.CERTIFIED if design.gap <= rtol else Status.ITERATIONS
        return replace(design, status=status, iterations=self.iterations)

    def _worst(self, problem: DesignProblem, weights: Array) -> Design:
        positions = np.flatnonzero(problem.targets.mask)
        lemma = _Lemma(problem.arms.written(), problem.directions().rows(positions), problem.ridge)
        mixture = np.zeros(len(positions))
        for t in range(1, self.iterations + 1):
            worst, chosen = lemma.worst_and_best(weights)
            eta = self.eta(t)
            weights *= 1 - eta
            weights[chosen] += eta
            mixture *= 1 - eta
            mixture[worst] += eta
        met = np.flatnonzero(mixture)
        dual = positions[met], mixture[met] / mixture.sum()
        return found(problem, weights, dual, evaluate(problem, weights, *dual))

    def _average(self, average: AverageProblem, weights: Array) -> Design:
        """The gradient of a fixed mixture's average is -g, and this is the method of Frank and Wolfe (1956)."""
        for t in range(1, self.iterations + 1):
            chosen = int(average.evaluate(weights).gains.argmax())
            eta = self.eta(t)
            weights *= 1 - eta
            weights[chosen] += eta
        seen = average.evaluate(weights)
        return found(average.problem, weights, (average.positions, average.mixture), seen)


@dataclass(frozen=True)
class FixedFrankWolfe(FrankWolfe):
    """``iterations`` steps that all have the size ``step``: "step-size 0.5", taken literally.

    With 0.5, half of the weight is on the arm of the last step and a quarter on the one before, so the design does not
    settle. On the paper's linear benchmark its value is 1.2 to 1.6 times the optimum on average, and up to 2.5 times,
    where FrankWolfe's is within 6 %.
    """

    iterations: int = 2000
    step: float = 0.5

    def __post_init__(self) -> None:
        as_count("iterations", self.iterations)
        as_number("step", self.step, above=0, below=1)

    def eta(self, _t: int, /) -> float:
        return self.step


class _Lemma:
    """Variances of all targets from the kernel rows of the support. Rows are computed once, when an arm enters."""

    def __init__(
        self,
        arms: Array,  # (n, r)
        targets: Array,  # (p, r)
        ridge: float,
    ) -> None:
        self.arms, self.targets, self.ridge = arms, targets, ridge
        self.lengths = linalg.squared_norms(targets)
        self.support: Indices = np.empty(0, dtype=np.int64)
        self.to_arms = np.empty((0, len(arms)))
        self.to_targets = np.empty((0, len(targets)))

    def worst_and_best(self, weights: Array) -> tuple[int, int]:
        """The target v with the largest s_v, and the arm j with the largest (v' A^-1 phi_j)^2."""
        self._extend(np.setdiff1d(np.flatnonzero(weights), self.support))
        roots = np.sqrt(weights[self.support])
        system = np.asfortranarray(roots[:, None] * self.to_arms[:, self.support] * roots)  # K_lambda
        linalg.add_to_diagonal(system, self.ridge)
        factor = linalg.cholesky(system)
        half = linalg.whiten(factor, (roots[:, None] * self.to_targets).T)  # (p, s): rows L^-1 k_lambda(v)
        variances = (self.lengths - linalg.squared_norms(half)) / self.ridge
        worst = int(variances.argmax())
        inside = roots * linalg.cholesky_solve(factor, roots * self.to_targets[:, worst])
        across = linalg.times(self.arms, self.targets[worst]) - linalg.transposed_times(self.to_arms, inside)
        return worst, int(np.abs(across).argmax())

    def _extend(self, fresh: Indices) -> None:
        if len(fresh):
            self.support = np.concatenate([self.support, fresh])
            self.to_arms = np.concatenate([self.to_arms, linalg.inner(self.arms[fresh], self.arms)])
            self.to_targets = np.concatenate([self.to_targets, linalg.inner(self.arms[fresh], self.targets)])
