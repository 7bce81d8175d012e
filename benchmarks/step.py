"""One step of every method against the same rule on a refitted regressor, and one design of batched MELK.

    python benchmarks/step.py

700 points of [0, 1], RBF of length 0.1, noise 0.2, f = cos(8 pi x), 30 % above the level (the paper's second
experiment); 500 measurements are in, and one more is asked for and told. The alternative does what a script without
this library would: fit scikit-learn's regressor (fixed kernel) to all 501 measurements, predict, and evaluate the same
formula, vectorised over all candidates with numpy. Both choose the same point, and that is checked. The design is that
of the paper's 400 points with its own solver, Frank-Wolfe with 500 steps, as the alternative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import ndtr
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from threadpoolctl import threadpool_limits
from timing import timed

import superlevel as sl
from superlevel.arrays import Array, Indices, Mask
from superlevel.confidence.posterior import GaussianBelief
from superlevel.records import State, View
from superlevel.rules.design import WorstCase, _InFeatures

POINTS, LENGTH, NOISE, ABOVE, MEASURED, BETA = 700, 0.1, 0.2, 0.3, 500, 3.0
REPEAT = 200


def main() -> None:
    places = np.linspace(0, 1, POINTS)
    f = np.cos(8 * np.pi * places)
    domain = sl.Domain(places, kernel=RBF(LENGTH))
    level = float(np.quantile(f, 1 - ABOVE))
    explicit = sl.Problem(domain, goal=sl.Threshold(level), noise=NOISE)
    implicit = sl.Problem(domain, goal=sl.FractionOfMax(0.2), noise=NOISE)
    indices = np.random.default_rng(0).integers(0, POINTS, MEASURED)
    values = f[indices] + NOISE * np.random.default_rng(1).standard_normal(MEASURED)
    print(f"one ask and tell at {MEASURED} measurements on {POINTS} points, against a refitted regressor")
    for name, problem in (
        *((name, explicit) for name in ("lse", "straddle", "truvar", "rmile", "melk", "uniform", "max-variance")),
        *((name, implicit) for name in ("lse-imp", "truvar", "milk")),
    ):
        step(name, problem, indices, values)
    one_design()


def step(name: str, problem: sl.Problem, indices: Indices, values: Array) -> None:
    """Print how much faster one step is."""
    # without intersected intervals, because a refit knows no earlier ones
    method = sl.methods.make(name, problem, batch=1, confidence=sl.Posterior())
    state = told(method, indices, values)
    assert isinstance(state.belief, GaussianBelief)
    rough = state.belief.posterior.roughness

    def ours() -> State:
        return method.tell(state, method.ask(state), values[:1])[0]

    def theirs() -> int:
        return int(np.argmax(refitted(name, problem, (indices, values), rough)))

    with threadpool_limits(1):
        _, fast = timed(ours, REPEAT)
        chosen, slow = timed(theirs, 3)
    same = "" if name == "uniform" or chosen == int(method.ask(state).indices[0]) else "  (another point!)"
    goal = "max" if problem.goal.implicit else "level"
    print(f"  {name:12} {goal:5} {slow / fast:6.0f} times faster  ({slow * 1e3:.1f} ms, {fast * 1e3:.2f} ms){same}")


def told(method: sl.methods.Method, indices: Indices, values: Array) -> State:
    """The state after all measurements, told one by one."""
    state = method.init()
    template = method.ask(state)
    everyone = np.eye(POINTS, dtype=np.int64)
    for k, (x, y) in enumerate(zip(indices, values, strict=True)):
        state, _ = method.tell(state, replace(template, counts=everyone[x], origin=str(k)), [y])
    return state


def refitted(name: str, problem: sl.Problem, data: tuple[Indices, Array], rough: float) -> Array:
    """The rule's score of every point after a fresh fit."""
    points, noise = problem.domain.points, NOISE**2
    indices, values = data
    model = GaussianProcessRegressor(problem.domain.kernel, alpha=noise, optimizer=None)
    model.fit(points[indices], values)
    if name in {"truvar", "melk", "milk", "rmile"}:
        mean, covariance = model.predict(points, return_cov=True)
        variance = np.diag(covariance)
    else:
        mean, deviation = model.predict(points, return_std=True)
        variance, covariance = deviation**2, np.empty((0, 0))
    deviation = np.sqrt(variance)
    upper, lower = mean + BETA * deviation, mean - BETA * deviation
    if problem.goal.implicit:
        share = problem.goal.share
        measured = np.bincount(indices, minlength=POINTS) / noise
        if name == "milk":
            return _pairwise(mean, covariance, share, (measured, rough))
        undecided = (upper > share * lower.max()) & (lower < share * upper.max())
        among = undecided | (upper >= lower.max()) if undecided.any() else undecided
        return np.where(among, upper - lower, -1.0) if name == "lse-imp" else _drop(among, covariance, noise)
    (level,) = problem.goal.levels
    undecided = (lower <= level) & (upper >= level)
    ambiguity = np.minimum(upper - level, level - lower)
    scores: dict[str, Callable[[], Array]] = {
        "lse": lambda: np.where(undecided, ambiguity, -np.inf),
        "straddle": lambda: 1.96 * deviation - np.abs(mean - level),
        "truvar": lambda: _drop(undecided, covariance, noise),
        "melk": lambda: _greedy(
            [(1.0, mean - level)], covariance, np.bincount(indices, minlength=POINTS) / noise, rough
        ),
        "rmile": lambda: _rmile(mean - level, covariance, noise),
    }
    return scores[name]() if name in scores else np.asarray(variance)


