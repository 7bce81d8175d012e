"""Every method of the field, by its name: ``make(name, problem)``."""

from superlevel.methods.loop import Method
from superlevel.methods.make import make
from superlevel.methods.table import CONFIDENCES, NAMES

__all__ = ["CONFIDENCES", "NAMES", "Method", "make"]
