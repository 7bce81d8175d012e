"""Processes that are killed, and many at once: run apart, because they fork, and a test process has threads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def stress(*arguments: object) -> dict[str, Any]:
    """What `tests.study.stress` finds."""
    command = [sys.executable, "-m", "tests.study.stress", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no worker complained: of a locked database, or of anything else
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def assert_unharmed(found: dict[str, Any]) -> None:
    assert found["told meanwhile"] > 0  # kills that all came before the work would show nothing
    assert found["acknowledged"] > 0
    assert found["lost"] == 0
    assert found["same suggestions"]
    assert found["same values"]
    assert found["same plans"]
    assert found["same labels"]
    assert found["verified"]


@pytest.mark.parametrize("kills", [50, pytest.param(200, marks=pytest.mark.slow)])
def test_a_campaign_that_is_killed_many_times_goes_on_as_if_nothing_had_happened(tmp_path: Path, kills: int) -> None:
    found = stress("crash", f"sqlite:///{tmp_path}/c.db", "--kills", kills, "--acknowledged", tmp_path / "heard")
    assert found["kills"] == kills
    assert_unharmed(found)


def test_a_campaign_on_postgresql_survives_its_process_too(tmp_path: Path, postgres_url: str) -> None:
    found = stress("crash", postgres_url, "--kills", 40, "--batches", 60, "--acknowledged", tmp_path / "heard")
    assert found["kills"] > 0
    assert_unharmed(found)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_eight_processes_ask_and_tell_a_thousand_tickets(tmp_path: Path, postgres_url: str, database: str) -> None:
    store = postgres_url if database == "postgresql" else f"sqlite:///{tmp_path}/w.db"
    found = stress("workers", store, "--processes", 8, "--tickets", 1000)
    assert found["failed"] == 0
    assert found["told"] >= 1000
    assert found["told more than once"] == 0
    assert found["wrong values"] == 0
    assert found["tellers"] == 8
    assert found["late"] == 0
    assert found["verified"]
