"""The kernels that can be written down, and what their arguments may be.

Values are as a description has them: floats, lists, "fixed" for bounds, and "inf", which strict JSON has no number for.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from superlevel.arrays import Array, frozen
from superlevel.errors import InputError

DEEPEST = 50  # kernels within kernels; what scikit-learn does with them is recursive, too

Description: TypeAlias = dict[str, Any]

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 100


class KernelError(Exception):
    """What is wrong, as a clause that follows what was given, and the remedy. It never leaves these modules."""

    def __init__(self, clause: str, remedy: str) -> None:
        super().__init__(clause, remedy)
        self.clause = clause
        self.remedy = remedy


@contextmanager
def named(field: str, given: object) -> Iterator[None]:
    """A mistake within, as a sentence about what was given."""
    try:
        yield
    except KernelError as error:
        raise InputError(field, f"{_SHORT.repr(given)}, {error.clause}", error.remedy) from error


def check_depth(depth: int) -> None:
    if depth > DEEPEST:
        raise KernelError("which is nested too deeply", f"give at most {DEEPEST} kernels within each other")


def shown(value: object) -> str:
    """A value as a clause shows it."""
    if isinstance(value, str) and value == "inf":
        return "inf"
    return "a kernel" if isinstance(value, dict) and "kernel" in value else _SHORT.repr(value)


@dataclass(frozen=True, kw_only=True)
class Number:
    """An argument that is a number above zero."""

    default: float = 1.0
    zero: bool = False
    """Whether it may be zero."""
    infinite: bool = False
    """Whether it may be infinite."""
    vector: bool = False
    """Whether it may be a list, one number for each coordinate."""

    def read(self, where: str, value: object) -> float | Array:
        """The number, or an array (d,) of them, as scikit-learn takes it."""
        numbers = [as_float(item) for item in (value if self.vector and isinstance(value, list) else [value])]
        fitting = [number for number in numbers if number is not None and self._fits(number)]
        if not numbers or len(fitting) < len(numbers):
            remedy = f"give a {'' if self.infinite else 'finite '}number {'>=' if self.zero else '>'} 0"
            remedy += ", or a list of them, one for each coordinate" * self.vector
            raise KernelError(f"where {where} is {shown(value)}", remedy)
        return frozen(np.array(fitting)) if isinstance(value, list) else fitting[0]

    def _fits(self, number: float) -> bool:
        return (number > 0 or (self.zero and number == 0)) and (self.infinite or number < math.inf)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """An argument that says where a fit searches: a pair, one pair for each coordinate, or "fixed"."""

    default: tuple[float, float] = (1e-5, 1e5)

    def read(self, where: str, value: object) -> str | tuple[float, float] | Array:
        """An array (2,) or (d, 2) as scikit-learn takes it, its own default as it has that, or "fixed"."""
        if isinstance(value, str) and value == "fixed":
            return "fixed"
        many = isinstance(value, list) and value and isinstance(value[0], list)
        pairs = [_as_pair(row) for row in (value if many else [value])]  # type: ignore[attr-defined]
        if None in pairs:
            remedy = 'give "fixed" or a pair (low, high) with 0 <= low <= high'
            raise KernelError(f"where {where} is {shown(value)}", remedy)
        if not many and pairs[0] == self.default:
            return self.default
        # to scikit-learn [1, 2] and (1, 2) are different bounds; an array equals both
        return frozen(np.array(pairs if many else pairs[0], dtype=np.float64))


@dataclass(frozen=True)
class Columns:
    """An argument that names columns by their numbers, the first of which is 0."""

    default: tuple[int, ...] = ()

    def read(self, where: str, value: object) -> tuple[int, ...]:
        """The numbers, each once."""
        listed = value if isinstance(value, list) else [value]
        whole = all(isinstance(item, int) and not isinstance(item, bool) and item >= 0 for item in listed)
        if not listed or not whole or len(set(listed)) < len(listed):
            remedy = 'give names or numbers of columns, each once, such as depth, [0, 1] or "0 to 9"'
            raise KernelError(f"where {where} is {shown(value)}", remedy)
        return tuple(listed)


@dataclass(frozen=True)
class Operand:
    """An argument that is a kernel."""


Argument: TypeAlias = Number | Bounds | Columns | Operand

_BOUNDS, _KERNEL = Bounds(), Operand()
_POSITIVE, _LENGTHS, _FROM_ZERO = Number(), Number(vector=True), Number(zero=True)
KERNELS: dict[str, dict[str, Argument]] = {  # in the order of scikit-learn's arguments
    "RBF": {"length_scale": _LENGTHS, "length_scale_bounds": _BOUNDS},
    "Matern": {
        "length_scale": _LENGTHS,
        "length_scale_bounds": _BOUNDS,
        "nu": Number(default=1.5, infinite=True),
    },
    "RationalQuadratic": {
        "length_scale": _POSITIVE,
        "alpha": _POSITIVE,
        "length_scale_bounds": _BOUNDS,
        "alpha_bounds": _BOUNDS,
    },
    "ExpSineSquared": {
        "length_scale": _POSITIVE,
        "periodicity": _POSITIVE,
        "length_scale_bounds": _BOUNDS,
        "periodicity_bounds": _BOUNDS,
    },
    "DotProduct": {"sigma_0": _FROM_ZERO, "sigma_0_bounds": _BOUNDS},
    "ConstantKernel": {"constant_value": _FROM_ZERO, "constant_value_bounds": _BOUNDS},
    "WhiteKernel": {"noise_level": _FROM_ZERO, "noise_level_bounds": _BOUNDS},
    "Tanimoto": {},
    "On": {"columns": Columns(), "base": _KERNEL},
    "Sum": {"k1": _KERNEL, "k2": _KERNEL},
    "Product": {"k1": _KERNEL, "k2": _KERNEL},
    "Exponentiation": {"base": _KERNEL, "exponent": _POSITIVE},
}
OWN = ("Tanimoto", "On")  # classes of superlevel.kernels.own; the others are scikit-learn's
OPERATIONS = {"Sum": "RBF(0.1) + RBF(1)", "Product": "RBF(0.1) * RBF(1)", "Exponentiation": "RBF(0.1) ** 2"}
LEAVES = tuple(name for name in KERNELS if name not in OPERATIONS)
MADE_OF = f"give one made of {', '.join(LEAVES)}, +, * and **"


def as_float(value: object) -> float | None:
    """The number that stands in a description; None for anything else, and for what no float is equal to."""
    if isinstance(value, str) and value == "inf":
        return math.inf
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if number == value and math.isfinite(number) else None


def _as_pair(value: object) -> tuple[float, float] | None:
    if not isinstance(value, list) or len(value) != 2:
        return None
    low, high = map(as_float, value)
    return (low, high) if low is not None and high is not None and 0 <= low <= high and low < math.inf else None
