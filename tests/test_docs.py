"""The examples that people copy from the documentation run as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

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
