"""The array type of the library, and the one way in which given numbers become such arrays."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superlevel.errors import InputError

Array: TypeAlias = NDArray[np.float64]
Floats: TypeAlias = NDArray[np.floating[Any]]
Mask: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int64]
Labels: TypeAlias = NDArray[np.int8]


A = TypeVar("A", bound=np.ndarray[Any, Any])


def frozen(array: A) -> A:
    """The array itself, which nobody can change from now on."""
    array.setflags(write=False)
    return array


def as_matrix(field: str, values: ArrayLike) -> Array:
    """A finite, row-major (m, r) float64 array with at least one row and one column."""
    matrix = as_floats(field, values)
    if matrix.ndim != 2:
        raise InputError(field, f"of shape {matrix.shape}", "give a 2-d array, one row for each point")
    if 0 in matrix.shape:
        raise InputError(field, f"of shape {matrix.shape}", "give at least one row and one column")
    finite = np.isfinite(matrix)
    if not finite.all():
        row, column = (int(i) for i in np.argwhere(~finite)[0])
        raise InputError(f"{field}[{row}, {column}]", matrix[row, column], "give finite numbers or leave that row out")
    return matrix


def as_vector(field: str, values: ArrayLike, *, length: int) -> Array:
    """A finite (length,) float64 array."""
    vector = as_floats(field, values)
    if vector.shape != (length,):
        raise InputError(field, f"of shape {vector.shape}", f"give shape ({length},)")
    finite = np.isfinite(vector)
    if not finite.all():
        at = int(np.argmin(finite))
        raise InputError(f"{field}[{at}]", vector[at], "give finite numbers")
    return vector


def as_weights(field: str, values: ArrayLike, length: int) -> Array:
    """A distribution on length things, normalised to rounding."""
    if length == 0:
        raise InputError(field, "empty", "give a distribution")
    weights = as_vector(field, values, length=length)
    if (weights < 0).any() or abs(weights.sum() - 1.0) > 1e-6:
        raise InputError(field, f"of sum {weights.sum():g} and smallest entry {weights.min():g}", "give a distribution")
    return normalised(weights)


def normalised(values: Array) -> Array:
    """Values divided by their sum."""
    return values / float(values.sum())


def as_positive(field: str, values: ArrayLike, *, shape: tuple[int, ...]) -> Array:
    """A finite array of the given shape with every entry above zero."""
    array = as_floats(field, values)
    if array.shape != shape:
        raise InputError(field, f"of shape {array.shape}", f"give shape {shape}")
    good = np.isfinite(array) & (array > 0)
    if not good.all():
        at = [int(i) for i in np.argwhere(~good)[0]]
        raise InputError(f"{field}{at}", array[tuple(at)], "give finite numbers > 0")
    return array


def as_mask(field: str, values: ArrayLike, *, shape: tuple[int, ...]) -> Mask:
    """A boolean array of the given shape with at least one True."""
    mask = np.asarray(values)
    if mask.dtype != np.bool_:
        raise InputError(field, f"of type {mask.dtype}", "give booleans")
    if mask.shape != shape:
        raise InputError(field, f"of shape {mask.shape}", f"give shape {shape}")
    if not mask.any():
        raise InputError(field, "False everywhere", "leave at least one target")
    return mask


def as_number(
    field: str,
    value: object,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
) -> float:
    """A finite float with ``above < value``, ``at_least <= value`` and so on where these limits are given."""
    limits = {"> ": above, ">= ": at_least, "< ": below, "<= ": at_most}
    wanted = " and ".join(f"{sign}{limit:g}" for sign, limit in limits.items() if limit is not None)
    remedy = f"give a number {wanted}".rstrip() if wanted else "give a finite number"
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise InputError(field, reprlib.repr(value), remedy)
    try:
        number = float(value)
    except OverflowError:  # a whole number that no float holds
        number = np.inf
    fits = (
        np.isfinite(number)
        and (above is None or number > above)
        and (at_least is None or number >= at_least)
        and (below is None or number < below)
        and (at_most is None or number <= at_most)
    )
    if not fits:
        raise InputError(field, value, remedy)
    return number


def as_count(field: str, value: object) -> int:
    """A whole number >= 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(field, reprlib.repr(value), "give a whole number >= 1")
    return int(value)


def as_seed(seed: object, field: str = "seed") -> int:
    """A whole number >= 0, of any size."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(field, repr(seed), "give a whole number >= 0")
    return int(seed)


def as_points(field: str, values: ArrayLike, *, count: int) -> Indices:
    """Numbers (m,) of points, each from 0 to count - 1; repeats are allowed."""
    try:
        points = np.asarray(values)
    except ValueError as error:  # ragged lists
        raise InputError(field, "not a list of numbers", f"give the number of each point ({error})") from error
    if points.size == 0:
        return np.empty(0, dtype=np.int64)
    if points.ndim != 1 or points.dtype.kind not in "iu":
        got = f"of type {points.dtype} and shape {points.shape}"
        raise InputError(field, got, "give a list of whole numbers, one for each measurement")
    wrong = (points < 0) | (points >= count)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise InputError(f"{field}[{at}]", int(points[at]), f"give numbers of points, from 0 to {count - 1}")
    return points.astype(np.int64, copy=False)


def occurrences(points: Indices, n: int) -> Indices:
    """(n,) how often each of the first n points is among some points, of which others may be elsewhere."""
    return np.bincount(points[points < n], minlength=n).astype(np.int64)


def as_floats(field: str, values: ArrayLike) -> Array:
    try:
        given = np.asarray(values)
        if np.iscomplexobj(given):  # numpy would drop the imaginary parts with no more than a warning
            raise TypeError("complex numbers are not ordered")
        return np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        got = f"of type {type(values).__name__} and holds something other than numbers"
        raise InputError(field, got, f"give numbers ({error})") from error


def as_deviations(field: str, values: object, length: int) -> float | Array:
    """A standard deviation >= 0, or a read-only copy of ``length`` of them."""
    if isinstance(values, np.ndarray) and values.ndim == 0:
        values = values.item()
    if isinstance(values, str) or not hasattr(values, "__len__"):
        return as_number(field, values, at_least=0.0)
    deviations = as_vector(field, values, length=length).copy()  # type: ignore[arg-type]
    if (deviations < 0.0).any():
        at = int(np.argmax(deviations < 0.0))
        raise InputError(f"{field}[{at}]", deviations[at], "give standard deviations >= 0")
    return frozen(deviations)


def as_names(field: str, names: Sequence[str], *, remedy: str) -> tuple[str, ...]:
    """The names of a list, all different; a single string is not taken for the list of its letters."""
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise InputError(field, repr(names), remedy)
    listed = tuple(names)
    seen: set[str] = set()
    for j, name in enumerate(listed):
        if str(name) in seen:
            raise InputError(f"{field}[{j}]", f"{name!r} again", "give every name once")
        seen.add(str(name))
    return listed
