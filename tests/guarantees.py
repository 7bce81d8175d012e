"""Guarantees as experiments: run the methods many times, count how often a theorem is violated.

    python -m tests.guarantees [--runs 200] [--draws 500] [--jobs 2]         ('make guarantees')

Each run draws another function, another set of points where that is possible, and other noise. A run violates its
theorem if one of the four containments fails, with R = X without B the returned set and G the selective one,

    {f >= level + beta_bar} in R in {f >= level - tolerance - beta_bar}
    {f >= level + tolerance + beta_bar} in G in {f >= level - beta_bar}.

The containments leave room, so the event that proves them is judged too: in every round every undecided direction is
estimated to within its precision and the bias. The theorems allow a share of delta of the runs for either. Exits with 1
if a count speaks against that.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import binomtest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel import design, robust
from superlevel.arrays import Array
from superlevel.confidence.protocol import AnyConfidence
from superlevel.confidence.rips import RipsBelief
from superlevel.confidence.rounds import Schedule
from superlevel.goals import UNDECIDED, decided
from superlevel.records import State, Stop

DELTA = 0.1
TOLERANCE = 0.25
RIDGE = 1e-6
EPSILON = 0.5
ERROR = 0.01  # h of the misspecified setting


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """A problem with its truth."""

    problem: sl.Problem
    oracle: sl.oracles.Oracle


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How one run went."""

    violated: bool
    """Whether a containment fails."""
    missed: bool
    """Whether in some round some direction is farther off than precision and bias allow."""
    error: float
    """The largest error of an estimate, without the bias, in precisions."""
    samples: int
    certain: float
    """Share of points that the containments say something about."""


def linear(goal: str, rng: np.random.Generator) -> World:
    """Twelve arms in four dimensions, Gaussian noise."""
    points = rng.normal(size=(12, 4))
    theta = rng.normal(size=4)
    values = points @ theta
    scale = np.abs(values).max()
    return _world(goal, sl.Domain(points), values / scale, norm=float(np.linalg.norm(theta)) / scale)


def student(goal: str, rng: np.random.Generator) -> World:
    """The linear setting with Student's noise of 2.5 degrees of freedom."""
    world = linear(goal, rng)
    return World(problem=world.problem, oracle=sl.oracles.Student(world.oracle.values, noise=0.5, freedom=2.5))


def smooth(goal: str, rng: np.random.Generator) -> World:
    """A function in the space of the squared-exponential kernel on 16 places of a line."""
    points = np.linspace(0, 1, 16)[:, None]
    kernel = RBF(0.4)
    matrix = kernel(points)
    weights = rng.normal(size=16)
    values = matrix @ weights
    scale = np.abs(values).max()
    norm = float(np.sqrt(weights @ matrix @ weights)) / scale
    return _world(goal, sl.Domain(points, kernel), values / scale, norm=norm)


def misspecified(goal: str, rng: np.random.Generator) -> World:
    """The smooth setting, with an error of up to h at each place that no kernel explains."""
    world = smooth(goal, rng)
    error = rng.uniform(-ERROR, ERROR, world.problem.domain.n)
    values = world.oracle.values * (1 - ERROR)  # so that the sum stays within the bound of 1
    norm = world.problem.norm
    assert norm is not None
    found = _world(goal, world.problem.domain, values, norm=norm, misspecification=ERROR)
    return World(problem=found.problem, oracle=sl.oracles.Misspecified(found.oracle, error))


SETTINGS: dict[str, Callable[[str, np.random.Generator], World]] = {
    "linear": linear,
    "RBF, well specified": smooth,
    "RBF, misspecified": misspecified,
    "Student, 2.5 degrees": student,
}


