"""Find every point of a domain where an unknown function exceeds a level, and say how sure that is."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from superlevel import transforms
from superlevel.domain import Domain
from superlevel.errors import AssumptionWarning, InputError, SuperlevelError
from superlevel.goals import Band, FractionOfMax, Goal, Levels, Threshold
from superlevel.problem import Problem
from superlevel.scales import Choice, Integers, Log, Range

if TYPE_CHECKING:
    from superlevel import bounds as bounds
    from superlevel import design as design
    from superlevel import features as features
    from superlevel import hyperparameters as hyperparameters
    from superlevel import kernels as kernels
    from superlevel import methods as methods
    from superlevel import oracles as oracles
    from superlevel import posterior as posterior
    from superlevel import robust as robust
    from superlevel import rules as rules
    from superlevel.classifier import LevelSetClassifier as LevelSetClassifier
    from superlevel.closed_loop import Found as Found
    from superlevel.closed_loop import find as find
    from superlevel.clusters import cluster as cluster
    from superlevel.commands import Command as Command
    from superlevel.confidence.posterior import Posterior as Posterior
    from superlevel.confidence.ridge import Ridge as Ridge
    from superlevel.confidence.rips import Rips as Rips
    from superlevel.confidence.rkhs import Rkhs as Rkhs
    from superlevel.simulation import Run as Run
    from superlevel.simulation import simulate as simulate
    from superlevel.study import Result as Result
    from superlevel.study import Study as Study

__version__ = "0.1.0"

__all__ = [
    "AssumptionWarning",
    "Band",
    "Choice",
    "Command",
    "Domain",
    "Found",
    "FractionOfMax",
    "Goal",
    "InputError",
    "Integers",
    "LevelSetClassifier",
    "Levels",
    "Log",
    "Posterior",
    "Problem",
    "Range",
    "Result",
    "Ridge",
    "Rips",
    "Rkhs",
    "Run",
    "Study",
    "SuperlevelError",
    "Threshold",
    "bounds",
    "cluster",
    "design",
    "features",
    "find",
    "hyperparameters",
    "kernels",
    "methods",
    "oracles",
    "posterior",
    "robust",
    "rules",
    "simulate",
    "transforms",
]

_MODULES = {
    *(
        "audits",
        "bounds",
        "design",
        "features",
        "hyperparameters",
        "kernels",
        "methods",
        "oracles",
        "posterior",
        "robust",
    ),
    "rules",
}
_NAMES = {
    "Command": "commands",
    "Found": "closed_loop",
    "LevelSetClassifier": "classifier",
    "Posterior": "confidence.posterior",
    "Result": "study",
    "Ridge": "confidence.ridge",
    "Rips": "confidence.rips",
    "Rkhs": "confidence.rkhs",
    "Run": "simulation",
    "Study": "study",
    "cluster": "clusters",
    "find": "closed_loop",
    "simulate": "simulation",
}


def __getattr__(name: str) -> Any:
    """Modules that need scipy are imported when first used: `superlevel --help` does without."""
    if name in _MODULES:
        return import_module(f"superlevel.{name}")
    if name in _NAMES:
        return getattr(import_module(f"superlevel.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Names that are imported when first used are shown from the beginning."""
    return sorted({*globals(), *_MODULES, *_NAMES})
