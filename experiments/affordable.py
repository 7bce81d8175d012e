"""Guarantees people can afford: how many times the lower bound each confidence takes, and how often it errs.

1. The paper's linear benchmark (100 arms, d = 25, delta = 0.1), explicit and implicit with epsilon = 0.5: MELK and MILK
   with the ridge confidence, 200 functions each, beside RIPS, LSE and LSE-imp with true widths, 25 functions each: the
   rows of `superlevel reproduce linear-explicit linear-implicit`, which are used again if they are there.
2. RBF of length 0.1 on 200 points, noise 0.5, the norm of f known: 200 functions. Matern 5/2 of length 0.2 on 200
   points of a line and of length 0.4 on 15 x 15 of a square: 100 functions each.
3. RBF with a misspecification of 0.05 and a tolerance of 0.4: the containments of the theorems.
4. The linear benchmark with heavy tails (Student, 2.5 degrees of freedom) that were not announced.

The functions have the seeds from 1,000 on: rules and constants were chosen on those from 0 to 199. Labels are looked at
after every batch: a run in which one was ever wrong counts as a failure.

    python -m experiments.affordable          # ten minutes on two cores, and as long as the rivals take
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import binomtest

import superlevel as sl
from experiments.common import OUT
from superlevel.arrays import Array, Labels
from superlevel.bounds.planning import best_rounds, best_tight_rounds
from superlevel.cli.reproduce import Bar
from superlevel.oracles import Oracle, Student
from superlevel.report.styles import BLACK, BLUE, GREY, ORANGE, SOLID, VERMILION, Style
from superlevel.reproduce import linear, runner
from superlevel.reproduce.drawing.factors import Cloud, draw_factors
from superlevel.reproduce.engines import Processes, Work, cores
from superlevel.reproduce.outcome import DPI, scores
from superlevel.reproduce.settings import Entry, Figure, Row, Setting, Values
from superlevel.reproduce.trials import LowerBound
from superlevel.reproduce.worlds import Bumps, Linear, World, drawing

RUNS, KERNELS, RIVALS = 200, 100, 25
SEED = 1000  # of the first function
BUDGET = 10**7
RIPS = {"rips, as printed": ("MELK", "MILK"), "rips, tight": ("MELK, tight", "MILK, tight")}
RKHS = {"rkhs, d = 25": ("LSE", "LSE-imp"), "rkhs, rank 2": ("LSE, rank 2", "LSE-imp, rank 2")}
POSTERIOR = {"posterior, no theorem": ("MELK, batches", "MILK, batches")}
STYLES = {
    "ridge": Style(BLACK, SOLID, "o"),
    "rips, as printed": Style(BLUE, SOLID, "D"),
    "rips, tight": Style(BLUE, SOLID, "D", filled=False),
    "rkhs, d = 25": Style(VERMILION, SOLID, "v"),
    "rkhs, rank 2": Style(ORANGE, SOLID, "^", filled=False),
    "posterior, no theorem": Style(GREY, SOLID, "x", filled=False),
}


# -------------------------------------------------------------------------------------------- worlds


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """A world whose function is off by up to h, by another pattern for each seed, and a problem that allows for it."""

    world: Bumps
    misspecification: float
    tolerance: float

    def __call__(self, seed: int) -> World:
        right = self.world(seed)
        signs = np.sign(drawing(seed + 1).standard_normal(len(right.values)))
        problem = replace(right.problem, misspecification=self.misspecification, tolerance=self.tolerance)
        return World(problem=problem, values=right.values + self.misspecification * signs)


# -------------------------------------------------------------------------------------------- trials


@dataclass(frozen=True, kw_only=True)
class Anytime:
    """MELK or MILK with the ridge confidence, looked at after every batch, beside the lower bound of its problem."""

    method: str
    heavy: bool = False
    """Whether the noise is Student's with 2.5 degrees of freedom instead of Gaussian."""
    bounded: bool = True
    """Whether there is a lower bound to compare with."""

    def __call__(self, setting: Setting, seed: int) -> Values:
        world = setting.world(seed)
        problem = world.problem
        oracle: Oracle = Student(world.values, noise=problem.known_noise, freedom=2.5) if self.heavy else world.oracle
        method = sl.methods.make(self.method, problem, confidence="ridge")
        run = sl.simulate(method, oracle, max_samples=BUDGET, seed=seed)
        found: dict[str, float | None] = {}
        if self.bounded:
            found["bound"] = LowerBound()(setting, seed)["samples"]
            found["bound_at_ridge"] = _at_ridge(world, run.samples)
        return {
            "measured": run.samples,
            "stop": run.stop.name,
            "batches": len(run.trace),
            "ever_wrong": any(_wrong(step.labels, world) for step in run.trace),
            "undecided": int((run.labels == 0).sum()),
            **found,
        }


def _wrong(labels: Labels, world: World) -> bool:
    """Whether a point is on the other side of the level, and by more than the tolerance."""
    far = world.problem.goal.margins(world.values) > world.problem.tolerance
    return bool(((labels == -world.signs) & far).any())


