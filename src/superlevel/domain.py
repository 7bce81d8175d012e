"""The points a study may measure, and the kernel that says how their values go together.

n           points, d coordinates each
points      (n, d)  one row a point
k(x, y)     kernel; without one, the linear kernel <x, y> of the features phi(x) = x
K           (n, n)  kernel matrix K_ij = k(x_i, x_j); never stored, only blocks of it are computed
"""

from __future__ import annotations

import csv
import math
import os
import reprlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, Indices, Mask, as_matrix
from superlevel.errors import InputError

_CHECKED_POINTS = 200
_RTOL = 1e-8
_SHOWN_COORDINATES = 4
NUMBER = "give a finite number with a decimal point, or choose other columns with columns=[...]"


class Kernel(Protocol):
    """What is used of a scikit-learn kernel. Any object with these two methods will do."""

    def __call__(self, left: Array, right: Array | None = None, /) -> Any:
        """Kernel block (p, q) between the rows of left (p, d) and of right (q, d), or (p, p) of left with itself."""

    def diag(self, points: Array, /) -> Any:
        """Vector (n,) of k(x, x) for the rows x of points (n, d)."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Domain:
    """A finite set of points, the names of their coordinates and a kernel on them.

    >>> Domain([0.0, 0.5, 1.0])
    Domain(3 points, x0 in [0, 1], linear kernel)
    """

    points: Array
    """(n, d) coordinates; a copy of what was given, read-only. A point may occur more than once."""
    kernel: Kernel | None
    """Kernel on the points, as scikit-learn defines one; None stands for the linear kernel <x, y>."""
    names: tuple[str, ...]
    """(d,) names of the coordinates, all different."""

    def __init__(self, points: ArrayLike, kernel: Kernel | None = None, *, names: Sequence[str] | None = None) -> None:
        """Check everything once, so that no later step needs to.

        Args:
            points: (n, d) numbers, (n,) numbers for points on a line, or a pandas frame with one column a coordinate.
            kernel: a scikit-learn kernel, or None for the linear one. A ``WhiteKernel`` in it belongs to the unknown
                function, an independent part of its value at each row; the noise of measurements is no part of it.
            names: (d,) names; by default the frame's columns, or else x0, x1, ...
        """
        matrix, known = _coordinates(points)
        object.__setattr__(self, "points", matrix)
        object.__setattr__(self, "kernel", kernel)
        object.__setattr__(self, "names", _checked_names(known if names is None else names, matrix.shape[1]))
        _check_kernel(self)

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], *, columns: Sequence[str] | None = None, kernel: Kernel | None = None
    ) -> Self:
        """The points of a CSV file: comma-separated UTF-8, names in the first line, one point in each further line.

        Args:
            path: the file.
            columns: the columns that hold the coordinates, in the wanted order; by default all.
            kernel: as for the constructor.
        """
        header, *rows = _read_rows(path)
        places = _places(header, columns)
        numbers = [_numbers(row, header.cells, places) for row in rows]
        return cls(numbers, kernel, names=[header.cells[place] for place in places])

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.points)

    @property
    def dimension(self) -> int:
        """Number of coordinates of a point."""
        return int(self.points.shape[1])

    def gram(
        self, rows: Indices | Mask | Sequence[int], columns: Indices | Mask | Sequence[int] | None = None
    ) -> Array:
        """Block (p, q) of the kernel matrix K between two index sets; ``columns`` is ``rows`` where it is not given.

        Sets are p indices, in any order and with repetitions, or a mask (n,). Every block belongs to one and the same
        K: ``gram(a, b)[i, j]`` is ``K[a[i], b[j]]`` whatever else is in a and b.
        """
        left = self._indices(rows)
        right = left if columns is None else self._indices(columns)
        if self.kernel is None:
            return self.points[left] @ self.points[right].T
        block = np.array(self.kernel(self.points[left], self.points[right]), dtype=np.float64)
        # scikit-learn's k(X, Y) has no WhiteKernel part even where X and Y share a row; only its k(X) and diag(X) have.
        above, beside = np.nonzero(left[:, None] == right)
        if above.size:  # not every kernel takes an empty set
            block[above, beside] = self.kernel.diag(self.points[left[above]])
        return block

    def diagonal(self) -> Array:
        """k(x, x) for every point (n,)."""
        if self.kernel is None:
            return np.asarray(np.square(self.points).sum(axis=1))
        return np.array(self.kernel.diag(self.points), dtype=np.float64)

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        shown = range(min(self.dimension, _SHOWN_COORDINATES))
        parts = [f"{self.n} point{'s' * (self.n > 1)}"]
        parts += [f"{self.names[j]} in [{self.points[:, j].min():g}, {self.points[:, j].max():g}]" for j in shown]
        if self.dimension > _SHOWN_COORDINATES:
            parts.append(f"{self.dimension - _SHOWN_COORDINATES} more")
        parts.append("linear kernel" if self.kernel is None else f"kernel={self.kernel!r}")
        return f"Domain({', '.join(parts)})"

    def _indices(self, chosen: Indices | Mask | Sequence[int]) -> Indices:
        picked = np.atleast_1d(np.asarray(chosen))
        # An empty list becomes an array of floats, which cannot index.
        indices: Indices = np.arange(self.n)[picked if picked.size else picked.astype(np.int64)]
        return indices


def read_columns(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The names in the first line of a CSV file, without empty ones."""
    return tuple(name for name in _read_rows(path)[0].cells if name)


