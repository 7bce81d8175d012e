"""The page about extending the package: its examples are the files beside it, they run, and they do what they say."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from sklearn.gaussian_process.kernels import Matern as Rough

import superlevel as sl
from superlevel import testing
from superlevel.confidence.posterior import GaussianBelief
from superlevel.goals import KINDS, Goal
from superlevel.methods.make import describe_rule, restore_rule
from superlevel.methods.table import ROWS, Pairing, Row
from superlevel.records import Stop, View
from superlevel.rules import Rule
from superlevel.testing.goals import GoalContract
from superlevel.testing.rules import RuleContract

DOCS = Path(__file__).parent.parent / "docs"
EXAMPLES = DOCS / "examples"
X = np.linspace(0, 1, 20) ** 1.1
TRUTH = np.sin(6 * X)


@pytest.fixture(autouse=True)
def examples(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The examples can be imported, and the goal among them is known for the time of a test only."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    known = dict(KINDS)
    module = importlib.import_module("outside")
    KINDS["outside"] = module.Outside
    yield
    KINDS.clear()
    KINDS.update({kind: goal for kind, goal in known.items() if kind != "outside"})


def imported(name: str) -> Any:
    return importlib.import_module(name)


def rule(epsilon: float = 0.0) -> Any:
    return imported("targeted_imse").TargetedImse(epsilon)


def page() -> list[str]:
    """The blocks of Python of the page that are to run."""
    return re.findall(r"```python\n(.*?)```", (DOCS / "extending.md").read_text(encoding="utf-8"), re.DOTALL)


def run(blocks: list[str], monkeypatch: pytest.MonkeyPatch, **given: Any) -> dict[str, Any]:
    """The names that blocks of the page define, in a module of their own."""
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)  # where a dataclass looks its annotations up
    vars(module).update(given)
    for block in blocks:
        exec(compile(block, "extending.md", "exec", dont_inherit=True), vars(module))
    return vars(module)


# --- the page


@pytest.mark.parametrize("name", ["targeted_imse", "outside"])
def test_the_page_quotes_the_file(name: str) -> None:
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    assert text in page()


def test_a_rule_is_short() -> None:
    assert len((EXAMPLES / "targeted_imse.py").read_text(encoding="utf-8").splitlines()) <= 60


def test_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {path.read_text(encoding="utf-8") for path in EXAMPLES.glob("*.py")}
    names = run([block for block in page() if block not in files], monkeypatch)
    campaign, depth = names["run"], names["depth"]
    assert campaign.stop is Stop.DECIDED
    np.testing.assert_array_equal(campaign.labels, np.where(depth > 21, 1, -1))
    known = (names["inspection"].labels != 0).all(axis=0)
    np.testing.assert_array_equal(names["rejected"][known], ((depth < 18.5) | (depth > 21.5))[known])
    assert known.mean() > 0.9


def test_every_suite_that_the_page_names_is_there() -> None:
    text = (DOCS / "extending.md").read_text(encoding="utf-8")
    named = set(re.findall(r"superlevel\.testing\.(\w+)", text))
    there = {path.stem for path in Path(testing.__file__).parent.glob("*.py")}
    assert {"rules", "goals", "storages"} <= named & there


# --- the rule of the page


def test_the_method_timse_chooses_what_the_rule_of_the_page_chooses() -> None:
    """Two programs of one formula, a batch of six after ten measurements."""
    given = sl.Problem(sl.Domain(X, RBF(0.2)), goal=sl.Threshold(0.2), noise=0.1)
    method = sl.methods.make("timse", given, batch=6)
    places = np.arange(0, 20, 2)
    state, _ = method.observe(method.init(), places, TRUTH[places])
    view = method.view(state, phase=2)
    np.testing.assert_array_equal(method.rule.choose(view).counts, rule().choose(view).counts)


class TestTargetedImse(RuleContract):
    def make(self) -> Rule:
        made: Rule = rule(0.1)
        return made


class TestTargetedImseForLevels(TestTargetedImse):
    goal = sl.Levels([-0.5, 0.2])


class TestTargetedImseForPairs(TestTargetedImse):
    goal = sl.FractionOfMax(0.3)


class TestTargetedImseByPoints(TestTargetedImse):
    goal = sl.FractionOfMax(0.3)
    method = "lse-imp"


def seen(goal: Goal, kernel: Any, *, pending: tuple[int, ...] = (), **options: Any) -> View:
    """What a rule sees after twelve measurements."""
    given = {"noise": np.linspace(0.05, 0.2, len(X)), **options}
    method = sl.methods.make("melk", sl.Problem(sl.Domain(X, kernel), goal=goal, **given), rule=rule(0.1), batch=4)
    rng = np.random.default_rng(0)
    places = rng.integers(len(X), size=12)
    state, _ = method.observe(method.init(), places, TRUTH[places] + 0.1 * rng.standard_normal(12))
    return method.view(state, phase=2, pending=pending)


GOALS: dict[str, Goal] = {"level": sl.Threshold(0.2), "levels": sl.Levels([-0.5, 0.2]), "max": sl.FractionOfMax(0.3)}
each = pytest.mark.parametrize("goal", GOALS.values(), ids=GOALS)
kernels = pytest.mark.parametrize("kernel", [RBF(0.2), Rough(0.05, nu=0.5)], ids=["smooth", "rough"])


@each
@kernels
def test_the_score_is_what_conditioning_really_removes(goal: Goal, kernel: Any) -> None:
    """Each point is measured, whatever the value: the variances that are left, weighted, say how much that removed."""
    view = seen(goal, kernel)
    weights = rule(0.1).weights(view)
    before = view.posterior
    expected = []
    for x in range(view.n):
        after = before.told([x], [before.mean[x] + 3.0])
        expected.append(weights @ (before.variance - after.variance))
    np.testing.assert_allclose(imported("targeted_imse").reductions(before, weights), expected, rtol=1e-7, atol=1e-10)


@each
@kernels
@pytest.mark.parametrize("pending", [(), (3, 3, 11)])
def test_each_point_of_a_batch_lowers_the_sum_most(goal: Goal, kernel: Any, pending: tuple[int, ...]) -> None:
    view = seen(goal, kernel, pending=pending, cost=np.linspace(1, 2, len(X)))
    weights, known = rule(0.1).weights(view), view.posterior
    expected = np.zeros(view.n, dtype=np.int64)
    for x in pending:
        known = known.told([x], [known.mean[x]])
    for _ in range(4):
        left = [known.told([x], [known.mean[x]]).variance for x in range(view.n)]
        drops = (known.variance - np.array(left)) @ weights / view.problem.cost
        expected[np.argmax(drops)] += 1
        known = known.told([int(np.argmax(drops))], [known.mean[np.argmax(drops)]])
    np.testing.assert_array_equal(rule(0.1).choose(view).counts, expected)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 2.0])
def test_the_weights_are_the_density_of_being_at_the_level(epsilon: float) -> None:
    view = seen(sl.Threshold(0.2), RBF(0.2))
    mean, spread = view.posterior.mean, np.sqrt(view.posterior.variance + epsilon**2)
    expected = np.exp(-((mean - 0.2) ** 2) / (2 * spread**2)) / (spread * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(rule(epsilon).weights(view), expected, rtol=1e-9)


def test_what_is_known_exactly_is_not_measured() -> None:
    """f(0) = 0 for every linear f, which is the level here: the weight of that point is as large as can be."""
    problem = sl.Problem(sl.Domain(np.linspace(-1, 1, 9)[:, None]), goal=sl.Threshold(0.0), noise=0.1)
    method = sl.methods.make("melk", problem, rule=rule())
    view = method.view(method.init(), phase=1)
    weights = rule().weights(view)
    assert np.isfinite(weights).all()
    assert weights[4] > 1e6 * np.delete(weights, 4).max()
    assert rule().choose(view).counts[4] == 0


@each
def test_a_campaign_is_decided_with_it(goal: Goal) -> None:
    problem = sl.Problem(sl.Domain(X, RBF(0.2)), goal=goal, noise=0.02)
    method = sl.methods.make("melk", problem, rule=rule(0.05))
    campaign = sl.simulate(method, sl.oracles.Gaussian(TRUTH, noise=0.02), max_samples=1000)
    assert campaign.stop is Stop.DECIDED
    np.testing.assert_array_equal(campaign.labels, goal.signs(TRUTH))


def test_it_is_stored_by_its_import_path() -> None:
    described = describe_rule(rule(0.1))
    assert described == {"name": "targeted_imse:TargetedImse", "epsilon": 0.1}
    assert restore_rule(described) == rule(0.1)


def test_a_study_with_it_is_killed_and_opened_again(tmp_path: Path) -> None:
    """A process that asks, tells and asks again is killed; the next one gets the same tickets and decides the rest."""
    url = f"sqlite:///{tmp_path / 'sea.db'}"
    problem = sl.Problem(sl.Domain(X, RBF(0.2)), goal=sl.Threshold(0.2), noise=0.02)
    sl.Study.create(url, "sea", problem, rule=rule(0.05), worker="boat")
    code = f"""
