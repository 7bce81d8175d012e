"""One number of the paper of every newer rule, or a claim of it, computed again (docs/rules.md).

Every function below that returns lines is one paper: what was computed, what the paper has, and what came out.

    python -m experiments.newer             # four minutes on one core
    python -m experiments.newer eff sur     # some of them
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import norm, qmc
from sklearn.gaussian_process.kernels import RBF, Matern

import superlevel as sl
from superlevel.arrays import Array, Indices
from superlevel.goals import Reading
from superlevel.methods.stopping import Accurate, margin
from superlevel.records import State
from superlevel.rules.accurate import LeastAccurate
from superlevel.rules.protocol import Rule
from superlevel.rules.sequential import Sequential
from superlevel.sizes import Growing
from superlevel.worker_setup import quiet

Line = tuple[str, str, str]
"""What was computed, what the paper has, what came out."""


def grid(low: Sequence[float], high: Sequence[float], side: int) -> Array:
    """(side^d, d)"""
    axes = [np.linspace(a, b, side) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def latin(points: Array, count: int, seed: int) -> Indices:
    """The points of the domain that are nearest to a Latin hypercube sample."""
    low, high = points.min(axis=0), points.max(axis=0)
    wanted = low + (high - low) * qmc.LatinHypercube(points.shape[1], rng=np.random.default_rng(seed)).random(count)
    return np.array([int(np.argmin((((points - x) / (high - low)) ** 2).sum(axis=1))) for x in wanted])


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """A function without a given kernel: it is fitted to the first measurements, and again after every few."""

    points: Array
    values: Array
    level: float
    kernel: Any
    noise: float
    first: Indices
    budget: int
    interval: int = 5
    """Measurements between two fits."""
    mean: float | None = None

    def run(self, name: str, seed: int = 0, make: Callable[[sl.Problem], Rule | None] = lambda _: None) -> list[State]:
        """The state after every measurement, those of the last fit included."""
        rng = np.random.default_rng([seed, 11])
        where = list(self.first)
        seen = list(self.values[where] + self.noise * rng.standard_normal(len(where)))
        states = list[State]()
        while len(where) < self.budget:
            method = sl.methods.make(name, self._fitted(where, seen), rule=None, confidence=sl.Posterior(beta=8.0))
            method = replace(method, rule=make(method.problem) or method.rule)
            state, _ = method.observe(method.init(seed=seed), where, seen)
            for _ in range(min(self.interval, self.budget - len(where))):
                states.append(state)
                if state.stop is not None:
                    return states
                (x,) = method.ask(state).indices
                where.append(int(x))
                seen.append(float(self.values[x] + self.noise * rng.standard_normal()))
                state, _ = method.observe(state, where[-1:], seen[-1:])
            states.append(state)
        return states

    def _fitted(self, where: Sequence[int], seen: Sequence[float]) -> sl.Problem:
        noise = self.noise or 1e-3 * float(np.std(seen))
        domain = sl.Domain(self.points, self.kernel)
        fitted = sl.hyperparameters.fit(domain, where, seen, noise=noise, mean=self.mean, restarts=3)
        goal = sl.Threshold(self.level)
        return sl.Problem(sl.Domain(self.points, fitted.kernel), goal=goal, noise=noise, mean=fitted.mean)


# ------------------------------------------------------------------------------------------- the papers


def eff() -> list[Line]:
    """Bichon et al. 2008, the multimodal limit state: two normal inputs, failure where g > 0."""
    points = grid([-5, -5], [5, 5], 81)  # deviations of the inputs from their means
    a, b = 1.5 + points[:, 0], 2.5 + points[:, 1]
    g = (a**2 + 4) * (b - 1) / 20 - np.sin(5 * a / 2) - 2
    weights = np.prod(norm.pdf(points), axis=1)
    weights /= weights.sum()
    truth = float(weights[g > 0].sum())
    needed, failures = list[int](), list[float]()
    for seed in range(10):
        first = latin(points, 10, seed)
        settled = {"kernel": RBF([1.0, 1.0]), "noise": 0.0, "budget": 50, "interval": 1}
        states = Campaign(points=points, values=g, level=0.0, first=first, **settled).run("eff", seed)
        found = {state.samples: float(weights[state.estimate > 0].sum()) for state in states}
        needed.append(1 + max(samples for samples, value in found.items() if abs(value / truth - 1) > 0.01))
        failures.append(found[max(found)])
    return [
        ("probability of failure, by quadrature on our grid", "0.0313", f"{truth:.4f}"),
        ("the same from the posterior mean with 50 evaluations, mean of 10 runs", "0.0313", f"{np.mean(failures):.4f}"),
        ("evaluations, 10 at first, until it stays within 1 %: median", "about 35", f"{np.median(needed):.0f}"),
    ]


def camelback(points: Array) -> Array:
    """The six-hump camelback function of Picheny et al. on [-1, 1]^2."""
    u, v = 1.2 * points[:, 0] - 0.1, 0.9 * points[:, 1]
    return (4 - 2.1 * u**2 + u**4 / 3) * u**2 + 2 / 3 * u * v + (-4 + 4 * v**2) * v**2


def targeted() -> list[Line]:
    """Picheny et al. 2010: camelback with the target 1.3, errors near it and everywhere."""
    points = grid([-1, -1], [1, 1], 41)
    values = camelback(points)
    near = np.abs(values - 1.3) < 0.2
    errors = dict[str, list[tuple[float, float]]]()
    for name in ("timse", "tmse", "max-variance"):
        for seed in range(8):
            campaign = Campaign(
                points=points,
                values=values,
                level=1.3,
                kernel=RBF([0.5, 0.5]),
                noise=0.0,
                first=latin(points, 8, seed),
                budget=24,
            )
            off = campaign.run(name, seed)[-1].estimate - values
            errors.setdefault(name, []).append(
                (float(np.sqrt(np.mean(off[near] ** 2))), float(np.sqrt(np.mean(off**2))))
            )
    space = np.median(errors["max-variance"], axis=0)
    lines = list[Line]()
    for name in ("timse", "tmse"):
        close, everywhere = np.median(errors[name], axis=0) / space
        lines.append(
            (f"{name}: error near the target, of that of a space-filling design", "much smaller", f"{close:.2f}")
        )
        lines.append(
            (f"{name}: error everywhere, of that of a space-filling design", "somewhat larger", f"{everywhere:.2f}")
        )
    return lines


def wmse() -> list[Line]:
    """The excursion-set example of gpmp-contrib: one input, 4 + 18 evaluations, u = 1.02."""
    x = np.linspace(-2, 2, 2000)
    values = (0.4 * x - 0.3) ** 2 + np.exp(-((np.abs(x) / 0.2) ** 1.95) / 2) + np.exp(-((x - 0.8) ** 2) / 0.2)
    first = 20 * np.array([20, 46, 60, 80])
    campaign = Campaign(
        points=x[:, None], values=values, level=1.02, kernel=Matern(0.5, nu=2.5), noise=0.0, first=first, budget=22
    )
    states = campaign.run("wmse")
    wrong = int(((states[-1].estimate > 1.02) != (values > 1.02)).sum())
    before = int(((states[0].estimate > 1.02) != (values > 1.02)).sum())
    return [
        (
            "mislabelled of 2,000 points, with 4 and with 22 evaluations",
            "a figure: the set is found",
            f"{before}, {wrong}",
        )
    ]


RIVALS = {
    "sur": "fewest",
    **dict.fromkeys(("globalmi", "eavc", "timse", "tmse", "wmse", "eff", "rstraddle", "itl", "vtl"), ""),
    "uniform": "most",
}


def excursion() -> list[Line]:
    """Bect et al. 2012, section 5: draws from a process with a known kernel, error of the excursion volume."""
    points = grid([0, 0], [1, 1], 20)
    kernel, level, count = Matern(0.3, nu=1.5), 1.0, 60
    factor = np.linalg.cholesky(kernel(points) + 1e-9 * np.eye(len(points)))
    draws = factor @ np.random.default_rng(3).standard_normal((len(points), count))
    problem = sl.Problem(sl.Domain(points, kernel), goal=sl.Threshold(level), noise=0.01)
    lines, wrong = list[Line](), dict[str, Array]()
    for name, said in RIVALS.items():
        method = sl.methods.make(name, problem)
        ends = [_end(method, f, seed) for seed, f in enumerate(draws.T)]
        found, truth = np.array(ends) > level, (draws > level).T
        error = np.sqrt(np.mean((found.mean(axis=1) - truth.mean(axis=1)) ** 2))
        wrong[name] = (found != truth).mean(axis=1)
        more = wrong[name] - wrong["sur"]
        shown = f"{error:.2%}; {wrong[name].mean():.2%}; {more.mean():+.2%} ± {more.std() / np.sqrt(count):.2%}"
        lines.append((f"{name}: error of the volume; mislabelled points; more than sur", said, shown))
    return lines


def _end(method: sl.methods.Method, f: Array, seed: int) -> Array:
    """The estimate after 30 measurements."""
    run = sl.simulate(method, sl.oracles.Gaussian(f, noise=0.01), max_samples=30, seed=seed)
    assert run.estimate is not None
    return run.estimate


def straddle() -> list[Line]:
    """Inatsu et al. 2024: the expected loss is at most sqrt(4 gamma_T / (T log(1 + 1 / noise^2)))."""
    x, noise, steps, count, level = np.linspace(0, 1, 60)[:, None], 0.2, 100, 60, 0.5
    kernel = RBF(0.1)
    factor = np.linalg.cholesky(kernel(x) + 1e-8 * np.eye(len(x)))
    draws = factor @ np.random.default_rng(4).standard_normal((len(x), count))
    problem = sl.Problem(sl.Domain(x, kernel), goal=sl.Threshold(level), noise=noise)
    lines = list[Line]()
    for name in ("rstraddle", "straddle"):
        method = sl.methods.make(name, problem, confidence=sl.Posterior(beta=8.0))
        losses, gained = np.zeros((count, steps)), np.zeros(count)
        for seed, f in enumerate(draws.T):
            state, rng = method.init(seed=seed), np.random.default_rng([seed, 12])
            for t in range(steps):
                posterior = state.belief.posterior
                losses[seed, t] = np.abs(f - level)[(posterior.mean > level) != (f > level)].max(initial=0.0)
                (at,) = method.ask(state).indices
                gained[seed] += np.log1p(posterior.variance[at] / noise**2) / 2
                state, _ = method.observe(state, [at], [f[at] + noise * rng.standard_normal()])
        bound = np.sqrt(4 * gained.max() / (steps * np.log1p(noise**-2)))
        lines.append(
            (
                f"{name}: mean over {steps} steps of the largest loss of any point",
                f"at most {bound:.2f}",
                f"{losses.mean():.2f}",
            )
        )
        lines.append((f"{name}: the same at the last step", "", f"{losses[:, -1].mean():.3f}"))
    return lines


def transductive() -> list[Line]:
    """Huebotter et al. 2024: RBF of length 1 on 50 x 50 points of [-10, 10]^2, noise 0.1, A = [-1, 1]^2."""
    axis = np.arange(50) * 0.4 - 10
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    wanted = (np.abs(points) <= 1 + 1e-9).all(axis=1)
    goal = sl.Threshold(0.0)
    problem = sl.Problem(sl.Domain(points, RBF(1.0)), goal=goal, noise=0.1)
    lines = list[Line]()
    for name, said in (
        ("itl", "the smallest"),
        ("vtl", "the smallest"),
        ("max-variance", "much larger"),
        ("uniform", "much larger"),
    ):
        method = sl.methods.make(name, problem)
        view = method.view(method.init(), phase=1, sizes=Growing(first=100))
        chosen = method.rule.choose(replace(view, reading=Reading(labels=view.reading.labels, undecided=wanted)))
        after = view.posterior.planned(np.repeat(np.arange(len(points)), chosen.counts)).after
        lines.append(
            (f"{name}: mean deviation in A after 100 measurements", said, f"{after.deviation[wanted].mean():.3f}")
        )
    return lines


FUNCTIONS: dict[str, tuple[float, float, float, Callable[[Array], Array]]] = {
    "sphere": (5.12, 20.0, 2.0, lambda x: np.asarray((x**2).sum(axis=1))),
    "Rosenbrock": (3.0, 100.0, 30.0, lambda x: 100 * (x[:, 1] - x[:, 0] ** 2) ** 2 + (x[:, 0] - 1) ** 2),
}
"""Half the side of the square, level, noise, function."""


def stopping() -> list[Line]:
    """Ishibashi et al. 2025, appendices C.3 and C.4: 400 points, 10 at first, 300 at most, L = 5, confidence 0.99."""
    lines = list[Line]()
    for title, (half, level, noise, function) in FUNCTIONS.items():
        points = grid([-half, -half], [half, half], 20)
        given: dict[str, Any] = {"points": points, "values": function(points), "level": level, "noise": noise}
        for name, said in (("its own rule", "all"), ("straddle", "few")):
            ended = [_stopped(given, seed, own=name != "straddle") for seed in range(5)]
            stops = [end for end in ended if end is not None]
            after = f", after {np.mean([end[0] for end in stops]):.0f}" if stops else ""
            score = f", F1 {np.mean([end[1] for end in stops]):.3f}" if stops else ""
            lines.append((f"{title}, {name}: runs of 5 that stop", said, f"{len(stops)}{after}{score}"))
    return lines


def _stopped(given: dict[str, Any], seed: int, *, own: bool) -> tuple[int, float] | None:
    """Measurements and F1 of a run that the criterion stops."""
    points, values, level, delta = given["points"], given["values"], given["level"], 0.01
    first = np.random.default_rng(seed).integers(len(points), size=10)
    fitted = {"kernel": RBF(0.2 * np.ptp(points)), "mean": level, "first": first, "budget": 300, "interval": 10}

    def rule(problem: sl.Problem) -> Rule | None:
        return Sequential(score=LeastAccurate(epsilon=margin(problem, delta=delta))) if own else None

    for state in Campaign(**given, **fitted).run("straddle", seed, rule):
        epsilon = margin(state.belief.problem, delta=delta)
        if Accurate(epsilon=epsilon, delta=delta).reached(state):
            found, truth = state.estimate > level, values > level
            return state.samples, float(2 * (found & truth).sum() / (found.sum() + truth.sum()))
    return None


PAPERS: dict[str, Callable[[], list[Line]]] = {
    "eff": eff,
    "timse": targeted,
    "wmse": wmse,
    "sur": excursion,
    "rstraddle": straddle,
    "itl": transductive,
    "stopping": stopping,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute them and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*PAPERS, []], default=[])
    given = parser.parse_args(arguments)
    shown = Table("paper", "what", "the paper", "here")
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.AssumptionWarning)
        for name in given.names or PAPERS:
            for line in PAPERS[name]():
                shown.add_row(name, *line)
            shown.add_section()
    Console(width=140).print(shown)


if __name__ == "__main__":
    main()
