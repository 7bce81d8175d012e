"""Rows that are kept, whatever happens, and the same numbers however they are computed."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from superlevel.errors import InputError, SuperlevelError
from superlevel.reproduce import curves, journal, runner
from superlevel.reproduce.engines import Processes
from superlevel.reproduce.settings import Entry, Setting, Values
from tests.reproduce import running


def lines(out: Path) -> list[bytes]:
    return (out / "small" / runner.ROWS).read_bytes().splitlines()


def test_a_figure_has_a_row_for_every_task_and_its_files(tmp_path: Path) -> None:
    seen = running.make(tmp_path, reps=2, recipe=replace(running.RECIPE, read=curves.read))
    assert seen.total == len(seen.rows) == len(lines(tmp_path)) == 2 * 9
    assert seen.kept == 0
    names = {path.name for path in (tmp_path / "small").iterdir()}
    assert names == {
        "rows.jsonl",
        "claims.json",
        *(f"small{which}.{kind}" for which in ("", "-all") for kind in ("png", "pdf")),
        "small.csv",
    }
    told = json.loads((tmp_path / "small" / "claims.json").read_text())
    assert (told["reps"], told["seed"], told["quick"]) == (2, 0, True)


def test_what_is_there_is_not_computed_again(tmp_path: Path) -> None:
    running.make(tmp_path)
    first = lines(tmp_path)
    more = running.make(tmp_path, reps=2)
    assert (more.total, more.kept, len(more.rows)) == (18, 9, 9)
    assert {row.seed for row in more.rows} == {1}
    assert lines(tmp_path)[:9] == first
    assert running.make(tmp_path, reps=2).rows == []


def test_the_table_does_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    running.make(tmp_path, reps=2)
    table = running.csv(tmp_path)
    path = tmp_path / "small" / runner.ROWS
    path.write_bytes(b"".join(line + b"\n" for line in reversed(lines(tmp_path))))
    assert running.make(tmp_path, reps=2).rows == []
    assert running.csv(tmp_path) == table


def test_a_torn_last_line_is_dropped_with_a_notice_and_computed_again(tmp_path: Path) -> None:
    running.make(tmp_path)
    table, path = running.csv(tmp_path), tmp_path / "small" / runner.ROWS
    path.write_bytes(path.read_bytes()[:-30])
    seen = running.make(tmp_path)
    assert len(seen.rows) == 1
    assert len(seen.sentences) == 1
    assert "rows.jsonl: the last line was cut off" in seen.sentences[0]
    assert len(lines(tmp_path)) == 9
    assert running.csv(tmp_path) == table


def test_rows_of_other_settings_are_left_alone_and_not_used(tmp_path: Path) -> None:
    running.make(tmp_path)
    path = tmp_path / "small" / runner.ROWS
    others = [{**json.loads(line), "digest": "another", "values": {"f1": [0.0] * 3}} for line in lines(tmp_path)]
    path.write_text("".join(json.dumps(other) + "\n" for other in others))
    assert len(running.make(tmp_path).rows) == 9
    assert len(lines(tmp_path)) == 18


def test_two_runs_do_not_write_to_one_folder(tmp_path: Path) -> None:
    running.make(tmp_path)
    before = lines(tmp_path)
    with (
        journal.opened(tmp_path / "small" / runner.ROWS, print),
        pytest.raises(InputError, match="another run is writing there"),
    ):
        running.make(tmp_path, reps=2)
    assert lines(tmp_path) == before


@dataclass(frozen=True)
class Failing:
    """Good until it fails."""

    last: int

    def __call__(self, setting: Setting, seed: int) -> Values:  # noqa: ARG002
        if seed > self.last:
            raise RuntimeError("out of luck")
        return {"seed": seed}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_says_which_run_and_keeps_the_others(tmp_path: Path, jobs: int) -> None:
    figure = replace(running.figure(quick=True), entries=[Entry(label="unlucky", trial=Failing(last=2))])
    path = tmp_path / "rows.jsonl"
    with Processes(jobs=jobs).running() as work:
        runner.complete(figure, path, work, reps=3, seed=0, watch=running.Seen())
        with pytest.raises(SuperlevelError, match=r"unlucky, length 0\.1, seed 3 failed: RuntimeError: out of luck"):
            runner.complete(figure, path, work, reps=4, seed=0, watch=running.Seen())
        seen = running.Seen()
        rows = runner.complete(figure, path, work, reps=3, seed=0, watch=seen)
    assert [row.values["seed"] for row in rows] == [0, 1, 2]
    assert seen.rows == []


def test_tasks_are_mixed_always_in_the_same_way() -> None:
    tasks = running.figure().tasks(3, 0)
    mixed = runner.shuffled(tasks)
    assert mixed == runner.shuffled(list(reversed(tasks)))
    assert mixed != tasks
    assert sorted(t.key for t in mixed) == sorted(t.key for t in tasks)
    # No method or setting is left to the end: the first half has some of each.
    half = mixed[: len(mixed) // 2]
    assert {t.entry.label for t in half} == {t.entry.label for t in tasks}
    assert {t.setting.name for t in half} == {t.setting.name for t in tasks}
