"""Kernels as people write them, read without ever being evaluated.

Python parses the text; its syntax tree becomes a description, or is refused, node by node.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from superlevel.errors import InputError
from superlevel.kernels.columns import Known, numbered, written_columns
from superlevel.kernels.descriptions import checked, describe, encoded, made
from superlevel.kernels.imported import is_path
from superlevel.kernels.table import (
    DEEPEST,
    KERNELS,
    LEAVES,
    MADE_OF,
    OPERATIONS,
    Argument,
    Columns,
    Description,
    KernelError,
    Operand,
    check_depth,
    named,
    shown,
)

LONGEST = 50_000  # characters: length scales of two thousand coordinates with all their digits
_ARGUMENTS = 10  # levels of syntax that a leaf may have in it: lists of pairs of signed numbers
_FOREIGN = re.compile(r"""[^A-Za-z0-9_ .,:()\[\]=+*"'-]""")
_QUOTED = re.compile(r"""("[^"\\]*"|'[^'\\]*')""")
_EXAMPLE = "4 * RBF(0.1) + WhiteKernel(0.01)"
_WORDS = {"inf": math.inf, "nan": math.nan}
_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], Any]] = {
    ast.Add: operator.add,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
}
_STRENGTH = {"Sum": 1, "Product": 2, "Exponentiation": 3}
_LEAF = 4


def parse(text: str, *, field: str = "--kernel", columns: Known | None = None) -> Any:
    """The scikit-learn kernel that an expression stands for, or None for ``linear``. ``field`` is what errors name.

    ``columns`` says which columns a kernel sees under each name, as `superlevel.Domain.columns` does.

    >>> parse("4 * Matern([0.2, 1], nu=2.5) + whitekernel(0.01)")
    2**2 * Matern(length_scale=[0.2, 1], nu=2.5) + WhiteKernel(noise_level=0.01)
    >>> parse("RFB(0.1)")
    Traceback (most recent call last):
    superlevel.errors.InputError: --kernel is 'RFB(0.1)', where RFB is no known kernel: did you mean RBF?
    """
    if not isinstance(text, str):
        raise InputError(field, f"of type {type(text).__name__}", f"give text such as {_EXAMPLE}, or linear")
    if not text.strip():
        raise InputError(field, "empty", f"give a kernel such as {_EXAMPLE}, or linear")
    with named(field, text):
        line = _one_line(text)
        return None if line.lower() == "linear" else made(checked(numbered(_read(line), columns)))


def expression(kernel: Any) -> str:
    """A kernel as text that `parse` reads back, with all digits and without what is scikit-learn's default.

    >>> from sklearn.gaussian_process.kernels import RBF
    >>> expression(4 * RBF(0.1 + 0.2, (1e-5, 1e5)))
    '4.0 * RBF(0.30000000000000004)'
    """
    description = describe(kernel)
    return "linear" if description is None else _written(description)


