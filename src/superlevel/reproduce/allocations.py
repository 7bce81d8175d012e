"""Where MELK measures, round after round, and where the lower bound says one should.

    lambda_t   the design of round t, for the points that are undecided then
    weighted   sum over t of 2^2t lambda_t, scaled to sum one, as the paper weighs them
    measured   sum over t of N_t lambda_t, likewise: N_t grows like 2^2t g_t, and g_t falls from the rank to 1
    lambda*    the design of Theorem 1: the least max_x ||phi(x)||^2 / (f(x) - alpha)^2
    TV         1/2 sum_x |a_x - b_x|, the share of the measurements that would have to move

The rounds are those of `bounds.rounds` with exact estimates, as nothing random belongs into this figure but f: with
noise of variance 1 the last rounds would take 10^10 measurements. The paper takes gamma = 0; 1e-7 of k(x, x) is as near
as the features of this kernel are exact, and 1e-5 gives the same distances to 0.01.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure as Picture
from scipy.stats import spearmanr

from superlevel import bounds, linalg
from superlevel.arrays import Array
from superlevel.bounds.setting import as_features
from superlevel.design import information_factor
from superlevel.features import Features
from superlevel.reproduce.claims import Above, Claim, judge
from superlevel.reproduce.drawing.allocations import Allocation, draw_allocations
from superlevel.reproduce.outcome import Outcome, Table, error_of
from superlevel.reproduce.settings import Entry, Figure, Row, Setting, Values
from superlevel.reproduce.worlds import Surface

NEAR = 0.1  # the tenth of the points with the smallest gaps counts as the boundary
NEARLY = 0.1  # of the measurements may have to move between designs that are nearly the same
SPREAD = 0.5  # of the points, as effective number, is spread out
FALLING = 0.9  # rank correlation of what moves steadily
DIGITS = 7  # of weights in a row: for the picture only, all numbers are computed before


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """The designs of every round of one function, and their distances from lambda*."""

    ridge: float
    rtol: float

    def __call__(self, setting: Setting, seed: int) -> Values:
        world = setting.world(seed)
        problem, values = world.problem, world.values
        found = bounds.rounds(problem, values, ridge=self.ridge, rtol=self.rtol)
        (level,) = problem.goal.levels
        best = bounds.explicit(
            problem.domain, values, threshold=level, noise=problem.known_noise, ridge=self.ridge, rtol=self.rtol
        )
        designs = np.array([r.design.weights for r in found])
        sums = np.cumsum([4.0**r.t * r.design.weights for r in found], axis=0)
        sums /= sums.sum(axis=1, keepdims=True)
        measured = np.average(designs, axis=0, weights=[r.samples for r in found])
        uniform = np.full(len(values), 1 / len(values))
        gaps = problem.goal.margins(values)
        features = as_features(problem.domain, ridge=self.ridge, rtol=self.rtol)
        return {
            "t": [r.t for r in found],
            "undecided": [r.undecided for r in found],
            "tv_round": [distance(design, best.weights) for design in designs],
            "tv_sum": [distance(total, best.weights) for total in sums],
            "tv_measured": distance(measured, best.weights),
            "tv_uniform": distance(uniform, best.weights),
            "spread": [float(1 / (design**2).sum()) for design in designs],
            "mean_gap": [float(design @ gaps) for design in designs],
            "boundary": [float(design[gaps <= np.quantile(gaps, NEAR)].sum()) for design in designs],
            "times_best": {
                name: complexity(features, weights, gaps, self.ridge) / best.lower_bound
                for name, weights in (("weighted", sums[-1]), ("measured", measured), ("uniform", uniform))
            },
            "values": values.round(DIGITS).tolist(),
            "designs": designs.round(DIGITS).tolist(),
            "weighted": sums[-1].round(DIGITS).tolist(),
            "optimum": best.weights.round(DIGITS).tolist(),
        }


def distance(first: Array, second: Array) -> float:
    """TV"""
    return float(np.abs(first - second).sum() / 2)


def complexity(features: Features, weights: Array, gaps: Array, ridge: float) -> float:
    """max_x ||phi(x)||^2_{A(weights)^-1} / gap(x)^2: what Theorem 1 has the least of."""
    factor = information_factor(features.array, weights, ridge=ridge)
    variances = linalg.squared_norms(linalg.whiten(factor, features.array))
    return float((variances / gaps**2).max())


def figure(quick: bool) -> Figure:
    """30 x 30 points, l = 0.1, theta ~ N(0, I), alpha = 0."""
    world = Surface(side=15 if quick else 30, length=0.2 if quick else 0.1, noise=1.0)
    setting = Setting(name=f"{world.side} x {world.side} points, length {world.length:g}", world=world, samples=())
    entry = Entry(label="MELK", trial=Rounds(ridge=1e-7, rtol=0.01), paper=True)
    return Figure(name="allocations", title="Where MELK measures", settings=[setting], entries=[entry])


def read(figure: Figure, rows: Sequence[Row]) -> Outcome:
    """A panel a round for the first function, distances for all of them."""
    table = round_table(rows)
    return Outcome(
        tables={"": table},
        pictures={"": lambda: draw(figure, rows[0])},
        claims=claims(figure, rows),
        shown=[{name: line[name] for name in SHOWN} for line in table],
    )


SHOWN = ("round", "functions", "undecided", "tv_round", "tv_sum", "tv_uniform", "boundary")
MEANS = ("undecided", "tv_round", "tv_sum", "spread", "mean_gap", "boundary")


def round_table(rows: Sequence[Row]) -> Table:
    """Means over the functions that had that round, then the total, which is each function's last sum."""
    lines = []
    for t in range(1, max(len(row.values["t"]) for row in rows) + 1):
        having = [row.values for row in rows if len(row.values["t"]) >= t]
        columns = {name: np.array([values[name][t - 1] for values in having]) for name in MEANS}
        lines.append(_line(str(t), columns, np.array([values["tv_uniform"] for values in having])))
    total = {"tv_sum": np.array([row.values["tv_sum"][-1] for row in rows])}
    return [*lines, _line("total", total, np.array([row.values["tv_uniform"] for row in rows]))]


