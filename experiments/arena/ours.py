"""Our methods in the arena: kernel, noise and mean are estimated, and labels are looked at every ten measurements."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import superlevel as sl
from experiments.arena import problems
from experiments.arena.peers.loop import LOOK, noise_of, scores
from superlevel.arrays import Array
from superlevel.errors import InputError
from superlevel.records import State
from superlevel.reproduce.settings import Setting, Values
from superlevel.reproduce.worlds import World
from superlevel.sizes import ESTIMATING

BATCH = ESTIMATING
"""What a user gets who sets nothing; all of our methods have it here."""
DEFAULT = "melk"
"""The label of the default method: what a user gets who sets nothing."""
DECLARE, UNIFORM = "melk declare", "uniform"
"""The contestant that aims at declared points, and the one that everybody must not be behind."""
RATES = {f"{DECLARE} 5 %": 0.05, f"{DECLARE} 10 %": 0.1}
"""The same with a larger share of wrong labels allowed than the 1 % that all others promise."""
FITTED = ("kernel", "noise", "mean")


@dataclass(frozen=True, kw_only=True)
class Named:
    """A problem of the arena by its name, as the runner has worlds."""

    name: str
    version: int = problems.VERSION

    def __call__(self, seed: int) -> World:
        found = problems.load(self.name, seed)
        goal = sl.Threshold(found.level)
        return World(problem=sl.Problem(sl.Domain(found.points), goal=goal, noise=found.noise), values=found.values)


@dataclass(frozen=True, kw_only=True)
class Ours:
    """A method of the table with its options: what `superlevel.methods.make` takes."""

    method: str
    options: tuple[tuple[str, Any], ...] = (("batch", BATCH),)
    version: str = sl.__version__
    """Of the library: rows of different versions are different rows."""

    def make(self, problem: sl.Problem) -> sl.methods.Method:
        return sl.methods.make(self.method, problem, **dict(self.options))

    def __call__(self, setting: Setting, seed: int) -> Values:
        world, budget = setting.world(seed), setting.samples[-1]
        told = world.problem
        method = self.make(sl.Problem(told.domain, goal=told.goal, fit=FITTED))
        looks = follow(method, world, seed=seed, budget=budget)
        return {**columns(looks), "points": told.domain.n, "positives": int(world.truth.sum()), "source": source()}

    def lacking(self) -> str:
        """Why this version has no such method; empty if it has one."""
        line = sl.Problem(sl.Domain(np.linspace(0, 1, 5)), goal=sl.Threshold(0.0), fit=FITTED)
        try:
            self.make(line)
        except (InputError, TypeError) as error:
            return str(error)
        return ""


def follow(method: sl.methods.Method, world: World, *, seed: int, budget: int) -> list[dict[str, Any]]:
    """A look after every ten measurements, with the CPU seconds of asking and telling."""
    noise, truth, deviations = noise_of(seed, budget), world.truth, world.problem.deviations
    looks: list[dict[str, Any]] = []
    spent, asks, state = 0.0, 0, method.init(seed=seed)
    while state.stop is None and state.samples < budget:
        plan, seconds = timed(lambda: method.ask(state))  # noqa: B023  called at once
        asks, spent = asks + 1, spent + seconds
        if state.samples + plan.total > budget:
            break
        places = plan.indices
        values = world.values[places] + deviations[places] * noise[state.samples : state.samples + plan.total]
        (state, _), seconds = timed(lambda: method.tell(state, plan, values))  # noqa: B023
        spent += seconds
        if state.samples % LOOK == 0 or state.stop is not None:
            guess, seconds = timed(lambda: method.guess(state))  # noqa: B023
            spent += seconds  # what a map needs is computed when it is first looked at
            found = scores(state.labels, guess > 0, doubt_of(state, world), truth)
            looks.append({"samples": state.samples, **found, "cpu": round(spent, 4), "asks": asks})
    return looks


def doubt_of(state: State, world: World) -> Array:
    """(n,) the probability that the likelier label is wrong; one half while there is no estimate."""
    (level,) = world.problem.goal.levels
    above = state.belief.probability(level)
    return np.full(world.problem.domain.n, 0.5) if above is None else np.minimum(above, 1.0 - above)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and its CPU seconds."""
    began = time.process_time()
    found = call()
    return found, time.process_time() - began


def columns(looks: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """A list for each column: shorter to write than a dictionary for each look."""
    return {name: [look[name] for look in looks] for name in looks[0]}


@cache
def source() -> str:
    """Of all files of the library: rows with the same version and another source deserve a word."""
    digest = hashlib.sha256()
    for path in sorted(Path(sl.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def looks_of(problem: str) -> tuple[int, ...]:
    """Numbers of measurements at which a problem is looked at; the last one is its budget."""
    return tuple(range(LOOK, problems.load(problem).budget + 1, LOOK))


def _method(method: str, **options: Any) -> Ours:
    return Ours(method=method, options=tuple({"batch": BATCH, **options}.items()))


OURS: dict[str, Ours] = {
    DEFAULT: _method("melk"),
    DECLARE: _method("melk", objective="declare"),
    **{
        name: _method("melk", objective="declare", confidence=sl.Posterior(error_rate=rate))
        for name, rate in RATES.items()
    },
    "melk average": _method("melk", rule="average"),
    "melk worst": _method("melk", rule="worst"),
    **{
        name: _method(name)
        for name in (
            *("lse", "truvar", "straddle", "rmile", "uniform", "max-variance"),
            *("rstraddle", "tmse", "timse", "wmse", "sur", "itl", "vtl", "eff", "globalmi", "eavc"),
        )
    },
}
"""Our contestants: add a line to add one. One that this version lacks is left out with a word."""