def phrase(description: Any) -> str:
    """A description for people to read: four digits, no ranges of parameters; scikit-learn is not needed for it."""
    return "linear" if description is None else _written(_short(description))


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        short = {key: _short(part) for key, part in value.items() if not key.endswith("_bounds")}
        complete = {"k1", "base", "parameters"} & short.keys() or not isinstance(short.get("kernel"), str)
        return short if complete else _leaf(short.pop("kernel"), short)
    if isinstance(value, list):
        return [_short(part) for part in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


# --- text to description


def _one_line(text: str) -> str:
    """The text without line breaks, and with nothing in it that no kernel needs."""
    if len(text) > LONGEST:
        raise KernelError(f"which has {len(text):,} characters", f"give at most {LONGEST:,}")
    line = " ".join(text.split())
    parts = _QUOTED.split(line)  # every second one is in quotes, where names of columns may have any letters
    foreign = _FOREIGN.search("".join(parts[::2]))  # letters beyond ASCII, which Python would take for look-alikes
    hidden = next((letter for part in parts[1::2] for letter in part if not letter.isprintable()), None)
    if foreign or hidden:
        remedy = f"use plain letters, digits, brackets, + and * only, as in {_EXAMPLE}"
        raise KernelError(f"which has {(foreign[0] if foreign else hidden)!a} in it", remedy)
    parts[::2] = [part.replace(":", ".") for part in parts[::2]]  # Python has no colon between module and class
    return "".join(parts)


def _read(line: str) -> Description:
    try:
        tree = ast.parse(line, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:  # each is raised for some deep nesting
        raise KernelError("which is not an expression", f"write one such as {_EXAMPLE}") from error
    check_depth(_depth(tree) - _ARGUMENTS)
    term = _term(tree)
    if isinstance(term, float):
        raise KernelError("which is a number", "write ConstantKernel(...) around it for a constant kernel")
    return term


def _depth(tree: ast.AST) -> int:
    """Levels of syntax, counted no farther than they are of use."""
    level, depth = [tree], 0
    while level and depth <= DEEPEST + _ARGUMENTS:
        level, depth = [child for node in level for child in ast.iter_child_nodes(node)], depth + 1
    return depth


def _term(node: ast.expr) -> Description | float:
    """A kernel's description, or a number."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult() | ast.Pow() as sign, right=right):
            return _combined(sign, _term(left), _term(right))
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            number = _term(operand)
            if isinstance(number, float):
                return -number if isinstance(sign, ast.USub) else number
        case ast.Call(func=ast.Name(id=name)):
            return _called(_known(name), node)
        case ast.Call(func=ast.Attribute()) if _is_dotted(node.func):
            return _imported(ast.unparse(node.func), node)
        case ast.Name(id=name):
            if name in _WORDS:
                return _WORDS[name]
            raise KernelError(f"where {name} has no brackets", f"write {_known(name)}(...) with its numbers")
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _bounded(float, value)
    remedy = f"use kernels, numbers, lists, +, * and ** only, as in {_EXAMPLE}"
    raise KernelError(f"where {shown(ast.unparse(node))} is no part of a kernel", remedy)


def _combined(sign: ast.operator, left: Description | float, right: Description | float) -> Description | float:
    if isinstance(left, float) and isinstance(right, float):
        return _bounded(_ARITHMETIC[type(sign)], left, right)
    if isinstance(sign, ast.Pow):
        if isinstance(right, float):
            return {"kernel": "Exponentiation", "base": left, "exponent": encoded(right)}
        raise KernelError("where a kernel is an exponent", "raise kernels to numbers only, as in RBF(0.1) ** 2")
    name = "Sum" if isinstance(sign, ast.Add) else "Product"
    return {"kernel": name, "k1": _as_kernel(left), "k2": _as_kernel(right)}


def _bounded(compute: Callable[..., Any], *numbers: float) -> float:
    """A finite float. Floats, unlike whole numbers, never take long to compute."""
    try:
        number = compute(*numbers)
    except (OverflowError, ZeroDivisionError):
        number = math.inf
    if isinstance(number, complex) or not math.isfinite(number):
        raise KernelError("where a number is too large, or none", "write out the number that is meant")
    return float(number)


def _as_kernel(term: Description | float) -> Description:
    return _leaf("ConstantKernel", {"constant_value": term}) if isinstance(term, float) else term


def _leaf(name: str, given: dict[str, Any]) -> Description:
    """A description with scikit-learn's defaults where nothing is given."""
    description: Description = {"kernel": name}
    for argument, kind in KERNELS[name].items():
        match kind:
            case Operand():
                description[argument] = given.get(argument)
            case Columns():
                description[argument] = given.get(argument, [])
            case _:
                description[argument] = encoded(given.get(argument, kind.default))
    return description


def _called(name: str, call: ast.Call) -> Description:
    kinds = {_keyword(argument): argument for argument in KERNELS[name]}
    arguments = list(kinds)
    if len(call.args) > len(arguments):
        most = f"give at most {' and '.join(arguments)}" if arguments else "give none"
        raise KernelError(f"where {name} has {len(call.args)} arguments", most)
    given = dict(zip(arguments, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg not in arguments:
            remedy = f"give {' or '.join(arguments) or 'none'}"
            raise KernelError(f"where {name} has no {keyword.arg or '**'}", remedy)
        if keyword.arg in given:
            raise KernelError(f"where {name} has {keyword.arg} twice", "give it once")
        given[keyword.arg] = keyword.value
    return _leaf(name, {kinds[word]: _argument(KERNELS[name][kinds[word]], node) for word, node in given.items()})


def _argument(kind: Argument, node: ast.expr) -> Any:
    return _columns(node) if isinstance(kind, Columns) else _value(node)


def _keyword(argument: str) -> str:
    """What people call an argument. In a description, the name "kernel" is taken."""
    return "kernel" if argument == "base" else argument


def _value(node: ast.expr) -> Any:
    """What an argument is given."""
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item) for item in items]
        case ast.Constant(value=str() as word):
            if word != "fixed":
                raise KernelError(f"where {word[:20]!r} is in quotes", 'put nothing in quotes but "fixed"')
            return word
    return _term(node)


def _columns(node: ast.expr) -> list[str | int]:
    """Names and numbers of columns."""
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [column for item in items for column in _columns(item)]
        case ast.Name(id=name):
            return [name]
        case ast.Constant(value=str() | int() as column) if not isinstance(column, bool):
            return [column]
    remedy = 'give names or numbers of columns, such as depth, [0, 1] or "0 to 9"'
    raise KernelError(f"where {shown(ast.unparse(node))} is no column", remedy)


def _is_dotted(node: ast.expr) -> bool:
    """Whether this is names with dots between them."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_dotted(node.value))


def _imported(dotted: str, call: ast.Call) -> Description:
    """A class of somebody's own, of which nothing is known: its parameters have names."""
    module, _, name = dotted.rpartition(".")
    path = f"{module}:{name}"
    if not is_path(path):
        raise KernelError(
            f"where {shown(path)} is no kernel's class", f"{MADE_OF}, or name an installed class of yours"
        )
    if call.args or any(keyword.arg is None for keyword in call.keywords):
        raise KernelError(f"where {path} has a parameter without a name", f"write {path}(name=value)")
    return {"kernel": path, "parameters": {str(word.arg): _parameter(word.value) for word in call.keywords}}


def _parameter(node: ast.expr) -> Any:
    """What a parameter of such a class is given: plain data, or a kernel."""
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_parameter(item) for item in items]
        case ast.Constant(value=str() | bool() | int() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return _term(node)


def _known(name: str) -> str:
    """The name of a leaf, whatever the case of its letters."""
    leaves = {leaf.lower(): leaf for leaf in LEAVES}
    if name.lower() in leaves:
        return leaves[name.lower()]
    for operation, written in OPERATIONS.items():
        if name.lower() == operation.lower():
            raise KernelError(f"where {name} is written as a function", f"write {written}")
    if name.lower() == "linear":
        raise KernelError("where linear is not alone", 'write linear alone, or DotProduct(0, "fixed") in its place')
    close = get_close_matches(name.lower(), leaves, n=1)
    raise KernelError(f"where {name} is no known kernel", f"did you mean {leaves[close[0]]}?" if close else MADE_OF)


# --- description to text


def _written(description: Description, strength: int = 0) -> str:
    """Text, in brackets where an operator of that strength would take it apart."""
    name = description["kernel"]
    if name == "Exponentiation":
        text = f"{_written(description['base'], _LEAF)} ** {description['exponent']!r}"
    elif name in _STRENGTH:
        text = _written_pair(description, _STRENGTH[name])
    else:
        text = _written_leaf(description)
    return f"({text})" if _STRENGTH.get(name, _LEAF) < strength else text


def _written_pair(description: Description, strength: int) -> str:
    left, right = description["k1"], description["k2"]
    sign = "+" if description["kernel"] == "Sum" else "*"
    if _is_plain(left):
        return f"{left['constant_value']!r} {sign} {_written(right, strength + 1)}"
    last = repr(right["constant_value"]) if _is_plain(right) else _written(right, strength + 1)
    return f"{_written(left, strength)} {sign} {last}"


def _is_plain(description: Description) -> bool:
    """Whether a number stands for this kernel beside another."""
    value = description.get("constant_value")
    return description == _leaf("ConstantKernel", {"constant_value": value})


def _written_leaf(description: Description) -> str:
    """Its first argument, and the others that are not the default."""
    name = description["kernel"]
    if is_path(name):
        parameters = (f"{word}={_written_parameter(value)}" for word, value in description["parameters"].items())
        return f"{name}({', '.join(parameters)})"
    if name == "On":
        return f"On({written_columns(description['columns'])}, {_written(description['base'])})"
    usual, parts = _leaf(name, {}), []
    for place, argument in enumerate(KERNELS[name]):
        if place == 0 or description[argument] != usual[argument]:
            value = _written_value(argument, description[argument])
            second = place == 1 and argument == f"{next(iter(KERNELS[name]))}_bounds"
            parts.append(value if place == 0 or second else f"{argument}={value}")
    return f"{name}({', '.join(parts)})"


def _written_parameter(value: Any) -> str:
    if isinstance(value, dict):
        return _written(value)
    return f"[{', '.join(map(_written_parameter, value))}]" if isinstance(value, list) else repr(value)


def _written_value(argument: str, value: Any) -> str:
    if isinstance(value, list):
        inside = ", ".join(_written_value(argument, item) for item in value)
        pair = argument.endswith("_bounds") and not isinstance(value[0], list)
        return f"({inside})" if pair else f"[{inside}]"
    return '"fixed"' if value == "fixed" else str(value)
