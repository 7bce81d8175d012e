"""Every figure, quick and in full, is well formed."""

from __future__ import annotations

import pickle

import pytest

from superlevel.methods import Method
from superlevel.reproduce.drawing.curves import STYLES
from superlevel.reproduce.linear import BOUND
from superlevel.reproduce.names import ALL, NAMES, QUICK_REPS, REPS
from superlevel.reproduce.settings import Figure
from superlevel.reproduce.table import FIGURES
from superlevel.reproduce.trials import Simulated

EVERY = [pytest.param(FIGURES[name].figure(quick), id=f"{name}-{quick}") for name in FIGURES for quick in (True, False)]


def test_names_are_known_without_the_table_and_in_its_order() -> None:
    assert tuple(FIGURES) == NAMES
    assert ALL not in NAMES
    assert (REPS, 0 < QUICK_REPS < REPS) == (25, True)


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_a_figure_has_the_name_it_is_asked_for(name: str, quick: bool) -> None:
    assert FIGURES[name].figure(quick).name == name


@pytest.mark.parametrize("figure", EVERY)
def test_settings_and_labels_are_unique(figure: Figure) -> None:
    names, labels = [s.name for s in figure.settings], [e.label for e in figure.entries]
    assert len(set(names)) == len(names) > 0
    assert len(set(labels)) == len(labels) > 0
    assert any(entry.paper for entry in figure.entries)


@pytest.mark.parametrize("figure", [each for each in EVERY if "allocations" not in str(each.id)])
def test_every_method_has_its_style(figure: Figure) -> None:
    assert {entry.label for entry in figure.entries} - {BOUND} <= set(STYLES)


@pytest.mark.parametrize("figure", [each for each in EVERY if "allocations" not in str(each.id)])
def test_places_of_curves_are_increasing_whole_numbers(figure: Figure) -> None:
    for setting in figure.settings:
        assert list(setting.samples) == sorted(set(setting.samples))
        assert {type(place) for place in setting.samples} == {int}
        assert setting.samples[0] > 0


@pytest.mark.parametrize("figure", EVERY)
def test_tasks_travel_to_other_processes(figure: Figure) -> None:
    for task in figure.tasks(1, 3):
        there = pickle.loads(pickle.dumps(task))
        assert (there, there.key) == (task, task.key)


@pytest.mark.parametrize("name", NAMES)
def test_quick_is_less_work(name: str) -> None:
    quick, full = (FIGURES[name].figure(given) for given in (True, False))
    assert [e.label for e in quick.entries] == [e.label for e in full.entries]
    assert len(quick.settings) <= len(full.settings)
    assert {task.digest for task in quick.tasks(1, 0)}.isdisjoint(task.digest for task in full.tasks(1, 0))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "allocations"])
def test_every_method_accepts_its_options(name: str) -> None:
    figure = FIGURES[name].figure(True)
    problem = figure.settings[0].world(0).problem
    for entry in figure.entries:
        if isinstance(entry.trial, Simulated):
            assert isinstance(entry.trial.make(problem), Method)