def run_once(setting: str, name: str, schedule: Schedule, seed: int) -> Outcome:
    """One run of a method in a setting, judged by its theorem."""
    world = SETTINGS[setting](name, np.random.default_rng([seed, len(setting)]))
    problem, values = world.problem, world.oracle.values
    state, error = _run(sl.methods.make(name, problem, confidence=sl.Rips(schedule=schedule)), world.oracle, seed)
    blur = sl.bounds.resolution(
        problem.domain,
        values,
        goal=problem.goal,
        norm=problem.norm or 0.0,
        misspecification=problem.misspecification,
        ridge=RIDGE,
    ).value
    (level,) = problem.goal.levels or ((1 - EPSILON) * values.max(),)
    kept, sure = state.not_below, state.above
    holds = (
        kept[values >= level + blur].all()
        and (values[kept] >= level - TOLERANCE - blur).all()
        and sure[values >= level + TOLERANCE + blur].all()
        and (values[sure] >= level - blur).all()
    )
    certain = (values >= level + blur) | (values < level - TOLERANCE - blur)
    return Outcome(
        violated=not holds, missed=error > 1, error=error, samples=state.samples, certain=float(certain.mean())
    )


def _run(method: sl.methods.Method, oracle: sl.oracles.Oracle, seed: int) -> tuple[State, float]:
    """As `simulate` does, and with the largest error of an estimate beyond the bias, in precisions."""
    state, error, truth = method.init(seed=seed), 0.0, method.goal.combine(oracle.values)
    while state.stop is None:
        plan = method.ask(state)
        measured = oracle.measure(plan.indices, np.random.default_rng([seed, state.phase, 1]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sl.AssumptionWarning)  # of a bias beyond the precision: beta_bar has it
            state, info = method.tell(state, plan, measured)
        belief = state.belief
        assert isinstance(belief, RipsBelief)
        off = float(np.nanmax(np.abs(belief.values(method.goal) - truth)))
        error = max(error, (off - (belief.bias or 0.0)) / (info.precision or 1.0))
    return state, error


def violations(setting: str, name: str, schedule: Schedule, runs: int, *, jobs: int = 1) -> list[Outcome]:
    """Many runs, in several processes."""
    if jobs == 1:
        return [run_once(setting, name, schedule, seed) for seed in range(runs)]
    once = delayed(run_once)
    outcomes: list[Outcome] = Parallel(n_jobs=jobs)(once(setting, name, schedule, seed) for seed in range(runs))
    return outcomes


def _world(goal: str, domain: sl.Domain, values: Array, *, norm: float, misspecification: float = 0.0) -> World:
    """A level amid the widest gap of the middle half of the values, so that a run is cheap; for milk a fraction."""
    if goal == "milk":
        values = values * np.sign(values[np.argmax(np.abs(values))])  # the maximum is 1
    ordered = np.sort(values)[len(values) // 4 : -(len(values) // 4)]
    widest = int(np.argmax(np.diff(ordered)))
    level = float(ordered[widest] + ordered[widest + 1]) / 2
    problem = sl.Problem(
        domain,
        goal=sl.Threshold(level) if goal == "melk" else sl.FractionOfMax(EPSILON),
        noise=0.5,
        bound=1.0,
        delta=DELTA,
        norm=norm,
        misspecification=misspecification,
        tolerance=TOLERANCE,
        ridge=RIDGE,
    )
    return World(problem=problem, oracle=sl.oracles.Gaussian(values, noise=0.5))


# --- RIPS's own theorem

# Given the truth and N L, L = log(2 |V| / delta). One outlier among N measurements moves a plain mean by as much as the
# bounds below allow if it is rarer than 1 in N L, or in 8 N L for c = 4: the worst cases there are for it.
LAWS: dict[str, Callable[[Array, float], sl.oracles.Oracle]] = {
    "Gaussian": lambda truth, _: sl.oracles.Gaussian(truth, noise=1.0),
    "Student, 2.5 degrees": lambda truth, _: sl.oracles.Student(truth, noise=1.0, freedom=2.5),
    "Pareto, tail 2.1": lambda truth, _: sl.oracles.Pareto(truth, noise=1.0, tail=2.1),
    "outliers, 0.9 in N L": lambda truth, rare: sl.oracles.Outliers(truth, noise=1.0, rate=0.9 / rare),
    "outliers, 0.9 in 8 N L": lambda truth, rare: sl.oracles.Outliers(truth, noise=1.0, rate=0.9 / (8 * rare)),
}


@dataclass(frozen=True, kw_only=True)
class Exceeded:
    """How often, of all draws, some direction was farther off than a bound says."""

    law: str
    delta: float
    draws: int
    theorem: dict[str, int]
    """By estimator, for the deviation as the theorem states it, with c = 4."""
    sharp: dict[str, int]
    """By estimator, for Catoni's own deviation in the place of the 4: sqrt(2 (B^2 + sigma^2) L / (N - 2 L))."""


def rips_exceeded(law: str, *, delta: float, draws: int, samples: int = 1000) -> Exceeded:
    """Repeat RIPS with N measurements from the optimal design for six arms of a plane, at one design."""
    rng = np.random.default_rng(0)
    arms = rng.normal(size=(6, 2))
    theta = 0.01 * np.array([0.6, -0.8])  # small, so that the noise is all of the second moment
    truth = arms @ theta
    bound = float(np.abs(truth).max())
    found = design.solve(arms, ridge=RIDGE)
    root = design.information_factor(arms, found.weights, ridge=RIDGE)
    seen = np.linalg.solve(root, arms.T).T
    factors, lengths = seen @ seen.T, np.linalg.norm(seen, axis=1)
    moment, failure = bound**2 + 1.0, delta / len(arms)
    bias = np.sqrt(RIDGE) * np.linalg.norm(theta)
    log = np.log(2 / failure)
    limits = {
        "theorem": bias + 4 * np.sqrt(moment * log / samples),
        "sharp": bias + robust.CATONI.deviation(samples, variance=moment, delta=failure),
    }
    oracle = LAWS[law](truth, samples * log)
    counts: dict[str, dict[str, int]] = {limit: {"plain": 0, "Catoni": 0} for limit in limits}
    for _ in range(draws):
        places = rng.choice(len(arms), size=samples, p=found.weights)
        sample = robust.Grouped(values=oracle.measure(places, rng), groups=places)
        products = robust.Products(factors=factors, sample=sample)
        means = {"plain": robust.MEAN, "Catoni": robust.CATONI}
        for name, estimator in means.items():
            estimates = estimator.estimate(products, variance=moment * lengths**2, delta=failure)
            off = float(np.max(np.abs(estimates - truth) / lengths))
            for limit, largest in limits.items():
                counts[limit][name] += off > largest
    return Exceeded(law=law, delta=delta, draws=draws, theorem=counts["theorem"], sharp=counts["sharp"])


# --- contour maps with the ridge confidence

LEVELS = 3
NEAR = (0.02, 0.06, 0.15)  # distances from a level at which some point is, in deviations of one measurement


@dataclass(frozen=True, kw_only=True)
class Mapped:
    """How one run for the classes of a contour map went."""

    wrong: bool
    """Whether a look after any batch showed a label on the wrong side of its level."""
    contradicted: bool
    decided: float
    """Share of the points whose class is known in the end."""
    nearest: float
    """The smallest distance of a point from a level."""
    samples: int


def contours(rng: np.random.Generator) -> World:
    """A smooth function of known norm, and three levels each of which has a point close to it."""
    points, kernel, noise = np.linspace(0, 1, 24)[:, None], RBF(0.2), 0.3
    weights = rng.normal(size=24)
    values = np.asarray(kernel(points) @ weights)
    values *= 2.0 / np.sqrt(weights @ values)
    ordered = np.sort(values)
    close = ordered[[5, 11, 17]] + noise * rng.choice(NEAR, LEVELS) * rng.choice([-1.0, 1.0], LEVELS)
    goal = sl.Levels(np.sort(close).tolist())
    problem = sl.Problem(sl.Domain(points, kernel), goal=goal, noise=noise, norm=2.0, delta=DELTA)
    return World(problem=problem, oracle=sl.oracles.Gaussian(values, noise=noise))


def map_once(seed: int, confidence: AnyConfidence | None = None, *, limit: int = 20_000) -> Mapped:
    """One run without a tolerance, so that every label on the wrong side counts; looked at after every batch."""
    world = contours(np.random.default_rng([seed, 3]))
    goal, truth = world.problem.goal, world.problem.goal.signs(world.oracle.values)
    method = sl.methods.make("melk", world.problem, confidence=confidence or sl.Ridge(growth=1.4))
    state, wrong = method.init(seed=seed), False
    while state.stop is None and state.samples < limit:
        plan = method.ask(state)
        measured = world.oracle.measure(plan.indices, np.random.default_rng([seed, state.phase, 1]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sl.AssumptionWarning)  # contradictions are counted
            state, _ = method.tell(state, plan, measured)
        wrong |= bool(((state.labels != UNDECIDED) & (state.labels != truth)).any())
    return Mapped(
        wrong=wrong,
        contradicted=state.stop is Stop.CONTRADICTED,
        decided=float(decided(state.labels).mean()),
        nearest=float(goal.margins(world.oracle.values).min()),
        samples=state.samples,
    )


# --- the tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    console = Console(width=140)
    good = methods_table(console, given.runs, given.jobs) & rips_table(console, given.draws)
    sys.exit(0 if good & contours_table(console, given.runs, given.jobs) else 1)


def methods_table(console: Console, runs: int, jobs: int) -> bool:
    table = Table(
        *("setting", "method", "schedule", "runs", "violated", "missed", "95 % interval", "allowed"),
        *("largest error", "measurements", "spoken of"),
    )
    good = True
    schedules: tuple[Schedule, ...] = ("scaled", "tight")
    cases = list(product(SETTINGS, ("melk", "milk"), schedules))
    for setting, name, schedule in track(cases, description="running", console=console):
        outcomes = violations(setting, name, schedule, runs, jobs=jobs)
        count = sum(outcome.violated for outcome in outcomes)
        missed = sum(outcome.missed for outcome in outcomes)
        worse = max(count, missed)
        interval = binomtest(worse, runs).proportion_ci(0.95)
        good &= binomtest(worse, runs, DELTA, alternative="greater").pvalue > 0.001
        table.add_row(
            setting,
            name,
            schedule,
            f"{runs}",
            f"{count}",
            f"{missed}",
            f"{interval.low:.1%} to {interval.high:.1%}",
            f"{DELTA:.0%}",
            f"{max(outcome.error for outcome in outcomes):.2f}",
            f"{np.median([outcome.samples for outcome in outcomes]):,.0f}",
            f"{np.mean([outcome.certain for outcome in outcomes]):.0%}",
        )
    console.print(table)
    console.print(
        "Violated: runs in which a containment fails. Missed: runs in which an estimate is farther off than precision "
        "and bias; the largest error of all runs is in precisions, without the bias. Measurements are a median. Spoken "
        "of: the average share of points farther than tolerance and beta_bar from the level, which the theorem places."
    )
    return good


def rips_table(console: Console, draws: int) -> bool:
    table = Table(
        "noise", "allowed", "draws", "plain, c = 4", "Catoni, c = 4", "plain, sharp", "Catoni, sharp", title="RIPS"
    )
    good = True
    for law in track(LAWS, description="drawing", console=console):
        for delta, repeated in ((0.1, draws), (0.01, draws), (0.001, 20 * draws)):
            if repeated > draws and not law.startswith("outliers"):
                continue  # so small a share needs many draws, and tells the means apart for outliers only
            seen = rips_exceeded(law, delta=delta, draws=repeated)
            shares = [seen.theorem["plain"], seen.theorem["Catoni"], seen.sharp["plain"], seen.sharp["Catoni"]]
            for count in (seen.theorem["Catoni"], seen.sharp["Catoni"]):
                good &= binomtest(count, repeated, delta, alternative="greater").pvalue > 0.001
            table.add_row(law, f"{delta:.1%}", f"{repeated}", *(f"{count / repeated:.1%}" for count in shares))
    console.print(table)
    console.print(
        "Shares of draws in which some direction is farther off than the bound; the plain mean has no such bound."
    )
    return good


def contours_table(console: Console, runs: int, jobs: int) -> bool:
    table = Table("runs", "wrong", "contradicted", "allowed", "decided", "measurements", title="Levels with ridge")
    outcomes: list[Mapped] = Parallel(n_jobs=jobs)(delayed(map_once)(seed) for seed in range(runs))
    wrong = sum(outcome.wrong for outcome in outcomes)
    table.add_row(
        f"{runs}",
        f"{wrong}",
        f"{sum(outcome.contradicted for outcome in outcomes)}",
        f"{DELTA:.0%}",
        f"{np.mean([outcome.decided for outcome in outcomes]):.0%}",
        f"{np.median([outcome.samples for outcome in outcomes]):,.0f}",
    )
    console.print(table)
    return wrong <= DELTA * runs


if __name__ == "__main__":
    main()
