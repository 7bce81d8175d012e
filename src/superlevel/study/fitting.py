"""Kernel, noise and mean from the measurements of a campaign, by marginal likelihood."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF, Matern

from superlevel import hyperparameters, kernels
from superlevel.arrays import Array, Indices
from superlevel.domain import Domain
from superlevel.errors import AssumptionWarning, InputError
from superlevel.study.events import Fit
from superlevel.study.ledger import Ledger

ENOUGH = 10  # measurements without a noise of their own, from which the noise of one can be told
MOST = 300  # different points that an estimate looks at: its cost grows with their cube
STARTS = 4  # of the search for each kernel
ROUGHNESS = (0.5, 1.5, 2.5, np.inf)  # nu of the kernels that are tried: the likeliest is taken


def fitted(ledger: Ledger) -> Fit:
    """What the campaign wants estimated, from all that was measured so far; the rest as it was given."""
    given = ledger.created
    domain = Domain(np.array(given.points), names=given.names)
    at = _some(ledger)
    noise = None if "noise" in given.fit else _deviations(ledger, at)
    mean = None if "mean" in given.fit else given.mean
    tried = []
    for kernel in _forms(ledger, domain):
        with warnings.catch_warnings():  # they are in what it returns
            warnings.simplefilter("ignore", AssumptionWarning)
            tried.append(
                hyperparameters.fit(
                    Domain(domain.points, kernel, names=domain.names),
                    ledger.point[at],
                    ledger.value[at],
                    noise=noise,
                    mean=mean,
                    amplitude="kernel" in given.fit,
                    restarts=STARTS,
                    seed=given.seed,
                )
            )
    best = max(tried, key=lambda found: found.log_likelihood)
    return Fit(
        kernel=kernels.describe(best.kernel) if "kernel" in given.fit else given.kernel,
        noise=float(best.noise) if "noise" in given.fit else given.noise,
        mean=best.mean,
        samples=ledger.samples,
        doubts=[*best.warnings, *_left_out(ledger)],
    )


def _forms(ledger: Ledger, domain: Domain) -> list[Any]:
    """A length for each coordinate, because their units differ; or the given kernel as it is."""
    if "kernel" not in ledger.created.fit:
        return [_fixed(kernels.restore(ledger.created.kernel))]
    lengths = np.maximum(np.ptp(domain.points, axis=0), 1e-12) / 4
    start = float(lengths[0]) if len(lengths) == 1 else lengths
    return [RBF(start) if np.isinf(nu) else Matern(start, nu=nu) for nu in ROUGHNESS]


def _fixed(kernel: Any) -> Any:
    if kernel is None:
        return None
    return kernel.set_params(**{f"{item.name}_bounds": "fixed" for item in kernel.hyperparameters})


def _counted(ledger: Ledger) -> Indices:
    """Positions of the measurements that an estimate is made from.

    One number is estimated for the noise of all of them. Those that have their own would be taken for as noisy as the
    rest, or the rest for as noisy as they are.
    """
    at = ledger.measured
    common = at[np.isnan(ledger.noise[at])]
    return common if "noise" in ledger.created.fit and len(common) >= ENOUGH else at


def _left_out(ledger: Ledger) -> list[str]:
    """What to say of the others."""
    left = ledger.samples - len(_counted(ledger))
    if not left:
        return []
    return [f"{left:,} measurement{'s' * (left != 1)} with a noise of their own did not count in the estimate"]


def _some(ledger: Ledger) -> Indices:
    """Positions of all measurements that count, or of those at some of the points, evenly spread in their order."""
    at = _counted(ledger)
    if not len(at):
        raise InputError("fit", "asked for without any measurement", "tell some first")
    different = np.unique(ledger.point[at])
    if len(different) <= MOST:
        return at
    kept = different[np.linspace(0, len(different) - 1, MOST).astype(np.int64)]
    return at[np.isin(ledger.point[at], kept)]


def _deviations(ledger: Ledger, at: Indices) -> Array | float:
    """(n,) of one measurement; where measurements of a point have their own, what stands for all of them."""
    given, own = np.broadcast_to(ledger.created.noise, ledger.n), ledger.noise[at]
    if np.isnan(own).all():
        return given.copy()
    each = np.where(np.isnan(own), given[ledger.point[at]], own)
    counts = np.bincount(ledger.point[at], minlength=ledger.n)
    with np.errstate(divide="ignore"):
        weights = np.bincount(ledger.point[at], 1 / np.square(each), minlength=ledger.n)
        return np.where(counts > 0, np.sqrt(counts / np.where(counts > 0, weights, 1.0)), given)
