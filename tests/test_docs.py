"""The examples that people copy from the documentation run as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent


def run_examples(name: str) -> dict[str, Any]:
    """Everything in the python blocks of a page, in one namespace."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks, f"{name} has no example"
    namespace: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, name, "exec"), namespace)
    return namespace


@pytest.mark.parametrize("name", ["README.md", "docs/designs.md"])
def test_examples_give_a_certified_design_and_its_counts(name: str) -> None:
    names = run_examples(name)
    assert names["design"].gap <= 0.01
    assert names["counts"].sum() in {200, 1000}


def test_the_readme_s_bound_is_the_one_that_was_reported() -> None:
    names = run_examples("README.md")
    assert names["bound"] == pytest.approx(names["design"].lower_bound, rel=1e-10)
    assert np.all(names["counts"] >= 0)