def _at_ridge(world: World, samples: int) -> float | None:
    """The lower bound with the ridge of the last design, sigma^2 / (S^2 N); None for pairs, whose bound has none."""
    problem = world.problem
    if problem.goal.share or problem.norm is None:
        return None
    ridge = float(problem.deviations.max()) ** 2 / (problem.norm**2 * max(samples, 1))
    (level,), noise = problem.goal.levels, problem.known_noise
    return sl.bounds.explicit(
        problem.domain, world.values, threshold=level, noise=noise, delta=problem.delta, ridge=ridge
    ).samples


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """What RIPS would take on estimates without error: its rounds are too long to be drawn here."""

    schedule: str

    def __call__(self, setting: Setting, seed: int) -> Values:
        world = setting.world(seed)
        estimate = {"scaled": best_rounds, "tight": best_tight_rounds}[self.schedule]
        found = sl.bounds.plan(world.problem, world.values, estimates=(estimate,))
        return {"measured": found.rows[0].measurements, "bound": LowerBound()(setting, seed)["samples"]}


# ------------------------------------------------------------------------------------------ settings


LINEAR = {
    name: Linear(arms=100, dimension=25, implicit=name == "implicit", noise=1.0, ridge=1e-7)
    for name in ("explicit", "implicit")
}
BUMPS = Bumps(points=200, length=0.1, noise=0.5)
LINE = Bumps(points=200, length=0.2, noise=0.5, smoothness=2.5)
SQUARE = Bumps(points=225, length=0.4, noise=0.5, smoothness=2.5, plane=True)
WRONG = Wrong(world=BUMPS, misspecification=0.05, tolerance=0.4)


SETTINGS = [
    Setting(name="linear, explicit", world=LINEAR["explicit"], samples=(BUDGET,)),
    Setting(name="linear, implicit", world=LINEAR["implicit"], samples=(BUDGET,)),
    Setting(name="RBF, norm known", world=BUMPS, samples=(BUDGET,)),
    Setting(name="Matern 5/2 on a line", world=LINE, samples=(BUDGET,)),
    Setting(name="Matern 5/2 on a square", world=SQUARE, samples=(BUDGET,)),
    Setting(name="RBF, misspecified", world=WRONG, samples=(BUDGET,)),
]
PICTURED = SETTINGS[:3]
PLANS = (
    (SETTINGS[0], Entry(label="ridge", trial=Anytime(method="melk"))),
    (SETTINGS[0], Entry(label="ridge, heavy tails", trial=Anytime(method="melk", heavy=True))),
    (SETTINGS[1], Entry(label="ridge", trial=Anytime(method="milk"))),
    (SETTINGS[2], Entry(label="ridge", trial=Anytime(method="melk"))),
    (SETTINGS[3], Entry(label="ridge", trial=Anytime(method="melk"))),
    (SETTINGS[4], Entry(label="ridge", trial=Anytime(method="melk"))),
    (SETTINGS[5], Entry(label="ridge", trial=Anytime(method="melk", bounded=False))),
)
COUNTED = (
    (SETTINGS[2], Entry(label="rips, as printed", trial=Rounds(schedule="scaled"))),
    (SETTINGS[2], Entry(label="rips, tight", trial=Rounds(schedule="tight"))),
)


def main() -> None:
    console = Console(width=130)
    with Processes(jobs=cores()).running() as work:
        rows = [row for plan in PLANS for row in _rows(*plan, work, reps=_runs(plan[0]))]
        counted = [row for plan in COUNTED for row in _rows(*plan, work, reps=RIVALS)]
        rivals = {name: _rivals(name, work) for name in LINEAR}
    console.print(failures(rows))
    console.print(factors(rows, rivals))
    problems = {setting.name: float(np.median(_measured(rows, setting.name)[1])) for setting in PICTURED}
    picture = draw_factors(clouds(rows, counted, rivals), title="What a guarantee costs", problems=problems)
    path = OUT / "affordable" / "affordable.png"
    picture.savefig(path, dpi=DPI)
    console.print(f"wrote {path}")


def _rows(setting: Setting, entry: Entry, work: Work, *, reps: int) -> list[Row]:
    """Those of one problem and one confidence; what is there already is used again."""
    figure = Figure(name="affordable", title="", settings=[setting], entries=[entry])
    folder = OUT / figure.name
    folder.mkdir(parents=True, exist_ok=True)
    with Bar(f"{setting.name}: {entry.label}") as bar:
        return runner.complete(figure, folder / runner.ROWS, work, reps=reps, seed=SEED, watch=bar)


def _runs(setting: Setting) -> int:
    return KERNELS if "Matern" in setting.name else RUNS


