"""Hyper-parameters of a Gaussian-process model by marginal likelihood, with what there is to doubt about them.

x_i       (q, d)  the different points that were measured: c_i times, with mean ybar_i and squares SS_i around it
s_i^2     (q,)    variance of one measurement at x_i, fitted (one for all) or given
m                 constant mean, fitted or given
S         (q, q)  K + diag(s_i^2 / c_i), covariance of the ybar_i

log p(y) = log N(ybar; m 1, S) - sum_i [(c_i - 1) log(2 pi s_i^2) + log c_i + SS_i / s_i^2] / 2

This is the density of all measurements: repetitions cost nothing. A WhiteKernel in the kernel belongs to the function,
as everywhere in the library, so that all measurements of a point share it. Without a given mean, m is profiled out:
m = 1'S^-1 ybar / 1'S^-1 1 at every S, by generalised least squares. There the likelihood is flat in m, so its slopes
in the other parameters are those at a fixed m.

Kernels, their parameters and slopes are scikit-learn's. Reference: Rasmussen and Williams 2006, Gaussian Processes for
Machine Learning, 5.4.
"""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.spatial import cKDTree
from scipy.stats import chi2
from sklearn.gaussian_process import kernels as sk

from superlevel.arrays import Array, Indices, as_count, as_deviations, as_number, as_points, as_seed, as_vector
from superlevel.domain import Domain
from superlevel.errors import AssumptionWarning, InputError

DEFAULT = (1e-5, 1e5)  # scikit-learn's bounds, which stand for "nobody has thought about it"
AMPLITUDE = (1e-2, 1e2)  # times the variance of the values
NOISE = (1e-6, 4.0)  # variances, times the variance of the values
SHAPE = (1e-2, 1e2)  # of numbers without a unit: a start beyond these finds nothing
FLOOR = 1e-10  # times the variance of the values: with less noise, smooth kernels are singular in double precision
AGREEMENT = 0.1  # in log-likelihood: far less than any data can tell apart
EDGE = 1e-3  # of the logarithmic range: closer than this is at the bound
STEEP = 0.3  # slope in the logarithm of a parameter: 0.3^2 / 2 is lost where the curvature is 1, less than can be told
LARGEST = 1e100
SINGULAR = 1e25  # minus the log-likelihood where it cannot be computed; finite, so that a line search turns back


class Parameter(NamedTuple):
    """One number that was fitted, and the range that it was looked for in."""

    name: str
    """scikit-learn's name, with the coordinate where there is one length for each, or ``noise``."""
    value: float
    lower: float
    upper: float

    @property
    def end(self) -> str | None:
        """The end of its range that it is at, if any: lower or upper."""
        value, lower, upper = np.log([self.value, self.lower, self.upper])
        edge = EDGE * (upper - lower)
        return "lower" if value - lower <= edge else "upper" if upper - value <= edge else None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Fitted:
    """The hyper-parameters of the largest likelihood that was found."""

    kernel: Any
    """A scikit-learn kernel without the noise, for ``Domain(points, kernel=...)``. Bounds in it are as they came."""
    noise: float | Array
    """Standard deviation of one measurement: the fitted one, or what was given; arrays are read-only."""
    mean: float
    """The fitted constant mean, or the given one."""
    log_likelihood: float
    """Of all measurements, at these parameters."""
    parameters: tuple[Parameter, ...]
    """What was fitted besides the mean, in scikit-learn's order and the noise last."""
    samples: int
    """Measurements."""
    points: int
    """Different points among them."""
    restarts: int
    """Starts of the search; 1 where there was nothing to search for."""
    agreement: int
    """How many of them reached the best log-likelihood within 0.1."""
    warnings: tuple[str, ...]
    """What there is to doubt, in sentences."""

    @property
    def at_bound(self) -> tuple[str, ...]:
        """Names and values of the parameters at an end of their range: the data alone would go on."""
        return tuple(f"{item.name} = {item.value:.4g}" for item in self.parameters if item.end)

    def domain(self, domain: Domain) -> Domain:
        """The same points with the fitted kernel."""
        return domain.with_kernel(self.kernel)

    def __repr__(self) -> str:
        return (
            f"Fitted({self.kernel!r}, {self.samples} measurements at {self.points} point{'s' * (self.points > 1)}, "
            f"log-likelihood {self.log_likelihood:.6g}, {self.agreement} of {self.restarts} starts agree)"
        )

    def __str__(self) -> str:
        """The report: a line for each parameter and each doubt."""
        rows = [(name, f"{value:.4g}", f"in [{low:.4g}, {high:.4g}]") for name, value, low, high in self.parameters]
        if not any(item.name == "noise" for item in self.parameters):
            given = dict.fromkeys(f"{number:.4g}" for number in (np.min(self.noise), np.max(self.noise)))
            rows.append(("noise", " to ".join(given), "given"))
        rows.append(("mean", f"{self.mean:.4g}", ""))
        width, digits = (max(len(row[column]) for row in rows) for column in (0, 1))
        lines = [f"  {name:<{width}}  {value:<{digits}}  {remark}".rstrip() for name, value, remark in rows]
        return "\n".join([repr(self), *lines, *(f"  warning: {doubt}" for doubt in self.warnings)])


