"""The examples that people copy from the documentation run as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import superlevel as sl
from superlevel.fields import FIELDS, table
from superlevel.goals import KINDS, parse
from superlevel.kernels.table import LEAVES
from superlevel.records import Stop

ROOT = Path(__file__).parent.parent


def run_examples(name: str) -> dict[str, Any]:
    """Everything in the python blocks of a page, in one namespace."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks, f"{name} has no example"
    namespace: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, name, "exec"), namespace)
    return namespace


def test_the_guide_to_designs_gives_a_certified_design_and_its_counts() -> None:
    names = run_examples("docs/designs.md")
    assert names["design"].gap <= 0.01
    assert names["counts"].sum() == 1000
    assert names["found"].gap <= 0.05
    assert names["bound"] == pytest.approx(names["found"].lower_bound)
    assert names["value"] == pytest.approx(names["found"].value)


def test_the_readme_s_harbour_is_surveyed_without_a_mistake() -> None:
    names = run_examples("README.md")
    run, depth = names["run"], names["depth"]
    assert run.samples > 0
    assert names["safe"].any()
    assert (depth[names["safe"]] > 19.5).all()  # the tolerance
    assert (depth[run.labels == -1] < 20.5).all()
    assert (run.labels != 0).all()


def test_the_guide_to_the_methods_runs() -> None:
    names = run_examples("docs/methods.md")
    assert (names["depth"][names["run"].labels == 1] > 20).all()
    assert names["state"].phase == 2


def test_the_guide_to_the_guarantees_runs() -> None:
    names = run_examples("docs/guarantees.md")
    run, depth = names["run"], names["depth"]
    assert (depth[run.labels == 1] > 19.8).all()
    assert (depth[run.labels == -1] < 20.2).all()
    assert (run.labels != 0).all()


def test_the_guide_to_the_bounds_runs() -> None:
    assert run_examples("docs/bounds.md")


def test_the_guide_to_the_posterior_runs() -> None:
    names = run_examples("docs/posterior.md")
    run, depth = names["run"], names["depth"]
    assert ((depth > 20) == (run.trace[-1].guess == 1)).mean() > 0.97
    assert names["state"].samples == 20
    assert names["fitted"].agreement >= 1


def test_the_guide_to_the_rules_of_other_papers_runs_and_has_all_of_them() -> None:
    names = run_examples("docs/rules.md")
    depth, run, early = names["depth"], names["run"], names["early"]
    np.testing.assert_array_equal(run.labels[run.labels != 0], np.where(depth > 21, 1, -1)[run.labels != 0])
    assert early.stop in {Stop.CRITERION, Stop.DECIDED}
    shown = page("docs/rules.md")
    table = [cells(line)[0].strip("`") for line in shown.splitlines() if line.startswith("| `")]
    older = {"melk", "milk", "lse", "lse-imp", "truvar", "straddle", "rmile", "max-variance"}
    assert set(table) | older == set(sl.methods.NAMES)


def test_the_page_about_backups_brings_the_results_in_again() -> None:
    names = run_examples("docs/backup.md")
    assert names["receipt"].stored == 2
    assert names["study"].ledger.samples == 2


def test_the_page_about_boxes_finds_what_is_above() -> None:
    names = run_examples("docs/boxes.md")
    domain, found, simulate = names["domain"], names["found"], names["simulate"]
    truth = np.array([simulate(**domain.coordinates.named(place)) > 0.7 for place in domain.places])
    assert ((found.guess > 0) == truth).mean() > 0.95
    assert set(names["table"]["metal"]) == {"steel", "copper"}
    assert found.study.ledger.n == 256 + 64


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def cells(row: str) -> list[str]:
    """Of a line of a Markdown table, where a bar in a cell is written with a backslash."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def test_the_page_about_problems_has_the_table_of_fields_and_its_example_runs() -> None:
    shown = page("docs/problem.md")
    assert f"\n\n{table()}\n\n" in shown
    rows = [cells(row) for row in table().splitlines()[2:]]
    assert rows == [[f"`{field.name}`", field.show(field.default), field.meaning] for field in FIELDS]
    names = run_examples("docs/problem.md")
    assert names["problem"].fit == ()
    assert names["estimated"].fit == ("kernel", "noise", "mean")
    for field in FIELDS:
        assert getattr(names["estimated"], field.name) == field.default


def test_the_page_about_problems_has_every_goal_with_its_words() -> None:
    lines = page("docs/problem.md").splitlines()
    start = lines.index("| in Python | `--goal` | points that are looked for |")
    rows = [cells(line) for line in lines[start + 2 :] if line.startswith("|")]
    goals = [eval(row[0].strip("`"), vars(sl)) for row in rows]
    assert {goal.kind for goal in goals} == set(KINDS)
    for goal, row in zip(goals, rows, strict=True):
        assert parse(row[1].strip('`"')) == goal


def test_the_page_about_scikit_learn_runs() -> None:
    names = run_examples("docs/sklearn.md")
    assert np.mean((names["sides"] > 0) == (names["depth"] > 20)) > 0.9
    assert len(names["batch"]) == 5
    assert names["chances"].shape == (200, 2)


def test_the_page_about_kernels_has_every_kernel_of_the_table() -> None:
    shown = page("docs/kernels.md")
    for name in LEAVES:
        assert f"`{name}(" in shown
