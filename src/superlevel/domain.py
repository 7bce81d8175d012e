"""The points a study may measure, and the kernel that says how their values go together.

n           points, d coordinates each
points      (n, d)  one row a point, as the kernel sees it
places      (n, c)  the same as people see it; the same numbers, unless a coordinate has a scale of its own
elsewhere   (m, c)  places that are not among the points: what is measured there tells of the points
k(x, y)     kernel; without one, the linear kernel <x, y> of the features phi(x) = x
K           (n, n)  kernel matrix K_ij = k(x_i, x_j); never stored, only blocks of it are computed
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from superlevel import boxes
from superlevel.arrays import Array, Indices, Mask, as_matrix, frozen
from superlevel.coordinates import Coordinates
from superlevel.errors import InputError
from superlevel.scales import Scale
from superlevel.tables import as_names, read_table

_CHECKED_POINTS = 200
_SMOOTH = 50.0  # a nu above which a Matern kernel is checked
_NEAR = 0.5  # less than the correlation of any such kernel at its length, which is about 0.6
_RTOL = 1e-8
_SHOWN_COORDINATES = 4


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
    """(n, d) what the kernel sees, read-only. A point may occur more than once."""
    places: Array = field(init=False)
    """(n, c) what people see, read-only: a copy of what was given. A choice is the position of its name."""
    coordinates: Coordinates = field(init=False)
    """The names and the scales of the places' coordinates."""
    kernel: Kernel | None
    """Kernel on the points, as scikit-learn defines one; None stands for the linear kernel <x, y>."""
    names: tuple[str, ...]
    """(c,) names of the coordinates, all different."""
    elsewhere: Array
    """(m, c) further places where something may have been measured; no label is asked for there, and no plan goes
    there. As places of measurements they are numbered after the points: n, n + 1, ..."""

    def __init__(
        self,
        points: ArrayLike,
        kernel: Kernel | None = None,
        *,
        names: Sequence[str] | None = None,
        scales: Sequence[Scale] | None = None,
        elsewhere: ArrayLike | None = None,
    ) -> None:
        """Check everything once, so that no later step needs to.

        Args:
            points: (n, d) numbers, (n,) numbers for points on a line, or a pandas frame with one column a coordinate.
            kernel: a scikit-learn kernel, or None for the linear one. A ``WhiteKernel`` in it belongs to the unknown
                function, an independent part of its value at each row; the noise of measurements is no part of it.
            names: (d,) names; by default the frame's columns, or else x0, x1, ...
            scales: (d,) what each coordinate may be, of `superlevel.scales`; by default any number.
            elsewhere: (m, d) places of measurements that are not among the points; none by default.
        """
        matrix, known = _coordinates(points)
        called = _checked_names(known if names is None else names, matrix.shape[1])
        coordinates = _scaled(matrix, called, scales)
        object.__setattr__(self, "places", matrix)
        object.__setattr__(self, "coordinates", coordinates)
        object.__setattr__(self, "points", matrix if coordinates.is_plain else frozen(coordinates.forward(matrix)))
        object.__setattr__(self, "kernel", kernel)
        object.__setattr__(self, "names", called)
        object.__setattr__(self, "elsewhere", _further(elsewhere, coordinates))
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
        table = read_table(path)
        places = table.places(columns)
        return cls(table.numbers(places), kernel, names=[table.header.cells[place] for place in places])

    @classmethod
    def box(cls, box: Mapping[str, Any], *, count: int = 1024, seed: int = 0, kernel: Kernel | None = None) -> Self:
        """Points that are spread evenly in a box, by a scrambled Sobol sequence.

        >>> Domain.box({"temperature": (20, 80), "ph": (2, 9)}, count=4096)
        Domain(4096 points, temperature in [20, 80], ph in [2, 9], linear kernel)

        Args:
            box: for each coordinate its limits (low, high), or one of Range, Integers, Log and Choice.
            count: how many points; powers of two are spread most evenly. A box that has fewer places has them all.
            seed: of the scrambling.
            kernel: as for the constructor. It sees the logarithm of a Log, and a column for each name of a Choice.
        """
        coordinates = boxes.as_coordinates(box)
        places = boxes.sobol(coordinates, count=count, seed=seed)
        return cls(places, kernel, names=coordinates.names, scales=coordinates.scales)

    @classmethod
    def grid(cls, box: Mapping[str, Any], *, count: int | Mapping[str, int], kernel: Kernel | None = None) -> Self:
        """Every combination of evenly spaced values of each coordinate.

        >>> from superlevel.scales import Choice
        >>> Domain.grid({"temperature": (20, 80), "material": Choice("steel", "copper")}, count=61)
        Domain(122 points, temperature in [20, 80], material one of steel, copper, linear kernel)

        Args:
            box: as for `box`.
            count: how many values of each coordinate, or one number for each by its name. A coordinate of whole numbers
                has no more than there are, and one of choices always has all of them.
            kernel: as for `box`.
        """
        coordinates = boxes.as_coordinates(box)
        return cls(boxes.grid(coordinates, count), kernel, names=coordinates.names, scales=coordinates.scales)

    def with_kernel(self, kernel: Kernel | None) -> Self:
        """The same points with another kernel."""
        scales = self.coordinates.scales
        return type(self)(self.places, kernel, names=self.names, scales=scales, elsewhere=self.elsewhere)

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.points)

    @cached_property
    def everywhere(self) -> Domain:
        """The points, and after them the places elsewhere, all of them as points: where something can be measured."""
        if not len(self.elsewhere):
            return self
        places, scales = np.concatenate([self.places, self.elsewhere]), self.coordinates.scales
        return Domain(places, self.kernel, names=self.names, scales=scales)

    @property
    def dimension(self) -> int:
        """Number of columns that the kernel sees."""
        return int(self.points.shape[1])

    @property
    def columns(self) -> tuple[str, ...]:
        """(d,) names of the columns that the kernel sees."""
        return self.coordinates.columns

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
        if columns is None and len(np.unique(left)) == len(left):  # symmetric: scikit-learn computes half of it
            return np.array(self.kernel(self.points[left]), dtype=np.float64)
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
        parts = [f"{self.n} point{'s' * (self.n > 1)}"]
        shown = zip(self.names, self.coordinates.scales, self.places.T[:_SHOWN_COORDINATES], strict=False)
        parts += [f"{name} {scale.extent(values)}" for name, scale, values in shown]
        if len(self.names) > _SHOWN_COORDINATES:
            parts.append(f"{len(self.names) - _SHOWN_COORDINATES} more")
        if len(self.elsewhere):
            parts.append(f"{len(self.elsewhere)} place{'s' * (len(self.elsewhere) > 1)} elsewhere")
        parts.append("linear kernel" if self.kernel is None else f"kernel={self.kernel!r}")
        return f"Domain({', '.join(parts)})"

    def _indices(self, chosen: Indices | Mask | Sequence[int]) -> Indices:
        picked = np.atleast_1d(np.asarray(chosen))
        # An empty list becomes an array of floats, which cannot index.
        indices: Indices = np.arange(self.n)[picked if picked.size else picked.astype(np.int64)]
        return indices