def fit(
    domain: Domain,
    indices: ArrayLike,
    values: ArrayLike,
    *,
    noise: float | ArrayLike | None = None,
    mean: float | None = None,
    amplitude: bool = True,
    restarts: int = 8,
    seed: int = 0,
) -> Fitted:
    """Fit the free parameters of the domain's kernel, and the noise and the mean unless they are given.

    Bounds that differ from scikit-learn's default are kept, and what is ``"fixed"`` stays. Otherwise lengths are looked
    for from the smallest distance of two points of the domain to three times the diagonal of the box around it,
    amplitudes (variances) from a hundredth to a hundred times the variance of the values, and the noise from a
    thousandth of to twice their standard deviation.

    Args:
        domain: the points, with a scikit-learn kernel; None, the linear kernel, is taken as ``DotProduct(0, "fixed")``.
        indices: (N,) the point of each measurement, in any order and with repetitions.
        values: (N,) the measurements.
        noise: standard deviation of one measurement, or (n,) of them, one for each point; None fits one. The likelihood
            counts less than 1e-5 of the standard deviation of the values as that.
        mean: of the function; None fits a constant.
        amplitude: whether to put a fitted ``ConstantKernel`` before every term of the kernel that has none.
        restarts: how often to search: from the kernel as it is, then from random places in the ranges.
        seed: of those places.

    >>> domain = Domain(np.linspace(0, 1, 21), kernel=sk.RBF(0.1))
    >>> measured = np.repeat(np.arange(21), 2)
    >>> wiggle = 0.1 * np.where(np.arange(42) % 2, 1, -1)
    >>> fitted = fit(domain, measured, np.sin(6 * domain.points[measured, 0]) + wiggle)
    >>> fitted.kernel, fitted.at_bound
    (1.09**2 * RBF(length_scale=0.322), ())
    """
    restarts, seed = as_count("restarts", restarts), as_seed(seed)
    kernel = _kernel(domain, amplitude)
    data = _data(domain, indices, values, noise, mean)
    ranges = _ranges(domain, kernel, data)
    climbs = [_climb(kernel, data, start, ranges) for start in _starts(kernel, data, ranges, restarts, seed)]
    best = max(climbs, key=lambda climb: climb.value)
    if not np.isfinite(best.value):
        raise InputError("kernel", f"{kernel!r}, singular wherever it was tried", "give a larger noise or other bounds")
    parameters = _parameters(domain, kernel, data, best, ranges)
    fitted = Fitted(
        kernel=kernel.clone_with_theta(best.theta[: kernel.n_dims]),
        noise=parameters[-1].value if noise is None else as_deviations("noise", noise, domain.n),
        mean=best.mean,
        log_likelihood=best.value,
        parameters=parameters,
        samples=int(data.counts.sum()),
        points=len(data.counts),
        restarts=len(climbs),
        agreement=sum(climb.value >= best.value - AGREEMENT for climb in climbs),
        warnings=(),
    )
    doubts = tuple(_doubts(fitted, data, best))
    for doubt in doubts:
        warnings.warn(doubt, AssumptionWarning, stacklevel=2)
    return replace(fitted, warnings=doubts)


