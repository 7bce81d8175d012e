"""The problems of the arena, and which of them may be looked at while constants are chosen.

A problem is a list of points, the truth at each, a level and the noise of a measurement. Draws have a new function for
each seed; everywhere else only the measurements are random.

    problem = load("branin-5", seed=0)
    problem.points, problem.values, problem.level, problem.noise
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF, Matern

from experiments.arena import functions, measured
from experiments.fields import FIELDS
from superlevel.arrays import Array, Mask
from superlevel.errors import InputError

VERSION = 1  # raise it if a problem changes: rows of other versions are not used
NOISES = {"0.5": 0.005, "5": 0.05, "20": 0.2}
"""Noises of test functions, in percent and as a share of the deviation of f."""
LOOK = 10  # measurements between two looks
MOST, MOST_NOISY = 200, 400
"""Measurements of a run, and of a run where the noise is as large as f."""

TUNING = (
    *(f"{name}-{noise}" for name in ("branin", "himmelblau") for noise in NOISES),
    *("matern-3/2", "matern-1/2"),
    *("strait", "hills", "photo_wf3", "hplc", "photo_pce10", "aniso", "winds"),
    "paper-gp-150",
)
"""Problems on which constants may be chosen. This split was fixed before anything was run."""
REPORT = (
    *(f"{name}-{noise}" for name in ("rosenbrock", "hartmann3", "hartmann6", "ishigami") for noise in NOISES),
    *("rbf", "matern-5/2", "changing", "stepped"),
    *("relief", "pancake", "meuse", "suzuki", "fullerenes", "salinity", "solubility", "colors_bob", "alkox"),
    *("depths", "mountains", "temple", "diabetes"),
    *("tokyo", "sids", "buchwald", "tibet", "colors_n9"),
    *("ten", "paper-gp", "paper-cosine"),
)
"""Problems that only the report looks at."""
SPLITS = {"tuning": TUNING, "report": REPORT, "all": TUNING + REPORT}


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """A function that is known at every point, and what is looked for."""

    name: str
    points: Array
    """(n, d)"""
    values: Array
    """(n,) f"""
    level: float
    noise: float | Array
    """Standard deviation of one measurement, or (n,), one for each point."""
    group: str
    split: str
    """tuning or report"""
    budget: int
    """Measurements of a run."""

    @property
    def truth(self) -> Mask:
        """(n,) whether a point is above the level."""
        return np.asarray(self.values > self.level)


Contents = tuple[Array, Array, float, float | Array]
"""Points (n, d), values (n,), level and noise."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a problem comes from."""

    group: str
    make: Callable[[int], Contents]
    """Of a seed."""
    drawn: bool = False
    """Whether each seed has a function of its own."""
    most: int = MOST

    def budget(self, points: int) -> int:
        """Measurements of a run: at most half of the places of a table."""
        return min(self.most, points // 2 // LOOK * LOOK) if self.group in TABLES else self.most


def load(name: str, seed: int = 0) -> Problem:
    """A problem by its name. The seed matters where the function is drawn.

    Where the data are not on this machine, `experiments.fields.MissingError` says where they come from.
    """
    if name not in SOURCES:
        raise InputError("problem", repr(name), f"choose out of {', '.join(SOURCES)}")
    source = SOURCES[name]
    points, values, level, noise = source.make(seed) if source.drawn else _kept(name)
    return Problem(
        name=name,
        points=points,
        values=values,
        level=level,
        noise=noise,
        group=source.group,
        split="tuning" if name in TUNING else "report",
        budget=source.budget(len(points)),
    )


@cache
def _kept(name: str) -> Contents:
    """Of a problem that has the same function for each seed: read once."""
    return SOURCES[name].make(0)


# ------------------------------------------------------------------------------------------ sources


@dataclass(frozen=True, kw_only=True)
class Closed:
    """A function in closed form on its usual domain."""

    function: Callable[[Array], Array]
    places: Callable[[], Array]
    quantile: float | None
    """Of the level; None for Branin, whose level is 80 as in Trieste's own example of expected feasibility."""

    def at(self, share: float, _seed: int) -> Contents:
        """With noise of that share of the function's deviation."""
        points = self.places()
        values = self.function(points)
        level = 80.0 if self.quantile is None else float(np.quantile(values, self.quantile))
        return points, values, level, share * float(values.std())


def _field(name: str, _seed: int) -> Contents:
    field = FIELDS[name]()
    return field.points, field.values, field.level, field.noise


def _single(made: Callable[[], Any], _seed: int) -> Contents:
    field = made()
    return field.points, field.values, field.level, field.noise


def _rates(made: Callable[[], measured.Rates], _seed: int) -> Contents:
    return made()


def _drawn(kernel: Any, seed: int) -> Contents:
    """30 by 30 places, noise of a tenth of the kernel's deviation, 30 % of the places above the level."""
    places = functions.plane(30)
    values = functions.draw(kernel, places, seed)
    return places, values, float(np.quantile(values, 0.7)), 0.1


def _odd(made: Callable[[Array, int], Array], seed: int) -> Contents:
    """A function that is no draw of any stationary kernel."""
    places = functions.plane(30)
    values = made(places, seed)
    return places, values, float(np.quantile(values, 0.7)), 0.1


def _ten(seed: int) -> Contents:
    points, values = functions.ten(seed)
    return points, values, float(np.quantile(values, 0.7)), 0.1 * float(values.std())


def _paper_gp(points: int, length: float, above: float, seed: int) -> Contents:
    places = np.linspace(0, 1, points)[:, None]
    values = functions.draw(RBF(length), places, seed)
    return places, values, float(np.quantile(values, 1 - above)), 1.0


def _paper_cosine(_seed: int) -> Contents:
    places = np.linspace(0, 1, 700)[:, None]
    values = np.cos(8 * np.pi * places[:, 0])
    return places, values, float(np.quantile(values, 0.7)), 0.2


def _on(low: tuple[float, float], high: tuple[float, float]) -> Callable[[], Array]:
    return partial(functions.rectangle, low, high)


CLOSED = {
    "branin": Closed(function=functions.branin, places=_on((-5, 0), (10, 15)), quantile=None),
    "himmelblau": Closed(function=functions.himmelblau, places=_on((-5, -5), (5, 5)), quantile=0.7),
    "rosenbrock": Closed(function=functions.rosenbrock, places=_on((-2, -1), (2, 3)), quantile=0.7),
    "ishigami": Closed(function=functions.ishigami, places=_on((-np.pi, -np.pi), (np.pi, np.pi)), quantile=0.7),
    "hartmann3": Closed(function=functions.hartmann, places=partial(functions.sobol, 3), quantile=0.8),
    "hartmann6": Closed(function=functions.hartmann, places=partial(functions.sobol, 6), quantile=0.8),
}
TEST, DRAWN, REAL, NEW, HIGH, PAPER = (
    "test functions",
    "draws",
    "real fields",
    "rates and reactions",
    "high dimension",
    "paper",
)
TABLES = (REAL, NEW)


def _sources() -> dict[str, Source]:
    found: dict[str, Source] = {}
    for name, made in CLOSED.items():
        for word, share in NOISES.items():
            group = HIGH if name == "hartmann6" else TEST
            found[f"{name}-{word}"] = Source(group=group, make=partial(made.at, share))
    for name, kernel in {
        "rbf": RBF(0.2),
        "matern-5/2": Matern(0.2, nu=2.5),
        "matern-3/2": Matern(0.3, nu=1.5),
        "matern-1/2": Matern(0.4, nu=0.5),
    }.items():
        found[name] = Source(group=DRAWN, make=partial(_drawn, kernel), drawn=True)
    for odd in (functions.changing, functions.stepped):
        found[odd.__name__] = Source(group=DRAWN, make=partial(_odd, odd), drawn=True)
    for name in FIELDS:
        found[name] = Source(group=REAL, make=partial(_field, name))
    found["tokyo"] = Source(group=NEW, make=partial(_rates, measured.tokyo))
    found["sids"] = Source(group=NEW, make=partial(_rates, measured.sids))
    found["buchwald"] = Source(group=NEW, make=partial(_single, measured.buchwald))
    found["colors_n9"] = Source(group=NEW, make=partial(_single, measured.colors))
    found["tibet"] = Source(group=REAL, make=partial(_single, measured.tibet))
    found["ten"] = Source(group=HIGH, make=_ten, drawn=True)
    noisy = partial(Source, group=PAPER, drawn=True, most=MOST_NOISY)
    found["paper-gp-150"] = noisy(make=partial(_paper_gp, 150, 0.06, 0.15))
    found["paper-gp"] = noisy(make=partial(_paper_gp, 200, 0.05, 0.1))
    found["paper-cosine"] = Source(group=PAPER, make=_paper_cosine)
    return found


SOURCES = _sources()
