"""MELK's and MILK's designs by Frank-Wolfe, as the appendix on the linear experiments has it.

"We set the step-size of Frank-Wolfe method as 0.5 and cap the maximum number of iteration to converge for Frank-Wolfe
to 2000." The algorithm that it refers to prints the step eta_t = 1 / (t + 2), from lambda = e_1. A step size of 0.5 is
then eta_t = 0.5 / (t + 2), and the step size 1 of the kernel experiments is the printed one. Taken literally, 0.5 is
the same step at every iteration. Both are here. No criterion is given that ends the iterations before the cap, so all
of them are made. The design has no certificate, but N_t grows with its value, so that no guarantee depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass

from superlevel import design
from superlevel.records import View
from superlevel.rules.design import OptimalDesign


@dataclass(frozen=True, kw_only=True)
class DecreasingSteps(OptimalDesign):
    """Steps of ``step`` / (t + 2) from lambda = e_1 in every round."""

    iterations: int = 2000
    step: float = 0.5

    def solved(self, view: View) -> design.Design:
        arms, wanted, ridge = self.posed(view)
        return design.solve(arms, wanted, ridge=ridge, rtol=self.rtol, method=self.solver())

    def solver(self) -> design.FrankWolfe:
        """What solves for the design."""
        return design.FrankWolfe(iterations=self.iterations, step=self.step)


@dataclass(frozen=True, kw_only=True)
class EqualSteps(DecreasingSteps):
    """Steps of ``step`` each."""

    def solver(self) -> design.FrankWolfe:
        return design.FixedFrankWolfe(iterations=self.iterations, step=self.step)