def _rivals(name: str, work: Work) -> list[Row]:
    """The rows of the paper's figure, where `superlevel reproduce` keeps them."""
    figure = {"explicit": linear.explicit, "implicit": linear.implicit}[name](False)
    folder = Path("out/reproduce") / figure.name
    folder.mkdir(parents=True, exist_ok=True)
    with Bar(figure.name) as bar:
        return runner.complete(figure, folder / runner.ROWS, work, reps=RIVALS, seed=0, watch=bar)


# ------------------------------------------------------------------------------------------- tables


def failures(rows: Sequence[Row]) -> Table:
    """How often something declared was ever wrong, with the 95 % interval of Clopper and Pearson."""
    table = Table(
        *("problem", "confidence", "runs", "ever wrong", "95 % interval", "all decided", "refused", "batches"),
        title="Looked at after every batch, delta = 0.1",
    )
    for setting, method in dict.fromkeys((row.setting, row.method) for row in rows):
        chosen = [row.values for row in rows if (row.setting, row.method) == (setting, method)]
        wrong = sum(bool(value["ever_wrong"]) for value in chosen)
        interval = binomtest(wrong, len(chosen)).proportion_ci(0.95, method="exact")
        table.add_row(
            *(setting, method, f"{len(chosen)}", f"{wrong}", f"{interval.low:.3f} to {interval.high:.3f}"),
            f"{sum(value['undecided'] == 0 for value in chosen)}",
            f"{sum(value['stop'] == 'CONTRADICTED' for value in chosen)}",
            f"{np.mean([value['batches'] for value in chosen]):.0f}",
        )
    return table


def factors(rows: Sequence[Row], rivals: dict[str, list[Row]]) -> Table:
    """Measurements to the last decision, as multiples of the lower bound and of what ridge takes."""
    table = Table("problem", "confidence", "runs", "mean measurements", "times the lower bound", "times ridge")
    means: dict[str, tuple[float, float]] = {}
    for setting in SETTINGS[:5]:
        taken, bounds = _measured(rows, setting.name)
        means[setting.name] = (float(taken.mean()), float(bounds.mean()))
        ratio = taken.mean() / bounds.mean()
        table.add_row(
            *(setting.name, "ridge", f"{len(taken)}", f"{taken.mean():,.0f} ± {_error(taken):,.0f}"),
            f"{ratio:.2f} ± {_error(taken - ratio * bounds) / bounds.mean():.2f}",
            "1",
        )
        if setting is SETTINGS[2]:
            decided = scores(rows, "undecided")[setting.name, "ridge"] == 0
            at_ridge = scores(rows, "bound_at_ridge")[setting.name, "ridge"][decided]
            each = taken / at_ridge
            words = f"{np.median(each):.1f} median of {each.min():.1f} to {each.max():.1f}"
            table.add_row(setting.name, "ridge, over the bound at its ridge", "", "", words, "")
    for name, found in rivals.items():
        problem = f"linear, {name}"
        mean, bound = means[problem]
        for label, pair in {**RIPS, **RKHS, **POSTERIOR}.items():
            last = scores(found, "last")[_setting(found), pair[name == "implicit"]]
            there = last[np.isfinite(last)]
            runs = f"{len(there)} of {len(last)}"
            shown = f"{there.mean():,.0f} ± {_error(there):,.0f}"
            table.add_row(problem, label, runs, shown, f"{there.mean() / bound:,.1f}", f"{there.mean() / mean:,.1f}")
    return table


def _measured(rows: Sequence[Row], setting: str) -> tuple[Array, Array]:
    """Of the ridge confidence: what the runs that decided everything took, and their lower bounds."""
    decided = scores(rows, "undecided")[setting, "ridge"] == 0
    taken, bounds = (scores(rows, field)[setting, "ridge"][decided] for field in ("measured", "bound"))
    return taken, bounds


def _error(values: Array) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def _setting(rows: Sequence[Row]) -> str:
    return rows[0].setting


def clouds(rows: Sequence[Row], counted: Sequence[Row], rivals: dict[str, list[Row]]) -> list[Cloud]:
    """One for each confidence, over all problems."""
    found: dict[str, list[tuple[Array, Array]]] = {label: [] for label in STYLES}
    for setting in PICTURED:
        taken, bounds = _measured(rows, setting.name)
        found["ridge"].append((bounds[:RIVALS], taken[:RIVALS]))
    for label in RIPS:
        taken, bounds = (scores(counted, field)[SETTINGS[2].name, label] for field in ("measured", "bound"))
        found[label].append((bounds, taken))
    for name, those in rivals.items():
        bounds = scores(those, "samples")[_setting(those), linear.BOUND]
        for label, pair in {**RIPS, **RKHS, **POSTERIOR}.items():
            last = scores(those, "last")[_setting(those), pair[name == "implicit"]]
            there = np.isfinite(last)
            found[label].append((bounds[there], last[there]))
    return [
        Cloud(label=label, style=STYLES[label], bounds=np.concatenate(xs), samples=np.concatenate(ys))
        for label, (xs, ys) in ((label, tuple(zip(*parts, strict=True))) for label, parts in found.items() if parts)
    ]


if __name__ == "__main__":
    main()
