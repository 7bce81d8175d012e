"""Which points are looked for, and which bounds decide that.

>>> Threshold(20.0).question, Band(10.0, 20.0).question, FractionOfMax(0.1).question
('above 20', 'between 10 and 20', 'within 10 % of the maximum')
"""

from superlevel.goals.explicit import Band, Levels, Threshold
from superlevel.goals.implicit import FractionByPoints, FractionOfMax
from superlevel.goals.protocol import KINDS, Goal, parse, restore, summary
from superlevel.goals.reading import (
    ABOVE,
    BELOW,
    UNDECIDED,
    Bounds,
    Reading,
    apply_tolerance,
    classes,
    decided,
    labels_of,
)

__all__ = [
    "ABOVE",
    "BELOW",
    "KINDS",
    "UNDECIDED",
    "Band",
    "Bounds",
    "FractionByPoints",
    "FractionOfMax",
    "Goal",
    "Levels",
    "Reading",
    "Threshold",
    "apply_tolerance",
    "classes",
    "decided",
    "labels_of",
    "parse",
    "restore",
    "summary",
]
