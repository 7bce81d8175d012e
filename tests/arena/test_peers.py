"""The loop of other people's tools, and those of them that need scikit-learn only."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import WhiteKernel

from experiments.arena import environments
from experiments.arena.environments import Peer, UnavailableError
from experiments.arena.peers import loop
from experiments.arena.peers.sklearn_model import Model
from experiments.arena.peers.sklearn_random import Random
from experiments.arena.peers.sklearn_straddle import Straddle
from experiments.arena.peers.stopping_lse import Stopping
from superlevel.reproduce.settings import Setting
from tests.arena.small import Small


def task(budget: int = 40, noise: float = 0.05) -> loop.Task:
    points = np.random.default_rng(0).random((80, 2))
    values = 3.0 + np.sin(5 * points[:, 0]) + points[:, 1]
    level = float(np.median(values))
    return loop.Task(points=points, values=values, level=level, noise=np.full(80, noise), seed=1, budget=budget)


@given(st.lists(st.tuples(st.floats(-4, 4), st.floats(0.01, 3)), min_size=1, max_size=30), st.floats(0.001, 0.3))
def test_the_declared_set_is_the_largest_whose_mean_error_is_within_the_rate(
    drawn: list[tuple[float, float]], rate: float
) -> None:
    mean, deviation = np.array(drawn).T
    labels = loop.declared(mean, deviation, 0.5, rate)
    wrong = norm.sf(np.abs(mean - 0.5) / deviation)
    ordered = np.sort(wrong)
    fitting = [k for k in range(1, len(mean) + 1) if ordered[:k].mean() <= rate * (1 - 1e-9)]
    loose = [k for k in range(1, len(mean) + 1) if ordered[:k].mean() <= rate * (1 + 1e-9)]
    count = int((labels != 0).sum())
    assert max(fitting, default=0) <= count <= max(loose, default=0)
    assert (labels[labels != 0] == np.where(mean > 0.5, 1, -1)[labels != 0]).all()


def test_scores_count_what_a_loop_over_points_counts() -> None:
    rng = np.random.default_rng(4)
    labels, guess, truth = rng.integers(-1, 2, 200), rng.random(200) > 0.5, rng.random(200) > 0.4
    doubt = rng.random(200)
    sure = loop.surest(doubt, guess, truth) & guess
    expected = dict.fromkeys(("mislabelled", "above", "right", "declared", "wrong"), 0)
    for label, side, true in zip(labels.tolist(), guess.tolist(), truth.tolist(), strict=True):
        expected["mislabelled"] += side != true
        expected["above"] += label == 1
        expected["right"] += label == 1 and true
        expected["declared"] += label != 0
        expected["wrong"] += (label == 1 and not true) or (label == -1 and true)
    expected |= {"surest": sum(sure.tolist()), "surest_right": sum((sure & truth).tolist())}
    assert loop.scores(labels, guess, doubt, truth) == expected


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=40), st.floats(0.0, 0.5))
def test_the_surest_points_are_the_longest_run_with_few_enough_wrong_guesses(
    drawn: list[tuple[int, bool]], rate: float
) -> None:
    doubt, right = np.array([each for each, _ in drawn]), np.array([each for _, each in drawn])
    chosen = loop.surest(doubt, right, np.ones(len(right), dtype=bool), rate)
    order = sorted(range(len(doubt)), key=lambda i: (doubt[i], i))
    lengths = [k for k in range(1, len(order) + 1) if sum(not right[i] for i in order[:k]) / k <= rate]
    assert sorted(np.flatnonzero(chosen)) == sorted(order[: max(lengths, default=0)])


class Recorder(loop.Declared):
    """Measures the first point again and again, and keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, Any]] = []

    def fit(self, places: Any, values: Any, level: float) -> None:
        self.level = level
        self.add(places, values)

    def add(self, places: Any, values: Any) -> None:
        self.told.append((places, values))

    def posterior(self) -> tuple[Any, Any]:
        return np.full(80, self.level + 1), np.ones(80)

    def choose(self) -> int:
        return 0


def test_the_loop_measures_with_the_noise_of_the_seed_and_looks_at_every_tenth() -> None:
    given, tool = task(budget=30), Recorder()
    looks = list(loop.run(tool, given))
    assert [look["samples"] for look in looks] == [10, 20, 30]
    assert [look["asks"] for look in looks] == [0, 10, 20]
    places, values = tool.told[-1]
    assert places[10:].tolist() == [0] * 20
    assert len(set(places[:10].tolist())) == 10
    measured = given.values[places] + given.noise[places] * loop.noise_of(1, 30)
    np.testing.assert_allclose(values, (measured - measured.mean()) / measured.std())
    assert looks[0]["mislabelled"] == int((given.values <= given.level).sum())  # it says that all are above
    assert looks[0]["declared"] == 0  # and is wrong with probability 0.16 everywhere


