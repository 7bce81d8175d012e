"""How many measurements it takes: bounds that no algorithm beats, bounds that the paper's algorithms keep, and plans.

>>> import numpy as np
>>> from superlevel import Domain
>>> bound = explicit(Domain(np.eye(3)), [0.4, 0.6, 1.0], threshold=0.5, noise=1.0, delta=0.1)
>>> round(bound.samples)     # 2 log(1 / 0.24) (1 / 0.1^2 + 1 / 0.1^2 + 1 / 0.5^2)
582
"""

from superlevel.bounds.complexity import Complexity, melk, milk, milk_sharp
from superlevel.bounds.forecast import End, Expressed, Forecast, expressed, foretell, norm_of
from superlevel.bounds.ideal_rounds import Round, rounds
from superlevel.bounds.implicit_lower import Alternatives, ImplicitBound, implicit
from superlevel.bounds.information import Gain, effective_dimension, information_gain
from superlevel.bounds.lower import ExplicitBound, LowerBound, explicit
from superlevel.bounds.pilot import filled
from superlevel.bounds.planning import ESTIMATES, Case, Cell, Estimate, Plan, Row, plan, sweep
from superlevel.bounds.printed import PrintedBound, implicit_printed
from superlevel.bounds.resolution import Resolution, resolution
from superlevel.bounds.theorems import UpperBound, upper
from superlevel.bounds.unstructured import st2

__all__ = [
    "ESTIMATES",
    "Alternatives",
    "Case",
    "Cell",
    "Complexity",
    "End",
    "Estimate",
    "ExplicitBound",
    "Expressed",
    "Forecast",
    "Gain",
    "ImplicitBound",
    "LowerBound",
    "Plan",
    "PrintedBound",
    "Resolution",
    "Round",
    "Row",
    "UpperBound",
    "effective_dimension",
    "explicit",
    "expressed",
    "filled",
    "foretell",
    "implicit",
    "implicit_printed",
    "information_gain",
    "melk",
    "milk",
    "milk_sharp",
    "norm_of",
    "plan",
    "resolution",
    "rounds",
    "st2",
    "sweep",
    "upper",
]