class _Data(NamedTuple):
    """The measurements, one row for each different point: see the heading. What is None is to be fitted."""

    points: Array
    counts: Indices
    means: Array
    squares: Array
    variances: Array | None
    mean: float | None
    scale: float
    """The variance of the values, or a guess of it where they are all equal."""
    constant: bool


def _data(domain: Domain, indices: ArrayLike, values: ArrayLike, noise: object, mean: object) -> _Data:
    where = as_points("indices", indices, count=domain.n)
    if not len(where):
        raise InputError("indices", "empty", "give the point of each measurement")
    measured = as_vector("values", values, length=len(where))
    center = None if mean is None else as_number("mean", mean)
    largest = float(np.abs(measured).max())
    if largest > LARGEST or 0 < largest < 1 / LARGEST:
        raise InputError(
            "values", f"as large as {largest:g}", f"rescale them to between {1 / LARGEST:g} and {LARGEST:g}"
        )
    given = None if noise is None else as_deviations("noise", noise, domain.n)
    different, inverse, counts = np.unique(where, return_inverse=True, return_counts=True)
    means = np.bincount(inverse, measured) / counts
    squares = np.bincount(inverse, np.square(measured - means[inverse])).astype(np.float64)
    rounding = 1e-12 * largest
    deviation = float(np.sqrt(np.square(measured - (measured.mean() if center is None else center)).mean()))
    if deviation <= rounding:
        deviation = (0.0 if given is None else float(np.max(given))) or 1e9 * rounding or 1.0
    scale, constant = deviation**2, float(np.ptp(measured)) <= rounding
    variances = None if given is None else np.maximum(np.broadcast_to(given, domain.n)[different] ** 2, FLOOR * scale)
    return _Data(domain.points[different], counts, means, squares, variances, center, scale, constant)


def _kernel(domain: Domain, amplitude: bool) -> Any:
    if not isinstance(domain, Domain):
        raise InputError("domain", f"of type {type(domain).__name__}", "give Domain(points, kernel=...)")
    kernel = sk.DotProduct(0.0, "fixed") if domain.kernel is None else domain.kernel
    if not isinstance(kernel, sk.Kernel):
        raise InputError("domain.kernel", reprlib.repr(kernel), "give a kernel of sklearn.gaussian_process.kernels")
    if not isinstance(amplitude, bool | np.bool_):
        raise InputError("amplitude", repr(amplitude), "give True or False")
    return _with_amplitude(kernel) if amplitude else kernel


def _with_amplitude(kernel: Any) -> Any:
    """Term by term: a factor before a sum would also scale what is fixed in it."""
    if isinstance(kernel, sk.Sum):
        return _with_amplitude(kernel.k1) + _with_amplitude(kernel.k2)
    parts = [kernel, *kernel.get_params().values()]
    scaled = any(isinstance(part, sk.ConstantKernel | sk.WhiteKernel) for part in parts)
    return kernel if scaled else sk.ConstantKernel() * kernel


def _ranges(domain: Domain, kernel: Any, data: _Data) -> Array:
    """(p, 2) logarithms of the smallest and the largest value of each free parameter, variances for the noise."""
    rows: list[Any] = []
    for item in (item for item in kernel.hyperparameters if not item.fixed):
        bounds = np.asarray(item.bounds, dtype=np.float64)
        if not (np.isfinite(bounds).all() and (bounds[:, 0] > 0).all() and (bounds[:, 0] < bounds[:, 1]).all()):
            raise InputError(f"{item.name}_bounds", bounds.tolist(), 'give 0 < lower < upper < inf or "fixed"')
        found = _from_data(domain, kernel, data, item, len(rows))
        rows += [found[j] if tuple(row) == DEFAULT else row for j, row in enumerate(bounds)]
    if data.variances is None:
        rows.append(np.multiply(NOISE, data.scale))
    return np.log(np.reshape(rows, (-1, 2)))


