"""The closed loop on a function: the same as a simulation, and a study that survives."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel import searching
from superlevel.arrays import Array, Indices
from superlevel.closed_loop import program_of
from superlevel.commands import Command
from superlevel.searching import HOPELESS, SHARED, USED, calls
from superlevel.study.ledger import Fate, Ledger
from superlevel.study.storage import Memory, Storage

BOX = {"temperature": (20, 80), "dose": sl.Log(1e-3, 1), "metal": sl.Choice("steel", "copper")}


def hill(temperature: Any, dose: Any, metal: Any) -> float:
    away = ((temperature - 50) / 20) ** 2 + (math.log10(dose) + 1.5) ** 2
    return float(math.exp(-away) + 0.2 * (metal == "steel"))


def smooth(x: float, y: float) -> float:
    return math.sin(3 * x) + math.cos(2 * y)


class Recording:
    """An oracle without noise that notes what it is asked."""

    def __init__(self, values: Array) -> None:
        self.values = values
        self.asked: list[int] = []

    def measure(self, indices: Indices, _rng: np.random.Generator) -> Array:
        self.asked += indices.tolist()
        return self.values[indices]


def measured(ledger: Ledger) -> list[tuple[int, float]]:
    """Point and value of each ticket, in the order of the tickets."""
    return list(zip(ledger.point.tolist(), ledger.value.tolist(), strict=True))


@pytest.mark.parametrize(
    ("kernel", "method"), [(RBF(0.5), "truvar"), (RBF(0.5), "max-variance"), (None, "melk")], ids=str
)
@pytest.mark.parametrize("goal", [sl.Threshold(0.7), sl.FractionOfMax(0.2)], ids=["threshold", "fraction"])
def test_find_does_what_simulate_does(kernel: Any, method: str, goal: sl.Goal) -> None:
    domain = sl.Domain.box({"x": (0, 1), "y": (0, 1)}, count=64, seed=2, kernel=kernel)
    options: dict[str, Any] = {"noise": 0.01} | ({} if kernel else {"fit": ("kernel", "mean")})
    found = sl.find(smooth, domain, goal, budget=30, batch=5, seed=4, method=method, **options)
    oracle = Recording(np.array([smooth(*place) for place in domain.places]))
    made = sl.methods.make(method, sl.Problem(domain, goal=goal, **options), batch=5)
    run = sl.simulate(made, oracle, max_samples=30, seed=4)
    assert found.study.ledger.point.tolist() == oracle.asked
    np.testing.assert_array_equal(found.labels, run.labels)
    np.testing.assert_array_equal(found.guess, run.trace[-1].guess)


def test_a_box_is_searched_in_the_units_of_people() -> None:
    domain = sl.Domain.box(BOX, count=256, seed=1)
    seen: list[dict[str, Any]] = []

    def noting(**place: Any) -> float:
        seen.append(place)
        return hill(**place)

    found = sl.find(noting, domain, sl.Threshold(0.6), budget=40, noise=0.0)
    truth = np.array([hill(**domain.coordinates.named(place)) > 0.6 for place in domain.places])
    assert (truth == (found.guess > 0)).mean() > 0.95
    assert {type(place["metal"]) for place in seen} == {str}
    assert all(20 <= place["temperature"] <= 80 and 1e-3 <= place["dose"] <= 1 for place in seen)
    assert found.calls == len(seen)
    assert list(found.frame["metal"]) == [place[2] for place in map(domain.coordinates.cells, domain.places)]
    assert "calls" in repr(found)


def test_a_larger_budget_goes_on_and_ends_where_one_search_would(tmp_path: Path) -> None:
    domain = sl.Domain.box(BOX, count=64, seed=1)
    store = f"sqlite:///{tmp_path}/s.db"
    for budget in (3, 13, 25):  # within a batch, within a pilot, and after it
        parts = sl.find(hill, domain, sl.Threshold(0.6), budget=budget, store=store, noise=0.0)
        assert parts.calls <= budget
    once = sl.find(hill, domain, sl.Threshold(0.6), budget=25, noise=0.0)
    assert measured(parts.study.ledger) == measured(once.study.ledger)
    np.testing.assert_array_equal(parts.labels, once.labels)
    again = sl.find(hill, domain, sl.Threshold(0.6), budget=25, store=store, noise=0.0)
    assert len(again.study.log()) == len(parts.study.log())


def fails(message: str) -> Callable[..., Any]:
    def function(x: float) -> float:
        if x > 0.5:
            raise RuntimeError(message)
        return x

    return function


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (fails("no\nconvergence"), "RuntimeError: no convergence"),
        (fails("\udcff" * 1000), "RuntimeError: ???"),
        (lambda x: math.nan if x > 0.5 else x, "the function returned nan: no finite number"),
        (lambda x: "much" if x > 0.5 else x, "the function returned 'much'"),
        (lambda x: None if x > 0.5 else x, "the function returned None"),
        (lambda x: [x, x] if x > 0.5 else x, "the function returned"),
        (lambda x: math.inf if x > 0.5 else np.array([x]), "the function returned inf"),
    ],
)
def test_what_is_no_number_is_a_failed_ticket_with_a_sentence(function: Any, reason: str) -> None:
    domain = sl.Domain(np.linspace(0, 1, 12), RBF(0.3), names=["x"])
    ledger = sl.find(function, domain, sl.Threshold(0.3), budget=12, batch=4, noise=0.1).study.ledger
    failed = ledger.fate == Fate.FAILED
    assert failed.any()
    assert (ledger.places[ledger.point[failed], 0] > 0.5).all()
    assert (ledger.places[ledger.point[ledger.fate == Fate.MEASURED], 0] <= 0.5).all()
    reasons = [ledger.reasons[int(at) + 1] for at in np.flatnonzero(failed)]
    assert all(each.startswith(reason) and len(each) <= 300 for each in reasons)


def test_a_function_that_always_fails_is_not_called_for_ever() -> None:
    count = 0

    def broken(x: float) -> float:
        nonlocal count
        count += 1
        raise ValueError(f"bad {x}")

    domain = sl.Domain(np.linspace(0, 1, 50), RBF(0.3), names=["x"])
    with pytest.raises(sl.InputError, match="failed in each of 10 calls, the last time with 'ValueError: bad"):
        sl.find(broken, domain, sl.Threshold(0.3), budget=1000, noise=0.1)
    assert count == HOPELESS


def test_ctrl_c_leaves_the_study_whole(tmp_path: Path) -> None:
    domain, store = sl.Domain(np.linspace(0, 1, 50), RBF(0.3), names=["x"]), f"sqlite:///{tmp_path}/s.db"
    count = 0

    def stopped(x: float) -> float:
        nonlocal count
        count += 1
        if count == 7:
            raise KeyboardInterrupt
        return math.sin(5 * x)

    with pytest.raises(KeyboardInterrupt):
        sl.find(stopped, domain, sl.Threshold(0.3), budget=20, store=store, noise=0.1)
    study = sl.Study.open(store, "find")
    assert study.ledger.samples == 6
    assert study.verify().ok
    after = sl.find(stopped, domain, sl.Threshold(0.3), budget=20, store=store, noise=0.1)
    once = sl.find(lambda x: math.sin(5 * x), domain, sl.Threshold(0.3), budget=20, noise=0.1)
    assert measured(after.study.ledger) == measured(once.study.ledger)


def test_several_jobs_find_what_one_finds() -> None:
    import joblib

    domain = sl.Domain.box(BOX, count=64, seed=1)
    with joblib.parallel_config(backend="threading"):
        many = sl.find(hill, domain, sl.Threshold(0.6), budget=25, jobs=3, noise=0.0)
    one = sl.find(hill, domain, sl.Threshold(0.6), budget=25, noise=0.0)
    assert measured(many.study.ledger) == measured(one.study.ledger)
    np.testing.assert_array_equal(many.labels, one.labels)


def test_it_ends_when_everything_is_decided_and_says_so() -> None:
    domain = sl.Domain(np.linspace(0, 1, 5), RBF(0.5), names=["x"])
    found = sl.find(lambda x: x, domain, sl.Threshold(10.0), budget=500, noise=0.01)
    assert (found.labels == -1).all()
    assert found.calls < 500
    assert found.stop != USED


def test_it_is_watched_after_each_result() -> None:
    domain = sl.Domain(np.linspace(0, 1, 9), RBF(0.2), names=["x"])
    seen: list[int] = []
    watch = lambda ledger: seen.append(ledger.samples)  # noqa: E731
    found = sl.find(lambda x: math.sin(9 * x), domain, sl.Threshold(0.5), budget=8, noise=0.1, watch=watch)
    assert seen == list(range(found.calls + 1))
    assert found.stop == USED


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"function": 3}, "give something that can be called"),
        ({"function": lambda y: y}, r"give one that takes the coordinates by name: x \("),
        ({"domain": [1, 2]}, r"give Domain\.box"),
        ({"goal": 3.0}, "give a goal such as Threshold"),
        ({"budget": 0}, "budget is 0"),
        ({"jobs": -1}, "jobs is -1"),
        ({"name": ""}, "give some letters"),
        ({"colour": "red"}, "give options of find, or fields of Problem"),
        ({"noise": -1.0}, "noise is -1"),
    ],
)
def test_a_bad_search_gets_a_sentence_before_anything_is_stored(
    tmp_path: Path, change: dict[str, Any], sentence: str
) -> None:
    domain = sl.Domain(np.linspace(0, 1, 9), RBF(0.2), names=["x"])
    given: dict[str, Any] = {"function": lambda x: x, "domain": domain, "goal": sl.Threshold(0.5), "budget": 5}
    with pytest.raises(sl.InputError, match=sentence):
        sl.find(**{**given, "store": f"sqlite:///{tmp_path}/s.db", **change})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"goal": sl.Threshold(0.6)}, "with another goal"),
        ({"domain": sl.Domain([0.0, 1.0], RBF(0.2), names=["x"])}, "with other points"),
        ({"seed": 1}, "with another seed"),
        ({"noise": 0.2}, "with other assumptions"),
        ({"batch": 3}, "with another size of batches"),
    ],
)
def test_another_question_under_the_same_name_is_refused(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    domain = sl.Domain(np.linspace(0, 1, 9), RBF(0.2), names=["x"])
    given: dict[str, Any] = {"domain": domain, "goal": sl.Threshold(0.5), "noise": 0.1, "budget": 2}
    given["store"] = f"sqlite:///{tmp_path}/s.db"
    sl.find(lambda x: x, **given)
    with pytest.raises(sl.InputError, match=sentence):
        sl.find(lambda x: x, **{**given, **change})


# ------------------------------------------------------------------------------------------ what is called


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (hill, "tests.test_closed_loop.hill"),
        (partial(hill, metal="steel"), "tests.test_closed_loop.hill"),
        (Recording(np.zeros(1)).measure, "tests.test_closed_loop.Recording.measure"),
        (np.sin, "numpy"),
        (Command("./simulate {temperature} {ph:.2f}", 60), "./simulate {temperature} {ph:.2f}"),
    ],
)
def test_a_program_has_a_name(function: Any, name: str) -> None:
    assert program_of(function).startswith(name)


def one(x: float) -> float:
    return math.sin(5 * x)


def other(x: float) -> float:
    return one(x) + 0.01


LINE: dict[str, Any] = {
    "domain": sl.Domain(np.linspace(0, 1, 30), RBF(0.3), names=["x"]),
    "goal": sl.Threshold(0.3),
    "noise": 0.1,
    "batch": 4,
}


def programs(study: sl.Study) -> list[str]:
    return [json.loads(entry.payload)["program"] for entry in study.log() if entry.kind == "program"]


def test_another_function_is_refused_with_both_names_unless_it_is_meant() -> None:
    storage = Memory()
    found = sl.find(one, store=storage, budget=3, **LINE)
    assert programs(found.study) == ["tests.test_closed_loop.one"]
    before = found.study.log()
    sentence = r"name is 'find', .*'tests\.test_closed_loop\.one' so far, and not of 'tests\.test_closed_loop\.other'"
    with pytest.raises(sl.InputError, match=rf"{sentence}: give another name, or go on with changed=True"):
        sl.find(other, store=storage, budget=5, **LINE)
    assert sl.Study.open(storage, "find").log() == before
    sl.find(one, store=storage, budget=5, **LINE)
    found = sl.find(other, store=storage, budget=7, changed=True, **LINE)
    assert programs(found.study) == ["tests.test_closed_loop.one", "tests.test_closed_loop.other"]
    assert found.calls == 7
    assert found.study.ledger.program == "tests.test_closed_loop.other"
    assert {row.name: row.value for row in found.study.view().assumptions}["program"] == found.study.ledger.program
    assert found.study.verify().ok


def test_a_study_of_which_nobody_knows_what_answered_goes_on_and_notes_it() -> None:
    """Earlier versions did not store it, and people may have measured before a function did."""
    storage = Memory()
    study = sl.Study.create(storage, "find", sl.Problem(LINE["domain"], goal=LINE["goal"], noise=0.1), batch=4)
    study.tell(study.ask().measured([0.1, 0.2, 0.3, 0.4]))
    labels = study.labels
    study.answer_by("tests.test_closed_loop.one")
    np.testing.assert_array_equal(study.labels, labels)
    assert study.ledger.changed == 3  # the entry of the values
    found = sl.find(one, store=storage, budget=6, **LINE)
    assert programs(found.study) == ["tests.test_closed_loop.one"]
    with pytest.raises(sl.InputError, match="with another transform"):
        sl.find(one, store=storage, budget=6, transform="log", **LINE)


# ----------------------------------------------------------------------------------- several at once


def at_once(storage: Storage, budget: int, processes: int = 2, **given: Any) -> tuple[list[sl.Found], list[float]]:
    """What several searches of one study find, and the places that all of them called."""
    called: list[float] = []
    start = threading.Barrier(processes)

    def slowly(x: float) -> float:
        called.append(x)
        time.sleep(0.02)
        return one(x)

    def search(_: int) -> sl.Found:
        start.wait()
        return sl.find(slowly, store=storage, budget=budget, watch=lambda _: None, **{**LINE, **given})

    with ThreadPoolExecutor(processes) as pool:
        return list(pool.map(search, range(processes))), called


@pytest.mark.parametrize("budget", [3, 17])
def test_several_searches_share_the_budget_and_no_ticket(budget: int) -> None:
    storage = Memory()
    _, called = at_once(storage, budget, processes=3)
    study = sl.Study.open(storage, "find")
    ledger = study.ledger
    measured = ledger.fate == Fate.MEASURED
    assert measured.sum() == budget == len(called)
    assert sorted(called) == sorted(ledger.places[ledger.point[measured], 0].tolist())
    assert study.verify().ok
    if budget > 12:  # more than a batch for each
        workers = {json.loads(entry.payload)["worker"] for entry in study.log() if entry.kind == "told"}
        assert workers == {"find", "find 2", "find 3"}


def test_a_search_waits_for_the_pilot_that_another_one_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of the pilot is one batch: nothing can be planned before its results are told."""
    monkeypatch.setattr(searching, "PATIENCE", 0.01)
    storage, domain = Memory(), sl.Domain(np.linspace(0, 1, 30), names=["x"])
    found, called = at_once(storage, 28, domain=domain, batch=12, noise=None)
    assert len(called) == 28 == calls(sl.Study.open(storage, "find").ledger)
    assert {each.stop for each in found} <= {USED, SHARED}


