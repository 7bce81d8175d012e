"""Kernels as text and as data: what people type, and what a study keeps.

text         4.0 * RBF(0.1) + WhiteKernel(0.01)    `parse` reads it, `expression` writes it, `phrase` shortly
description  {"kernel": "Sum", "k1": {...}, ...}   strict JSON: `restore` reads it, `describe` writes it
kernel       an object of scikit-learn, of `own`, or of a class that is imported; None for the linear kernel

>>> kernel = parse("4 * Matern([0.2, 1], nu=2.5) + whitekernel(0.01)")
>>> expression(kernel)
'4.0 * Matern([0.2, 1.0], nu=2.5) + WhiteKernel(0.01)'
>>> restore(describe(kernel)) == kernel
True
"""

from typing import TYPE_CHECKING, Any

from superlevel.kernels.descriptions import describe, restore
from superlevel.kernels.table import OWN
from superlevel.kernels.text import expression, parse, phrase

if TYPE_CHECKING:
    from superlevel.kernels.own import On, Tanimoto


def __getattr__(name: str) -> Any:
    """The classes, which import scikit-learn."""
    if name in OWN:
        from superlevel.kernels import own  # noqa: PLC0415

        return getattr(own, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["On", "Tanimoto", "describe", "expression", "parse", "phrase", "restore"]
