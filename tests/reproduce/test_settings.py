"""Tasks say what they are: the same in every process, another if anything is another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, get_args

import numpy as np
import pytest

from superlevel.confidence.posterior import Posterior
from superlevel.confidence.rips import Rips
from superlevel.confidence.rkhs import Rkhs
from superlevel.confidence.rounds import Schedule
from superlevel.reproduce import settings
from superlevel.reproduce.allocations import Rounds
from superlevel.reproduce.settings import Entry, Figure, Row, Setting, Task, Trial, Values
from superlevel.reproduce.table import FIGURES
from superlevel.reproduce.trials import LowerBound, Simulated
from superlevel.reproduce.widths import Loose, OfRank
from superlevel.reproduce.worlds import Cosine, Gp, Linear, Plane, Surface
from tests.reproduce.small import GP, setting

LINE: dict[str, Any] = {"points": 20, "length": 0.1, "noise": 0.3, "above": 0.28}
WORLDS: list[Any] = [
    *(kind(**LINE) for kind in (Gp, Cosine, Plane)),
    Surface(side=4, length=0.1, noise=1.0),
    Linear(arms=5, dimension=3, implicit=False, noise=1.0, ridge=1e-7),
]
TRIALS: list[Any] = [
    Simulated(method="melk", options=(("batch", 10), ("rule", "worst")), budget=100),
    Rounds(ridge=1e-7, rtol=0.01),
]

CONFIDENCES = [
    *(Rips(schedule=schedule) for schedule in get_args(Schedule)),
    *(Rkhs(), Loose(), OfRank(rank=2), OfRank(rank=3), Posterior()),
]


def task(trial: Trial | None = None, *, at: Setting | None = None, label: str = "LSE", seed: int = 0) -> Task:
    return Task(setting=at or setting(), entry=Entry(label=label, trial=trial or Simulated(method="lse")), seed=seed)


def other(value: object) -> object:
    """Another value of the same type."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value * (1 + 1e-12)
        case str():
            return value + "-"
        case tuple():
            return (*value[:-1], (value[-1][0], other(value[-1][1])))
        case _:
            raise AssertionError(value)


@pytest.mark.parametrize("world", WORLDS, ids=repr)
def test_every_parameter_of_a_world_is_in_the_digest(world: Any) -> None:
    found = {task(at=setting(world=world)).digest}
    found |= {
        task(at=setting(world=replace(world, **{f.name: other(getattr(world, f.name))}))).digest for f in fields(world)
    }
    assert len(found) == 1 + len(fields(world)) > 3


@pytest.mark.parametrize("trial", TRIALS, ids=repr)
def test_every_option_of_a_trial_is_in_the_digest(trial: Any) -> None:
    found = {task(trial).digest}
    found |= {task(replace(trial, **{f.name: other(getattr(trial, f.name))})).digest for f in fields(trial)}
    assert len(found) == 1 + len(fields(trial)) > 2


def test_worlds_and_trials_of_another_kind_have_another_digest() -> None:
    kinds = {task(at=setting(world=kind(**LINE))).digest for kind in (Gp, Cosine, Plane)}
    plain = Simulated(method="lse", options=(("batch", 1),))
    trials: list[Trial] = [
        plain,
        *(replace(plain, options=(("confidence", confidence),)) for confidence in CONFIDENCES),
        LowerBound(),
        replace(plain, options=()),
    ]
    assert len(kinds) == 3
    assert len({task(trial).digest for trial in trials}) == 3 + len(CONFIDENCES)


def test_the_places_of_a_curve_its_name_and_the_version_are_in_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        task().digest,
        task(at=setting("another")).digest,
        task(at=setting(samples=(20, 40, 61))).digest,
        task(at=setting(samples=(40, 60))).digest,
    ]
    monkeypatch.setattr(settings, "__version__", "another")
    assert len({*found, task().digest}) == 5


def test_method_and_seed_are_beside_the_digest_in_the_key() -> None:
    given = [task(), task(label="other"), task(seed=1)]
    assert len({each.digest for each in given}) == 1
    assert len({each.key for each in given}) == 3
    assert given[0].key == ("small", "LSE", 0, given[0].digest)


def test_a_row_of_a_different_digest_is_of_a_different_task() -> None:
    found = task(Simulated(method="uniform")).run()
    assert found.key == task(Simulated(method="uniform")).key
    assert replace(found, digest="0" * 16).key != found.key
    assert task(Simulated(method="uniform", budget=50)).key != found.key


DIGESTS = """
import json
from superlevel.reproduce.table import FIGURES
print(json.dumps([task.key for recipe in FIGURES.values() for quick in (True, False)
                  for task in recipe.figure(quick).tasks(2, 5)]))
"""


def test_every_task_has_the_same_key_in_another_process() -> None:
    keys = [
        list(task.key)
        for recipe in FIGURES.values()
        for quick in (True, False)
        for task in recipe.figure(quick).tasks(2, 5)
    ]
    env = {**os.environ, "PYTHONHASHSEED": "4321"}
    ran = subprocess.run([sys.executable, "-c", DIGESTS], env=env, check=True, capture_output=True, text=True)
    assert json.loads(ran.stdout) == keys
    assert len(keys) > 600


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", FIGURES)
def test_no_two_tasks_of_a_figure_have_the_same_key(name: str, quick: bool) -> None:
    keys = [each.key for each in FIGURES[name].figure(quick).tasks(3, 0)]
    assert len(set(keys)) == len(keys) > 0


def test_nothing_of_a_task_is_known_by_its_address() -> None:
    for recipe in FIGURES.values():
        for quick in (True, False):
            assert not [each for each in recipe.figure(quick).tasks(1, 0) if " at 0x" in repr(each)]


def test_tasks_come_setting_by_setting_entry_by_entry_and_seed_by_seed() -> None:
    entries = [Entry(label=label, trial=LowerBound()) for label in "ab"]
    figure = Figure(name="f", title="", settings=[setting("one"), setting("two")], entries=entries)
    found = [(each.setting.name, each.entry.label, each.seed) for each in figure.tasks(3, 7)]
    assert found == [(name, label, seed) for name in ("one", "two") for label in "ab" for seed in (7, 8, 9)]


# ------------------------------------------------------------------------------------------ running


@dataclass(frozen=True)
class Told:
    """A trial that does as it is told."""

    does: Callable[[], Values]

    def __call__(self, setting: Setting, seed: int) -> Values:
        return {"setting": setting.name, "seed": seed, **self.does()}


def test_a_row_is_what_the_trial_said_of_that_setting_and_seed() -> None:
    found = task(Told(lambda: {"x": [1, None]}), seed=11).run()
    assert isinstance(found, Row)
    assert found.values == {"setting": "small", "seed": 11, "x": [1, None]}
    assert (found.setting, found.method, found.seed) == ("small", "LSE", 11)


def test_seconds_are_those_of_the_trial() -> None:
    def slow() -> Values:
        time.sleep(0.03)
        return {}

    assert 0.03 <= task(Told(slow)).run().seconds < 5
    assert 0.0 <= task(Told(dict)).run().seconds < 0.03


def test_the_world_of_a_task_is_that_of_its_seed() -> None:
    seen: list[Any] = []

    @dataclass(frozen=True)
    class Looking:
        def __call__(self, setting: Setting, seed: int) -> Values:
            seen.append(setting.world(seed).values)
            return {}

    for seed in (0, 4):
        task(Looking(), seed=seed).run()
    np.testing.assert_array_equal(seen, [GP(0).values, GP(4).values])
