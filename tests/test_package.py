"""The names that documentation, the command line and other people's code rely on."""

from __future__ import annotations

import ast
import importlib.resources
import subprocess
import sys
from pathlib import Path

import pytest

import superlevel as sl


def test_every_public_name_is_there() -> None:
    assert all(hasattr(sl, name) for name in sl.__all__)
    assert all(hasattr(sl.design, name) for name in sl.design.__all__)
    assert {"solve", "certify", "Design", "Pairs"} <= set(sl.design.__all__)
    assert callable(sl.features.embed)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'dezign'"):
        sl.dezign  # noqa: B018


def test_the_package_says_that_it_is_typed() -> None:
    assert importlib.resources.files("superlevel").joinpath("py.typed").is_file()


def test_importing_does_not_load_the_slow_libraries() -> None:
    code = (
        "import sys, superlevel; print([m for m in ('scipy', 'sklearn', 'matplotlib', 'pandas') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"


def imported(path: Path) -> set[str]:
    """The packages that a file imports anywhere."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def test_only_the_suites_for_implementers_import_a_test_library() -> None:
    root = Path(sl.__file__).parent
    importing = {
        path.relative_to(root).parts[0] for path in root.rglob("*.py") if imported(path) & {"pytest", "hypothesis"}
    }
    assert importing == {"testing"}


def test_every_public_name_is_listed_before_it_is_used() -> None:
    code = "import superlevel as sl; print(set(sl.__all__) - set(dir(sl)), {'Study', 'simulate'} <= set(dir(sl)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "set() True"
