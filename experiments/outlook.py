"""Do forecasts of wrong labels hold? Campaigns with kernel, noise and mean estimated, and what really happened.

After 50, 100 and 150 measurements each campaign says how many labels are expected to be wrong then, after 50 and after
100 more, with a 90 % interval, and how many measurements are missing to 10 % wrong labels. The campaign goes on, and
the truth is beside it.

    python -m experiments.outlook --fields tuning --seeds 100 105       # by which the constants were chosen,
    python -m experiments.outlook --fields random --seeds 0 37          # and these
    python -m experiments.outlook --fields others --seeds 210 213       # by which they were not

Fields are those of `experiments.trust`, draws from four kernels on 25 by 25 places, and functions drawn at random:
dimension, number of points, smoothness, lengths, skewness, level and noise are chance.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import qmc
from sklearn.gaussian_process.kernels import RBF, Matern

import superlevel as sl
from experiments.fields import FIELDS, TUNED, Field, MissingError
from experiments.known import KERNELS
from superlevel.bounds.outlook import STEP, outlook
from superlevel.sizes import ESTIMATING
from superlevel.worker_setup import quiet

OUT = Path("out/experiments/outlook.jsonl")
MEASUREMENTS, SIDE, RATES = 200, 25, (0.2, 0.1, 0.05, 0.02, 0.01)
LOOKS, AHEAD = (50, 75, 100, 125, 150), (0, 50, 100)
RANDOM = "random"
GROUPS = {
    "tuning": (*TUNED, *KERNELS),
    "random": (RANDOM,),
    "others": (*(name for name in FIELDS if name not in TUNED), *KERNELS),
}

Row = dict[str, Any]


def drawn(name: str, seed: int) -> Field:
    """A function drawn from a kernel; the level is exceeded by three of ten places."""
    axis = np.linspace(0, 1, SIDE)
    places = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    factor = np.linalg.cholesky(KERNELS[name](places) + 1e-8 * np.eye(len(places)))
    values = factor @ np.random.default_rng([seed, 9]).standard_normal(len(places))
    return Field(name=name, points=places, values=values, level=float(np.quantile(values, 0.7)), noise=0.1)


def by_chance(_name: str, seed: int) -> Field:
    """A function about which everything is chance."""
    rng = np.random.default_rng([seed, 31])
    d, n = int(rng.choice([1, 2, 2, 2, 3, 5])), int(rng.choice([120, 250, 500, 900, 1500]))
    points, smoothness = qmc.Sobol(d, seed=rng).random(n), float(rng.choice([0.5, 1.5, 2.5, np.inf]))
    length = float(np.exp(rng.uniform(np.log(0.15), np.log(1.2)))) * np.sqrt(d / 2)
    lengths = length * np.exp(0.4 * rng.standard_normal(d))
    kernel = RBF(lengths) if np.isinf(smoothness) else Matern(lengths, nu=smoothness)
    values = np.linalg.cholesky(kernel(points) + 1e-7 * np.eye(n)) @ rng.standard_normal(n)
    values = np.exp(values) if rng.random() < 0.3 else values
    values = values / values.std()
    level = float(np.quantile(values, rng.choice([0.3, 0.6, 0.7, 0.85])))
    return Field(name=RANDOM, points=points, values=values, level=level, noise=float(rng.choice([0.02, 0.1, 0.3])))


DRAWN: dict[str, Callable[[str, int], Field]] = dict.fromkeys(KERNELS, drawn) | {RANDOM: by_chance}


def campaign(name: str, seed: int) -> Row:
    """One run: wrong labels after every batch, and what was said after some of them."""
    field = DRAWN[name](name, seed) if name in DRAWN else FIELDS[name]()
    problem = sl.Problem(sl.Domain(field.points), goal=sl.Threshold(field.level), fit=("kernel", "noise", "mean"))
    method = sl.methods.make("melk", problem, batch=ESTIMATING)
    oracle, truth = sl.oracles.Gaussian(field.values, noise=field.noise), field.values > field.level
    state, missed, said = method.init(seed=seed), {}, {}
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.AssumptionWarning)
        while state.stop is None and state.samples + ESTIMATING <= min(MEASUREMENTS, len(truth)):
            plan = method.ask(state)
            values = oracle.measure(plan.indices, np.random.default_rng([seed, state.phase, 1]))
            state, _ = method.tell(state, plan, values)
            missed[state.samples] = int(((method.guess(state) > 0) != truth).sum())
            if state.samples in LOOKS:
                above = state.belief.probability(field.level)
                assert above is not None  # the pilot is over
                found = outlook(method, state, float(np.minimum(above, 1.0 - above).sum()))
                ahead = {more: [found.expected(more), *found.interval(more)] for more in AHEAD}
                until = {rate: found.until(rate * len(truth)) for rate in RATES}
                model = {"wrong": found.wrong, "sharp": found.sharp, "parts": found.parts.tolist()}
                said[state.samples] = {"ahead": ahead, "until": until, "model": model}
    return {"field": name, "seed": seed, "points": len(truth), "missed": missed, "said": said}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fields", choices=list(GROUPS), default="others")
    parser.add_argument("--seeds", type=int, nargs=2, default=(200, 204), metavar=("FIRST", "END"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args(arguments)
    rows = [json.loads(line) for line in given.out.read_text().splitlines()] if given.out.exists() else []
    done = {(row["field"], row["seed"]) for row in rows}
    names = list(_there(GROUPS[given.fields]))
    wanted = [(name, seed) for seed in range(*given.seeds) for name in names]
    tasks = [task for task in wanted if task not in done]
    given.out.parent.mkdir(parents=True, exist_ok=True)
    found = Parallel(n_jobs=given.jobs, return_as="generator_unordered")(delayed(campaign)(*task) for task in tasks)
    with given.out.open("a", encoding="utf-8") as file:
        for row in track(found, total=len(tasks), console=Console(stderr=True)):
            file.write(json.dumps(row) + "\n")
            file.flush()
            rows.append(json.loads(json.dumps(row)))  # keys as a file has them
    Console(width=120).print(table([row for row in rows if (row["field"], row["seed"]) in set(wanted)]))


def _there(names: Iterable[str]) -> Iterable[str]:
    for name in names:
        try:
            if name not in DRAWN:
                FIELDS[name]()
            yield name
        except MissingError:
            continue


def table(rows: Sequence[Row]) -> Table:
    """For each look and each number of further measurements, how often the interval held."""
    shown = Table("after", "further", "campaigns", "interval held", "above it", "below it", "really / expected, median")
    for at in LOOKS:
        for more in AHEAD:
            pairs = [
                (row["missed"][str(at + more)], *row["said"][str(at)]["ahead"][str(more)])
                for row in rows
                if str(at) in row["said"] and str(at + more) in row["missed"]
            ]
            if pairs:
                shown.add_row(str(at), str(more), str(len(pairs)), *_line(pairs))
        for rate in RATES:
            held = [found for row in rows if (found := _held(row, at, rate)) is not None]
            shown.add_row(
                str(at), f"to {rate:.0%} wrong", str(len(held)), f"{np.mean(held):.0%}" if held else "", "", "", ""
            )
    return shown


def _line(pairs: Sequence[tuple[float, float, float, float]]) -> list[str]:
    really, expected, low, high = np.array(pairs).T
    above, below = really > np.ceil(high), really < np.floor(low)
    ratios = np.median((really + 0.5) / (expected + 0.5))
    return [f"{np.mean(~above & ~below):.0%}", f"{above.mean():.0%}", f"{below.mean():.0%}", f"{ratios:.2f}"]


def _held(row: Row, at: int, rate: float) -> bool | None:
    """Whether the rate was reached within the interval, or may be after the campaign; None if it ended before.

    Forecasts are for every tenth measurement, so that a rate may be reached up to `STEP` earlier.
    """
    if str(at) not in row["said"]:
        return None
    _, low, high = (np.inf if end is None else float(end) for end in row["said"][str(at)]["until"][str(rate)])
    last = max(map(int, row["missed"]))
    reached = [int(k) for k, wrong in row["missed"].items() if wrong <= rate * row["points"] and int(k) >= at]
    return low - STEP < min(reached) - at <= high if reached else high > last - at


if __name__ == "__main__":
    main()