def _line(label: str, columns: dict[str, Array], uniform: Array) -> dict[str, object]:
    return {
        "round": label,
        "functions": len(uniform),
        **{name: float(columns[name].mean()) if name in columns else None for name in MEANS},
        "tv_sum_standard_error": error_of(columns["tv_sum"]),
        "tv_uniform": float(uniform.mean()),
    }


def draw(figure: Figure, row: Row) -> Picture:
    """The function, every round, the weighted sum and lambda*."""
    world, seen = figure.settings[0].world, row.values
    assert isinstance(world, Surface)
    values = np.array(seen["values"])
    gaps = np.abs(values)
    rounds = [
        Allocation(
            title=f"round {t}, {undecided} undecided",
            weights=_whole(design),
            # Exact estimates leave what is within 2 B 2^-s of the level after round s.
            active=gaps <= 2 * gaps.max() * 2.0 ** (1 - t) if t > 1 else gaps >= 0,
        )
        for t, undecided, design in zip(seen["t"], seen["undecided"], seen["designs"], strict=True)
    ]
    ends = [
        Allocation(title=f"weighted sum, TV {seen['tv_sum'][-1]:.2f}", weights=_whole(seen["weighted"])),
        Allocation(title="λ* of the lower bound", weights=_whole(seen["optimum"])),
    ]
    title = f"{figure.title}: {figure.settings[0].name}, α = 0, seed {row.seed}"  # noqa: RUF001
    return draw_allocations(world.ticks, world.ticks, values, [*rounds, *ends], level=0.0, title=title)


def _whole(weights: Sequence[float]) -> Array:
    """Sums to one again after rounding."""
    given = np.array(weights)
    return np.asarray(given / given.sum())


def _falling(gaps: Sequence[float]) -> float:
    """Minus the rank correlation with the round; 0 where nothing moves."""
    return 0.0 if np.ptp(gaps) == 0.0 else -float(spearmanr(np.arange(len(gaps)), gaps).statistic)


def claims(figure: Figure, rows: Sequence[Row]) -> list[Claim]:
    """From spread out to the smallest gaps, and in sum nearly lambda*."""
    setting = figure.settings[0].name
    seen = [row.values for row in rows]
    points = len(seen[0]["values"])
    spread = np.array([values["spread"][0] / points for values in seen])
    falling = np.array([_falling(values["mean_gap"]) for values in seen])
    distances = {
        "weighted": np.array([values["tv_sum"][-1] for values in seen]),
        "measured": np.array([values["tv_measured"] for values in seen]),
    }
    times = {name: float(np.median([values["times_best"][name] for values in seen])) for name in seen[0]["times_best"]}
    uniform = float(np.mean([values["tv_uniform"] for values in seen]))
    return [
        judge(
            "spread-out-at-first",
            "The first design is mostly uniform.",
            {setting: spread},
            Above(SPREAD),
            measure="effective number of measured points, 1 / sum of squared weights, over all points",
            measured={"mean": float(spread.mean())},
        ),
        judge(
            "towards-the-smallest-gaps",
            "Later rounds move to the boundary, and in the end to the smallest gaps.",
            {setting: falling},
            Above(FALLING),
            measure="minus the rank correlation of a round with the mean gap of the points it measures",
            measured={
                "share_on_the_tenth_nearest_to_the_level": {
                    "first round": float(np.mean([values["boundary"][0] for values in seen])),
                    "last round": float(np.mean([values["boundary"][-1] for values in seen])),
                }
            },
        ),
        *(
            judge(
                f"{name}-sum-nearly-optimal",
                f"The sum of the designs weighted by {weights} is nearly identical to the design of Theorem 1.",
                {setting: NEARLY - distances[name]},
                Above(),
                measure=f"{NEARLY} less the total-variation distance",
                source=source,
                measured={
                    "total_variation": float(distances[name].mean()),
                    "total_variation_of_uniform": uniform,
                    "median_times_the_least_complexity": {name: times[name], "uniform": times["uniform"]},
                },
            )
            for name, weights, source in (("weighted", "2^2t", "paper"), ("measured", "N_t", "here"))
        ),
    ]