def test_what_a_dead_search_left_is_made_by_another_one_before_the_budget_ends() -> None:
    """Its seat is free, and its tickets are held for a month."""
    storage = Memory()
    sl.find(one, store=storage, budget=4, **LINE)
    dead = sl.Study.open(storage, "find", worker="find 2")
    left = [ticket.number for ticket in dead.ask(lease=1e6)]
    found = sl.find(one, store=storage, budget=20, **LINE)
    assert found.calls == 20
    assert found.stop == USED
    assert (found.study.ledger.fate[np.array(left) - 1] == Fate.MEASURED).all()


def test_tickets_beyond_the_budget_are_given_back() -> None:
    storage = Memory()
    found = sl.find(one, store=storage, budget=6, **LINE)  # within the second batch of four
    person = sl.Study.open(storage, "find", worker="ada")
    assert [ticket.number for ticket in person.ask(2)] == found.study.ledger.open.tolist() == [7, 8]


def test_what_people_tell_meanwhile_counts_and_ends_a_search() -> None:
    """The budget may be exceeded by others between two looks at the log."""
    storage = Memory()

    def told(x: float) -> float:
        sl.Study.open(storage, "find").tell(at=[[x], [x], [x]], values=[one(x)] * 3, replicates=True)
        return one(x)

    found = sl.find(told, store=storage, budget=6, **LINE)
    assert found.stop == USED
    assert found.calls >= 6


def test_tickets_of_people_are_left_to_them() -> None:
    storage = Memory()
    sl.find(one, store=storage, budget=4, **LINE)
    person = sl.Study.open(storage, "find", worker="ada")
    held = [ticket.number for ticket in person.ask(lease=1e6)]
    found = sl.find(one, store=storage, budget=20, **LINE)
    assert found.calls == 20
    assert (found.study.ledger.fate[np.array(held) - 1] == Fate.OPEN).all()


def test_a_search_ends_if_others_make_the_calls_that_are_left() -> None:
    storage = Memory()
    sl.find(one, store=storage, budget=4, **LINE)
    sl.Study.open(storage, "find", worker="find 2").ask(lease=1e6)
    with storage.seat("find", "find 2"):
        found = sl.find(one, store=storage, budget=6, **LINE)
    assert (found.calls, found.stop) == (4, SHARED)
