"""Optimal designs with certificates: where to measure, and a proof that no other choice is much better.

>>> import numpy as np
>>> import superlevel as sl
>>> arms = np.random.default_rng(0).normal(size=(50, 4))
>>> design = sl.design.solve(arms, ridge=1e-3, rtol=0.01)
>>> design.gap <= 0.01
True
>>> bool(np.isclose(sl.design.certify(arms, None, design.weights, design.dual, ridge=1e-3), design.lower_bound))
True
"""

from superlevel.design.api import Method, solve
from superlevel.design.audit import Review, certify, review
from superlevel.design.frank_wolfe import FixedFrankWolfe, FrankWolfe
from superlevel.design.information import information_factor
from superlevel.design.interior import InteriorPoint
from superlevel.design.result import Design, Status
from superlevel.design.rounding import apportion, draw, efficiency, systematic
from superlevel.design.targets import Pairs, Rows, Subset, targets

__all__ = [
    "Design",
    "FixedFrankWolfe",
    "FrankWolfe",
    "InteriorPoint",
    "Method",
    "Pairs",
    "Review",
    "Rows",
    "Status",
    "Subset",
    "apportion",
    "certify",
    "draw",
    "efficiency",
    "information_factor",
    "review",
    "solve",
    "systematic",
    "targets",
]