def _from_data(domain: Domain, kernel: Any, data: _Data, item: Any, j: int) -> Any:
    """(n_elements, 2) the range of the hyper-parameter at theta_j where it came without."""
    path, _, name = item.name.rpartition("__")
    owner = kernel.get_params()[path] if path else kernel
    if isinstance(owner, sk.ConstantKernel):
        return [np.multiply(AMPLITUDE, data.scale) / _partner(domain, kernel, data, j)]
    if isinstance(owner, sk.WhiteKernel):  # next to the noise, or a part of something with an amplitude
        return [(NOISE[0] * min(1.0, data.scale), NOISE[1] * max(1.0, data.scale))]
    turns = isinstance(owner, sk.ExpSineSquared) and name == "length_scale"  # in turns, not in units of the points
    if turns or name not in ("length_scale", "periodicity"):
        return [SHAPE if turns or name == "alpha" else DEFAULT] * item.n_elements
    return [_lengths(points) for points in ([domain.points] if item.n_elements == 1 else domain.points.T[:, :, None])]


def _partner(domain: Domain, kernel: Any, data: _Data, j: int) -> Array:
    """(2,) the variance, at most and at least, that values would have if the constant theta_j were 1.

    That is k(x, x) of what it multiplies, unless this differs from point to point: <x, y> is large far from the origin
    and yet may vary little, and a fitted mean takes the rest.
    """
    some = domain.points[:: 1 + domain.n // 200]
    product = kernel(some, eval_gradient=True)[1][:, :, j] / np.exp(kernel.theta[j])
    size = float(np.diag(product).mean()) or 1.0
    apart = size - float(product.mean())
    hidden = data.mean is None and np.ptp(np.diag(product)) > 1e-9 * size and apart > 1e-12 * size
    return np.array([size, apart if hidden else size])


def _lengths(points: Array) -> tuple[float, float]:
    """The smallest distance of two points, at least 1/n of the diagonal of the box around all; three diagonals."""
    different = np.unique(points, axis=0)
    if len(different) == 1:
        return DEFAULT
    diagonal = float(np.linalg.norm(np.ptp(different, axis=0)))
    some = different[:: 1 + len(different) // 500]  # each asked for the nearest of all
    nearest = float(cKDTree(different).query(some, k=2)[0][:, 1].min())
    return max(nearest, diagonal / len(different)), 3.0 * diagonal  # two may lie together by chance


def _starts(kernel: Any, data: _Data, ranges: Array, count: int, seed: int) -> Array:
    """(count, p) The kernel's own values, in the middle of a range where they are outside it, and random ones."""
    if not len(ranges):
        return np.empty((1, 0))
    lower, upper = ranges.T
    # repetitions, where there are any, know the noise better than a guess
    noise = 0.1 * data.scale if data.counts.max() == 1 else data.squares.sum() / (data.counts - 1).sum()
    first = np.append(kernel.theta, [] if data.variances is not None else np.log(max(noise, FLOOR * data.scale)))
    first = np.where((first < lower) | (first > upper), (lower + upper) / 2, first)
    return np.vstack([first, np.random.default_rng(seed).uniform(lower, upper, size=(count - 1, len(ranges)))])


class _Climb(NamedTuple):
    """Where a search ended; slope is the largest that does not lead out of the ranges."""

    theta: Array
    value: float
    slope: float
    mean: float


def _climb(kernel: Any, data: _Data, start: Array, ranges: Array) -> _Climb:
    def objective(theta: Array) -> tuple[float, Array]:
        value, slopes, _ = _likelihood(kernel, data, theta)
        return min(-value, SINGULAR), -slopes

    theta = start
    if len(start):
        options = {"ftol": 1e-11, "gtol": 1e-4, "maxiter": 500}
        theta = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=ranges, options=options).x
    value, slopes, mean = _likelihood(kernel, data, theta)
    inside = np.clip(theta + slopes, ranges[:, 0], ranges[:, 1]) - theta
    return _Climb(theta, value, float(np.abs(inside).max(initial=0.0)), mean)


def _likelihood(kernel: Any, data: _Data, theta: Array) -> tuple[float, Array, float]:
    """Log-likelihood, its slopes (p,) in theta, and the mean; minus infinity where the kernel matrix is of no use."""
    q, p = len(data.counts), kernel.n_dims
    variances = np.full(q, np.exp(theta[-1])) if data.variances is None else data.variances
    with np.errstate(all="ignore"):  # what overflows is not finite, which the factorisation refuses
        gram, changes = kernel.clone_with_theta(theta[:p])(data.points, eval_gradient=True)
    try:
        factor = cho_factor(gram + np.diag(variances / data.counts), lower=True)
    except (LinAlgError, ValueError):
        return -np.inf, np.zeros(len(theta)), np.nan
    inverse = cho_solve(factor, np.eye(q))
    mean = float(inverse.sum(axis=0) @ data.means / inverse.sum()) if data.mean is None else data.mean
    residuals = data.means - mean
    solved = cho_solve(factor, residuals)
    between = residuals @ solved + 2.0 * np.log(np.diag(factor[0])).sum() + q * np.log(2.0 * np.pi)
    within = (data.counts - 1) * np.log(2.0 * np.pi * variances) + np.log(data.counts) + data.squares / variances
    weights = 0.5 * (np.outer(solved, solved) - inverse)
    slopes = weights.ravel() @ changes.reshape(q * q, p)
    if data.variances is None:
        shared = np.diag(weights) @ (variances / data.counts)
        slopes = np.append(slopes, shared + 0.5 * (data.squares / variances - data.counts + 1).sum())
    return float(-0.5 * (between + within.sum())), slopes, mean


def _parameters(domain: Domain, kernel: Any, data: _Data, best: _Climb, ranges: Array) -> tuple[Parameter, ...]:
    names: list[str] = []
    for item in (item for item in kernel.hyperparameters if not item.fixed):
        names += [item.name] if item.n_elements == 1 else [f"{item.name}[{name}]" for name in domain.names]
    columns = np.vstack([best.theta, ranges.T])
    if data.variances is None:
        names.append("noise")
        columns[:, -1] /= 2.0  # it is searched for as a variance and shown as a deviation
    return tuple(Parameter(name, *row) for name, row in zip(names, np.exp(columns).T.tolist(), strict=True))


def _doubts(fitted: Fitted, data: _Data, best: _Climb) -> Iterator[str]:
    if data.constant:
        yield "all values are equal: they say nothing of the kernel, so measure where they differ or give it fixed"
    free = len(fitted.parameters) + (data.mean is None)
    if free and (fitted.samples < 10 or fitted.points < 3 * free):
        counts = f"{fitted.samples} measurements, {fitted.points} different points, {free} fitted numbers"
        yield f"too few data ({counts}): measure at least 10 times, at {3 * free} points, or hold some numbers fixed"
    yield from _doubts_of_noise(fitted, data)
    for item in fitted.parameters:
        if item.end:
            fix = "give the noise" if item.name == "noise" else "give the kernel other bounds for it or hold it fixed"
            end = f"the {item.end} end of its range [{item.lower:.4g}, {item.upper:.4g}]"
            yield f"{item.name} is {item.value:.4g}, at {end}: the likelihood rises beyond, so measure more or {fix}"
    if best.slope > STEEP:
        yield f"the search ended where the log-likelihood still rises (slope {best.slope:.3g}): raise restarts"
    if fitted.agreement == 1 < fitted.restarts:
        yield f"only 1 of {fitted.restarts} starts reached the best likelihood: raise restarts"


def _doubts_of_noise(fitted: Fitted, data: _Data) -> Iterator[str]:
    repeated = int((data.counts - 1).sum())
    if repeated and data.variances is not None:
        deviation, excess = np.sqrt(data.squares.sum() / repeated), float((data.squares / data.variances).sum())
        if chi2.sf(excess, repeated) < 1e-3:
            differ = f"repeated measurements differ by a standard deviation of {deviation:.4g}"
            yield f"{differ}, more than the given noise explains: give a larger one or None to fit it"
    if not repeated and data.variances is None:
        gram = fitted.kernel(data.points)
        others = np.abs(gram - np.diag(np.diag(gram))).max(axis=0)
        if np.median(others) < 0.3 * np.median(np.diag(gram)):
            alone = "no point is measured twice and most are hardly correlated with any other"
            yield f"{alone}: noise and function cannot be told apart, so repeat some measurements or give the noise"