def read_columns(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The names in the first line of a CSV file, without empty ones."""
    return tuple(name for name in read_table(path).header.cells if name)


def read_values(path: str | os.PathLike[str], column: str) -> Array:
    """One column of a CSV file as numbers (n,), in the order of its lines; NaN where a cell is empty.

    The file is as for `Domain.read`, whose points it belongs to: a pilot survey has blanks where nothing was measured.
    """
    table = read_table(path)
    (place,) = table.places([column])
    return np.array(table.numbers_or_blanks(place))


# --- points and names


def _coordinates(values: Any, field: str = "points") -> tuple[Array, tuple[str, ...]]:
    """A read-only copy (n, d) of the points, and the names they come with or get."""
    names: tuple[str, ...] | None = None
    if _is_frame(values):
        values, names = _frame_numbers(values), tuple(str(label) for label in values.columns)
    try:
        on_a_line = np.ndim(values) == 1
    except ValueError:  # ragged lists, which as_matrix explains
        on_a_line = False
    matrix = as_matrix(field, np.asarray(values)[:, None] if on_a_line else values).copy()
    matrix.setflags(write=False)
    return matrix, names or tuple(f"x{j}" for j in range(matrix.shape[1]))


def _further(values: Any, coordinates: Coordinates) -> Array:
    """A read-only copy (m, c) of the places elsewhere, with no row where there are none."""
    dimension = len(coordinates.names)
    if values is None or (hasattr(values, "__len__") and not len(values)):
        return frozen(np.empty((0, dimension)))
    matrix, _ = _coordinates(values, "elsewhere")
    if matrix.shape[1] != dimension:
        got = f"with {matrix.shape[1]} coordinate{'s' * (matrix.shape[1] > 1)}"
        raise InputError("elsewhere", got, f"give {dimension}, as the points have")
    coordinates.check("elsewhere", matrix)
    return matrix


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
    checked = as_names("names", names, remedy=f"give {dimension} names, one for each coordinate of the points")
    for j, name in enumerate(checked):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"names[{j}]", repr(name), "give a name of at least one letter")
    if len(checked) != dimension:
        raise InputError("names", repr(checked), f"give {dimension} names, one for each coordinate of the points")
    return tuple(str(name) for name in checked)


def _scaled(places: Array, names: tuple[str, ...], scales: Sequence[Scale] | None) -> Coordinates:
    """The coordinates, each of which is as its scale says."""
    if scales is None:
        return Coordinates.plain(names)
    if len(scales) != len(names):
        raise InputError("scales", f"{len(scales)} of them", f"give {len(names)}, one for each coordinate")
    coordinates = Coordinates(names=names, scales=tuple(scales))
    coordinates.check("points", places)
    return coordinates


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
    _check_roughness(kernel)
    chosen = _spread(domain.points)
    shape = (chosen.size, chosen.size)
    _evaluate(domain, domain.diagonal, (domain.n,))
    alone = _evaluate(domain, lambda: kernel(domain.points[chosen]), shape)
    block = _evaluate(domain, lambda: domain.gram(chosen, chosen), shape)  # as k(X, Y), which k(X) has to agree with
    slack = _RTOL * float(np.abs(block).max())
    if max(np.abs(block - alone).max(), np.abs(block - block.T).max()) > slack:
        remedy = "make k(X), k(X, X) and diag(X) agree and k(x, y) equal k(y, x)"
        raise InputError("kernel", f"{kernel!r}, which contradicts itself", remedy)
    eigenvalues = np.linalg.eigvalsh(block)
    if eigenvalues[0] < -_RTOL * np.abs(eigenvalues).max():
        got = f"{kernel!r} with an eigenvalue of {eigenvalues[0]:.3g} on {chosen.size} of the points"
        raise InputError("kernel", got, "give a positive semi-definite kernel such as RBF, or change its parameters")


def _check_roughness(kernel: Any) -> None:
    """That a Matern kernel is not the identity because it underflows, as scikit-learn's does for nu above 150."""
    parts = kernel.get_params().values() if hasattr(kernel, "get_params") else ()
    for part in (kernel, *parts):
        nu = getattr(part, "nu", None)
        if not isinstance(nu, float | int) or not _SMOOTH < nu < np.inf:
            continue
        with np.errstate(all="ignore"):
            near = float(type(part)(length_scale=1.0, nu=nu)(np.zeros((1, 1)), np.full((1, 1), 1.0))[0, 0])
        if not near > _NEAR:
            remedy = f"give at most {_SMOOTH:g}, or nu=inf, which is the RBF kernel: the difference is very small"
            raise InputError("kernel", f"{kernel!r}, where nu is {nu:g} and every value comes out as 0", remedy)


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