import os, signal
import superlevel as sl
study = sl.Study.open({url!r}, "sea", worker="boat")
tickets, truth = study.ask(), {TRUTH.tolist()!r}
study.tell(tickets.measured([truth[point] for point in tickets.indices.tolist()]))
print(study.ask().indices.tolist(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    folders = os.pathsep.join([str(EXAMPLES), str(Path(sl.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": folders}
    killed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment, timeout=120
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    study = sl.Study.open(url, "sea", worker="boat")
    tickets = study.ask()
    assert tickets.indices.tolist() == json.loads(killed.stdout)
    while tickets:
        study.tell(tickets.measured(TRUTH[tickets.indices]))
        tickets = study.ask()
    assert tickets.stop == Stop.DECIDED.value
    np.testing.assert_array_equal(study.labels, np.where(TRUTH > 0.2, 1, -1))
    assert study.verify().ok


# --- the goal of the page


class TestOutside(GoalContract):
    def make(self) -> Goal:
        made: Goal = imported("outside").Outside(-0.5, 0.4)
        return made


def test_the_wanted_points_are_those_outside() -> None:
    goal = imported("outside").Outside(-0.5, 0.4)
    np.testing.assert_array_equal(goal.wanted(goal.signs(TRUTH)), np.where((TRUTH < -0.5) | (TRUTH > 0.4), 1, -1))
    with pytest.raises(sl.InputError, match=r"Outside.high is 0.1: give a number > 0.2"):
        imported("outside").Outside(0.2, 0.1)


# --- the confidence of the page


def test_the_confidence_of_the_page_widens_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    names = run([block for block in page() if "class Bayes" in block], monkeypatch, np=np)
    row = ROWS["melk"]
    added = Pairing(confidence=names["Bayes"](), rules=row.pairings[0].rules)
    monkeypatch.setitem(ROWS, "melk", Row(pairings=(*row.pairings, added)))
    problem = sl.Problem(sl.Domain(X, RBF(0.2)), goal=sl.Threshold(0.2), noise=0.05, delta=0.1)
    method = sl.methods.make("melk", problem, confidence=names["Bayes"]())
    state, _ = method.observe(method.init(), [3, 4, 5], TRUTH[[3, 4, 5]])
    assert isinstance(state.belief, GaussianBelief)
    width = np.sqrt(2 * np.log(20 * 9 * np.pi**2 / 0.6))
    np.testing.assert_allclose(state.intervals.upper - state.estimate, width * state.belief.posterior.deviation)
    campaign = sl.simulate(method, sl.oracles.Gaussian(TRUTH, noise=0.05), max_samples=2000)
    assert campaign.stop is Stop.DECIDED
    np.testing.assert_array_equal(campaign.labels, np.sign(TRUTH - 0.2))
