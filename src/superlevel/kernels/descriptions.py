"""Kernels as data that strict JSON can hold: {"kernel": its class, and every argument by its name}."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from superlevel.kernels import imported
from superlevel.kernels.table import (
    KERNELS,
    MADE_OF,
    OWN,
    Columns,
    Description,
    KernelError,
    Operand,
    as_float,
    check_depth,
    named,
    shown,
)


def describe(kernel: Any) -> Description | None:
    """A kernel as data without the loss of a digit; None is the linear kernel. Whole numbers become floats.

    >>> from sklearn.gaussian_process.kernels import RBF
    >>> describe(RBF([0.1, 2], "fixed"))
    {'kernel': 'RBF', 'length_scale': [0.1, 2.0], 'length_scale_bounds': 'fixed'}
    """
    if kernel is None:
        return None
    with named("kernel", kernel):
        description = _described(kernel)
        checked(description)
        return description


def restore(description: Any) -> Any:
    """The kernel of a description: the same numbers, as Python floats and arrays of them."""
    if description is None:
        return None
    with named("kernel", description):
        return made(checked(description))


class Part(NamedTuple):
    """A description that was checked."""

    name: str
    arguments: dict[str, Any]
    """Values as scikit-learn takes them, and further parts."""


def checked(description: Any, depth: int = 1) -> Part:
    """What a description says, if it is one."""
    check_depth(depth)
    name = description.get("kernel") if isinstance(description, dict) else None
    if imported.is_path(name):
        return _checked_import(description, depth)
    if not isinstance(name, str) or name not in KERNELS:
        stranger = shown(description) if name is None else shown(name)
        raise KernelError(f"where {stranger} stands for a kernel", f"{MADE_OF}, as describe writes it")
    wanted = KERNELS[name]
    if set(description) != {"kernel", *wanted}:
        remedy = f"give {' and '.join(wanted) or 'no argument'} and nothing else"
        raise KernelError(f"where {name} has {shown([key for key in description if key != 'kernel'])}", remedy)
    arguments: dict[str, Any] = {}
    for argument, kind in wanted.items():
        value, where = description[argument], f"{argument} of {name}"
        arguments[argument] = checked(value, depth + 1) if isinstance(kind, Operand) else kind.read(where, value)
    _check_pairs(name, arguments)
    return Part(name, arguments)


def _checked_import(description: Description, depth: int) -> Part:
    """The same for a class that is imported: {"kernel": its path, "parameters": {name: plain data or a kernel}}."""
    name, parameters = description["kernel"], description.get("parameters")
    if set(description) != {"kernel", "parameters"} or not isinstance(parameters, dict):
        raise KernelError(f"where {name} has no parameters", 'give "parameters" by their names and nothing else')
    arguments: dict[str, Any] = {}
    for argument, value in parameters.items():
        if not isinstance(argument, str) or not argument.isidentifier():
            raise KernelError(f"where {name} has {shown(argument)}", "give parameters by their names")
        of_kernel = isinstance(value, dict)
        arguments[argument] = (
            checked(value, depth + 1)
            if of_kernel
            else imported.frozen_plain(imported.plain(f"{argument} of {name}", value))
        )
    return Part(name, arguments)


def made(part: Part) -> Any:
    """The kernel itself."""
    arguments = {name: made(value) if isinstance(value, Part) else value for name, value in part.arguments.items()}
    if imported.is_path(part.name):
        return imported.made_from(part.name, arguments)
    return class_of(part.name)(**{_attribute(name): value for name, value in arguments.items()})


def class_of(name: str) -> Any:
    """The class of a kernel in the table."""
    from sklearn.gaussian_process import kernels  # noqa: PLC0415  slow to import

    from superlevel.kernels import own  # noqa: PLC0415

    return getattr(own if name in OWN else kernels, name)


def encoded(value: Any) -> Any:
    """Numbers as floats, infinity as text, arrays and tuples as lists; anything else as it is, to be refused later.

    Numbers of single precision are refused, too: what scikit-learn computes from them, it computes in single precision.
    """
    if isinstance(value, np.ndarray) and (value.dtype == np.float64 or value.dtype.kind in "iu"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [encoded(item) for item in value]
    if isinstance(value, np.integer):
        value = int(value)
    if isinstance(value, float) and value == math.inf:
        return "inf"
    number = as_float(value)
    return value if number is None else number


def _described(kernel: Any, depth: int = 1) -> Description:
    """What a kernel is made of, not checked yet."""
    check_depth(depth)
    kind = type(kernel)
    if kind.__name__ not in KERNELS or kind is not class_of(kind.__name__):
        return _described_import(kernel, depth)
    description: Description = {"kernel": kind.__name__}
    for argument, wanted in KERNELS[kind.__name__].items():
        value = getattr(kernel, _attribute(argument))
        if isinstance(wanted, Operand):
            description[argument] = _described(value, depth + 1)
        else:
            description[argument] = listed(value) if isinstance(wanted, Columns) else encoded(value)
    return description


def _described_import(kernel: Any, depth: int) -> Description:
    """The same for a class that is not in the table."""
    name = imported.path_of(kernel)
    parameters = {}
    for argument, value in kernel.get_params(deep=False).items():
        of_kernel = hasattr(value, "get_params")
        parameters[argument] = (
            _described(value, depth + 1) if of_kernel else imported.plain(f"{argument} of {name}", value)
        )
    return {"kernel": name, "parameters": parameters}


def listed(columns: Any) -> Any:
    """Numbers of columns as a list of whole numbers; anything else as it is, to be refused later."""
    if isinstance(columns, int | np.integer) and not isinstance(columns, bool):
        return [int(columns)]
    if isinstance(columns, list | tuple | range | np.ndarray):
        return [int(column) if isinstance(column, np.integer) else column for column in columns]
    return columns


def _attribute(argument: str) -> str:
    """What scikit-learn calls an argument. In a description, the name "kernel" is taken."""
    return "kernel" if argument == "base" else argument


def _check_pairs(name: str, arguments: dict[str, Any]) -> None:
    """Bounds are for all coordinates, or for each."""
    for argument, bounds in arguments.items():
        if argument.endswith("_bounds") and np.ndim(bounds) == 2:
            count = np.size(arguments[argument.removesuffix("_bounds")])
            if len(bounds) not in {1, count}:
                got = f"where {argument} of {name} is {len(bounds)} pairs"
                raise KernelError(got, f"give one pair, or {count}" if count > 1 else "give one pair")
