"""Figures that take a second, and rows that are made up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NoReturn

import numpy as np

from superlevel.arrays import Array
from superlevel.domain import Domain
from superlevel.goals import Goal
from superlevel.problem import Problem
from superlevel.reproduce import allocations, curves, linear
from superlevel.reproduce.claims import Claim
from superlevel.reproduce.settings import Figure, Row, Setting
from superlevel.reproduce.worlds import Gp, Linear, Surface, World
from superlevel.worker_setup import quiet

GP = Gp(points=20, length=0.1, noise=0.3, above=0.28)
NOISY = replace(GP, noise=1.0)
ARMS = Linear(arms=12, dimension=4, implicit=False, noise=0.1, ridge=1e-7)


@dataclass(frozen=True, kw_only=True)
class Apart:
    """Points that have nothing to do with each other, x_i = e_i."""

    values: tuple[float, ...]
    goal: Goal
    noise: float = 1.0

    def __call__(self, seed: int) -> World:  # noqa: ARG002
        problem = Problem(Domain(np.eye(len(self.values))), goal=self.goal, noise=self.noise, bound=1.0)
        return World(problem=problem, values=np.array(self.values))


def setting(name: str = "small", *, samples: tuple[int, ...] = (20, 40, 60), world: Any = GP) -> Setting:
    return Setting(name=name, world=world, samples=samples)


def row(method: str, seed: int = 0, *, at: str = "small", **values: Any) -> Row:
    return Row(setting=at, method=method, seed=seed, digest="0" * 16, seconds=0.0, values=values)


def run(figure: Figure, reps: int) -> list[Row]:
    with quiet():
        return [task.run() for task in figure.tasks(reps, 0)]


def gp_figure() -> Figure:
    settings = [setting(name, samples=(10, 20, 30), world=world) for name, world in (("quiet", GP), ("noisy", NOISY))]
    return Figure(name="gp", title="20 points", settings=settings, entries=curves.ENTRIES)


def linear_figure(*, implicit: bool = False) -> Figure:
    whole = linear.implicit(quick=True) if implicit else linear.explicit(quick=True)
    world = replace(ARMS, implicit=implicit)
    return replace(whole, settings=[setting(world=world, samples=(10, 100, 1000, 10_000, 1_000_000))])


OURS = {False: ("MELK", "LSE"), True: ("MILK", "LSE-imp")}


def made_up_rows(implicit: bool = False, bound: float = 100.0, **lasts: Sequence[int | None]) -> list[Row]:
    """Measurements to the last correct label of ours, of the rival and of their variants, 1000 unless given."""
    ours, rival = OURS[implicit]
    names = {"ours": ours, "rival": rival, "tight": f"{ours}, tight", "experiments": f"{ours}, experiments"}
    names |= {"equal": f"{ours}, equal steps", "loose": f"{rival}, d log t", "ranked": f"{rival}, rank 2"}
    runs = len(next(iter(lasts.values()))) if lasts else 14
    given = {names[key]: last for key, last in lasts.items()}
    return [
        row(entry.label, seed, f1=[0.0] * 5, wrong=0, last=given.get(entry.label, [1000] * runs)[seed])
        if entry.label != "lower bound"
        else row(entry.label, seed, samples=bound + seed)
        for entry in linear_figure(implicit=implicit).entries
        for seed in range(runs)
    ]


def surface_figure(side: int = 5) -> Figure:
    world = Surface(side=side, length=0.3, noise=1.0)
    return replace(allocations.figure(quick=True), settings=[setting(world=world, samples=())])


@cache
def gp_rows(reps: int = 6) -> Sequence[Row]:
    return run(gp_figure(), reps)


@cache
def linear_rows(*, implicit: bool = False, reps: int = 3) -> Sequence[Row]:
    return run(linear_figure(implicit=implicit), reps)


@cache
def surface_rows(reps: int = 7) -> Sequence[Row]:
    return run(surface_figure(), reps)


def strictly(text: str | bytes) -> Any:
    """What JSON says that any reader of JSON can read: Python writes NaN and infinities, which are none."""

    def refuse(constant: str) -> NoReturn:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def told(claim: Claim) -> dict[str, Any]:
    """A claim as whoever reads claims.json sees it."""
    found = strictly(json.dumps(claim.as_json(), allow_nan=False))
    assert isinstance(found, dict)
    return found


def normal(seed: int, count: int, *, mean: float = 0.0, deviation: float = 1.0) -> Array:
    return np.random.default_rng(seed).normal(mean, deviation, count)
