"""Whether a kernel is one: on the points of a domain it is finite, agrees with itself and is positive semi-definite."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from superlevel.arrays import Array, Indices
from superlevel.errors import InputError

_CHECKED_POINTS = 200
_COMPARED_POINTS = 20_000  # among which different ones are looked for
_SMOOTH = 50.0  # a nu above which a Matern kernel is checked
_NEAR = 0.5  # less than the correlation of any such kernel at its length, which is about 0.6
_RTOL = 1e-8


class OnPoints(Protocol):
    """A kernel on points, as a domain has them."""

    @property
    def points(self) -> Array:
        """(n, d)"""
        ...

    @property
    def kernel(self) -> Any:
        """None for the linear kernel."""
        ...

    @property
    def n(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    def diagonal(self) -> Array:
        """(n,) k(x, x)"""
        ...

    def gram(self, rows: Any, columns: Any = None) -> Array:
        """(p, q) k between two sets of points."""
        ...


def check_kernel(domain: OnPoints) -> None:
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
        remedy = "give a positive semi-definite kernel such as RBF, or change its parameters"
        if "ExpSineSquared" in repr(kernel) and domain.dimension > 1:  # no function of a distance in a plane comes back
            remedy += "; periods are for one column, as in On(0, ExpSineSquared(...))"
        raise InputError("kernel", got, remedy)


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
    """Indices of at most 200 different points, evenly spread over the different points in lexicographic order.

    Of very many points some are looked at, because sorting all of them would take seconds.
    """
    some = np.linspace(0, len(points) - 1, min(len(points), _COMPARED_POINTS)).astype(np.int64)
    different = some[np.unique(points[some], axis=0, return_index=True)[1]]
    count = min(different.size, _CHECKED_POINTS)
    return different[np.linspace(0, different.size - 1, count).astype(np.int64)]


def _evaluate(domain: OnPoints, compute: Callable[[], Any], shape: tuple[int, ...]) -> Array:
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