def read_values(path: str | os.PathLike[str], column: str) -> Array:
    """One column of a CSV file as numbers (n,), in the order of its lines; NaN where a cell is empty.

    The file is as for `Domain.read`, whose points it belongs to: a pilot survey has blanks where nothing was measured.
    """
    header, *rows = _read_rows(path)
    (place,) = _places(header, [column])
    return np.array([_number_or_blank(row, header.cells, place) for row in rows])


# --- points and names


def _coordinates(values: Any) -> tuple[Array, tuple[str, ...]]:
    """A read-only copy (n, d) of the points, and the names they come with or get."""
    names: tuple[str, ...] | None = None
    if _is_frame(values):
        values, names = _frame_numbers(values), tuple(str(label) for label in values.columns)
    try:
        on_a_line = np.ndim(values) == 1
    except ValueError:  # ragged lists, which as_matrix explains
        on_a_line = False
    matrix = as_matrix("points", np.asarray(values)[:, None] if on_a_line else values).copy()
    matrix.setflags(write=False)
    return matrix, names or tuple(f"x{j}" for j in range(matrix.shape[1]))


def _is_frame(values: object) -> bool:
    """Whether this is a pandas frame, found without importing pandas, which is optional and slow to import."""
    bases = type(values).__mro__
    return any(base.__name__ == "DataFrame" and base.__module__.split(".")[0] == "pandas" for base in bases)


def _frame_numbers(frame: Any) -> Array:
    for label, dtype in zip(frame.columns, frame.dtypes, strict=True):
        if dtype.kind not in "iuf":
            raise InputError(
                f"points[{str(label)!r}]", f"a column of type {dtype}", "turn it into numbers or leave it out"
            )
    return np.asarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))


def _checked_names(names: Sequence[str], dimension: int) -> tuple[str, ...]:
    checked = _as_names("names", names, remedy=f"give {dimension} names, one for each coordinate of the points")
    for j, name in enumerate(checked):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"names[{j}]", repr(name), "give a name of at least one letter")
    if len(checked) != dimension:
        raise InputError("names", repr(checked), f"give {dimension} names, one for each coordinate of the points")
    return tuple(str(name) for name in checked)


def _as_names(field: str, names: Sequence[str], *, remedy: str) -> tuple[str, ...]:
    """The names of a list, all different; a single string is not taken for the list of its letters."""
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise InputError(field, repr(names), remedy)
    listed = tuple(names)
    for j, name in enumerate(listed):
        if name in listed[:j]:
            raise InputError(f"{field}[{j}]", f"{name!r} again", "give every name once")
    return listed


# --- kernel


def _check_kernel(domain: Domain) -> None:
    """Finite on the diagonal of all points; consistent and positive semi-definite on some, evenly spread."""
    kernel = domain.kernel
    if kernel is None:  # scalar products are positive semi-definite, and no larger than the largest on the diagonal
        _evaluate(domain, domain.diagonal, (domain.n,))
        return
    if isinstance(kernel, type) or not callable(kernel) or not hasattr(kernel, "diag"):
        remedy = "give a scikit-learn kernel such as RBF(0.1), or None for the linear kernel"
        raise InputError("kernel", reprlib.repr(kernel), remedy)
    chosen = _spread(domain.points)
    shape = (chosen.size, chosen.size)
    _evaluate(domain, domain.diagonal, (domain.n,))
    alone = _evaluate(domain, lambda: kernel(domain.points[chosen]), shape)
    block = _evaluate(domain, lambda: domain.gram(chosen), shape)
    slack = _RTOL * float(np.abs(block).max())
    if max(np.abs(block - alone).max(), np.abs(block - block.T).max()) > slack:
        remedy = "make k(X), k(X, X) and diag(X) agree and k(x, y) equal k(y, x)"
        raise InputError("kernel", f"{kernel!r}, which contradicts itself", remedy)
    eigenvalues = np.linalg.eigvalsh(block)
    if eigenvalues[0] < -_RTOL * np.abs(eigenvalues).max():
        got = f"{kernel!r} with an eigenvalue of {eigenvalues[0]:.3g} on {chosen.size} of the points"
        raise InputError("kernel", got, "give a positive semi-definite kernel such as RBF, or change its parameters")


def _spread(points: Array) -> Indices:
    """Indices of at most 200 different points, evenly spread over all different points in lexicographic order."""
    different = np.unique(points, axis=0, return_index=True)[1]
    count = min(different.size, _CHECKED_POINTS)
    return different[np.linspace(0, different.size - 1, count).astype(np.int64)]


