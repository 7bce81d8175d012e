"""Packages that only some formats need: they are extras of the installation."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from superlevel.errors import NotInstalledError


def needed(module: str, *, extra: str, path: Path) -> Any:
    """The module, or one sentence that names the extra."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        remedy = f"run pip install 'superlevel[{extra}]', or take a .csv file instead"
        raise NotInstalledError("path", f"{str(path)!r}, which needs the package {package}", remedy) from error
