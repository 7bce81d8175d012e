"""Random calls to a study in every kind of store, with crashes and restores, beside a model of it."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.study.machine import Machine
from tests.study.restores import SITES, InMemory, OnPostgres, OnSqlite, Site

EXAMPLES = {"memory": 15, "sqlite": 3, "postgresql": 3}
MANY = {"memory": 400, "sqlite": 150, "postgresql": 100}


def maker(kind: str, folder: Path, server: Any) -> Any:
    """What makes an empty store for each example."""
    numbers = itertools.count()
    match kind:
        case "memory":
            return InMemory
        case "sqlite":

            def in_folder() -> Site:
                own = folder / str(next(numbers))
                own.mkdir()
                return OnSqlite(own)

            return in_folder
        case _:
            site = OnPostgres(server.schema())

            def emptied() -> Site:
                if next(numbers):
                    site.put_back({})
                return site

            return emptied


def test_the_machine_has_at_least_sixteen_operations() -> None:
    rules = [name for name, made in vars(Machine).items() if hasattr(made, "hypothesis_stateful_rule")]
    on_disk_only = {"back_up", "restore"}
    assert on_disk_only < set(rules)
    assert len(set(rules) - on_disk_only) >= 16


@pytest.mark.parametrize("kind", SITES)
@pytest.mark.parametrize("examples", [EXAMPLES, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])
def test_any_order_of_calls_crashes_and_restores_does_what_the_model_does(
    kind: str, examples: dict[str, int], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue("postgres_server") if kind == "postgresql" else None
    made = {"make": staticmethod(maker(kind, tmp_path, server)), "folder": tmp_path}
    chosen = settings(
        max_examples=examples[kind],
        stateful_step_count=25,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(type("Placed", (Machine,), made), settings=chosen)
