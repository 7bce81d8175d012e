"""What is looked for, as the command line takes it."""

from __future__ import annotations

from superlevel.arrays import as_number
from superlevel.errors import InputError
from superlevel.goals import FractionOfMax, Goal, Threshold


def as_goal(threshold: float | None, fraction: float | None) -> Goal:
    """Of --threshold and --fraction-of-max, exactly one."""
    if (threshold is None) == (fraction is None):
        got = "missing" if threshold is None else "there together with --fraction-of-max"
        raise InputError("--threshold", got, "give either --threshold or --fraction-of-max")
    if threshold is not None:
        return Threshold(as_number("--threshold", threshold))
    return FractionOfMax(as_number("--fraction-of-max", fraction, above=0, below=1))
