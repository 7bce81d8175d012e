"""Runs of the arena: what a row has, what is run again, and what is left out with a word."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import superlevel as sl
from experiments.arena import ours, problems, run
from experiments.arena.environments import PEERS, UnavailableError
from experiments.arena.ours import OURS, Ours
from experiments.arena.peers.loop import noise_of
from superlevel.reproduce.settings import Entry, Setting
from superlevel.worker_setup import quiet
from tests.arena.small import Small


def small(seed: int) -> problems.Contents:
    world = Small()(seed)
    return world.problem.domain.points, world.values, 0.2, 0.1


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """A problem of the list that is over soon."""
    monkeypatch.setitem(problems.SOURCES, "rbf", problems.Source(group=problems.DRAWN, make=small, drawn=True, most=30))


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.usefixtures("little")
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "rows.jsonl"
    command = ["--problems", "rbf", "--methods", "uniform", "--jobs", "1", "--out", str(out)]
    run.main([*command, "--seeds", "1"])
    (first,) = lines(out)
    with out.open("a", encoding="utf-8") as file:
        file.write(first[:50])  # the run was killed while it wrote
    run.main([*command, "--seeds", "2"])
    assert lines(out)[0] == first
    assert [json.loads(line)["seed"] for line in lines(out)] == [0, 1]
    before = out.read_bytes()
    run.main([*command, "--seeds", "2"])
    assert out.read_bytes() == before
    assert "2 rows, 0 failed" in capsys.readouterr().out
    run.main([*command, "--seeds", "1", "--version", "other"])  # another version is another row
    assert len(lines(out)) == 3


def test_a_row_counts_what_the_method_says() -> None:
    world = Small()(3)
    setting = Setting(name="small", world=Small(), samples=(10, 20, 30, 40, 50, 60))
    with quiet():
        values = OURS["straddle"](setting, 3)
        problem = sl.Problem(world.problem.domain, goal=sl.Threshold(0.2), fit=("kernel", "noise", "mean"))
        method = sl.methods.make("straddle", problem, batch=5)
        state, noise = method.init(seed=3), noise_of(3, 60)
        while state.stop is None and state.samples < 60:
            plan = method.ask(state)
            z = noise[state.samples : state.samples + plan.total]
            state, _ = method.tell(state, plan, world.values[plan.indices] + 0.1 * z)
    assert values["samples"][-1] == state.samples
    assert values["mislabelled"][-1] == int(((method.guess(state) > 0) != world.truth).sum())
    assert values["declared"][-1] == int((state.labels != 0).sum())
    assert values["wrong"][-1] == int((state.labels == -world.signs).sum())
    assert (values["points"], values["positives"]) == (60, int(world.truth.sum()))
    assert values["cpu"] == sorted(values["cpu"])
    assert values["asks"][-1] == 12


def test_a_contestant_gets_nothing_but_points_and_a_level() -> None:
    told: list[sl.Problem] = []

    class Seen(Ours):
        def make(self, problem: sl.Problem) -> sl.methods.Method:
            told.append(problem)
            return super().make(problem)

    with quiet():
        Seen(method="uniform")(Setting(name="small", world=Small(), samples=(10,)), 0)
    assert told[0].fit == ("kernel", "noise", "mean")
    assert (told[0].noise, told[0].domain.kernel) == (None, None)


def test_seeds_come_one_after_the_other() -> None:
    settings = [Setting(name=name, world=Small(), samples=(10,)) for name in ("a", "b")]
    entries = [Entry(label=name, trial=OURS["melk"]) for name in ("x", "y")]
    tasks = run.Arena(settings=settings, entries=entries).tasks(2, 0)
    assert [task.seed for task in tasks] == [0] * 4 + [1] * 4
    assert len({task.key for task in tasks}) == 8


def test_rows_of_peers_stay_when_our_version_changes_and_ours_do_not() -> None:
    setting = Setting(name="a", world=Small(), samples=(10,))

    def digest(entry: Entry) -> str:
        return run.Bout(setting=setting, entry=entry, seed=0).digest

    mine = OURS["melk"]
    assert digest(Entry(label="x", trial=mine)) != digest(Entry(label="x", trial=replace(mine, version="9")))
    peer = next(iter(PEERS.values()))
    assert sl.__version__ not in repr(peer)
    assert digest(Entry(label="x", trial=peer)) == digest(Entry(label="x", trial=replace(peer, python="elsewhere")))


def test_what_cannot_be_run_is_left_out_with_a_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> str:
        raise UnavailableError("no network")

    monkeypatch.setattr(run, "python_of", fail)
    monkeypatch.setitem(OURS, "nobody", Ours(method="nobody"))
    monkeypatch.setitem(OURS, "odd", Ours(method="melk", options=(("unheard", 1),)))
    found = list(run.entries_of(["melk", "nobody", "odd", "Trieste"], "1", Console(soft_wrap=True)))
    assert [entry.label for entry in found] == ["melk"]
    said = capsys.readouterr().out
    assert "nobody is left out: " in said
    assert "odd is left out: " in said
    assert "Trieste is left out: its environment could not be made (no network)" in said


def test_groups_of_methods_stand_for_their_members() -> None:
    assert run.chosen(["peers", "melk"]) == [*PEERS, "melk"]
    assert run.chosen(None) == [*OURS, *PEERS]
    assert run.chosen(["melk", "melk"]) == ["melk"]


@pytest.mark.usefixtures("little")
def test_a_budget_cuts_the_looks() -> None:
    (setting,) = run.settings_of(["rbf"], Console(), budget=20)
    assert setting.samples == (10, 20)
    assert ours.looks_of("rbf") == (10, 20, 30)
    world = setting.world(0)
    assert np.array_equal(world.values, Small()(0).values)