def _evaluate(domain: Domain, compute: Callable[[], Any], shape: tuple[int, ...]) -> Array:
    """The kernel values of ``compute``, which are to be finite and of the given shape."""
    try:
        with np.errstate(all="ignore"):  # what overflows or is undefined is reported below
            values = np.asarray(compute(), dtype=np.float64)
    except Exception as error:  # a kernel is anybody's code and may raise anything
        reason = " ".join(str(error).split())
        plural = "s" * (domain.dimension > 1)
        remedy = f"give a kernel for points with {domain.dimension} coordinate{plural} ({reason})"
        raise InputError("kernel", repr(domain.kernel), remedy) from error
    if values.shape != shape:
        got = f"{domain.kernel!r}, which gives shape {values.shape}"
        raise InputError("kernel", got, f"give a kernel with values of shape {shape} here")
    if not np.isfinite(values).all():
        got = f"{domain.kernel!r}, which gives {values[~np.isfinite(values)][0]} at some of the points"
        raise InputError("kernel", got, "check its parameters and the scale of the points")
    return values


# --- tables


class _Row(NamedTuple):
    place: str
    """File and line, as an error names them."""
    cells: list[str]
    """Cells without the blanks around them."""

    def column(self, name: str) -> str:
        return f"{self.place}, column {name!r}"


def _read_rows(path: str | os.PathLike[str]) -> list[_Row]:
    """Header and at least one further row, without blank lines at the end."""
    try:
        file = Path(path)
    except TypeError as error:
        raise InputError("path", reprlib.repr(path), "give the name of a CSV file") from error
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:  # spreadsheets write a byte order mark
            rows = _parse(str(file), lines)
    except OSError as error:
        remedy = f"give a CSV file that can be read ({error.strerror})"
        raise InputError("path", repr(str(file)), remedy) from error
    except UnicodeDecodeError as error:
        raise InputError("path", f"{str(file)!r}, which is not UTF-8 text", "save the file as CSV in UTF-8") from error
    while rows and not any(rows[-1].cells):
        rows.pop()
    if not rows:
        raise InputError("path", f"{str(file)!r}, which is empty", "give a header and one line for each point")
    _check_header(rows[0])
    if len(rows) == 1:
        raise InputError("path", f"{str(file)!r}, which has a header only", "add one line for each point")
    return rows


def _parse(name: str, lines: Iterable[str]) -> list[_Row]:
    # strict, because a quote that is never closed would otherwise swallow the rest of the file
    reader = csv.reader(lines, skipinitialspace=True, strict=True)
    try:
        return [_Row(f"{name}, line {reader.line_num}", [cell.strip() for cell in cells]) for cells in reader]
    except csv.Error as error:
        raise InputError(f"{name}, line {reader.line_num}", "not CSV", f"check its quotes ({error})") from error


def _check_header(header: _Row) -> None:
    filled = [cell for cell in header.cells if cell]
    if not filled:
        raise InputError(header.place, "blank", "put the names of the columns there")
    if all(_is_number(cell) for cell in filled):
        raise InputError(header.place, reprlib.repr(",".join(header.cells)), "put the names of the columns there")
    for j, name in enumerate(filled):
        if name in filled[:j]:
            raise InputError(header.column(name), "there more than once", "give every column its own name")


def _places(header: _Row, columns: Sequence[str] | None) -> list[int]:
    """Positions of the wanted columns in the header."""
    if columns is None:
        if "" in header.cells:
            place = f"{header.place}, column {header.cells.index('') + 1}"
            raise InputError(place, "without a name", "name it, or choose the others with columns=[...]")
        return list(range(len(header.cells)))
    known = ", ".join(repr(name) for name in header.cells if name)
    wanted = _as_names("columns", columns, remedy=f"give a list of names out of {known}")
    if not wanted:
        raise InputError("columns", "empty", f"give a list of names out of {known}")
    for name in wanted:
        if not name or name not in header.cells:
            raise InputError(header.column(name), "missing", f"choose out of {known}")
    return [header.cells.index(name) for name in wanted]


def _numbers(row: _Row, header: list[str], places: list[int], *, remedy: str = NUMBER) -> list[float]:
    """The wanted cells of a row as finite numbers."""
    if len(row.cells) > len(header):
        raise InputError(row.place, f"{len(row.cells)} cells long", f"give {len(header)} cells, as in the header")
    if len(row.cells) < len(header):
        name = header[len(row.cells)]
        raise InputError(row.column(name), "missing", f"give {len(header)} cells, as in the header")
    for place in places:
        cell = row.cells[place]
        if not _is_number(cell) or not math.isfinite(float(cell)):
            raise InputError(row.column(header[place]), reprlib.repr(cell) if cell else "empty", remedy)
    return [float(row.cells[place]) for place in places]


def _number_or_blank(row: _Row, header: list[str], place: int) -> float:
    if len(row.cells) == len(header) and not row.cells[place]:
        return math.nan
    return _numbers(row, header, [place], remedy="give a finite number with a decimal point, or leave it empty")[0]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
