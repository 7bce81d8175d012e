"""RKHS widths from other bounds on the information gain, with which LSE is compared."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from superlevel.confidence.rkhs import Rkhs, RkhsWidth
from superlevel.posterior import GaussianPosterior
from superlevel.problem import Problem


@dataclass(frozen=True, kw_only=True)
class OfRank(Rkhs):
    """For a kernel of this rank on the points, instead of the dimension of its features."""

    rank: int

    def widths(self, problem: Problem, prior: GaussianPosterior, /) -> RkhsWidth:
        return replace(super().widths(problem, prior), rank=self.rank)


@dataclass(frozen=True, kw_only=True)
class Loose(Rkhs):
    """From d log(1 + t), which is what "of the order of d log T" comes to if nothing is done about its constant."""

    def widths(self, problem: Problem, prior: GaussianPosterior, /) -> RkhsWidth:
        return LooseWidth(**vars(super().widths(problem, prior)))


class LooseWidth(RkhsWidth):
    """At least twice the information gain of d / 2 log(1 + t L^2 / (d sigma^2)), for L <= sigma."""

    def information(self, count: int) -> float:
        return self.rank * float(np.log1p(count))