def _drop(weights: Array | Mask, covariance: Array, noise: float) -> Array:
    return np.asarray(weights @ covariance**2 / (np.diag(covariance) + noise))


def _pairwise(mean: Array, covariance: Array, share: float, told: tuple[Array, float]) -> Array:
    """MILK: the bounds of all pairs, which decide, and the greedy score."""
    variance = np.diag(covariance)
    half = BETA * np.sqrt(np.maximum(variance[:, None] - 2 * share * covariance + share**2 * variance, 0))
    estimates = mean[:, None] - share * mean
    below = (estimates + half < 0).any(axis=1)
    above = (estimates - half > 0)[:, ~below].all(axis=1)
    assert not (above & below).any()
    gaps = [(1.0, mean - share * mean.max()), (share**2, mean - mean.max())]
    return _greedy(gaps, covariance, *told)


def _greedy(gaps: list[tuple[float, Array]], covariance: Array, measured: Array, rough: float) -> Array:
    variance = np.diag(covariance)
    own = 1 / (1 / rough + measured) if rough else np.zeros(POINTS)
    weights = np.max([size * (1 + gap**2 / (variance + own)) ** -3.0 for size, gap in gaps], axis=0)
    gained = weights @ covariance**2 + weights * own * (2 * variance + own)
    return np.asarray(gained / (variance + own + NOISE**2))


def _rmile(gap: Array, covariance: Array, noise: float) -> Array:
    variance = np.diag(covariance)
    moves = np.abs(covariance) / np.sqrt(variance + noise)
    left = np.sqrt(np.maximum(variance[:, None] - moves**2, 0))
    sure = gap - BETA * np.sqrt(variance) > 0
    gains = ndtr((gap[:, None] - BETA * left) / moves).sum(axis=0) - sure.sum()
    return np.asarray(np.maximum(gains, 1e-6 / np.sqrt(variance).max() * np.sqrt(variance)))


def designed(rule: WorstCase, view: View) -> sl.design.Design:
    """The design that a rule chooses."""
    found = rule.choose(view).certificate
    assert found is not None
    return found


def one_design() -> None:
    """Print how much faster one design of batched MELK is, and how good both are."""
    places = np.linspace(0, 1, 400)
    problem = sl.Problem(sl.Domain(places, kernel=RBF(0.05)), goal=sl.Threshold(0.0), noise=1.0)
    method = sl.methods.make("melk", problem, batch=10, rule="worst")
    assert isinstance(method.rule, WorstCase)
    undecided = np.abs(places - 0.5) < 0.4
    state = method.init()
    some = replace(state, reading=replace(state.reading, undecided=undecided))
    print("one design of batched MELK at 400 points, 320 of them undecided, against Frank-Wolfe with 500 steps")
    for phase in (1, 10, 100):
        view = method.view(some, phase=phase)
        posed = method.rule._posed(view)
        assert isinstance(posed, _InFeatures)
        first = designed(method.rule, method.view(state, phase=phase))
        frank_wolfe = partial(
            sl.design.solve,
            posed.features,
            sl.design.targets(0.0, undecided),
            ridge=posed.ridge,
            method=sl.design.FrankWolfe(iterations=500),
        )
        with threadpool_limits(1):
            cold, fast = timed(partial(designed, method.rule, view), 20)
            warm, warm_fast = timed(partial(designed, method.rule, replace(view, start=first)), 20)
            paper, slow = timed(frank_wolfe, 2)
        print(
            f"  batch {phase:3}: {slow / fast:5.0f} times faster cold, {slow / warm_fast:5.0f} warm  "
            f"({slow * 1e3:.0f} ms, {fast * 1e3:.1f} and {warm_fast * 1e3:.1f} ms); above the best by at most "
            f"{cold.gap:.1%} and {warm.gap:.1%}, the paper's by "
            f"{paper.value / max(cold.lower_bound, warm.lower_bound) - 1:.1%}"
        )


if __name__ == "__main__":
    main()
