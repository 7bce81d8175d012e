"""Find every point of a domain where an unknown function exceeds a level, and say how sure that is."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from superlevel.domain import Domain
from superlevel.errors import InputError, SuperlevelError
from superlevel.goals import FractionOfMax, Goal, Threshold
from superlevel.problem import Problem

if TYPE_CHECKING:
    from types import ModuleType

    from superlevel import design as design
    from superlevel import features as features

__version__ = "0.1.0"

__all__ = [
    "Domain",
    "FractionOfMax",
    "Goal",
    "InputError",
    "Problem",
    "SuperlevelError",
    "Threshold",
    "design",
    "features",
]


def __getattr__(name: str) -> ModuleType:
    """Modules that need scipy are imported when first used: `superlevel --help` does without."""
    if name in {"design", "features"}:
        return import_module(f"superlevel.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
