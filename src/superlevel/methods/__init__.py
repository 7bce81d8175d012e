"""Every method of the field, by its name: ``make(name, problem)``."""

from superlevel.methods.loop import Method
from superlevel.methods.table import CONFIDENCES, NAMES, make

__all__ = ["CONFIDENCES", "NAMES", "Method", "make"]