def test_a_model_of_scikit_learn_predicts_f_as_scikit_learn_does() -> None:
    given = task()
    places = np.arange(0, 80, 4)
    values = given.values[places] - given.values[places].mean()
    model = Model(given)
    model.fit(places, values, 0.0)
    kernel = model.signal + WhiteKernel(model.noise)
    regression = GaussianProcessRegressor(kernel, optimizer=None).fit(given.points[places], values)
    mean, deviation = regression.predict(given.points, return_std=True)
    np.testing.assert_allclose(model.posterior()[0], mean, atol=1e-6)
    # scikit-learn predicts a measurement: f and its noise
    np.testing.assert_allclose(model.posterior()[1] ** 2 + model.noise, deviation**2, atol=1e-6)


@pytest.mark.parametrize("tool", [Straddle, Random, Stopping])
def test_tools_on_scikit_learn_learn(tool: type[Model]) -> None:
    given = task()
    looks = list(loop.run(tool(given), given))  # type: ignore[arg-type]
    assert looks[-1]["mislabelled"] <= 6
    assert looks[-1]["mislabelled"] < looks[0]["mislabelled"]
    assert looks[-1]["declared"] > 40
    assert looks[-1]["cpu"] >= looks[0]["cpu"] > 0


def test_straddle_measures_where_the_level_may_be() -> None:
    tool = Straddle(task())
    tool.level, tool.mean, tool.deviation = 0.0, np.array([0.0, 1.0, 3.0]), np.array([0.1, 0.7, 1.0])
    assert tool.choose() == 1  # 0.196, 0.372 and -1.04


def test_the_probabilities_of_the_stopping_rule_are_those_of_draws() -> None:
    tool = Stopping(task())
    tool.level, tool.noise = 0.2, 0.05
    mean, deviation = np.array([0.0, 0.5, 2.0]), np.array([0.5, 1.0, 0.3])
    above, below, within = tool.sides(mean, deviation)
    draws = mean + deviation * np.random.default_rng(0).standard_normal((200_000, 3))
    margin = norm.ppf(1 - 0.01 / 160) * np.sqrt(0.05 / 5)
    np.testing.assert_allclose(above, (draws > 0.2).mean(axis=0), atol=0.005)
    np.testing.assert_allclose(below, (draws < 0.2).mean(axis=0), atol=0.005)
    np.testing.assert_allclose(within, (np.abs(draws - 0.2) < margin).mean(axis=0), atol=0.005)
    assert tool.declare(mean, deviation).tolist() == [-1 if below[0] > within[0] else 0, 1, 1]


def test_a_peer_in_a_process_of_its_own_does_what_it_does_here() -> None:
    setting = Setting(name="small", world=Small(), samples=(10, 20, 30))
    peer = Peer(script="sklearn_random", environment="sklearn", python=sys.executable)
    found = peer(setting, 2)
    world = setting.world(2)
    points = world.problem.domain.points
    unit = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    given = loop.Task(points=unit, values=world.values, level=0.2, noise=world.problem.deviations, seed=2, budget=30)
    here = list(loop.run(Random(given), given))
    for name in ("samples", "mislabelled", "above", "right", "declared", "wrong", "asks"):
        assert found[name] == [look[name] for look in here]
    assert (found["points"], found["positives"]) == (len(points), int(world.truth.sum()))


def test_a_peer_that_fails_leaves_its_last_word() -> None:
    setting = Setting(name="small", world=Small(), samples=(10,))
    found = Peer(script="nobody", environment="sklearn", python=sys.executable)(setting, 0)
    assert "No module named" in found["failed"]


def test_a_peer_s_row_does_not_depend_on_where_its_python_is() -> None:
    one, other = (Peer(script="a", environment="b", requirements="c", python=place) for place in ("x", "y"))
    assert repr(one) == repr(other)
    assert repr(one) != repr(Peer(script="a", environment="b", requirements="d"))


def test_an_environment_that_cannot_be_made_is_a_sentence(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with pytest.raises(UnavailableError, match="nothing"):
        environments.python_of("sklearn", tmp_path)


def test_an_environment_is_made_once(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def check(command: list[str]) -> None:
        commands.append(command)
        (tmp_path / "sklearn").mkdir(exist_ok=True)

    monkeypatch.setattr(environments, "_check", check)
    first = environments.python_of("sklearn", tmp_path)
    assert len(commands) == 2  # the environment, and its packages
    assert environments.python_of("sklearn", tmp_path) == first
    assert len(commands) == 2


@pytest.mark.parametrize("peer", environments.PEERS.values(), ids=list(environments.PEERS))
def test_versions_of_every_peer_are_pinned_and_name_no_place(peer: Peer) -> None:
    lines = environments.requirements_of(peer.environment).splitlines()
    pinned = [line for line in lines if not line.startswith("#")]
    assert pinned
    assert all(line.count("==") == 1 and not {"/", "@", "+"} & set(line) for line in pinned)
