"""One ask and tell of the ridge confidence after 10^5 measurements, against regression on all rows.

    python benchmarks/ridge.py

1,000 points of the unit square, noise 0.5, f = ten bumps of the kernel, so that its norm is known; batches of 100. The
alternative does what a script without this library would: keep a row of features for every measurement, solve the
normal equations, and take one ellipsoid's widths at every point. It makes no design, so it is compared with `tell`
alone. That measurements are summed up at the points is also why the time does not depend on their number.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.gaussian_process.kernels import RBF, Kernel, Matern
from threadpoolctl import threadpool_limits
from timing import timed

import superlevel as sl
from superlevel.arrays import Array, Indices
from superlevel.confidence.ridge import RidgeBelief
from superlevel.records import State

POINTS, NOISE, MEASURED, FEW, BATCH, REPEAT = 1000, 0.5, 10**5, 1000, 100, 15


def main() -> None:
    print(f"one ask and tell of {BATCH} more, {MEASURED:,} measurements on {POINTS:,} points")
    for kernel in (RBF(0.3), RBF(0.2), RBF(0.1), Matern(0.3, nu=2.5)):
        step(kernel)


def step(kernel: Kernel) -> None:
    """Print what a step takes, and the ratios."""
    rng = np.random.default_rng(0)
    points, centres, heights = rng.random((POINTS, 2)), rng.random((10, 2)), rng.standard_normal(10)
    f, norm = kernel(points, centres) @ heights, float(np.sqrt(heights @ kernel(centres) @ heights))
    problem = sl.Problem(sl.Domain(points, kernel=kernel), goal=sl.Threshold(0.5), noise=NOISE, norm=norm)
    method = sl.methods.make("melk", problem, confidence=sl.Ridge(growth=1.0), batch=BATCH)
    indices = rng.integers(0, POINTS, MEASURED)
    values = f[indices] + NOISE * rng.standard_normal(MEASURED)
    state, early = (prepared(method, indices[:count], values[:count], f) for count in (MEASURED, FEW))
    plan, first = method.ask(state), method.ask(early)
    assert isinstance(method.prior, RidgeBelief)
    features = method.prior.setting.features
    rows = features.array[indices] / NOISE
    with threadpool_limits(1):
        _, asking = timed(lambda: method.ask(state), REPEAT)
        _, telling = timed(lambda: method.tell(state, plan, f[plan.indices]), REPEAT)
        _, before = timed(lambda: method.tell(early, first, f[first.indices]), REPEAT)
        _, rowwise = timed(lambda: regression(rows, values / NOISE, features.array), 2)
    both, rank = asking + telling, features.rank
    print(
        f"  {kernel!s:33} rank {rank:3}: {1e3 * both:4.0f} ms, {both / 0.1:4.2f} tenths of a second; tell "
        f"{rowwise / telling:3.0f} times faster than on all rows, {telling / before:.2f} times its time at {FEW:,}"
    )


def prepared(method: sl.methods.Method, indices: Indices, values: Array, f: Array) -> State:
    """After the measurements, and one batch by plan: from then on designs start from the one before."""
    state, _ = method.observe(method.init(), indices, values)
    plan = method.ask(state)
    return method.tell(state, plan, f[plan.indices])[0]


def regression(rows: Array, values: Array, features: Array) -> tuple[Array, Array]:
    """Mean and half-width at every point, from a row for each measurement: one ellipsoid with ridge 1."""
    factor = cho_factor(rows.T @ rows + np.eye(rows.shape[1]), lower=True)
    mean = features @ cho_solve(factor, rows.T @ values)
    spread = np.sqrt(np.vecdot(features, cho_solve(factor, features.T).T))
    radius = np.sqrt(2 * np.log(10) + 2 * np.log(np.diag(factor[0])).sum()) + 1.0
    return mean, radius * spread


if __name__ == "__main__":
    main()
